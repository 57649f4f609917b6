# The lit suite: one folder a component of lib/. Tests are .tile, .mlir and .test files with RUN lines.
import os

import lit.formats

config.name = "tilec"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".tile", ".mlir", ".test"]
config.excludes = ["Inputs", "Conformance", "Examples", "unit"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(config.tilec_build, "test", "lit")

config.environment["PATH"] = os.pathsep.join(
    [os.path.join(config.tilec_build, "bin"), config.llvm_tools, os.environ["PATH"]]
)
# Options of the person who runs the tests must not change what they see.
for name in ("TILEC_FLAGS", "NO_COLOR"):
    config.environment.pop(name, None)
for name in ("TILEC_PTXAS", "CUDA_HOME", "CUDA_PATH", "VIRTUAL_ENV"):
    if name in os.environ:
        config.environment[name] = os.environ[name]

# Longest names first: lit replaces text, not words.
config.substitutions += [
    ("%tile_opt", os.path.join(config.tilec_build, "bin", "tile-opt")),
    ("%tile_run", os.path.join(config.tilec_build, "bin", "tile-run")),
    ("%tilec", os.path.join(config.tilec_build, "bin", "tilec")),
    ("%inputs", os.path.join(config.test_source_root, "Inputs")),
    ("%build", config.tilec_build),
    ("%python", "/usr/bin/python3"),
    ("%cc", config.c_compiler),
    ("%cxx", config.cxx_compiler),
]

if config.ptxas:
    config.available_features.add("ptxas")
if config.cuda_include:
    config.available_features.add("cuda-headers")
    config.substitutions.append(("%cuda_include", config.cuda_include))

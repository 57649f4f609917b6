#!/usr/bin/python3
"""Stands for ptxas: notes what ptxas notes of a kernel that spills and waits, and writes something."""
import sys

if "--version" in sys.argv:
    print("Cuda compilation tools, release 13.0, V13.0.0")
    sys.exit()
print("""ptxas info    : Compiling entry function 'saxpy__general' for 'sm_90a'
ptxas info    : (C7510) Potential Performance Loss: wgmma.mma_async instructions are serialized due to insufficient \
register resources for the wgmma pipeline in the function 'saxpy__general'
ptxas info    : (C7508) Potential Performance Loss: 'setmaxnreg' ignored to maintain minimum register requirements.
ptxas info    : Function properties for saxpy__general
    16 bytes stack frame, 24 bytes spill stores, 32 bytes spill loads
ptxas info    : Used 168 registers, used 3 barriers, 16 bytes cumulative stack size
""", file=sys.stderr)
with open(sys.argv[sys.argv.index("-o") + 1], "wb") as output:
    output.write(b"no cubin")

"""Executes one run of a case on a device and compares it with the case's reference."""
import numpy as np

import refutil
from buffers import POISON, Buffer
from hostexpr import evaluate
from launcher import Launcher, LaunchError, Tensor


class Fault(Exception):
    """The run does not give what the case expects."""


def find_kernel(reflection, name):
    for k in reflection["kernels"]:
        if k["name"] == name:
            return k
    raise Fault(f"the reflection has no kernel `{name}`")


def output_shape(kernel, argument, inputs):
    """The shape of an output that only its declaration describes, where a launch is refused anyway."""
    values = {}
    for a in kernel["arguments"]:
        given = inputs.get(a["name"])
        if a["kind"] == "tensor" and given is not None:
            values.update({e: n for e, n in zip(a["shape"], given.shape) if isinstance(e, str)})
        elif given is not None:
            values[a["name"]] = given
    return [evaluate(e, values) for e in argument["shape"]]


def place(driver, kernel, inputs, expected, exact):
    """name -> Buffer of the tensor arguments; outputs take their shape from `expected` or their stand-in."""
    buffers = {}
    for a in kernel["arguments"]:
        if a["kind"] != "tensor":
            continue
        name, given = a["name"], inputs.get(a["name"])
        steps, offset = (given.steps, given.offset) if given is not None else (None, 0)
        if name in expected or given is not None:
            shape = np.shape(expected[name] if name in expected else given)
        else:
            shape = output_shape(kernel, a, inputs)
        contents = given if a["access"] != "out" else None
        buffers[name] = Buffer(driver, a["type"], shape, steps, offset, contents, exact)
    return buffers


def bind(kernel, buffers, inputs, alias):
    """name -> launcher argument; alias [p, q] gives q the address of p."""
    arguments = {name: b.tensor() for name, b in buffers.items()}
    for a in kernel["arguments"]:
        if a["kind"] != "tensor" and a["name"] in inputs:
            arguments[a["name"]] = inputs[a["name"]]
    if alias:
        kept, moved = alias
        arguments[moved] = Tensor(arguments[kept].address, arguments[moved].shape, arguments[moved].steps)
    return arguments


def check_outputs(kernel, buffers, images, expected, tolerance):
    """Raises Fault at the first element, gap or guard that is wrong."""
    for a in kernel["arguments"]:
        if a["kind"] != "tensor":
            continue
        name, buffer, image = a["name"], buffers[a["name"]], images[a["name"]]
        stray = buffer.stray(image)
        if stray:
            raise Fault(f"{name}: {stray}")
        if a["access"] == "in":
            if not np.array_equal(image, buffer.image):
                raise Fault(f"{name}: an input has changed")
            continue
        if name not in expected:
            raise Fault(f"the reference says nothing of `{name}`")
        want = expected[name]
        got = buffer.decode(image)
        fault = refutil.compare(refutil.values(got), want, tolerance[name])
        if fault:
            raise Fault(f"{name}: {fault}")
        mask = np.ma.getmaskarray(want) if isinstance(want, np.ma.MaskedArray) else None
        if mask is not None and mask.any():
            before = np.asarray(buffer.decode(buffer.image))[mask]
            if np.asarray(got)[mask].tobytes() != before.tobytes():
                raise Fault(f"{name}: an element that is never stored has changed")


def launch_all(driver, image_path, launches, workspaces):
    """Runs the launches of one call; memory that nobody promised to be zero holds poison."""
    for w in workspaces.values():
        driver.fill(w.address, 0 if w.clear else POISON, w.size)
    for ready in launches:
        driver.launch(driver.function(image_path, ready.entry), ready)
    driver.synchronize()


def execute(driver, reflection, image_path, make, run, repeat=True, exact=False, outputs=None):
    """Runs once (and once more for equal bits where `repeat`); returns the variant's name; raises Fault. `outputs`: a
    dictionary that receives the arrays of the outputs."""
    kernel = find_kernel(reflection, run["kernel"])
    inputs, expected, tolerance = make(run)
    buffers = place(driver, kernel, inputs, expected, exact)
    launcher = Launcher(kernel, driver)
    arguments = bind(kernel, buffers, inputs, run.get("alias"))
    refusal = run.get("launch_error")
    try:
        variant, launches = launcher.plan(arguments)
    except LaunchError as e:
        missing = refutil.conveys(str(e), refusal) if refusal is not None else True
        if missing:
            raise Fault(f"the launcher refuses: {e}" if refusal is None else f"`{e}` lacks {missing}")
        return "refused"
    if refusal is not None:
        raise Fault(f"the launcher accepts what it must refuse ({refusal})")
    launch_all(driver, image_path, launches, launcher.workspaces)
    if exact:
        return variant
    images = {n: b.fetch() for n, b in buffers.items()}
    check_outputs(kernel, buffers, images, expected, tolerance)
    if outputs is not None:
        outputs.update({n: np.asarray(buffers[n].decode(images[n])) for n in expected})
    if repeat and launches:
        for b in buffers.values():
            b.restore()
        launch_all(driver, image_path, launches, launcher.workspaces)
        for name, b in buffers.items():
            if not np.array_equal(b.fetch(), images[name]):
                raise Fault(f"{name}: a second launch gives other bits")
    for b in buffers.values():
        b.free()
    for w in launcher.workspaces.values():
        driver.free(w.address)
    return variant

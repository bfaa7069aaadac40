#!/usr/bin/env python3
"""Weights whose attention is peaked, and every gradient of a first step (scripts/equivalence/differences.py).

    first_step.py peak GRAPH...                             in place
    first_step.py compare EXPECTED FOUND...                 checkpoints of step 1, or files of tensors
    first_step.py run PROGRAM[,OPTION...]... -- OPTION...   trains a step with each, and with options of its own

Compared is what a step leaves behind of each gradient: the optimizer's first moments, which are the gradients times a
constant.
"""

import array
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "scripts"))
from equivalence import safetensors_file  # noqa: E402  (found in that folder)
from equivalence.checkpoints import read_checkpoint, shapes_of  # noqa: E402
from equivalence.differences import FIRST_MOMENTS, SCALE, TOLERANCE, TOLERANCE_BF16, peak, worst_error  # noqa: E402,F401


def compare(what, found, expected, start=None):
    """Ends the program where a gradient differs."""
    error, name = worst_error(found, expected, start)
    if not error <= TOLERANCE:
        sys.exit(f"{what}: the gradient of {name} is off by {error:.1e} of itself")
    print(f"{what}: gradients within {error:.1e}")


def step(program, options, *more):
    """The shapes and values of what a step saves."""
    program, *own = program.split(",")
    folder = pathlib.Path(tempfile.mkdtemp())
    try:
        subprocess.run([program, "train", *own, *options, "--steps=1", "--warmup=0", f"--checkpoint={folder}", *more], check=True,
                       stdout=subprocess.DEVNULL)
        checkpoint = next(folder.glob("step-00000001*"))
        return shapes_of(checkpoint), read_checkpoint(checkpoint)
    finally:
        shutil.rmtree(folder)


def run(programs, options):
    """From what the first initializes, whose matrices are made larger; the first is what the others are compared with.  A
    learning rate of 1 makes the gradient the change of a parameter under plain SGD, and rounding small beside it."""
    shapes, start = step(programs[0], options, "--lr=0")
    start = {name: array.array("f", (SCALE * x for x in values)) if len(shapes[name]) > 1 else values
             for name, values in start.items() if not name.endswith((*FIRST_MOMENTS, ".exp_avg_sq"))}
    with tempfile.NamedTemporaryFile(suffix=".safetensors") as weights:
        safetensors_file.write(pathlib.Path(weights.name),
                               {name: ("F32", shapes[name], values.tobytes()) for name, values in start.items()})
        expected, *others = (step(program, options, "--lr=1", f"--init={weights.name}")[1] for program in programs)
    for program, found in zip(programs[1:], others):
        compare(program, found, expected, start)


def main():
    command, *words = sys.argv[1:]
    if command == "peak":
        for graph in words:
            peak(graph)
    elif command == "compare":
        expected = read_checkpoint(words[0])
        for path in words[1:]:
            compare(path, read_checkpoint(path), expected)
    elif command == "run":
        run(words[:words.index("--")], words[words.index("--") + 1:])


if __name__ == "__main__":
    main()

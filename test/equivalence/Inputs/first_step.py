#!/usr/bin/env python3
"""Weights whose attention is peaked, and every gradient of a first step.

    first_step.py peak GRAPH...                             in place
    first_step.py compare EXPECTED FOUND...                 checkpoints of step 1, or files of tensors
    first_step.py run PROGRAM[,OPTION...]... -- OPTION...   trains a step with each, and with options of its own

With weights as they are initialized, of a standard deviation of 0.02, all weights of attention are nearly the same, and
losses agree whatever its gradients are.  Tests of equivalence start from weights that are 15 times larger, and compare
what a step leaves behind of each gradient: the optimizer's first moments, which are the gradients times a constant.

The error of a tensor is the norm of the difference, relative to the norm of what is expected.  Gradients that are zero
but for rounding, as that of a bias of keys, are measured by the largest tensor's norm instead, times 1e-3.  Sums in
another order are apart by some 1e-6 of a tensor in f32.  TOLERANCE is 1e-4, so
that an error of 1 % in a hundredth of a tensor's norm is seen.  In bf16 each operand is rounded by 2^-9, and scores of
10 by 0.02: gradients are apart by up to 9 %, so an error of 1 % is for tests in f32 to find.
"""

import array
import json
import math
import operator
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "binary" / "Inputs"))
import safetensors_file  # noqa: E402  (found in that folder)

SCALE, SMALL = 15, 1e-3
TOLERANCE, TOLERANCE_BF16 = 1e-4, 0.15
FIRST_MOMENTS = (".exp_avg", ".momentum_buffer")
SECOND_MOMENTS = (".exp_avg_sq",)


def peak(graph):
    """Makes the initial values of all weights larger."""
    text = pathlib.Path(graph).read_text()
    text, count = re.subn(r"(#tg\.init<normal, 0\.0, )([-+.e\d]+)", lambda found: f"{found[1]}{float(found[2]) * SCALE:.6e}", text)
    if not count:
        sys.exit(f"{graph}: no parameter has normal initial values")
    pathlib.Path(graph).write_text(text)


def is_compared(name):
    """Second moments tell nothing more than the first."""
    return not name.endswith(SECOND_MOMENTS)


def read(path):
    """The shapes and values of a safetensors file; types other than f32 and bf16 are left out."""
    tensors = {}
    for name, (dtype, shape, data) in safetensors_file.read(path).items():
        if dtype == "BF16":
            data = b"".join(b"\0\0" + data[i:i + 2] for i in range(0, len(data), 2))
        if dtype in ("F32", "BF16") and is_compared(name):
            tensors[name] = shape, array.array("f", data)
    return tensors


class Part:
    """The elements of a tensor that a rank holds, in their order, as flat indices of the whole."""

    def __init__(self, index, name, rank):
        self.sizes = [size for _, size in index["mesh"]]
        self.axes = [axis for axis, _ in index["mesh"]]
        self.tensor = index["tensors"][name]
        self.coordinates = []
        for size in reversed(self.sizes):
            self.coordinates.insert(0, rank % size)
            rank //= size

    def place(self, axes):
        """The number of the rank among those along these axes, and how many they are."""
        number, count = 0, 1
        for axis in axes:
            at = self.axes.index(axis)
            number, count = number * self.sizes[at] + self.coordinates[at], count * self.sizes[at]
        return number, count

    def put(self, whole, values):
        """Writes what the rank holds into the tensor."""
        places = self.indices()
        if isinstance(places, slice):
            whole[places] = values
            return
        for place, value in zip(places, values, strict=True):
            whole[place] = value

    def indices(self):
        shape = self.tensor["shape"]
        if "dims" not in self.tensor and self.tensor.get("order", []) == sorted(self.tensor.get("order", [])):
            number, count = self.place(self.tensor.get("flat", []))
            size = math.prod(shape)
            each = -(-size // count)
            return slice(min(number * each, size), min((number + 1) * each, size))
        ranges = []
        for dim, size in enumerate(shape):
            number, count = self.place(self.tensor.get("dims", [[]] * len(shape))[dim])
            # Of parts side by side, such as queries, keys and values, each is in blocks.
            part = size // max(self.tensor.get("fused", [1] * len(shape))[dim], 1)
            ranges.append([at for first in range(0, size, part)
                           for at in range(first + number * part // count, first + (number + 1) * part // count)])
        order = self.tensor.get("order", range(len(shape)))
        strides = [math.prod(shape[dim + 1:]) for dim in range(len(shape))]
        places = [0]
        for dim in order:
            places = [place + at * strides[dim] for place in places for at in ranges[dim]]
        if "flat" not in self.tensor:
            return sorted(places)
        number, count = self.place(self.tensor["flat"])
        each = -(-len(places) // count)
        return places[number * each:(number + 1) * each]


def read_checkpoint(path):
    """The whole tensors of a checkpoint of any layout."""
    path = pathlib.Path(path)
    if not path.is_dir():
        return {name: values for name, (_, values) in read(path).items()}
    index = json.loads((path / "index.json").read_text())
    whole = {}
    for file in sorted(path.glob("rank-*.safetensors")):
        rank = int(re.search(r"\d+", file.name)[0])
        for name, (_, values) in read(file).items():
            shape = index["tensors"][name]["shape"]
            tensor = whole.setdefault(name, array.array("f", [math.nan]) * math.prod(shape))
            Part(index, name, rank).put(tensor, values)
    return whole


def shapes_of(path):
    if not path.is_dir():
        return {name: shape for name, (shape, _) in read(path).items()}
    return {name: tensor["shape"] for name, tensor in json.loads((path / "index.json").read_text())["tensors"].items()}


def norm(values):
    return math.sqrt(sum(map(operator.mul, values, values)))


def difference(values, others):
    if len(values) != len(others):
        raise ValueError(f"{len(values)} and {len(others)} elements")
    return list(map(operator.sub, values, others))


def worst_error(found, expected, start=None):
    """The largest error of a tensor and its name: of first moments; where there are none, of the change from `start`."""
    names = [name for name in expected if name.endswith(FIRST_MOMENTS)]
    if not names and start:
        names = list(start)
        found, expected = ({name: difference(tensors[name], start[name]) for name in names} for tensors in (found, expected))
    if not names:
        raise ValueError("no tensor tells of gradients")
    if missing := [name for name in names if name not in found]:
        raise ValueError(f"{missing} are in one of the two alone")
    norms = {name: norm(expected[name]) for name in names}
    least = SMALL * max(norms.values())
    if not least:
        raise ValueError("all gradients are 0: nothing is compared")
    errors = {}
    for name in names:
        error = norm(difference(found[name], expected[name]))
        errors[name] = error / max(norms[name], least)
    # Of NaN nothing is the largest.
    return max(((error if error == error else math.inf, name) for name, error in errors.items()))


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
             for name, values in start.items() if not name.endswith(FIRST_MOMENTS)}
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

"""Reads checkpoints of any layout as whole tensors."""

import array
import json
import math
import pathlib
import re

from . import safetensors_file
from .differences import Incomparable


def read(path):
    """The shapes and values of a safetensors file; types other than f32, bf16 and i8 (codes) are left out."""
    tensors = {}
    for name, (dtype, shape, data) in safetensors_file.read(path).items():
        if dtype == "BF16":
            halves, data = data, bytearray(2 * len(data))
            data[2::4], data[3::4] = halves[::2], halves[1::2]
        if dtype in ("F32", "BF16", "I8"):
            tensors[name] = shape, array.array("b" if dtype == "I8" else "f", bytes(data))
    return tensors


class Part:
    """Returns the elements of a tensor that a rank holds, in the rank's order, as flat indices of the whole tensor."""

    def __init__(self, index, name, rank):
        self.sizes = [size for _, size in index["mesh"]]
        self.axes = [axis for axis, _ in index["mesh"]]
        self.tensor = index["tensors"][name]
        self.coordinates = []
        for size in reversed(self.sizes):
            self.coordinates.insert(0, rank % size)
            rank //= size

    def place(self, axes):
        """Returns the rank's number in its group along these axes, and the size of the group."""
        number, count = 0, 1
        for axis in axes:
            at = self.axes.index(axis)
            number, count = number * self.sizes[at] + self.coordinates[at], count * self.sizes[at]
        return number, count

    def put(self, whole, values):
        """Writes the rank's elements into the tensor."""
        places = self.indices()
        if isinstance(places, slice):
            whole[places] = values
            return
        if len(places) != len(values):
            raise Incomparable(f"a rank holds {len(values)} elements, and its part has {len(places)}")
        for place, value in zip(places, values):
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
            # If parts lie side by side, such as queries, keys and values, each part is divided into blocks.
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


def decoded(tensors, shapes):
    """Decodes moments: a code q stands for sign(q) q^4 times its scale (runtime/checkpoint/Moments.cpp)."""
    found = dict(tensors)
    for name in [name for name, values in tensors.items() if values.typecode == "b" and f"{name}.scale" in tensors]:
        shape, of_scales = shapes[name], shapes[f"{name}.scale"]
        dim = next((dim for dim, sizes in enumerate(zip(shape, of_scales)) if sizes[0] != sizes[1]), 0)
        block, inner = shape[dim] // of_scales[dim], math.prod(shape[dim + 1:])
        scales = found.pop(f"{name}.scale")
        values = (math.copysign(code ** 4, code) * scales[at // (inner * block) * inner + at % inner]
                  for at, code in enumerate(tensors[name]))
        found[name] = array.array("f", values)
    return found


def read_checkpoint(path):
    """Returns the whole tensors of a checkpoint of any layout."""
    path = pathlib.Path(path)
    if not path.is_dir():
        tensors = read(path)
        return decoded({name: values for name, (_, values) in tensors.items()},
                       {name: shape for name, (shape, _) in tensors.items()})
    index = json.loads((path / "index.json").read_text())
    whole = {}
    for file in rank_files(path):
        rank = int(re.search(r"\d+", file.name)[0])
        for name, (_, values) in read(file).items():
            shape = index["tensors"][name]["shape"]
            if name not in whole:
                nothing = math.nan if values.typecode == "f" else 0
                whole[name] = array.array(values.typecode, [nothing]) * math.prod(shape)
            Part(index, name, rank).put(whole[name], values)
    return decoded(whole, {name: tensor["shape"] for name, tensor in index["tensors"].items()})


def rank_files(path):
    """Returns the files of a checkpoint: a single file, or one per rank."""
    return sorted(path.glob("rank-*.safetensors")) if path.is_dir() else [path]


def bits(path):
    """Yields each tensor of each file as it is stored."""
    return [safetensors_file.read(file) for file in rank_files(pathlib.Path(path))]


def shapes_of(path):
    if not path.is_dir():
        return {name: shape for name, (shape, _) in read(path).items()}
    return {name: tensor["shape"] for name, tensor in json.loads((path / "index.json").read_text())["tensors"].items()}

"""Reads checkpoints: whole tensors from the files of one rank or of many (runtime/README.md has the format)."""

from __future__ import annotations

import json
import math
import os
import struct
from pathlib import Path
from typing import Any

import numpy

from . import arrays
from .errors import Error

_TYPES = {"F64": arrays.F64, "F32": arrays.F32, "BF16": arrays.BF16, "I32": arrays.I32, "I64": arrays.I64,
          "BOOL": arrays.BOOL, "I8": arrays.I8}
_MAX_HEADER = 100 << 20


def _read_file(path: Path) -> tuple[dict[str, arrays.Values], dict[str, str]]:
    """Returns the tensors of a safetensors file, mapped, and its metadata."""
    try:
        size = path.stat().st_size
        with open(path, "rb") as file:
            start = file.read(8)
            length = struct.unpack("<Q", start)[0] if len(start) == 8 else _MAX_HEADER + 1
            if length > min(_MAX_HEADER, size - 8):
                raise ValueError("it is shorter than its header says")
            header = json.loads(file.read(length))
        metadata = header.pop("__metadata__", {})
        is_empty = size == 8 + length  # which cannot be mapped
        data = numpy.empty(0, numpy.uint8) if is_empty else numpy.memmap(path, numpy.uint8, "r", offset=8 + length)
        return {name: _entry(data, entry) for name, entry in header.items()}, metadata
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise Error(f"cannot read '{path}': {error}") from error


def _entry(data: numpy.ndarray, entry: dict[str, Any]) -> arrays.Values:
    code = _TYPES[entry["dtype"]]
    begin, end = entry["data_offsets"]
    if not 0 <= begin <= end <= len(data):
        raise ValueError("a tensor lies outside of the file")
    return arrays.Values(data[begin:end].view(arrays.DTYPES[code]).reshape(entry["shape"]), code)


def newest(directory: str | os.PathLike) -> Path:
    """Returns the newest checkpoint in a directory, or the path itself if that is a checkpoint."""
    path = Path(directory)
    if path.is_file() or (path / "index.json").exists():
        return path
    found = sorted(entry for entry in path.glob("step-*") if not entry.name.endswith(".tmp"))
    if not found:
        raise Error(f"there is no checkpoint in '{path}'")
    return found[-1]


def read(path: str | os.PathLike) -> dict[str, arrays.Values]:
    """Returns the whole tensors of a checkpoint by name: parameters, and moments such as `w.exp_avg`."""
    path = newest(path)
    if path.is_file():
        return _read_file(path)[0]
    try:
        index = json.loads((path / "index.json").read_text())
        mesh = [(axis, int(size)) for axis, size in index["mesh"]]
        tensors = {name: _Assembly(entry, mesh) for name, entry in index["tensors"].items()}
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise Error(f"cannot read '{path}/index.json': {error}") from error
    for file in sorted(path.glob("rank-*.safetensors")):
        rank = int(file.stem.removeprefix("rank-"))
        for name, part in _read_file(file)[0].items():
            if name in tensors:
                tensors[name].add(rank, part.array)
    return {name: tensor.whole(f"'{name}' of '{path}'") for name, tensor in tensors.items()}


class _Assembly:
    """A tensor that is put together from the parts of ranks."""

    def __init__(self, entry: dict[str, Any], mesh: list[tuple[str, int]]):
        self.code = _TYPES[entry["dtype"]]
        self.shape = tuple(entry["shape"])
        self.mesh = mesh
        rank = len(self.shape)
        self.dims = entry.get("dims") or [[]] * rank
        self.fused = [max(parts, 1) for parts in entry.get("fused") or [1] * rank]
        self.flat, self.order = entry.get("flat"), entry.get("order") or list(range(rank))
        self.array = numpy.zeros(self.shape, arrays.DTYPES[self.code])
        self.block = tuple(size // self._ranks(axes) for size, axes in zip(self.shape, self.dims))
        # Elements of each block that is divided into flat ranges, in the order of the file.
        self.ranges: dict[tuple[int, ...], numpy.ndarray] = {}
        self.elements = 0

    def _ranks(self, axes: list[str]) -> int:
        return math.prod(dict(self.mesh)[axis] for axis in axes)

    def _place(self, rank: int, axes: list[str]) -> int:
        """Returns the place of a rank among the ranks along these axes, row-major."""
        coordinates = {}
        for axis, size in reversed(self.mesh):
            rank, coordinates[axis] = divmod(rank, size)
        place = 0
        for axis in axes:
            place = place * dict(self.mesh)[axis] + coordinates[axis]
        return place

    def add(self, rank: int, part: numpy.ndarray) -> None:
        places = tuple(self._place(rank, axes) for axes in self.dims)
        self.elements += part.size
        if self.flat is None:
            self._put(places, part)
            return
        size = math.prod(self.block)
        length = -(-size // self._ranks(self.flat))
        begin = self._place(rank, self.flat) * length
        block = self.ranges.setdefault(places, numpy.zeros(size, self.array.dtype))
        block[begin:begin + part.size] = part.reshape(-1)

    def _put(self, places: tuple[int, ...], part: numpy.ndarray) -> None:
        """Writes a block. A fused dim has a block in each of its parts."""
        apart, index, shape = [], [], []
        for size, parts, place, block in zip(self.shape, self.fused, places, self.block):
            apart += [parts, size // parts]
            own = block // parts
            index += [slice(None), slice(place * own, (place + 1) * own)]
            shape += [parts, own]
        self.array.reshape(apart)[tuple(index)] = part.reshape(shape)

    def whole(self, name: str) -> arrays.Values:
        for places, block in self.ranges.items():
            ordered = block.reshape([self.block[dim] for dim in self.order])
            self._put(places, ordered.transpose(numpy.argsort(self.order)))
        if self.elements != self.array.size:
            raise Error(f"the files have {self.elements} of the {self.array.size} elements of {name}")
        return arrays.Values(self.array, self.code)

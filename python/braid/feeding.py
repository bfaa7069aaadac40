"""From the tensors of a batch to the inputs of microbatches. Everything is checked before anything is copied."""

from __future__ import annotations

from typing import Any

import numpy

from . import arrays, library
from .errors import StepError
from .graph import Graph
from .library import Input, Model, Rank


class Feeder:
    """The inputs of a rank.

    A rank's own part of a batch has the rows that this rank reads, and all positions of the other dims: ranks that
    share the sequence get the same rows.
    """

    def __init__(self, rank: Rank, model: Model, graph: Graph):
        self.rank, self.model = rank, model
        self.inputs = {one.name: one for one in rank.inputs()}
        # Shapes over all microbatches. Tensors without rows of the batch are the same for each.
        self.shapes = graph.inputs

    def shares_rows(self) -> bool:
        """Returns whether this rank reads a part of an input."""
        return any(one.extent != one.shape for one in self.inputs.values())

    def feed(self, tensors: dict[str, Any], is_own: bool, program: str, first: int, count: int) -> None:
        """Sets the inputs of `count` microbatches from `first` on, of which the tensors have the rows."""
        ready = []
        for name, one in self.inputs.items():
            if not getattr(one, f"in_{program}"):
                continue
            if name not in tensors:
                raise StepError(f"the batch has no '{name}'; it has {', '.join(tensors)}")
            is_bits = one.role in ("features", "shared") and one.type == arrays.I32
            values = (arrays.bits_of if is_bits else arrays.of)(tensors[name])
            ready += self._parts(one, values, is_own, first, count)
        for name, microbatch, values, extent in ready:
            self.rank.set_input(name, microbatch, values, extent)

    def _parts(self, one: Input, values: arrays.Values, is_own: bool, first: int, count: int) -> list[tuple]:
        """Returns the arguments of set_input for each microbatch."""
        _check_type(one, values.type)
        is_own = is_own and self.model.ranks > 1
        shape = list(one.shape)
        if is_own and shape:
            shape[0] = one.extent[0]
        has_rows = bool(shape) and self.model.microbatches > 1 and self.shapes.get(one.name, one.shape) != one.shape
        wanted = [shape[0] * count, *shape[1:]] if has_rows else shape
        if list(values.array.shape) != wanted:
            raise StepError(f"'{one.name}' must have the shape {wanted}{self._why(one, is_own, has_rows, count)}; "
                            f"it has {list(values.array.shape)}")
        extent = library.OWN_PART if is_own else library.WHOLE
        parts = []
        for index in range(count):
            array = values.array[index * shape[0]:(index + 1) * shape[0]] if has_rows else values.array
            if is_own:
                array = array[(slice(None), *map(slice, one.begin[1:], _ends(one)[1:]))]
            parts.append((one.name, first + index, values._replace(array=numpy.ascontiguousarray(array)), extent))
        return parts

    def _why(self, one: Input, is_own: bool, has_rows: bool, count: int) -> str:
        words = []
        if is_own and one.extent != one.shape:
            words.append("this rank's rows; sharded=False takes those of all ranks")
        if has_rows and count != self.model.microbatches:
            words.append(f"the rows of {count} of {self.model.microbatches} microbatches")
        return f" ({'; '.join(words)})" if words else ""


def _ends(one: Input) -> list[int]:
    return [begin + extent for begin, extent in zip(one.begin, one.extent)]


def _check_type(one: Input, found: int) -> None:
    """Refuses floats for integers, and the reverse."""
    def kind(code: int) -> str:
        return "float" if arrays.is_float(code) else "bool" if code == arrays.BOOL else "integer"

    if kind(one.type) != kind(found):
        raise StepError(f"'{one.name}' must have elements of type {arrays.TYPE_NAMES[one.type]}; it has "
                        f"{arrays.TYPE_NAMES[found]}")

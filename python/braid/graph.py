"""Graphs of a training step: text of braidc, with initial values and the batches that they take."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from . import arrays, batches, tools
from .errors import CompileError

# An argument `%x: tensor<64x1xf32> {... tg.input = "x" ...}` of the graph.
_ARGUMENT = re.compile(r'tensor<([^<>]*)>\s*\{([^{}]*\btg\.input\s*=\s*"((?:[^"\\]|\\.)*)"[^{}]*)\}')
# Roles that the training loop fills, and not the batch.
_OWN_ROLES = re.compile(r"#tg\.role<(key|lr|step|position|stop|values)>")

# Names of integers whose roles braid-import knows.
INTEGER_NAMES = ("tokens", "input_ids", "idx", "ids", "x", "input", *batches.LABELS)


@dataclass
class Graph:
    """A training graph.

    `text` is MLIR. `values` has initial values of parameters by name; others are drawn as the graph says. `binding`
    says how batches reach inputs; without one a batch is a dict by input name, or a tuple in the order of `inputs`.
    """

    text: str
    name: str = "model"
    values: dict[str, Any] = field(default_factory=dict)
    binding: batches.Binding | None = None
    module: Any = None  # torch.nn.Module whose parameters the graph has
    path: str = ""  # of the file that it was read from
    noise: str = ""  # op and place of random numbers, beside dropout, of the mode train() alone
    leaves: dict[str, Any] = field(default_factory=dict)  # of the pytrees of JAX, by argument: see jax_leaves.py

    @property
    def inputs(self) -> dict[str, tuple[int, ...]]:
        """Shapes of the inputs of a batch, over all ranks and microbatches."""
        found = {}
        for shape, attributes, name in _ARGUMENT.findall(self.text):
            if not _OWN_ROLES.search(attributes):
                found[name] = tuple(int(size) for size in shape.split("x")[:-1])
        return found

    @property
    def is_whole_step(self) -> bool:
        """Whether the graph updates its parameters itself, with gradients and an optimizer of its own."""
        parameters = set(re.findall(r'#tg\.param<"([^"]+)"', self.text))
        return not parameters.isdisjoint(re.findall(r'tg\.updates = "([^"]+)"', self.text))

    def save(self, path: str | os.PathLike) -> None:
        """Writes the graph's text."""
        Path(path).write_text(self.text)

    def run(self, *words: str) -> None:
        """Runs braidc on this graph. Messages name the graph's own file, or the source of its module."""
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / f"{self.name}.mlir"
            self.save(file)
            tools.run("braidc", str(file), *words, temporary=file, shown=self.path)

    def tensors_of(self, batch: Any) -> dict[str, Any]:
        """Returns the tensors of a batch by input name."""
        if self.binding:
            return batches.named(self.binding, batch)
        entries = batches.entries_of(batch)
        if not isinstance(batch, batches.Mapping):
            names = list(self.inputs)
            if len(entries) != len(names):
                raise TypeError(f"the batch has {len(entries)} tensors; the graph has the inputs {', '.join(names)}")
            entries = dict(zip(names, entries.values()))
        if set(entries) != set(self.inputs):
            raise TypeError(f"the batch has the entries {', '.join(map(str, entries))}; the graph has the inputs "
                            f"{', '.join(self.inputs)}")
        return entries


def load_graph(path: str | os.PathLike) -> Graph:
    """Reads a graph that was written by hand, by braid-model or by braid-import."""
    path = Path(path)
    try:
        return Graph(path.read_text(), path.stem, path=str(path))
    except (OSError, UnicodeDecodeError) as error:
        raise CompileError(f"cannot read '{path}': {error}") from error


def _role_words(binding: batches.Binding, batch: Any) -> list[str]:
    """States the role of integers whose names braid-import does not know: features, which batches fill by name."""
    entries = batches.entries_of(batch)
    words = []
    for key, name in binding.names.items():
        is_float = any(kind in str(entries[key].dtype) for kind in ("float", "bfloat"))
        if not is_float and (name not in INTEGER_NAMES or "bool" in str(entries[key].dtype)):
            words.append(f"--input={name}=features")
    return words


def graph_of(model: Any, batch: Any, loss: Any = None, outputs: bool = False) -> Graph:
    """Returns the graph of a module of PyTorch, for batches of these shapes over all ranks.

    Arguments are those of `export`. Raises CompileError with the line of the module's source.
    """
    from . import exporting
    module = exporting.plain_module(model)
    program = exporting.program_of(module, batch, loss, outputs)
    with tempfile.TemporaryDirectory() as folder:
        file, graph = Path(folder) / "model.pt2", Path(folder) / "graph.mlir"
        exporting.save_without_values(program, file)
        tools.run("braid-import", str(file), "-o", str(graph), *_role_words(program.binding, batch), temporary=file)
        text = graph.read_text()
    noise = exporting.noise_of(module, batch, loss, outputs, program)
    values = _values(module, program.exported.constants)
    return Graph(text, type(module).__name__, values, program.binding, module, noise=noise)


def _values(module: Any, constants: dict[str, Any]) -> dict[str, Any]:
    """Returns parameters, buffers and constants of the program that have values."""
    tensors = {**constants, **dict(module.named_buffers(remove_duplicate=False)),
               **dict(module.named_parameters(remove_duplicate=False))}
    return {name: value for name, value in tensors.items() if arrays.is_torch(value) and not value.is_meta}




def rows_of_all_ranks(batch: Any, ways: int) -> Any:
    """Returns a batch with `ways` times the rows, as the example of the graph of all ranks. It has no values.

    Rows are the first dim of the first tensor, and of each tensor whose first dim is as long.
    """
    import torch
    entries = batches.entries_of(batch)
    rows = next((value.shape[0] for value in entries.values() if arrays.is_array(value) and len(value.shape)), None)

    def grown(value: Any) -> Any:
        if not arrays.is_array(value):
            return value
        dtype = value.dtype if arrays.is_torch(value) else arrays.torch_dtypes()[arrays.of(value).type]
        shape = list(value.shape)
        if shape and shape[0] == rows:
            shape[0] *= ways
        return torch.empty(shape, dtype=dtype, device="meta")

    grown_entries = {key: grown(value) for key, value in entries.items()}
    if isinstance(batch, batches.Mapping):
        return grown_entries
    values = list(grown_entries.values())
    return tuple(values) if isinstance(batch, (tuple, list)) else values[0]


def ways_of(mesh: str, axes: Sequence[str] = ("dp", "replica", "shard", "ep")) -> int:
    """Returns how many ranks share the rows of a batch on a mesh such as "dp=2,tp=4"."""
    ways = 1
    for axis in filter(None, mesh.split(",")):
        name, _, size = axis.partition("=")
        if name.strip() in axes and size.strip().isdecimal():
            ways *= max(int(size), 1)
    return ways

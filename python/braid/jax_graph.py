"""Graphs of functions of JAX."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy

from . import batches, tools
from .graph import Graph, _role_words
from .step import Step


def _name(path: Any, root: str = "") -> str:
    """Returns the name of a leaf as braid-import spells it: the keys of its path, with dots between them."""
    import jax
    parts = re.findall(r"\['([^']*)'\]|\[\"([^\"]*)\"\]|\[(\d+)\]|\.(\w+)", jax.tree_util.keystr(path))
    return ".".join("".join(part) for part in parts) or root


def _named_leaves(tree: Any) -> dict[str, Any]:
    import jax
    return {_name(path): leaf for path, leaf in jax.tree_util.tree_flatten_with_path(tree)[0]}


def _binding(function: Callable, arguments: tuple[Any, ...]) -> tuple[batches.Binding, Any]:
    """Returns how batches reach the arguments behind the first, and an example of a batch.

    A batch is a tuple of these arguments, or a dict if the only one is a dict of arrays.
    """
    if len(arguments) == 1 and isinstance(arguments[0], Mapping):
        names = {key: str(key) for key in arguments[0]}
        return batches.Binding(names, (), {}, {}), arguments[0]
    import inspect
    parameters = list(inspect.signature(function).parameters)[1:]
    names = {index: parameters[index] for index in range(len(arguments))}
    return batches.Binding(names, (), {}, {}), arguments


def from_jax(function: Callable, params: Any, *arguments: Any) -> Graph:
    """Returns the graph of a JAX function `function(params, *arguments)` that returns a loss.

    - `params`: a pytree of arrays; its float leaves are trained. They are named by their paths, such as `dense.0.w`.
    - `arguments`: example arrays of a whole step over all ranks, or one dict of arrays.

    Compile it with `compile_graph`; batches are tuples of the arguments, or dicts. `to_jax` returns the trained
    parameters. Raises CompileError with the line of the function's source.
    """
    import jax
    binding, example = _binding(function, arguments)
    lowered = jax.jit(function, keep_unused=True).lower(params, *arguments)
    text = lowered.compiler_ir().operation.get_asm(print_generic_op_form=True, enable_debug_info=True)
    with tempfile.TemporaryDirectory() as folder:
        file, graph = Path(folder) / "model.stablehlo.mlir", Path(folder) / "graph.mlir"
        file.write_text(text)
        tools.run("braid-import", str(file), "--from=stablehlo", "-o", str(graph), *_role_words(binding, example))
        imported = graph.read_text()
    values = {name: numpy.asarray(leaf) for name, leaf in _named_leaves(params).items()}
    return Graph(imported, getattr(function, "__name__", "model"), values, binding)


def to_jax(step: Step, params: Any) -> Any:
    """Returns a pytree like `params` with the values of a step. All ranks must call it; rank 0 gets them."""
    import jax
    values = step.full_state_dict()
    if not values:
        return None
    leaves, tree = jax.tree_util.tree_flatten_with_path(params)
    new = [jax.numpy.asarray(values.get(_name(path), leaf), dtype=leaf.dtype) for path, leaf in leaves]
    return jax.tree_util.tree_unflatten(tree, new)

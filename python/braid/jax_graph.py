"""Graphs of functions of JAX."""

from __future__ import annotations

import inspect
import re
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy

from . import arrays, batches, jax_check, jax_rules, tools
from .graph import INTEGER_NAMES, Graph
from .step import Step


def _name(path: Any, root: str = "") -> str:
    """Returns the name of a leaf as braid-import spells it: the keys of its path, with dots between them."""
    import jax
    parts = re.findall(r"\['([^']*)'\]|\[\"([^\"]*)\"\]|\[(\d+)\]|\.(\w+)", jax.tree_util.keystr(path))
    return ".".join("".join(part) for part in parts) or root


def _named_leaves(tree: Any) -> dict[str, Any]:
    import jax
    return {_name(path): leaf for path, leaf in jax.tree_util.tree_flatten_with_path(tree)[0]}


def _names_in(graph_names: set[str], name: str, leaf: Any) -> list[str]:
    """Returns the parameters of a graph that a leaf became: itself, or one for each layer of a scan."""
    if name in graph_names or not numpy.ndim(leaf):
        return [name]
    keys = name.split(".")
    for place in range(len(keys)):
        layers = [".".join([*keys[:place], str(layer), *keys[place:]]) for layer in range(len(leaf))]
        if layers and all(layer in graph_names for layer in layers):
            return layers
    return [name]


def _values(text: str, params: Any) -> dict[str, Any]:
    """Returns the arrays of a pytree like the parameters, under the names of a graph's text."""
    graph_names = set(re.findall(r'#tg\.param<"([^"]+)"', text))
    values = {}
    for name, leaf in _named_leaves(params).items():
        names, array = _names_in(graph_names, name, leaf), numpy.asarray(leaf)
        values.update({name: array} if names == [name] else zip(names, array))
    return values


def _role_words(binding: batches.Binding, example: Any) -> list[str]:
    """States the roles of inputs: a float without one would be a parameter."""
    entries = batches.entries_of(example)
    words = []
    for key, name in binding.names.items():
        is_float = "float" in str(numpy.asarray(arrays.plain(entries[key])).dtype)
        if is_float:
            words.append(f"--input={name}={'labels' if name in batches.LABELS else 'features'}")
        elif name not in INTEGER_NAMES:
            words.append(f"--input={name}=features")
    return words


def _binding(function: Callable, arguments: tuple[Any, ...]) -> tuple[batches.Binding, Any]:
    """Returns how batches reach the arguments behind the first, and an example of a batch.

    A batch is a tuple of these arguments, or a dict if the only one is a dict of arrays.
    """
    if len(arguments) == 1 and isinstance(arguments[0], Mapping):
        names = {key: str(key) for key in arguments[0]}
        return batches.Binding(names, (), {}, {}), arguments[0]
    parameters = list(inspect.signature(function).parameters)[1:]
    names = {index: parameters[index] for index in range(len(arguments))}
    return batches.Binding(names, (), {}, {}), arguments


def from_jax(function: Callable, params: Any, *arguments: Any, rules: str = "compare", check: bool = False) -> Graph:
    """Returns the graph of a JAX function `function(params, *arguments)` that returns a loss.

    - `params`: a pytree of arrays; its float leaves are trained. They are named by their paths, such as `dense.0.w`.
    - `arguments`: example arrays of a whole step over all ranks, or one dict of arrays.
    - `rules`: what happens to rules of `jax.custom_vjp` and `jax.custom_jvp`. "compare" compares each with the
      derivative of its function, for random arguments. If they differ, a rule of `custom_jvp` is spelled with stopped
      gradients, and a rule of `custom_vjp`, which a graph cannot have, is refused. "ignore" drops all rules.
    - `check`: also compiles a step and compares its gradients for the example arrays with `jax.grad`.

    Compile it with `compile_graph`; batches are tuples of the arguments, or dicts. `to_jax` returns the trained
    parameters. Raises CompileError with the line of the function's source.
    """
    binding, example = _binding(function, arguments)
    lowered = jax_rules.lower(function, (params, *arguments), rules)
    text = lowered.compiler_ir().operation.get_asm(print_generic_op_form=True, enable_debug_info=True)
    with tempfile.TemporaryDirectory() as folder:
        file, path = Path(folder) / "model.stablehlo.mlir", Path(folder) / "graph.mlir"
        file.write_text(text)
        tools.run("braid-import", str(file), "--from=stablehlo", "-o", str(path), *_role_words(binding, example))
        imported = path.read_text()
    graph = Graph(imported, getattr(function, "__name__", "model"), _values(imported, params), binding)
    if check:
        jax_check.check_gradients(graph, function, (params, *arguments), lambda tree: _values(imported, tree))
    return graph


def to_jax(step: Step, params: Any) -> Any:
    """Returns a pytree like `params` with the values of a step. All ranks must call it; rank 0 gets them."""
    import jax
    values = step.full_state_dict()
    if not values:
        return None
    leaves, tree = jax.tree_util.tree_flatten_with_path(params)
    new = []
    for path, leaf in leaves:
        names = _names_in(set(values), _name(path), leaf)
        found = [values[name] for name in names if name in values]
        value = leaf if not found else found[0] if names == [_name(path)] else numpy.stack(found)
        new.append(jax.numpy.asarray(value, dtype=leaf.dtype))
    return jax.tree_util.tree_unflatten(tree, new)

"""Graphs of functions of JAX."""

from __future__ import annotations

import inspect
import re
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy

from . import arrays, batches, jax_check, jax_rules, tools
from .errors import CompileError
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


def _values(text: str, tree: Any, root: str = "") -> dict[str, Any]:
    """Returns the arrays of a pytree under the names of a graph's text: with the name of the argument, or without."""
    graph_names = set(re.findall(r'#tg\.(?:param|state)<"([^"]+)"', text))
    values = {}
    for name, leaf in _named_leaves(tree).items():
        array = numpy.asarray(leaf)
        names = _names_in(graph_names, ".".join(filter(None, (root, name))), leaf)
        if root and not graph_names.issuperset(names):
            names = _names_in(graph_names, name, leaf)
        values.update({names[0]: array} if len(names) == 1 else zip(names, array))
    return values


def _role_words(binding: batches.Binding, example: Any) -> list[str]:
    """States the roles of inputs: a float without one would be a parameter. braid-import knows keys by their type."""
    entries = batches.entries_of(example)
    words = []
    for key, name in binding.names.items():
        dtype = str(numpy.asarray(arrays.plain(entries[key])).dtype)
        if "float" in dtype:
            words.append(f"--input={name}={'labels' if name in batches.LABELS else 'features'}")
        elif name not in INTEGER_NAMES and "uint" not in dtype:
            words.append(f"--input={name}=features")
    return words


def _named_arguments(function: Callable, arguments: tuple[Any, ...]) -> dict[str, Any]:
    return dict(zip(inspect.signature(function).parameters, arguments))


def _binding(given: dict[str, Any]) -> tuple[batches.Binding, Any]:
    """Returns how batches reach these arguments, and an example of a batch.

    A batch is a tuple of the arguments, or a dict if the only one is a dict of arrays.
    """
    if len(given) == 1 and isinstance(example := next(iter(given.values())), Mapping):
        return batches.Binding({key: str(key) for key in example}, (), {}, {}), example
    return batches.Binding(dict(enumerate(given)), (), {}, {}), tuple(given.values())


def _check_names(what: str, names: Iterable[str], known: Iterable[str]) -> None:
    for name in names:
        if name not in known:
            raise CompileError(f"{what}={name!r}: the function has no such argument; it has {', '.join(known)}")


def _imported(lowered: Any, words: list[str]) -> str:
    """Returns the graph's text of a lowered function."""
    text = lowered.compiler_ir().operation.get_asm(print_generic_op_form=True, enable_debug_info=True)
    with tempfile.TemporaryDirectory() as folder:
        file, path = Path(folder) / "model.stablehlo.mlir", Path(folder) / "graph.mlir"
        file.write_text(text)
        tools.run("braid-import", str(file), "--from=stablehlo", "-o", str(path), *words)
        return path.read_text()


def from_jax(function: Callable, params: Any, *arguments: Any, frozen: Sequence[str] = (), rules: str = "compare",
             check: bool = False) -> Graph:
    """Returns the graph of a JAX function `function(params, *arguments)` that returns a loss.

    - `params`: a pytree of arrays; its float leaves are trained. They are named by their paths, such as `dense.0.w`.
    - `arguments`: example arrays of a whole step over all ranks, or one dict of arrays.
    - `frozen`: names of arguments that are no part of a batch: pytrees of parameters that no update changes, such as the
      base weights of LoRA, with the values given here. Their names begin with that of the argument.
    - `rules`: what happens to rules of `jax.custom_vjp` and `jax.custom_jvp`. "compare" compares each with the
      derivative of its function, for random arguments. If they differ, a rule of `custom_jvp` is spelled with stopped
      gradients, and a rule of `custom_vjp`, which a graph cannot have, is refused. "ignore" drops all rules.
    - `check`: also compiles a step and compares its gradients for the example arrays with `jax.grad`.

    Compile it with `compile_graph`; batches are tuples of the arguments, or dicts. `to_jax` returns the trained
    parameters. Raises CompileError with the line of the function's source.
    """
    given = _named_arguments(function, (params, *arguments))
    given.pop(next(iter(given)))
    _check_names("frozen", frozen, given)
    binding, example = _binding({name: value for name, value in given.items() if name not in frozen})
    lowered = jax_rules.lower(function, (params, *arguments), rules)
    words = [*_role_words(binding, example), *(f"--input={name}=frozen" for name in frozen)]
    text = _imported(lowered, words)
    values = _values(text, params)
    for name in frozen:
        values.update(_values(text, given[name], name))
    graph = Graph(text, getattr(function, "__name__", "model"), values, binding)
    if check:
        jax_check.check_gradients(graph, function, (params, *arguments), example, lambda tree: _values(text, tree))
    return graph


def from_jax_step(function: Callable, *arguments: Any, states: Sequence[str], frozen: Sequence[str] = ()) -> Graph:
    """Returns the graph of a whole training step of JAX, which has its own gradients and optimizer.

    - `arguments`: example values of all arguments. Those of states and frozen arguments are the start of the training.
    - `states`: names of the arguments whose new values the step returns, such as ("params", "opt_state"). "params=0"
      states that the first result is the new value, if several results have the same arrays.
    - `frozen`: names of arguments that are parameters, and that no update changes.

    The other arguments are a batch: a tuple, or a dict if the only one is a dict of arrays. A float without dims that is
    called `lr` or `learning_rate` is the learning rate of the step. Compile the graph with `compile_graph`; `to_jax`
    returns the states.
    """
    import jax
    given = _named_arguments(function, arguments)
    roots = [state.partition("=")[0] for state in states]
    _check_names("states", roots, given)
    _check_names("frozen", frozen, given)
    rates = [name for name in ("lr", "learning_rate") if name in given and not numpy.ndim(given[name])]
    binding, example = _binding({name: value for name, value in given.items()
                                 if name not in (*roots, *frozen, *rates)})
    words = [*_role_words(binding, example), *(f"--state={state}" for state in states),
             *(f"--input={name}=frozen" for name in frozen)]
    text = _imported(jax.jit(function).lower(*arguments), words)
    values: dict[str, Any] = {}
    for name in (*roots, *frozen):
        values.update(_values(text, given[name], name))
    return Graph(text, getattr(function, "__name__", "model"), values, binding)


def to_jax(step: Step, tree: Any, name: str = "") -> Any:
    """Returns a pytree like `tree` with the values of a step. All ranks must call it; rank 0 gets them.

    `tree` is like the parameters, or like another state or frozen argument of this `name`.
    """
    import jax
    values = step.full_state_dict(moments=bool(name))
    if not values:
        return None
    leaves, structure = jax.tree_util.tree_flatten_with_path(tree)
    new = []
    for path, leaf in leaves:
        names = _names_in(set(values), ".".join(filter(None, (name, _name(path)))), leaf)
        found = [values[each] for each in names if each in values]
        value = leaf if not found else found[0] if len(names) == 1 else numpy.stack(found)
        new.append(jax.numpy.asarray(value, dtype=leaf.dtype))
    return jax.tree_util.tree_unflatten(structure, new)

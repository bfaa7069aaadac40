"""Graphs of functions of JAX."""

from __future__ import annotations

import inspect
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy

from . import arrays, batches, jax_check, jax_rules, tools
from .errors import CompileError, StepError
from .graph import INTEGER_NAMES, Graph
from .jax_leaves import Leaves, Tree, dtype_of, is_float, leaves_in, leaves_of, parameters_in, tree_with, values_of
from .step import Step


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
    """Returns the arguments by the names that they have in the text; those of *args are called by their numbers."""
    parameters = inspect.signature(function).parameters.values()
    names = [parameter.name for parameter in parameters if parameter.kind is not parameter.VAR_POSITIONAL]
    if any(parameter.kind is parameter.VAR_POSITIONAL for parameter in parameters):
        names = [parameter.name for parameter in parameters
                 if parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD)]
        names += map(str, range(len(arguments) - len(names)))
    return dict(zip(names, arguments))


def _check_arrays(what: str, values: Mapping[Any, Any], remedy: str) -> None:
    """Refuses a pytree in a batch in the place of an array."""
    import jax
    for key, value in values.items():
        if value is not None and not jax.tree_util.all_leaves([value]):
            raise CompileError(f"{what} {key!r} is a {type(value).__name__}, and a batch has arrays; {remedy}")


def _binding(given: dict[str, Any]) -> tuple[batches.Binding, Any]:
    """Returns how batches reach these arguments, and an example of a batch.

    A batch is a tuple of the arguments, or a dict if the only one is a dict of arrays. An argument that is None has no
    array, and stays None.
    """
    if len(given) == 1 and isinstance(example := next(iter(given.values())), Mapping):
        name = next(iter(given))
        _check_arrays(f"argument '{name}': the entry", example, "give each array an entry of its own")
        prefix = f"{name}." if name.isdecimal() else ""
        named = {key: (f"{prefix}{key}", value) for key, value in example.items()}
    else:
        _check_arrays("argument", given, "give each array an argument of its own, or one dict with all of them")
        example, named = tuple(given.values()), dict(enumerate(given.items()))
    return batches.Binding({key: name for key, (name, value) in named.items() if value is not None}, (), {},
                           {key: None for key, (_, value) in named.items() if value is None}), example


def _check_trained(root: str, params: Any) -> None:
    for path, leaf in leaves_of(params).items():
        if not is_float(leaf):
            raise CompileError(f"the leaf '{path}' of the argument '{root}' is {dtype_of(leaf)}, and the leaves of "
                               f"'{root}' are trained, which only floats are; take it from outside of the function, or "
                               "make it an argument of the batch")


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


def _graph_of(function: Callable, lowered: Any, words: list[str], trees: dict[str, Tree],
              binding: batches.Binding) -> Graph:
    """Returns the graph of a lowered function with the values of its trees."""
    text = _imported(lowered, words)
    leaves = leaves_in(text, trees)
    values = {}
    for name, tree in trees.items():
        if lost := next((path for path in leaves_of(tree.value) if path not in leaves[name]), None):
            raise CompileError(f"the leaf '{lost}' of the argument '{name}' has no parameter or state in the graph; "
                               "give the function plain arguments, and keys of letters and digits to their arrays")
        values.update(values_of(leaves[name], tree.value))
    return Graph(text, getattr(function, "__name__", "model"), values, binding, leaves=leaves)


def from_jax(function: Callable, params: Any, *arguments: Any, frozen: Sequence[str] = (), rules: str = "compare",
             check: bool = False) -> Graph:
    """Returns the graph of a JAX function `function(params, *arguments)` that returns a loss.

    - `params`: a pytree of arrays; its float leaves are trained. They are named by their paths, such as `dense.0.w`.
    - `arguments`: example arrays of a whole step over all ranks, or one dict of arrays.
    - `frozen`: names of arguments that are no part of a batch: pytrees of parameters that no update changes, such as the
      base weights of LoRA, with the values given here. Their names begin with that of the argument.
    - `rules`: what happens to rules of `jax.custom_vjp` and `jax.custom_jvp`. "compare" compares each with the
      derivative of its function, for many arguments. If they differ, a rule of `custom_jvp` is spelled with stopped
      gradients, and a rule of `custom_vjp`, which a graph cannot have, is refused. "ignore" drops all rules.
    - `check`: also compiles a step and compares its gradients for the example arrays with `jax.grad`.

    Compile it with `compile_graph`; batches are tuples of the arguments, or dicts. `to_jax` returns the trained
    parameters. Raises CompileError with the line of the function's source.
    """
    given = _named_arguments(function, (params, *arguments))
    root = next(iter(given))
    given.pop(root)
    _check_names("frozen", frozen, given)
    _check_trained(root, params)
    binding, example = _binding({name: value for name, value in given.items() if name not in frozen})
    lowered = jax_rules.lower(function, (params, *arguments), rules)
    words = [*_role_words(binding, example), *(f"--input={name}=frozen" for name in frozen)]
    # The text calls an array of *args by the number of the argument and its path.
    trees = {root: Tree(params, (root if root.isdecimal() else "",)),
             **{name: Tree(given[name], (name,)) for name in frozen}}
    graph = _graph_of(function, lowered, words, trees, binding)
    if check:
        jax_check.check_gradients(graph, function, (params, *arguments), example,
                                  lambda tree: values_of(graph.leaves[root], tree))
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
    trees = {**{root: Tree(given[root], (root, "")) for root in roots},
             **{name: Tree(given[name], (name,)) for name in frozen}}
    lowered = jax.jit(function, keep_unused=True).lower(*arguments)
    return _graph_of(function, lowered, words, trees, binding)


def _leaves_for(step: Step, tree: Any, name: str) -> Leaves:
    """Returns the leaves of an argument in a step: the argument `name`, or the first with parameters."""
    graph = step.graph
    if not graph.leaves:  # of a file
        return leaves_in(graph.text, {name: Tree(tree, (name, ""))})[name]
    if name:
        if name not in graph.leaves:
            raise StepError(f"to_jax: the step has no values of an argument '{name}'; it has those of "
                            f"{', '.join(graph.leaves)}")
        return graph.leaves[name]
    parameters = parameters_in(graph.text, "param")
    return next((leaves for leaves in graph.leaves.values()
                 if any(not parameters.isdisjoint(leaf.names) for leaf in leaves.values())), {})


def to_jax(step: Step, tree: Any, name: str = "") -> Any:
    """Returns a pytree like `tree` with the values of a step. All ranks must call it; rank 0 gets them.

    `tree` is like the parameters, or like another state or frozen argument of this `name`. Raises StepError if it has
    a leaf that the step does not have.
    """
    leaves = _leaves_for(step, tree, name)
    states = parameters_in(step.graph.text, "state")
    values = step.full_state_dict(moments=any(not states.isdisjoint(leaf.names) for leaf in leaves.values()))
    return tree_with(values, leaves, tree) if values else None

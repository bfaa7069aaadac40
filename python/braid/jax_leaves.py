"""Names of the leaves of pytrees in a graph, as braid-import gives them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy

from .errors import CompileError, StepError


class Leaf(NamedTuple):
    """A leaf in a graph: a name, or of a stack that lax.scan reads one for each layer."""

    names: list[str]
    is_stack: bool = False


# Leaves in a graph by their paths.
Leaves = dict[str, Leaf]


class Tree(NamedTuple):
    """An argument of a function whose arrays are parameters or states.

    `roots` are what may stand in front of a leaf's path in its name, the likeliest first: the name of the argument,
    or nothing.
    """

    value: Any
    roots: Sequence[str]


def name_of(path: Any) -> str:
    """Returns the keys of a path in a pytree, with dots between them."""
    import jax
    parts = re.findall(r"\['([^']*)'\]|\[\"([^\"]*)\"\]|\[(\d+)\]|\.(\w+)", jax.tree_util.keystr(path))
    return ".".join("".join(part) for part in parts)


def leaves_of(tree: Any) -> dict[str, Any]:
    """Returns the leaves of a pytree by their paths."""
    import jax
    return {name_of(path): leaf for path, leaf in jax.tree_util.tree_flatten_with_path(tree)[0]}


def dtype_of(leaf: Any) -> Any:
    """Returns the type that JAX gives a leaf, which may be a number of Python."""
    import jax
    return jax.dtypes.canonicalize_dtype(leaf.dtype if hasattr(leaf, "dtype") else jax.numpy.asarray(leaf).dtype)


def is_float(leaf: Any) -> bool:
    import jax
    return jax.numpy.issubdtype(dtype_of(leaf), jax.numpy.floating)


def parameters_in(text: str, kind: str = "param|state") -> set[str]:
    """Returns the names of the parameters and states in the text of a graph. They must be different."""
    names = Counter(re.findall(rf'#tg\.(?:{kind})<"([^"]+)"', text))
    if twice := next((name for name, count in names.items() if count > 1), None):
        raise CompileError(f"two parameters are called '{twice}', since lax.scan reads layers of one of them, which "
                           "get numbers; rename one of them")
    return set(names)


def _joined(*keys: str) -> str:
    return ".".join(filter(None, keys))


def _container(name: str) -> str:
    return name.partition(".")[0] if "." in name else ""


def _shared(names: list[str]) -> int:
    """Returns how many keys all names share; of one name, all but its last key."""
    keys = [name.split(".") for name in names]
    count = len(keys[0]) - 1
    for other in keys[1:]:
        count = next((place for place in range(min(count, len(other))) if other[place] != keys[0][place]),
                     min(count, len(other)))
    return count


def _layers(name: str, place: int, count: int) -> list[str]:
    """Returns the names of a stack's layers, with their numbers behind `place` keys."""
    keys = name.split(".")
    return [".".join([*keys[:place], str(layer), *keys[place:]]) for layer in range(count)]


def leaves_in(text: str, trees: dict[str, Tree]) -> dict[str, Leaves]:
    """Returns all leaves in the text of a graph, by the names of the arguments.

    lax.scan reads the layers of a stack one by one. Stacks of one container, the first key of their names, have the
    numbers of layers behind the keys that all of them share. A leaf that the graph does not have is left out.
    """
    known, found = parameters_in(text), {argument: {} for argument in trees}
    stacks: dict[str, list[tuple[str, str, str, int]]] = {}
    for argument, tree in trees.items():
        for path, leaf in leaves_of(tree.value).items():
            names = [_joined(root, path) or argument for root in tree.roots]
            if name := next((name for name in names if name in known), None):
                found[argument][path] = Leaf([name])
            elif numpy.ndim(leaf) and is_float(leaf):
                stacks.setdefault(_container(names[-1]), []).append((argument, path, names[-1], len(leaf)))
    for container in stacks.values():
        place = _shared([name for _, _, name, _ in container])
        for argument, path, name, count in container:
            if count and known.issuperset(layers := _layers(name, place, count)):
                found[argument][path] = Leaf(layers, is_stack=True)
    return found


def values_of(leaves: Leaves, tree: Any) -> dict[str, Any]:
    """Returns the arrays of a pytree under their names in a graph."""
    values = {}
    for path, value in leaves_of(tree).items():
        if leaf := leaves.get(path):
            array = numpy.asarray(value)
            values.update(zip(leaf.names, array if leaf.is_stack else [array]))
    return values


def tree_with(values: dict[str, Any], leaves: Leaves, tree: Any) -> Any:
    """Returns a pytree like `tree` with the values of a graph. Each leaf must be one of `leaves`."""
    import jax
    paths, structure = jax.tree_util.tree_flatten_with_path(tree)
    new = []
    for path, given in paths:
        name = name_of(path)
        leaf = leaves.get(name)
        if not leaf or not all(each in values for each in leaf.names):
            known = ", ".join(each or "one array" for each in leaves or values)
            raise StepError(f"to_jax: the step has no values of the leaf '{name}'; it has those of {known}"
                            if name else f"to_jax: the tree is one array, and the step has the leaves {known}")
        found = [values[each] for each in leaf.names]
        new.append(jax.numpy.asarray(numpy.stack(found) if leaf.is_stack else found[0], dtype=dtype_of(given)))
    return jax.tree_util.tree_unflatten(structure, new)

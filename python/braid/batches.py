"""Batches: from the structure that a user's loop has to values by the names of inputs."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from . import arrays
from .errors import CompileError

# Names of the entry of a dict batch that only the loss reads, if there is a loss.
LABELS = ("labels", "label", "targets", "target", "y")


class Binding(NamedTuple):
    """How the entries of a batch reach the model and the loss.

    Keys are positions of a tuple, keys of a dict, or 0 for a single tensor. `names` has the input name of each tensor.
    `positional` and `keywords` are the arguments of the model; `constants` are values that are no tensors, which are
    part of the compiled program.
    """

    names: dict[Any, str]
    positional: tuple[Any, ...]
    keywords: dict[str, Any]
    constants: dict[Any, Any]
    labels: Any = None


def entries_of(batch: Any) -> dict[Any, Any]:
    """Returns the entries of a batch by key: a tensor, a tuple or list of tensors, or a mapping."""
    if isinstance(batch, Mapping):
        return dict(batch)
    if isinstance(batch, (tuple, list)):
        return dict(enumerate(batch))
    if arrays.is_array(batch):
        return {0: batch}
    raise TypeError(f"a batch is a tensor, a tuple, a list or a dict of tensors; this one is a {type(batch).__name__}")


def _check(entries: Mapping[Any, Any]) -> None:
    for key, value in entries.items():
        if isinstance(value, (tuple, list, Mapping)):
            raise TypeError(f"entry {key!r} of the batch is a {type(value).__name__}: give each tensor an entry "
                            "of its own")


def _unique(name: str, taken: set[str]) -> str:
    while name in taken:
        name += "_"
    taken.add(name)
    return name


def _parameters(forward: Callable) -> list[inspect.Parameter]:
    return list(inspect.signature(forward).parameters.values())


def bind(forward: Callable, batch: Any, has_loss: bool) -> Binding:
    """Returns the binding of batches like this one to a forward function.

    With a loss of the caller, the labels go to the loss alone: the last entry of a tuple, or the entry of a dict that
    has one of the names LABELS. A dict's other entries go to the model if it has a parameter of that name.
    """
    entries = entries_of(batch)
    _check(entries)
    if isinstance(batch, Mapping):
        return _bind_dict(forward, entries, has_loss)
    return _bind_tuple(forward, entries, has_loss)


def _bind_dict(forward: Callable, entries: dict[Any, Any], has_loss: bool) -> Binding:
    parameters = _parameters(forward)
    takes_any = not has_loss or any(p.kind is p.VAR_KEYWORD for p in parameters)
    accepted = {p.name for p in parameters if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)}
    labels = next((key for key in LABELS if key in entries), None) if has_loss else None
    given = {key: key for key in entries if key != labels and (takes_any or key in accepted)}
    names = {key: str(key) for key, value in entries.items() if arrays.is_array(value)}
    constants = {key: value for key, value in entries.items() if not arrays.is_array(value)}
    return Binding(names, (), given, constants, labels)


def _bind_tuple(forward: Callable, entries: dict[Any, Any], has_loss: bool) -> Binding:
    labels = max(entries) if has_loss and len(entries) > 1 else None
    given = [key for key in entries if key != labels]
    positional = [p.name for p in _parameters(forward) if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    takes_any = any(p.kind is p.VAR_POSITIONAL for p in _parameters(forward))
    if len(given) > len(positional) and not takes_any:
        hint = "" if has_loss else "; if the last are labels, give a loss, such as loss='cross_entropy'"
        raise CompileError(f"the model's forward takes {len(positional)} arguments, and the batch has {len(given)}"
                           f"{hint}")
    names, taken = {}, set()
    for position, key in enumerate(given):
        if arrays.is_array(entries[key]):
            names[key] = _unique(positional[position] if position < len(positional) else f"input{position}", taken)
    if labels is not None:
        names[labels] = _unique("targets" if _is_integer(entries[labels]) else "labels", taken)
    constants = {key: value for key, value in entries.items() if not arrays.is_array(value)}
    return Binding(names, tuple(given), {}, constants, labels)


def _is_integer(value: Any) -> bool:
    return "int" in str(getattr(value, "dtype", ""))


def named(binding: Binding, batch: Any) -> dict[str, Any]:
    """Returns the tensors of a batch by input name. Entries that are no tensors must be those of the example."""
    entries = entries_of(batch)
    expected = set(binding.names) | set(binding.constants)
    if set(entries) != expected:
        raise TypeError(f"the batch has the entries {_listed(entries)}; the step was compiled for {_listed(expected)}")
    for key, value in binding.constants.items():
        if arrays.is_array(entries[key]) or entries[key] != value:
            found = "an array" if arrays.is_array(entries[key]) else repr(entries[key])
            raise TypeError(f"entry {key!r} of the batch is {found}, but the step was compiled for {value!r}")
    return {name: entries[key] for key, name in binding.names.items()}


def _listed(keys: Any) -> str:
    return ", ".join(map(repr, sorted(keys, key=str))) or "none"

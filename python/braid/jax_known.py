"""Jaxprs: their equations, and what is known of the values that an equation reads."""

from __future__ import annotations

import math
from collections.abc import Generator, Iterator, Sequence
from typing import Any, NamedTuple

import numpy

# Upper limit of the elements of a value that is computed here.
_MAX_ELEMENTS = 1 << 16


class Known(NamedTuple):
    """Value of a variable. `varies` if it follows from an argument of the function, whose values are an example."""

    value: Any
    varies: bool


def parts(value: Any) -> list[Any]:
    """Returns the jaxprs in a parameter of an equation: jaxprs, closed ones, or sequences of them."""
    if hasattr(value, "eqns"):
        return [value]
    return [part for each in value for part in parts(each)] if isinstance(value, (tuple, list)) else []


def inner(equation: Any) -> list[Any]:
    """Returns the jaxprs of an equation's parameters."""
    return [part for value in equation.params.values() for part in parts(value)]


def equations(jaxpr: Any) -> Iterator[Any]:
    """Yields the equations of a jaxpr, those of functions, loops and branches behind the equation that has them."""
    for equation in jaxpr.eqns:
        yield equation
        for part in inner(equation):
            yield from equations(part)


def elements(jaxpr: Any) -> int:
    """Returns the elements of all values of a jaxpr; those of a loop count for each step."""
    count = 0
    for equation in jaxpr.eqns:
        steps = equation.params.get("length", 1) if equation.primitive.name == "scan" else 1
        count += sum(math.prod(getattr(result.aval, "shape", ())) for result in equation.outvars)
        count += steps * sum(elements(part) for part in inner(equation))
    return count


def is_float(aval: Any) -> bool:
    import jax
    return jax.numpy.issubdtype(aval.dtype, jax.numpy.floating)


def _given_to(part: Any, equation: Any, inputs: list[Known | None]) -> list[Known | None]:
    """Returns what is known of the arguments of a jaxpr inside an equation."""
    count = len(part.jaxpr.invars if hasattr(part, "jaxpr") else part.invars)
    name = equation.primitive.name
    if name == "scan":
        constants = equation.params["num_consts"]
        return [*inputs[:constants], *[None] * (count - constants)]
    if name == "cond" and count == len(inputs) - 1:
        return inputs[1:]
    return inputs if name != "while" and count == len(inputs) else [None] * count


def _results(equation: Any, inputs: list[Known | None]) -> list[Known | None]:
    """Computes the results of an equation without a jaxpr: of constants, and integers of an example."""
    unknown: list[Known | None] = [None] * len(equation.outvars)
    if not inputs or None in inputs or equation.effects:
        return unknown
    varies = any(known.varies for known in inputs)
    avals = [result.aval for result in equation.outvars]
    if any(not hasattr(aval, "dtype") or math.prod(aval.shape) > _MAX_ELEMENTS or (varies and is_float(aval))
           for aval in avals):
        return unknown
    params = equation.primitive.get_bind_params(equation.params)
    found = equation.primitive.bind(*[known.value for known in inputs], **params)
    return [Known(value, varies) for value in (found if equation.primitive.multiple_results else [found])]


def with_inputs(jaxpr: Any, given: Sequence[Known | None],
                constants: Sequence[Any] = ()) -> Generator[tuple[Any, list[Known | None]], None, list[Known | None]]:
    """Yields the equations of a jaxpr, as `equations` does, each with what is known of the values that it reads.

    `given` has what is known of the arguments. Returns what is known of the results.
    """
    if hasattr(jaxpr, "jaxpr"):
        return (yield from with_inputs(jaxpr.jaxpr, given, jaxpr.consts))
    values = dict(zip(jaxpr.invars, given))
    values.update(zip(jaxpr.constvars, (Known(constant, False) for constant in constants)))

    def known(variable: Any) -> Known | None:
        return Known(variable.val, False) if hasattr(variable, "val") else values.get(variable)

    for equation in jaxpr.eqns:
        inputs = [known(variable) for variable in equation.invars]
        yield equation, inputs
        found = []
        for part in inner(equation):
            found.append((yield from with_inputs(part, _given_to(part, equation, inputs))))
        if not found:
            values.update(zip(equation.outvars, _results(equation, inputs)))
        elif equation.primitive.name not in ("scan", "while", "cond") and [*map(len, found)] == [len(equation.outvars)]:
            values.update(zip(equation.outvars, found[0]))
    return [known(variable) for variable in jaxpr.outvars]

"""Compares the rule of a JAX function with the derivative of that function."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy

from .jax_draws import SCALES, Draw, constants_of, draws
from .jax_known import Known, elements, is_float

# Upper limit of the elements of a function's arguments, results and intermediate values in a comparison.
_MAX_ELEMENTS = 1 << 24
# Elements that are computed in comparisons of one rule, unless its first draws have more.
_ELEMENTS_OF_ALL = 1 << 28
# Factor of the tolerance where a derivative is rough.
_ROUGHNESS = 10
# Change of arguments, in units of rounding, behind which a rough derivative must be the same to count.
_CHANGE = 32
# Smallest gradients that come in, in units of the smallest normal number of their type.
_SMALLEST = 2.0**10

Gradients = Callable[[list[Any], list[Any]], Any]


def _gradients_of(function: Callable, floats: list[int]) -> Gradients:
    """Returns the function from arguments, and gradients of float results, to gradients of float arguments."""
    import jax

    def gradients(arguments: list[Any], incoming: list[Any]) -> Any:
        def of_floats(*given: Any) -> list[Any]:
            whole = list(arguments)
            for index, value in zip(floats, given):
                whole[index] = value
            return [result for result in function(*whole) if is_float(result)]

        return jax.vjp(of_floats, *[jax.numpy.asarray(arguments[index]) for index in floats])[1](incoming)

    return gradients


def _as_float64(value: Any) -> Any:
    return numpy.asarray(value).astype(numpy.float64)


def _size(value: Any) -> float:
    """Returns the largest finite magnitude of a tensor, or 0."""
    numbers = numpy.abs(_as_float64(value))
    return float(numbers[numpy.isfinite(numbers)].max(initial=0.0))


def _difference(wanted: Any, found: Any, usual: float = 0.0,
                factor: float = 1.0) -> tuple[tuple[int, ...], float, float] | None:
    """Returns the place and both values where gradients differ by more than `factor` times rounding, or nothing.

    Rounding is relative to the largest number of both gradients, or to the `usual` size of gradients if that is larger.
    """
    exact = numpy.asarray(wanted).dtype == numpy.float64 or numpy.asarray(wanted).dtype == numpy.float32
    a, b = _as_float64(wanted), _as_float64(found)
    with numpy.errstate(invalid="ignore"):
        distance = numpy.abs(a - b)
    distance = numpy.where((a == b) | (numpy.isnan(a) & numpy.isnan(b)), 0.0, distance)
    distance = numpy.where(numpy.isnan(distance), math.inf, distance)
    if not distance.size or distance.max() <= factor * (1e-3 if exact else 3e-2) * max(_size(a), _size(b), usual):
        return None
    place = numpy.unravel_index(int(distance.argmax()), distance.shape)
    return tuple(map(int, place)), float(a[place]) + 0.0, float(b[place]) + 0.0  # without -0


class _Comparison:
    """A rule and the derivative of its function, and the draws at which both are computed."""

    def __init__(self, equation: Any, inputs: list[Known | None]):
        import jax
        from jax.extend import core
        params, closed = equation.primitive.get_bind_params(equation.params), equation.params["call_jaxpr"]
        self.avals, self.inputs = [variable.aval for variable in equation.invars], inputs
        self.floats = [index for index, aval in enumerate(self.avals) if is_float(aval)]
        self.results = [variable.aval for variable in equation.outvars if is_float(variable.aval)]
        self.elements = sum(math.prod(aval.shape) for aval in self.avals) + elements(closed)
        rule = _gradients_of(lambda *given: equation.primitive.bind(*given, **params), self.floats)
        derivative = _gradients_of(core.jaxpr_as_fun(closed), self.floats)
        shapes = ([jax.ShapeDtypeStruct(aval.shape, aval.dtype) for aval in part]
                  for part in (self.avals, self.results))
        of_rule = jax.make_jaxpr(rule)(*shapes)
        self.constants = constants_of([closed, of_rule])
        # Equal texts are equal comparisons, unless they name arrays.
        self.text = "" if closed.consts or of_rule.consts or any(inputs) else f"{closed} {of_rule}"
        self.rule, self.derivative, self.is_known = jax.jit(rule), jax.jit(derivative), False
        # Sizes of the gradients of float arguments, for gradients of about 1 that come in.
        self.usual = [0.0] * len(self.floats)

    def evaluations(self) -> Iterator[tuple[Draw, float]]:
        """Yields draws with scales of gradients, until all together have as many elements as are computed."""
        spent = 0
        limits = [4 * abs(constant) for constant in self.constants.numbers if constant]
        for first, scales in (True, SCALES[:3]), (False, (*SCALES[3:], *limits)):
            for number, draw in enumerate(draws(self.avals, self.inputs, self.constants, 1)):
                for scale in scales if draw.is_usual else scales[:1] if first else ():
                    if spent > _ELEMENTS_OF_ALL and (number >= 4 or not first):
                        return
                    spent += self.elements
                    yield draw, scale

    def _incoming(self, seed: int, scale: float) -> list[Any] | None:
        """Returns gradients that come in, or nothing if they are too large or too small for their types."""
        import jax
        random = numpy.random.default_rng(seed)
        for aval in self.results:
            limits = jax.numpy.finfo(aval.dtype)
            if not _SMALLEST * float(limits.tiny) <= scale <= float(limits.max) / 16:
                return None
        return [numpy.asarray(scale * random.standard_normal(aval.shape)).astype(aval.dtype) for aval in self.results]

    def _changed(self, arguments: list[Any]) -> list[Any]:
        """Returns arguments that are nearly the same."""
        import jax
        return [numpy.asarray(value * (1 + _CHANGE * float(jax.numpy.finfo(value.dtype).eps))).astype(value.dtype)
                if index in self.floats else value for index, value in enumerate(arguments)]

    def _counts(self, different: Any, draw: Draw, incoming: list[Any], number: int) -> bool:
        """Whether a difference is no matter of rounding: both derivatives are the same for nearly the same arguments.

        A derivative that is not finite, where the rule is, counts unless the arguments are far from 1.
        """
        _, a, b = different
        if not (math.isfinite(a) and math.isfinite(b)):
            return not draw.is_far
        changed = self._changed(draw.arguments)
        return not draw.is_rough or not any(
            _difference(function(draw.arguments, incoming)[number], function(changed, incoming)[number])
            for function in (self.rule, self.derivative))

    def problem_at(self, draw: Draw, seed: int, scale: float) -> str | None:
        """Returns where the rule and the derivative differ for these arguments, or nothing."""
        incoming = self._incoming(seed, scale)
        if incoming is None:
            return None
        rule, derivative = self.rule(draw.arguments, incoming), self.derivative(draw.arguments, incoming)
        for number, (index, wanted, found) in enumerate(zip(self.floats, rule, derivative)):
            if draw.is_usual:
                self.usual[number] = max(self.usual[number], _size(found) / scale)
            usual = 0.0 if draw.is_usual else self.usual[number] * scale
            different = _difference(wanted, found, usual, _ROUGHNESS if draw.is_rough else 1.0)
            if different and self._counts(different, draw, incoming, number):
                place, a, b = different
                value = float(draw.arguments[index][place])
                return (f"which a graph cannot have: at the value {value:g} of argument {index} and for gradients of "
                        f"about {scale:.3g} the rule gives {a:g}, and the derivative of the function is {b:g}")
            self.is_known |= bool(numpy.isfinite(_as_float64(wanted)).any())
        return None


def _problem_of(comparison: _Comparison) -> str | None:
    for seed, (draw, scale) in enumerate(comparison.evaluations()):
        if problem := comparison.problem_at(draw, seed // 3, scale):
            return problem
    return None if comparison.is_known else "and has no finite derivative that could be compared"


def rule_problem(equation: Any, inputs: list[Known | None], compared: dict[str, str | None]) -> str | None:
    """Compares a rule with the derivative of its function. Returns where they differ, or why that is unknown.

    `inputs` has what is known of the arguments of the function. `compared` has the results of earlier comparisons.
    """
    closed = equation.params.get("call_jaxpr")
    avals = [variable.aval for variable in equation.invars]
    if closed is None or not all(hasattr(aval, "dtype") and aval.dtype.kind in "fiubV" for aval in avals):
        return "and cannot be compared with a derivative"
    count = sum(math.prod(aval.shape) for aval in avals) + elements(closed)
    if count > _MAX_ELEMENTS:
        return (f"and has {count} elements, of which at most {_MAX_ELEMENTS} are compared with the derivative of the "
                "function: compare them with smaller arguments")
    if not any(map(is_float, avals)):
        return None
    comparison = _Comparison(equation, inputs)
    if not comparison.text:
        return _problem_of(comparison)
    if comparison.text not in compared:
        compared[comparison.text] = _problem_of(comparison)
    return compared[comparison.text]

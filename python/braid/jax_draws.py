"""Arguments and gradients for which a rule is compared with the derivative of its function.

Random numbers of one size miss a rule that differs elsewhere: one that clips at 128, or gradients above 1e7. So numbers
have many sizes, and are also drawn around the constants of the function and its rule.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import numpy

from .jax_known import Known, equations, inner, is_float

# Sizes of the gradients that come in: a derivative is linear in them, and a rule that limits or rounds them is not.
SCALES = (1.0, 2.0**20, 2.0**-20, 2.0**10, 2.0**-10, 2.0**30, 2.0**-30)
# Sizes of arguments beside those around 1 and 30.
_MAGNITUDES = (1e3, 1e-3, 1e4, 1e6, 1e8, 1e-6)
# Largest and smallest constants, beside 0, around which derivatives are compared as near 1.
_NEAR = (1e-5, 1e4)
# Upper limits of the constants that are used, and of the elements of one from which they are taken.
_MAX_CONSTANTS, _MAX_ELEMENTS = 16, 64
# Upper limit of the draws around one constant, for arguments of few elements.
_MAX_DRAWS = 12


class Draw(NamedTuple):
    """Arguments of a function.

    `is_rough` if rounding may decide about derivatives there, `is_far` if numbers may be too large for them, and
    `is_usual` if the derivatives have the size that they have in training.
    """

    arguments: list[Any]
    is_rough: bool = False
    is_far: bool = False
    is_usual: bool = False


class Kind(NamedTuple):
    """A way to draw floats of a shape, for as many draws as `repeats`. Other fields are those of a draw."""

    floats: Callable[[Any, tuple[int, ...]], Any]
    is_rough: bool = False
    is_far: bool = False
    is_usual: bool = False
    repeats: int = 1


class Constants(NamedTuple):
    """Numbers in jaxprs, and those of them that have an integer type."""

    numbers: list[float]
    integers: list[int]


def _numbers_of(value: Any) -> list[Any]:
    """Returns the numbers of a constant; of a large array, its smallest and largest one."""
    array = numpy.asarray(value)
    if array.dtype.kind not in "fiuV" or not array.size:
        return []
    array = array if array.dtype.kind in "iu" else array.astype(numpy.float64)
    return array.ravel().tolist() if array.size <= _MAX_ELEMENTS else [array.min().item(), array.max().item()]


def constants_of(jaxprs: Iterable[Any]) -> Constants:
    """Returns the numbers in jaxprs: literals and captured arrays."""
    found: dict[float, bool] = {}  # whether the number is an integer
    for closed in jaxprs:
        every = [closed, *(part for equation in equations(closed) for part in inner(equation))]
        values = [value for part in every for value in getattr(part, "consts", ())]
        values += [variable.val for equation in equations(closed) for variable in equation.invars
                   if hasattr(variable, "val")]
        for value in values:
            if getattr(getattr(value, "dtype", None), "kind", "f") in "fiuV":
                for number in _numbers_of(value):
                    found[float(number)] = found.get(float(number), False) or isinstance(number, int)
    numbers = [number for number in found if math.isfinite(number)][:_MAX_CONSTANTS]
    return Constants(numbers, [int(number) for number in numbers if found[number]])


def _around(constant: float, is_far: bool) -> numpy.ndarray:
    """Returns numbers near a constant, beyond it and on the other side of 0; itself, too, unless it is far from 1."""
    c, step = constant, abs(constant) * 1e-3 or 1e-3
    near = [] if is_far else [c, c - 1, c + 1, -c]
    return numpy.array([c - step, c + step, 10 * c, -10 * c, c / 10, -c / 10, *near])


def _spread(numbers: numpy.ndarray) -> Callable[[Any, tuple[int, ...]], Any]:
    """Returns a drawer of these numbers, each as often as the others."""
    return lambda random, shape: numbers[random.permutation(max(math.prod(shape), len(numbers)))[:math.prod(shape)]
                                         % len(numbers)].reshape(shape)


def _kinds(constants: list[float], count: int) -> list[Kind]:
    """Returns ways to draw floats, for arguments of at most `count` elements each."""
    def mixed(random: Any, shape: tuple[int, ...]) -> Any:
        return random.choice([-1.0, 1.0], shape) * 10.0 ** random.uniform(-6, 8, shape)

    def with_zeros(random: Any, shape: tuple[int, ...]) -> Any:
        return numpy.where(random.random(shape) > 0.3, 3 * random.standard_normal(shape), 0.0)

    kinds = [Kind(lambda random, shape: random.standard_normal(shape), is_usual=True),
             Kind(lambda random, shape: 30 * random.standard_normal(shape), is_rough=True),
             Kind(with_zeros, is_usual=True),
             Kind(lambda random, shape: random.uniform(0.5, 1.5, shape), is_usual=True)]
    for constant in constants:
        is_far = constant != 0 and not _NEAR[0] <= abs(constant) <= _NEAR[1]
        numbers = _around(constant, is_far)
        repeats = min(math.ceil(2 * len(numbers) / max(count, 1)), _MAX_DRAWS)
        kinds.append(Kind(_spread(numbers), is_far, is_far, repeats=repeats))
    kinds.append(Kind(mixed, is_rough=True, is_far=True))
    kinds += [Kind(lambda random, shape, size=size: size * random.standard_normal(shape), is_rough=True, is_far=True)
              for size in _MAGNITUDES]
    return kinds


def _integers(aval: Any, known: Known | None, constants: list[int]) -> list[Callable[[Any, tuple[int, ...]], Any]]:
    """Returns ways to draw integers: the values of the example, small ranges and constants.

    Negative ones are drawn if the example or a constant is negative, since an integer may be a position.
    """
    ranges = [lambda random, shape: random.integers(0, 2, shape)]
    if aval.dtype.kind == "b":
        return ranges
    ranges.append(lambda random, shape: random.integers(0, 10, shape))
    if known:
        values = numpy.asarray(known.value)
        ranges.append(lambda random, shape: values)
        if values.size and values.min() < values.max():
            ranges.append(lambda random, shape: random.integers(values.min(), values.max(), shape, endpoint=True))
        elif values.size and values.min() < 0:
            ranges.append(lambda random, shape: random.integers(values.min() - 8, 9, shape))
    limits = numpy.iinfo(aval.dtype)
    near = {*constants, *(constant + 1 for constant in constants if constant >= 0)}
    if fitting := sorted(number for number in near if limits.min <= number <= limits.max):
        ranges.append(_spread(numpy.array(fitting)))
    return ranges


def _drawn(random: Any, avals: list[Any], inputs: list[Known | None], kind: Kind, sources: list[Any],
           number: int) -> list[Any] | None:
    """Returns arguments, or nothing if a number is too large for its type. Constants have their own values."""
    arguments = []
    for aval, known, ways in zip(avals, inputs, sources):
        if known and not known.varies:
            arguments.append(numpy.asarray(known.value).astype(aval.dtype))
            continue
        value = kind.floats(random, aval.shape) if is_float(aval) else ways[number % len(ways)](random, aval.shape)
        with numpy.errstate(over="ignore"):
            arguments.append(numpy.asarray(value).astype(aval.dtype))
        if is_float(aval) and not numpy.isfinite(arguments[-1].astype(numpy.float64)).all():
            return None
    return arguments


def _of_example(avals: list[Any], inputs: list[Known | None], drawn: list[Any]) -> list[Any]:
    return [numpy.asarray(known.value).astype(aval.dtype) if known else value
            for known, aval, value in zip(inputs, avals, drawn)]


def draws(avals: list[Any], inputs: list[Known | None], constants: Constants, seed: int) -> Iterator[Draw]:
    """Yields arguments for a function: random ones, those of the example, and others around constants."""
    random = numpy.random.default_rng(seed)
    sources = [[] if is_float(aval) else _integers(aval, known, constants.integers)
               for aval, known in zip(avals, inputs)]
    count = max((math.prod(aval.shape) for aval in avals if is_float(aval)), default=0)
    kinds = _kinds(constants.numbers, count)
    plan = [(kind, 0) for kind in kinds[:4]]
    plan += [(kind, number) for number in range(1, max(map(len, sources), default=0)) for kind in kinds[:2]]
    plan += [(kind, number) for kind in kinds[4:] for number in range(kind.repeats)]
    for kind, number in plan:
        if (arguments := _drawn(random, avals, inputs, kind, sources, number)) is not None:
            yield Draw(arguments, kind.is_rough, kind.is_far, kind.is_usual)
    if any(known and known.varies and is_float(aval) for known, aval in zip(inputs, avals)):
        if (arguments := _drawn(random, avals, inputs, kinds[0], sources, 2)) is not None:
            yield Draw(_of_example(avals, inputs, arguments))

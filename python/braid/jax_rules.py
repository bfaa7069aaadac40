"""Derivatives that JAX functions state themselves: what a lowered function loses, kept or refused.

The text of a lowered function has neither `lax.stop_gradient` nor the rules of `jax.custom_vjp` and `jax.custom_jvp`;
its jaxpr has both. A stopped gradient becomes a barrier that braid-import knows. A rule is compared with the derivative
of the function that it belongs to, for random arguments of that function alone. A rule of `jax.custom_jvp` that differs
is spelled with stopped gradients, since it is linear: f(x) is f(c) + f'(c) (x - c), where c is x without a gradient. A
rule of `jax.custom_vjp` that differs is refused.
"""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Callable, Iterator
from typing import Any

import numpy

from .errors import CompileError, compile_error

# Primitives that replace derivatives, and how a program spells them.
_RULES = {"custom_vjp_call": "jax.custom_vjp", "custom_jvp_call": "jax.custom_jvp",
          "linear_call": "jax.custom_derivatives.linear_call"}
# Rules of JAX that braid-import has, too.
_IMPORTED = re.compile(r"relu at .*\bjax[/\\]_src[/\\]nn[/\\]functions\.py:")
# Upper limit of the elements of a function's arguments, results and intermediate values in a comparison.
_MAX_ELEMENTS = 1 << 24
# Scales of the gradients that come in: a derivative is linear in them, and a rule that limits or rounds them is not.
_SCALES = (1.0, 2.0**20, 2.0**-20)
_INSTEAD = 'from_jax(..., rules="ignore") trains with the derivative of the function'


def _parts(value: Any) -> list[Any]:
    """Returns the jaxprs in a parameter of an equation: jaxprs, closed ones, or sequences of them."""
    if hasattr(value, "eqns"):
        return [value]
    return [part for each in value for part in _parts(each)] if isinstance(value, (tuple, list)) else []


def _inner(equation: Any) -> list[Any]:
    return [part for value in equation.params.values() for part in _parts(value)]


def equations(jaxpr: Any) -> Iterator[Any]:
    """Yields the equations of a jaxpr, those of functions, loops and branches behind the equation that has them."""
    for equation in jaxpr.eqns:
        yield equation
        for part in _inner(equation):
            yield from equations(part)


def _elements(jaxpr: Any) -> int:
    """Returns the elements of all values of a jaxpr; those of a loop count for each step."""
    count = 0
    for equation in jaxpr.eqns:
        steps = equation.params.get("length", 1) if equation.primitive.name == "scan" else 1
        count += sum(math.prod(getattr(result.aval, "shape", ())) for result in equation.outvars)
        count += steps * sum(_elements(part) for part in _inner(equation))
    return count


def _place(equation: Any) -> str:
    """Returns the start of a message: the line of the user's source that made an equation."""
    from jax.extend import source_info_util
    found = re.match(r"(.+?):(\d+)(?::\d+)?(?: |$)", source_info_util.summarize(equation.source_info))
    return f"{found[1]}:{found[2]}: error: " if found else "error: "


#
# Stopped gradients
#


def _spelled(equation: Any) -> Any:
    """Returns an equation that spells a rule of custom_jvp with stopped gradients, in the place of another one."""
    import jax
    params = equation.primitive.get_bind_params(equation.params)

    @jax.jit
    def rule(*given: Any) -> list[Any]:
        stopped = [jax.lax.stop_gradient(value) for value in given]
        changes = [value - constant if _is_float(value) else numpy.zeros(value.shape, jax.dtypes.float0)
                   for value, constant in zip(given, stopped)]
        results, slopes = jax.jvp(lambda *values: equation.primitive.bind(*values, **params), stopped, changes)
        return [jax.lax.stop_gradient(result) + slope if _is_float(result) else result
                for result, slope in zip(results, slopes)]

    shapes = [jax.ShapeDtypeStruct(value.aval.shape, value.aval.dtype) for value in equation.invars]
    call = jax.make_jaxpr(rule)(*shapes)
    return call.eqns[0].replace(invars=equation.invars, outvars=equation.outvars, source_info=equation.source_info)


def _stopped(jaxpr: Any, barrier: Any, spelled: dict[int, Any]) -> Any:
    """Returns a jaxpr with barriers in the scope `stop_gradient`, which braid-import knows, for stopped gradients.

    `spelled` has the equations by `id` whose rules are spelled with stopped gradients.
    """
    def changed(value: Any) -> Any:
        if isinstance(value, (tuple, list)) and _parts(value):
            return type(value)(map(changed, value))
        return _stopped(value, barrier, spelled) if hasattr(value, "eqns") else value

    if hasattr(jaxpr, "jaxpr"):
        return jaxpr.replace(jaxpr=_stopped(jaxpr.jaxpr, barrier, spelled))
    new = []
    for equation in jaxpr.eqns:
        if equation.primitive.name == "stop_gradient":
            source = equation.source_info
            scope = source.name_stack.extend("stop_gradient")
            new.append(equation.replace(primitive=barrier, params={}, source_info=source.replace(name_stack=scope)))
        else:
            equation = _spelled(equation) if id(equation) in spelled else equation
            params = {key: changed(value) for key, value in equation.params.items()}
            new.append(equation.replace(params=params))
    return jaxpr.replace(eqns=new)


def _lowered_with_barriers(function: Callable, arguments: tuple[Any, ...], traced: Any, spelled: dict[int, Any]) -> Any:
    import jax
    barrier = jax.make_jaxpr(jax.lax.optimization_barrier)(1.0).eqns[0].primitive
    closed = _stopped(traced.jaxpr, barrier, spelled)
    tree = jax.tree_util.tree_structure(traced.out_info)

    @functools.wraps(function)  # the names of arguments are those of the function
    def stopped(*given: Any) -> Any:
        results = jax.core.eval_jaxpr(closed.jaxpr, closed.consts, *jax.tree_util.tree_leaves(given))
        return jax.tree_util.tree_unflatten(tree, results)

    return jax.jit(stopped, keep_unused=True).lower(*arguments)


#
# Rules
#


def _draws(avals: list[Any], seed: int) -> Iterator[list[Any]]:
    """Yields arguments: normal numbers, wider ones with zeros, and positive numbers; integers are 0 or 1."""
    random = numpy.random.default_rng(seed)
    kinds = (random.standard_normal, lambda shape: 30 * random.standard_normal(shape),
             lambda shape: numpy.where(random.random(shape) > 0.3, 3 * random.standard_normal(shape), 0.0),
             lambda shape: random.uniform(0.5, 1.5, shape))
    for kind in kinds:
        drawn = [kind(aval.shape) if _is_float(aval) else random.integers(0, 2, aval.shape) for aval in avals]
        yield [numpy.asarray(value).astype(aval.dtype) for value, aval in zip(drawn, avals)]


def _is_float(aval: Any) -> bool:
    import jax
    return jax.numpy.issubdtype(aval.dtype, jax.numpy.floating)


def _pullback(function: Callable, arguments: list[Any], floats: list[int]) -> tuple[list[Any], Callable]:
    """Returns the float results of a function, and the function from their gradients to those of its arguments."""
    import jax

    def of_floats(*given: Any) -> list[Any]:
        whole = list(arguments)
        for index, value in zip(floats, given):
            whole[index] = value
        return [result for result in function(*whole) if _is_float(result)]

    return jax.vjp(of_floats, *[jax.numpy.asarray(arguments[index]) for index in floats])


def _difference(wanted: Any, found: Any) -> tuple[tuple[int, ...], float, float] | None:
    """Returns the place and both values where gradients differ by more than rounding, or nothing."""
    exact = numpy.asarray(wanted).dtype == numpy.float64 or numpy.asarray(wanted).dtype == numpy.float32
    a, b = (numpy.asarray(each).astype(numpy.float64) for each in (wanted, found))
    finite = numpy.abs(numpy.where(numpy.isfinite([a, b]), [a, b], 0.0))
    with numpy.errstate(invalid="ignore"):
        distance = numpy.abs(a - b)
    distance = numpy.where((a == b) | (numpy.isnan(a) & numpy.isnan(b)), 0.0, distance)
    distance = numpy.where(numpy.isnan(distance), math.inf, distance)
    if not distance.size or distance.max() <= (1e-3 if exact else 3e-2) * finite.max(initial=0.0):
        return None
    place = numpy.unravel_index(int(distance.argmax()), distance.shape)
    return tuple(map(int, place)), float(a[place]) + 0.0, float(b[place]) + 0.0  # without -0


def _rule_problem(equation: Any) -> str | None:
    """Compares a rule with the derivative of its function. Returns where they differ, or why that is unknown."""
    from jax.extend import core
    closed = equation.params.get("call_jaxpr")
    avals = [variable.aval for variable in equation.invars]
    if closed is None or not all(hasattr(aval, "dtype") and aval.dtype.kind in "fiubV" for aval in avals):
        return "and cannot be compared with a derivative"
    count = sum(math.prod(aval.shape) for aval in avals) + _elements(closed)
    if count > _MAX_ELEMENTS:
        return (f"and has {count} elements, of which at most {_MAX_ELEMENTS} are compared with the derivative of the "
                "function: compare them with smaller arguments")
    floats = [index for index, aval in enumerate(avals) if _is_float(aval)]
    params, is_known = equation.primitive.get_bind_params(equation.params), False
    for seed, arguments in enumerate(_draws(avals, 1) if floats else ()):
        results, rule = _pullback(lambda *given: equation.primitive.bind(*given, **params), arguments, floats)
        _, derivative = _pullback(core.jaxpr_as_fun(closed), arguments, floats)
        random = numpy.random.default_rng(seed)
        gradients = [random.standard_normal(result.shape) for result in results]
        for scale in _SCALES:
            incoming = [numpy.asarray(scale * each).astype(result.dtype) for each, result in zip(gradients, results)]
            for index, wanted, found in zip(floats, rule(incoming), derivative(incoming)):
                if different := _difference(wanted, found):
                    place, a, b = different
                    value = float(arguments[index][place])
                    return (f"which a graph cannot have: at the value {value:g} of argument {index} and for gradients "
                            f"of about {scale:.3g} the rule gives {a:g}, and the derivative of the function is {b:g}")
                is_known |= bool(numpy.isfinite(numpy.asarray(wanted).astype(numpy.float64)).any())
    return None if is_known or not floats else "and has no finite derivative that could be compared"


def _check_rules(jaxpr: Any) -> dict[int, Any]:
    """Returns the equations, by `id`, with rules of custom_jvp that are not the derivatives of their functions.

    Refuses a function with other rules that are not.
    """
    different = {}
    for equation in equations(jaxpr):
        kind = _RULES.get(equation.primitive.name)
        if not kind:
            continue
        closed = equation.params.get("call_jaxpr")
        info = str(closed.jaxpr.debug_info.func_src_info) if closed is not None else ""
        problem = None if _IMPORTED.match(info) else _rule_problem(equation)
        if problem and equation.primitive.name == "custom_jvp_call":
            different[id(equation)] = equation
        elif problem:
            name = info.partition(" at ")[0] or "a function"
            raise compile_error(f"{_place(equation)}{name} has a rule of {kind}, {problem}. Write it with "
                                f"lax.stop_gradient; {_INSTEAD}")
    return different


def lower(function: Callable, arguments: tuple[Any, ...], rules: str) -> Any:
    """Returns a function of JAX, lowered with its stopped gradients and rules of custom_jvp.

    `rules="compare"` refuses a function whose rules of custom_vjp differ from its derivative, "ignore" drops all rules.
    """
    import jax
    if rules not in ("compare", "ignore"):
        raise ValueError(f"rules={rules!r}: known are 'compare' and 'ignore'")
    traced = jax.jit(function, keep_unused=True).trace(*arguments)
    spelled = _check_rules(traced.jaxpr) if rules == "compare" else {}
    if spelled or any(equation.primitive.name == "stop_gradient" for equation in equations(traced.jaxpr)):
        return _lowered_with_barriers(function, arguments, traced, spelled)
    if not any(equation.primitive.name == "stop_gradient"
               for equation in equations(jax.make_jaxpr(jax.lax.stop_gradient)(1.0))):
        raise CompileError(f"JAX {jax.__version__} leaves no trace of lax.stop_gradient, so its use cannot be seen: "
                           "from_jax needs JAX 0.10")
    return traced.lower()

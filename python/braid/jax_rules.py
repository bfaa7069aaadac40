"""Derivatives that JAX functions state themselves: what a lowered function loses, kept or refused.

The text of a lowered function has neither `lax.stop_gradient` nor the rules of `jax.custom_vjp` and `jax.custom_jvp`;
its jaxpr has both. A stopped gradient becomes a composite op that braid-import knows. A rule is compared with the
derivative of the function that it belongs to, for arguments of that function alone. A rule of `jax.custom_jvp` that
differs is spelled with stopped gradients, since it is linear: f(x) is f(c) + f'(c) (x - c), where c is x without a
gradient. A rule of `jax.custom_vjp` that differs is refused.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from typing import Any

import numpy

from .errors import CompileError, compile_error
from .jax_compare import rule_problem
from .jax_known import Known, equations, is_float, parts, with_inputs

# Primitives that replace derivatives, and how a program spells them.
_RULES = {"custom_vjp_call": "jax.custom_vjp", "custom_jvp_call": "jax.custom_jvp",
          "linear_call": "jax.custom_derivatives.linear_call"}
# Rules of JAX that braid-import has, too.
_IMPORTED = re.compile(r"relu at .*\bjax[/\\]_src[/\\]nn[/\\]functions\.py:")
_INSTEAD = 'from_jax(..., rules="ignore") trains with the derivative of the function'


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

    def change(value: Any, constant: Any) -> Any:
        """Returns 0 with the gradient of a value; an infinite value has none, since inf - inf is NaN."""
        if not is_float(value):
            return numpy.zeros(value.shape, jax.dtypes.float0)
        finite = jax.numpy.isfinite(constant)
        return jax.numpy.where(finite, value, 0) - jax.numpy.where(finite, constant, 0)

    @jax.jit
    def rule(*given: Any) -> list[Any]:
        stopped = [jax.lax.stop_gradient(value) for value in given]
        changes = list(map(change, given, stopped))
        results, slopes = jax.jvp(lambda *values: equation.primitive.bind(*values, **params), stopped, changes)
        return [jax.lax.stop_gradient(result) + slope if is_float(result) else result
                for result, slope in zip(results, slopes)]

    shapes = [jax.ShapeDtypeStruct(value.aval.shape, value.aval.dtype) for value in equation.invars]
    call = jax.make_jaxpr(rule)(*shapes)
    return call.eqns[0].replace(invars=equation.invars, outvars=equation.outvars, source_info=equation.source_info)


def _mark(aval: Any) -> Any:
    """Returns an equation of the op that braid-import knows as a stopped gradient, wherever it stands."""
    import jax
    marked = jax.lax.composite(lambda value: value, "braid.stop_gradient")
    return jax.make_jaxpr(marked)(jax.ShapeDtypeStruct(aval.shape, aval.dtype)).eqns[0]


def _stopped(jaxpr: Any, spelled: dict[int, Any]) -> Any:
    """Returns a jaxpr with marks, which braid-import knows, for stopped gradients.

    `spelled` has the equations by `id` whose rules are spelled with stopped gradients.
    """
    def changed(value: Any) -> Any:
        if isinstance(value, (tuple, list)) and parts(value):
            each = map(changed, value)
            return type(value)(*each) if hasattr(value, "_fields") else type(value)(each)
        return _stopped(value, spelled) if hasattr(value, "eqns") else value

    if hasattr(jaxpr, "jaxpr"):
        return jaxpr.replace(jaxpr=_stopped(jaxpr.jaxpr, spelled))
    new = []
    for equation in jaxpr.eqns:
        if equation.primitive.name == "stop_gradient":
            mark = _mark(equation.invars[0].aval)
            new.append(equation.replace(primitive=mark.primitive, params=mark.params, effects=mark.effects))
        else:
            equation = _spelled(equation) if id(equation) in spelled else equation
            params = {key: changed(value) for key, value in equation.params.items()}
            new.append(equation.replace(params=params))
    return jaxpr.replace(eqns=new)


def _lowered_with_marks(function: Callable, arguments: tuple[Any, ...], traced: Any, spelled: dict[int, Any]) -> Any:
    import jax
    closed = _stopped(traced.jaxpr, spelled)
    tree = jax.tree_util.tree_structure(traced.out_info)

    @functools.wraps(function)  # the names of arguments are those of the function
    def stopped(*given: Any) -> Any:
        results = jax.core.eval_jaxpr(closed.jaxpr, closed.consts, *jax.tree_util.tree_leaves(given))
        return jax.tree_util.tree_unflatten(tree, results)

    return jax.jit(stopped, keep_unused=True).lower(*arguments)


#
# Rules
#


def _check_rules(jaxpr: Any, given: list[Known | None]) -> dict[int, Any]:
    """Returns the equations, by `id`, with rules of custom_jvp that are not the derivatives of their functions.

    `given` has what is known of the arguments. Refuses a function with other rules that are not derivatives.
    """
    different, compared = {}, {}
    for equation, inputs in with_inputs(jaxpr, given):
        kind = _RULES.get(equation.primitive.name)
        if not kind:
            continue
        closed = equation.params.get("call_jaxpr")
        info = str(closed.jaxpr.debug_info.func_src_info) if closed is not None else ""
        problem = None if _IMPORTED.match(info) else rule_problem(equation, inputs, compared)
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
    given = [Known(leaf, True) if hasattr(leaf, "__array__") else None for leaf in jax.tree_util.tree_leaves(arguments)]
    spelled = _check_rules(traced.jaxpr, given) if rules == "compare" else {}
    if spelled or any(equation.primitive.name == "stop_gradient" for equation in equations(traced.jaxpr)):
        return _lowered_with_marks(function, arguments, traced, spelled)
    if not any(equation.primitive.name == "stop_gradient"
               for equation in equations(jax.make_jaxpr(jax.lax.stop_gradient)(1.0))):
        raise CompileError(f"JAX {jax.__version__} leaves no trace of lax.stop_gradient, so its use cannot be seen: "
                           "from_jax needs JAX 0.10")
    return traced.lower()

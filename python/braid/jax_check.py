"""Compares the gradients of a graph with those of the JAX function that it was made from."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy

from .compiling import compile_graph
from .errors import CompileError
from .graph import Graph

# A step of gradient descent with this rate leaves the gradient, since the parameters before it are small beside it.
_RATE = 2.0**24
# Largest difference, relative to a tensor's largest number.
_TOLERANCE = 1e-3


def _line(name: str, what: str, wanted: float, found: float) -> str:
    return (f"{name}: the gradients of '{what}' differ: {wanted:g} in JAX, and {found:g} in the graph, which has the "
            "derivative of the function as it was lowered; from_jax(..., check=False) does not compare them")


def _loss_of(results: Any) -> Any:
    """Returns the first float result without dims, as braid-import chooses the loss."""
    import jax
    return next(leaf for leaf in jax.tree.leaves(results)
                if not leaf.shape and jax.numpy.issubdtype(leaf.dtype, jax.numpy.floating))


def check_gradients(graph: Graph, function: Callable, arguments: tuple[Any, ...], batch: Any,
                    values_of: Callable[[Any], dict[str, Any]]) -> None:
    """Compiles a step of gradient descent, and compares it with jax.grad for these arguments.

    `batch` has those of a batch. `values_of` returns the tensors of a pytree like the parameters under the names of the
    graph. Raises CompileError with the parameter and both values.
    """
    import jax
    params = arguments[0]
    wanted_loss, gradients = jax.value_and_grad(lambda *given: _loss_of(function(*given)), allow_int=True)(*arguments)
    with compile_graph(graph, optimizer="sgd", weight_decay=0.0) as step:
        loss = float(step(batch, lr=_RATE))
        after = step.full_state_dict()
    before = values_of(params)
    if abs(loss - float(wanted_loss)) > _TOLERANCE * max(abs(float(wanted_loss)), 1e-3):
        raise CompileError(f"{graph.name}: the losses differ: {float(wanted_loss):g} in JAX, and {loss:g} in the graph")
    for name, gradient in values_of(gradients).items():
        if name not in after or gradient.dtype.kind == "V":
            continue
        wanted = numpy.asarray(gradient, numpy.float64)
        found = (numpy.asarray(before[name], numpy.float64) - numpy.asarray(after[name], numpy.float64)) / _RATE
        distance = numpy.abs(found - wanted)
        scale = max(numpy.abs(wanted).max(initial=0.0), 1e-6)
        if not distance.max(initial=0.0) <= _TOLERANCE * scale:
            place = numpy.unravel_index(int(numpy.nanargmax(distance)), distance.shape)
            where = f"{name}[{', '.join(map(str, place))}]" if place else name
            raise CompileError(_line(graph.name, where, float(wanted[place]), float(found[place])))

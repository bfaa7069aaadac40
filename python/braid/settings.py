"""Options of a compilation, from keywords to the words of braidc's command line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from . import optimizers, tools
from .errors import CompileError

def mesh_text(mesh: Any) -> str:
    """Returns a mesh as braidc reads it: "dp=2,tp=4", {"dp": 2, "tp": 4}, or "" for one rank."""
    if mesh is None:
        return ""
    if isinstance(mesh, Mapping):
        return ",".join(f"{axis}={size}" for axis, size in mesh.items())
    if not isinstance(mesh, str):
        raise TypeError(f"mesh is a text such as 'dp=2,tp=4' or a dict; this one is a {type(mesh).__name__}")
    return mesh


def target_text(target: str) -> str:
    """Returns a target of braidc from "cpu", "cuda", "cuda:sm_90", or the name of a card such as "h100"."""
    return target if target.split(":")[0] in ("cpu", "cuda") else f"cuda:{target}"


def words(optimizer: optimizers.Optimizer, mesh: Any = None, zero: int | None = None, precision: str = "f32",
          recompute: str | None = None, clip: float | None = None, accumulate: int = 1, target: str = "cpu",
          options: Sequence[str] = ()) -> list[str]:
    """Returns the words of braidc's command line. braidc checks the values."""
    result = [f"--target={target_text(target)}", *optimizer.words(), f"--precision={precision}", "--sampling=off"]
    text = mesh_text(mesh)
    for name, value in (("mesh", text), ("zero", zero), ("recompute", recompute), ("clip", clip)):
        if value not in (None, ""):
            result.append(f"--{name}={value}")
    if accumulate != 1:
        result.append(f"--accumulate={accumulate}")
    return result + tools.words_of(options)


def optimizer_of(optimizer: Any, hyperparameters: Mapping[str, Any], decay_exclude: Any, module: Any,
                 text: str) -> optimizers.Optimizer:
    """Returns an optimizer from its name, or from an optimizer of torch.optim, which has its hyperparameters itself.

    None is the optimizer of the graph itself.
    """
    if optimizer is None:
        return optimizers.Optimizer("", optimizers.values_of(hyperparameters), tuple(decay_exclude))
    if isinstance(optimizer, str):
        return optimizers.by_name(optimizer, hyperparameters, decay_exclude)
    if not hasattr(optimizer, "param_groups"):
        raise TypeError(f"optimizer is a name or an optimizer of torch.optim; this is a {type(optimizer).__name__}")
    if hyperparameters or decay_exclude:
        raise CompileError("the optimizer has its hyperparameters itself: leave out "
                           f"{', '.join([*hyperparameters, *(['decay_exclude'] if decay_exclude else [])])}")
    if module is None:
        raise CompileError("an optimizer of torch.optim belongs to a module; a graph takes its name")
    return optimizers.of_torch(optimizer, module, text)

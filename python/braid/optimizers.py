"""Optimizers by name, or as an optimizer of PyTorch describes them."""

from __future__ import annotations

import itertools
import re
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from . import tools
from .errors import CompileError, StepError

# Hyperparameters that braidc has, and the arguments of PyTorch for them.
_NAMES = ("adamw", "adam", "lion", "sgd", "momentum", "nesterov")
_GROUPS = ("biases", "norms", "embeddings")
_NOTED = re.compile(r'tg\.decay_group = "(\w+)", tg\.param = #tg\.param<"([^"]+)"')


class Optimizer(NamedTuple):
    """An optimizer of braidc: its name (empty for the graph's own), hyperparameters, and groups of parameters without weight decay."""

    name: str
    values: dict[str, float]
    decay_exclude: tuple[str, ...] = ()
    source: Source | None = None

    def words(self) -> list[str]:
        words = [f"--optimizer={self.name}"] if self.name else []
        if self.values:
            words.append("--hyperparameters=" + ",".join(f"{name}={value!r}" for name, value in self.values.items()))
        if self.decay_exclude:
            words.append("--decay-exclude=" + ",".join(self.decay_exclude))
        return words


def values_of(hyperparameters: Mapping[str, Any]) -> dict[str, float]:
    """Returns hyperparameters by braidc's names; `betas` is a pair."""
    values = dict(hyperparameters)
    if values.get("betas") is not None:
        values["beta1"], values["beta2"] = values.pop("betas")
    return {name: float(value) for name, value in values.items() if value is not None}


def by_name(name: str, hyperparameters: Mapping[str, Any], decay_exclude: Any = ()) -> Optimizer:
    """Returns an optimizer of this name. braidc checks the names of hyperparameters."""
    if name not in _NAMES:
        raise CompileError(f"optimizer={name!r}: known are {', '.join(_NAMES)}, and those optimizers of torch.optim")
    excluded = (decay_exclude,) if isinstance(decay_exclude, str) else tuple(decay_exclude)
    return Optimizer(name, values_of(hyperparameters), excluded)


class Source:
    """An optimizer of torch.optim, whose learning rate a step reads. All else is part of the compiled step."""

    # Settings that change how PyTorch computes an update, and not the update.
    _FREE = ("lr", "foreach", "fused", "capturable", "differentiable")

    def __init__(self, optimizer: Any):
        self.optimizer = optimizer
        self._settings = self._read()

    def _read(self) -> list[dict[str, Any]]:
        names = [name for name in self.optimizer.defaults if name not in self._FREE]
        return [{name: group[name] for name in names} for group in self.optimizer.param_groups]

    def learning_rate(self) -> float:
        rates = {float(group["lr"]) for group in self.optimizer.param_groups}
        if len(rates) != 1:
            raise StepError(f"the optimizer's groups have the learning rates {sorted(rates)}; a step has one")
        return rates.pop()

    def check(self) -> None:
        """Raises StepError if a setting other than the learning rate is not as it was compiled."""
        found = self._read()
        if len(found) != len(self._settings):
            raise StepError(f"the optimizer has {len(found)} groups, and had {len(self._settings)} when the step was "
                            "compiled: compile the module again")
        for now, compiled in zip(found, self._settings):
            for name in now:
                if now[name] != compiled[name]:
                    raise StepError(f"the optimizer has {name}={now[name]}, and the step was compiled with "
                                    f"{name}={compiled[name]}: only the learning rate may change (a OneCycleLR or "
                                    "CyclicLR needs cycle_momentum=False)")


def of_torch(source: Any, module: Any, graph_text: str) -> Optimizer:
    """Returns an optimizer of torch.optim as one of braidc, or refuses it with the difference."""
    name, values = _kind(source)
    if source.state:
        raise CompileError("the optimizer has taken steps already; its moments are not taken over: make a new one")
    groups = source.param_groups
    for key in sorted(set(groups[0]) - {"params", "weight_decay", "param_names", "initial_lr"}):
        if any(group[key] != groups[0][key] for group in groups):
            raise CompileError(f"the optimizer's groups have different values of {key}; only weight_decay may differ")
    decays = {id(parameter): float(group["weight_decay"]) for group in groups for parameter in group["params"]}
    named = dict(module.named_parameters(remove_duplicate=False))
    trained = {name: parameter for name, parameter in named.items() if parameter.requires_grad}
    missing = sorted(name for name, parameter in trained.items() if id(parameter) not in decays)
    if missing:
        raise CompileError(f"the optimizer does not have the parameters {', '.join(missing[:5])}"
                           f"{' and more' if len(missing) > 5 else ''}: freeze them with requires_grad_(False)")
    excluded = _excluded({name: decays[id(parameter)] for name, parameter in trained.items()}, graph_text)
    return Optimizer(name, {**values, "weight_decay": max(decays.values())}, excluded, Source(source))


def _kind(source: Any) -> tuple[str, dict[str, float]]:
    """Returns the name and the hyperparameters of an optimizer, but its weight decay.

    Subclasses are refused, because they may compute another update.
    """
    import torch
    kind, group = type(source), source.param_groups[0]
    if kind not in (torch.optim.AdamW, torch.optim.Adam, torch.optim.SGD):
        raise CompileError(f"optimizers of type {kind.__module__}.{kind.__qualname__} are not supported; "
                           "torch.optim.AdamW, Adam and SGD are")
    for flag in ("amsgrad", "maximize", "differentiable"):
        if group.get(flag):
            raise CompileError(f"torch.optim.{kind.__name__} with {flag}=True is not supported")
    if kind is not torch.optim.SGD:
        is_decoupled = group.get("decoupled_weight_decay", kind is torch.optim.AdamW)
        beta1, beta2 = map(float, group["betas"])
        return "adamw" if is_decoupled else "adam", {"beta1": beta1, "beta2": beta2, "eps": float(group["eps"])}
    if group["dampening"]:
        raise CompileError("torch.optim.SGD with dampening is not supported")
    if not group["momentum"]:
        return "sgd", {}
    return "nesterov" if group["nesterov"] else "momentum", {"momentum": float(group["momentum"])}


def _excluded(decays: dict[str, float], graph_text: str) -> tuple[str, ...]:
    """Returns the groups that exclude exactly the parameters with a weight decay of 0."""
    different = sorted(set(decays.values()))
    if len(different) == 1:
        return ()
    if len(different) > 2 or different[0] != 0:
        raise CompileError(f"the optimizer's groups have the weight decays {', '.join(map(str, different))}; "
                           "supported are one value, and 0 beside it")
    groups = {name: group for name, group in parameter_groups(graph_text).items() if name in decays}
    for count in range(1, len(_GROUPS) + 1):
        for excluded in itertools.combinations(_GROUPS, count):
            if all((group in excluded) == (decays[name] == 0) for name, group in groups.items()):
                return excluded
    listed = ", ".join(f"{name} ({group}, {decays[name]:g})" for name, group in sorted(groups.items())[:8])
    raise CompileError("the optimizer's groups cannot be expressed: weight decay can be left out for all biases, all "
                       f"parameters of norms and all embeddings, and not for single parameters; there are {listed}")


def parameter_groups(graph_text: str) -> dict[str, str]:
    """Returns the group of each parameter of a graph: weights, biases, norms or embeddings."""
    with tempfile.TemporaryDirectory() as folder:
        graph = Path(folder) / "graph.mlir"
        graph.write_text(graph_text)
        noted = tools.run("braid-opt", str(graph), "--pass-pipeline=builtin.module(func.func(tg-note-groups))")
    return {name: group for group, name in _NOTED.findall(noted)}

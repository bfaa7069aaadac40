"""Refuses gradients that a module states itself.

Braid differentiates the exported program. The export keeps neither a backward of `torch.autograd.Function` nor hooks on
gradients, so training without them would differ from PyTorch silently.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

from .errors import CompileError

_INSTEAD = ("a compiled step has the derivative of forward alone. x + (f(x) - x).detach() computes f(x) and passes "
            "the gradient of x straight through")
# Names of the hooks on gradients that tensors and modules hold.
_TENSOR_HOOKS = ("_backward_hooks", "_post_accumulate_grad_hooks")
_MODULE_HOOKS = ("_backward_hooks", "_backward_pre_hooks")
_GLOBAL_HOOKS = ("forward_hooks", "forward_pre_hooks", "backward_hooks", "backward_pre_hooks")


def check_hooks(module: Any) -> None:
    """Refuses hooks on the gradients of parameters and of submodules, and hooks of all modules."""
    from torch.nn.modules import module as modules
    for name, parameter in module.named_parameters():
        if any(getattr(parameter, hooks, None) for hooks in _TENSOR_HOOKS):
            raise CompileError(f"parameter '{name}' has a hook on its gradient: {_INSTEAD}. Remove the hook; clip= "
                               "limits the norm of all gradients")
    for path, submodule in module.named_modules():
        if any(getattr(submodule, hooks) for hooks in _MODULE_HOOKS):
            name = f"module '{path}'" if path else "the model"
            raise CompileError(f"{name} ({type(submodule).__name__}) has a backward hook: {_INSTEAD}. Remove the hook",
                               module=path or None)
    if any(getattr(modules, f"_global_{hooks}") for hooks in _GLOBAL_HOOKS):
        raise CompileError("there are hooks of all modules (torch.nn.modules.module.register_module_...), which are not "
                           "part of a module's program: remove them")


def _refuse_call(context: Any, *_: Any) -> None:
    """Refuses a call of a function with a backward of its own. PyTorch's own higher-order ops pass."""
    import torch
    function = context._forward_cls
    if function.__module__.startswith("torch._") or not torch.is_grad_enabled():
        return
    if function.__module__ == "torch.utils.checkpoint":
        raise CompileError("a checkpoint with use_reentrant=True has a backward of its own: use_reentrant=False "
                           "computes the same, and recompute= chooses what a compiled step computes twice")
    raise CompileError(f"{function.__qualname__} is a torch.autograd.Function, whose backward is not compiled: "
                       f"{_INSTEAD}")


def _refusing_hook(name: str) -> Callable[..., Any]:
    def refuse(*_: Any, **__: Any) -> None:
        raise CompileError(f"forward calls Tensor.{name}: {_INSTEAD}")
    return refuse


@contextlib.contextmanager
def refused() -> Iterator[None]:
    """While it lasts, functions with a backward of their own and hooks on gradients raise CompileError.

    Each call of such a function makes an object of BackwardCFunction, also a call of a bound `MyFunction.apply` that
    the program holds since before.
    """
    import torch
    replaced = [(torch.autograd.function.BackwardCFunction, "__init__", _refuse_call)]
    replaced += [(torch.Tensor, name, _refusing_hook(name))
                 for name in ("register_hook", "register_post_accumulate_grad_hook")]
    saved = [(owner, name, owner.__dict__.get(name)) for owner, name, _ in replaced]
    for owner, name, value in replaced:
        setattr(owner, name, value)
    try:
        yield
    finally:
        for owner, name, value in saved:
            if value is None:
                delattr(owner, name)
            else:
                setattr(owner, name, value)

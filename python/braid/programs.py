"""Checks of exported programs that name the line of the module's source."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .errors import CompileError

_FRAME = re.compile(r'File "([^"]+)", line (\d+)')


def nodes_of(exported: Any) -> Iterator[Any]:
    """Yields the nodes of a program and of its regions."""
    import torch
    for module in exported.graph_module.modules():
        if isinstance(module, torch.fx.GraphModule):
            yield from module.graph.nodes


def place_of(node: Any) -> tuple[str | None, int | None, str | None]:
    """Returns the file and the line of a node, the last outside of PyTorch, and the path of the submodule."""
    import torch
    library = str(Path(torch.__file__).parent)
    frames = [frame for frame in _FRAME.findall(node.meta.get("stack_trace") or "")
              if not frame[0].startswith(library)]
    module = next((path for path, _ in reversed((node.meta.get("nn_module_stack") or {}).values()) if path), None)
    file, line = frames[-1] if frames else (None, None)
    return file, line and int(line), module


def refusal(message: str, node: Any) -> CompileError:
    """Returns the exception for a node, with its place as the tools print it."""
    file, line, module = place_of(node)
    text = (f"{file}:{line}: error: " if file else "") + message + (f" [{module}]" if module else "")
    return CompileError(text, file, line, module)


def draws_of(exported: Any) -> dict[Any, list[Any]]:
    """Returns the calls that draw random numbers other than dropout, by op and shape."""
    import torch
    draws: dict[Any, list[Any]] = {}
    for node in nodes_of(exported):
        tags = getattr(node.target, "tags", ()) if node.op == "call_function" else ()
        name = str(node.target)
        if torch.Tag.nondeterministic_seeded in tags and "dropout" not in name and "attention" not in name:
            draws.setdefault((name, tuple(getattr(node.meta.get("val"), "shape", ()))), []).append(node)
    return draws


def draw_of_training(training: Any, evaluation: Any) -> Any:
    """Returns a node of the program of `train()` that draws numbers which the program of `eval()` does not, or None."""
    kept = draws_of(evaluation)
    return next((nodes[0] for key, nodes in draws_of(training).items() if len(nodes) != len(kept.get(key, ()))), None)


def _has_unknown_size(value: Any) -> bool:
    values = value if isinstance(value, (tuple, list)) else [value]
    return any(not isinstance(size, int) for each in values for size in getattr(each, "shape", ()))


def _check_constants(exported: Any) -> None:
    """Refuses constants that are tensors of a trace: the export lost how they are computed.

    Gradients inside of forward (`torch.autograd.grad`, `torch.func.grad`) read such tensors.
    """
    import torch
    plain = (torch.Tensor, torch.nn.Parameter, torch.nn.Buffer)
    signature = exported.graph_signature
    names = {**signature.inputs_to_lifted_tensor_constants, **signature.inputs_to_buffers}
    for node in exported.graph.nodes:
        value = exported.constants.get(names.get(node.name, ""))
        wraps = isinstance(value, torch.Tensor) and (
            type(value) not in plain or torch._C._functorch.is_functorch_wrapped_tensor(value))
        if wraps:
            user = next(iter(node.users), node)
            raise refusal("torch.export takes a tensor that the model computes for a constant, as it does with "
                          "torch.autograd.grad and torch.func.grad in forward: gradients are not supported there", user)


def check(exported: Any) -> None:
    """Refuses programs that braid-import would refuse without the line of the source, or would misread."""
    import torch
    _check_constants(exported)
    for node in nodes_of(exported):
        if node.op != "call_function":
            continue
        if isinstance(node.meta.get("val"), (torch.SymInt, torch.SymFloat, torch.SymBool)):
            raise refusal(f"the result of {node.target} is a number of Python that depends on values: keep it a tensor",
                          node)
        if _has_unknown_size(node.meta.get("val")):
            raise refusal(f"the shape of the result of {node.target} depends on values; shapes are static here: "
                          "torch.where keeps all elements, and selects by a condition", node)

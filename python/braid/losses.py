"""The loss of a model: its own, one by name, or a function of the user."""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping
from typing import Any

from .batches import LABELS, Binding
from .errors import CompileError


def _tensors(output: Any) -> list[Any]:
    """Returns the tensors of a model's output, in order."""
    import torch
    if isinstance(output, torch.Tensor):
        return [output]
    if isinstance(output, Mapping):
        output = list(output.values())
    return [value for value in output if isinstance(value, torch.Tensor)] if isinstance(output, (list, tuple)) else []


def own_loss(output: Any) -> Any:
    """Returns the loss that a model returns: a scalar, or what has the name `loss`, or the scalar of a tuple."""
    named = output.get("loss") if isinstance(output, Mapping) else getattr(output, "loss", None)
    if named is not None:
        return named
    scalars = [tensor for tensor in _tensors(output) if tensor.dim() == 0 and tensor.is_floating_point()]
    if len(scalars) == 1:
        return scalars[0]
    found = "no loss, a float tensor without dims" if not scalars else f"{len(scalars)} float tensors without dims"
    raise CompileError(f"the model returns {found}: give braid a loss, such as loss='cross_entropy', or return it")


def _prediction(output: Any) -> Any:
    """Returns the tensor that a named loss reads: the output, its `logits`, or its first tensor."""
    logits = output.get("logits") if isinstance(output, Mapping) else getattr(output, "logits", None)
    tensors = _tensors(output)
    if logits is None and not tensors:
        raise CompileError(f"the model returns a {type(output).__name__}, which has no tensor for the loss")
    return tensors[0] if logits is None else logits


def _check_shape(name: str, labels: Any, wanted: Any, prediction: Any) -> None:
    if tuple(labels.shape) != tuple(wanted):
        raise CompileError(f"loss='{name}': for predictions of shape {list(prediction.shape)}, labels have shape "
                           f"{list(wanted)}; these have {list(labels.shape)}")


def _cross_entropy(prediction: Any, labels: Any) -> Any:
    """Returns the mean over all labels. Classes are the last dim, or dim 1 as in PyTorch; labels tell which."""
    from torch.nn import functional
    shape = tuple(prediction.shape)
    has_last, has_second = tuple(labels.shape) == shape[:-1], tuple(labels.shape) == shape[:1] + shape[2:]
    if has_last and has_second and len(shape) > 2:
        raise CompileError(f"loss='cross_entropy': predictions of shape {list(shape)} and labels of shape "
                           f"{list(labels.shape)} may have their classes in dim 1, as PyTorch takes them, or in the "
                           "last dim: give loss=lambda output, batch: functional.cross_entropy(output, labels) for "
                           "dim 1, and functional.cross_entropy(output.flatten(0, -2), labels.flatten()) for the last")
    if has_second and len(shape) > 2:
        prediction = prediction.movedim(1, -1)
    else:
        _check_shape("cross_entropy", labels, shape[:-1], prediction)
    return functional.cross_entropy(prediction.reshape(-1, prediction.shape[-1]), labels.reshape(-1))


def _mse(prediction: Any, labels: Any) -> Any:
    from torch.nn import functional
    _check_shape("mse", labels, prediction.shape, prediction)
    return functional.mse_loss(prediction, labels)


def _bce(prediction: Any, labels: Any) -> Any:
    from torch.nn import functional
    _check_shape("bce", labels, prediction.shape, prediction)
    return functional.binary_cross_entropy_with_logits(prediction, labels.to(prediction.dtype))


# Means over all elements. Class numbers of -100 do not count, as in PyTorch.
NAMED: dict[str, Callable[[Any, Any], Any]] = {"cross_entropy": _cross_entropy, "mse": _mse, "bce": _bce}


def check(loss: Any, binding: Binding) -> None:
    """Refuses a loss that is neither known nor callable, and a named one without labels."""
    if loss is None or callable(loss):
        return
    if loss not in NAMED:
        raise CompileError(f"loss={loss!r}: known are {', '.join(NAMED)}, and a function loss(output, batch)")
    if binding.labels is None:
        raise CompileError(f"loss='{loss}' needs labels: the last of a tuple of tensors, or an entry of a dict with "
                           f"one of the names {', '.join(LABELS)}")


def placed(loss: Any) -> Any:
    """Returns a function of the user under the name `forward`.

    PyTorch records places in functions of this name alone.
    """
    if not isinstance(loss, types.FunctionType):
        return loss
    code = loss.__code__.replace(co_name="forward")
    renamed = types.FunctionType(code, loss.__globals__, "forward", loss.__defaults__, loss.__closure__)
    renamed.__kwdefaults__ = loss.__kwdefaults__
    return renamed


def of(loss: Any, output: Any, batch: Any, labels: Any) -> Any:
    """Returns the loss of an output, a float tensor without dims."""
    if loss is None:
        value = own_loss(output)
    else:
        value = loss(output, batch) if callable(loss) else NAMED[loss](_prediction(output), labels)
    if getattr(value, "shape", None) is None or tuple(value.shape):
        shape = list(value.shape) if hasattr(value, "shape") else type(value).__name__
        raise CompileError(f"the loss must be a float tensor without dims; it is {shape}: take its mean")
    return value


def predictions(output: Any, loss: Any) -> list[Any]:
    """Returns the float tensors of an output beside the loss."""
    return [tensor for tensor in _tensors(output) if tensor is not loss and tensor.is_floating_point()]

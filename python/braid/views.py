"""Parameters of a module of PyTorch as views of a step's memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy

from . import arrays
from .errors import StepError
from .library import OPTIMIZER_STATE, Rank, Tensor


def array_of(rank: Rank, tensor: Tensor) -> numpy.ndarray:
    """Returns this rank's part of a tensor, without a copy. The array keeps the step's memory alive."""
    if not tensor.is_whole:
        raise StepError(f"rank {rank.state().rank} has only a part of tensor '{tensor.name}'")
    if not tensor.on_host:
        raise StepError(f"tensor '{tensor.name}' is in the memory of a device")
    dtype = arrays.DTYPES[tensor.type]
    last = sum((size - 1) * stride for size, stride in zip(tensor.shape, tensor.stride))
    flat = numpy.frombuffer(rank.memory(tensor.data, (last + 1) * dtype.itemsize), dtype)
    strides = [stride * dtype.itemsize for stride in tensor.stride]
    return numpy.lib.stride_tricks.as_strided(flat, tensor.shape, strides)


class _DeviceArray:
    """A tensor in the memory of a GPU, for the protocol `__cuda_array_interface__`. Keeps the step's memory alive."""

    # The protocol has no bfloat16: its bits are 16-bit integers.
    _TYPES = ("<f8", "<f4", "<i2", "<i4", "<i8", "|b1", "|i1")

    def __init__(self, rank: Rank, tensor: Tensor):
        self.rank = rank
        size = arrays.DTYPES[tensor.type].itemsize
        self.__cuda_array_interface__ = {
            "version": 3, "shape": tensor.shape, "typestr": self._TYPES[tensor.type], "data": (tensor.data, False),
            "strides": tuple(stride * size for stride in tensor.stride)}


def tensor_of(rank: Rank, tensor: Tensor) -> Any:
    """Returns this rank's part of a tensor as a tensor of PyTorch, on the host or on a GPU, without a copy."""
    if tensor.on_host:
        return arrays.to_torch(array_of(rank, tensor), tensor.type)
    if not tensor.is_whole:
        raise StepError(f"rank {rank.state().rank} has only a part of tensor '{tensor.name}'")
    import torch
    view = torch.as_tensor(_DeviceArray(rank, tensor))
    return view.view(torch.bfloat16) if tensor.type == arrays.BF16 else view


def can_see(tensors: list[Tensor]) -> bool:
    """Returns whether PyTorch can have views of these tensors."""
    import torch
    return all(tensor.on_host for tensor in tensors) or torch.cuda.is_available()


class _Slot(NamedTuple):
    """A place of a module for a parameter or a buffer, and the step's memory that it has."""

    path: str
    table: dict[str, Any]
    name: str
    value: Any
    address: int

    def is_view(self) -> bool:
        return self.table.get(self.name) is self.value and self.value.data_ptr() == self.address


def _joined(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def _slots(module: Any) -> Iterator[tuple[str, dict[str, Any], str, Any]]:
    """Yields the path of a submodule, a table of it, and the name and value of each parameter and buffer.

    A submodule with several names comes under each of them, because a program may use any.
    """
    for path, owner in module.named_modules(remove_duplicate=False):
        for table in (owner._parameters, owner._buffers):
            yield from ((path, table, name, value) for name, value in table.items() if value is not None)


class Views:
    """The parameters and buffers of a module that lie in a step's memory. A GPU's step moves the module to the GPU.

    One that gets no gradient and that the step stores in another type, such as bfloat16 or 32-bit integers, stays where
    it is: `apart` lists these.
    """

    def __init__(self, module: Any, rank: Rank, tensors: list[Tensor]):
        self.rank = rank
        by_name = {tensor.name: tensor for tensor in tensors}
        self.parameters: list[_Slot] = []
        self.apart: list[tuple[Tensor, Any]] = []
        found: dict[int, tuple[Tensor, Any]] = {}
        for path, _, name, value in _slots(module):
            if tensor := by_name.get(_joined(path, name)):
                found.setdefault(id(value), (tensor, value))
        views: dict[int, Any] = {}
        for key, (tensor, value) in found.items():
            if not value.requires_grad and value.dtype != arrays.torch_dtypes()[tensor.type]:
                self.apart.append((tensor, value))
            else:
                views[key] = self._view(value, tensor)
        self._set(module, views)

    def _view(self, value: Any, tensor: Tensor) -> Any:
        if tuple(value.shape) != tensor.shape or value.dtype != arrays.torch_dtypes()[tensor.type]:
            raise StepError(f"'{tensor.name}' is {value.dtype} {list(value.shape)} in the module, and "
                            f"{arrays.TYPE_NAMES[tensor.type]} {list(tensor.shape)} in the compiled step")
        return tensor_of(self.rank, tensor)

    def _set(self, module: Any, views: dict[int, Any]) -> None:
        """Gives each parameter its view. Those of the device `meta` are replaced, because they cannot change theirs."""
        import torch
        replaced: dict[int, Any] = {}
        for path, table, name, value in list(_slots(module)):
            view = views.get(id(value))
            if view is None:
                continue
            if not value.is_meta:
                value.data = view  # as Module.to does, also from one device to another
            elif id(value) not in replaced:
                is_parameter = isinstance(value, torch.nn.Parameter)
                replaced[id(value)] = torch.nn.Parameter(view, value.requires_grad) if is_parameter else view
            table[name] = replaced.get(id(value), value)
            self.parameters.append(_Slot(_joined(path, name), table, name, table[name], view.data_ptr()))
        self._gpus = {view.device for view in views.values() if view.is_cuda}
        for device in self._gpus:
            module.to(device)  # what is not in the step, too

    def refresh(self) -> None:
        """Gives buffers that a step updates in another type, such as counters, their new values."""
        for tensor, value in self.apart:
            if tensor.category == OPTIMIZER_STATE:
                value.copy_(arrays.to_torch(self.rank.read(tensor), tensor.type))

    def settle(self) -> None:
        """Waits for PyTorch's work on a GPU, which the step must follow. The host needs no wait.

        Raises StepError if the module has other memory by now.
        """
        import torch
        lost = next((slot.path for slot in self.parameters if not slot.is_view()), None)
        if lost is not None:
            raise StepError(f"'{lost}' of the module is no longer the memory of this step: a later compilation of the "
                            "module, or a change such as model.to(...) or an assignment, gave it other memory. Use the "
                            "later step, or compile the module again; assign values with copy_")
        for device in self._gpus:
            torch.cuda.current_stream(device).synchronize()

    def detach(self) -> None:
        """Gives each parameter memory of its own, with the values of now."""
        import torch
        own = {id(slot.value): slot.value for slot in self.parameters if slot.is_view()}
        for value in own.values():
            value.data = value.data.clone(memory_format=torch.contiguous_format)
        self.parameters = []

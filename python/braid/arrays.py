"""Arrays at the border: NumPy, PyTorch, JAX and anything with `__dlpack__`, as row-major memory of the host."""

from __future__ import annotations

import sys
from typing import Any, NamedTuple

import numpy

# Values of braid_type.
F64, F32, BF16, I32, I64, BOOL, I8 = range(7)
TYPE_NAMES = ("float64", "float32", "bfloat16", "int32", "int64", "bool", "int8")
# bfloat16 has no type in NumPy: its bits are held as 16-bit integers.
_BITS = numpy.dtype(numpy.uint16)
DTYPES = tuple(map(numpy.dtype, (numpy.float64, numpy.float32, _BITS, numpy.int32, numpy.int64, numpy.bool_,
                                 numpy.int8)))
_CODES = {dtype: code for code, dtype in enumerate(DTYPES) if code != BF16}
_FLOATS = (F64, F32, BF16)
# Types without a code, and the type to which they are converted without loss.
_WIDER = {numpy.dtype(numpy.float16): numpy.float32, numpy.dtype(numpy.uint8): numpy.int32,
          numpy.dtype(numpy.int16): numpy.int32, numpy.dtype(numpy.uint16): numpy.int32,
          numpy.dtype(numpy.uint32): numpy.int64}


class Values(NamedTuple):
    """Elements of a tensor: a C-contiguous array and their braid_type. Bits of bfloat16 are 16-bit integers."""

    array: numpy.ndarray
    type: int

    @property
    def address(self) -> int:
        return self.array.ctypes.data


def is_float(code: int) -> bool:
    return code in _FLOATS


def is_torch(value: Any) -> bool:
    """Returns whether this is a tensor of PyTorch, without importing PyTorch."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, torch.Tensor)


def is_array(value: Any) -> bool:
    """Returns whether this is a tensor, of whatever library."""
    return is_torch(value) or isinstance(value, numpy.ndarray) or hasattr(value, "__dlpack__")


def _of_torch(tensor: Any) -> Values:
    import torch
    if tensor.device.type == "meta":
        raise TypeError("a tensor on the device 'meta' has no values")
    tensor = tensor.detach().cpu().contiguous()
    if tensor.dtype == torch.bfloat16:
        return Values(tensor.view(torch.int16).numpy().view(_BITS), BF16)
    return of(tensor.numpy())


def plain(value: Any) -> Any:
    """Returns the numbers of a key of jax.random, and other values as they are."""
    if str(getattr(value, "dtype", "")).startswith("key<"):
        import jax
        return jax.random.key_data(value)
    return value


def bits_of(value: Any) -> Values:
    """Returns the same as `of`, but unsigned integers of 32 bits, such as keys of jax.random, keep their bits."""
    value = plain(value)
    if not is_torch(value) and str(getattr(value, "dtype", "")) == "uint32":
        return of(numpy.asarray(value).view(numpy.int32))
    return of(value)


def of(value: Any) -> Values:
    """Returns the values of a tensor, a scalar or nested lists. Copies only what is not row-major on the host."""
    if is_torch(value):
        return _of_torch(value)
    value = plain(value)
    if not isinstance(value, numpy.ndarray):
        array = numpy.asarray(value) if hasattr(value, "__array__") or not hasattr(value, "__dlpack__") else None
        value = numpy.from_dlpack(value) if array is None else array
    if value.dtype.name == "bfloat16":
        return Values(numpy.ascontiguousarray(value).reshape(value.shape).view(_BITS), BF16)
    dtype = value.dtype.newbyteorder("=")
    dtype = numpy.dtype(_WIDER.get(dtype, dtype))
    if dtype not in _CODES:
        raise TypeError(f"elements of type {value.dtype} are not supported; {', '.join(TYPE_NAMES)} are")
    # ascontiguousarray makes scalars vectors.
    return Values(numpy.ascontiguousarray(value, dtype).reshape(value.shape), _CODES[dtype])


def widened(array: numpy.ndarray, code: int) -> numpy.ndarray:
    """Returns an array that NumPy computes with: float32 for bfloat16, the array itself for other types."""
    if code != BF16:
        return array
    return (array.astype(numpy.uint32) << 16).view(numpy.float32)


def like(array: numpy.ndarray, code: int, example: Any) -> Any:
    """Returns an array as a tensor of the library of `example`: PyTorch's, or else NumPy's."""
    if not is_torch(example):
        return widened(array, code)
    return to_torch(array, code)


def to_torch(array: numpy.ndarray, code: int) -> Any:
    """Returns a tensor of PyTorch that shares the array's memory."""
    import torch
    if code == BF16:
        return torch.from_numpy(array.view(numpy.int16)).view(torch.bfloat16)
    return torch.from_numpy(array)


def torch_dtypes() -> tuple[Any, ...]:
    """Returns PyTorch's element type of each braid_type."""
    import torch
    return (torch.float64, torch.float32, torch.bfloat16, torch.int32, torch.int64, torch.bool, torch.int8)

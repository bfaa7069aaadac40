"""The C interface of a compiled step (braid/step.h), by ctypes. Every call that can fail raises StepError."""

from __future__ import annotations

import atexit
import ctypes
import os
import threading
from ctypes import POINTER, c_char_p, c_double, c_float, c_int32, c_int64, c_uint32, c_uint64, c_void_p
from pathlib import Path
from typing import NamedTuple

import numpy

from . import arrays
from .errors import StepError
from .tools import log

VERSION = 1  # BRAID_STEP_VERSION
_DIMS = c_int64 * 8  # BRAID_MAX_DIMS
PARAMETER, GRADIENT, OPTIMIZER_STATE = range(3)
OWN_PART, WHOLE = range(2)


class _Model(ctypes.Structure):
    _fields_ = [("name", c_char_p), ("target", c_char_p), ("optimizer", c_char_p), ("mesh", c_char_p),
                ("ranks", c_int32), ("microbatches", c_int32), ("has_eval", c_int32), ("has_forward", c_int32),
                ("plan", c_char_p)]


class Options(ctypes.Structure):
    """braid_options: zero is the default of each field."""

    _fields_ = [("version", c_uint32), ("ranks", c_int32), ("rank", c_int32), ("local_ranks", c_int32),
                ("local_rank", c_int32), ("rendezvous", c_char_p), ("job", c_char_p), ("token", c_char_p),
                ("transport", c_char_p), ("timeout", c_double), ("threads", c_int32), ("device", c_int32),
                ("seed", c_uint64)]


class _State(ctypes.Structure):
    _fields_ = [("rank", c_int32), ("ranks", c_int32), ("threads", c_int32), ("transport", c_char_p),
                ("arena_bytes", c_uint64), ("host_bytes", c_uint64), ("step", c_int64)]


class _Tensor(ctypes.Structure):
    _fields_ = [("name", c_char_p), ("category", ctypes.c_int), ("type", ctypes.c_int), ("rank", c_int32),
                ("shape", _DIMS), ("begin", _DIMS), ("extent", _DIMS), ("stride", _DIMS), ("fused", _DIMS),
                ("length", _DIMS), ("first", c_int64), ("last", c_int64), ("is_whole", c_int32), ("on_host", c_int32),
                ("data", c_void_p), ("bytes", c_uint64), ("copy_of", c_char_p), ("in_checkpoint", c_int32)]


class _Input(ctypes.Structure):
    _fields_ = [("name", c_char_p), ("role", c_char_p), ("type", ctypes.c_int), ("rank", c_int32), ("shape", _DIMS),
                ("begin", _DIMS), ("extent", _DIMS), ("limit", c_int64), ("ignored", c_int64), ("in_train", c_int32),
                ("in_eval", c_int32), ("in_forward", c_int32)]


class _Result(ctypes.Structure):
    _fields_ = [("step", c_int64), ("loss", c_float), ("grad_norm", c_float)]


class Tensor(NamedTuple):
    """braid_tensor, with the lists cut to the number of dims."""

    name: str
    category: int
    type: int
    shape: tuple[int, ...]
    extent: tuple[int, ...]
    stride: tuple[int, ...]  # in elements
    is_whole: bool
    on_host: bool
    data: int  # address
    bytes: int
    copy_of: str | None
    in_checkpoint: bool


class Input(NamedTuple):
    """braid_input: `shape` is that of a microbatch over all ranks, `begin` and `extent` the part of this rank."""

    name: str
    role: str
    type: int
    shape: tuple[int, ...]
    begin: tuple[int, ...]
    extent: tuple[int, ...]
    limit: int  # indices are in [0, limit), or equal `ignored`; 0: not indices
    ignored: int
    in_train: bool
    in_eval: bool
    in_forward: bool


class Model(NamedTuple):
    """braid_model."""

    name: str
    target: str
    optimizer: str
    mesh: str
    ranks: int
    microbatches: int
    has_eval: bool
    has_forward: bool
    plan: str


class State(NamedTuple):
    """braid_state: the place of this rank, its memory in bytes and the steps done."""

    rank: int
    ranks: int
    threads: int
    transport: str
    arena_bytes: int
    host_bytes: int
    step: int


_STEP = c_void_p
_Receiver = ctypes.CFUNCTYPE(None, c_void_p, c_char_p)
# Arguments of each function; those that return no braid_status are in _RESULTS.
_SIGNATURES = {
    "braid_version": [], "braid_error": [],
    "braid_on_message": [_Receiver, c_void_p], "braid_describe": [POINTER(_Model)],
    "braid_create": [POINTER(Options), POINTER(_STEP)], "braid_destroy": [_STEP],
    "braid_get_state": [_STEP, POINTER(_State)],
    "braid_tensor_count": [_STEP], "braid_get_tensor": [_STEP, c_int32, POINTER(_Tensor)],
    "braid_write_tensor": [_STEP, c_char_p, ctypes.c_int, c_void_p],
    "braid_read_tensor": [_STEP, c_char_p, ctypes.c_int, c_void_p], "braid_renew_copies": [_STEP],
    "braid_input_count": [_STEP], "braid_get_input": [_STEP, c_int32, POINTER(_Input)],
    "braid_set_input": [_STEP, c_char_p, c_int32, ctypes.c_int, c_void_p, ctypes.c_int],
    "braid_accumulate": [_STEP], "braid_train": [_STEP, c_float, POINTER(_Result)],
    "braid_evaluate": [_STEP, POINTER(c_float)], "braid_forward": [_STEP],
    "braid_scalar_count": [_STEP], "braid_get_scalar": [_STEP, c_int32, POINTER(c_char_p), POINTER(c_float)],
    "braid_output_count": [_STEP], "braid_get_output": [_STEP, c_int32, POINTER(_Tensor)],
    "braid_save": [_STEP, c_char_p, c_int32, POINTER(c_char_p)], "braid_load": [_STEP, c_char_p],
    "braid_load_weights": [_STEP, c_char_p],
}
_RESULTS = {"braid_version": c_uint32, "braid_error": c_char_p, "braid_destroy": None,
            "braid_on_message": None, "braid_tensor_count": c_int32,
            "braid_input_count": c_int32, "braid_scalar_count": c_int32, "braid_output_count": c_int32}


def _text(value: bytes | None) -> str:
    return (value or b"").decode(errors="replace")


def _cut(values: ctypes.Array, rank: int) -> tuple[int, ...]:
    return tuple(values[:rank])


def _tensor(raw: _Tensor) -> Tensor:
    return Tensor(_text(raw.name), raw.category, raw.type, _cut(raw.shape, raw.rank), _cut(raw.extent, raw.rank),
                  _cut(raw.stride, raw.rank), bool(raw.is_whole), bool(raw.on_host), raw.data or 0, raw.bytes,
                  _text(raw.copy_of) or None, bool(raw.in_checkpoint))


@_Receiver
def _receive(_: int | None, text: bytes | None) -> None:
    log.warning("%s", _text(text))


class Library:
    """A shared library that `braidc --emit=lib` wrote."""

    def __init__(self, path: str | os.PathLike):
        self.path = Path(path).resolve()
        try:
            self._functions = ctypes.CDLL(str(self.path), mode=os.RTLD_LOCAL | os.RTLD_NOW)
            for name, arguments in _SIGNATURES.items():
                function = getattr(self._functions, name)
                function.argtypes, function.restype = arguments, _RESULTS.get(name, ctypes.c_int)
        except (OSError, AttributeError) as error:
            raise StepError(f"'{self.path}' is no library of braidc --emit=lib: {error}") from error
        found = self._functions.braid_version()
        if found != VERSION:
            raise StepError(f"'{self.path}' has version {found} of the interface, and this package reads version "
                            f"{VERSION}: compile the graph with the same version of Braid")
        # Threads of the library must not call Python when that has ended.
        self._functions.braid_on_message(_receive, None)
        atexit.register(self._functions.braid_on_message, _Receiver(), None)

    def call(self, name: str, *arguments: object) -> None:
        """Calls a function that returns a braid_status."""
        if getattr(self._functions, name)(*arguments):
            raise StepError(_text(self._functions.braid_error()) or f"{name} failed")

    def count(self, name: str, step: c_void_p) -> int:
        return getattr(self._functions, name)(step)

    def destroy(self, step: c_void_p) -> None:
        self._functions.braid_destroy(step)

    def describe(self) -> Model:
        raw = _Model()
        self.call("braid_describe", ctypes.byref(raw))
        return Model(_text(raw.name), _text(raw.target), _text(raw.optimizer), _text(raw.mesh), raw.ranks,
                     raw.microbatches, bool(raw.has_eval), bool(raw.has_forward), _text(raw.plan))


class Rank:
    """A braid_step. Calls of several threads run one after the other.

    The memory lives until `destroy`, or until this object and all arrays of `memory` are gone. A process that was
    forked from the creator can do neither: the memory and the connections are the creator's.
    """

    def __init__(self, library: Library, options: Options):
        self.library, self.pid, self._lock = library, os.getpid(), threading.RLock()
        self._step = _STEP()
        options.version = VERSION
        library.call("braid_create", ctypes.byref(options), ctypes.byref(self._step))

    def __del__(self):
        if getattr(self, "_step", None):
            self.destroy()

    @property
    def is_open(self) -> bool:
        return bool(self._step)

    def destroy(self) -> None:
        step, self._step = self._step, None
        if step and os.getpid() == self.pid:
            self.library.destroy(step)

    def call(self, name: str, *arguments: object) -> None:
        with self._lock:
            self.library.call(name, self._opened(), *arguments)

    def _opened(self) -> c_void_p:
        if os.getpid() != self.pid:
            raise StepError("this process was forked from the one that made the step; only that one can run it")
        if not self._step:
            raise StepError("the step is closed")
        return self._step

    def _count(self, name: str) -> int:
        with self._lock:
            return self.library.count(name, self._opened())

    def _table(self, count: str, get: str, raw_type: type) -> list:
        table = []
        for index in range(self._count(count)):
            raw = raw_type()
            self.call(get, index, ctypes.byref(raw))
            table.append(raw)
        return table

    def state(self) -> State:
        raw = _State()
        self.call("braid_get_state", ctypes.byref(raw))
        return State(raw.rank, raw.ranks, raw.threads, _text(raw.transport), raw.arena_bytes, raw.host_bytes, raw.step)

    def tensors(self) -> list[Tensor]:
        return [_tensor(raw) for raw in self._table("braid_tensor_count", "braid_get_tensor", _Tensor)]

    def inputs(self) -> list[Input]:
        return [Input(_text(raw.name), _text(raw.role), raw.type, _cut(raw.shape, raw.rank), _cut(raw.begin, raw.rank),
                      _cut(raw.extent, raw.rank), raw.limit, raw.ignored, bool(raw.in_train), bool(raw.in_eval),
                      bool(raw.in_forward))
                for raw in self._table("braid_input_count", "braid_get_input", _Input)]

    def outputs(self) -> list[Tensor]:
        return [_tensor(raw) for raw in self._table("braid_output_count", "braid_get_output", _Tensor)]

    def scalars(self) -> dict[str, float]:
        """Returns counters and measured values of the last step."""
        values = {}
        for index in range(self._count("braid_scalar_count")):
            name, value = c_char_p(), c_float()
            self.call("braid_get_scalar", index, ctypes.byref(name), ctypes.byref(value))
            values[_text(name.value)] = value.value
        return values

    def write(self, tensor: Tensor, values: arrays.Values) -> None:
        """Writes a whole tensor; the number of elements is checked."""
        if values.array.shape != tensor.shape:
            raise StepError(f"tensor '{tensor.name}' has shape {list(tensor.shape)}, and the values "
                            f"{list(values.array.shape)}")
        self.call("braid_write_tensor", tensor.name.encode(), values.type, values.address)

    def read(self, tensor: Tensor) -> numpy.ndarray:
        """Returns the whole tensor in its own type; elements that this rank does not have are 0."""
        array = numpy.zeros(tensor.shape, arrays.DTYPES[tensor.type])
        self.call("braid_read_tensor", tensor.name.encode(), tensor.type, array.ctypes.data)
        return array

    def set_input(self, name: str, microbatch: int, values: arrays.Values, extent: int) -> None:
        self.call("braid_set_input", name.encode(), microbatch, values.type, values.address, extent)

    def train(self, lr: float) -> tuple[int, float, float]:
        """Returns the number of the step, its loss and the norm of the gradients."""
        raw = _Result()
        self.call("braid_train", lr, ctypes.byref(raw))
        return raw.step, raw.loss, raw.grad_norm

    def evaluate(self) -> float:
        loss = c_float()
        self.call("braid_evaluate", ctypes.byref(loss))
        return loss.value

    def save(self, directory: str, keep: int) -> str:
        path = c_char_p()
        self.call("braid_save", os.fsencode(directory), keep, ctypes.byref(path))
        return os.fsdecode(path.value or b"")

    def memory(self, address: int, size: int) -> ctypes.Array:
        """Returns bytes of the arena, without a copy. They keep this object alive."""
        memory = (ctypes.c_char * size).from_address(address)
        memory.owner = self  # type: ignore[attr-defined]
        return memory

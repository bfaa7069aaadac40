"""From a module of PyTorch to a program that braid-import reads."""

from __future__ import annotations

import contextlib
import copy
import inspect
import io
import json
import os
import re
import traceback
import warnings
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from . import arrays, batches, decomposing, derivatives, losses, programs
from .errors import CompileError

_PACKAGE = str(Path(__file__).resolve().parent)


class Program(NamedTuple):
    """An exported program without values of parameters, and how batches reach it."""

    exported: Any  # torch.export.ExportedProgram
    binding: batches.Binding
    parameters: dict[str, Any]  # by name; tied ones are the same object


def plain_module(model: Any) -> Any:
    """Returns the module that torch.compile wrapped, or the module itself; refuses wrappers of distributed training."""
    import torch
    if not isinstance(model, torch.nn.Module):
        raise TypeError(f"the model is a {type(model).__name__}, and not a torch.nn.Module")
    model = getattr(model, "_orig_mod", model)
    if type(model).__name__ in ("DistributedDataParallel", "FullyShardedDataParallel", "DataParallel"):
        raise CompileError(f"the model is wrapped by {type(model).__name__}: give the module itself, and mesh=, zero=")
    return model


def _example(value: Any) -> Any:
    """Returns an input of the same shape, with an element type that programs have. Its values do not matter."""
    import torch
    if arrays.is_torch(value):
        shape, dtype = tuple(value.shape), value.dtype
        dtype = {torch.float16: torch.float32, torch.uint8: torch.int32, torch.int8: torch.int32,
                 torch.int16: torch.int32}.get(dtype, dtype)
        return torch.zeros(shape, dtype=dtype)
    values = arrays.of(value)
    dtype = arrays.torch_dtypes()[values.type]
    return torch.zeros(values.array.shape, dtype=torch.int32 if values.type == arrays.I8 else dtype)


@contextlib.contextmanager
def _buffers_on_host(model: Any) -> Iterator[None]:
    """While it lasts, buffers are on the host.

    Buffers of the device `meta` have no values. Those of models of Transformers are computed again by the model's own
    initialization; for others the plan has a stored tensor.
    """
    saved, unknown = [], []
    for path, module in model.named_modules():
        own = {name: buffer for name, buffer in module._buffers.items() if buffer is not None}
        saved += [(module, name, buffer) for name, buffer in own.items()]
        if any(buffer.is_meta for buffer in own.values()):
            # Parameters of a module with such buffers would lose their values.
            has_parameters = any(parameter is not None for parameter in module._parameters.values())
            module._buffers.update({name: buffer.new_zeros(buffer.shape, device="cpu") for name, buffer in own.items()})
            if not has_parameters and hasattr(model, "_init_weights"):
                model._init_weights(module)
            else:
                unknown += [f"{path}.{name}".lstrip(".") for name in own]
        else:
            module._buffers.update({name: buffer.cpu() for name, buffer in own.items()})
    if unknown:
        warnings.warn(f"buffers on the device 'meta' have no values, and count as zeros: {', '.join(unknown)}",
                      stacklevel=5)
    try:
        yield
    finally:
        for module, name, buffer in saved:
            module._buffers[name] = buffer


@contextlib.contextmanager
def _without_values(model: Any, mode: Any) -> Iterator[dict[str, Any]]:
    """While it lasts, parameters have shapes alone, on the host. Yields the parameters by name."""
    import torch
    saved, stands_in = [], {}
    for module in model.modules():
        for name, parameter in module._parameters.items():
            if parameter is None:
                continue
            saved.append((module, name, parameter))
            if id(parameter) not in stands_in:
                with mode:
                    empty = torch.empty(parameter.shape, dtype=parameter.dtype)
                    stands_in[id(parameter)] = torch.nn.Parameter(empty, requires_grad=parameter.requires_grad)
            module._parameters[name] = stands_in[id(parameter)]
    try:
        yield dict(model.named_parameters(remove_duplicate=False))
    finally:
        for module, name, parameter in saved:
            module._parameters[name] = parameter


def _identifier(name: str) -> str:
    return re.sub(r"\W", "_", name) if not name.isidentifier() else name


_CALL_HOOKS = ("_forward_hooks", "_forward_pre_hooks")


def _called(model: Any) -> Any:
    """Returns the module's forward, or where it has hooks a copy of the module that calls them.

    The copy shares parameters, buffers, submodules and hooks.
    """
    return copy.copy(model) if any(getattr(model, hooks) for hooks in _CALL_HOOKS) else model.forward


@contextlib.contextmanager
def _computing(model: Any, forward: Any) -> Iterator[None]:
    """While it lasts, the module has this forward, and no hooks of its own around it."""
    saved = {name: value for name, value in model.__dict__.items() if name in ("forward", *_CALL_HOOKS)}
    model.__dict__.update({"forward": forward} | {hooks: type(getattr(model, hooks))() for hooks in _CALL_HOOKS})
    try:
        yield
    finally:
        del model.__dict__["forward"]
        model.__dict__.update(saved)


def _forward(model: Any, binding: batches.Binding, loss: Any, outputs: bool, is_mapping: bool) -> Any:
    """Returns a function of the batch's tensors, by their names, that returns the loss and on demand predictions."""
    original, loss = _called(model), losses.placed(loss)

    def compute(**tensors: Any) -> Any:  # PyTorch would record its lines if it was called forward
        values = {key: tensors[name] for key, name in binding.names.items()} | binding.constants
        positional = [values[key] for key in binding.positional]
        output = original(*positional, **{name: values[key] for key, name in binding.keywords.items()})
        batch = values if is_mapping else tuple(values[key] for key in sorted(values))
        value = losses.of(loss, output, batch, values.get(binding.labels)).float()
        return (value, *losses.predictions(output, value)) if outputs else value

    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    compute.__signature__ = inspect.Signature([inspect.Parameter(name, kind) for name in binding.names.values()])
    return compute


def _failure(error: Exception, action: str) -> CompileError:
    """Returns the exception for an error of the model, with the last line outside of PyTorch and this package.

    A refusal of this package keeps its text, and its place if it has one.
    """
    import torch
    library = str(Path(torch.__file__).parent)
    frames = [frame for frame in traceback.extract_tb(error.__traceback__)
              if not frame.filename.startswith((library, _PACKAGE, "<"))]
    is_refusal = isinstance(error, CompileError)
    reason = str(error).strip().partition("\n\n")[0]  # without hints for developers of PyTorch
    message = str(error) if is_refusal else f"{action}: {type(error).__name__}: {reason}"
    if not frames or (is_refusal and error.file):
        return error if is_refusal else CompileError(message)
    place = frames[-1]
    return CompileError(f"{place.filename}:{place.lineno}: error: {message}", place.filename, place.lineno,
                        error.module if is_refusal else None)


@contextlib.contextmanager
def _placing_errors(action: str) -> Iterator[None]:
    """Turns every exception into a CompileError with a place. PyTorch has no base class of what it raises."""
    try:
        yield
    except Exception as error:
        raise _failure(error, action) from (None if isinstance(error, CompileError) else error)


def program_of(model: Any, batch: Any, loss: Any = None, outputs: bool = False) -> Program:
    """Exports a module whose result is its loss, and on demand its predictions, for batches like this one.

    The module is as before afterwards. Parameters may be on any device, also on `meta`. Values are not read.
    """
    import torch
    from torch._subclasses.fake_tensor import FakeTensorMode
    model = plain_module(model)
    derivatives.check_hooks(model)
    binding = batches.bind(model.forward, batch, loss is not None)
    binding = binding._replace(names={key: _identifier(name) for key, name in binding.names.items()})
    losses.check(loss, binding)
    entries = batches.entries_of(batch)
    mode = FakeTensorMode(allow_non_fake_inputs=True)
    with _buffers_on_host(model), _without_values(model, mode) as parameters:
        with mode:
            inputs = {name: _example(entries[key]) for key, name in binding.names.items()}
        forward = _forward(model, binding, loss, outputs, isinstance(batch, batches.Mapping))
        with (_computing(model, forward), _placing_errors("torch.export cannot trace the model"),
              derivatives.refused()):
            exported = torch.export.export(model, (), inputs)
    programs.check(exported)
    with _placing_errors("the exported program cannot be rewritten"):
        decomposing.decompose(exported)
    return Program(exported, binding, parameters)


@contextlib.contextmanager
def _evaluating(model: Any) -> Iterator[None]:
    """While it lasts, the module is in the mode `eval()`."""
    modes = {module: module.training for module in model.modules()}
    model.eval()
    try:
        yield
    finally:
        for module, mode in modes.items():
            module.training = mode


def noise_of(model: Any, batch: Any, loss: Any, outputs: bool, program: Program) -> str:
    """Returns the op and the place by which a module draws random numbers in the mode `train()` alone, or "".

    Programs of evaluation leave out dropout, and draw all other numbers. A program that draws some is exported again
    in the mode `eval()`; one that cannot be counts as different.
    """
    draws = programs.draws_of(program.exported)
    if not draws or not any(module.training for module in model.modules()):
        return ""
    try:
        with _evaluating(model):
            other = program_of(model, batch, loss, outputs)
        node = programs.draw_of_training(program.exported, other.exported)
    except CompileError:
        node = next(iter(draws.values()))[0]
    if node is None:
        return ""
    file, line, _ = programs.place_of(node)
    return f"{node.target}" + (f" in {file}:{line}" if file else "")


def _placeholder(tensor: Any) -> Any:
    import torch
    return torch.nn.Parameter(torch.empty(tensor.shape, dtype=tensor.dtype, device="meta"), tensor.requires_grad)


def save_without_values(program: Program, path: str | os.PathLike) -> None:
    """Writes a program whose parameters have shapes alone.

    PyTorch gives all of them the same entry of the archive, and braid-import takes parameters of one entry for one. So
    each gets an entry of its own, and tied ones share theirs.
    """
    import torch
    state = program.exported.state_dict
    entries: dict[int, str] = {}
    names = {}
    for name in [name for name in state if name in program.parameters]:
        tensor = state[name]
        names[name] = entries.setdefault(id(program.parameters[name]), f"parameter_{len(entries)}")
        state[name] = _placeholder(tensor)
    stream = io.BytesIO()
    with _placing_errors("torch.export cannot save the program"):
        torch.export.save(program.exported, stream)
    with zipfile.ZipFile(stream) as source, zipfile.ZipFile(path, "w") as target:
        for entry in source.infolist():
            data = source.read(entry)
            if entry.filename.endswith("/data/weights/model_weights_config.json"):
                data = _renamed(data, names)
            target.writestr(entry, data)


def _renamed(config: bytes, entries: dict[str, str]) -> bytes:
    table = json.loads(config)
    for name, entry in entries.items():
        table["config"][name]["path_name"] = entry
    return json.dumps(table).encode()


def export(model: Any, batch: Any, path: str | os.PathLike, loss: Any = None, outputs: bool = False) -> Path:
    """Writes the program of a module's loss, with its weights, for `braid-import`.

    - `model`: a torch.nn.Module. `train()` keeps dropout, `eval()` leaves it out.
    - `batch`: an example of the batch of a whole step over all ranks: a tensor, a tuple (arguments of `forward`) or a
      dict (its keyword arguments). Entries that are no tensors become part of the program.
    - `path`: a file `*.pt2`.
    - `loss`: None if the module returns its loss, or what has an attribute or entry `loss`; a function
      `loss(output, batch)`; or "cross_entropy", "mse" or "bce" of the output and the batch's labels.
    - `outputs`: whether the program also returns the module's float outputs.

    Raises CompileError if the module cannot be exported. Models on the device `meta` are exported without weights.
    """
    import torch
    program = program_of(model, batch, loss, outputs)
    path = Path(path)
    real = dict(plain_module(model).named_parameters(remove_duplicate=False))
    if any(parameter.is_meta for parameter in real.values()):
        save_without_values(program, path)
        return path
    state = program.exported.state_dict
    state.update({name: real[name] for name in state if name in real})
    torch.export.save(program.exported, path)
    return path

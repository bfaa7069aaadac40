"""A compiled training step, as an object that a loop calls."""

from __future__ import annotations

import itertools
import math
import os
import shutil
import tempfile
from pathlib import Path
from typing import Any

import numpy

from . import arrays, checkpoint, library
from .errors import StepError
from .feeding import Feeder
from .fitting import size_text
from .graph import Graph
from .library import Library, Options, Rank, Tensor
from .optimizers import Source
from .plan import Plan
from .views import Views, array_of, can_see


class Loss(float):
    """The loss of a step, over all ranks and microbatches.

    `grad_norm` is the norm of all gradients before clipping, or NaN if the step does not compute it. `step` is the
    number of the step, from 1. `scalars` has the model's counters and measured values by name.
    """

    grad_norm: float
    step: int
    scalars: dict[str, float]

    @classmethod
    def of(cls, result: tuple[int, float, float], scalars: dict[str, float]) -> Loss:
        loss = cls(result[1])
        loss.step, loss.grad_norm, loss.scalars = result[0], result[2], scalars
        return loss


class Step:
    """One rank of a compiled training step.

    `step(batch, lr=...)` computes the loss and the gradients and updates the parameters. Data, learning rates, logs and
    when to save are the caller's. With one rank the parameters of the module are views of the step's memory: they have
    the values of the last step at all times. All ranks must call the step, `accumulate`, `evaluate`, `forward`, `save`,
    `load`, `full_state_dict` and `close` together. One thread at a time may use it; a forked process cannot.
    """

    def __init__(self, path: str | os.PathLike, graph: Graph, seed: int = 1, sharded: bool = True,
                 optimizer: Source | None = None, compile_words: list[str] | None = None, **options: Any):
        self.graph, self.sharded, self._optimizer = graph, sharded, optimizer
        self._library = Library(path)
        self.model = self._library.describe()
        if self.model.ranks > 1:
            options.setdefault("job", _next_job())
        self._rank = Rank(self._library, _options(seed, options))
        self._words = compile_words or []
        self._views: Views | None = None
        self._tensors = self._rank.tensors()
        self._feeder = Feeder(self._rank, self.model, graph)
        self._accumulated = 0
        self._temporary: list[str] = []
        self._write_values()
        self._view_parameters()

    # Values

    def _parameters(self) -> list[Tensor]:
        """Parameters, and the states that the module has as buffers, such as running statistics."""
        module = self.graph.module
        buffers = dict(module.named_buffers(remove_duplicate=False)) if module is not None else {}
        return [tensor for tensor in self._tensors
                if (tensor.category == library.PARAMETER or tensor.name in buffers) and not tensor.copy_of]

    def _write_values(self) -> None:
        """Writes initial values of parameters, and of the states of a whole step."""
        for tensor in self._tensors:
            if tensor.name in self.graph.values and not tensor.copy_of:
                self._rank.write(tensor, arrays.of(self.graph.values[tensor.name]))

    def _view_parameters(self) -> None:
        if self.graph.module is not None and self.model.ranks == 1 and can_see(self._parameters()):
            self._views = Views(self.graph.module, self._rank, self._parameters())

    def parameters_changed(self) -> None:
        """Must follow a change of the module's parameters from outside, such as `model.load_state_dict(...)`.

        Renews the copies of parameters in other types and layouts, such as those in bfloat16. With several ranks the
        module does not share memory with the step: this writes the module's values, the same on all ranks.
        """
        self._settle()
        if self._views or self.graph.module is None:
            for tensor, value in self._views.apart if self._views else ():
                self._rank.write(tensor, arrays.of(value))
            self._rank.call("braid_renew_copies")
            return
        named = {**dict(self.graph.module.named_buffers(remove_duplicate=False)),
                 **dict(self.graph.module.named_parameters(remove_duplicate=False))}
        for tensor in self._parameters():
            if tensor.name in named:
                self._rank.write(tensor, arrays.of(named[tensor.name]))

    def _settle(self) -> None:
        """Must precede what reads or writes the parameters: PyTorch may still compute with their views."""
        if self._views:
            self._views.settle()

    # Runs

    def _learning_rate(self, lr: float | None) -> float:
        if self._optimizer is not None:
            self._optimizer.check()
            lr = self._optimizer.learning_rate() if lr is None else lr
        if lr is None and self.graph.is_whole_step and "#tg.role<lr>" not in self.graph.text:
            return 0.0
        if lr is None:
            raise TypeError("give the learning rate of this step: step(batch, lr=...)")
        if not math.isfinite(lr):
            raise StepError(f"the learning rate is {lr}")
        return float(lr)

    def __call__(self, batch: Any, lr: float | None = None, sharded: bool | None = None) -> Loss:
        """Runs a step, and returns its loss.

        - `batch`: of the structure and shapes for which the step was compiled, with the rows of all microbatches that
          `accumulate` was not given. Tensors of PyTorch, NumPy and JAX, and anything with `__dlpack__`.
        - `lr`: the learning rate; the default is that of the optimizer of torch.optim, if the step was compiled with
          one. A whole step that has no argument `lr` needs none.
        - `sharded`: whether the batch has this rank's rows, or those of all ranks. The default is that of `compile`.

        Raises StepError or TypeError, before anything is computed, if the batch does not fit.
        """
        rate = self._learning_rate(lr)
        first = self._accumulated
        self._feed(batch, sharded, "train", first, self.model.microbatches - first)
        result = self._rank.train(rate)
        self._accumulated = 0
        if self._views:
            self._views.refresh()
        return Loss.of(result, self._rank.scalars())

    def accumulate(self, batch: Any, sharded: bool | None = None) -> None:
        """Adds the gradients of one microbatch. The last of a step goes to `step(batch, lr)`."""
        left = self.model.microbatches - self._accumulated
        if left < 2:
            raise StepError(f"a step has {self.model.microbatches} microbatches (accumulate=), of which "
                            f"{self._accumulated} are done: give the last one to step(batch, lr=...)")
        self._feed(batch, sharded, "train", self._accumulated, 1)
        self._rank.call("braid_accumulate")
        self._accumulated += 1

    def evaluate(self, batch: Any, sharded: bool | None = None) -> float:
        """Returns the loss of a batch of one microbatch, without dropout and without an update.

        It is the compiled program without dropout and with the running statistics of batch norms. All else is that of
        the mode in which the module was compiled. Raises StepError if the module draws other noise in the mode train()
        alone.
        """
        if not self.model.has_eval:
            raise StepError("the compiled model has no program that evaluates")
        self.check_noise("evaluate")
        self._not_between("evaluate")
        self._feed(batch, sharded, "eval", 0, 1)
        return self._rank.evaluate()

    def forward(self, batch: Any, sharded: bool | None = None) -> dict[str, Any]:
        """Returns the model's outputs for a batch of one microbatch, by name, without dropout.

        Needs `compile(..., forward=True)`, because the outputs of a whole batch may be the largest tensors of all.
        Where ranks share the batch, each computes the outputs of all rows: give them, with `sharded=False`.
        """
        if not self.model.has_forward:
            raise StepError("the compiled model has no outputs: compile it with forward=True")
        self.check_noise("forward")
        self._not_between("forward")
        if (self.sharded if sharded is None else sharded) and self._feeder.shares_rows():
            raise StepError("forward computes the outputs of the whole batch on each rank: give the rows of all ranks, "
                            "with sharded=False")
        example = self._feed(batch, sharded, "forward", 0, 1)
        self._rank.call("braid_forward")
        return {output.name: arrays.like(self._output(output), output.type, example) for output in self._rank.outputs()}

    def _output(self, output: Tensor) -> numpy.ndarray:
        part = output._replace(shape=output.extent, is_whole=True)
        return numpy.array(array_of(self._rank, part), order="C")

    def check_noise(self, what: str) -> None:
        """Refuses what should compute without noise, if the program has noise of the mode train() beside dropout."""
        if self.graph.noise:
            raise StepError(f"{what} leaves out dropout, but no other noise of the mode train(): {self.graph.noise}. "
                            "Write the noise with torch.nn.functional.dropout, or evaluate the module with PyTorch")

    def _not_between(self, what: str) -> None:
        if self._accumulated:
            raise StepError(f"{what} would overwrite the microbatches of a step, of which {self._accumulated} are "
                            "done: end the step first")

    def _feed(self, batch: Any, sharded: bool | None, program: str, first: int, count: int) -> Any:
        """Copies a batch into the inputs of these microbatches. Returns one of its tensors."""
        self._settle()
        tensors = self.graph.tensors_of(batch)
        self._feeder.feed(tensors, self.sharded if sharded is None else sharded, program, first, count)
        return next(iter(tensors.values()), None)

    # State

    @property
    def state(self) -> library.State:
        """This rank, its memory in bytes, and the number of steps done."""
        return self._rank.state()

    @property
    def steps(self) -> int:
        """Steps done since the first step of the job; `load` continues counting."""
        return self.state.step

    def save(self, directory: str | os.PathLike, keep: int = 0) -> str:
        """Saves everything to a directory that all ranks see, and returns the checkpoint's path.

        Keeps the newest `keep` checkpoints of this job; 0 keeps all. The training binaries read these files.
        """
        self._settle()
        return self._rank.save(os.fspath(directory), keep)

    def load(self, path: str | os.PathLike) -> None:
        """Restores everything from a checkpoint of any mesh, or from the newest one in a directory."""
        self._settle()
        self._rank.call("braid_load", os.fsencode(path))
        self._accumulated = 0
        if self._views:
            self._views.refresh()

    def load_weights(self, path: str | os.PathLike) -> None:
        """Reads the parameters alone, from a checkpoint or from safetensors of other programs."""
        self._settle()
        self._rank.call("braid_load_weights", os.fsencode(path))

    def state_dict(self, moments: bool = False) -> dict[str, Any]:
        """Returns copies of the parameters and updated buffers by name, and on demand of the moments (`w.exp_avg`).

        They are tensors of PyTorch for a module, and else of NumPy. Refused if this rank has only a part of a tensor:
        `full_state_dict` collects the parts.
        """
        self._settle()
        moment = [tensor for tensor in self._tensors if tensor.category == library.OPTIMIZER_STATE]
        wanted = {tensor.name: tensor for tensor in [*self._parameters(), *(moment if moments else ())]}.values()
        for tensor in wanted:
            if not tensor.is_whole:
                raise StepError(f"this rank has only a part of '{tensor.name}': use full_state_dict()")
        return {tensor.name: self._result(arrays.Values(self._rank.read(tensor), tensor.type)) for tensor in wanted}

    def full_state_dict(self, moments: bool = False, directory: str | os.PathLike | None = None) -> dict[str, Any]:
        """Returns the whole parameters by name on rank 0, and an empty dict on other ranks. All ranks must call it.

        The ranks save a checkpoint to a temporary folder, which rank 0 reads and removes. Without `directory` it lies
        in the folder of temporary files; ranks of several hosts need one that all of them see.
        """
        if self.model.ranks == 1:
            return self.state_dict(moments)
        name = f"braid-state-{_job_name()}-{self.steps}-{len(self._temporary)}"
        place = Path(directory or tempfile.gettempdir()) / name
        self._temporary.append(str(place))
        saved = self.save(place)
        if self.state.rank:
            return {}
        found = checkpoint.read(saved)
        shutil.rmtree(place, ignore_errors=True)
        names = {tensor.name for tensor in self._parameters()}
        return {name: self._result(values) for name, values in found.items() if moments or name in names}

    def _result(self, values: arrays.Values) -> Any:
        if self.graph.module is not None:
            return arrays.to_torch(values.array, values.type)
        return arrays.widened(values.array, values.type)

    # Looks

    @property
    def plan(self) -> Plan:
        """The memory plan: exact bytes of every tensor over the actions of a step; a page in notebooks."""
        return Plan(self.graph, self._words, self.model.plan)

    def __repr__(self) -> str:
        model = self.model
        if not self._rank.is_open:
            return f"<braid.Step {model.name}, closed>"
        state = self.state
        mesh = f", mesh {model.mesh}, rank {state.rank} of {state.ranks}" if model.ranks > 1 else ""
        microbatches = f", {model.microbatches} microbatches" if model.microbatches > 1 else ""
        inputs = ", ".join(f"{one.name}{list(one.shape)}" for one in self._feeder.inputs.values())
        return (f"<braid.Step {model.name}, {model.target}, {model.optimizer}{mesh}{microbatches}, inputs {inputs}, "
                f"{size_text(state.arena_bytes)}, {state.step} steps done>")

    # The end

    def close(self) -> None:
        """Frees the step's memory. The module's parameters get memory of their own, with their last values."""
        if not self._rank.is_open or os.getpid() != self._rank.pid:
            return
        if self._views:
            self._views.detach()
            self._views = None
        self._rank.destroy()

    def __enter__(self) -> Step:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _options(seed: int, options: dict[str, Any]) -> Options:
    """Returns braid_options. Texts become bytes."""
    known = {name for name, _ in Options._fields_} - {"version", "seed"}
    unknown = sorted(set(options) - known)
    if unknown:
        raise TypeError(f"unknown option {unknown[0]}; known are {', '.join(sorted(known))}")
    if not 0 < seed < 2**64:
        raise StepError(f"seed={seed}: a seed is a number from 1 to 2**64 - 1")
    encoded = {name: value.encode() if isinstance(value, str) else value for name, value in options.items()}
    return Options(seed=seed, **encoded)


_jobs = itertools.count()


def _next_job() -> str | None:
    """Returns the name of the next step's ranks at the rendezvous, or None for the runtime's own name of the job.

    Names of keys there are used once, so each step of a process has a name of its own. All ranks make the same steps in
    the same order, and so have the same number.
    """
    number = next(_jobs)
    names = ("TORCHELASTIC_RUN_ID", "TORCHELASTIC_RESTART_COUNT", "SLURM_JOB_ID", "SLURM_STEP_ID", "PMIX_NAMESPACE")
    return ".".join([*filter(None, map(os.environ.get, names)), f"step-{number}"]) if number else None


def _job_name() -> str:
    """Returns a name that the ranks of a job on this host share, and other jobs do not."""
    names = ("TORCHELASTIC_RUN_ID", "MASTER_PORT", "SLURM_JOB_ID", "PMIX_NAMESPACE")
    words = [os.environ.get(name, "") for name in names]
    return "-".join([str(os.getuid()), *("".join(c for c in word if c.isalnum()) for word in words if word)])



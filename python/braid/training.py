"""A training loop around a compiled step: progress, logs, checkpoints and a clean end."""

from __future__ import annotations

import contextlib
import json
import math
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any, TextIO

from . import checkpoint as checkpoints
from .compiling import compile as compile_step
from .errors import Error, StepError
from .step import Loss, Step

_LINES = 50  # progress lines of a run


class _Stop:
    """Notes SIGINT and SIGTERM while a step runs; a second one ends the program as usual.

    With several ranks a signal may reach some before others. The first one writes a file with the step after which all
    end, and the signal. No rank can be more than one step ahead of another, so all see it in time. Rank 0 removes the
    file of an earlier run before its first step, and the others look for one behind theirs.
    """

    def __init__(self, step: Step, directory: str | None):
        self.step, self.signal, self._saved = step, 0, {}
        self._file = Path(directory, ".stop") if directory and step.model.ranks > 1 else None
        self._first = step.steps

    def __enter__(self) -> _Stop:
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM):
                if signal.getsignal(number) != signal.SIG_IGN:  # as in a job in the background
                    self._saved[number] = signal.signal(number, self._note)
        self._remove()
        return self

    def __exit__(self, *_: object) -> None:
        self._restore()
        self._remove()

    def _remove(self) -> None:
        if self._file and self.step.state.rank == 0:
            self._file.unlink(missing_ok=True)

    def _restore(self) -> None:
        for number, handler in self._saved.items():
            signal.signal(number, handler)
        self._saved = {}

    def _note(self, number: int, _: FrameType | None) -> None:
        self.signal = number
        self._restore()

    def is_due(self) -> bool:
        """Returns whether the run ends before the next step."""
        if self.step.model.ranks == 1:
            return bool(self.signal)
        done = self.step.steps
        if not self._file or done == self._first:
            return False
        if self.signal and not self._file.exists():
            self._file.parent.mkdir(parents=True, exist_ok=True)
            unfinished = self._file.with_suffix(f".{os.getpid()}")
            unfinished.write_text(f"{done + 1} {self.signal}")
            with contextlib.suppress(FileExistsError):  # another rank was first
                os.link(unfinished, self._file)
            unfinished.unlink()
        if not self._file.exists():
            return False
        last, number = map(int, self._file.read_text().split())
        if done < last:
            return False
        self.signal = self.signal or number
        return True


class _Log:
    """JSON lines of a run, as the training binaries write them, by rank 0 alone."""

    def __init__(self, path: str | os.PathLike | None, done: int):
        self.file: TextIO | None = None
        if path is None:
            return
        kept = []
        if os.path.exists(path):
            if not done:
                raise Error(f"the log '{path}' exists: remove it, or resume its run")
            for number, line in enumerate(Path(path).read_text(errors="replace").splitlines(), 1):
                try:
                    step = json.loads(line)["step"]
                except (ValueError, KeyError, TypeError):
                    raise Error(f"line {number} of '{path}' is not of a log; remove the file, or name "
                                "another") from None
                if step <= done:
                    kept.append(line + "\n")
        self.file = open(path, "w", encoding="utf-8")
        self.file.writelines(kept)

    def write(self, **entry: Any) -> None:
        if self.file:
            self.file.write(json.dumps(entry) + "\n")
            self.file.flush()

    def close(self) -> None:
        if self.file:
            self.file.close()


def _batches(dataset: Any, skip: int) -> Iterator[Any]:
    """Yields batches, again from the start at the end of the dataset, without the first `skip` of them."""
    number = 0
    while True:
        before = number
        for batch in dataset:
            number += 1
            if number > skip:
                yield batch
        if number == before or iter(dataset) is dataset:
            return  # empty, or an iterator that has ended


def _progress(loss: Loss, steps: int, lr: float, seconds: float) -> str:
    norm = "" if math.isnan(loss.grad_norm) else f"  norm {loss.grad_norm:.3g}"
    left = (steps - loss.step) * seconds
    return (f"step {loss.step}/{steps}  loss {loss:.4f}{norm}  lr {lr:.2e}  {seconds * 1e3:.4g} ms/step  "
            f"{f'{left / 60:.0f}m' if left >= 90 else f'{left:.0f}s'} left")


def _begin(step: Step, checkpoint: str | None, resume: bool) -> None:
    """Loads the newest checkpoint, or refuses a directory that has one."""
    if not checkpoint:
        if resume:
            raise Error("resume=True needs checkpoint=, the directory of the checkpoints")
        return
    found = any(not path.name.endswith(".tmp") for path in Path(checkpoint).glob("step-*"))
    if found and not resume:
        raise Error(f"there are checkpoints in '{checkpoint}': resume=True continues from "
                    f"{checkpoints.newest(checkpoint)}; another directory begins a new run")
    if found:
        step.load(checkpoint)


def train(model: Any, dataset: Iterable[Any], *, steps: int, lr: float | Callable[[int], float],
          checkpoint: str | os.PathLike | None = None, save_every: int = 0, keep: int = 0, resume: bool = False,
          log: str | os.PathLike | None = None, evaluate: Iterable[Any] | None = None, evaluate_every: int = 0,
          quiet: bool = False, **options: Any) -> Step:
    """Trains a model, and returns its step.

    - `model`: a torch.nn.Module, which is compiled for the first batch with `options` as for `compile`; or a Step.
    - `dataset`: batches; begins again at its end, except an iterator, at whose end training ends.
    - `steps`: number of the last step. `lr`: a learning rate, or a function of the step's number, from 1.
    - `checkpoint`: directory for checkpoints, at the end and every `save_every` steps, of which the newest `keep` stay
      (0: all). `resume` continues from the newest one, if there is one: the batches of its steps are skipped.
    - `log`: file of JSON lines with step, loss, grad_norm, lr and seconds, which scripts/plot draws.
    - `evaluate`: batches of one microbatch whose mean loss is computed every `evaluate_every` steps and at the end.
    - `quiet`: no progress lines on standard error.

    Ctrl-C and SIGTERM end it after the step, with a checkpoint, and then raise KeyboardInterrupt or SystemExit. A loss
    that is no finite number raises StepError, and nothing is saved. A step that was compiled here is closed then.
    """
    place = None if checkpoint is None else os.fspath(checkpoint)
    step = model if isinstance(model, Step) else compile_step(model, next(iter(_replayable(dataset))), **options)
    try:
        _run(step, dataset, steps, lr if callable(lr) else lambda _: lr, place, resume, log,
             _Tasks(step, place, save_every, keep, evaluate, evaluate_every, quiet))
    except BaseException:
        if step is not model:
            step.close()
        raise
    return step


def _run(step: Step, dataset: Iterable[Any], steps: int, rate: Callable[[int], float], place: str | None, resume: bool,
         log: str | os.PathLike | None, tasks: _Tasks) -> None:
    _begin(step, place, resume)
    writer = _Log(log if step.state.rank == 0 else None, step.steps)
    try:
        with _Stop(step, place) as stop:
            _loop(step, dataset, steps, rate, stop, writer, tasks)
    finally:
        writer.close()
    if stop.signal == signal.SIGINT:
        raise KeyboardInterrupt
    if stop.signal:
        raise SystemExit(128 + stop.signal)


def _replayable(dataset: Iterable[Any]) -> Iterable[Any]:
    if iter(dataset) is dataset:
        raise Error("the dataset is an iterator, whose first batch would be lost: compile the step first, and give it "
                    "instead of the model")
    return dataset


class _Tasks:
    """Evaluations, checkpoints and lines between steps."""

    def __init__(self, step: Step, place: str | None, save_every: int, keep: int, evaluate: Iterable[Any] | None,
                 evaluate_every: int, quiet: bool):
        self.step, self.place, self.save_every, self.keep = step, place, save_every, keep
        self.evaluate, self.evaluate_every, self.quiet = evaluate, evaluate_every, quiet or step.state.rank > 0
        self.saved = -1
        if evaluate is not None:
            step.check_noise("evaluate")

    def say(self, text: str) -> None:
        if not self.quiet:
            print(text, file=sys.stderr, flush=True)

    def save(self) -> None:
        if self.place and self.saved != self.step.steps:
            self.saved = self.step.steps
            self.say(f"saved {self.step.save(self.place, self.keep)}")

    def run_evaluation(self, number: int, log: _Log) -> None:
        if self.evaluate is None:
            return
        losses = [self.step.evaluate(batch) for batch in self.evaluate]
        mean = sum(losses) / max(len(losses), 1)
        log.write(step=number, eval_loss=mean)
        self.say(f"step {number}  held-out loss {mean:.4f}")


def _loop(step: Step, dataset: Iterable[Any], steps: int, rate: Callable[[int], float], stop: _Stop, log: _Log,
          tasks: _Tasks) -> None:
    number = step.steps
    feed = _batches(dataset, number)
    while number < steps and not stop.is_due():
        batch = next(feed, None)
        if batch is None:
            tasks.say(f"the dataset ended after {number} steps")
            break
        start, lr = time.monotonic(), rate(number + 1)
        loss = step(batch, lr)
        seconds, number = time.monotonic() - start, loss.step
        if not math.isfinite(loss):
            raise StepError(f"the loss of step {number} is {float(loss)}; nothing was saved")
        norm = {} if math.isnan(loss.grad_norm) else {"grad_norm": loss.grad_norm}
        log.write(step=number, loss=float(loss), **norm, **loss.scalars, lr=lr, seconds=seconds)
        if number == steps or number % max(1, steps // _LINES) == 0 or number == 1:
            tasks.say(_progress(loss, steps, lr, seconds))
        if tasks.evaluate_every and number % tasks.evaluate_every == 0 and number < steps:
            tasks.run_evaluation(number, log)
        if tasks.save_every and number % tasks.save_every == 0:
            tasks.save()
    if not stop.signal:
        tasks.run_evaluation(number, log)
    tasks.save()

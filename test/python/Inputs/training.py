#!/usr/bin/env python3
"""braid.train: logs, checkpoints, evaluation, resuming, and a clean end on Ctrl-C. usage: training.py FOLDER"""

import contextlib
import io
import json
import os
import signal
import sys
from pathlib import Path

import torch

import braid
import models


def entries(path):
    return [json.loads(line) for line in Path(path).read_text().splitlines()]


def refused(text, *arguments, **options):
    try:
        braid.train(*arguments, **options)
    except braid.Error as error:
        assert text in str(error), error
    else:
        raise AssertionError(f"not refused: {text}")


class Interrupts:
    """Batches, of which one is behind a Ctrl-C."""

    def __init__(self, batches, at):
        self.batches, self.at = batches, at

    def __iter__(self):
        for number, batch in enumerate(self.batches, 1):
            if number == self.at:
                os.kill(os.getpid(), signal.SIGINT)
            yield batch


def main():
    signal.signal(signal.SIGINT, signal.default_int_handler)  # lit ignores it
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True)
    batches = models.mixer_batches(6)
    common = {"steps": 12, "lr": lambda step: 1e-2 / step, "loss": models.mixer_loss, "evaluate": batches[:2]}

    def model():
        torch.manual_seed(0)
        return models.Mixer(dropout=0.2).train()

    lines = io.StringIO()
    with contextlib.redirect_stderr(lines):
        step = braid.train(model(), batches, checkpoint=folder / "whole", save_every=4, keep=2, log=folder / "whole.jsonl",
                           evaluate_every=6, **common)
    step.close()
    log = entries(folder / "whole.jsonl")
    assert [entry["step"] for entry in log if "loss" in entry] == list(range(1, 13))
    assert [entry["step"] for entry in log if "eval_loss" in entry] == [6, 12]
    assert sorted(path.name for path in (folder / "whole").glob("step-*")) == [
        "step-00000008.safetensors", "step-00000012.safetensors"]
    assert "step 12/12  loss " in lines.getvalue() and "saved " in lines.getvalue()
    print("12 steps, 2 evaluations, 2 checkpoints")
    try:
        braid.train(model(), Interrupts(batches, 5), checkpoint=folder / "part", log=folder / "part.jsonl", quiet=True, **common)
    except KeyboardInterrupt:
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    else:
        raise AssertionError("not interrupted")
    done = [entry for entry in entries(folder / "part.jsonl") if "loss" in entry]
    assert [entry["step"] for entry in done] == [1, 2, 3, 4, 5]
    refused("resume=True continues from", model(), batches, checkpoint=folder / "part", quiet=True, **common)
    step = braid.train(model(), batches, checkpoint=folder / "part", log=folder / "part.jsonl", resume=True, quiet=True,
                       **common)
    losses = [[entry["loss"] for entry in entries(folder / name) if "loss" in entry] for name in ("whole.jsonl", "part.jsonl")]
    assert losses[0] == losses[1], losses
    print("a run that was interrupted has the same losses")
    step.close()
    refused("exists: remove it", model(), batches, log=folder / "part.jsonl", quiet=True, **common)
    refused("whose first batch would be lost", model(), iter(batches), quiet=True, **common)
    refused("resume=True needs checkpoint=", model(), batches, resume=True, quiet=True, **common)
    refused("the loss of step 2 is nan", model(), batches, quiet=True, checkpoint=folder / "nan",
            **{**common, "lr": 1e38})
    assert not list((folder / "nan").glob("step-*"))
    step = braid.compile(model(), batches[0], loss=models.mixer_loss)
    braid.train(step, iter(batches), steps=12, lr=1e-2, quiet=True)
    assert step.steps == 6
    print("wrong runs are refused")


main()

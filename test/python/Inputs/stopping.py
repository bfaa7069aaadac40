#!/usr/bin/env python3
"""A SIGTERM that reaches one of two ranks ends both after the same step, with a checkpoint.

usage: torchrun ... stopping.py FOLDER
"""

import os
import signal
import sys

import torch

import braid
import models

RANK = int(os.environ["RANK"])


class Batches:
    """Batches of this rank, of which rank 1 gets a SIGTERM with the fourth."""

    def __iter__(self):
        for number, (x, y) in enumerate(models.mixer_batches(50), 1):
            if RANK == 1 and number == 4:
                os.kill(os.getpid(), signal.SIGTERM)
            yield x[2 * RANK:2 * RANK + 2], y[2 * RANK:2 * RANK + 2]


def main():
    torch.manual_seed(0)
    held_out = [tuple(tensor[:2] for tensor in models.mixer_batches(1)[0])]
    step = braid.compile(models.Mixer(), next(iter(Batches())), loss=models.mixer_loss, mesh="dp=2", zero=1)
    try:
        braid.train(step, Batches(), steps=50, lr=1e-3, checkpoint=sys.argv[1], evaluate=held_out, quiet=True)
    except SystemExit as error:
        assert error.code == 128 + signal.SIGTERM
    else:
        raise AssertionError(f"rank {RANK} did not end")
    steps = step.steps
    step.close()
    if RANK == 0:
        assert sorted(os.listdir(sys.argv[1])) == [f"step-{steps:08}"], os.listdir(sys.argv[1])
        print(f"both ranks end after step {steps}")


main()

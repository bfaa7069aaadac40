#!/usr/bin/env python3
"""A DataLoader with worker processes feeds a step; processes that are forked from a step's owner cannot harm it."""

import os
import signal

import torch
from torch.utils.data import DataLoader, TensorDataset

import braid
import models


def train_in_child(batches):
    """A forked process compiles and trains a step of its own; one that waits forever ends after a minute."""
    child = os.fork()
    if not child:
        signal.alarm(60)
        model, _, loss, _ = models.make("mixer")
        own = braid.compile(model, batches[0], loss=loss)
        os._exit(0 if own(batches[0], lr=1e-2).step == 1 else 1)
    assert os.waitpid(child, 0)[1] == 0


def main():
    batches = models.mixer_batches(8)
    dataset = TensorDataset(torch.cat([x for x, _ in batches]), torch.cat([y for _, y in batches]))
    model, _, loss, _ = models.make("mixer")
    loader = DataLoader(dataset, batch_size=models.BATCH, num_workers=2, multiprocessing_context="fork")
    step = braid.compile(model, batches[0], loss=loss)
    losses = [float(step(batch, lr=1e-2)) for _ in range(2) for batch in loader]
    assert len(losses) == 16 and sum(losses[8:]) < sum(losses[:8])
    child = os.fork()
    if not child:
        try:
            step(batches[0], lr=1e-2)
        except braid.StepError as error:
            step.close()
            del step
            os._exit(0 if "forked" in str(error) else 1)
        os._exit(1)
    assert os.waitpid(child, 0)[1] == 0
    train_in_child(batches)
    assert step((batches[0]), lr=1e-2).step == 17
    weights = model.head.weight
    del step, model
    # The memory lives as long as a parameter in it.
    assert torch.isfinite(weights.sum())
    print("17 steps with workers")


main()

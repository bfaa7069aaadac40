#!/usr/bin/env python3
"""A run that is saved and resumed has the bits of one that was not, and a checkpoint's whole tensors are the step's.

usage: resume.py FOLDER
"""

import sys

import torch

import braid
import models
from braid import checkpoint


def run(step, batches):
    return [float(step(batch, lr=1e-2)) for batch in batches]


def main():
    folder = sys.argv[1]
    options = {"loss": models.mixer_loss, "weight_decay": 0.1, "seed": 7, "clip": 1.0}
    _, batches, _, _ = models.make("mixer")

    def compiled(seed):
        torch.manual_seed(seed)
        return braid.compile(models.Mixer(dropout=0.3).train(), batches[0], **options)

    with compiled(0) as whole:
        losses = run(whole, batches)
        final = whole.state_dict(moments=True)
    with compiled(0) as first:
        assert run(first, batches[:4]) == losses[:4]
        path = first.save(folder)
        saved = first.state_dict(moments=True)
    read = checkpoint.read(folder)
    assert set(saved) <= set(read) and all((saved[name].numpy() == read[name].array).all() for name in saved)
    with compiled(1) as second:
        second.load(folder)
        assert second.steps == 4 and run(second, batches[4:]) == losses[4:]
        state = second.state_dict(moments=True)
        assert all(torch.equal(state[name], final[name]) for name in final)
    with compiled(2) as third:
        third.load_weights(path)
        assert third.steps == 0 and torch.equal(third.state_dict()["head.weight"], saved["head.weight"])
    print(f"{len(losses)} losses and {len(final)} tensors have the same bits")


main()

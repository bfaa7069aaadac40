#!/usr/bin/env python3
"""Ranks under torchrun compute what one rank computes: usage: torchrun ... ranks.py one|FOLDER [NAME=VALUE of compile...]

With "one" as the first word it prints the losses of one rank; otherwise they are compared with those in FOLDER.
"""

import json
import os
import sys
from pathlib import Path

import torch

import braid
import models


def own(batch, is_shared):
    """Returns this rank's rows. Ranks that share rows have all of them."""
    if is_shared:
        return batch
    rank, size = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    rows = models.BATCH // size
    return tuple(tensor[rank * rows:(rank + 1) * rows] for tensor in batch)


def run(step, batches, **options):
    losses = [float(step(batch, lr=1e-2, **options)) for batch in batches]
    state = step.full_state_dict(moments=True)
    return {"losses": losses, "state": {name: value.flatten().tolist() for name, value in state.items()}}


def outputs_of(step, batch):
    return {name: value.flatten().tolist() for name, value in step.forward(batch, sharded=False).items()}


def close(found, wanted):
    return all(abs(a - b) <= 1e-5 * max(map(abs, wanted)) + 1e-7 for a, b in zip(found, wanted)) and len(found) == len(wanted)


def again_after(step, model, batch, mesh, common):
    """A second step of the job begins where the first one is, before and after the end of the first."""
    loss = step.evaluate(batch)
    for close_first in (False, True):
        if close_first:
            step.close()
        with braid.compile(model, batch, mesh=mesh, **common) as other:
            assert other.state.ranks == torch.distributed.get_world_size()
            started = other.evaluate(batch)
            assert abs(other(batch, lr=1e-2) - started) < 1e-5
        if not close_first:
            assert abs(step.evaluate(batch) - loss) < 1e-6


def main():
    folder, *words = sys.argv[1:]
    options = dict(word.partition("=")[::2] for word in words)
    mesh = options.pop("mesh", None)
    model, batches, loss, _ = models.make("mixer")
    common = {"loss": loss, "weight_decay": 0.1, "eps": 1e-3, "forward": True}
    if mesh is None:
        with braid.compile(model, batches[0], **common) as step:
            found = run(step, batches)
            Path(folder).write_text(json.dumps(found | {"outputs": outputs_of(step, batches[0])}))
        return
    is_shared = "dp" not in mesh
    zero = int(options["zero"]) if "zero" in options else None
    # Parameters are those of every rank; a process group of PyTorch may exist beside it.
    torch.distributed.init_process_group("gloo")
    step = braid.compile(model, own(batches[0], is_shared), mesh=mesh, zero=zero, **common)
    assert step.state.ranks == torch.distributed.get_world_size()
    found = run(step, [own(batch, is_shared) for batch in batches[:5]])["losses"]
    rest = run(step, batches[5:], sharded=False)
    rank = step.state.rank
    evaluated = step.evaluate(batches[0], sharded=False)
    outputs = outputs_of(step, batches[0])
    if not is_shared:
        try:
            step.forward(own(batches[0], is_shared))
        except braid.StepError as error:
            assert "give the rows of all ranks" in str(error), error
        else:
            raise AssertionError("outputs of a part of the batch")
    again_after(step, model, own(batches[0], is_shared), mesh, common)
    torch.distributed.barrier()
    torch.distributed.destroy_process_group()
    if rank:
        assert not rest["state"]
        return
    wanted = json.loads(Path(folder).read_text())
    assert close(found + rest["losses"], wanted["losses"]), (found + rest["losses"], wanted["losses"])
    assert all(close(outputs[name], values) for name, values in wanted["outputs"].items()), (outputs, wanted["outputs"])
    assert set(rest["state"]) >= set(wanted["state"])
    for name, values in wanted["state"].items():
        assert close(rest["state"][name], values), name
    print(f"{len(wanted['losses'])} losses and {len(wanted['state'])} tensors of {mesh} agree, evaluated {evaluated:.4f}")


main()

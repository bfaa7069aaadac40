#!/usr/bin/env python3
"""Ten steps of a compiled model and of PyTorch: usage: steps.py mixer|gpt2|llama"""

import copy
import sys

import torch

import braid
import models


def main():
    model, batches, loss, eager = models.make(sys.argv[1])
    reference = copy.deepcopy(model)
    optimizer = torch.optim.AdamW(reference.parameters(), lr=1e-2, betas=(0.9, 0.95), eps=1e-3, weight_decay=0.1)
    before = {name: parameter.data_ptr() for name, parameter in model.named_parameters()}
    tied = [name for name, _ in model.named_parameters(remove_duplicate=False)]
    step = braid.compile(model, batches[0], loss=loss, betas=(0.9, 0.95), eps=1e-3, weight_decay=0.1)
    for batch in batches:
        found, wanted = step(batch, lr=1e-2), eager(reference, batch)
        assert abs(found - wanted.item()) <= 1e-5 * abs(wanted.item()), (found.step, float(found), wanted.item())
        optimizer.zero_grad()
        wanted.backward()
        optimizer.step()
    print(f"{step.steps} losses agree")
    wanted = dict(reference.named_parameters())
    for name, parameter in model.named_parameters():
        assert models.same(parameter.detach(), wanted[name].detach()), name
        assert parameter.data_ptr() != before[name], name
    print(f"{len(wanted)} parameters agree, {len(tied)} names")
    state = step.state_dict()
    assert all(torch.equal(state[name], model.state_dict()[name]) for name in state)
    # A change from outside is seen by the step, and PyTorch computes with the step's parameters.
    model.load_state_dict(reference.state_dict())
    step.parameters_changed()
    model.eval()
    with torch.no_grad():
        assert abs(step.evaluate(batches[0]) - eager(model, batches[0]).item()) < 1e-5
    step.close()
    assert all(models.same(parameter.detach(), wanted[name].detach(), 0) for name, parameter in model.named_parameters())
    print("memory is shared, and given back")


main()

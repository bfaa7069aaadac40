#!/usr/bin/env python3
"""Modules with several names, and memory that a module no longer shares with a step."""

import copy

import torch
from torch import nn

import braid


class Pair(nn.Module):
    """One network under two names."""

    def __init__(self):
        super().__init__()
        self.enc = nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4))
        self.dec = self.enc

    def forward(self, x):
        return self.dec(self.enc(x).tanh())


class Stack(nn.Module):
    """One layer three times, of which the program names the last; a bias that another module owns, too."""

    def __init__(self):
        super().__init__()
        layer = nn.Linear(4, 4)
        self.layers, self.last = nn.ModuleList([layer] * 3), nn.Linear(4, 4)
        self.last.bias = layer.bias

    def forward(self, x):
        for layer in reversed(self.layers):
            x = layer(x).relu()
        return self.last(x)


class Counted(nn.Module):
    """A buffer of a module with two names, in another type than the step's."""

    def __init__(self):
        super().__init__()
        self.one = self.two = nn.BatchNorm1d(4)
        self.linear = nn.Linear(4, 4)

    def forward(self, x):
        return self.two(self.linear(x))


def sequential():
    layer = nn.Linear(4, 4)
    return nn.Sequential(layer, nn.Tanh(), layer)


def compare(make, on_meta=False):
    """Five steps of AdamW give PyTorch's parameters and buffers, which stay shared."""
    torch.manual_seed(0)
    model, x, y = make().train(), torch.randn(8, 4), torch.randn(8, 4)
    reference = copy.deepcopy(model)
    optimizer = torch.optim.AdamW(reference.parameters(), lr=1e-2, eps=1e-3, weight_decay=0.01)
    if on_meta:
        values = model.state_dict()
        model.to("meta")
    step = braid.compile(model, (x, y), loss="mse", eps=1e-3, weight_decay=0.01)
    if on_meta:
        model.load_state_dict(values)
        step.parameters_changed()
    for _ in range(5):
        optimizer.zero_grad()
        wanted = nn.functional.mse_loss(reference(x), y)
        wanted.backward()
        optimizer.step()
        assert abs(step((x, y), lr=1e-2) - wanted.item()) < 1e-5
    for _ in range(2):
        for (name, ours), theirs in zip(model.state_dict().items(), reference.state_dict().values()):
            assert torch.allclose(ours, theirs, atol=1e-5), (name, ours, theirs)
        assert len(list(model.parameters())) == len(list(reference.parameters()))
        step.close()


def refused(text, call, *arguments, **options):
    try:
        call(*arguments, **options)
    except braid.StepError as error:
        assert text in str(error), error
    else:
        raise AssertionError(f"not refused: {text}")


def lost():
    """A step whose module has other memory by now is refused, and its end leaves the module alone."""
    torch.manual_seed(0)
    x, y = torch.randn(8, 4), torch.randn(8, 4)
    changes = {"a later compilation": lambda model: braid.compile(model, (x, y), loss="mse"),
               "assign": lambda model: model.load_state_dict(copy.deepcopy(model.state_dict()), assign=True),
               "model.to": lambda model: model.double()}
    for text, change in changes.items():
        model = nn.Linear(4, 4)
        step = braid.compile(model, (x, y), loss="mse")
        step((x, y), lr=0.1)
        later = change(model)
        for call in (lambda: step((x, y), lr=0.1), lambda: step.evaluate((x, y)), step.state_dict,
                     step.parameters_changed, lambda: step.save("nowhere")):
            refused("'weight' of the module is no longer the memory of this step", call)
            refused(text, call)
        address = model.weight.data_ptr()
        step.close()
        assert model.weight.data_ptr() == address
        if isinstance(later, braid.Step):
            before = model.weight.clone()
            later((x, y), lr=0.1)
            assert not torch.equal(before, model.weight)


def main():
    for make in (Pair, Stack, Counted, sequential):
        compare(make)
    compare(sequential, on_meta=True)
    print("4 modules with several names agree")
    lost()
    print("lost memory is noticed")


main()

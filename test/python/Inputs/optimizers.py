#!/usr/bin/env python3
"""Optimizers of torch.optim: their settings, groups and schedules give PyTorch's parameters; others are refused."""

import copy

import torch

import braid
import models


def compare(name, make, rates=None):
    model, batches, loss, eager = models.make("mixer")
    reference = copy.deepcopy(model)
    source, optimizer = make(model), make(reference)
    step = braid.compile(model, batches[0], loss=loss, optimizer=source)
    schedulers = [torch.optim.lr_scheduler.LinearLR(one, 1.0, 0.1, 5) for one in (source, optimizer)] if rates else []
    source.step()  # schedulers of PyTorch want to follow it; without gradients it does nothing
    for batch in batches[:6]:
        found, wanted = step(batch), eager(reference, batch)
        optimizer.zero_grad()
        wanted.backward()
        optimizer.step()
        assert abs(found - wanted.item()) < 1e-5, (name, float(found), wanted.item())
        for scheduler in schedulers:
            scheduler.step()
    for (key, a), (_, b) in zip(model.named_parameters(), reference.named_parameters()):
        assert models.same(a.detach(), b.detach()), (name, key)
    print(f"{name} agrees")


def groups(model):
    decayed = [p for p in model.parameters() if p.dim() > 1]
    others = [p for p in model.parameters() if p.dim() <= 1]
    return [{"params": decayed, "weight_decay": 0.5}, {"params": others, "weight_decay": 0.0}]


def refuse(text, make, **options):
    model, batches, loss, _ = models.make("mixer")
    try:
        braid.compile(model, batches[0], loss=loss, optimizer=make(model), **options)
    except braid.CompileError as error:
        assert text in str(error), error
    else:
        raise AssertionError(f"not refused: {text}")


def some(model):
    return [{"params": [model.down.weight], "weight_decay": 0.1},
            {"params": [p for p in model.parameters() if p is not model.down.weight], "weight_decay": 0.0}]


class AdamW(torch.optim.AdamW):
    """A subclass, which may compute anything."""


def changes():
    """A setting that changes behind the compilation is refused by name; the learning rate may change."""
    model, batches, loss, _ = models.make("mixer")
    optimizer = torch.optim.AdamW(groups(model), lr=1e-2)
    step = braid.compile(model, batches[0], loss=loss, optimizer=optimizer)
    for name, value in (("weight_decay", 0.3), ("betas", (0.5, 0.9)), ("eps", 1e-2), ("amsgrad", True)):
        for group in (optimizer.param_groups[1], optimizer.param_groups[0]):
            before, group[name] = group[name], value
            for options in ({}, {"lr": 1e-2}):
                try:
                    step(batches[0], **options)
                except braid.StepError as error:
                    assert f"the optimizer has {name}={value}" in str(error), error
                else:
                    raise AssertionError(f"a change of {name}")
            group[name] = before
    optimizer.param_groups[0]["foreach"] = False
    for group in optimizer.param_groups:
        group["lr"] = 1e-3
    assert step(batches[0]).step == 1
    print("changes of settings are refused")


def main():
    optim = torch.optim
    compare("AdamW", lambda m: optim.AdamW(m.parameters(), lr=1e-2, betas=(0.8, 0.95), eps=1e-3, weight_decay=0.1))
    compare("AdamW with groups and a schedule", lambda m: optim.AdamW(groups(m), lr=1e-2, eps=1e-3), rates=True)
    compare("Adam", lambda m: optim.Adam(m.parameters(), lr=1e-2, eps=1e-3))
    compare("SGD", lambda m: optim.SGD(m.parameters(), lr=1e-1, weight_decay=0.01))
    compare("momentum", lambda m: optim.SGD(m.parameters(), lr=1e-2, momentum=0.9))
    compare("Nesterov", lambda m: optim.SGD(m.parameters(), lr=1e-2, momentum=0.9, nesterov=True))
    compare("Adam with decay", lambda m: optim.Adam(m.parameters(), lr=1e-2, eps=1e-3, weight_decay=0.5))
    compare("Adam with decoupled decay",
            lambda m: optim.Adam(m.parameters(), lr=1e-2, eps=1e-3, weight_decay=0.5, decoupled_weight_decay=True))
    compare("momentum with decay", lambda m: optim.SGD(m.parameters(), lr=1e-2, momentum=0.9, weight_decay=0.5))
    compare("Nesterov with decay and groups", lambda m: optim.SGD(groups(m), lr=1e-2, momentum=0.9, nesterov=True))
    changes()
    refuse("amsgrad=True", lambda m: optim.AdamW(m.parameters(), amsgrad=True))
    refuse("dampening", lambda m: optim.SGD(m.parameters(), momentum=0.9, dampening=0.1))
    refuse("type torch.optim.rmsprop.RMSprop", lambda m: optim.RMSprop(m.parameters()))
    refuse("type torch.optim.adagrad.Adagrad", lambda m: optim.Adagrad(m.parameters()))
    refuse("type __main__.AdamW", lambda m: AdamW(m.parameters()))
    refuse("different values of lr", lambda m: optim.AdamW([{"params": [m.down.weight], "lr": 0.1},
                                                            {"params": [m.up.weight]}], lr=0.2))
    refuse("does not have the parameters across.bias", lambda m: optim.AdamW([m.down.weight]))
    refuse("not for single parameters", lambda m: optim.AdamW(some(m)))
    refuse("leave out betas", lambda m: optim.AdamW(m.parameters()), betas=(0.9, 0.95))
    refuse("known are adamw", lambda m: "rmsprop")
    refuse("has no hyperparameter 'beta9'", lambda m: "adamw", beta9=1)
    print("others are refused")


main()

#!/usr/bin/env python3
"""Models that cannot be compiled: the exception has the line of the source and the path of the module."""

import torch
from torch import nn

import braid
import models


class Sorts(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(8, 8)

    def forward(self, x):
        return torch.sort(self.linear(x))[0].sum()  # sorts


class Branches(Sorts):
    def forward(self, x):
        y = self.linear(x)
        if y.sum() > 0:  # branches
            y = y + 1
        return y.sum()


class Selects(Sorts):
    def forward(self, x):
        return self.linear(x)[x > 0].mean()  # selects


class Repeats(Sorts):
    def forward(self, x):
        return self.linear(x).repeat_interleave((x[:, 0, 0] > 0).long() + 1, 0).mean()  # repeats


class Derives(Sorts):
    def forward(self, x):
        slope = torch.func.grad(lambda w: (x.sum(0) @ w).square().sum())(self.linear.weight)  # derives
        return self.linear(x).mean() + slope.mean()


class Counts(Sorts):
    def forward(self, x):
        return self.linear(x).mean() * x.sum().item()  # counts


class Chooses(Sorts):
    def forward(self, x):
        return torch.cond(x.sum() > 0, torch.sin, torch.cos, (self.linear(x),)).mean()


class Wraps(nn.Module):
    def __init__(self, inner):
        super().__init__()
        self.h = nn.ModuleList([inner])

    def forward(self, x):
        return self.h[0](x)


def line_of(mark):
    with open(__file__) as file:
        return next(number for number, line in enumerate(file, 1) if line.rstrip().endswith(f"# {mark}"))


def raised(model, batch, **options):
    try:
        braid.compile(model, batch, **options)
    except braid.CompileError as error:
        return error
    raise AssertionError("not refused")


def bad_loss(output, batch):
    return torch.sort(output)[0].sum()  # loss


def main():
    x, y = models.mixer_batches(1)[0]
    for model, mark, module in ((Sorts(), "sorts", None), (Wraps(Sorts()), "sorts", "h.0"), (Branches(), "branches", None)):
        error = raised(model, x)
        assert (error.file, error.line, error.module) == (__file__, line_of(mark), module), (error, error.file, error.line)
        assert f"{__file__}:{error.line}: error: " in str(error)
    error = raised(models.Mixer(), (x, y), loss=bad_loss)
    assert (error.file, error.line) == (__file__, line_of("loss")), error
    for model, mark, text in ((Selects(), "selects", "depends on values"), (Repeats(), "repeats", "depends on values"),
                              (Counts(), "counts", "keep it a tensor"),
                              (Derives(), "derives", "torch.func.grad in forward")):
        error = raised(model, x)
        assert (error.file, error.line) == (__file__, line_of(mark)) and text in str(error), (error, error.line)
        error = raised(Wraps(model), x)
        assert error.module == "h.0" and "model.pt2" not in str(error), error
    double = nn.Sequential(nn.Linear(8, 8)).double()
    error = raised(double, (x.double(), x.double()), loss="mse")
    assert error.file is None and "elements of type 'f64'" in str(error), error
    assert "model.pt2" not in str(raised(Chooses(), x))
    print("8 errors have their lines, and none has one of this package")
    for text, options in (("known are cross_entropy, mse, bce", {"loss": "hinge"}), ("forward takes 1 arguments, and the batch has 2", {}),
                          ("take its mean", {"loss": lambda output, batch: output}),
                          ("labels have shape [4, 5]; these have [4]", {"loss": "mse"}),
                          ("--zero", {"loss": "cross_entropy", "zero": 7, "mesh": "dp=2"}),
                          ("error: the plan needs", {"loss": "cross_entropy", "options": ["--memory-limit=1000"]}),
                          ("unknown option", {"loss": "cross_entropy", "options": ["--speed"]})):
        error = raised(models.Mixer(), (x, y), **options)
        assert text in str(error), error
    try:
        braid.fit(models.Mixer(), (x, y), loss="cross_entropy", gpu="h300")
        raise AssertionError("a card that does not exist")
    except braid.CompileError as error:
        assert "unknown GPU 'h300'; cards: a100, " in str(error), error
    module = nn.parallel.DataParallel(models.Mixer())
    assert "give the module itself" in str(raised(module, (x, y)))
    assert "the model returns no loss" in str(raised(models.Mixer(), x))
    print("9 options are refused")


main()

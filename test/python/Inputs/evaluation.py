#!/usr/bin/env python3
"""Evaluation leaves out dropout, and is refused where the module draws other noise in training alone."""

import torch
from torch import nn
from torch.nn import functional

import braid


class Net(nn.Module):
    def __init__(self, function):
        super().__init__()
        self.first, self.last, self.function = nn.Linear(4, 8), nn.Linear(8, 1), function

    def forward(self, x):
        output = self.last(self.function(self, self.first(x)))  # noise
        return output.square().mean(), output


def noisy(module, x):
    return x + torch.randn_like(x) if module.training else x


def jittered(module, x):
    return x * (1 + 0.1 * torch.rand_like(x) if module.training else torch.ones_like(x))


def always(module, x):
    """Noise of both modes, such as that of a variational autoencoder."""
    return x + torch.randn_like(x)


def dropped(module, x):
    x = functional.dropout2d(functional.dropout(x, 0.5, module.training)[..., None], 0.3, module.training)[..., 0]
    return functional.scaled_dot_product_attention(x[None], x[None], x[None], dropout_p=0.2 * module.training)[0]


class Alpha(nn.FeatureAlphaDropout):
    def forward(self, _, x):
        return super().forward(x)


def refused(text, call, *arguments, **options):
    try:
        call(*arguments, **options)
    except braid.StepError as error:
        assert text in str(error), error
        return str(error)
    raise AssertionError(f"not refused: {text}")


def main():
    torch.manual_seed(0)
    x = torch.randn(3, 4)
    with open(__file__) as file:
        line = next(number for number, line in enumerate(file, 1) if line.rstrip().endswith("# noise"))
    for function, op in ((noisy, "randn_like"), (jittered, "rand_like"), (Alpha(0.3), "bernoulli_")):
        model = Net(function).train()
        with braid.compile(model, x, forward=True) as step:
            for call in (step.evaluate, step.forward):
                text = refused(op, call, x)
                assert function is not noisy or f"in {__file__}:{line}." in text, text
            assert len({float(step(x, lr=0.0)) for _ in range(3)}) == 3 and all(m.training for m in model.modules())
            refused(op, braid.train, step, [x], steps=4, lr=0.1, evaluate=[x], quiet=True)
            assert step.steps == 3
    print("noise of training alone is refused")
    with braid.compile(Net(always), x) as step:
        assert step.evaluate(x) > 0
    model = Net(noisy).eval()
    with braid.compile(model, x) as step:
        assert abs(step.evaluate(x) - model(x)[0].item()) < 1e-5 and not model.training
    model = Net(dropped).train()
    with braid.compile(model, x) as step:
        assert abs(step.evaluate(x) - model.eval()(x)[0].item()) < 1e-5
    print("dropout is left out")


main()

#!/usr/bin/env python3
"""A module that updates its buffers: ten steps of AdamW have the losses, parameters and buffers of eager PyTorch."""

import copy

import torch
from torch import nn
from torch.nn import functional

import braid


class Net(nn.Module):
    """The norm is called twice. Behind a bias, the norm would take away its gradient, and leave rounding errors."""

    def __init__(self):
        super().__init__()
        self.first, self.norm, self.last = nn.Linear(8, 16, bias=False), nn.BatchNorm1d(16), nn.Linear(16, 1)
        self.register_buffer("average", torch.linspace(1, 2, 16))
        self.register_buffer("calls", torch.tensor(3))

    def forward(self, x):
        hidden = self.norm(self.norm(self.first(x)).relu())
        with torch.no_grad():
            self.average.mul_(0.9).add_(0.1 * hidden.mean(0))
            self.calls += 1
        return self.last(hidden * self.average)


def close(ours, theirs, tolerance=1e-5):
    return (ours - theirs).abs().max() <= tolerance * max(1e-6, theirs.abs().max())


def main():
    torch.manual_seed(0)
    model = Net().train()
    eager = copy.deepcopy(model)
    optimizer = torch.optim.AdamW(eager.parameters(), lr=1e-2)
    x, y = torch.randn(10, 32, 8), torch.randn(10, 32, 1)
    step = braid.compile(model, (x[0], y[0]), loss="mse", weight_decay=0.01)
    for number in range(10):
        ours = float(step((x[number], y[number]), lr=1e-2))
        optimizer.zero_grad()
        theirs = functional.mse_loss(eager(x[number]), y[number])
        theirs.backward()
        optimizer.step()
        assert close(torch.tensor(ours), theirs.detach()), (number, ours, theirs)
    expected, found = eager.state_dict(), model.state_dict()
    assert found["calls"] == 13 and found["norm.num_batches_tracked"] == 20 and found["calls"].dtype == torch.int64
    for name, value in expected.items():
        assert close(found[name].float(), value.float()), (name, found[name], value)
        assert torch.equal(step.state_dict()[name].to(value.dtype), found[name]), name
    # Inference takes the running statistics, and changes no state.
    evaluated = step.evaluate((x[0], y[0]))
    assert all(torch.equal(value, model.state_dict()[name]) for name, value in step.state_dict().items()
               if value.is_floating_point())
    eager.eval()
    with torch.no_grad():
        assert close(torch.tensor(evaluated), functional.mse_loss(eager(x[0]), y[0]))
    print(f"10 losses, {len(expected)} tensors and the loss of inference are those of PyTorch")


main()

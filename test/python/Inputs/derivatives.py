#!/usr/bin/env python3
"""Backwards and hooks that an export loses: they are refused with the line of the source."""

import copy

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

import braid


class Rounds(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.round()

    @staticmethod
    def backward(ctx, gradient):
        return gradient


bound = Rounds.apply  # before a compilation


class Net(nn.Module):
    """Two layers, with a function between them."""

    def __init__(self, function=torch.tanh):
        super().__init__()
        torch.manual_seed(0)
        self.first, self.last, self.function = nn.Linear(4, 8), nn.Linear(8, 1), function

    def forward(self, x):
        return self.last(self.function(self.first(x))).square().mean()


def hooked(x):
    x.register_hook(lambda gradient: 2 * gradient)  # hooked
    return x


def quiet(x):
    with torch.no_grad():
        return x + Rounds.apply(x)


def own_gradient(x):
    y = x.detach().requires_grad_()
    return x * torch.autograd.grad(y.tanh().sum(), y, create_graph=True)[0]


def with_hook(change):
    net = Net()
    change(net)
    return net


def refuse(text, model, mark=None):
    try:
        braid.compile(model, torch.randn(3, 4))
    except braid.CompileError as error:
        assert text in str(error), error
        with open(__file__) as file:
            wanted = next((n for n, line in enumerate(file, 1) if mark and line.rstrip().endswith(f"# {mark}")), None)
        assert error.line == wanted or not mark, (error, wanted)
    else:
        raise AssertionError(f"not refused: {text}")


def compare(model):
    """Three steps of SGD are those of eager PyTorch."""
    reference, x = copy.deepcopy(model), torch.linspace(-1, 1, 12).reshape(3, 4)
    optimizer = torch.optim.SGD(reference.parameters(), lr=0.1)
    with braid.compile(model, x, optimizer="sgd") as step:
        for _ in range(3):
            optimizer.zero_grad()
            wanted = reference(x)
            wanted.backward()
            optimizer.step()
            assert abs(step(x, lr=0.1) - wanted.item()) < 1e-5
    for ours, theirs in zip(model.parameters(), reference.parameters()):
        assert torch.allclose(ours, theirs, atol=1e-5)


def main():
    ignore = lambda *_: None
    refuse("Rounds is a torch.autograd.Function", Net(lambda x: Rounds.apply(x)))
    refuse("x + (f(x) - x).detach()", Net(lambda x: bound(x)))
    refuse("Tensor.register_hook", Net(hooked), "hooked")
    refuse("use_reentrant=False", Net(lambda x: checkpoint(torch.tanh, x, use_reentrant=True)))
    refuse("parameter 'first.weight' has a hook", with_hook(lambda net: net.first.weight.register_hook(ignore)))
    refuse("parameter 'last.bias' has a hook",
           with_hook(lambda net: net.last.bias.register_post_accumulate_grad_hook(ignore)))
    refuse("module 'first' (Linear) has a backward hook",
           with_hook(lambda net: net.first.register_full_backward_hook(ignore)))
    refuse("the model (Net) has a backward hook", with_hook(lambda net: net.register_full_backward_pre_hook(ignore)))
    refuse("torch.autograd.grad", Net(own_gradient))
    handle = nn.modules.module.register_module_forward_hook(ignore)
    refuse("hooks of all modules", Net())
    handle.remove()
    print("10 statements are refused")

    compare(Net(quiet))
    compare(Net(lambda x: checkpoint(torch.tanh, x, use_reentrant=False)))
    x = torch.ones(2, requires_grad=True)
    x.register_hook(lambda gradient: 3 * gradient)
    bound(x).sum().backward()
    assert torch.equal(x.grad, torch.full((2,), 3.0))
    print("harmless ones pass, and PyTorch is as before")

    compare(Net(lambda x: x + (x.round() - x).detach()))
    print("straight-through agrees")

    def add_hooks(net):
        net.first.register_forward_hook(lambda module, arguments, output: 2 * output)
        net.register_forward_pre_hook(lambda module, arguments: (arguments[0] - 1,))
        net.register_forward_hook(lambda module, arguments, output: output + arguments[0].mean())
    compare(with_hook(add_hooks))
    print("forward hooks agree")


main()

#!/usr/bin/env python3
"""Compares exported programs before and after their unsupported ops were replaced."""

import copy

import torch
import torch.nn.functional as F
from torch import nn

import braid
from braid import decomposing


class Calls(nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function
        self.scale = nn.Parameter(torch.ones(4))

    def forward(self, x):
        return self.function(x * self.scale)


def quiet(x):
    with torch.no_grad():
        floor = F.hardshrink(x)
    return F.cosine_similarity(x, floor, -1)


def written(x):
    y = x.clone()
    y.as_strided((2, 2), (4, 1)).add_(1)
    return y.sum()


def exported(function):
    program = torch.export.export(Calls(function), (torch.randn(3, 4),))
    before = program.graph_module.code
    ops = [str(node.target) for node in program.graph.nodes]
    decomposing.decompose(program)
    return program, before, ops


program, before, _ = exported(lambda x: F.gelu(x[:, 1:].add_(1)).sum())
assert program.graph_module.code == before
print("a program of supported ops is unchanged")

program, _, ops = exported(quiet)
assert "aten.cosine_similarity.default" in ops
calls = [node for node in program.graph.nodes if node.op == "call_function"]
assert "aten.cosine_similarity.default" not in map(str, (node.target for node in calls))
output = program.graph_signature.user_outputs[0]
assert output == next(node for node in program.graph.nodes if node.op == "output").args[0][0].name
assert all("in forward" in node.meta["stack_trace"] for node in calls if node.name == output)
assert any("wrap_with_set_grad_enabled" in str(node.target) for node in calls)
region = next(module for name, module in program.graph_module.named_modules() if name)
assert not any("hardshrink" in str(node.target) for node in region.graph.nodes)
print("names, places and regions without gradients stay")

program, before, ops = exported(written)
assert "aten.as_strided.default" in [str(node.target) for node in program.graph.nodes]
print("a write through a view that no longer is one is refused")

program, before, ops = exported(lambda x: torch.linalg.inv(x @ x.mT).sum())
assert program.graph_module.code == before
print("an op whose decomposition is not supported stays")


class Recurrent(nn.Module):
    def __init__(self, network):
        super().__init__()
        self.network = network

    def forward(self, x):
        output, last = self.network(x)
        last = last[0] if isinstance(last, tuple) else last
        return output[:, -1].square().mean() + last.sum()


def check_stack(kind, **options):
    """A stack of layers trains as in PyTorch at a rate of about 0, and draws dropout between its layers."""
    torch.manual_seed(0)
    x = torch.randn(4, 5, 8)
    model = Recurrent(kind(8, 8, 3, dropout=1e-9, batch_first=True, **options))
    reference = copy.deepcopy(model)
    wanted = reference(x)
    wanted.backward()
    with braid.compile(model, x, optimizer="sgd") as step:
        assert abs(step(x, lr=0.1) - wanted.item()) < 1e-4
    for ours, theirs in zip(model.parameters(), reference.parameters()):
        assert torch.allclose(ours, theirs - 0.1 * theirs.grad, atol=1e-6)
    model.network.dropout = 0.5
    assert braid.graph_of(model, x).text.count("tg.dropout") == 2
    with braid.compile(model, x) as step:
        evaluated, losses = step.evaluate(x), {float(step(x, lr=0.0)) for _ in range(3)}
        assert len(losses) == 3 and abs(evaluated - model.eval()(x).item()) < 1e-4, (losses, evaluated, model.eval()(x))


check_stack(nn.LSTM)
check_stack(nn.GRU, bidirectional=True)
check_stack(nn.RNN, bias=False)
check_stack(nn.LSTM, proj_size=4)
print("dropout between recurrent layers stays")

for kind, shape in ((nn.Dropout, (3, 4)), (nn.Dropout2d, (3, 4, 2, 2))):
    x, draws = torch.ones(shape), []
    for inplace in (False, True):
        model = nn.Sequential(nn.Conv2d(4, 4, 1) if len(shape) > 2 else nn.Linear(4, 4), kind(0.5, inplace=inplace))
        torch.nn.init.ones_(model[0].weight)
        torch.nn.init.zeros_(model[0].bias)
        with braid.compile(model, (x, torch.zeros(shape)), loss="mse") as step:
            draws.append([float(step((x, torch.zeros(shape)), lr=0.0)) for _ in range(3)])
            assert abs(step.evaluate((x, torch.zeros(shape))) - 16) < 1e-4
    assert draws[0] == draws[1] and len(set(draws[0])) > 1, draws
print("dropout in place is dropout")

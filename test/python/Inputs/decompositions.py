#!/usr/bin/env python3
"""Compares exported programs before and after their unsupported ops were replaced."""

import torch
import torch.nn.functional as F
from torch import nn

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

#!/usr/bin/env python3
"""Times a small residual network of convolutions beside torch.compile and eager PyTorch, in turns, on two threads.

  convolutions.py [STEPS]

32 images of 32 x 32, AdamW, float32. Prints the loss of the last step, and the least and the median milliseconds.
Needs torch, and the tools in PATH.
"""
import copy
import os
import statistics
import sys
import time
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "2")
os.environ.setdefault("OMP_WAIT_POLICY", "passive")  # the threads of all share the cores

import torch
import torch.nn.functional as F
from torch import nn

sys.path.insert(0, str(Path(__file__).parents[2] / "python"))
import braid


class Block(nn.Module):
    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.first, self.norm = nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False), nn.BatchNorm2d(outputs)
        self.second, self.other = nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False), nn.BatchNorm2d(outputs)
        self.short = nn.Conv2d(inputs, outputs, 1, stride, bias=False) if inputs != outputs else nn.Identity()

    def forward(self, x):
        return F.relu(self.other(self.second(F.relu(self.norm(self.first(x))))) + self.short(x))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(3, 16, 3, 1, 1, bias=False), nn.BatchNorm2d(16), nn.ReLU(), Block(16, 16, 1),
                                  Block(16, 32, 2), Block(32, 64, 2))
        self.head = nn.Linear(64, 10)

    def forward(self, x, y):
        return F.cross_entropy(self.head(self.body(x).mean((2, 3))), y)


def trainer(model, run, x, y):
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, fused=True)

    def train():
        optimizer.zero_grad()
        loss = run(x, y)
        loss.backward()
        optimizer.step()
        return loss.item()
    return train


def main():
    steps = int(sys.argv[1]) if len(sys.argv) > 1 else 10
    torch.manual_seed(0)
    torch.set_num_threads(2)
    model = Net().train()
    eager, compiled = copy.deepcopy(model), copy.deepcopy(model)
    x, y = torch.randn(32, 3, 32, 32), torch.randint(0, 10, (32,))
    step = braid.compile(model, (x, y), weight_decay=0.01)
    trainers = {"braid": lambda: float(step((x, y), lr=1e-3)), "torch.compile": trainer(compiled, torch.compile(compiled), x, y),
                "eager": trainer(eager, eager, x, y)}
    seconds, losses = {name: [] for name in trainers}, {}
    for number in range(steps + 2):  # two to warm up
        for name, train in trainers.items():
            begin = time.perf_counter()
            losses[name] = train()
            if number > 1:
                seconds[name].append(time.perf_counter() - begin)
    for name, each in seconds.items():
        print(f"{name:14} loss {losses[name]:.6f}, {1e3 * min(each):.1f}, {1e3 * statistics.median(each):.1f} ms")


main()

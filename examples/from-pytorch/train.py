#!/usr/bin/env python3
"""Trains a U-shaped MLP-mixer to remove noise, with an auxiliary loss that names the wave: usage: train.py [STEPS]"""

import math
import sys

import torch
from torch import nn
from torch.nn import functional
from torch.utils.data import DataLoader, IterableDataset

import braid

LENGTH, CHANNELS, WAVES, BATCH = 64, 8, 4, 32


class Waves(IterableDataset):
    """Noisy sums of two waves `[LENGTH, CHANNELS]`, the same without noise (`clean`), and the number of the slower wave."""

    def __init__(self, seed):
        self.seed = seed

    def __iter__(self):
        generator = torch.Generator().manual_seed(self.seed)
        place = torch.linspace(0, 2 * math.pi, LENGTH)[:, None] + torch.linspace(0, math.pi, CHANNELS)
        while True:
            number = torch.randint(0, WAVES, (), generator=generator)
            shift = 2 * math.pi * torch.rand((), generator=generator)
            clean = torch.sin((number + 1) * place + shift) + 0.3 * torch.sin(9 * place + shift)
            noise = 0.5 * torch.randn(LENGTH, CHANNELS, generator=generator)
            yield {"noisy": clean + noise, "clean": clean, "wave": number}


class Mixer(nn.Module):
    """Mixes positions, then channels: `[B, L, C]` to `[B, L, C]`."""

    def __init__(self, length, channels):
        super().__init__()
        self.norms = nn.ModuleList([nn.LayerNorm(channels), nn.LayerNorm(channels)])
        self.positions = nn.Sequential(nn.Linear(length, 2 * length), nn.GELU(), nn.Linear(2 * length, length))
        self.channels = nn.Sequential(nn.Linear(channels, 2 * channels), nn.GELU(), nn.Linear(2 * channels, channels))

    def forward(self, x):
        x = x + self.positions(self.norms[0](x).transpose(1, 2)).transpose(1, 2)
        return x + self.channels(self.norms[1](x))


class UMixer(nn.Module):
    """Goes down to a quarter of the positions twice, and up again with a connection from each way down."""

    def __init__(self):
        super().__init__()
        sizes = [(LENGTH, CHANNELS), (LENGTH // 4, 16), (LENGTH // 16, 32)]
        self.down = nn.ModuleList(Mixer(*size) for size in sizes)
        self.up = nn.ModuleList(Mixer(*size) for size in sizes[:2])
        self.merge = nn.ModuleList(nn.Linear(4 * a, b) for (_, a), (_, b) in zip(sizes, sizes[1:]))
        self.split = nn.ModuleList(nn.Linear(b, 4 * a) for (_, a), (_, b) in zip(sizes, sizes[1:]))
        self.wave = nn.Linear(32, WAVES)

    def forward(self, noisy):
        x, kept = noisy, []
        for mixer, merge in zip(self.down, self.merge):
            x = mixer(x)
            kept.append(x)
            x = merge(x.reshape(len(x), x.shape[1] // 4, -1))
        x = self.down[-1](x)
        wave = self.wave(x.mean(1))
        for mixer, split, way in reversed(list(zip(self.up, self.split, kept))):
            x = mixer(split(x).reshape(way.shape) + way)
        return x, wave


def loss(output, batch):
    """Mean squared error of the signal, and a tenth of the cross-entropy of the wave's number."""
    signal, wave = output
    return functional.mse_loss(signal, batch["clean"]) + 0.1 * functional.cross_entropy(wave, batch["wave"])


def main():
    steps = int(sys.argv[1]) if len(sys.argv) > 1 else 600
    torch.manual_seed(0)
    loader = DataLoader(Waves(seed=1), batch_size=BATCH, num_workers=1)
    held_out = next(iter(DataLoader(Waves(seed=2), batch_size=BATCH)))
    model = UMixer()

    # The model takes `noisy`, the argument of its forward; the loss reads the others.
    step = braid.compile(model, held_out, loss=loss, optimizer="adamw", weight_decay=0.01, clip=1.0)
    print(step)
    for number, batch in zip(range(1, steps + 1), loader):
        rate = 3e-3 * min(number / 50, 0.5 + 0.5 * math.cos(math.pi * number / steps))
        result = step(batch, lr=rate)
        if number % max(1, steps // 6) == 0:
            print(f"step {number}  loss {result:.4f}  norm {result.grad_norm:.2f}")

    # The model's parameters are the step's memory, so PyTorch computes with them.
    with torch.no_grad():
        signal, wave = model(held_out["noisy"])
    noise = functional.mse_loss(held_out["noisy"], held_out["clean"])
    error = functional.mse_loss(signal, held_out["clean"])
    right = (wave.argmax(1) == held_out["wave"]).float().mean()
    print(f"held out: error {error:.4f} of {noise:.4f}, waves {100 * right:.0f} % right")
    torch.save(model.state_dict(), "mixer.pt")


if __name__ == "__main__":
    main()

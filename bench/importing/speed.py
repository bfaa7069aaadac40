"""Times steps of an imported model beside torch.compile of the module and braid-model's graph, in alternating runs."""

import json
import statistics
import time
from pathlib import Path

import models
import numpy
import torch

COLUMNS = ["imported, ms", "torch.compile, ms", "braid-model, ms"]
ROUNDS, STEPS, WARMUP = 3, 6, 2
SIZE = models.MEDIUM


class Compiled:
    """A training step of the module by torch.compile."""

    def __init__(self, check, text):
        self.check = check
        self.model = models.build(check.name, SIZE)
        self.optimizer = torch.optim.AdamW([p for p in self.model.parameters() if p.requires_grad], lr=1e-3)
        self.batches = list(models.batches(check.name, SIZE, text, STEPS))
        self.step = torch.compile(self.step_of)

    def step_of(self, batch):
        self.optimizer.zero_grad()
        loss = self.check.loss_of(self.model(**batch))
        loss.backward()
        return loss

    def times(self):
        found = []
        for batch in self.batches:
            start = time.perf_counter()
            self.step(batch).item()
            self.optimizer.step()
            found.append(1000 * (time.perf_counter() - start))
        return found[WARMUP:]


class Binary:
    """A training binary of a graph."""

    def __init__(self, check, graph, data):
        self.check, self.data, self.path = check, data, graph.with_suffix("")
        check.run(check.bin / "braidc", graph, "-o", self.path, "--optimizer=adamw")

    def times(self):
        log = self.path.with_suffix(".jsonl")
        log.unlink(missing_ok=True)
        self.check.run(self.path, "train", "--data", *self.data, "--batch-order=sequential", "--holdout=0", f"--steps={STEPS}",
                       "--lr=1e-3", "--force", "--log", log)
        lines = [json.loads(line) for line in log.read_text().splitlines()]
        return [1000 * line["seconds"] for line in lines if "seconds" in line and "loss" in line][WARMUP:]


def imported(check, folder, data, text):
    model = models.build(check.name, SIZE)
    batch = next(models.batches(check.name, SIZE, text, 1))
    torch.export.save(torch.export.export(model, (), batch), folder / "timed.pt2")
    check.run(check.bin / "braid-import", folder / "timed.pt2", "-o", folder / "timed.mlir",
              *models.MODELS[check.name].options)
    return Binary(check, folder / "timed.mlir", data)


def from_checkpoint(check, folder, data):
    """Returns the binary of braid-model's graph of the same configuration."""
    config = models.build(check.name, SIZE).config
    config.architectures = [config.architectures[0] if config.architectures else type(models.build(check.name, SIZE)).__name__]
    config.save_pretrained(folder / "config")
    check.run(check.bin / "braid-model", folder / "config" / "config.json", f"--batch={SIZE.batch}", f"--seq={SIZE.length}",
              "-o", folder / "family.mlir")
    return Binary(check, folder / "family.mlir", data)


def measure(check, folder: Path):
    """Returns the cells of a model: least and median milliseconds of a step."""
    count = SIZE.batch * SIZE.length * STEPS + 1
    text = numpy.random.default_rng(0).integers(0, SIZE.vocabulary, count)
    text.astype(numpy.uint16).tofile(folder / "timed.bin")
    data = check.data(folder / "timed.bin", models.batches(check.name, SIZE, text, STEPS))
    makers = [lambda: imported(check, folder, data, text), lambda: Compiled(check, text),
              lambda: from_checkpoint(check, folder, data)]
    cells, runners = {}, {}
    for column, maker in zip(COLUMNS, makers, strict=True):
        check.attempt(column, lambda maker=maker, column=column: runners.setdefault(column, maker()) and "")
    found = {column: [] for column in runners}
    for _ in range(ROUNDS):
        for column, runner in runners.items():
            found[column] += runner.times()
    for column, times in found.items():
        cells[column] = f"{min(times):.1f}, {statistics.median(times):.1f}"
    return cells

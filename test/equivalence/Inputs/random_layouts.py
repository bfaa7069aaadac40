#!/usr/bin/env python3
"""Trains random models under random layouts, as compiled binaries whose ranks are threads.

    random_layouts.py FOLDER FIRST END     seeds FIRST to END - 1; what failed is kept in
                                           FOLDER/SEED, its commands are printed

A seed draws a model, how it is trained and two layouts: a mesh, a stage of ZeRO and what
braidc lets one say of them.  Six steps of the first give the losses and gradient norms of
one rank that takes the same global batch, the same bits again, the same bits without
overlap and under a memory limit; its arena is the peak of the report.  What it saved after
three steps goes on in its own layout with the same bits, in the second with the same
losses.  The gradients of a step from larger weights are those of one rank (first_step.py).  What braidc refuses has to be
in REFUSALS.
"""

import json
import math
import pathlib
import random
import re
import shutil
import subprocess
import sys

import first_step
from random_models import random_model

STEPS, SAVED, TOLERANCE = 6, 3, 1e-5
MESHES = [{"dp": 1}, {"dp": 2}, {"dp": 2}, {"dp": 3}, {"dp": 4}, {"shard": 2}, {"replica": 2},
          {"replica": 2, "shard": 2}, {"replica": 2, "shard": 2}, {"replica": 1, "shard": 3},
          {"replica": 3, "shard": 1}, {"dp": 2, "shard": 2},
          {"pp": 2}, {"pp": 2}, {"pp": 3}, {"pp": 2, "dp": 2}, {"dp": 2, "pp": 2}, {"pp": 2, "replica": 1, "shard": 2},
          {"tp": 2}, {"dp": 2, "tp": 2}, {"pp": 2, "tp": 2}, {"cp": 2}, {"cp": 2, "dp": 2}, {"pp": 2, "cp": 2}]
SCHEDULES = ["gpipe", "1f1b", "interleaved", "zb-h1", "zb-v"]
BLOCKS = {"dp": 2, "tp": 2}  # with a layout
LINKS = ["5,1", "0,0.001", "100,10", "0,1000"]

# Of options that a draw puts together without asking whether they fit.
REFUSALS = [
    r"--noise-scale compares the gradients of data parallel ranks, but --mesh=\S+ has only one",
    r"the plan needs .* but the memory limit is",
    r"has \d+ units? that (is|are) not at both ends \(.*\), but is cut into \d+ stages",
    r"interleaved on \d+ ranks needs a multiple of \d+ as number of microbatches",
    r"has no sequence of tokens to shard over \{cp\}",
    r"the sequence of \d+ tokens does not divide over \d+ ranks",
    r"dim 1 of size \d+ does not divide into 2 equal blocks over \{cp\}",
    r"no op can use a ring over \{cp\}: no op reads a sequence block by block",
    r"cannot be computed in a ring over \{cp\}",
    r"cannot share out heads over \{cp\}",
    r"a ring over \{cp\} cannot be in zigzag",
    r"but only a ring can be in zigzag",
    r"comm-noise-scale: the gradient of '.*' is reduced over \{dp, cp\} but the batch is sharded over \{dp\}",
    r"comm-noise-scale: one of the gradients of .* is reduced in each microbatch and the other is not",
]
# Where a row cannot be left out of a batch.
WARNING = r"rows of the [\w-]+ part are left out, because a batch has \d+: the model's loss counts every row"


class Failure(Exception):
    pass


class Refused(Exception):
    """By braidc, for one of REFUSALS."""


class Layout:
    """Options of braidc for ranks; none for a program of one rank."""

    def __init__(self, draw, accumulate, mesh=None):
        self.draw, self.mesh = draw, mesh or {}
        self.ranks = math.prod(self.mesh.values())
        self.flags, self.overlaps, self.link = [], True, []
        if self.mesh:
            self.add("mesh", ",".join(f"{axis}={size}" for axis, size in mesh.items()))
            self.add("transports", "threads")
            if self.mesh == BLOCKS:
                self.add("layout", "layout")
            self.strategy(accumulate)
            self.context()
            self.schedule()

    def add(self, option, value=None):
        self.flags.append(f"--{option}" if value is None else f"--{option}={value}")

    def maybe(self, option, values, chance=0.5):
        """Returns the chosen value, if any."""
        value = self.draw.choice(values) if self.draw.random() < chance else None
        if value is not None:
            self.add(option, value)
        return value

    def strategy(self, accumulate):
        self.zero, isPipeline = 0, "pp" in self.mesh
        if isPipeline:
            self.maybe("schedule", SCHEDULES, 0.8)
        if not {"dp", "shard", "replica", "cp"} & self.mesh.keys():
            return
        self.zero = self.draw.choice([0, 1, 3] if isPipeline else [0, 1, 2, 2, 3, 3, 3])
        self.add("zero", self.zero)
        if self.zero == 3:
            self.maybe("reshard-after-forward", ["false", "true"], 0.4)
        if self.zero >= 2 and accumulate > 1 and self.draw.random() < 0.4:
            self.add("unreduced-accumulators")
        if self.ranks > 1 and not isPipeline and self.draw.random() < 0.2:
            self.add("noise-scale")

    def context(self):
        if "cp" in self.mesh and self.maybe("context", ["ring", "ring", "gather", "ulysses"], 0.8):
            self.maybe("context-order", ["zigzag", "straight"], 0.3)

    def schedule(self):
        link = self.maybe("link", LINKS)
        self.maybe("compute", ["1,1", "0.01,0.1", "1000,1000"], 0.3)
        bucket = self.maybe("bucket-mb", ["0", "0.00005", "0.0005", "0.003", "1", "inf"] + (["auto"] if link else []), 0.7)
        if bucket not in ("0", "inf"):
            self.maybe("first-bucket-mb", ["0", "0.0001", "0.001", "1"], 0.4)
        if self.zero == 3:
            self.maybe("prefetch", [0, 1, 2, 3], 0.6)
        if self.draw.random() < 0.3:
            self.link = ["--link", "20,1"]

    def plain(self):
        """The flags without those of overlap."""
        return [flag for flag in self.flags if not flag.startswith("--prefetch")] + ["--overlap=none"]


class Trial:
    def __init__(self, folder, seed):
        self.draw = random.Random(seed)
        self.folder, self.commands = folder / str(seed), []
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        self.model = random_model(self.draw)
        choose = self.draw.choice
        self.accumulate = choose([1, 1, 2, 3, 4])
        meshes = MESHES + [BLOCKS, BLOCKS] if self.model.layout() else MESHES
        self.first, self.second = (Layout(self.draw, self.accumulate, choose(meshes)) for _ in range(2))
        if self.draw.random() < 0.2:
            self.second = Layout(self.draw, self.accumulate)
        self.rows = math.lcm(self.first.ranks, self.second.ranks) * choose([1, 1, 2])
        self.training = self.training_options()
        self.steps = ["--steps", STEPS, "--lr", choose([1e-3, 1e-2])]
        self.data = ["--data", "data", "--threads", 1, "--seed", choose([1, 7]),
                     "--batch-order", choose(["random", "sequential"]), "--holdout", 0.3]
        self.steps += ["--eval-every", 2, "--eval-batches", choose([1, 2, 100])]
        measures = any("--noise-scale" in layout.flags for layout in (self.first, self.second))
        hasTable = any("pp" in layout.mesh for layout in (self.first, self.second))
        if self.accumulate > 1 and not measures and not hasTable and self.draw.random() < 0.2:
            self.data += ["--batch-tokens", self.tokens(choose([1, 2, 3, 5]))]

    def training_options(self):
        choose = self.draw.choice
        optimizer = choose(["adamw", "adamw", "adam", "sgd", "momentum", "nesterov"])
        options = [f"--accumulate={self.accumulate}"] if self.accumulate > 1 else []
        options += [f"--optimizer={optimizer}"]
        # Adam divides rounding errors by rounding errors if a gradient is almost zero.
        options += ["--eps=1e-4"] if optimizer.startswith("adam") else []
        if clip := choose([None, 0.1, 1, 1e6]):
            options.append(f"--clip={clip}")
        if self.draw.random() < 0.4:
            options.append("--weight-decay=0.1")
            if self.draw.random() < 0.5:
                options.append(f"--decay-exclude={choose(['biases', 'biases,norms', 'norms,embeddings'])}")
        return options

    def tokens(self, microbatches):
        return self.rows * microbatches * getattr(self.model, "sequence", 1)

    # Running things.
    def run(self, *command, limit=120):
        command = [str(word) for word in command]
        self.commands.append(" ".join(command))
        try:
            return subprocess.run(command, cwd=self.folder, capture_output=True, text=True, timeout=limit)
        except subprocess.TimeoutExpired as late:
            raise Failure(f"no end after {limit} s: {late.stdout} {late.stderr}") from None

    def compile(self, name, flags):
        done = self.run("braidc", "graph.mlir", "-o", name, f"--report={name}.json", *self.training, *flags)
        if done.returncode == 1 and any(re.search(refusal, done.stderr) for refusal in REFUSALS):
            raise Refused(done.stderr.strip())
        if done.returncode or "error:" in done.stderr:
            raise Failure(f"braidc ends with {done.returncode}: {done.stderr[-3000:]}")
        return json.loads((self.folder / f"{name}.json").read_text())

    def train(self, name, log, *options):
        done = self.run(f"./{name}", "train", *self.data, *self.steps, "--log", log, "--force", *options)
        if done.returncode:
            raise Failure(f"training ends with {done.returncode}: {done.stderr[-3000:]}")
        if done.stderr and not re.search(WARNING, done.stderr):
            raise Failure(f"training warns: {done.stderr[-3000:]}")
        with open(self.folder / log) as lines:
            metrics = [json.loads(line) for line in lines]
        for line in metrics:
            for key in ("seconds", "tokens_per_second", "job"):
                line.pop(key, None)
        return metrics, done.stdout

    # Comparing what they log.
    def same_bits(self, what, one, other):
        if one != other:
            differing = ((line, a, b) for line, (a, b) in enumerate(zip(one, other), 1) if a != b)
            line, a, b = next(differing, (0, len(one), len(other)))
            raise Failure(f"{what}: line {line}: {a} and {b}")

    def same_losses(self, what, one, reference):
        if len(one) != len(reference):
            raise Failure(f"{what}: {len(one)} and {len(reference)} lines")
        for a, b in zip(one, reference):
            if a["step"] != b["step"] or a.get("tokens") != b.get("tokens"):
                raise Failure(f"{what}: {a} and {b}")
            for key in ("loss", "grad_norm", "eval_loss"):
                # A rank alone logs no norm that nobody asked for; measuring noise takes it.
                if key not in a or key not in b:
                    continue
                error = abs(a[key] - b[key]) / max(abs(b[key]), 1e-3)
                # Rounding of six wild steps shows in the norm first.
                if not error <= TOLERANCE * (10 if key == "grad_norm" else 1):
                    raise Failure(f"{what}: step {a['step']}: {key} {a[key]!r} and {b[key]!r}, relative error {error:.1e}")

    def same_gradients(self):
        done = self.run("python3", first_step.__file__, "run", "./one", "./first", "--", *self.data)
        if done.returncode:
            raise Failure(f"{done.stdout}{done.stderr}")

    @staticmethod
    def after(metrics, step):
        return [line for line in metrics if line["step"] > step]

    def same_peak(self, layout, plan, printed):
        if plan["arena_bytes"] != plan["peak_bytes"]:
            raise Failure(f"the report's arena is {plan['arena_bytes']}, its peak {plan['peak_bytes']}")
        if layout.ranks < 2:
            return
        found = re.search(r"(\d+) ranks over threads, .*\nreported peak ([\d,]+) bytes == allocated arena ([\d,]+) bytes", printed)
        said = [int(text.replace(",", "")) for text in found.groups()] if found else printed
        # Where ranks hold different tensors, the first says its own.
        arena = plan["kinds"][0]["arena_bytes"] if "kinds" in plan else plan["arena_bytes"]
        if said != [layout.ranks, arena, arena]:
            raise Failure(f"{layout.ranks} ranks with {arena} bytes each say: {said}")

    # What a seed does.
    def prepare(self):
        self.model.write_data(self.folder / "data")
        self.model.write_graph(self.folder / "graph.mlir", self.rows * self.accumulate)
        (self.folder / "layout").write_text(self.model.layout() or "")

    def copy_checkpoint(self, step, to):
        (self.folder / to).mkdir()
        name = f"step-{step:08}"
        for path in self.folder.glob(f"saved/{name}*"):
            if path.is_dir():
                shutil.copytree(path, self.folder / to / path.name)
            else:
                shutil.copy(path, self.folder / to)

    def __call__(self):
        self.prepare()
        plan = self.compile("first", self.first.flags)
        self.compile("one", [])
        expected, _ = self.train("one", "one.log")
        link = self.first.link if self.first.ranks > 1 else []
        metrics, printed = self.train("first", "first.log", "--checkpoint", "saved", "--save-every", SAVED, *link)
        self.same_peak(self.first, plan, printed)
        self.same_losses("first and one rank", metrics, expected)
        if not self.model.has_state:
            self.same_gradients()
        self.same_bits("twice", self.train("first", "again.log")[0], metrics)
        self.copy_checkpoint(SAVED, "same")
        resumed, _ = self.train("first", "same.log", "--checkpoint", "same", "--resume")
        self.same_bits("resumed", resumed, self.after(metrics, SAVED))
        if self.first.mesh:
            self.compile("plain", self.first.plain())
            self.same_bits("overlap none and full", self.train("plain", "plain.log")[0], metrics)
            if self.draw.random() < 0.3:
                self.limited(plan, metrics)
        self.compile("second", self.second.flags)
        self.copy_checkpoint(SAVED, "other")
        moved, _ = self.train("second", "second.log", "--checkpoint", "other", "--resume")
        self.same_losses("resumed in the second layout", moved, self.after(expected, SAVED))

    def limited(self, plan, metrics):
        """Returns less memory than the schedule uses, if less suffices."""
        limit = int(plan["arena_bytes"] * self.draw.choice([0.85, 0.95, 0.99, 1]))
        try:
            # Chunks of the loss would add up in another order.
            tight = self.compile("tight", self.first.flags + [f"--memory-limit={limit}", "--loss-chunk=none"])
        except Refused:
            return
        if tight["arena_bytes"] > limit:
            raise Failure(f"--memory-limit={limit} takes {tight['arena_bytes']}")
        self.same_bits("under a memory limit", self.train("tight", "tight.log")[0], metrics)


def main():
    folder, first, end = pathlib.Path(sys.argv[1]).absolute(), int(sys.argv[2]), int(sys.argv[3])
    failures = refused = 0
    for seed in range(first, end):
        trial = Trial(folder, seed)
        try:
            trial()
        except Refused as reason:
            refused += 1
            print(f"seed {seed} refused: {reason}")
        except Failure as failure:
            failures += 1
            print(f"seed {seed} in {trial.folder}:\n" + "\n".join(trial.commands) + f"\n{failure}\n", flush=True)
            continue
        shutil.rmtree(trial.folder)
    print(f"{failures} of {end - first} seeds fail (seeds {first} to {end - 1}), {refused} are refused")
    return failures > 0


if __name__ == "__main__":
    sys.exit(main())

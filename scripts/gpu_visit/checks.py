"""Checks of a small program. Each check returns figures, or raises Failed."""

import functools
import re
import shutil
import threading

from . import programs, sanitizer, tensors, tolerances, tools


class Program:
    """A program of the manifest, its binary, and the results of the CPU target."""

    def __init__(self, entry, visit):
        self.entry, self.visit, self.name = entry, visit, entry["name"]
        self.binary = visit.binary(self.name)
        results = visit.references / entry.get("reference", f"cpu/{entry['model']}-{entry['precision']}")
        self.metrics, self.resumed = results / "metrics.jsonl", results / "resumed.jsonl"
        self.checkpoint = visit.references / "cpu" / entry["model"] / "checkpoint"
        self.gradients = results / "gradients"
        self.lock, self.first = threading.Lock(), None

    def log(self, run):
        return self.visit.scratch / f"{self.name}-{run}.jsonl"

    def folder(self, name):
        """Returns an unused path."""
        path = self.visit.scratch / f"{self.name}-{name}"
        shutil.rmtree(path, ignore_errors=True)
        return path

    def command(self, log, *words, steps=programs.STEPS):
        return [self.binary, "train", "--data", self.visit.references / "data" / self.entry["data"], "--log", log, "--force",
                *programs.TRAIN, *programs.HEURISTIC, "--steps", steps, *words]

    def train(self, run, *words, steps=programs.STEPS):
        """The losses of a run, and what it printed."""
        printed = tools.run(self.command(self.log(run), *words, steps=steps), label=f"{self.name} {run}", timeout=30)
        return tools.losses(self.log(run)), printed

    def plain(self):
        """Returns a run without further options, which several checks examine."""
        with self.lock:
            if not self.first:
                self.first = self.train("first")
            return self.first


def compare(program, losses, expected):
    """Compares losses with those of the CPU target, each step by its tolerance."""
    if len(losses) != len(expected):
        raise tools.Failed(f"{len(losses)} steps were run, {len(expected)} were expected")
    allowed = tolerances.of_losses(program.entry, expected)
    # The worst step uses the largest share of its tolerance. A loss that is NaN fails, too.
    shares = [abs(a - b) / most for a, b, most in zip(losses, expected, allowed)]
    worst = max(range(len(shares)), key=lambda step: (shares[step] != shares[step], shares[step]))
    if not shares[worst] <= 1:
        raise tools.Failed(f"the loss of step {worst + 1} differs from the CPU target's by {abs(losses[worst] - expected[worst]):.2e}, "
                           f"more than {allowed[worst]:.2e}: {losses} and {expected}")
    differences = [abs(a - b) / abs(b) for a, b in zip(losses, expected)]
    return {"largest_difference": max(differences), "share_of_tolerance": shares[worst], "worst_step": worst + 1}


def same_losses(program):
    return compare(program, program.plain()[0], tools.losses(program.metrics))


def same_gradients(program):
    """Compares the gradients of step 1 tensor by tensor."""
    saved = program.folder("gradients")
    program.train("gradients", "--checkpoint", saved, steps=1)
    return compare_gradients(program, tensors.first_means(saved))


def compare_gradients(program, ours):
    expected = tensors.first_means(program.gradients)
    if ours.keys() != expected.keys():
        raise tools.Failed(f"there are gradients of {sorted(ours)}, expected are {sorted(expected)}")
    allowed = {name: tolerances.of_gradient(program.entry, name) for name in expected}
    apart = {name: tensors.distance(ours[name], expected[name]) for name in expected}
    worst = max(apart, key=lambda name: apart[name] / allowed[name])
    if not apart[worst] <= allowed[worst]:
        wrong = sorted((name for name, its in apart.items() if not its <= allowed[name]), key=apart.get, reverse=True)
        raise tools.Failed(f"the gradient of {worst} in step 1 differs from the CPU target's by {apart[worst]:.2e} of its norm, more than "
                           f"{allowed[worst]:.2e}: {tensors.farthest(ours[worst], expected[worst])}; and those of {len(wrong) - 1} other tensors do\n"
                           + "\n".join(f"{name}: {apart[name]:.2e}; {tensors.farthest(ours[name], expected[name])}" for name in wrong[1:5]))
    return {"tensors": len(apart), "largest_difference": apart[worst], "tolerance": allowed[worst], "worst_tensor": worst}


def arena_as_reported(program):
    _, printed = program.plain()
    found = re.search(r"reported peak ([\d,]+) bytes (==|!=) allocated arena ([\d,]+) bytes", printed)
    if not found or found.group(2) != "==":
        raise tools.Failed(f"the arena is not what was reported: {found.group(0) if found else printed[:300]}")
    return {"arena_bytes": int(found.group(3).replace(",", ""))}


def same_with_graph(program):
    captured, _ = program.train("captured", "--cuda-graph=on")
    launched, _ = program.train("launched", "--cuda-graph=off")
    if captured != launched:
        raise tools.Failed(f"a captured step gives other losses than launches: {captured} and {launched}")
    return {}


def same_bits(program):
    first, _ = program.plain()
    for number in range(1, program.visit.repeats):
        again, _ = program.train("again")
        if again != first:
            raise tools.Failed(f"run {number + 1} gives other losses than the first: {again} and {first}")
    return {"runs": program.visit.repeats}


def goes_on_from_cpu(program):
    copy = program.folder("checkpoint")
    shutil.copytree(program.checkpoint, copy)
    losses, _ = program.train("resumed", "--checkpoint", copy, "--resume")
    return compare(program, losses, tools.losses(program.resumed))


def saves_as_cpu(program):
    """The checkpoint has the tensors that the CPU target's has."""
    saved = program.folder("saved")
    program.train("saved", "--checkpoint", saved, steps=programs.STEPS // 2)
    ours, cpu = tensors.shapes(saved), tensors.shapes(program.checkpoint)
    if ours != cpu:
        different = sorted(name for name in {*ours, *cpu} if ours.get(name) != cpu.get(name))
        raise tools.Failed(f"the checkpoint differs from the CPU target's in {len(different)} tensors: "
                           f"{[(name, ours.get(name), cpu.get(name)) for name in different[:5]]}")
    return {"tensors": len(ours)}


CHECKS = {
    "losses": same_losses,
    "arena": arena_as_reported,
    "gradients": same_gradients,
    "cuda_graph": same_with_graph,
    "determinism": same_bits,
    "resumes": goes_on_from_cpu,
    "saves": saves_as_cpu,
    "fallback": same_losses,
    **{tool: functools.partial(sanitizer.check, tool) for tool in programs.SANITIZER},
}

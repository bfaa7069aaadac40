"""What must hold of a built program: each check returns figures, or raises Failed."""

import re
import shutil

from . import programs, sanitizer, several, tensors, tolerances, tools


class Program:
    """A program of the manifest and its binary."""

    def __init__(self, entry, folder, binary, scratch):
        self.entry, self.folder, self.binary, self.scratch = entry, folder, binary, scratch
        self.name, self.steps = entry["name"], entry["steps"]
        results = folder / "cpu" / f"{entry['model']}-{entry['precision']}"
        self.expected, self.resumed = tools.losses(results / "metrics.jsonl"), tools.losses(results / "resumed.jsonl")
        self.checkpoint = folder / "cpu" / entry["model"] / "checkpoint"
        self.gradients = results / "gradients"
        self.first = None

    def command(self, log, *words, steps=None):
        ranks = [] if self.entry["ranks"] == 1 else ["--ranks", self.entry["ranks"], "--transport", "device-threads"]
        return [self.binary, "train", "--data", self.folder / "data" / self.entry["data"], "--log", log, "--force", *ranks,
                *programs.TRAIN, "--steps", steps or self.steps, *words]

    def train(self, name, *words, steps=None):
        """The losses of a run, and what it printed."""
        log = self.scratch / f"{self.name}-{name}.jsonl"
        printed = tools.run(self.command(log, *words, steps=steps), timeout=300)
        return tools.losses(log), printed

    def plain(self):
        """A run without more words: several checks look at it."""
        if not self.first:
            self.first = self.train("first")
        return self.first


def compare(program, losses, expected):
    """Holds losses against those of the CPU target, each step by its tolerance."""
    if len(losses) != len(expected):
        raise tools.Failed(f"{len(losses)} steps were run, {len(expected)} were expected")
    allowed = tolerances.of_losses(program.entry, expected)
    # The worst step: how much of its tolerance the difference takes.  Not a number fails, too.
    shares = [abs(a - b) / most for a, b, most in zip(losses, expected, allowed)]
    worst = max(range(len(shares)), key=lambda step: (shares[step] != shares[step], shares[step]))
    if not shares[worst] <= 1:
        raise tools.Failed(f"the loss of step {worst + 1} differs from the CPU target's by {abs(losses[worst] - expected[worst]):.2e}, "
                           f"more than {allowed[worst]:.2e}: {losses} and {expected}")
    differences = [abs(a - b) / abs(b) for a, b in zip(losses, expected)]
    return {"largest_difference": max(differences), "share_of_tolerance": shares[worst], "worst_step": worst + 1}


def same_losses(program, _):
    return compare(program, program.plain()[0], program.expected)


def same_gradients(program, _):
    """Those of step 1, tensor by tensor."""
    saved = program.scratch / f"{program.name}-gradients"
    shutil.rmtree(saved, ignore_errors=True)
    program.train("gradients", "--checkpoint", saved, steps=1)
    ours, expected = tensors.first_means(saved), tensors.first_means(program.gradients)
    if ours.keys() != expected.keys():
        raise tools.Failed(f"there are gradients of {sorted(ours)}, expected are {sorted(expected)}")
    allowed = tolerances.of_gradients(program.entry)
    apart = {name: tensors.distance(ours[name], expected[name]) for name in expected}
    worst = max(apart, key=apart.get)
    if not apart[worst] <= allowed:
        many = sum(not its <= allowed for its in apart.values())
        raise tools.Failed(f"the gradient of {worst} in step 1 differs from the CPU target's by {apart[worst]:.2e} of its norm, more than "
                           f"{allowed:.2e}, and those of {many - 1} other tensors do")
    return {"tensors": len(apart), "largest_difference": apart[worst], "tolerance": allowed, "worst_tensor": worst}


def arena_as_reported(program, _):
    _, printed = program.plain()
    found = re.search(r"reported peak ([\d,]+) bytes (==|!=) allocated arena ([\d,]+) bytes", printed)
    if not found or found.group(2) != "==":
        raise tools.Failed(f"the arena is not what was reported: {found.group(0) if found else printed[:300]}")
    return {"arena_bytes": int(found.group(3).replace(",", ""))}


def same_with_graph(program, _):
    captured, _ = program.train("captured", "--cuda-graph=on")
    launched, _ = program.train("launched", "--cuda-graph=off")
    if captured != launched:
        raise tools.Failed(f"a captured step gives other losses than launches: {captured} and {launched}")
    return {}


def same_bits(program, arguments):
    first, _ = program.plain()
    for number in range(1, arguments.repeats):
        again, _ = program.train("again")
        if again != first:
            raise tools.Failed(f"run {number + 1} gives other losses than the first: {again} and {first}")
    return {"runs": arguments.repeats}


# ---------------------------------------------------------------------------
# Checkpoints
# ---------------------------------------------------------------------------

def goes_on_from_cpu(program, _):
    copy = program.scratch / f"{program.name}-checkpoint"
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(program.checkpoint, copy)
    losses, _ = program.train("resumed", "--checkpoint", copy, "--resume")
    return compare(program, losses, program.resumed)


def saves_as_cpu(program, _):
    """One rank's checkpoint has the tensors that the CPU target's has."""
    saved = program.scratch / f"{program.name}-saved"
    shutil.rmtree(saved, ignore_errors=True)
    program.train("saved", "--checkpoint", saved, steps=program.steps // 2)
    ours, cpu = tensors.shapes(saved), tensors.shapes(program.checkpoint)
    if ours != cpu:
        different = sorted(name for name in {*ours, *cpu} if ours.get(name) != cpu.get(name))
        raise tools.Failed(f"the checkpoint differs from the CPU target's in {len(different)} tensors: "
                           f"{[(name, ours.get(name), cpu.get(name)) for name in different[:5]]}")
    return {"tensors": len(ours)}


CHECKS = {
    "losses": same_losses,
    "gradients": same_gradients,
    "arena": arena_as_reported,
    "cuda_graph": same_with_graph,
    "determinism": same_bits,
    "resumes": goes_on_from_cpu,
    "saves": saves_as_cpu,
    **several.checks(compare),
    **{tool: sanitizer.check(tool) for tool in programs.SANITIZER},
}


def of(entry):
    """The checks that a program has, in their order."""
    return {name: check for name, check in CHECKS.items() if name in entry["checks"]}

"""What must hold of a built program: each check returns figures, or raises Failed."""

import os
import re
import shutil

from . import programs, tools


class Built:
    """A program of the manifest and its binary."""

    def __init__(self, entry, folder, binary, scratch):
        self.entry, self.folder, self.binary, self.scratch = entry, folder, binary, scratch
        self.name, self.steps = entry["name"], entry["steps"]
        self.expected = tools.losses(folder / "cpu" / self.name / "metrics.jsonl")
        self.tolerance = programs.TOLERANCE[entry["precision"]]

    def command(self, log, *words):
        ranks = [] if self.entry["ranks"] == 1 else ["--ranks", self.entry["ranks"], "--transport", "device-threads"]
        return [self.binary, "train", "--data", self.folder / "data" / self.entry["data"], "--log", log, *ranks,
                *programs.TRAIN, "--steps", self.steps, *words]

    def train(self, name, *words):
        """The losses of a run, and what it printed."""
        log = self.scratch / f"{self.name}-{name}.jsonl"
        printed = tools.run(self.command(log, *words), timeout=600)
        return tools.losses(log), printed


def largest_difference(losses, expected):
    if len(losses) != len(expected):
        raise tools.Failed(f"{len(losses)} steps were run, {len(expected)} were expected")
    return max(abs(a - b) / abs(b) for a, b in zip(losses, expected))


def compare(program, losses, expected):
    difference = largest_difference(losses, expected)
    if not difference <= program.tolerance:  # not a number fails, too
        raise tools.Failed(f"losses differ from the CPU target's by {difference:.2e}, more than {program.tolerance:.0e}: "
                           f"{losses} and {expected}")
    return {"largest_difference": difference, "tolerance": program.tolerance}


def same_losses(program, _):
    losses, _ = program.train("losses")
    return compare(program, losses, program.expected)


def arena_as_reported(program, _):
    _, printed = program.train("arena")
    found = re.search(r"reported peak ([\d,]+) bytes (==|!=) allocated arena ([\d,]+) bytes", printed)
    if not found or found.group(2) != "==":
        raise tools.Failed(f"the arena is not what was reported: {found.group(0) if found else printed[:300]}")
    return {"arena_bytes": int(found.group(3).replace(",", ""))}


def same_with_graph(program, _):
    """Only programs that run in one go can be captured: ranks that share a GPU meet on the host."""
    if program.entry["ranks"] > 1:
        return None
    captured, _ = program.train("captured", "--cuda-graph=on")
    launched, _ = program.train("launched", "--cuda-graph=off")
    if captured != launched:
        raise tools.Failed(f"a captured step gives other losses than launches: {captured} and {launched}")
    return {}


def same_bits(program, arguments):
    first, _ = program.train("first")
    for number in range(1, arguments.repeats):
        again, _ = program.train("again")
        if again != first:
            raise tools.Failed(f"run {number + 1} gives other losses than the first: {again} and {first}")
    return {"runs": arguments.repeats}


def checkpoints_interchange(program, _):
    """Goes on from what the CPU saved, and saves what the CPU's format says."""
    copy = program.scratch / f"{program.name}-checkpoint"
    shutil.copytree(program.folder / "cpu" / program.name / "checkpoint", copy)
    losses, _ = program.train("resumed", "--checkpoint", copy, "--resume")
    return compare(program, losses, program.expected[program.steps // 2:])


def sanitizer(tool):
    def check(program, _):
        path = shutil.which("compute-sanitizer") or "/usr/local/cuda/bin/compute-sanitizer"
        if not os.path.exists(path):
            return None
        log = program.scratch / f"{program.name}-{tool}.jsonl"
        command = program.command(log)
        command[command.index("--steps") + 1] = 2
        tools.run([path, "--tool", tool, "--error-exitcode", 1, *command], timeout=1800)
        return {}
    return check


# By name; None in place of figures says that this machine, or program, has not what it takes.
CHECKS = {
    "losses": same_losses,
    "arena": arena_as_reported,
    "cuda_graph": same_with_graph,
    "determinism": same_bits,
    "checkpoints": checkpoints_interchange,
    "memcheck": sanitizer("memcheck"),
    "racecheck": sanitizer("racecheck"),
    "initcheck": sanitizer("initcheck"),
}

"""What must hold of a built program: each check returns figures, or raises Failed."""

import json
import re
import shutil
import struct

from . import machine, programs, several, tools


class Program:
    """A program of the manifest and its binary."""

    def __init__(self, entry, folder, binary, scratch):
        self.entry, self.folder, self.binary, self.scratch = entry, folder, binary, scratch
        self.name, self.steps = entry["name"], entry["steps"]
        results = folder / "cpu" / f"{entry['model']}-{entry['precision']}"
        self.expected, self.resumed = tools.losses(results / "metrics.jsonl"), tools.losses(results / "resumed.jsonl")
        self.checkpoint = folder / "cpu" / entry["model"] / "checkpoint"
        self.tolerance = programs.TOLERANCE[entry["precision"]]
        self.first = None

    def command(self, log, *words, steps=None):
        ranks = [] if self.entry["ranks"] == 1 else ["--ranks", self.entry["ranks"], "--transport", "device-threads"]
        return [self.binary, "train", "--data", self.folder / "data" / self.entry["data"], "--log", log, *ranks,
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
    return compare(program, program.plain()[0], program.expected)


def arena_as_reported(program, _):
    _, printed = program.plain()
    found = re.search(r"reported peak ([\d,]+) bytes (==|!=) allocated arena ([\d,]+) bytes", printed)
    if not found or found.group(2) != "==":
        raise tools.Failed(f"the arena is not what was reported: {found.group(0) if found else printed[:300]}")
    return {"arena_bytes": int(found.group(3).replace(",", ""))}


def same_with_graph(program, _):
    if program.entry["ranks"] > 1:
        raise tools.Skipped("ranks that share a GPU synchronize on the host, which a CUDA graph cannot capture")
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


def tensors_of(folder):
    """The tensors of all files of a checkpoint by their names: type, shape and place."""
    tensors = {}
    for path in sorted(folder.glob("*.safetensors")):
        with open(path, "rb") as file:
            header = json.loads(file.read(struct.unpack("<Q", file.read(8))[0]))
        tensors.update({name: (its["dtype"], its["shape"]) for name, its in header.items() if name != "__metadata__"})
    return tensors


def saves_as_cpu(program, _):
    """One rank's checkpoint has the tensors that the CPU target's has."""
    if program.entry["ranks"] > 1:
        raise tools.Skipped("ranks save parts of tensors, in files of their own")
    saved = program.scratch / f"{program.name}-saved"
    shutil.rmtree(saved, ignore_errors=True)
    program.train("saved", "--checkpoint", saved, steps=program.steps // 2)
    ours, cpu = tensors_of(saved), tensors_of(program.checkpoint)
    if ours != cpu:
        different = sorted(name for name in {*ours, *cpu} if ours.get(name) != cpu.get(name))
        raise tools.Failed(f"the checkpoint differs from the CPU target's in {len(different)} tensors: "
                           f"{[(name, ours.get(name), cpu.get(name)) for name in different[:5]]}")
    return {"tensors": len(ours)}


# ---------------------------------------------------------------------------
# compute-sanitizer
# ---------------------------------------------------------------------------

def findings(printed):
    """How many errors a run reports; None where it ended without its summary.

    `ERROR SUMMARY: 0 errors` of memcheck and initcheck, and of racecheck
    `RACECHECK SUMMARY: 1 hazard displayed (0 errors, 1 warning)`."""
    found = re.findall(r"=+ (?:ERROR|RACECHECK) SUMMARY: (\d+) (?:error|hazard)", printed)
    return sum(map(int, found)) if found else None


def reported(printed):
    """The first reports, and the kernels where they are."""
    lines = [line.lstrip("= ") for line in printed.splitlines() if line.startswith("=========")]
    return "\n".join(line for line in lines if line and not line.startswith("COMPUTE-SANITIZER"))[:2000]


def kernels_of(program):
    """The kernels of generated code and of the runtime, by their names in the sources."""
    folders = [program.folder / "programs" / program.name, program.folder / "runtime/cuda"]
    sources = [path for folder in folders for pattern in ("*.h", "*.cuh") for path in sorted(folder.glob(pattern))]
    names = [name for path in sources for name in re.findall(r"\b(\w+_kernel)\(", path.read_text())]
    return sorted(set(names))


def sanitizer(tool):
    def check(program, _):
        path = machine.find_tool("compute-sanitizer")
        if not path:
            raise tools.Skipped("compute-sanitizer is neither on PATH nor in the CUDA toolkit")
        command = program.command(program.scratch / f"{program.name}-{tool}.jsonl", steps=2)
        # A status of its own tells errors that were found from a program that fails.  Libraries' kernels take
        # most of the time, and what they write is not seen: the arena is set, as it is without the tool.
        ours = [word for name in kernels_of(program) for word in ("--kernel-name", f"kns={name}")]
        command = [path, "--tool", tool, "--error-exitcode", 99, "--print-limit", 20, *ours, *command]
        try:
            printed = tools.run(command, timeout=540)
        except tools.Failed as error:
            if "Device not supported" in error.printed:
                raise tools.Skipped("compute-sanitizer does not support this device") from error
            if not findings(error.printed):
                raise
            printed = error.printed
        count = findings(printed)
        if count is None:
            raise tools.Failed(f"{tool} ended without a summary: {printed[-1000:]}")
        if count:
            raise tools.Failed(f"{tool} reports {count} errors: {reported(printed)}")
        return {"errors": 0}
    return check


CHECKS = {
    "losses": same_losses,
    "arena": arena_as_reported,
    "cuda_graph": same_with_graph,
    "determinism": same_bits,
    "resumes": goes_on_from_cpu,
    "saves": saves_as_cpu,
    "memcheck": sanitizer("memcheck"),
    "racecheck": sanitizer("racecheck"),
    "initcheck": sanitizer("initcheck"),
}
# Of programs of several ranks, beside these.
SEVERAL = several.checks(compare)


def of(entry):
    """The checks that a program has."""
    return CHECKS if entry["ranks"] == 1 else {**CHECKS, **SEVERAL}

"""Checks of a program of the step `wide`, most of them on one run."""

import re

from equivalence import checkpoints

from . import checks, tensors, tolerances, tools, wide

# Keys of a log line that are not results: times, and the identity of the job.
NO_RESULTS = {"seconds", "tokens_per_second", "job", "lr", "step", "loss"}


class Program(checks.Program):
    def __init__(self, entry, visit):
        super().__init__(entry, visit)
        self.results = self.metrics.parent
        self.saved, self.error = visit.scratch / f"{self.name}-saved", None

    def command(self, log, *words, steps=wide.programs.STEPS):
        return [self.binary, *wide.train_words(self.entry["data"], self.entry["run"], self.visit.references / "data", steps),
                "--log", log, "--force", *wide.programs.HEURISTIC, *self.entry["here"], *words]

    def plain(self):
        """Returns the run that several checks examine. A failed run is not repeated."""
        with self.lock:
            if self.error:
                raise self.error
            if not self.first:
                try:
                    self.first = self.train("first", *wide.SAVES, self.saved)
                except tools.Failed as error:
                    self.error = tools.Failed("its run failed, see losses")
                    raise error
            return self.first

    def lines(self):
        """Returns the lines of our log and of the CPU target's."""
        self.plain()
        return tools.read_lines(self.log("first")), tools.read_lines(self.metrics)


def held_out(program):
    """Compares the losses of evaluations, each by the tolerance of its step's loss."""
    ours, expected = ({line["step"]: line["eval_loss"] for line in lines if "eval_loss" in line} for lines in program.lines())
    allowed = tolerances.of_losses(program.entry, tools.losses(program.metrics))
    if ours.keys() != expected.keys():
        raise tools.Failed(f"there are held-out losses of steps {sorted(ours)}, expected are {sorted(expected)}")
    if wrong := [step for step in ours if not abs(ours[step] - expected[step]) <= allowed[step - 1]]:
        raise tools.Failed(f"the held-out losses {ours} differ from the CPU target's {expected} in steps {wrong}, by more than {allowed[wrong[0] - 1]:.2e}")
    return {"evaluations": len(ours), "largest_difference": max((abs(ours[step] - expected[step]) for step in ours), default=0)}


def measured(program):
    """Compares the other results in the line of step 1: norms, hooks, tokens, targets, dropped choices of experts."""
    ours, expected = ({key: value for key, value in lines[0].items() if key not in NO_RESULTS} for lines in program.lines())
    allowed = tolerances.of_gradients(program.entry)
    if wrong := [key for key in sorted({*ours, *expected}) if not near(ours.get(key), expected.get(key), allowed)]:
        raise tools.Failed(f"step 1 has " + ", ".join(f"{key} {ours.get(key)} instead of {expected.get(key)}" for key in wrong))
    return {"numbers": len(ours)}


def near(ours, expected, allowed):
    if ours is None or expected is None or isinstance(expected, int):
        return ours == expected
    return abs(ours - expected) <= allowed * abs(expected)


def first_gradients(program):
    program.plain()
    return checks.compare_gradients(program, first_means(program))


def first_means(program):
    """Compares the checkpoint of step 1: one file, or a folder with a file for each rank."""
    parts = program.saved / "step-00000001"
    if parts.is_dir():
        return tensors.means_of(checkpoints.read_checkpoint(parts))
    first = program.folder("step-1")
    first.mkdir()
    parts.with_suffix(".safetensors").rename(first / "step-00000001.safetensors")
    return tensors.first_means(first)


def launched(program):
    """Checks that separate launches give the bits of a graph whose kernels begin early."""
    whole, _ = program.plain()
    plain, _ = program.train("launched", "--cuda-graph=off", "--programmatic-launch=off")
    if plain != whole:
        raise tools.Failed(f"launches give other losses than a captured step: {plain} and {whole}")
    return {}


def same_tokens(program):
    program.plain()
    printed = tools.run([program.binary, *wide.SAMPLE, *wide.programs.HEURISTIC, "--checkpoint", program.saved], label=f"{program.name} sample", timeout=30)
    ours, expected = map(sampled, (printed, (program.results / "tokens").read_text()))
    if ours != expected:
        raise tools.Failed(f"the tokens are {ours}, the CPU target's {expected}")
    return {"tokens": len(ours)}


def sampled(printed):
    """Returns the last line of numbers that a program printed."""
    found = re.findall(r"^\d+(?: \d+)* *$", printed, re.MULTILINE)
    if not found:
        raise tools.Failed(f"no tokens were printed: {printed[-500:]}")
    return found[-1].split()


CHECKS = {"losses": checks.same_losses, "held_out": held_out, "measured": measured, "arena": checks.arena_as_reported, "gradients": first_gradients,
          "launched": launched, "tokens": same_tokens}

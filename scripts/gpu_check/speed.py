"""Tokens a second, the share of the GPU's peak, and what the kernels make of its memory.

MFU counts 6 operations a parameter and token, and 12 * layers * width * sequence of
attention (PaLM, appendix B: no discount for the causal half), over the dense bf16 rate of
the data sheet.
"""

import json
import statistics
from dataclasses import dataclass

from . import kernels, machine, matmuls, tokens, tools


# Steps that count, and before them.
STEPS = (20, 5)


@dataclass
class Bench:
    """What measurements share: the machine, and how long to measure."""
    arguments: object
    builder: object
    gpu: object
    nvcc: object
    packages: object
    environment: dict  # as it was found, but for the order of GPUs: what is not ours runs with it
    folder: object  # what is kept from one run to the next
    rehearsal: bool

    def peak(self):
        """Operations a second; None for a GPU that the table does not have."""
        if self.arguments.peak_tflops:
            return self.arguments.peak_tflops * 1e12
        return machine.peak_of(self.gpu.name) if self.gpu else None

    def steps(self):
        return (2, 1) if self.rehearsal else STEPS


class Measured:
    """A program of the manifest whose speed is measured, and its binary."""

    def __init__(self, entry, binary, scratch, bench):
        self.entry, self.binary, self.scratch, self.bench = entry, binary, scratch, bench

    def tokens(self):
        """The file that it and its peers read."""
        data, batch = self.scratch / "tokens", self.entry["batch"] * self.entry["seq"]
        if not data.exists():
            tokens.write_tokens(data, max(3 * batch + 1, 100_000 if self.bench.rehearsal else 2_000_000), self.entry["vocabulary"])
        return data

    def training(self):
        """The command that trains it, but for the number of steps."""
        return [self.binary, "train", "--data", self.tokens(), "--seed", 1, "--lr", "1e-4"]

    def run(self, *words, timeout=300):
        return tools.run([*self.training(), *words], timeout=timeout)

    def rates(self, *words):
        """Tokens a second of each step after the warm-up.

        The last step is left out: no launch of another lies between its end and the one before, as with all others."""
        log, (steps, warm) = self.scratch / "speed.jsonl", self.bench.steps()
        self.run("--steps", warm + steps + 1, "--log", log, "--force", *words)
        return [line["tokens_per_second"] for line in tools.read_lines(log) if "tokens_per_second" in line][warm:-1]

    def flops_of_token(self):
        return 6 * self.entry["parameters"] + 12 * self.entry["layers"] * self.entry["width"] * self.entry["seq"]

    def mfu(self, rate):
        peak = self.bench.peak()
        return rate * self.flops_of_token() / peak if peak else None

    def actions(self):
        """What each of a step computes and moves, as braidc has written it."""
        folder = self.bench.builder.folder / "programs" / self.entry["name"]
        return json.loads((folder / "actions.json").read_text())["programs"]["train"]["actions"]

    def figures(self, rates):
        if not rates:
            raise tools.Failed("no step was measured")
        median = statistics.median(rates)
        return {"tokens_per_second_best": max(rates), "tokens_per_second_median": median, "mfu": self.mfu(median)}


def throughput(program, *words):
    figures = program.figures(program.rates(*words))
    peak = program.bench.peak()
    without = {} if peak else {"note": "no peak rate is known of this GPU: give it by --peak-tflops"}
    predicted = sum(action.get("predicted_s", 0) for action in program.actions())
    seconds = program.entry["batch"] * program.entry["seq"] / figures["tokens_per_second_median"]
    return {"batch": program.entry["batch"], "seq": program.entry["seq"], **figures, "flops_per_token": program.flops_of_token(),
            "peak_flops": peak, **without, "step_seconds": seconds, "predicted_seconds": predicted,
            "headline": {"tokens/s": (figures["tokens_per_second_median"], None), "MFU": (figures["mfu"], None),
                         "ms a step": (seconds * 1e3, None)}}


def searched(program):
    """With the algorithms that a search at the start finds; the time of the search is not that of a step."""
    return throughput(program, f"--matmul-search={matmuls.CANDIDATES}")


def matmul_rates(program):
    figures = matmuls.measure(program.entry, program.binary, program.scratch, program.training())
    if not figures:
        raise tools.Skipped("no matmul of a step was timed")
    return {**figures, "headline": {"matmuls, share of cuBLASLt's best": (figures["share_of_best_median"], matmuls.TARGET)}}


MEASURES = {"throughput": throughput, "throughput_searched": searched, "kernels": kernels.measure, "products": matmul_rates}

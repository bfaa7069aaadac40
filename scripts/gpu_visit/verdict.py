"""The goals on a GPU and their outcomes: met, missed, or not measured with the reason."""

import re
from dataclasses import dataclass
from typing import Callable

# GPT-2 124M at 64 x 1024, or with attention by tiles where cuDNN refused it, and the Llama.
GPT, LLAMA, ANY = "^gpt2-124m(-tiles)?$", "^llama-1b$", ""


class Unknown(Exception):
    """Returns why a goal was not measured."""


@dataclass
class Demand:
    name: str
    target: float | None  # None: it was to be measured
    find: Callable  # the number, of all lines by (program, check)


def chosen(lines, programs, checks):
    return {key: line for key, line in lines.items() if re.search(programs, key[0]) and key[1] in checks}


def why(found):
    """Returns the first line of a failure, or else of a skipped check."""
    for outcome in ("failed", "skipped"):
        for (program, check), line in found.items():
            if line["outcome"] == outcome:
                return f"{program} {check} {outcome}: {line.get('reason', '').splitlines()[0][:120]}"
    return "it was not run"


def numbers(lines, programs, checks, key):
    found = chosen(lines, programs, checks)
    values = [line[key] for line in found.values() if line["outcome"] == "passed" and line.get(key) is not None]
    if not values:
        raise Unknown(why(found))
    return values


def largest(*what):
    return lambda lines: max(numbers(lines, *what))


def smallest(*what):
    return lambda lines: min(numbers(lines, *what))


def over_compile(programs, checks=("beside_compile", "beside_compile-bf16")):
    """Returns the speed relative to the faster of torch.compile's two precisions."""
    def find(lines):
        failed = {key: line for key, line in chosen(lines, programs, checks).items() if line["outcome"] != "passed"}
        passed = {check for (_, check), line in chosen(lines, programs, checks).items() if line["outcome"] == "passed"}
        if failed and not set(checks) <= passed:
            raise Unknown(why(failed))
        return min(numbers(lines, programs, checks, "ratio_median"))
    return find


def share_passed(programs, *checks):
    """Returns how many of the checks passed; a check that was never run counts as no success."""
    def find(lines):
        run = [line["outcome"] for line in chosen(lines, programs, checks).values() if line["outcome"] != "skipped"]
        missing = [check for check in checks if not any(line["outcome"] != "skipped" for line in chosen(lines, programs, [check]).values())]
        if missing:
            raise Unknown(why(chosen(lines, programs, missing)))
        return sum(outcome == "passed" for outcome in run) / len(run)
    return find


DEMANDS = [
    Demand("GPT-2 124M, 64 x 1024: tokens/s over torch.compile", 1.15, over_compile(GPT)),
    Demand("GPT-2 124M, 64 x 1024: tokens/s over llm.c", 1.2, smallest(GPT, ["beside_llm.c"], "ratio_median")),
    Demand("GPT-2 124M: MFU", 0.55, largest("^gpt2-124m", ["throughput", "throughput_searched"], "mfu")),
    Demand("Llama 1.1B: MFU", 0.6, largest(LLAMA, ["throughput", "throughput_searched"], "mfu")),
    Demand("slowest elementwise or row kernel, share of copy rate", 0.85, smallest(ANY, ["kernels"], "slowest_share_of_copy")),
    Demand("matmuls, share of the best that a search finds", 0.97, smallest(ANY, ["products"], "share_of_best_median")),
    Demand("losses as the CPU target's, share of programs", 1, share_passed(ANY, "losses", "resumes")),
    Demand("gradients of step 1, share of programs", 1, share_passed(ANY, "gradients")),
    Demand("equal bits in every run, share of programs", 1, share_passed(ANY, "determinism", "cuda_graph")),
    Demand("fall-backs: losses as the CPU target's", 1, share_passed(ANY, "fallback")),
    Demand("families, options and shapes, share of checks", 1, share_passed("^wide-", "losses", "held_out", "measured", "gradients", "launched", "tokens")),
    Demand("sanitizer finds nothing, share of programs", 1, share_passed(ANY, "memcheck", "racecheck")),
    Demand("NCCL with one rank", 1, share_passed(ANY, "nccl")),
    Demand("Llama 1.1B: tokens/s over torch.compile", None, over_compile(LLAMA, ["beside_compile-bf16"])),
]


def rows(lines):
    text = [["what was to be shown", "value", "target", ""]]
    for demand in DEMANDS:
        target = "" if demand.target is None else f">= {demand.target:g}"
        try:
            value = demand.find(lines)
        except Unknown as reason:
            text.append([demand.name, "", target, f"not measured ({reason})"])
            continue
        met = None if demand.target is None else value >= demand.target
        text.append([demand.name, f"{value:.3f}", target, "measured" if met is None else "met" if met else "MISSED"])
    if any(line.get("rehearsal") for line in lines.values()):
        text.append(["(a rehearsal: figures mean nothing)", "", "", ""])
    return text

"""Measures tokens per second, the share of the GPU's peak, and each launch's time against its prediction.

MFU counts 6 operations per parameter and token, and 12 * layers * width * sequence of
attention (PaLM, appendix B: no discount for the causal half), over the dense bf16 rate of
the data sheet.
"""

import json
import statistics

from . import machine, matmuls, programs, tokens, tools

# Number of steps that count, and of warm-up steps before them.
STEPS = (20, 5)
TURNS = (12, 4)  # beside a peer
# Time limit of a run, in seconds of the visit. A longer run hangs; other variants of the program may not.
LONGEST = 40


class Measured:
    """A program of the manifest whose speed is measured."""

    def __init__(self, entry, visit):
        self.entry, self.visit, self.name = entry, visit, entry["name"]
        self.binary = visit.binary(self.name)

    def steps(self, steps):
        return (2, 1) if self.visit.rehearsal else steps

    def tokens(self):
        """The file that the program and its peers read."""
        data, batch = self.visit.scratch / f"tokens-{self.entry['vocabulary']}", self.entry["batch"] * self.entry["seq"]
        if not data.exists():
            partial = data.with_suffix(".partial")
            tokens.write_tokens(partial, 4 * batch + 1, self.entry["vocabulary"])
            partial.rename(data)
        return data

    def run(self, run, *words, timeout):
        return tools.run([self.binary, "train", "--data", self.tokens(), "--seed", 1, "--lr", "1e-4", *words],
                         label=f"{self.name} {run}", timeout=timeout)

    def rates(self, run, steps, *words):
        """Tokens per second of each step after the warm-up.

        Leaves out the last step, because unlike all others it does not include the launches of a next step."""
        log, (steps, warm) = self.visit.scratch / f"{self.name}-{run}.jsonl", self.steps(steps)
        self.run(run, "--steps", warm + steps + 1, "--log", log, "--force", *words, timeout=LONGEST)
        return [line["tokens_per_second"] for line in tools.read_lines(log) if "tokens_per_second" in line][warm:-1]

    def profile(self, run, *words, steps=12):
        """The JSON of --profile."""
        path = self.visit.scratch / f"{self.name}-{run}-profile.json"
        self.run(run, "--steps", 3 if self.visit.rehearsal else steps, f"--profile={path}", *words, timeout=2 * LONGEST)
        return json.loads(path.read_text())

    def actions(self):
        """FLOPs, bytes and predicted seconds of each action of a step, as braidc has written them."""
        return self.visit.plans[self.name]["programs"]["train"]["actions"]

    def flops_per_token(self):
        return 6 * self.entry["parameters"] + 12 * self.entry["layers"] * self.entry["width"] * self.entry["seq"]

    def mfu(self, rate):
        peak = machine.peak_of(self.visit.gpu.name)
        return rate * self.flops_per_token() / peak if peak else None

    def figures(self, rates):
        if not rates:
            raise tools.Failed("no step was measured")
        median = statistics.median(rates)
        return {"tokens_per_second_best": max(rates), "tokens_per_second_median": median, "mfu": self.mfu(median)}


def throughput(program, run, *words):
    figures = program.figures(program.rates(run, STEPS, *words))
    seconds = program.entry["batch"] * program.entry["seq"] / figures["tokens_per_second_median"]
    predicted = sum(action.get("predicted_s", 0) for action in program.actions())
    return {"batch": program.entry["batch"], "seq": program.entry["seq"], **figures, "step_seconds": seconds, "predicted_seconds": predicted,
            "headline": {"ms a step": (seconds * 1e3, predicted * 1e3, "predicted"), "tokens/s": (figures["tokens_per_second_median"], None, ""),
                         "MFU": (figures["mfu"], None, "")}}


# ---------------------------------------------------------------------------
# Launches
# ---------------------------------------------------------------------------

# The target for a kernel that moves memory: share of the rate at which the GPU copies.
TARGET = 0.85
# The time of a shorter kernel is mostly the launch and two events.
SHORTEST = 20e-6


def launches(program, profile):
    """A line for `launches.jsonl` per action: kind, name, FLOPs, bytes, predicted and measured seconds."""
    measured = matmuls.actions_of(profile)
    if len(measured) != len(program.actions()):
        raise tools.Failed(f"{len(measured)} actions were measured, the plan has {len(program.actions())}")
    return [{"program": program.name, "name": its["name"], "seconds": its["seconds"], **action}
            for action, its in zip(program.actions(), measured)]


def kernels(program):
    """Profiles a step.  Figures are shares of the copy rate: of generated kernels together, and of the slowest one."""
    lines = launches(program, program.profile("profile", *programs.HEURISTIC))
    program.visit.output.launches(lines)
    share = lambda size, seconds: size / seconds / program.visit.copy_rate if program.visit.copy_rate else None
    moved = [(line["bytes_read"] + line["bytes_written"], line["seconds"], line["name"]) for line in lines
             if line["kind"] == "launch" and line["seconds"] > 0]
    if not moved:
        raise tools.Failed("no kernel's time was measured")
    together = share(sum(size for size, _, _ in moved), sum(seconds for _, seconds, _ in moved))
    slowest = min(((share(size, seconds), name) for size, seconds, name in moved if seconds > SHORTEST and program.visit.copy_rate),
                  default=(None, None))
    return {"kernels": len(moved), "kernels_share_of_copy": together, "slowest_share_of_copy": slowest[0], "slowest": slowest[1],
            "step_seconds": sum(line["seconds"] for line in lines),
            "headline": {"kernels, share of copy rate": (together, None, ""), "slowest kernel, share of copy rate": (slowest[0], TARGET, "target")}}


def searched(program):
    """Searches algorithms for matmuls, and keeps the plan for later runs.  Figures compare cuBLASLt's first choices with the fastest."""
    plan = program.visit.matmul_plan(program)
    profile = program.profile("search", f"--matmul-search={programs.CANDIDATES}", f"--matmul-plan={plan}", steps=4)
    program.visit.output.launches([{"program": program.name, "matmul": its} for its in profile["products"]])
    figures = matmuls.figures(profile)
    if not figures:
        raise tools.Skipped("no matmul of a step was timed")
    return {"candidates": programs.CANDIDATES, **figures,
            "headline": {"matmuls, share of the best": (figures["share_of_best_median"], matmuls.TARGET, "target")}}


# ---------------------------------------------------------------------------
# Beside peers
# ---------------------------------------------------------------------------

def beside(program, peers, rounds, results):
    """Runs ours and each peer in turns, so that clocks and heat are equal for all. Only whole turns count; a failing peer leaves."""
    turns, ended = {peer.name: [] for peer in peers}, {}
    for _ in range(rounds):
        try:
            ours = program.rates("beside", TURNS, *program.visit.best_words(program))
        except tools.Failed as error:
            ended.update({peer.name: error for peer in peers if peer.name not in ended})
            break
        except tools.Skipped:
            break
        for peer in peers:
            if peer.name in ended:
                continue
            try:
                turns[peer.name].append((ours, peer.rates(*program.steps(TURNS))))
            except (tools.Failed, tools.Skipped, OSError, ValueError) as error:
                ended[peer.name] = error
    for peer in peers:
        results.attempt(program.name, f"beside_{peer.name}",
                        lambda peer=peer: compare(program, peer, turns[peer.name], ended.get(peer.name)))


def compare(program, peer, turns, error):
    """Returns the ratio of each turn, and their minimum and median."""
    if not turns or error and not isinstance(error, tools.Skipped):
        raise error or tools.OutOfTime("the time of the step was over before the first turn")
    ratios = [statistics.median(ours) / statistics.median(theirs) for ours, theirs in turns]
    figures = {}
    for name, rates in (("braid", [rate for ours, _ in turns for rate in ours]), (peer.name, [rate for _, theirs in turns for rate in theirs])):
        figures |= {f"{name}_{key}": value for key, value in program.figures(rates).items()}
    return {"turns": len(turns), "braid_batch": program.entry["batch"], f"{peer.name}_batch": peer.batch, **figures,
            "ratio_least": min(ratios), "ratio_median": statistics.median(ratios), "ratios": ratios, f"{peer.name}_details": peer.details,
            "headline": {f"speed over {peer.name}, median of turns": (statistics.median(ratios), None, ""),
                         f"{peer.name}: tokens/s": (figures[f"{peer.name}_tokens_per_second_median"], None, ""),
                         f"{peer.name}: MFU": (figures[f"{peer.name}_mfu"], None, "")}}

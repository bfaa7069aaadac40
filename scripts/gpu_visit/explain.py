"""Each launch's measured time beside its prediction, the rates that fit the measurements, and the largest losses."""

import json
import re
from collections import defaultdict
from dataclasses import dataclass, field

from . import tools
from .results import table

# An action counts for a rate if that part of its prediction is the largest, and if it takes at least these seconds.
LONG = 20e-6


@dataclass
class Group:
    """Launches with the same name, in all layers."""
    seconds: float = 0
    predicted: float = 0
    count: int = 0
    lines: list = field(default_factory=list)

    def add(self, line):
        self.seconds += line["seconds"]
        self.predicted += line.get("predicted_s", line.get("exposed_s", 0))
        self.count += 1
        self.lines.append(line)

    def lost(self):
        return self.seconds - self.predicted


def read(folder):
    """Returns actions by program. Skips incomplete lines of an interrupted visit."""
    path = folder / "launches.jsonl"
    if not path.exists():
        raise tools.Failed(f"{folder} has no launches.jsonl: no step was profiled in this visit")
    programs = defaultdict(list)
    for text in path.read_text().splitlines():
        try:
            line = json.loads(text)
        except ValueError:
            continue
        if "kind" in line and "seconds" in line:
            programs[line["program"]].append(line)
    if not programs:
        raise tools.Failed(f"{path} has no action that was measured")
    return programs


def name_of(line):
    """The action's name without the numbers of layers and actions: "matmul -> h.*.mlp [64 x 1024 x 3072]"."""
    return re.sub(r"\.\d+\.", ".*.", re.sub(r"[@#]\d+(#\d+)?", "", line["name"]))


def groups_of(lines):
    groups = defaultdict(Group)
    for line in lines:
        groups[line["kind"], name_of(line)].add(line)
    return groups


# ---------------------------------------------------------------------------
# Rates
# ---------------------------------------------------------------------------

def bound(line):
    """Which part of the prediction is the largest: launch, matrix, vector or memory."""
    parts = {name: line.get(f"{name}_s", 0) for name in ("matrix", "vector", "memory")}
    return max(parts, key=parts.get) if line.get("predicted_s") else None


# The rate, its unit, the actions that count, and their work.
RATES = [
    ("memory", "GB/s", 1e9, lambda line: bound(line) == "memory", lambda line: line["bytes_read"] + line["bytes_written"]),
    ("bf16 matmuls", "TFLOP/s", 1e12, lambda line: line["kind"] == "matmul" and line.get("type") == "bf16" and bound(line) == "matrix",
     lambda line: line["matrix_flops"]),
    ("f32 matmuls", "TFLOP/s", 1e12, lambda line: line["kind"] == "matmul" and line.get("type") == "f32" and bound(line) == "matrix",
     lambda line: line["matrix_flops"]),
    ("attention", "TFLOP/s", 1e12, lambda line: "attention" in line["kind"] and bound(line) == "matrix", lambda line: line["matrix_flops"]),
    ("vector code", "TFLOP/s", 1e12, lambda line: line["kind"] == "launch" and bound(line) == "vector", lambda line: line["vector_flops"]),
]


def launch_of(lines):
    """Returns the seconds of a launch: the tenth percentile of actions that are mostly launch. None without any."""
    short = sorted(line["seconds"] for line in lines if line.get("predicted_s") and line["launch_s"] > 0.5 * line["predicted_s"])
    return short[len(short) // 10] if short else None


def rates_of(lines):
    """Returns rows with the rate of the target's row and the fitted rate, both without the launch's time."""
    launch = launch_of(lines)
    rows = [["rate", "the cost model", "measured", "ratio", "actions"]]
    if launch is not None:
        said = next(line["launch_s"] for line in lines if line.get("launch_s"))
        rows.append(["launch, us", f"{said * 1e6:.2f}", f"{launch * 1e6:.2f}", f"{launch / said:.2f}", ""])
    for name, unit, scale, counts, work in RATES:
        chosen = [line for line in lines if counts(line) and line["seconds"] > LONG]
        if not chosen:
            continue
        done = sum(map(work, chosen))
        part = lambda line: line["predicted_s"] - line["launch_s"]
        said, found = done / sum(map(part, chosen)), done / sum(line["seconds"] - min(launch or 0, line["seconds"] / 2) for line in chosen)
        rows.append([f"{name}, {unit}", f"{said / scale:.4g}", f"{found / scale:.4g}", f"{found / said:.2f}", str(len(chosen))])
    return rows


# ---------------------------------------------------------------------------
# The text
# ---------------------------------------------------------------------------

def ms(seconds):
    return f"{seconds * 1e3:.3f}"


def tell(name, lines, out):
    groups = groups_of(lines)
    measured, predicted = (sum(getattr(group, key) for group in groups.values()) for key in ("seconds", "predicted"))
    out(f"== {name}: {len(lines)} actions, measured {ms(measured)} ms, predicted {ms(predicted)} ms, ratio {measured / predicted:.2f}"
        if predicted else f"== {name}: {len(lines)} actions, measured {ms(measured)} ms")
    rows = [["kind", "launches", "calls", "predicted ms", "measured ms", "lost ms"]]
    for (kind, words), group in sorted(groups.items(), key=lambda its: -its[1].seconds):
        rows.append([kind, words[:70], str(group.count), ms(group.predicted), ms(group.seconds), ms(group.lost())])
    out("\n".join(table(rows)))
    out("\nrates that fit:")
    out("\n".join(table(rates_of(lines))))
    out("\nthe largest losses:")
    largest = sorted(groups.items(), key=lambda its: -its[1].lost())[:5]
    for number, ((kind, words), group) in enumerate(largest, 1):
        if group.lost() > 0:
            share = f", {group.lost() / measured:.1%} of the step"
            out(f"{number}. {ms(group.lost())} ms{share}: {group.count} x {words[:70]}, bound by {bound(group.lines[0]) or 'nothing known'}")
    out("")


def main(arguments, out=print):
    for name, lines in read(arguments.folder).items():
        tell(name, lines, out)
    return 0

"""How near each kernel of a step comes to the rate at which the GPU copies memory.

Bytes of an action are those that the cost model counts (actions.json), each operand once; the times are those
of the binary's --profile.
"""

import json
import pathlib

from . import tools

HERE = pathlib.Path(__file__).resolve().parent
TARGET = 0.85
# Shorter ones are the time of a launch and two events, not of memory.
SHORTEST = 20e-6


def copy_rate(program):
    """Bytes a second, read and written: best and median.  Measured once a run."""
    bench = program.bench
    if not hasattr(bench, "copy_rate"):
        binary = bench.builder.tool(HERE / "copy_rate.cu", program.scratch / "copy_rate")
        size, runs = (1 << 16, 3) if bench.rehearsal else (1 << 30, 50)
        printed = tools.run([binary, size, runs], timeout=120)
        bench.copy_rate = [float(word) for word in printed.split()]
    return bench.copy_rate


def measure(program):
    """The rate of generated kernels together, and of the slowest ones, as shares of a copy's."""
    best, median = copy_rate(program)
    actions = program.actions()
    profile = program.scratch / "profile.json"
    program.run("--steps", 3 if program.bench.rehearsal else 12, f"--profile={profile}")
    measured = next(its for its in json.loads(profile.read_text())["programs"] if its["program"] == "train")["actions"]
    if len(measured) != len(actions):
        raise tools.Failed(f"{len(measured)} actions were measured, the plan has {len(actions)}")
    moved = lambda action: action["bytes_read"] + action["bytes_written"]
    kernels = [(moved(action), its["seconds"], its["name"]) for action, its in zip(actions, measured)
               if action["kind"] == "launch" and its["seconds"] > 0]
    if not kernels:
        raise tools.Failed("no kernel's time was measured")
    by_kind = {}
    for action, its in zip(actions, measured):
        by_kind[action["kind"]] = by_kind.get(action["kind"], 0) + its["seconds"]
    share = lambda size, seconds: size / seconds / median
    together = share(sum(b for b, _, _ in kernels), sum(s for _, s, _ in kernels))
    long = [(share(b, s), s, name) for b, s, name in kernels if s > SHORTEST]
    slow = [its for its in long if its[0] < TARGET]
    # What there is to win: the time above that of a kernel at the target.
    lost = lambda its: its[1] * (1 - its[0] / TARGET)
    return {"copy_bytes_per_second_best": best, "copy_bytes_per_second_median": median, "kernels_share_of_copy": together,
            "kernels": len(kernels), "kernels_over_20us": len(long), "kernels_over_20us_below_target": len(slow),
            "seconds_by_kind": by_kind, "step_seconds": sum(its["seconds"] for its in measured),
            "worst_kernels": [{"share_of_copy": a, "seconds": s, "action": name}
                              for a, s, name in sorted(slow, key=lost, reverse=True)[:12]],
            "slowest_share_of_copy": min((its[0] for its in long), default=None),
            "headline": {"kernels, share of copy rate": (together, None),
                         "slowest kernel, share of copy rate": (min((its[0] for its in long), default=None), TARGET)}}

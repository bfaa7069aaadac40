"""Checks the invariants of a trace.

  check_trace.py TRACE.json ranks=N [slack=MICROSECONDS] PROGRAM=RUNS...

A process for each rank with a lane of computation and one of communication.  In a lane nothing
overlaps, but that a run of a program holds its actions.  Of a collective, the time on a lane of
communication begins after the action that starts it, on each rank; and on no rank does one end before
it has begun on all others, which shows that the clocks agree: those of devices to `slack`.
"""

import collections
import json
import pathlib
import sys

SLACK = 0.002  # microseconds: times are rounded


def spans(events, rank, lane):
    its = [event for event in events if event["ph"] == "X" and event["pid"] == rank and event["tid"] == lane]
    return sorted(its, key=lambda event: (event["ts"], -event["dur"]))


def end(event):
    return event["ts"] + event["dur"]


def check_disjoint(its):
    for before, after in zip(its, its[1:]):
        assert end(before) <= after["ts"] + SLACK, (before, after)


def check_computation(its, expected):
    runs = [event for event in its if event["cat"] == "program"]
    actions = [event for event in its if event["cat"] != "program"]
    check_disjoint(runs)
    check_disjoint(actions)
    counts = collections.Counter(event["name"].split()[0] for event in runs)
    del counts["agree"]  # before the first step, and around saves
    assert counts == expected, counts
    for run in runs:
        inside = [event for event in actions if run["ts"] - SLACK <= event["ts"] and end(event) <= end(run) + SLACK]
        assert inside and abs(sum(event["dur"] for event in inside) - run["dur"]) < len(inside) * SLACK, run
    assert all(event["args"]["action"].startswith(event["name"]) for event in actions)
    return actions


def check_communication(its, actions):
    check_disjoint(its)
    starts = iter(event for event in actions if event["args"]["kernel"] in {its_event["args"]["kernel"] for its_event in its})
    for operation in its:
        assert operation["cat"] == "collective"
        start = next(event for event in starts if event["args"]["action"] == operation["args"]["action"])
        assert operation["ts"] >= start["ts"] - max(SLACK, slack), (operation, start)


trace = json.loads(pathlib.Path(sys.argv[1]).read_text())
events = trace["traceEvents"]
expected = {name: int(count) for name, count in (word.split("=") for word in sys.argv[2:])}
ranks, slack = expected.pop("ranks"), expected.pop("slack", 0)
names = {(event["pid"], event["args"]["name"]) for event in events if event["name"] == "process_name"}
assert names == {(rank, f"rank {rank}") for rank in range(ranks)}, names
lanes = collections.Counter(event["args"]["name"] for event in events if event["name"] == "thread_name")
assert lanes == {"computation": ranks, "communication": ranks}, lanes
assert min(event["ts"] for event in events if event["ph"] == "X") == 0

operations = []
for rank in range(ranks):
    done = check_computation(spans(events, rank, 0), expected)
    operations.append(spans(events, rank, 1))
    assert bool(operations[-1]) == (ranks > 1)
    check_communication(operations[-1], done)
for same in zip(*operations, strict=True):
    assert len({event["name"] for event in same}) == 1, same
    # An operation of all ranks ends only after all have arrived at it.
    if same[0]["args"]["kernel"] in ("all_reduce", "all_gather"):
        assert min(map(end, same)) >= max(event["ts"] for event in same) - max(50, slack), same

#!/usr/bin/env python3
"""pipeline_replays.py NONE.json AUTO.json BUDGET: the plans of a pipeline without replays, and with those chosen.

The point without replays has the step of the first plan, the chosen one that of the second, which is longer than
its table; every point has a step, and the chosen one keeps the budget."""

import json
import pathlib
import sys


def main():
    none, auto, budget = (json.loads(pathlib.Path(path).read_text()) for path in sys.argv[1:])
    points = auto["recompute"]
    chosen = [point for point in points if point["chosen"]]
    assert all(point["predicted_s"] > 0 for point in points), points
    assert points[0]["predicted_s"] == none["predicted_step_s"], (points[0], none["predicted_step_s"])
    assert len(chosen) == 1 and chosen[0]["predicted_s"] == auto["predicted_step_s"], (chosen, auto["predicted_step_s"])
    assert chosen[0]["arena_bytes"] == auto["arena_bytes"] <= budget, (chosen, budget)
    for plan in (none, auto):
        assert plan["predicted_step_s"] > plan["pipeline"]["table_s"] > 0, plan["pipeline"]
    print("the chosen step is that of the table and the update, and every point has one")


main()

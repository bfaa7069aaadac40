#!/usr/bin/env python3
"""late_results.py TRACE: how often the host waits for results of a run, and whether the device had its next run in its
queue by then.  Between programs the host also waits for copies of tensors; those are not counted."""
import sys

import trace

allocations, operations = trace.read(sys.argv[1])
on_host = {number for number, a in allocations.items() if a["device"] < 0}

pending = False  # results were copied on the stream since its last event
results = {}     # events behind results: where they were recorded
worked = -1      # where work was put on the queue last
late = at_once = 0
for at, one in enumerate(operations):
    if one["op"] in ("launch", "matmul", "graph"):
        worked = at
    elif one["op"] == "copy":
        pending = any(allocation in on_host for allocation, _, _ in one.get("writes", []))
    elif one["op"] == "record":
        results.pop(one["event"], None)
        if pending:
            results[one["event"]] = at
        pending = False
    elif one["op"] == "sync_event" and one["event"] in results:
        recorded = results.pop(one["event"])  # who asks again does not wait
        late += worked > recorded
        at_once += worked < recorded
print(f"results: {late} with the next run in the queue, {at_once} without")

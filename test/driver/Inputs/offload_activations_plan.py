#!/usr/bin/env python3
"""Compares two plans of one graph, without and with its activations on the host.

offload_activations_plan.py WITHOUT.json WITH.json WITH.mlir hidden|all

Each buffer in the host's memory is written by one copy and read by one; the host's bytes are those of its buffers, which
overlap only where their lives do not; and the arena is smaller where all activations go.
"""
import json
import re
import sys

BUFFER = re.compile(r"exec\.buffer @(\S+) at (\d+) bytes (\d+) host live (\d+) to (\d+) category (\w+)")

without, with_ = (json.load(open(path, encoding="utf-8")) for path in sys.argv[1:3])
buffers, ends = {}, []
for line in open(sys.argv[3], encoding="utf-8"):
    if "exec.program @" in line:
        buffers[name := re.search(r"exec\.program @(\S+)", line).group(1)] = []
    elif match := BUFFER.search(line):
        symbol, offset, size, first, last, category = match.groups()
        assert category == "activations", line
        buffers[name].append((int(offset), int(size), int(first), int(last)))

assert "host" not in without
for name, its in buffers.items():
    entry = with_["programs"][name]
    if not its:
        assert "waiting_on_host" not in entry, name
        continue
    waiting = entry["waiting_on_host"]
    assert (waiting["count"], waiting["bytes"]) == (len(its), sum(size for _, size, _, _ in its)), name
    assert 0 <= waiting["away_at_peak_bytes"] <= waiting["bytes"]
    ends.append(max(offset + size for offset, size, _, _ in its))
    for i, (begin, size, first, last) in enumerate(its):
        for other, bytes_, born, dies in its[:i]:
            assert begin + size <= other or other + bytes_ <= begin or last < born or dies < first, "buffers overlap"
    copies = {op: [copy for copy in with_["copies"] if copy["op"] == op and copy["program"] == name]
              for op in ("copy_to_host", "copy_from_host")}
    for its_copies in copies.values():
        assert len(its_copies) == len(its) and sum(copy["bytes"] for copy in its_copies) == waiting["bytes"]
assert ends and with_["host"] == {"bytes": max(ends), "tensors": []}
smaller = without["arena_bytes"] - with_["arena_bytes"]
away = sum(p["waiting_on_host"]["away_at_peak_bytes"] for p in with_["programs"].values() if "waiting_on_host" in p)
if sys.argv[4] == "all":
    assert smaller > 0, smaller
assert smaller >= 0, smaller
assert with_["arena_bytes"] == with_["peak_bytes"] >= with_["lower_bound_bytes"]
print(f"the arena is smaller by {smaller} bytes; of {with_['host']['bytes']} on the host {away} are free at the peak")

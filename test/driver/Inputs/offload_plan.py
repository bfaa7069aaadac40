#!/usr/bin/env python3
"""Compares two plans of one graph, without and with its state on the host.

offload_plan.py WITHOUT.json WITH.json WITH.mlir

All moments and masters must be on the host, and nothing else; the host's bytes must be what these tensors take, and the
device must hold no persistent byte of them.  What of them is on the device at one time must be less than half of it.
"""
import json
import re
import sys

ALIGNMENT = 256
TENSOR = re.compile(r"exec\.tensor @(\S+) at (\d+) bytes (\d+)( host)? category (\w+) .*kind = (moment|master)")

without, with_ = (json.load(open(path, encoding="utf-8")) for path in sys.argv[1:3])
with open(sys.argv[3], encoding="utf-8") as file:
    states = {m.group(1): (int(m.group(2)), int(m.group(3)), bool(m.group(4))) for m in map(TENSOR.search, file) if m}

assert states and all(is_host for _, _, is_host in states.values()), "some state is on the device"
assert "host" not in without
host = with_["host"]
assert {t["name"]: (t["offset"], t["bytes"], True) for t in host["tensors"]} == states
end = 0
for begin, size, _ in sorted(states.values()):
    assert begin == end, "tensors on the host leave a gap"
    end = -(-(begin + size) // ALIGNMENT) * ALIGNMENT
last = max(begin + size for begin, size, _ in states.values())
assert host["bytes"] == last, (host["bytes"], last)

held = without["persistent"]["optimizer_state"]["bytes"]
assert held == end, (held, end)
assert "optimizer_state" not in with_["persistent"]
on_device = with_["programs"]["train"]["by_category"].get("optimizer_state", 0) if "train" in with_["programs"] else \
    max(program["by_category"].get("optimizer_state", 0) for program in with_["programs"].values())
assert on_device <= held / 2, (on_device, held)
smaller = without["arena_bytes"] - with_["arena_bytes"]
# Placement leaves other gaps, and so does what is computed while something is on its way.
assert 0.99 * held - on_device <= smaller <= 1.02 * held, (held, on_device, smaller)
assert with_["arena_bytes"] == with_["peak_bytes"] >= with_["lower_bound_bytes"]
assert sum(copy["bytes"] for copy in with_["copies"] if copy["op"] == "copy_from_host") == \
    sum(copy["bytes"] for copy in with_["copies"] if copy["op"] == "copy_to_host") == \
    sum(size for _, size, _ in states.values())
print(f"the arena is smaller by {smaller} of {held} bytes, which are on the host; at most {on_device} of them on the device")

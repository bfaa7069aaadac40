"""Traces of the shim: lists of operations in order of issue (shim/Recorder.h describes the lines)."""
import json


def read(path):
    """The allocations, by number, and the operations of a trace, in order of issue."""
    allocations, operations = {}, []
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            one = json.loads(line)
            if one["op"] == "allocate":
                allocations[one["allocation"]] = one
            else:
                operations.append(one)
    # Operations of a group have one number, and stay as they come.
    operations.sort(key=lambda one: one["n"])
    return allocations, operations


def name(one):
    """Returns a readable description of an operation."""
    text = one.get("kernel") or one.get("kind") or one["op"]
    if "action" in one:
        text += f" of action {one['action']} in run {one['run']}"
    if "graph" in one:
        text += f", replay {one['graph'][1]} of graph {one['graph'][0]}"
    return f"#{one['n']} {text} on stream {one['stream']}"


def arena(allocations, operations, sizes):
    """The number of the allocation that is the arena: of one of these sizes, and the one that is written most."""
    uses = {number: 0 for number, a in allocations.items() if a["device"] >= 0 and a["bytes"] in sizes}
    for one in operations:
        for allocation, _, _ in one.get("writes", []):
            if allocation in uses:
                uses[allocation] += 1
    return max(uses, key=uses.get) if uses else None

#!/usr/bin/env python3
"""gathers.py MEMORY.mlir TRACE.jsonl: how many groups of NCCL and copies a gather of many tensors takes in @train."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

import compare_exec  # noqa: E402  (found beside the tests)
import memory_form  # noqa: E402
import trace  # noqa: E402

programs, _, host_bytes = memory_form.read(sys.argv[1])
actions = next(program.actions for program in programs if program.name == "train")
allocations, operations = trace.read(sys.argv[2])
count = tensors = split = copied = 0
for run in compare_exec.runs_of(operations, allocations, compare_exec.host_memory(allocations, operations, host_bytes)):
    for index, its in run.actions:
        calls = [one for one in its if one["op"] == "collective" and one["kind"] == "all_gather"]
        if len(run.actions) < len(actions) or actions[index].inner != "comm.all_gather" or len(calls) < 2:
            continue
        count, tensors = count + 1, tensors + len(calls)
        split += len({call["n"] for call in calls}) > 1
        copied += any(one["op"] in ("copy", "launch") for one in its)
print(f"{count} gathers of {tensors} tensors, {split} of more than a group, {copied} with copies")

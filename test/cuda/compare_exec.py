#!/usr/bin/env python3
"""Compares what ran (traces of the shim) with what `exec` says (`braidc --emit=memory`).

compare_exec.py [--staged] MEMORY.mlir TRACE.jsonl...

Each run of a program in a trace must be that of one program of the module: its actions in their order, each touching
only bytes of its operands, writing all bytes of its outs, collectives of the kind that the action starts on another
stream than computation's, with so many CTAs as the module says, matmuls beside them for the multiprocessors that these
leave, and waits for the collective that they name.  All ranks must have run the same
collectives in the same order.  With --staged another thread moves the data of collectives through the host, and what it
copies for which is not compared.
"""
import sys

import memory_form
import trace
from memory_form import merged, without

# Operations that may move a collective's data if the library has no call for it, or if blocks are not equal.
CALLS = {
    "comm.all_reduce": {"all_reduce"},
    "comm.reduce_scatter": {"reduce_scatter", "reduce"},
    "comm.all_gather": {"all_gather", "broadcast", "send", "recv"},
    "comm.broadcast": {"broadcast"},
    "comm.reduce": {"reduce"},
    "comm.all_to_all": {"send", "recv"},
    "comm.gather": {"send", "recv"},
    "comm.scatter": {"send", "recv"},
    "comm.permute": {"send", "recv"},
    "comm.send": {"send"},
    "comm.recv": {"recv"},
    "comm.barrier": {"all_reduce"},
}


# Multiprocessors of the shim's devices.
MULTIPROCESSORS = 132
CALLS_WITH_WORKSPACE = {"exec.matmul", "exec.scatter_add", "exec.attention", "exec.attention_grad"}


class Run:
    """A run of a program: the operations of each action, in the order of issue."""

    def __init__(self):
        self.actions = []  # (index, operations)

    def add(self, one):
        if not self.actions or self.actions[-1][0] != one["action"]:
            self.actions.append((one["action"], []))
        self.actions[-1][1].append(one)


def is_hosts(one, allocations, host):
    """Returns whether an operation copies inputs or results between host and device. Such copies are not actions."""
    if any(a == host for a, _, _ in one.get("reads", []) + one.get("writes", [])):
        return False
    sides = {allocations[a]["device"] >= 0 for a, _, _ in one.get("reads", []) + one.get("writes", [])}
    return one["op"] == "copy" and (sides != {True} or not one["reads"] or not one["writes"])


def host_memory(allocations, operations, sizes):
    """Returns the number of this rank's pinned allocation with tensors; None if there is none."""
    used = {a for one in operations for a, _, _ in one.get("reads", []) + one.get("writes", [])}
    found = [number for number in sorted(used) if allocations[number]["device"] < 0 and allocations[number]["bytes"] in sizes]
    return found[0] if found else None


def runs_of(operations, allocations, host):
    runs = {}
    for one in operations:
        if "action" in one and not is_hosts(one, allocations, host):
            graph = tuple(one.get("graph", ()))
            runs.setdefault((one["host"] if not graph else -1, one["run"], graph), Run()).add(one)
    return list(runs.values())


def touched(operations, kind, memories, program, used):
    """Bytes of the arena, and of the host's memory behind it; `memories` has where each allocation begins.  Those in
    slots are as in the first."""
    return merged(place for one in operations for a, begin, end in one.get(kind, []) if a in memories
                  for place in program.in_first_slots(begin + memories[a], end + memories[a], used))


def text(ranges):
    return ", ".join(f"[{begin}, {end})" for begin, end in ranges[:3]) + (" ..." if len(ranges) > 3 else "")


def check_memory(action, operations, memories, program, used):
    reads = touched(operations, "reads", memories, program, used)
    writes = touched(operations, "writes", memories, program, used)
    scratch = program.workspaces if action.kind in CALLS_WITH_WORKSPACE else []
    allowed = merged(action.ins + writes)
    if bad := without(reads, allowed):
        yield f"reads bytes {text(bad)}, which are none of its operands'"
    if bad := without(writes, merged(action.outs + scratch)):
        yield f"writes bytes {text(bad)}, which are none of its outs'"
    # A scatter adds only to rows with updates.
    if action.kind != "exec.scatter_add" and (bad := without(action.outs, writes)):
        yield f"does not write bytes {text(bad)} of its outs"


def check_multiprocessors(action, operations, ctas):
    """Checks that collectives have their CTAs, and that matmuls beside them are planned for the remaining ones."""
    left = MULTIPROCESSORS - ctas if "comm.beside_collective" in action.text else 0
    for one in operations:
        if one["op"] == "collective" and one["ctas"] != ctas:
            yield f"has {one['ctas'] or 'any number of'} CTAs, not {ctas or 'any number'}"
        if one["op"] == "matmul" and one["multiprocessors"] != left:
            yield f"counts on {one['multiprocessors'] or 'all'} multiprocessors, not on {left or 'all'}"


def check_action(action, operations, memories, program, used, started, staged):
    if staged and action.kind.startswith("comm.") and (action.inner in CALLS or action.kind == "comm.wait"):
        return
    work = [one for one in operations if one["op"] not in ("record", "wait")]
    calls = {one["kind"] for one in work if one["op"] == "collective"}
    if action.kind == "comm.wait":
        if work:
            yield "does something, though it only waits"
        waited = {(one["event"], one["version"]) for one in operations if one["op"] == "wait"}
        if not waited & started.get(action.uses[0], set()):
            yield "waits for no event behind its collective"
        return
    if action.kind == "comm.start":
        started[action.result] = {(one["event"], one["version"]) for one in operations if one["op"] == "record"}
    if action.kind.startswith("comm.") and action.inner in CALLS:
        if calls - CALLS[action.inner]:
            yield f"calls {', '.join(sorted(calls))}, but is a {action.inner}"
        if not calls:
            yield "calls no collective"
    elif calls:
        yield f"calls {', '.join(sorted(calls))}, but is no collective"
    elif not work:
        yield "does nothing"
    yield from check_memory(action, operations, memories, program, used)


def compare(run, program, memories, staged):
    """Returns the difference between a run and a program; empty if there is none."""
    order = [index for index, _ in run.actions]
    if order != sorted(set(order)):
        first = next(i for i, index in enumerate(order) if i and index <= order[i - 1])
        return [f"action {order[first]} runs after action {order[first - 1]}"]
    by_index, problems, started, used = dict(run.actions), [], {}, {}
    if order and order[-1] >= len(program.actions):
        return [f"there is no action {order[-1]} in @{program.name}"]
    for index, action in enumerate(program.actions):
        if not by_index.get(index) and not action.ins and not action.outs and action.kind != "comm.wait":
            continue  # an action on nothing
        its = by_index.get(index, [])
        for problem in [*check_action(action, its, memories, program, used, started, staged),
                        *check_multiprocessors(action, its, program.ctas)]:
            problems.append(f"@{program.name}: action {index} {problem}: {action.text[:160]}")
    problems += [f"@{program.name}: uses the slots {sorted(numbers)} at {offset}, of which a run has one"
                 for offset, numbers in used.items() if len(numbers) > 1]
    return problems


def collectives(runs):
    """Returns the operations that all ranks must share, in order of issue."""
    return [(run_number, index, one["kind"], one["communicator"], one["count"], one["bytes"], one["reduction"])
            for run_number, run in enumerate(runs) for index, ops in run.actions for one in ops
            if one["op"] == "collective" and one["kind"] not in ("send", "recv")]


def check_ranks(paths, all_runs, problems):
    for path, runs in list(zip(paths, all_runs))[1:]:
        mine, first = collectives(runs), collectives(all_runs[0])
        by_communicator = lambda calls, c: [call for call in calls if call[3] == c]
        for communicator in sorted({call[3] for call in mine} & {call[3] for call in first}):
            a, b = by_communicator(first, communicator), by_communicator(mine, communicator)
            for i, (x, y) in enumerate(zip(a, b)):
                if x[2:] != y[2:]:
                    problems.append(f"collective {i} of communicator {communicator} is {x[2:]} in {paths[0]}, "
                                    f"but {y[2:]} in {path}")
                    break
            if len(a) != len(b):
                problems.append(f"communicator {communicator} has {len(a)} collectives in {paths[0]}, "
                                f"but {len(b)} in {path}")


def main():
    staged = "--staged" in sys.argv
    paths = [path for path in sys.argv[1:] if path != "--staged"]
    if len(paths) < 2:
        sys.exit(__doc__)
    programs, arenas, host_sizes = memory_form.read(paths.pop(0))
    problems, all_runs, names = [], [], {}
    for path in paths:
        allocations, operations = trace.read(path)
        arena = trace.arena(allocations, operations, arenas)
        host = host_memory(allocations, operations, host_sizes)
        memories = {arena: 0, host: memory_form.HOST}
        runs = runs_of(operations, allocations, host)
        if staged and not runs:
            continue  # of a thread that moves data
        if arena is None or not runs:
            problems.append(f"{path}: " + ("nothing ran" if arena is not None else "there is no arena"))
            continue
        for run in runs:
            found = [(compare(run, program, memories, staged), program) for program in programs]
            last = run.actions[-1][0]
            fewest, program = min(found, key=lambda pair: (last >= len(pair[1].actions), len(pair[0])))
            names[program.name] = names.get(program.name, 0) + 1
            problems += [f"{path}: {problem}" for problem in fewest]
        all_runs.append(runs)
    check_ranks(paths, all_runs, problems)
    for problem in problems[:20]:
        print("error: " + problem)
    runs = ", ".join(f"{count} runs of @{name}" for name, count in sorted(names.items()))
    print(f"{runs}, {len(problems)} differences")
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()

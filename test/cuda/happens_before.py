#!/usr/bin/env python3
"""Checks that streams and events order what the operations of a trace do to memory.

happens_before.py [--hosts-together] TRACE.jsonl...

Two operations that touch a byte, one of them writing, must be ordered: by their stream, by an event that one
stream recorded and another waited for, or because the host had waited for the one before it issued the other.  Clocks
are vectors: for each stream how many of its operations come before.  The host fills pinned memory before it
issues a copy from there, unless a device has written it, so the copy before from the same place must have ended for the
host.  With --hosts-together
what one thread of the host has waited for is known to all: where collectives are staged through the host, one thread
waits for another.
"""
import bisect
import sys

import trace


class Clocks:
    """Clocks of streams, recorded events and host threads."""

    def __init__(self):
        self.streams, self.events, self.hosts = {}, {}, {}

    def issue(self, one):
        """Returns the clock of an operation: the earlier work of its stream, and the host's knowledge."""
        clock = self.streams.setdefault(one["stream"], {})
        self.join(clock, self.hosts.get(one["host"], {}))
        clock[one["stream"]] = clock.get(one["stream"], 0) + 1
        return dict(clock)

    @staticmethod
    def join(clock, other):
        for stream, count in other.items():
            clock[stream] = max(clock.get(stream, 0), count)

    def step(self, one):
        """Follows an operation that orders others; false for those that only work."""
        host = self.hosts.setdefault(one["host"], {})
        if one["op"] == "record":
            self.events[one["event"], one["version"]] = self.issue(one)
        elif one["op"] == "wait":
            self.join(self.streams.setdefault(one["stream"], {}), self.events.get((one["event"], one["version"]), {}))
        elif one["op"] == "sync_event":
            self.join(host, self.events.get((one["event"], one["version"]), {}))
        elif one["op"] == "sync_stream":
            self.join(host, self.streams.get(one["which"], {}))
        elif one["op"] == "sync_device":
            for clock in self.streams.values():
                self.join(host, clock)
        else:
            return False
        return True


class Memory:
    """For pieces of an allocation, the last write and the reads since: (stream, count, operation)."""

    def __init__(self):
        self.starts, self.pieces = [0], [(None, {})]

    def split(self, at):
        i = bisect.bisect_right(self.starts, at) - 1
        if self.starts[i] != at:
            self.starts.insert(i + 1, at)
            write, reads = self.pieces[i]
            self.pieces.insert(i + 1, (write, dict(reads)))
            i += 1
        return i

    def over(self, begin, end):
        first = self.split(begin)
        return range(first, self.split(end))

    def read(self, begin, end, me):
        for i in self.over(begin, end):
            write, reads = self.pieces[i]
            reads[me[0]] = me
            yield from [write] if write else []

    def write(self, begin, end, me):
        covered = self.over(begin, end)
        for i in covered:
            write, reads = self.pieces[i]
            yield from reads.values()
            yield from [write] if write else []
        del self.starts[covered.start + 1:covered.stop], self.pieces[covered.start + 1:covered.stop]
        self.pieces[covered.start] = (me, {})


def check(path, together):
    allocations, operations = trace.read(path)
    if together:
        for one in operations:
            one["host"] = 0
    clocks, memory, problems, seen = Clocks(), {}, [], set()
    filled = {}  # by allocation and first byte of pinned memory: the copy that read it last

    def report(before, one, where):
        pair = (before["n"], one["n"])
        if pair not in seen:
            seen.add(pair)
            problems.append(f"{path}: nothing orders {trace.name(before)} before {trace.name(one)}; both touch {where}")

    for one in operations:
        if clocks.step(one):
            continue
        clock = clocks.issue(one)
        me = (one["stream"], clock[one["stream"]], one)
        for kind in ("reads", "writes"):
            for allocation, begin, end in one.get(kind, []):
                place = memory.setdefault(allocation, Memory())
                for stream, count, before in getattr(place, kind[:-1])(begin, end, me):
                    if count > clock.get(stream, 0):
                        report(before, one, f"bytes {begin} to {end} of allocation {allocation}")
        for allocation, begin, end in one.get("writes", []):
            for place in [place for place in filled if place[0] == allocation and begin <= place[1] < end]:
                del filled[place]
        for allocation, begin, end in one.get("reads", []):
            if one["op"] != "copy" or allocations[allocation]["device"] >= 0:
                continue
            before = filled.get((allocation, begin))
            if before and before[1] > clocks.hosts.get(one["host"], {}).get(before[0], 0):
                where = f"bytes {begin} to {end} of the host's memory {allocation}, which the host fills"
                report(before[2], one, where)
            filled[allocation, begin] = me
    return problems, len(operations)


def main():
    paths = [path for path in sys.argv[1:] if path != "--hosts-together"]
    if not paths:
        sys.exit(__doc__)
    problems, count = [], 0
    for path in paths:
        found, operations = check(path, "--hosts-together" in sys.argv)
        problems += found
        count += operations
    for problem in problems[:20]:
        print("error: " + problem)
    print(f"{count} operations, {len(problems)} not ordered")
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()

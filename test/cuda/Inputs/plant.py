#!/usr/bin/env python3
"""plant.py KIND TRACE OUT: copies a trace with one error.

wait, record: a collective's wait for computation, or the event that it waits for, is missing.  launch: a kernel did not
run.  swap: two collectives came in each other's place.  stray: a kernel wrote a byte beyond its out.
"""
import json
import sys


def main():
    kind, source, target = sys.argv[1:]
    lines = [json.loads(line) for line in open(source, encoding="utf-8")]
    of = lambda op: [i for i, one in enumerate(lines) if one["op"] == op]
    if kind in ("wait", "record"):
        # What the last collective of a program waits for: the event that computation recorded.
        calls = of("collective")
        wait = max(i for i in of("wait") if i < calls[-1] and lines[i]["stream"] == lines[calls[-1]]["stream"])
        key = lambda one: (one.get("event"), one.get("version"))
        gone = wait if kind == "wait" else next(i for i in of("record") if key(lines[i]) == key(lines[wait]))
        del lines[gone]
    elif kind == "launch":
        del lines[of("launch")[5]]
    elif kind == "swap":
        calls = of("collective")
        i = next(a for a, b in zip(calls, calls[1:]) if lines[a]["count"] != lines[b]["count"] and lines[a]["n"] != lines[b]["n"])
        j = calls[calls.index(i) + 1]
        for field in ("kind", "count", "bytes", "reads", "writes"):
            lines[i][field], lines[j][field] = lines[j][field], lines[i][field]
    elif kind == "stray":
        i = next(i for i in of("launch") if lines[i]["writes"])
        lines[i]["writes"][-1][2] += 2
    else:
        sys.exit(f"'{kind}' is no error to plant")
    with open(target, "w", encoding="utf-8") as out:
        out.writelines(json.dumps(one) + "\n" for one in lines)


if __name__ == "__main__":
    main()

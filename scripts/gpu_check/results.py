"""What came out: a JSON line for each check and measurement as soon as it is known, and a summary.

A file may hold several runs, for example one a measure: of each check the last line counts.
"""

import json
import pathlib
import threading
import time
from collections import Counter, defaultdict

from . import tools, verdict


class Results:
    def __init__(self, path, machine, goes_on):
        self.path, self.machine, self.lock = pathlib.Path(path), machine, threading.Lock()
        self.started, self.begin = round(time.time(), 3), time.monotonic()
        self.counts = Counter()
        self.passed = set()
        if goes_on and self.path.exists():
            self.passed = {key for key, line in latest([self.path]).items() if line["outcome"] == "passed"}

    def has(self, program, check):
        return (program, check) in self.passed

    def add(self, program, check, outcome, **figures):
        # When, in seconds of the run: the verdict adds up how long the machine was taken.
        when = {"run": self.started, "at": round(time.monotonic() - self.begin, 1)}
        line = json.dumps({"program": program, "check": check, "outcome": outcome, **figures, **when, **self.machine})
        with self.lock:
            self.counts[outcome] += 1
            with open(self.path, "a") as file:
                file.write(line + "\n")
            reason = f" ({figures['reason'].splitlines()[0][:160]})" if "reason" in figures else ""
            print(f"{outcome:8}{program}: {check}{reason}", flush=True)

    def attempt(self, program, check, work, again=False, needed=0):
        """Notes and returns how `work` ends, which takes about `needed` seconds; what ended well in an earlier run is
        not done `again` but for its effect."""
        known = self.has(program, check)
        if known and not again:
            return "passed"
        try:
            if not known:
                tools.commands.budget.check(needed)
            figures = work()
        except tools.Skipped as reason:
            self.add(program, check, "skipped", reason=str(reason))
            return "skipped"
        except (tools.Failed, OSError, ValueError, LookupError, ArithmeticError) as error:
            words = str(error) if isinstance(error, tools.Failed) else f"{type(error).__name__}: {error}"
            self.add(program, check, "failed", reason=words)
            return "failed"
        if not known:
            self.add(program, check, "passed", **(figures or {}))
        return "passed"

    def skip(self, program, check, reason):
        if not self.has(program, check):
            self.add(program, check, "skipped", reason=reason)


def latest(paths):
    """The last line of each check of each program; lines that a broken run left half are left out."""
    lines = {}
    for path in paths:
        for text in pathlib.Path(path).read_text().splitlines():
            try:
                line = json.loads(text)
                lines[line["program"], line["check"]] = line
            except (ValueError, KeyError, TypeError):
                continue
    return lines


# ---------------------------------------------------------------------------
# The summary
# ---------------------------------------------------------------------------

MARKS = {"passed": "ok", "failed": "FAILED", "skipped": "skipped"}


def table(rows):
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in rows]


def in_order(keys):
    return list(dict.fromkeys(keys))


def outcomes(lines):
    programs, checks = in_order(p for p, _ in lines), in_order(c for _, c in lines)
    rows = [["", *checks]]
    for program in programs:
        rows.append([program, *(MARKS.get(lines.get((program, check), {}).get("outcome"), "") for check in checks)])
    return table(rows)


def number(value):
    if isinstance(value, bool) or value is None:
        return str(value)
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def figures(lines):
    """The numbers that are to be compared with something: those that measurements put into `headline`."""
    rows = [["program", "measure", "figure", "value", "target", ""]]
    for (program, check), line in lines.items():
        for name, (value, target) in line.get("headline", {}).items():
            met = "" if target is None or value is None else "met" if value >= target else "MISSED"
            rows.append([program, check, name, number(value), "" if target is None else number(target), met])
    return table(rows) if len(rows) > 1 else []


def reasons(lines, outcome):
    """Each reason once, and whose it is."""
    whose = defaultdict(list)
    for (program, check), line in lines.items():
        if line["outcome"] == outcome:
            whose[line.get("reason", "no reason").strip()].append(f"{program} {check}")
    text = []
    for reason, names in whose.items():
        more = f" and {len(names) - 3} more" if len(names) > 3 else ""
        text.append(f"{outcome}: {', '.join(names[:3])}{more}")
        text += ["    " + line for line in reason.splitlines()[:6]]
    return text


def summarize(paths):
    """The summary as text, and how many have which outcome."""
    lines = latest(paths)
    counts = Counter(line["outcome"] for line in lines.values())
    machines = in_order(line["machine"] for line in lines.values() if "machine" in line)
    parts = [machines, outcomes(lines) if lines else [], figures(lines), reasons(lines, "skipped"),
             reasons(lines, "failed"), table(verdict.rows(lines)) if lines else [],
             [f"{counts['passed']} passed, {counts['failed']} failed, {counts['skipped']} skipped"]]
    return "\n\n".join("\n".join(part) for part in parts if part), counts

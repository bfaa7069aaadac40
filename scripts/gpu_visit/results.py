"""Results: a JSON line for each check as soon as it is known, and a summary of all lines."""

import json
import threading
from collections import Counter, defaultdict

from . import tools, verdict


class Results:
    """Appends lines to results.jsonl.  Each has the seconds of the visit at which it was known.

    The lock is taken again by a signal's handler, which may interrupt its owner."""

    def __init__(self, output, clock, machine):
        self.output, self.clock, self.machine, self.lock = output, clock, machine, threading.RLock()
        self.step, self.lines = None, {}

    def add(self, program, check, outcome, **figures):
        line = {"program": program, "check": check, "outcome": outcome, **figures, "step": self.step,
                "at": round(self.clock.now(), 1), **self.machine}
        with self.lock:
            self.lines[program, check] = line
            self.output.append("results.jsonl", json.dumps(line) + "\n")
            reason = f" ({figures['reason'].splitlines()[0][:160]})" if "reason" in figures else ""
            print(f"{self.clock.now():5.0f} s  {outcome:8}{program}: {check}{reason}", flush=True)

    def attempt(self, program, check, work):
        """Runs `work` and records its outcome. Returns its figures; None if it did not pass."""
        try:
            figures = work() or {}
        except tools.Skipped as reason:
            self.add(program, check, "skipped", reason=str(reason))
        except (tools.Failed, OSError, ValueError, LookupError, ArithmeticError) as error:
            words = str(error) if isinstance(error, tools.Failed) else f"{type(error).__name__}: {error}"
            self.add(program, check, "failed", reason=words)
        else:
            self.add(program, check, "passed", **figures)
            return figures
        return None

    def outcome(self, program, check):
        with self.lock:
            return self.lines.get((program, check), {}).get("outcome")

    def failed(self):
        """Returns whether a check failed, or there was no check."""
        with self.lock:
            return not self.lines or any(line["outcome"] == "failed" for line in self.lines.values())

    def summary(self):
        with self.lock:
            return summarize(dict(self.lines))


def read(path):
    """Returns the last line of each check of each program. Skips incomplete lines of an interrupted run."""
    lines = {}
    for text in path.read_text().splitlines():
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
    """Returns the numbers that measurements put into `headline`: a value, and its reference."""
    rows = [["program", "check", "figure", "value", "beside", ""]]
    for (program, check), line in lines.items():
        for name, (value, other, what) in line.get("headline", {}).items():
            rows.append([program, check, name, number(value), "" if other is None else number(other), what])
    return table(rows) if len(rows) > 1 else []


def reasons(lines, outcome):
    """Returns each reason once, with its checks."""
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


def summarize(lines):
    """The summary as text."""
    if not lines:
        return "nothing is known yet"
    counts = Counter(line["outcome"] for line in lines.values())
    machines = in_order(line["machine"] for line in lines.values() if "machine" in line)
    parts = [machines, outcomes(lines), figures(lines), reasons(lines, "skipped"), reasons(lines, "failed"), table(verdict.rows(lines)),
             [f"{counts['passed']} passed, {counts['failed']} failed, {counts['skipped']} skipped"]]
    return "\n\n".join("\n".join(part) for part in parts if part)

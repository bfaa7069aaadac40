"""Findings of compute-sanitizer in our kernels."""

import re

from . import machine, tools


def findings(printed):
    """Returns the number of errors that a run reports; None if it ended without its summary.

    `ERROR SUMMARY: 0 errors` of memcheck and initcheck, and of racecheck
    `RACECHECK SUMMARY: 1 hazard displayed (0 errors, 1 warning)`."""
    found = re.findall(r"=+ (?:ERROR|RACECHECK) SUMMARY: (\d+) (?:error|hazard)", printed)
    return sum(map(int, found)) if found else None


def reported(printed):
    """The first reports, with the kernels where they are."""
    lines = [line.lstrip("= ") for line in printed.splitlines() if line.startswith("=========")]
    return "\n".join(line for line in lines if line and not line.startswith("COMPUTE-SANITIZER"))[:2000]


def check(tool, program):
    path = machine.find_tool("compute-sanitizer")
    if not path:
        raise tools.Skipped("compute-sanitizer is neither on PATH nor in the CUDA toolkit")
    # A special exit status distinguishes found errors from a program that fails. Libraries' kernels would take most of
    # the time, so the tool examines only ours.
    ours = [word for name in program.visit.manifest["kernels"] for word in ("--kernel-name", f"kns={name}")]
    command = [path, "--tool", tool, "--error-exitcode", 99, "--print-limit", 20, *ours, *program.command(program.log(tool), steps=2)]
    try:
        printed = tools.run(command, label=tool)
    except tools.Failed as error:
        if "Device not supported" in error.printed:
            raise tools.Skipped("compute-sanitizer does not support this device") from error
        if not findings(error.printed):
            raise
        printed = error.printed
    count = findings(printed)
    if count is None:
        raise tools.Failed(f"{tool} ended without a summary: {printed[-1000:]}")
    if count:
        raise tools.Failed(f"{tool} reports {count} errors: {reported(printed)}")
    return {"errors": 0}

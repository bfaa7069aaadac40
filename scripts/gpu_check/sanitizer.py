"""What compute-sanitizer finds in our kernels."""

import re

from . import machine, tools


def findings(printed):
    """How many errors a run reports; None where it ended without its summary.

    `ERROR SUMMARY: 0 errors` of memcheck and initcheck, and of racecheck
    `RACECHECK SUMMARY: 1 hazard displayed (0 errors, 1 warning)`."""
    found = re.findall(r"=+ (?:ERROR|RACECHECK) SUMMARY: (\d+) (?:error|hazard)", printed)
    return sum(map(int, found)) if found else None


def reported(printed):
    """The first reports, and the kernels where they are."""
    lines = [line.lstrip("= ") for line in printed.splitlines() if line.startswith("=========")]
    return "\n".join(line for line in lines if line and not line.startswith("COMPUTE-SANITIZER"))[:2000]


def kernels_of(program):
    """The kernels of generated code and of the runtime, by their names in the sources."""
    folders = [program.folder / "programs" / program.name, program.folder / "runtime/cuda"]
    sources = [path for folder in folders for pattern in ("*.h", "*.cuh") for path in sorted(folder.glob(pattern))]
    names = [name for path in sources for name in re.findall(r"\b(\w+_kernel)\(", path.read_text())]
    return sorted(set(names))


def check(tool):
    def work(program, _):
        path = machine.find_tool("compute-sanitizer")
        if not path:
            raise tools.Skipped("compute-sanitizer is neither on PATH nor in the CUDA toolkit")
        command = program.command(program.scratch / f"{program.name}-{tool}.jsonl", steps=2)
        # A status of its own tells errors that were found from a program that fails.  Libraries' kernels take
        # most of the time, and what they write is not seen: the arena is set, as it is without the tool.
        ours = [word for name in kernels_of(program) for word in ("--kernel-name", f"kns={name}")]
        command = [path, "--tool", tool, "--error-exitcode", 99, "--print-limit", 20, *ours, *command]
        try:
            printed = tools.run(command, timeout=540)
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
    return work

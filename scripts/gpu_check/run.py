"""Builds the programs of a folder, checks them, and measures."""

import json
import pathlib
import re
import shlex
import shutil
import sys
import tempfile

from . import checks, speed, tools


class Results:
    """A JSON line for each check and measurement, as soon as it is known."""

    def __init__(self, path):
        self.path, self.counts = path, {"passed": 0, "failed": 0, "skipped": 0}

    def add(self, program, check, outcome, **figures):
        self.counts[outcome] += 1
        line = json.dumps({"program": program, "check": check, "outcome": outcome, **figures})
        if self.path:
            with open(self.path, "a") as file:
                file.write(line + "\n")
            print(f"{outcome:8}{program}: {check}", flush=True)
        else:
            print(line, flush=True)

    def attempt(self, program, check, work):
        try:
            figures = work()
        except (tools.Failed, OSError, ValueError, KeyError) as error:
            self.add(program, check, "failed", reason=str(error))
            return None
        self.add(program, check, "skipped" if figures is None else "passed", **(figures or {}))
        return figures


def build(folder, name, arguments):
    """The binary of one of the folder's programs."""
    source, place = folder / "programs" / name, folder / "build" / name
    place.mkdir(parents=True, exist_ok=True)
    if arguments.build_with:
        binary = place / "program"
        tools.run([word.format(folder=source, output=binary) for word in shlex.split(arguments.build_with)])
        return binary
    tools.run(["cmake", "-S", source, "-B", place, "-DCMAKE_BUILD_TYPE=Release"])
    tools.run(["cmake", "--build", place, "--parallel"])
    found = [path for path in place.iterdir() if path.is_file() and path.stat().st_mode & 0o111 and not path.suffix]
    if len(found) != 1:
        raise tools.Failed(f"{place} holds {len(found)} programs after its build, not one")
    return found[0]


def describe_machine():
    """The GPUs, by what the driver says; none without it."""
    if not shutil.which("nvidia-smi"):
        return []
    try:
        lines = tools.run(["nvidia-smi", "--query-gpu=name,memory.total,driver_version", "--format=csv,noheader"])
    except tools.Failed:
        return []
    return [line.strip() for line in lines.splitlines() if line.strip()]


def main(arguments, folder):
    folder = folder.resolve()
    try:
        manifest = json.loads((folder / "manifest.json").read_text())
    except (OSError, ValueError) as error:
        print(f"gpu-check: cannot read {folder}/manifest.json, which `gpu-check emit` writes last: {error}", file=sys.stderr)
        return 2
    devices = describe_machine()
    if not devices and not arguments.build_with:
        print("gpu-check: nvidia-smi finds no GPU on this machine; nothing was run", file=sys.stderr)
        return 2
    results, wanted = Results(arguments.json), re.compile(arguments.only)
    print(f"gpu-check: {'; '.join(devices) or 'built with ' + arguments.build_with}", file=sys.stderr)
    with tempfile.TemporaryDirectory(prefix="braid-gpu-run-") as scratch:
        for entry in manifest["programs"]:
            if wanted.search(entry["name"]):
                check_program(entry, folder, arguments, results, pathlib.Path(scratch))
        for entry in manifest["speed"] if devices else []:
            if wanted.search(entry["name"]):
                measure_program(entry, folder, arguments, results, pathlib.Path(scratch))
    counts = results.counts
    print(f"{counts['passed']} passed, {counts['failed']} failed, {counts['skipped']} skipped", file=sys.stderr)
    return 0 if counts["passed"] and not counts["failed"] else 1


def built(entry, folder, arguments, results):
    place = {}

    def work():
        place["binary"] = build(folder, entry["name"], arguments)
        return {}

    results.attempt(entry["name"], "build", work)
    return place.get("binary")


def check_program(entry, folder, arguments, results, scratch):
    if binary := built(entry, folder, arguments, results):
        program = checks.Built(entry, folder, binary, scratch)
        for name, check in checks.CHECKS.items():
            results.attempt(entry["name"], name, lambda check=check: check(program, arguments))


def measure_program(entry, folder, arguments, results, scratch):
    if binary := built(entry, folder, arguments, results):
        for name, measure in speed.MEASURES.items():
            results.attempt(entry["name"], name, lambda measure=measure: measure(entry, binary, scratch))

"""Builds the programs of a folder, checks them, and measures."""

import json
import os
import pathlib
import re
import shutil
import signal
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

from . import alone, beside, build, checks, machine, plan, programs, speed, tools
from .results import Results, summarize

# What can be asked for by name: a check, a measurement, or a part, which is several.
# In this order: what is least known and takes a GPU comes first, what takes longest last.
PARTS = {
    "machine": alone.CHECKS,
    "speed": list(speed.MEASURES),
    "beside": beside.names(),
    "numbers": programs.NUMBERS,
    "several": programs.SEVERAL,
    "sanitizer": programs.SANITIZER,
}
ALL = ["build", *(check for part in PARTS.values() for check in part)]


def measures_of(entry):
    return [*entry["measures"], *(f"beside_{name}" for name in entry["peers"])]


def wanted_checks(words):
    for word in words:
        if word not in ALL and word not in PARTS:
            raise tools.Failed(f"there is no check '{word}'; there are {', '.join([*PARTS, *ALL])}")
    return [check for check in ALL if not words or any(word == check or check in PARTS.get(word, []) for word in words)]


class Run:
    """The folder, the machine, and where results go."""

    def __init__(self, arguments, folder, manifest, scratch):
        self.arguments, self.folder, self.manifest, self.scratch = arguments, folder, manifest, scratch
        self.wanted, self.only = wanted_checks(arguments.parts), re.compile(arguments.only)
        self.gpu, self.nvcc = machine.find_gpu(), machine.find_nvcc()
        packages = machine.Packages(arguments.python)
        place = (arguments.build_folder or folder / "build").resolve()
        found_environment = {**os.environ, **machine.ORDER}
        os.environ.update(machine.environment_of_programs(packages, self.nvcc))
        self.builder = build.Builder(folder, place, arguments, self.gpu, self.nvcc, packages, manifest["arch"])
        self.bench = speed.Bench(arguments, self.builder, self.gpu, self.nvcc, packages, found_environment, place, manifest["rehearsal"])
        self.results = Results(arguments.json, self.described(), arguments.resume)

    def described(self):
        words = {"machine": str(self.gpu or "no GPU"), "nvcc": self.nvcc.version if self.nvcc else None, "arch": self.builder.arch}
        return {**words, "rehearsal": True} if self.manifest["rehearsal"] or self.arguments.build_with else words

    def reason_against(self):
        """Why nothing can run here; None where something can."""
        if self.arguments.build_with or self.wanted == ["build"]:
            return None
        if not self.gpu and machine.visible_gpus() == []:
            return "CUDA_VISIBLE_DEVICES hides all GPUs"
        if not self.gpu:
            return "nvidia-smi finds no GPU on this machine"
        return self.nvcc and machine.reason_against(self.gpu, self.nvcc)

    def entries(self, kind, checks_of):
        """The programs of a kind of which something is still to be done."""
        def todo(entry):
            return {"build", *checks_of(entry)} if self.wanted == ["build"] else checks_of(entry)

        return [entry for entry in self.manifest[kind] if self.only.search(entry["name"]) and
                any(check in self.wanted and not self.results.has(entry["name"], check) for check in todo(entry))]

    def needed(self, entry, check):
        return 0 if self.manifest["rehearsal"] or self.arguments.build_with else plan.needed(self.folder, entry, check, self.arguments)

    def all(self):
        checked, measured = self.entries("programs", checks.of), self.entries("speed", measures_of)
        if not checked and not measured and not self.results.passed:
            raise tools.Failed(f"no program's name matches '{self.arguments.only}'")
        self.look_at_machine()
        first = [entry for entry in measured if not entry["instead_of"]]
        self.builder.all_of([entry["name"] for entry in first])
        for entry in first:
            self.measure_or_instead(entry)
        self.builder.all_of([entry["name"] for entry in checked])
        binaries = {entry["name"]: self.built(entry, checks.of(entry)) for entry in checked}
        if self.wanted == ["build"]:
            return
        for part in ("numbers", "several", "sanitizer"):
            self.side_by_side([(entry, binaries[entry["name"]], PARTS[part]) for entry in checked if binaries[entry["name"]]])

    def look_at_machine(self):
        for check in alone.CHECKS:
            if check in self.wanted and not self.arguments.only:
                scratch = self.scratch / alone.MACHINE
                scratch.mkdir()
                self.results.attempt(alone.MACHINE, check, lambda: alone.nccl(self.bench, scratch))

    def measure_or_instead(self, entry):
        """One that a library of this machine refuses is measured as it is compiled without that: as little as has to be."""
        if self.measure(entry) != "failed":
            return
        for other in self.manifest["speed"]:
            if other["instead_of"] == entry["name"] and self.measure(other) != "failed":
                return

    def side_by_side(self, checks_of_programs):
        """Checks are small programs, and several of them share a GPU well; measurements want it for themselves."""
        with ThreadPoolExecutor(self.arguments.workers) as pool:
            try:
                for future in [pool.submit(self.check, *each) for each in checks_of_programs]:
                    future.result()
            except BaseException:
                tools.commands.stop()
                pool.shutdown(cancel_futures=True)
                raise

    def built(self, entry, checks):
        """The program's binary; without one none of its checks can be made."""
        place = []

        def work():
            place.append(self.builder.binary(entry["name"]))
            return {}

        self.results.attempt(entry["name"], "build", work, again=True)
        if not place:
            for name in checks:
                if name in self.wanted:
                    self.results.skip(entry["name"], name, "it was not built")
        return place[0] if place else None

    def check(self, entry, binary, part):
        scratch = self.scratch / entry["name"]
        scratch.mkdir()
        program = checks.Program(entry, self.folder, binary, scratch)
        for name, check in checks.of(entry).items():
            if name in self.wanted and name in part:
                self.results.attempt(entry["name"], name, lambda check=check: check(program, self.arguments),
                                     needed=self.needed(entry, name))
        shutil.rmtree(scratch)

    def measure(self, entry):
        """How its first measurement ended: it failed where the program does not run here."""
        binary = self.built(entry, measures_of(entry))
        if not binary:
            return "failed"
        if self.wanted == ["build"]:
            return "passed"
        scratch = self.scratch / entry["name"]
        scratch.mkdir()
        program = speed.Measured(entry, binary, scratch, self.bench)
        outcomes = []
        for name in entry["measures"]:
            if name in self.wanted and outcomes[:1] != ["failed"]:
                outcomes.append(self.results.attempt(entry["name"], name, lambda name=name: speed.MEASURES[name](program),
                                                     needed=self.needed(entry, name)))
        if outcomes[:1] != ["failed"]:
            beside.measure(program, self.results, [name for name in self.wanted if name in measures_of(entry)],
                           lambda name: self.needed(entry, name))
        shutil.rmtree(scratch)
        return outcomes[0] if outcomes else "passed"


def interrupt(*_):
    raise KeyboardInterrupt


def read_manifest(folder):
    try:
        return json.loads((folder / "manifest.json").read_text())
    except (OSError, ValueError) as error:
        raise tools.Failed(f"cannot read {folder}/manifest.json, which `gpu-check emit` writes last: {error}") from error


def tell_plan(arguments, folder):
    """The commands of one visit, and what each will do."""
    folder = folder.resolve()
    wanted, parts = wanted_checks(arguments.parts), [PARTS[part] for part in ("numbers", "several", "sanitizer")]
    all_jobs = list(plan.jobs(folder, read_manifest(folder), arguments, wanted, parts))
    words = "".join(f" {word}" for word in arguments.parts)
    print(plan.tell(all_jobs, arguments.budget, f"gpu-check run {folder}{words} --budget {arguments.budget:.0f} --resume"))
    return 0


def main(arguments, folder):
    folder = folder.resolve()
    manifest = read_manifest(folder)
    signal.signal(signal.SIGTERM, interrupt)  # as `timeout` ends a command: what is known is told all the same
    budget = tools.Budget(arguments.budget)
    with tempfile.TemporaryDirectory(prefix="braid-gpu-run-", ignore_cleanup_errors=True) as scratch:
        run = Run(arguments, folder, manifest, pathlib.Path(scratch))
        tools.commands.budget = budget  # looking at the machine counts, and is never what is left out
        if reason := run.reason_against():
            raise tools.Failed(f"{reason}; nothing was run")
        print(f"gpu-check: {run.described()}", file=sys.stderr)
        try:
            run.all()
            interrupted = False
        except (KeyboardInterrupt, tools.Stopped):
            tools.commands.stop()
            interrupted = True
    return tell([arguments.json], interrupted)


def tell(paths, interrupted=False):
    existing = [path for path in paths if path.exists()]
    text, counts = summarize(existing)
    print(f"\n{text}")
    if interrupted:
        print(f"interrupted; what was known is in {', '.join(map(str, paths))}, and --resume goes on from there")
        return 130
    return 0 if counts["passed"] and not counts["failed"] else 1

"""A visit: the carried folder, the machine, and the steps. Each step has a time limit, and none can stop the next."""

import json
import os
import pathlib
import shutil
import signal
import sys
import tempfile
import threading

from . import build, checks, machine, pack, peers, programs, speed, tools, wide_checks
from .output import EVERY, Output, Ticker
from .results import Results

# Seconds for building on the device machine, if the carried binaries do not start.
BUILDING = 130


class Visit:
    """What steps share."""

    def __init__(self, arguments, manifest, scratch, clock):
        self.folder, self.manifest, self.scratch, self.clock = arguments.folder.resolve(), manifest, scratch, clock
        self.python, self.rehearsal, self.repeats = arguments.python, manifest["rehearsal"], 3 if manifest["rehearsal"] else 10
        self.found_environment = {**os.environ, **machine.ORDER}
        self.packages, self.nvcc, self.gpu = machine.Packages(self.python), machine.find_nvcc(), machine.find_gpu()
        os.environ.update(machine.environment_of_programs(self.packages, self.nvcc))
        self.output = Output(arguments.out.resolve(), clock)
        tools.commands.log = self.output.log
        self.results = Results(self.output, clock, {"machine": str(self.gpu or "no GPU"), **({"rehearsal": True} if self.rehearsal else {})})
        self.binaries, self.references = scratch / "binaries", scratch / "references"
        self.cache = (arguments.cache or scratch / "cache").resolve()
        self.peers = set(filter(None, arguments.peers.split(",")))
        if unknown := self.peers - peers.KINDS.keys():
            raise tools.Failed(f"there is no peer {', '.join(sorted(unknown))}: peers are {', '.join(peers.KINDS)}")
        self.copy_rate, self.programs = None, {}

    def peers_among(self, names):
        """Returns those of `names` that are peers in this visit."""
        return [name for name in names if not self.peers or name in self.peers]

    def unpack(self):
        """Unpacks both archives in parallel; xz releases Python's lock."""
        threads = [threading.Thread(target=pack.unpack, args=(self.folder / f"{name}.tar.xz", self.scratch / name))
                   for name in ("binaries", "references")]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.plans = json.loads((self.references / "plans.json").read_text())

    def binary(self, name):
        return self.binaries / name

    def checked(self, entry):
        """A small program: one object for all checks, which share its plain run."""
        return self.programs.setdefault(entry["name"], (wide_checks if "run" in entry else checks).Program(entry, self))

    def measured(self, name):
        """A measured program; None where it was not emitted."""
        entry = next((entry for entry in self.manifest["speed"] if entry["name"] == name), None)
        return entry and speed.Measured(entry, self)

    def variants(self, name):
        return [speed.Measured(entry, self) for entry in self.manifest["speed"] if entry["variant_of"] == name]

    def matmul_plan(self, program):
        return self.output.path(f"{program.name}.matmul-plan.json")

    def best_words(self, program):
        """Uses the plan of an earlier search, like a user's second start, or else the heuristic's choices."""
        plan = self.matmul_plan(program)
        return [f"--matmul-plan={plan}"] if plan.exists() else programs.HEURISTIC

    def build_there(self, names=None):
        """Compiles programs from the carried sources, with all processors: all, in place of the carried binaries, or those named."""
        sources = pack.unpack(self.folder / "sources.tar.xz", self.scratch / "sources")
        arch = machine.architecture(self.manifest["arch"], self.gpu)
        every = [entry["name"] for entry in [*self.manifest["programs"], *self.manifest["wide"], *self.manifest["speed"]]]
        try:
            build.with_cmake(sources, self.scratch / "build", names or [*every, *build.TOOLS], os.cpu_count(), arch, self.packages)
        finally:  # the programs that were built in time replace those that do not start
            for built in (self.scratch / "build/bin").glob("*"):
                built.replace(self.binaries / built.name)


class Run:
    """Runs the steps of a schedule, and prints the verdict once: at the end, at second `end`, or on a signal."""

    def __init__(self, visit, schedule, end):
        self.visit, self.schedule, self.clock, self.end = visit, schedule, visit.clock, end
        self.told, self.now = threading.Lock(), None
        self.ticker = Ticker(self.tick, self.clock.real(EVERY))

    def tick(self):
        tools.commands.drain()
        self.visit.output.verdict(f"{self.visit.results.summary()}\n\nat {self.clock.now():.0f} s, in step {self.now}")
        if self.clock.now() >= self.end:
            self.tell("the time was over")

    def tell(self, why=None):
        """Prints the verdict and ends the process, even if commands still run."""
        if not self.told.acquire(blocking=False):
            return
        tools.commands.stop()
        tools.commands.drain()
        shutil.rmtree(self.visit.scratch, ignore_errors=True)
        text = f"{self.visit.results.summary()}\n\nended at {self.clock.now():.0f} s" + (f": {why}" if why else "")
        self.visit.output.verdict(text)
        print(f"\n{text}", flush=True)
        sys.stdout.flush()
        os._exit(1 if why or self.visit.results.failed() else 0)

    def step(self, name, end, work):
        self.now = self.visit.results.step = name
        self.clock.deadline = min(end, self.end)
        print(f"{self.clock.now():5.0f} s  -- {name}, until {self.clock.deadline:.0f} s", flush=True)
        try:
            work(self.visit)
        except Exception as error:  # whatever it is: the next step has its turn
            outcome = "skipped" if isinstance(error, tools.Skipped) else "failed"
            self.visit.results.add("visit", name, outcome, reason=f"{type(error).__name__}: {error}")

    def all(self):
        self.ticker.start()
        late = 0
        for step, end in self.schedule:
            self.step(step.name, end + late, step.work)
            if step.name == "start" and self.visit.results.outcome("machine", "start") == "failed":
                late = BUILDING
                self.step("build", end + late, lambda visit: visit.results.attempt("machine", "build", visit.build_there))
        self.tell()


def main(arguments):
    from . import steps  # which know what a visit is

    schedule = steps.ends(steps.chosen(arguments.steps))
    clock = tools.Clock(arguments.scale)
    tools.commands.clock = clock
    manifest = read_manifest(arguments.folder)
    with tempfile.TemporaryDirectory(prefix="braid-gpu-visit-", ignore_cleanup_errors=True) as scratch:
        visit = Visit(arguments, manifest, pathlib.Path(scratch), clock)
        if not visit.gpu:
            raise tools.Failed("nvidia-smi finds no GPU on this machine; nothing was run")
        run = Run(visit, schedule, arguments.seconds)
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: run.tell("a signal ended it"))
        print(f"gpu-visit: {visit.gpu}; results in {visit.output.folder}", flush=True)
        visit.unpack()
        run.all()
    return 0


def read_manifest(folder):
    try:
        return json.loads((folder / "manifest.json").read_text())
    except (OSError, ValueError) as error:
        raise tools.Failed(f"cannot read {folder}/manifest.json, which `gpu-visit emit` writes last: {error}") from error

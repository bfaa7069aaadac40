"""The steps of a visit with their time limits, most valuable first."""

import csv
import io
import itertools
import json
import platform
import re
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Callable

from . import checks, machine, peers, programs, speed, tools, wide, wide_checks

MACHINE = "machine"
GPT, LLAMA = "gpt2-124m", "llama-1b"
AT_ONCE = 4  # small programs share a GPU well


def side_by_side(visit, names, entries=None, known=checks.CHECKS):
    """Runs checks of small programs side by side, one check for all programs before the next check."""
    with ThreadPoolExecutor(AT_ONCE) as pool:
        for check in names:
            for program in [visit.checked(entry) for entry in entries or visit.manifest["programs"] if check in entry["checks"]]:
                pool.submit(visit.results.attempt, program.name, check, lambda program=program, check=check: known[check](program))


# ---------------------------------------------------------------------------
# The machine
# ---------------------------------------------------------------------------

PACKAGES = ["torch", "nvidia-cublas", "nvidia-cudnn-cu13", "nvidia-nccl-cu13", "triton"]
ASK = "import importlib.metadata as m; print({d.metadata['Name']: d.version for d in m.distributions() if d.metadata['Name'] in %r})"


def start(visit):
    """Checks that the carried binaries start here, and records the versions of their libraries."""
    attempt = visit.results.attempt
    carried = (entry for entry in [*visit.manifest["programs"], *visit.manifest["wide"]] if visit.binary(entry["name"]).exists())
    first = next(carried, None)
    attempt(MACHINE, "libraries", lambda: libraries(visit))
    if first:
        attempt(MACHINE, "start", lambda: visit.checked(first).train("start", steps=1) and {})
    attempt(MACHINE, "versions", lambda: {
        "python": tools.run([visit.python, "-c", ASK % PACKAGES], timeout=4).strip(), "nvcc": visit.nvcc and visit.nvcc.version,
        "glibc": "".join(platform.libc_ver())})
    for name in (GPT, LLAMA):
        if program := visit.measured(name):
            attempt(name, "epilogues", lambda program=program: epilogues(program))


def epilogues(program):
    """Lists the heuristic's algorithms of cuBLASLt for each distinct matmul and epilogue. A kernel replaces a refused epilogue."""
    lines = [json.loads(line) for line in tools.run([program.binary, "matmuls"], label=f"{program.name} matmuls", timeout=10).splitlines()
             if line.startswith("{")]
    if not lines:
        raise tools.Failed("the program lists no matmul")
    refused = [f"{line['matmul']} {line['epilogue']}: {line['refused']}" for line in lines if not line["algorithms"]]
    return {"distinct": len({line["key"] for line in lines}), "asked": len(lines), "refused": refused,
            "headline": {"epilogues that cuBLASLt refuses": (len(refused), None, f"of {len(lines)} asked")}}


def libraries(visit):
    """Fails if the loader does not find libraries of the carried binaries; the message lists them."""
    missing = {}
    for binary in sorted(visit.binaries.iterdir()):
        for name in re.findall(r"^\s*(\S+) => not found", loaded(binary), re.MULTILINE):
            missing.setdefault(name, []).append(binary.name)
    if missing:
        raise tools.Failed("; ".join(f"{name} was not found, which {', '.join(users)} need" for name, users in missing.items()))
    return {"binaries": len(list(visit.binaries.iterdir()))}


def loaded(binary):
    """Returns the output of ldd; empty for a binary that loads no library."""
    try:
        return tools.run(["ldd", binary], timeout=4)
    except tools.Failed as error:
        if "not a dynamic executable" not in error.printed:
            raise
        return ""


def nccl(visit):
    """NCCL through the runtime with one rank, and the rate at which a kernel copies memory."""
    small = visit.rehearsal
    visit.results.attempt(MACHINE, "nccl", lambda: nccl_alone(visit, 5000 if small else 1 << 22))
    figures = visit.results.attempt(MACHINE, "copy_rate", lambda: copy_rate(visit, *((1 << 16, 3) if small else (1 << 30, 50))))
    visit.copy_rate = figures and figures["bytes_per_second_median"]


def nccl_alone(visit, count):
    try:
        printed = tools.run([visit.binary("nccl_alone"), count], timeout=30)
    except tools.Failed as error:
        done = re.findall(r"^ok (.+)", error.printed, re.MULTILINE)
        raise tools.Failed(f"{error}\nwhat worked before: {', '.join(done) or 'nothing'}", error.printed) from error
    return {"version": int(re.search(r"NCCL (\d+)", printed).group(1)), "worked": re.findall(r"^ok (.+)", printed, re.MULTILINE)}


def copy_rate(visit, size, runs):
    best, median = map(float, tools.run([visit.binary("copy_rate"), size, runs], timeout=30).split())
    return {"bytes_per_second_best": best, "bytes_per_second_median": median, "headline": {"copy, TB/s": (median / 1e12, None, "")}}


# ---------------------------------------------------------------------------
# Numbers
# ---------------------------------------------------------------------------

class Warming(threading.Thread):
    """Lets torch.compile fill its cache while small programs are checked. The Llama comes first, because it takes longest."""

    def __init__(self, visit):
        super().__init__(daemon=True)
        self.visit, self.command, self.over = visit, None, threading.Event()

    def run(self):
        for name, kinds in ((LLAMA, ("compile-bf16",)), (GPT, ("compile-bf16", "compile"))):
            program = self.visit.measured(name)
            for peer in peers.of(program, self.visit.peers_among(kinds)) if program else []:
                if self.over.is_set():
                    return
                try:
                    self.command = tools.commands.start(peer.words(1, 1), label=f"warm {name} {peer.name}", env=peer.environment())
                    self.command.process.wait()
                    tools.commands.end(self.command)
                except tools.Failed as error:
                    self.visit.output.log("warm", f"{error}\n".encode())

    def stop(self):
        self.over.set()
        if self.command:
            self.command.kill()
        self.join(timeout=10)


def while_warming(visit, work):
    """Does the work of a step while torch.compile fills its cache, and waits for that until the step's time is over."""
    warming = Warming(visit)
    warming.start()
    work()
    while visit.clock.left() > 0 and warming.is_alive():
        warming.join(timeout=visit.clock.real(0.5))
    warming.stop()


def numbers(visit):
    """Compares losses, arena, gradients and graphs of all programs with the CPU target's."""
    while_warming(visit, lambda: side_by_side(visit, programs.NUMBERS))


def sanitizer(visit):
    side_by_side(visit, programs.SANITIZER)


def bits(visit):
    side_by_side(visit, programs.BITS)


def fallbacks(visit):
    side_by_side(visit, programs.FALLBACK)


def wide_numbers(visit):
    """Compares the programs of the table `wide` with the CPU target's results: those that were carried, while the device machine
    compiles the others, and then these."""
    if not visit.manifest["wide"]:
        raise tools.Skipped("no program of this step was emitted: emit --wide")
    while_warming(visit, lambda: wide_checked(visit))


def wide_checked(visit):
    carried, missing = [], []
    for entry in visit.manifest["wide"]:
        (carried if visit.binary(entry["name"]).exists() else missing).append(entry)
    names = [entry["name"] for entry in missing]
    builder = threading.Thread(target=visit.results.attempt, args=(MACHINE, "build", lambda: visit.build_there(names) and {}))
    if missing:
        builder.start()
    if carried:
        side_by_side(visit, wide.CHECKS, carried, wide_checks.CHECKS)
    if missing:
        builder.join()
        side_by_side(visit, wide.CHECKS, missing, wide_checks.CHECKS)


# ---------------------------------------------------------------------------
# Speed
# ---------------------------------------------------------------------------

def emitted(visit, name):
    program = visit.measured(name)
    if not program:
        raise tools.Skipped(f"{name} was not emitted")
    return program


def base(visit):
    """Returns the GPT-2 that runs here: the one with attention by tiles if cuDNN refuses the default."""
    names = [GPT, f"{GPT}-tiles"]
    ran = [name for name in names if visit.results.outcome(name, "throughput") == "passed"]
    return emitted(visit, next(iter(ran), GPT))


def gpt(visit):
    """Tokens per second of the default, its profile, then its variants and switches. If the default fails, the switches
    that may be the reason come first, then attention without cuDNN."""
    attempt, program = visit.results.attempt, emitted(visit, GPT)
    attempt(GPT, "throughput", lambda: speed.throughput(program, "default", *programs.HEURISTIC))
    failed = visit.results.outcome(GPT, "throughput") == "failed"
    variants = {variant.name: variant for variant in visit.variants(GPT)}
    tiles = variants.pop(f"{GPT}-tiles", None)
    if failed:
        switches(visit, program)
    if failed and tiles:
        attempt(tiles.name, "throughput", lambda: speed.throughput(tiles, "default", *programs.HEURISTIC))
    attempt(base(visit).name, "kernels", lambda: speed.kernels(base(visit)))
    for variant in variants.values():
        attempt(variant.name, "throughput", lambda variant=variant: speed.throughput(variant, "default", *programs.HEURISTIC))
        attempt(variant.name, "kernels", lambda variant=variant: speed.kernels(variant))
    if not failed:
        switches(visit, program)


def switches(visit, program):
    for switch in ("cuda-graph", "programmatic-launch"):
        visit.results.attempt(program.name, f"{switch}-off",
                              lambda switch=switch: speed.throughput(program, switch, *programs.HEURISTIC, f"--{switch}=off"))


def search(visit, name=None):
    """Searches algorithms for the matmuls, then measures the step by the plan that was found."""
    program = emitted(visit, name) if name else base(visit)
    if visit.results.attempt(program.name, "products", lambda: speed.searched(program)):
        visit.results.attempt(program.name, "throughput_searched", lambda: speed.throughput(program, "searched", *visit.best_words(program)))


def beside(visit):
    speed.beside(base(visit), peers.of(base(visit), visit.peers_among(peers.KINDS)), 2, visit.results)


def llama(visit):
    program = emitted(visit, LLAMA)
    if not visit.results.attempt(LLAMA, "throughput", lambda: speed.throughput(program, "default", *programs.HEURISTIC)):
        return
    search(visit, LLAMA)
    visit.results.attempt(LLAMA, "kernels", lambda: speed.kernels(program))
    speed.beside(program, peers.of(program, ["compile-bf16"]), 1, visit.results)


# ---------------------------------------------------------------------------
# Counters
# ---------------------------------------------------------------------------

SECTIONS = ["SpeedOfLight", "MemoryWorkloadAnalysis", "Occupancy"]
COUNTED = r"regex:layer_norm|cross_entropy|softmax|loss|adamw"


def counters(visit):
    program = base(visit)
    visit.results.attempt(program.name, "ncu", lambda: counted(visit, program))


def counted(visit, program):
    """Hardware counters of layer norm, loss and AdamW, as Nsight Compute's CSV."""
    path = machine.find_tool("ncu")
    if not path:
        raise tools.Skipped("ncu is neither on PATH nor in the CUDA toolkit")
    sections = [word for section in SECTIONS for word in ("--section", section)]
    # Does not change the clocks, because others may share the card.
    words = ["--csv", "--page", "details", "--clock-control", "none", *sections, "--kernel-name", COUNTED, "--launch-count", 6]
    printed = tools.run([path, *words, program.binary, "train", "--data", program.tokens(), "--seed", 1, "--lr", "1e-4",
                         *programs.HEURISTIC, "--cuda-graph=off", "--steps", 1],
                        label="ncu")
    table = printed[printed.find('"ID"'):] if '"ID"' in printed else ""
    visit.output.append("ncu.csv", table)
    rows = list(csv.DictReader(io.StringIO(table)))
    if not rows:
        raise tools.Failed(f"ncu counted no kernel: {printed[-500:]}")
    return {"kernels": sorted({row["Kernel Name"] for row in rows if row.get("Kernel Name")})}


# ---------------------------------------------------------------------------
# The schedule
# ---------------------------------------------------------------------------

@dataclass
class Step:
    """Begins when the previous step has ended. Ends no later than the sum of the times of all steps up to this one."""
    name: str
    takes: int
    work: Callable


SCHEDULE = [
    Step("start", 8, start),
    Step("nccl", 10, nccl),
    Step("numbers", 110, numbers),
    Step("gpt", 50, gpt),
    Step("search", 25, search),
    Step("beside", 130, beside),
    Step("llama", 130, llama),
    Step("sanitizer", 25, sanitizer),
    Step("bits", 25, bits),
    Step("fallbacks", 15, fallbacks),
    Step("counters", 25, counters),
]
# Only where they are named: a visit has no time for all.
ON_REQUEST = [Step("wide", 240, wide_numbers)]


def chosen(names):
    """The steps of a comma-separated list, in the order of the schedule, each as NAME or NAME:SECONDS; the schedule without one."""
    known = {step.name: step for step in [*SCHEDULE, *ON_REQUEST]}
    wanted = dict((word.split(":") + [""])[:2] for word in names.split(",")) if names else {step.name: "" for step in SCHEDULE}
    if unknown := wanted.keys() - known.keys():
        raise tools.Failed(f"there is no step {', '.join(sorted(unknown))}: steps are {', '.join(known)}")
    if wrong := [f"{name}:{seconds}" for name, seconds in wanted.items() if seconds and not seconds.isdigit()]:
        raise tools.Failed(f"{', '.join(wrong)}: the time of a step is a number of seconds")
    return [replace(step, takes=int(wanted[step.name] or step.takes)) for step in known.values() if step.name in wanted]


def ends(steps):
    """Returns each step with the second at which it must end."""
    return list(zip(steps, itertools.accumulate(step.takes for step in steps)))

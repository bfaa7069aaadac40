"""A visit without a GPU: runs a rehearsal's folder on the host's stand-in, with a fake driver and fake peers.

Shows the order of the steps, that no step exceeds its time, and the results of an interrupted visit.
"""

import json
import os
import pathlib
import shutil
import subprocess
import time

from . import output, tools
from .results import read, table
from .steps import SCHEDULE, ends
from .visit import read_manifest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
FAKES = ROOT / "test/cuda/Inputs/gpu-visit"
# Upper limit of a step's delay after its time: seconds of the visit to end processes, and real seconds to notice.
GRACE, NOTICE = 5, 3
FILES = 8
END = 560  # of a whole visit, as `run` has it


def main(arguments):
    if not read_manifest(arguments.folder)["rehearsal"]:
        raise tools.Failed(f"{arguments.folder} holds programs for a GPU: write a rehearsal by emit --rehearse --build-with=...")
    folder, clock = arguments.folder.resolve(), tools.Clock(arguments.scale)
    out = folder.with_name(folder.name + "-out")
    shutil.rmtree(out, ignore_errors=True)
    environment = {**os.environ, "PATH": f"{FAKES}{os.pathsep}{os.environ['PATH']}", "OUT": str(out)}
    process = subprocess.Popen([folder / "gpu-visit", "run", folder, "--scale", str(arguments.scale), "--python", FAKES / "python-with-torch"], env=environment)
    cuts = {}
    for cut in map(float, arguments.cuts.split(",")):
        while process.poll() is None and clock.now() < cut:
            time.sleep(0.05)
        copy = out.with_name(f"{out.name}-{cut:.0f}")
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(out, copy, ignore=shutil.ignore_patterns("*.partial"))  # which are gone in a moment
        cuts[cut] = copy
    process.wait()
    took = clock.now()
    broken = [*broken_rules(out, arguments.scale), *([f"it took {took:.0f} s of {END}"] if took > END + slack(arguments.scale) else [])]
    print("\n".join(["", *table(rows_of(cuts, out)), "", *(f"broken: {rule}" for rule in broken)]))
    print(f"dry run: {len(broken)} rules broken")
    return 1 if broken else 0


def slack(scale):
    return GRACE + NOTICE / scale


def rows_of(cuts, out):
    """Checks the results of an interrupted visit and of a complete one."""
    rows = [["cut at", "files", "results", "of steps", "launches", "log, bytes"]]
    for name, folder in [*((f"{cut:.0f} s", folder) for cut, folder in cuts.items()), ("never", out)]:
        lines = read(folder / "results.jsonl") if (folder / "results.jsonl").exists() else {}
        count = lambda file: len((folder / file).read_text().splitlines()) if (folder / file).exists() else 0
        size = (folder / "log.txt").stat().st_size if (folder / "log.txt").exists() else 0
        rows.append([name, str(len(list(folder.iterdir()))), str(len(lines)), str(len({line["step"] for line in lines.values()})),
                     str(count("launches.jsonl")), str(size)])
    return rows


def broken_rules(out, scale):
    """Checks the results of a visit; returns a text for each violation."""
    lines = [json.loads(text) for text in (out / "results.jsonl").read_text().splitlines()]
    steps = [step.name for step in SCHEDULE]
    seen = list(dict.fromkeys(line["step"] for line in lines))
    if seen != [name for name in steps if name in seen]:
        yield f"steps came in the order {seen}, not {steps}"
    if missing := [name for name in steps if name not in seen]:
        yield f"there is no result of {missing}"
    for step, end in ends(SCHEDULE):
        last = max((line["at"] for line in lines if line["step"] == step.name), default=0)
        if last > end + slack(scale):
            yield f"{step.name} ended at {last:.0f} s, after its {end} s"
    files = list(out.iterdir())
    if len(files) > FILES:
        yield f"there are {len(files)} files, and {FILES} come back: {sorted(file.name for file in files)}"
    if large := [file.name for file in files if file.stat().st_size > output.FILE_LIMIT]:
        yield f"{large} are larger than {output.FILE_LIMIT} bytes"
    if "ended at" not in (out / "verdict.txt").read_text():
        yield "verdict.txt is not that of the end"

#!/usr/bin/env python3
"""pass_options.py MODULE...: every option of every pass of Braid is checked.

Reads `braid-opt --help`, and runs each pass and phase with numbers and texts that make no
sense. Nothing crashes; a number is refused by the name of its option, or the module is still
valid; a text that names nothing, or is none of the words that an option takes (<auto|true>), is refused
with that text. Each pass is also run on modules of
all levels, of which most are not its own.
"""

import concurrent.futures
import functools
import re
import subprocess
import sys

OURS = re.compile("(tg|comm|exec|braid)-")
NUMBERS = ["-1", "0", str(2**62), str(-(2**63)), str(10**30), "1e999", "nan", "inf", "''"]
# A program with everything that passes look for: a mesh, a loss, a parameter, an input of the batch.
MODULE = """
comm.mesh @mesh [dp = 2]
func.func @train(%x: tensor<4x8xf32> {tg.input = "x", tg.role = #tg.role<features>},
                 %w: tensor<8x2xf32> {tg.param = #tg.param<"w", #tg.init<ones>>}) -> (tensor<f32> {tg.role = #tg.role<loss>}) {
  %y = tg.contract "bi,io->bo" %x, %w : (tensor<4x8xf32>, tensor<8x2xf32>) -> tensor<4x2xf32>
  %loss = tg.reduce sum %y dims [0, 1] : tensor<4x2xf32> -> tensor<f32>
  return %loss : tensor<f32>
}
"""
# Other options that a pass needs before it checks an option.
BESIDE = {("comm-annotate", "functions"): "layout=w:", ("comm-annotate", "batch-axes"): "layout=w:",
          ("comm-data-parallel", "shard"): "axes=dp", ("tg-make-programs", "programs"): "model=train", ("tg-make-programs", "without"): "model=train",
          ("tg-attach-hooks", "at"): "action=norm", ("tg-attach-hooks", "action"): "at=x"}
# Statements, and what needs another target, a module without a mesh, or a program of microbatches (which
# parallel/stages-refuses has).
UNREAD = {("comm-annotate", "layout"), ("exec-set-target", "arch"), ("braid-annotate", "mesh"),
          ("braid-annotate", "layout-file"),
          ("comm-stages", "axis"), ("comm-stages", "schedule"), ("comm-stages", "stages")}


def options(text):
    """Returns (pass, option, its valid values) of all passes and phases."""
    name = None
    for line in text.splitlines():
        if found := re.match(r" {6}--([\w-]+)", line):
            name = found[1]
        elif (found := re.match(r" {8}--([\w-]+)=<([\w|-]+)>", line)) and OURS.match(name):
            yield name, found[1], found[2]


@functools.cache
def run(name, options):
    command = ["braid-opt", "-", f"--{name}={options}" if options else f"--{name}"]
    return subprocess.run(command, input=MODULE, capture_output=True, text=True, timeout=60, check=False)


def check(case):
    name, option, takes, value = case
    if takes not in ("number", "string") and "|" not in takes:
        return f"{name} {option}: takes any <{takes}>; state its range with Integer or Number"
    beside = BESIDE.get((name, option), "")
    result = run(name, f"{option}={value} {beside}".strip())
    said = result.stderr
    if result.returncode not in (0, 1) or (result.returncode == 1 and not said):
        return f"{name} {option}={value}: status {result.returncode}\n{said[-2000:]}"
    if takes != "number" and value not in said:
        return f"{name} {option}={value}: not refused by its name, but status {result.returncode}\n{said[-2000:]}"
    names = f"option '{option}' of pass" in said or f" {value} " in said
    if takes == "number" and result.returncode == 1 and not names and said != run(name, beside).stderr:
        return f"{name} {option}={value}: the message does not name the option\n{said[-2000:]}"
    return None


def check_level(case):
    name, path = case
    result = subprocess.run(["braid-opt", path, f"--{name}"], capture_output=True, text=True, timeout=60, check=False)
    if result.returncode == 0 or (result.returncode == 1 and "error:" in result.stderr):
        return None
    return f"{name} {path}: status {result.returncode}\n{result.stderr[-2000:]}"


def main():
    text = subprocess.run(["braid-opt", "--help"], capture_output=True, text=True, check=True).stdout
    found = list(options(text))
    passes = [name for name in re.findall(r"^ {6}--([\w-]+)", text, re.M) if OURS.match(name)]
    levels = [(name, path) for name in passes for path in sys.argv[1:]]
    cases = [(*option, value) for option in found if option[2] == "number" for value in NUMBERS]
    cases += [(*option, "nosuch") for option in found if option[2] != "number" and option[:2] not in UNREAD]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        problems = [problem for problem in [*pool.map(check, cases), *pool.map(check_level, levels)] if problem]
    print(*problems, f"{len(cases)} options, {len(levels)} modules, {len(problems)} problems", sep="\n")
    return bool(problems) or len(cases) < 60 or len(levels) < 60


if __name__ == "__main__":
    sys.exit(main())

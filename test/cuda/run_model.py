#!/usr/bin/env python3
"""Trains a model by the CUDA target on the shim, and checks it.

run_model.py GRAPH --work FOLDER [--ranks N] [--options="--mesh=dp=2 --zero=3"] [--run="--cuda-graph off"]
             [--data FILE] [--steps N] [--tolerance X] [--staged] [--sample]

The losses, the norms at hooks and all gradients of the first step must be those of the CPU target with one rank in f32
(which is itself compared with the interpreter), every access of every kernel right, the streams in order (happens_before.py)
and the actions those of exec (compare_exec.py).  Prints one line, or what is wrong.
"""
import argparse
import hashlib
import json
import os
import pathlib
import shlex
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "equivalence" / "Inputs"))
import first_step


class Failure(Exception):
    pass


def call(command, environment=None):
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
                          env={**os.environ, **(environment or {})}, timeout=600)
    if done.returncode:
        raise Failure(f"{' '.join(map(str, command))[:300]}\nended with {done.returncode}:\n" + done.stdout[-3000:])
    return done.stdout


def text(path, length):
    """Writes text to learn: words in a random order."""
    words = ["the ", "quick ", "brown ", "fox ", "jumps ", "over ", "a ", "lazy ", "dog. "]
    state, result = 1, ""
    while len(result) < length:
        state = (state * 1103515245 + 12345) % 2**31
        result += words[state // 65536 % len(words)]
    path.write_text(result[:length])


def losses(path):
    with open(path, encoding="utf-8") as file:
        lines = [json.loads(line) for line in file]
    return [(line["step"], key, line[key]) for line in lines for key in line
            if key in ("loss", "eval_loss") or key.startswith("norm:")]


def train_command(program, args, log, checkpoints):
    command = [program, "train", "--data", args.data, *args.format, "--steps", args.steps, "--lr", args.lr, "--threads", 1, "--log", log, "--force"]
    shutil.rmtree(checkpoints, ignore_errors=True)
    command += ["--checkpoint", checkpoints, "--save-every", 1, "--keep", 0]
    if args.evaluate:
        command += ["--eval-every", 2, "--eval-batches", 1]
    return command


def reference(args):
    """Returns the losses of the CPU target, and keeps them for other runs of the same graph."""
    training = [word for word in shlex.split(args.options) if word.startswith(("--accumulate", "--clip", "--optimizer", "--hook"))]
    key = hashlib.sha1(repr((args.graph.read_text(), training, str(args.data), args.steps, args.lr)).encode()).hexdigest()[:12]
    log = args.work / f"cpu-{key}.jsonl"
    if not log.exists():
        program = args.work / f"cpu-{key}"
        call(["braidc", args.graph, *training, f"--cc={HERE / 'Inputs' / 'unoptimized-c++'}", "-o", program])
        call(train_command(program, args, f"{log}.part", log.with_suffix(".saved")))
        os.rename(f"{log}.part", log)
        program.unlink()
    return losses(log), log.with_suffix(".saved")


def build(args):
    options = ["--target=cuda:sm_90", *shlex.split(args.options)]
    folder = args.work / "cuda"
    call(["braidc", args.graph, *options, "--emit=cu", "-o", folder])
    call(["braidc", args.graph, *options, "--emit=memory", "-o", args.work / "memory.mlir"])
    call([sys.executable, HERE / "shim_build.py", folder, "-o", args.work / "shim"])


def run_options(args):
    """By default, ranks that are threads run without graphs."""
    options = shlex.split(args.run)
    captures = args.ranks > 1 and not args.staged and not any(word.startswith("--cuda-graph") for word in options)
    return options + (["--cuda-graph", "on"] if captures else [])


def run(args):
    for old in args.work.glob("trace.*.jsonl"):
        old.unlink()
    environment = {"BRAID_SHIM_TRACE": str(args.work / "trace"), "BRAID_ARENA_UNSET": "1",
                   "BRAID_SHIM_DEVICES": str(args.devices if args.devices is not None else args.ranks)}
    log, checkpoints = args.work / "cuda.jsonl", args.work / "checkpoints"
    call(train_command(args.work / "shim", args, log, checkpoints) + run_options(args), environment)
    if args.sample:
        call([args.work / "shim", "sample", "--checkpoint", checkpoints, "--length", 3, *run_options(args)],
             {**environment, "BRAID_SHIM_TRACE": str(args.work / "sample")})
    return losses(log), checkpoints


def compare(ours, theirs, tolerance):
    if [one[:2] for one in ours] != [one[:2] for one in theirs]:
        raise Failure(f"the losses are of other steps: {ours} and {theirs}")
    worst = max(abs(a[2] - b[2]) / abs(b[2]) for a, b in zip(ours, theirs))
    if not worst <= tolerance:
        raise Failure(f"losses {[one[2] for one in ours]}, but on the CPU {[one[2] for one in theirs]}: off by {worst:.1e}")
    return worst


def compare_gradients(args, ours, theirs):
    """Of checkpoints of first steps, by first moments in f32."""
    if any(option in args.options for option in ("--optimizer-state=int8", "--optimizer=sgd")):
        return "not compared"
    expected, found = (first_step.read_checkpoint(next(folder.glob("step-00000001*"))) for folder in (theirs, ours))
    worst, name = first_step.worst_error(found, expected)
    if not worst <= (first_step.TOLERANCE_BF16 if "bf16" in args.options else first_step.TOLERANCE):
        raise Failure(f"the gradient of {name} is off by {worst:.1e} of itself")
    return f"within {worst:.1e}"


def check(args):
    args.work.mkdir(parents=True, exist_ok=True)
    args.format = []
    if args.data is None:
        args.data, args.format = args.work / "text", ["--data-format=bytes"]
        text(args.data, 20000)
    build(args)
    (ours, our_checkpoints), (theirs, their_checkpoints) = run(args), reference(args)
    worst = compare(ours, theirs, args.tolerance)
    gradients = compare_gradients(args, our_checkpoints, their_checkpoints)
    traces = sorted(args.work.glob("trace.*.jsonl"))
    order = call([sys.executable, HERE / "happens_before.py", *(["--hosts-together"] if args.staged else []), *traces])
    actions = call([sys.executable, HERE / "compare_exec.py", *(["--staged"] if args.staged else []),
                    args.work / "memory.mlir", *traces])
    return f"losses within {worst:.1e}, gradients {gradients}; {order.strip()}; {actions.strip()}"


def parse(words=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("graph", type=pathlib.Path)
    parser.add_argument("--work", type=pathlib.Path, required=True)
    parser.add_argument("--ranks", type=int, default=1)
    parser.add_argument("--devices", type=int, help="how many there are (default: a device a rank)")
    parser.add_argument("--options", default="", help="of braidc")
    parser.add_argument("--run", default="", help="options of the program")
    parser.add_argument("--data", type=pathlib.Path)
    parser.add_argument("--steps", type=int, default=3)
    parser.add_argument("--lr", default="1e-2")
    parser.add_argument("--no-eval", dest="evaluate", action="store_false")
    parser.add_argument("--tolerance", type=float, default=1e-4)
    parser.add_argument("--staged", action="store_true", help="collectives go through the host")
    parser.add_argument("--sample", action="store_true", help="generate from a checkpoint, too")
    return parser.parse_args(words)


if __name__ == "__main__":
    try:
        print(check(parse()))
    except Failure as failure:
        sys.exit(f"error: {failure}")

"""Code that the benchmarks share: the places of the tools, and running them."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "scripts"))

from ports import free_port  # noqa: E402


def add_common_arguments(parser):
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "release", metavar="DIR",
                        help="build folder whose tools are used (build/release)")
    parser.add_argument("--work", type=pathlib.Path, metavar="DIR",
                        help="keep what the benchmark makes in this folder")
    parser.add_argument("--out", type=pathlib.Path, metavar="FILE",
                        help="append the JSON lines to this file instead of writing them to standard output")


def processors():
    """Returns the number of processors that this process may use."""
    return len(os.sched_getaffinity(0))


def work_folder(arguments):
    """A context manager that gives the folder for intermediate files."""
    if not arguments.work:
        return tempfile.TemporaryDirectory(prefix="braid-bench-")
    arguments.work.mkdir(parents=True, exist_ok=True)
    return _Kept(str(arguments.work.resolve()))


class _Kept:
    def __init__(self, path):
        self.path = path

    def __enter__(self):
        return self.path

    def __exit__(self, *_):
        return False


def run(command, **options):
    """Runs a command to its end; returns its output and its largest resident size in bytes."""
    command = [str(word) for word in command]
    try:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, **options)
    except FileNotFoundError:
        sys.exit(f"bench: {command[0]} does not exist; build it first (scripts/build)")
    output = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"bench: '{' '.join(command)}' ended with status {process.returncode}\n{output[-2000:]}")
    return output, usage.ru_maxrss * 1024


def run_ranks(command, ranks, **options):
    """Starts ranks as torchrun does; returns the output of rank 0, and the largest resident size of a rank."""
    port = free_port()
    processes = []
    for rank in range(ranks):
        environment = os.environ | {"RANK": str(rank), "WORLD_SIZE": str(ranks), "LOCAL_RANK": str(rank),
                                    "LOCAL_WORLD_SIZE": str(ranks), "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
        environment |= options.get("env", {})
        processes.append(subprocess.Popen([str(word) for word in command], env=environment, text=True,
                                          stdout=subprocess.PIPE if rank == 0 else subprocess.DEVNULL, stderr=subprocess.DEVNULL))
    output, resident = processes[0].stdout.read(), 0
    for process in processes:
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        resident = max(resident, usage.ru_maxrss * 1024)
    if any(process.returncode for process in processes):
        sys.exit(f"bench: '{' '.join(str(word) for word in command)}' ended with {[process.returncode for process in processes]}")
    return output, resident


def emit(record, out):
    line = json.dumps(record)
    if out:
        with open(out, "a") as file:
            file.write(line + "\n")
    else:
        print(line, flush=True)


def note(text):
    print(text, file=sys.stderr, flush=True)

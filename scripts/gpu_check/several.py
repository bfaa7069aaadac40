"""What must hold of ranks that each have a GPU: collectives over NCCL, and the end of all when one dies.

Ranks are threads of one process, or processes with the variables of torchrun.  A program that was built by
something else than nvcc (`--build-with`) rehearses: what stands for NCCL there has ranks of one process alone, so
processes communicate over gloo."""

import contextlib
import os
import re
import signal
import socket
import subprocess
import threading
import time

from . import machine, programs, tools

# Seconds that a rank waits for another, and that the end of a job may take beyond that: see Watchdog.
TIMEOUT, GRACE = 20, 40


def need_gpus(program):
    ranks, gpus = program.entry["ranks"], machine.count_gpus()
    if gpus < ranks:
        raise tools.Skipped(f"{ranks} ranks take {ranks} GPUs, and this machine has {gpus}")


def command(program, log, *words, steps=None):
    return [str(word) for word in [program.binary, "train", "--data", program.folder / "data" / program.entry["data"],
                                   "--log", log, "--force", "--timeout", TIMEOUT, *programs.TRAIN, "--steps",
                                   steps or program.steps, *words]]


def as_threads(compare, *words):
    def check(program, _):
        need_gpus(program)
        log = program.scratch / f"{program.name}-threads.jsonl"
        ranks = ["--ranks", program.entry["ranks"], "--transport", "nccl"]
        printed = tools.run(command(program, log, *ranks, *words), timeout=300)
        return {**compare(program, tools.losses(log), program.expected), "graphs": has_graphs(printed)}
    return check


def has_graphs(printed):
    found = re.search(r"(each program a CUDA graph)|without CUDA graphs", printed)
    return bool(found and found.group(1))


# ---------------------------------------------------------------------------
# Processes
# ---------------------------------------------------------------------------

def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Ranks:
    """The processes of a program, which end with this."""

    def __init__(self, program, words):
        self.size, port = program.entry["ranks"], free_port()
        self.outputs = [program.scratch / f"{program.name}-rank{rank}.txt" for rank in range(self.size)]
        self.processes = []
        try:
            for rank in range(self.size):
                self.start(rank, port, words)
        except BaseException:
            self.end()
            raise

    def start(self, rank, port, words):
        places = {"RANK": rank, "LOCAL_RANK": rank, "WORLD_SIZE": self.size, "LOCAL_WORLD_SIZE": self.size,
                  "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port}
        with open(self.outputs[rank], "wb") as file:
            self.processes.append(tools.commands.start(words, file, {
                "env": {**os.environ, **{name: str(value) for name, value in places.items()}}}))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.end()

    def end(self):
        for process in self.processes:
            tools.commands.end(process)

    def printed(self):
        return "".join(f"rank {rank}:\n{output.read_text(errors='replace')[-1500:]}\n"
                       for rank, output in enumerate(self.outputs))

    def wait(self, which, seconds):
        """How many seconds they took to end; it fails where they take more."""
        begin = time.monotonic()
        for rank in which:
            left = min(begin + seconds - time.monotonic(), tools.commands.budget.left())
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.processes[rank].wait(max(left, 0.01))
            if tools.commands.stopped:
                raise tools.Stopped
            if self.processes[rank].poll() is None:
                tools.commands.budget.check()
                raise tools.Failed(f"rank {rank} has not ended after {seconds} seconds\n{self.printed()}")
        return time.monotonic() - begin


def transport(arguments):
    return "gloo" if arguments.build_with else "nccl"


def as_processes(compare, graphs):
    def check(program, arguments):
        need_gpus(program)
        over = transport(arguments)
        words = ["--transport", over, *([f"--cuda-graph={graphs}"] if over == "nccl" or graphs == "off" else [])]
        log = program.scratch / f"{program.name}-processes.jsonl"
        with Ranks(program, command(program, log, *words)) as ranks:
            ranks.wait(range(ranks.size), 300)
            if any(process.returncode for process in ranks.processes):
                raise tools.Failed(f"ranks ended with {[process.returncode for process in ranks.processes]}\n{ranks.printed()}")
            return {**compare(program, tools.losses(log), program.expected),
                    "graphs": has_graphs(ranks.outputs[0].read_text(errors="replace"))}
    return check


def steps_in(log):
    return len(log.read_text().splitlines()) if log.exists() else 0


def await_steps(ranks, log, steps, seconds):
    end = time.monotonic() + seconds
    while steps_in(log) < steps:
        # Asked first: ranks that end because the run is stopped have not failed.
        failed = time.monotonic() > end or any(process.poll() is not None for process in ranks.processes)
        if tools.commands.stopped:
            raise tools.Stopped
        tools.commands.budget.check()
        if failed:
            raise tools.Failed(f"{steps_in(log)} of {steps} steps were made before the end\n{ranks.printed()}")
        time.sleep(0.05)


def others_end(program, arguments):
    """The last rank is killed in the middle of a step: all others end in time, with a reason."""
    need_gpus(program)
    log = program.scratch / f"{program.name}-death.jsonl"
    with Ranks(program, command(program, log, "--transport", transport(arguments), steps=1000000)) as ranks:
        await_steps(ranks, log, 3, seconds=300)
        ranks.processes[-1].send_signal(signal.SIGKILL)
        others = range(ranks.size - 1)
        seconds = ranks.wait(others, TIMEOUT + GRACE)
        for rank in others:
            printed = ranks.outputs[rank].read_text(errors="replace")
            if ranks.processes[rank].returncode != 1 or "error: " not in printed:
                raise tools.Failed(f"rank {rank} ended with {ranks.processes[rank].returncode}, without a reason\n{ranks.printed()}")
        reason = next(line for line in ranks.outputs[0].read_text(errors="replace").splitlines() if "error: " in line)
    return {"seconds": round(seconds, 2), "timeout": TIMEOUT, "said": reason[:300]}


# Jobs of NCCL that share GPUs wait for each other's kernels.
one_job = threading.Lock()


def alone(check):
    def locked(program, arguments):
        with one_job:
            return check(program, arguments)
    return locked


def checks(compare):
    """`compare` holds losses against those of the CPU target."""
    all_checks = {
        "nccl_threads": as_threads(compare),
        "nccl_threads_graph": as_threads(compare, "--cuda-graph=on"),
        "nccl_processes": as_processes(compare, "off"),
        "nccl_processes_graph": as_processes(compare, "on"),
        "rank_dies": others_end,
    }
    return {name: alone(check) for name, check in all_checks.items()}

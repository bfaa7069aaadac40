"""Training jobs that a test starts, disturbs, waits for and compares.

A job is a training binary with the options of `train`.  Its ranks are threads of one
process, processes with torchrun's variables (shm, gloo), or what mpirun starts (mpi)."""

import json
import os
import pathlib
import signal
import struct
import subprocess
import sys
import tempfile
import time
import uuid

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts"))

from ports import free_port  # noqa: E402

LAUNCHERS = ("threads", "shm", "gloo", "mpi")
MPIRUN = ["mpirun", "--allow-run-as-root", "--oversubscribe", "-np"]


def torchrun_variables(rank, ranks, port):
    own = {"RANK": rank, "WORLD_SIZE": ranks, "LOCAL_RANK": rank, "LOCAL_WORLD_SIZE": ranks,
           "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port}
    return {name: str(value) for name, value in own.items()}


class Wrong(Exception):
    """A fault that a test found."""


class Job:
    """The processes of a job.  `prepare` runs in each child before the program does;
    change(rank, words, environment) alters what a process is started with, and returns whether it is."""

    def __init__(self, command, ranks=1, launcher="threads", prepare=None, change=None, stdout=subprocess.DEVNULL):
        self.mark = uuid.uuid4().hex  # tells our ranks from those of other jobs
        self.errors, self.processes = {}, {}
        self.many = launcher == "mpi"
        port = free_port()
        connects = launcher in ("shm", "gloo")
        for rank in range(ranks if connects else 1):
            own = {"BRAID_SOAK_MARK": self.mark}
            words = [*MPIRUN, str(ranks), *command] if self.many else list(command)
            if connects:
                own |= torchrun_variables(rank, ranks, port)
                words.append(f"--transport={launcher}")
            if change and not change(rank, words, own):
                continue
            self.errors[rank] = tempfile.TemporaryFile()
            self.processes[rank] = subprocess.Popen(words, env=os.environ | own, stdin=subprocess.DEVNULL, stdout=stdout,
                                                    stderr=self.errors[rank], preexec_fn=prepare)

    def pid_of(self, rank):
        """Returns None if the process has not started, or has ended."""
        if not self.many:
            process = self.processes[rank if rank in self.processes else 0]
            return process.pid if process.poll() is None else None
        marks = {f"BRAID_SOAK_MARK={self.mark}", f"OMPI_COMM_WORLD_RANK={rank}"}
        for name in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{name}/environ", errors="replace") as environment:
                    if marks <= set(environment.read().split("\0")):
                        return int(name)
            except OSError:
                pass
        return None

    def send(self, rank, number):
        """Returns whether the process still existed to receive the signal."""
        pid = self.pid_of(rank)
        try:
            if pid:
                os.kill(pid, number)
            return pid is not None
        except ProcessLookupError:
            return False

    def is_running(self):
        return any(process.poll() is None for process in self.processes.values())

    def wait(self, seconds):
        """The status of each process."""
        deadline = time.monotonic() + seconds
        while self.is_running():
            if time.monotonic() > deadline:
                late = [rank for rank, process in self.processes.items() if process.poll() is None]
                self.end()
                raise Wrong(f"after {seconds} s processes {late} are still there")
            time.sleep(0.005)
        return {rank: process.returncode for rank, process in self.processes.items()}

    def said(self, rank):
        self.errors[rank].seek(0)
        return self.errors[rank].read().decode(errors="replace").strip()

    def end(self):
        for process in self.processes.values():
            process.send_signal(signal.SIGCONT)
            process.kill()
            process.wait()


def losses(log):
    """{step: loss} of the whole lines of a log."""
    if not os.path.exists(log):
        return {}
    entries = []
    with open(log) as file:
        for line in file:
            try:
                entries += [json.loads(line)] if line.endswith("\n") else []
            except json.JSONDecodeError:
                raise Wrong(f"a line of the log is no JSON: {line}") from None
    return {entry["step"]: entry["loss"] for entry in entries if "loss" in entry}


def checkpoints(folder):
    return sorted(path.name for path in pathlib.Path(folder).glob("step-*") if ".tmp" not in path.name)


def tensors(checkpoint):
    """{(file, name): (type, shape, bytes)} of a checkpoint, one file or a folder."""
    path, found = pathlib.Path(checkpoint), {}
    for file in sorted(path.glob("*.safetensors")) if path.is_dir() else [path]:
        data = file.read_bytes()
        start = 8 + struct.unpack("<Q", data[:8])[0]
        for name, entry in json.loads(data[8:start]).items():
            if name != "__metadata__":
                begin, end = entry["data_offsets"]
                found[file.name if path.is_dir() else "", name] = entry["dtype"], entry["shape"], data[start + begin:start + end]
    return found

#!/usr/bin/env python3
"""strangers.py [OPTIONS] COMMAND...

Attacks the rendezvous of a training job while it starts and while it trains, and checks
that the job goes on: every rank ends with status 0 within --seconds, the losses are
those of an undisturbed run, and rank 0 needs at most --memory MiB more than there.
COMMAND is a training binary with the options of `train`, compiled for --ranks ranks.

Each attack is made twice (the nine are below): `before`, with strangers that are there before rank 0, while
the other ranks start a second late, and `during`, from the first step on.  Strangers know
the protocol and the port, but not the job's token.

--attack=NAME    only this one (repeated: these)
--together       all attacks at once, which is short
--rounds=N       everything N times (default: 1)
--clients=N      strangers at a time (default: 9)"""

import argparse
import json
import os
import pathlib
import random
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts"))

from ports import free_port  # noqa: E402

VALIDATE, SET, GET, CHECK, PROVE = 0, 1, 3, 5, 0x50
MAGIC = bytes([VALIDATE]) + struct.pack("<I", 0x3C85F7CE)


def string(data):
    return struct.pack("<Q", len(data)) + data


def read_all(connection):
    while connection.recv(1 << 16):
        pass


# What a stranger does with a connection; an OSError ends it, and the stranger comes again.


def garbage(connection, _):
    connection.sendall(random.randbytes(random.randint(1, 4096)))
    read_all(connection)


def silence(connection, _):
    read_all(connection)


def half(connection, _):
    connection.sendall(MAGIC + bytes([SET]) + string(b"/key") + struct.pack("<Q", 1000) + b"x" * 500)
    read_all(connection)


def getflood(connection, stop):
    """Requests a long value repeatedly, and never reads."""
    connection.sendall(MAGIC + bytes([SET]) + string(b"/x") + string(b"v" * (1 << 20)))
    while not stop.wait(0.001):
        connection.sendall((bytes([GET]) + string(b"/x")) * 60)


def memory(connection, stop):
    connection.sendall(MAGIC)
    while not stop.is_set():
        connection.sendall(bytes([SET]) + string(b"/%d" % random.getrandbits(60)) + string(b"v" * (1 << 20)))


def count(connection, stop):
    connection.sendall(MAGIC + bytes([CHECK]) + struct.pack("<Q", 1 << 60))
    while not stop.is_set():
        connection.sendall(string(b"/" + b"k" * 1000) * 100)


def preset(connection, _):
    """Keys that ranks leave for each other, with addresses that lead nowhere."""
    connection.sendall(MAGIC)
    for name in (b"0", b"1", b"rank_0", b"rank_1", b"ready-0-0", b"ready-0-1", b"failure-0", b"failure-1"):
        for prefix in (b"/braid/", b"/braid/0/", b"/braid/mesh-0/"):
            connection.sendall(bytes([SET]) + string(prefix + name) + string(b"\x7f" * 140))
    time.sleep(0.05)


def slow(connection, stop):
    """Reads a byte now and then."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
    connection.sendall(MAGIC + bytes([SET]) + string(b"/s") + string(b"v" * (1 << 20)))
    connection.sendall((bytes([GET]) + string(b"/s")) * 8)
    while connection.recv(1) and not stop.wait(0.1):
        pass


def wrongtoken(connection, _):
    connection.sendall(MAGIC + bytes([PROVE]) + random.randbytes(32))
    connection.recv(64)
    connection.sendall(random.randbytes(32))
    read_all(connection)


ATTACKS = (garbage, silence, half, getflood, memory, count, preset, slow, wrongtoken)


class Strangers:
    """Clients of the port, which make the attacks in turn from start() to end()."""

    def __init__(self, attacks, port, clients):
        self.port, self.stop, self.connected = port, threading.Event(), 0
        self.threads = [threading.Thread(target=self.run, args=(attacks[i % len(attacks)],), daemon=True)
                        for i in range(max(clients, len(attacks)))]

    def run(self, attack):
        while not self.stop.is_set():
            try:
                with socket.create_connection(("127.0.0.1", self.port), timeout=5) as connection:
                    self.connected += 1
                    attack(connection, self.stop)
            except OSError:
                self.stop.wait(0.005)

    def start(self):
        for thread in self.threads:
            thread.start()

    def end(self):
        self.stop.set()


def peak_mib(pid):
    try:
        with open(f"/proc/{pid}/status") as status:
            return next((int(line.split()[1]) for line in status if line.startswith("VmHWM")), 0) / 1024
    except OSError:
        return 0


class Job:
    def __init__(self, options, port):
        self.options, self.port = options, port
        self.log = tempfile.NamedTemporaryFile(suffix=".jsonl")
        self.processes, self.errors, self.peak = {}, {}, 0

    def start(self, rank):
        own = {"RANK": rank, "WORLD_SIZE": self.options.ranks, "LOCAL_RANK": rank, "MASTER_ADDR": "127.0.0.1",
               "LOCAL_WORLD_SIZE": self.options.ranks, "MASTER_PORT": self.port}
        environment = os.environ | {name: str(value) for name, value in own.items()}
        self.errors[rank] = tempfile.TemporaryFile()
        command = self.options.command + ["--transport=gloo", "--log", self.log.name]
        self.processes[rank] = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL,
                                                stderr=self.errors[rank])

    def losses(self):
        with open(self.log.name) as log:
            return [(entry["step"], entry["loss"]) for entry in map(json.loads, log) if "loss" in entry]

    def wait_for_steps(self):
        while os.path.getsize(self.log.name) == 0 and any(p.poll() is None for p in self.processes.values()):
            time.sleep(0.005)

    def wait(self, seconds):
        """Returns the fault, or None."""
        deadline = time.monotonic() + seconds
        while any(process.poll() is None for process in self.processes.values()):
            self.peak = max(self.peak, peak_mib(self.processes[0].pid))
            if time.monotonic() > deadline:
                late = [rank for rank, process in self.processes.items() if process.poll() is None]
                return f"after {seconds} s ranks {late} are still there"
            time.sleep(0.01)
        for rank, process in self.processes.items():
            if process.returncode:
                self.errors[rank].seek(0)
                return f"rank {rank} ended with {process.returncode}: {self.errors[rank].read().decode().strip()}"
        return None

    def end(self):
        for process in self.processes.values():
            process.kill()
            process.wait()


def run(options, attacks=(), phase=None):
    """The job and what went wrong."""
    port = free_port()
    job, strangers = Job(options, port), Strangers(attacks, port, options.clients) if attacks else None
    try:
        if phase == "before":
            strangers.start()
            time.sleep(0.05)
        job.start(0)
        if phase == "before":
            time.sleep(1)
        for rank in range(1, options.ranks):
            job.start(rank)
        if phase == "during":
            job.wait_for_steps()
            strangers.start()
        problem = job.wait(options.seconds)
        if not problem and strangers and not strangers.connected:
            problem = "no stranger reached the port"
        return job, problem
    finally:
        if strangers:
            strangers.end()
        job.end()


def check(options, reference, name, attacks, phase):
    """Whether the job goes on; prints a line."""
    begin = time.monotonic()
    job, problem = run(options, attacks, phase)
    if not problem and job.losses() != reference.losses():
        problem = "other losses than without strangers"
    if not problem and job.peak > reference.peak + options.memory:
        problem = f"rank 0 needed {job.peak:.0f} MiB, without strangers {reference.peak:.0f} MiB"
    print(f"{name:10} {phase:6} {time.monotonic() - begin:5.1f} s  {job.peak:5.0f} MiB  {problem or 'ok'}", flush=True)
    return problem is None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--attack", action="append", choices=[attack.__name__ for attack in ATTACKS])
    parser.add_argument("--together", action="store_true")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--clients", type=int, default=9)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--memory", type=float, default=32)
    parser.add_argument("command", nargs=argparse.REMAINDER)
    options = parser.parse_args()
    reference, problem = run(options)
    if problem:
        sys.exit(f"without strangers: {problem}")
    attacks = [attack for attack in ATTACKS if not options.attack or attack.__name__ in options.attack]
    chosen = {"together": attacks} if options.together else {attack.__name__: [attack] for attack in attacks}
    failures = sum(not check(options, reference, name, each, phase) for _ in range(options.rounds)
                   for name, each in chosen.items() for phase in ("before", "during"))
    print(f"{failures} failures; without strangers rank 0 needs {reference.peak:.0f} MiB")
    sys.exit(failures > 0)


if __name__ == "__main__":
    main()

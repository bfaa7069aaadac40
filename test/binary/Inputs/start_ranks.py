#!/usr/bin/env python3
"""start_ranks.py [OPTIONS] N COMMAND...

Starts N processes with torchrun's variables, as a cluster's script does, and waits
for all of them: none is left when this ends.  Standard output is that of rank 0,
then errors, each rank's after a line `rank R: status S`.  The exit status is the
greatest of theirs; one that a signal ended counts as 1.

--port=P         MASTER_PORT, which rank 0 serves (default: a free one)
--slurm          Slurm's variables instead
--skip=R         rank R never starts
--do=R:SIGNAL:METRICS:STEPS
                 sends the signal to rank R when METRICS has so many lines"""

import argparse
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "scripts"))
sys.dont_write_bytecode = True

from ports import free_port  # noqa: E402


def variables(rank, options, port):
    if options.slurm:
        return {"SLURM_PROCID": rank, "SLURM_NTASKS": options.ranks, "SLURM_LOCALID": rank, "SLURM_NODEID": 0,
                "SLURM_STEP_TASKS_PER_NODE": options.ranks, "SLURM_JOB_ID": port, "SLURM_STEP_ID": 0,
                "SLURM_STEP_NODELIST": "localhost"}
    return {"RANK": rank, "WORLD_SIZE": options.ranks, "LOCAL_RANK": rank, "LOCAL_WORLD_SIZE": options.ranks,
            "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port}


def lines(path):
    try:
        with open(path) as file:
            return sum(1 for _ in file)
    except FileNotFoundError:
        return 0


def send_signal(ranks, text):
    rank, name, path, steps = text.split(":")
    deadline = time.monotonic() + 60
    while lines(path) < int(steps) and time.monotonic() < deadline:
        time.sleep(0.01)
    ranks[int(rank)].send_signal(getattr(signal, name))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int)
    parser.add_argument("--slurm", action="store_true")
    parser.add_argument("--skip", type=int, default=-1)
    parser.add_argument("--do")
    parser.add_argument("ranks", type=int)
    parser.add_argument("command", nargs=argparse.REMAINDER)
    options = parser.parse_args()
    if options.do and os.path.exists(options.do.split(":")[2]):
        os.remove(options.do.split(":")[2])
    port = options.port or free_port()
    started, outputs, errors = {}, {}, {}
    try:
        for rank in set(range(options.ranks)) - {options.skip}:
            outputs[rank], errors[rank] = tempfile.TemporaryFile(), tempfile.TemporaryFile()
            own = {name: str(value) for name, value in variables(rank, options, port).items()}
            started[rank] = subprocess.Popen(options.command, env=os.environ | own, stdout=outputs[rank], stderr=errors[rank])
        if options.do:
            send_signal(started, options.do)
        for process in started.values():
            process.wait(timeout=60)
    finally:
        for process in started.values():
            process.kill()
            process.wait()
    for rank in started:
        outputs[rank].seek(0)
        errors[rank].seek(0)
        if rank == min(started):
            print(outputs[rank].read().decode(), end="")
        elif text := outputs[rank].read().decode():
            print(f"rank {rank} printed: {text}")
        print(f"rank {rank}: status {started[rank].returncode}\n{errors[rank].read().decode()}", end="")
    sys.exit(max(process.returncode if process.returncode >= 0 else 1 for process in started.values()))


if __name__ == "__main__":
    main()

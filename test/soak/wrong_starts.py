#!/usr/bin/env python3
"""wrong_starts.py [OPTIONS] BINARY OTHER DATA

Starts a job of two ranks in every wrong way below, and checks that each of its
processes ends within --seconds, with status 1 or 2 and a message, and that no
checkpoint is left.  BINARY and OTHER are compiled for two ranks, from different graphs.

--case=NAME    only this one (repeated: these)
--rounds=N     everything N times (default: 1)"""

import argparse
import concurrent.futures
import os
import socket
import sys
import tempfile

import jobs

LATER = 2  # seconds that ranks wait for each other


def setting(ranks=(0, 1), **variables):
    """A change of a job: variables of some ranks."""
    def change(rank, _, environment):
        if rank in ranks:
            environment |= variables
        return True
    return change


def words(rank_with_them, *more):
    def change(rank, command, _):
        if rank == rank_with_them:
            command += more
        return True
    return change


def cases(options):
    """{name: what changes}"""
    def other_binary(rank, command, _):
        command[0] = options.other if rank else command[0]
        return True

    def other_data(rank, command, _):
        command[command.index("--data") + 1] = options.binary if rank else options.data
        return True

    def other_token(rank, _, environment):
        environment["BRAID_JOB_TOKEN"] = f"the token of rank {rank}"
        return True

    return {
        "rank 1 is missing": lambda rank, *_: rank != 1,
        "rank 0 is missing": lambda rank, *_: rank != 0,
        "both are rank 0": setting(RANK="0"),
        "both are rank 1": setting(RANK="1"),
        "a rank beyond the world": setting([1], RANK="5"),
        "a rank that is not a number": setting([1], RANK="first"),
        "a negative rank": setting([1], RANK="-1"),
        "too large a world": setting(WORLD_SIZE="3"),
        "an empty world": setting(WORLD_SIZE="0"),
        "worlds of different sizes": setting([1], WORLD_SIZE="1"),
        "a port that is not a number": setting(MASTER_PORT="here"),
        "a port beyond all": setting(MASTER_PORT="99999"),
        "no such host": setting(MASTER_ADDR="nowhere.invalid", LOCAL_WORLD_SIZE="1", BRAID_JOB_TOKEN="the token of this job"),
        "a token that one rank lacks": setting([0], BRAID_JOB_TOKEN="the token of this job"),
        "another token on one rank": other_token,
        "a rank refuses an option": words(1, "--lr", "x"),
        "an option that one rank lacks": words(1, "--warmup", "2"),
        "different seeds": words(0, "--seed", "9"),
        "another program on one rank": other_binary,
        "other data on one rank": other_data,
        "a file that one rank lacks": words(1, "--init", "/nowhere"),
        "a stranger has the port": None,
    }


def check(options, name, change):
    """Returns the fault, or None."""
    with tempfile.TemporaryDirectory() as folder, socket.socket() as stranger:
        if not change:
            stranger.bind(("127.0.0.1", 0))
            stranger.listen()
            change = setting(MASTER_PORT=str(stranger.getsockname()[1]))
        saved = os.path.join(folder, "saved")
        command = [options.binary, "train", "--data", options.data, "--steps", "3", "--threads", "1", "--checkpoint", saved,
                   "--timeout", str(LATER)]
        job = jobs.Job(command, 2, "gloo", change=change)
        try:
            ended = job.wait(options.seconds)
        except jobs.Wrong as problem:
            return str(problem)
        for rank, status in ended.items():
            if status not in (1, 2) or "error: " not in job.said(rank):
                return f"rank {rank} ended with status {status} and said '{job.said(rank)}'"
            if options.verbose:
                print(f"{name}: rank {rank}: {job.said(rank)}")
        return f"it left {jobs.checkpoints(saved)}" if jobs.checkpoints(saved) else None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--case", action="append")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=15)
    parser.add_argument("--verbose", action="store_true", help="print what ranks say")
    parser.add_argument("binary")
    parser.add_argument("other")
    parser.add_argument("data")
    options = parser.parse_args()
    chosen = {name: change for name, change in cases(options).items() if name in (options.case or [name])}
    failures = 0
    with concurrent.futures.ThreadPoolExecutor(4) as pool:  # most of the time they wait
        for _ in range(options.rounds):
            found = pool.map(lambda case: check(options, *case), chosen.items())
            for name, problem in zip(chosen, found):
                failures += problem is not None
                if problem:
                    print(f"{name}: {problem}", flush=True)
    print(f"{options.rounds * len(chosen)} wrong starts, {failures} failures")
    sys.exit(failures > 0 or not chosen)


if __name__ == "__main__":
    main()

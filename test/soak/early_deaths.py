#!/usr/bin/env python3
"""early_deaths.py [OPTIONS] BINARY DATA

Kills a rank of a job while ranks still wait for each other, as a script starts them: without a
launcher that would end the others.  These must end within --seconds and name it.  BINARY is compiled
for four ranks.

--seconds=N    how long survivors may take (default: 20)
--verbose      print what ranks say"""

import argparse
import concurrent.futures
import pathlib
import signal
import sys
import tempfile
import time

import jobs

RANKS = 4


class Case:
    def __init__(self, options, launcher, absent, rendezvous=None):
        """All ranks but `absent` are started; the others wait for it."""
        self.options, self.absent = options, absent
        self.folder = tempfile.TemporaryDirectory()
        self.start(launcher, rendezvous)

    def start(self, launcher, rendezvous):
        self.launcher, self.port = launcher, jobs.free_port()
        command = [self.options.binary, "train", "--data", self.options.data, "--steps", "2", "--threads", "1", "--timeout=100"]
        if rendezvous:
            command.append(f"--rendezvous=file://{self.folder.name}/{rendezvous}")

        def change(rank, _, environment):
            environment |= {"TMPDIR": self.folder.name, "MASTER_PORT": str(self.port)}
            return rank in self.started
        self.make = lambda: jobs.Job(command, RANKS, launcher, change=change)
        self.started = [rank for rank in range(RANKS) if rank != self.absent]
        self.job = self.make()

    def await_start(self, rank):
        deadline = time.monotonic() + self.options.seconds
        while not [*pathlib.Path(self.folder.name).glob(f"braid-*/rank-*-{rank}.*")]:
            if time.monotonic() > deadline:
                raise jobs.Wrong(f"rank {rank} has not started: {self.job.said(rank)}")
            time.sleep(0.01)

    def kill(self, rank, number):
        for each in self.started:
            self.await_start(each)
        time.sleep(0.2)
        self.job.send(rank, number)
        self.job.processes[rank].wait()

    def check_survivors(self, dead):
        ended = self.job.wait(self.options.seconds)
        for rank, status in ended.items():
            said = self.job.said(rank)
            if self.options.verbose:
                print(f"{self.launcher}: rank {dead} is dead, rank {self.absent} absent; rank {rank} says: {said}")
            if rank != dead and (status != 1 or f"rank {dead} " not in said.split("error: ")[-1]):
                raise jobs.Wrong(f"rank {rank} ended with status {status} and said '{said}' when rank {dead} was killed")

    def check_next(self, ranks):
        """The job ends well when the ranks are started that it lacks."""
        self.started = ranks
        rest = self.make()
        for job, own in ((rest, ranks), (self.job, set(range(RANKS)) - set(ranks))):
            ended = job.wait(self.options.seconds)
            for rank in own:
                if ended[rank] != 0:
                    raise jobs.Wrong(f"rank {rank} ended with status {ended[rank]} and said '{job.said(rank)}'")

    def end(self):
        self.job.end()
        self.folder.cleanup()


def dies(launcher, dead, absent, number=signal.SIGKILL, rendezvous=None):
    def run(options):
        case = Case(options, launcher, absent, rendezvous)
        try:
            case.kill(dead, number)
            case.check_survivors(dead)
        finally:
            case.end()
    return run


def runs_again(options):
    """Files of killed ranks of earlier jobs do not count as dead ranks."""
    case = Case(options, "shm", absent=3)
    try:
        for rank in case.started:
            case.kill(rank, signal.SIGKILL)
        case.check_next(list(range(RANKS)))
    finally:
        case.end()


def starts_again(options):
    """A rank that restarts before ranks have met does not count as dead."""
    case = Case(options, "gloo", absent=0)
    try:
        case.kill(2, signal.SIGKILL)
        case.check_next([2, 0])
    finally:
        case.end()


CASES = {
    "one that rank 0 waits for": dies("shm", 2, 3),
    "the same, over Gloo, by a fault": dies("gloo", 1, 3, signal.SIGSEGV),
    "one that waits for rank 0": dies("shm", 2, 0),
    "rank 0": dies("gloo", 0, 3),
    "in a folder": dies("gloo", 2, 3, rendezvous="here"),
    "rank 0 in a folder": dies("shm", 0, 3, rendezvous="here"),
    "leftovers": runs_again,
    "a rank that is started again": starts_again,
}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--verbose", action="store_true")
    parser.add_argument("binary")
    parser.add_argument("data")
    options = parser.parse_args()

    def problem_of(run):
        try:
            run(options)
        except jobs.Wrong as problem:
            return problem
        return None

    with concurrent.futures.ThreadPoolExecutor(4) as pool:  # most of the time they wait
        problems = dict(zip(CASES, pool.map(problem_of, CASES.values())))
    for name, problem in problems.items():
        if problem:
            print(f"{name}: {problem}")
    failures = sum(problem is not None for problem in problems.values())
    print(f"{len(CASES)} deaths, {failures} failures")
    sys.exit(failures > 0)


if __name__ == "__main__":
    main()

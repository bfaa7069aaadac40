#!/usr/bin/env python3
"""disturbed.py [OPTIONS] COMMAND...

Disturbs a training job that saves after every step, resumes it, and checks that the
losses of all steps and the tensors of the last checkpoint are those of a job that
nobody disturbed, to the bit.  COMMAND is a training binary with the options of `train`.

A try disturbs the job up to three times, each time at a random moment, and then lets it
end.  After a rank was killed every process ends within --seconds, says why if it was not
that one, and names it; else the job ends within twice that.

--how=NAME       one of those below (repeated: one of these)
--tries=N        (default: 5)
--launcher=NAME  threads, shm, gloo or mpi
--ranks=N        (default: 1)
--seed=N         of the random moments (default: 1)"""

import argparse
import os
import pathlib
import random
import resource
import signal
import sys
import tempfile
import time

import jobs
from jobs import Wrong


class Trial:
    """A job in a folder of its own, which goes on from run to run."""

    def __init__(self, options, folder):
        self.options, self.folder, self.logs = options, pathlib.Path(folder), []
        self.saved = self.folder / "saved"

    def start(self, **how):
        self.logs.append(self.folder / f"log-{len(self.logs)}")
        command = [*self.options.command, "--save-every", "1", "--checkpoint", str(self.saved), "--log", str(self.logs[-1]),
                   "--timeout", str(self.options.seconds / 2)]
        if self.newest():
            command.append("--resume")
        return jobs.Job(command, self.options.ranks, self.options.launcher, **how)

    def losses(self):
        """Of all runs; a step that two runs made has one loss."""
        merged = {}
        for log in self.logs:
            for step, loss in jobs.losses(log).items():
                if merged.setdefault(step, loss) != loss:
                    raise Wrong(f"step {step} has losses {merged[step]!r} and {loss!r}")
        return merged

    def newest(self):
        """The name of the newest checkpoint, or None."""
        return max(jobs.checkpoints(self.saved), default=None)

    def tensors(self):
        return jobs.tensors(self.saved / self.newest())


def run_to_the_end(trial):
    job = trial.start()
    for rank, status in job.wait(trial.options.whole_run).items():
        if status:
            raise Wrong(f"undisturbed, rank {rank} ended with status {status}: {job.said(rank)}")


def expect_message(job, rank, status):
    if status in (0, 1) and (status == 0 or job.said(rank)):
        return
    raise Wrong(f"rank {rank} ended with status {status} and said '{job.said(rank)}'")


# Ways to disturb a job: each starts one, disturbs it after `delay` seconds, waits for
# its end, and checks what its ranks say of it.


def kill(trial, delay, choose):
    """kill -9 of a rank."""
    job, victim = trial.start(), choose.randrange(trial.options.ranks)
    # mpirun may wait for ever for a rank that was killed while it started it.
    while job.many and job.is_running() and not trial.logs[-1].exists():
        time.sleep(0.005)
    time.sleep(delay)
    was_there = job.send(victim, signal.SIGKILL)
    # A rank that has not begun when the signal is sent runs on, and so does the job.
    ended = job.wait(trial.options.seconds if was_there else trial.options.whole_run)
    if trial.options.launcher == "threads" or not was_there:
        return
    for rank, status in ended.items():
        if job.many or rank != victim:
            expect_message(job, rank, 1 if job.many and status > 1 else status)
            # Before they have met, a rank knows no other than the one that serves the rendezvous.
            if status and f"rank {victim}" not in job.said(rank) and "rendezvous" not in job.said(rank):
                raise Wrong(f"rank {rank} does not name rank {victim}, which was killed: {job.said(rank)}")


def stop(trial, delay, choose):
    """SIGTERM to a rank, which saves and ends."""
    job = trial.start()
    time.sleep(delay)
    job.send(choose.randrange(trial.options.ranks), signal.SIGTERM)
    for rank, status in job.wait(trial.options.whole_run).items():
        # Before it listens to signals, it ends as any program does, and the others as when it is killed.
        if status not in (0, 1, 143, -signal.SIGTERM):
            raise Wrong(f"rank {rank} ended with status {status} after SIGTERM: {job.said(rank)}")


def pause(trial, delay, choose):
    """SIGSTOP, and after a while SIGCONT: the job continues."""
    job, rank = trial.start(), choose.randrange(trial.options.ranks)
    time.sleep(delay)
    job.send(rank, signal.SIGSTOP)
    time.sleep(0.3)
    job.send(rank, signal.SIGCONT)
    for rank, status in job.wait(trial.options.whole_run).items():
        if status:
            raise Wrong(f"rank {rank} ended with status {status} after a pause: {job.said(rank)}")


def disk(trial, _, choose):
    """No file grows beyond a random size, as on a disk that is full."""
    limit = choose.randrange(1, trial.options.checkpoint_bytes)

    def prepare():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    job = trial.start(prepare=prepare)
    for rank, status in job.wait(trial.options.whole_run).items():
        expect_message(job, rank, 1 if job.many and status > 1 else status)


def output(trial, delay, _):
    """The reader of the standard output ends."""
    reader, writer = os.pipe()
    job = trial.start(stdout=writer)
    os.close(writer)
    time.sleep(delay)
    os.close(reader)
    for rank, status in job.wait(trial.options.whole_run).items():
        if status not in (0, 1, -signal.SIGPIPE):
            raise Wrong(f"rank {rank} ended with status {status} without a reader: {job.said(rank)}")


def closed(trial, delay, choose):
    """Descriptors 0 to 2 are closed from the start, and after a while it is killed."""
    job = trial.start(prepare=lambda: os.closerange(0, 3))
    time.sleep(delay)
    job.send(choose.randrange(trial.options.ranks), signal.SIGKILL)
    job.wait(trial.options.whole_run)


WAYS = {way.__name__: way for way in (kill, stop, pause, disk, output, closed)}


def try_once(options, way, reference, choose):
    with tempfile.TemporaryDirectory() as folder:
        trial = Trial(options, folder)
        disturbances, cleaned = choose.randint(1, 3), False
        while trial.newest() != reference.newest():
            if disturbances:
                way(trial, choose.uniform(0, options.duration), choose)
            else:
                run_to_the_end(trial)
                cleaned = True
            disturbances = max(disturbances - 1, 0)
        if trial.losses() != reference.losses():
            raise Wrong(f"losses {trial.losses()}, but undisturbed {reference.losses()}")
        if trial.tensors() != reference.tensors():
            raise Wrong("the last checkpoint differs from that of a job that nobody disturbed")
        # What a killed job leaves, the next one removes; after the last step there is none.
        if cleaned and (left := [path.name for path in trial.saved.iterdir() if ".tmp" in path.name]):
            raise Wrong(f"{left} are left")


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("--how", action="append", choices=WAYS)
    parser.add_argument("--tries", type=int, default=5)
    parser.add_argument("--ranks", type=int, default=1)
    parser.add_argument("--launcher", choices=jobs.LAUNCHERS, default="threads")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("command", nargs=argparse.REMAINDER)
    return parser.parse_args()


def main():
    options, failures = parse(), 0
    options.whole_run = 2 * options.seconds
    with tempfile.TemporaryDirectory() as folder:
        reference, begin = Trial(options, folder), time.monotonic()
        run_to_the_end(reference)
        options.duration = time.monotonic() - begin
        options.checkpoint_bytes = max(path.stat().st_size for path in reference.saved.rglob("*.safetensors")) * 5 // 4
        for number in range(options.tries):
            seed = f"{options.seed}-{number}"
            choose = random.Random(seed)
            way = WAYS[choose.choice(options.how or list(WAYS))]
            try:
                try_once(options, way, reference, choose)
            except Wrong as problem:
                failures += 1
                print(f"try {seed}, {way.__name__}: {problem}", flush=True)
    print(f"{options.tries} tries, {failures} failures")
    sys.exit(failures > 0)


if __name__ == "__main__":
    main()

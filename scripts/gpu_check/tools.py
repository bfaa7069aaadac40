"""Running programs within limits of time, and reading what they write."""

import json
import os
import pathlib
import signal
import subprocess
import tempfile
import threading
import time


class Failed(Exception):
    """A command that ended with an error: its words and the end of what it said; all of that is in `printed`."""

    def __init__(self, message, printed=""):
        super().__init__(message)
        self.printed = printed


class Skipped(Exception):
    """Something that could not be tried: why."""


class Stopped(Exception):
    """Someone ended the whole run."""


class Budget:
    """The seconds that all commands may take together; None: as long as they need."""

    def __init__(self, seconds=None):
        self.seconds = seconds
        self.end = None if seconds is None else time.monotonic() + seconds

    def left(self):
        return float("inf") if self.end is None else self.end - time.monotonic()

    def check(self, needed=0):
        """Raises Skipped where it is spent, or where what takes about so many seconds would not end in time."""
        if self.left() <= 0:
            raise Skipped(f"the budget of {self.seconds} seconds was spent")
        if self.left() < needed:
            raise Skipped(f"it takes about {needed:.0f} seconds, and {self.left():.0f} are left of {self.seconds}")


class Commands:
    """The commands that run now: each is a process group, so that all of it can be ended."""

    def __init__(self):
        self.budget, self.stopped = Budget(), False
        self.lock, self.processes = threading.Lock(), set()

    def start(self, words, output, options):
        with self.lock:
            if self.stopped:
                raise Stopped
            try:
                process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT,
                                           start_new_session=True, **options)
            except OSError as error:
                raise Failed(f"cannot run {words[0]}: {error.strerror}") from error
            self.processes.add(process)
            return process

    def end(self, process):
        """Ends it, and what it has started and left behind."""
        kill_group(process)
        process.wait()
        with self.lock:
            self.processes.discard(process)

    def stop(self):
        """Ends all, and lets no more begin."""
        with self.lock:
            self.stopped = True
            for process in self.processes:
                kill_group(process)


def kill_group(process):
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        pass


commands = Commands()


def run(words, timeout=600, **options):
    """What a command printed.  It fails past `timeout` seconds, and is skipped where the budget ends first."""
    words = [str(word) for word in words]
    commands.budget.check()
    # A file, not a pipe: a pipe stays open as long as anything that the command has started.
    with tempfile.TemporaryFile() as output:
        process = commands.start(words, output, options)
        try:
            status = process.wait(min(timeout, max(commands.budget.left(), 0)))
        except subprocess.TimeoutExpired:
            status = None
        finally:
            commands.end(process)
        output.seek(0)
        printed = output.read().decode(errors="replace")
    if commands.stopped:
        raise Stopped
    if status is None:
        commands.budget.check()
        raise failure(words, f"has not ended after {timeout} seconds", printed)
    if status != 0:
        raise failure(words, f"ended with status {status}", printed)
    return printed


def failure(words, how, printed):
    """The first line says most, for reports of one line; then the command, and the end of what it printed."""
    last = next(iter(reversed(printed.strip().splitlines())), "it printed nothing")
    return Failed(f"{pathlib.Path(words[0]).name} {how}: {last[:300]}\n$ {' '.join(words)}\n{printed[-2000:]}", printed)


def read_lines(path):
    return [json.loads(line) for line in pathlib.Path(path).read_text().splitlines()]


def losses(path):
    return [line["loss"] for line in read_lines(path) if "loss" in line]


def write_atomically(path, text):
    """A file is either whole or not there."""
    partial = path.with_name(path.name + ".partial")
    with open(partial, "w") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    partial.rename(path)

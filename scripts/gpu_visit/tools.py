"""Commands with time limits, whose output goes to the log of the visit as it comes."""

import json
import os
import pathlib
import signal
import subprocess
import tempfile
import threading
import time


class Failed(Exception):
    """A command that ended with an error: its words and the end of its output; `printed` has all of the output."""

    def __init__(self, message, printed=""):
        super().__init__(message)
        self.printed = printed


class Skipped(Exception):
    """A check that could not be tried, with the reason."""


class OutOfTime(Skipped):
    """The time limit of the step ended a command, or left no time to start one."""


class Clock:
    """Seconds of a visit.  A dry run divides real seconds by `scale`, so that a visit of 560 s takes less."""

    def __init__(self, scale=1.0):
        self.scale, self.start = scale, time.monotonic()
        self.deadline = float("inf")  # of the step that runs, in seconds of the visit

    def now(self):
        return (time.monotonic() - self.start) / self.scale

    def left(self):
        """Seconds of the visit until the deadline of the step."""
        return self.deadline - self.now()

    def real(self, seconds):
        return seconds * self.scale


class Command:
    """A process group and its output, which is read from a file: a pipe stays open as long as any descendant."""

    def __init__(self, label, words, options):
        self.label, self.output, self.drained = label, tempfile.TemporaryFile(), 0
        try:
            self.process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=self.output, stderr=subprocess.STDOUT,
                                            start_new_session=True, **options)
        except OSError as error:
            self.output.close()
            raise Failed(f"cannot run {words[0]}: {error.strerror}") from error

    def printed(self):
        return self.read(0).decode(errors="replace")

    def read(self, start):
        """Returns the output from byte `start` on. Does not change the position at which the process writes."""
        size = os.fstat(self.output.fileno()).st_size
        return os.pread(self.output.fileno(), size - start, start)

    def kill(self):
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            pass


class Commands:
    """The commands that run now.  `log` receives their output: a function of a label and bytes."""

    def __init__(self):
        self.clock, self.log = Clock(), lambda label, output: None
        self.lock, self.running, self.stopped = threading.RLock(), set(), False

    def start(self, words, label=None, **options):
        words = [str(word) for word in words]
        with self.lock:
            if self.stopped:
                raise OutOfTime("the visit is over")
            command = Command(label or pathlib.Path(words[0]).name, words, options)
            self.running.add(command)
        self.log(command.label, f"$ {' '.join(words)}\n".encode())
        return command

    def drain(self):
        """Appends the output of running commands since the last call to the log."""
        with self.lock:
            for command in self.running:
                self.drain_one(command)

    def drain_one(self, command):
        if output := command.read(command.drained):
            command.drained += len(output)
            self.log(command.label, output)

    def end(self, command):
        """Kills the process group, and returns all of its output."""
        command.kill()
        command.process.wait()
        with self.lock:
            self.running.discard(command)
            self.drain_one(command)
        printed = command.printed()
        command.output.close()
        return printed

    def stop(self):
        """Kills all commands and lets none begin."""
        with self.lock:
            self.stopped = True
            for command in self.running:
                command.kill()


commands = Commands()


def run(words, timeout=600, label=None, **options):
    """Returns the output of a command.  Raises Failed after `timeout` seconds of the visit, or OutOfTime if the step ends first."""
    clock = commands.clock
    if clock.left() <= 0:
        raise OutOfTime("the time of the step was over before it began")
    command = commands.start(words, label, **options)
    limit = min(timeout, clock.left())
    try:
        status = command.process.wait(clock.real(limit))
    except subprocess.TimeoutExpired:
        status = None
    finally:
        printed = commands.end(command)
    if commands.stopped:
        raise OutOfTime("the visit ended")
    if status is None and limit < timeout:
        raise OutOfTime(f"the time of the step was over after {limit:.0f} s of this command")
    if status is None:
        raise failure(words, f"has not ended after {timeout} s", printed)
    if status != 0:
        raise failure(words, f"ended with status {status}", printed)
    return printed


def failure(words, how, printed):
    """A first line for reports of one line, then the command and the end of its output."""
    words = [str(word) for word in words]
    last = next(iter(reversed(printed.strip().splitlines())), "it printed nothing")
    return Failed(f"{pathlib.Path(words[0]).name} {how}: {last[:300]}\n$ {' '.join(words)}\n{printed[-2000:]}", printed)


def read_lines(path):
    return [json.loads(line) for line in pathlib.Path(path).read_text().splitlines()]


def losses(path):
    return [line["loss"] for line in read_lines(path) if "loss" in line]


def write_atomically(path, text):
    """Writes a file atomically: it is complete or absent."""
    partial = path.with_name(path.name + ".partial")
    with open(partial, "w") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    partial.rename(path)

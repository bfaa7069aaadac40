"""Removes the lock of a running job and starts a second one there: take_lock_away.py DIRECTORY COMMAND...

Prints how both went: the first must end by itself."""

import pathlib
import subprocess
import sys
import time

directory, command = pathlib.Path(sys.argv[1]), sys.argv[2:]


def await_checkpoint(process):
    while process.poll() is None and not list(directory.glob("step-*[0-9]*")):
        time.sleep(0.01)


started = []


def start(*options):
    started.append(subprocess.Popen([*command, *options], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True))
    return started[-1]


try:
    first = start()
    await_checkpoint(first)
    (directory / ".lock").unlink()
    second = start("--resume=auto")
    print("first:", first.communicate(timeout=60)[1].strip())
    time.sleep(0.2)
    print("second: runs" if second.poll() is None else second.communicate()[1])
finally:
    for process in started:
        process.kill()
        process.wait()

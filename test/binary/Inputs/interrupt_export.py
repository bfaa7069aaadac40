#!/usr/bin/env python3
"""interrupt_export.py MODEL PARAMETERS SCRATCH

Interrupts `MODEL export` as soon as it writes, at several times, and demands that a folder is there if and only
if the export said so, and that nothing else is.  PARAMETERS is what `braid-model --count` prints: the weights
are a file of holes, as large as it needs to be for an export to take a while."""

import json
import pathlib
import shutil
import signal
import struct
import subprocess
import sys
import time

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def write_holes(path, parameters):
    header, at = {}, 0
    for line in parameters.read_text().splitlines():
        name, *rest = line.split()
        if name == "total":
            continue
        size = 4 * int(rest[1])
        header[name] = {"dtype": "F32", "shape": [int(extent) for extent in rest[0].split("x")],
                        "data_offsets": [at, at + size]}
        at += size
    text = json.dumps(header).encode()
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        file.truncate(8 + len(text) + at)


def take_signals():
    """Works also if the tests run under nohup."""
    for number in SIGNALS:
        signal.signal(number, signal.SIG_DFL)


def interrupt(model, weights, scratch, number, delay):
    """Returns the status of an export that gets the signal this many seconds after it begins to write."""
    process = subprocess.Popen([model, "export", scratch / "out", "--init", weights], stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, text=True, preexec_fn=take_signals)
    while process.poll() is None and not list(scratch.glob("out*")):
        time.sleep(0.0005)
    time.sleep(delay)
    process.send_signal(number)
    said, _ = process.communicate(timeout=60)
    left = [path.name for path in scratch.iterdir()]
    if (process.returncode, left) == (0, ["out"]):
        return "exported"
    if (process.returncode, left) == (128 + number, []) and "; nothing was exported" in said:
        return "stopped"
    sys.exit(f"status {process.returncode} after {number.name}, and there is {left}:\n{said}")


def main():
    model, parameters, scratch = map(pathlib.Path, sys.argv[1:])
    scratch.mkdir()
    weights = scratch.parent / "holes.safetensors"
    write_holes(weights, parameters)
    for number, delay in [(number, 0) for number in SIGNALS] + [(signal.SIGINT, 0.05), (signal.SIGINT, 0.1)]:
        # An export may be ready before a busy machine lets this script send the signal.
        for _ in range(5):
            outcome = interrupt(model, weights, scratch, number, delay)
            shutil.rmtree(scratch / "out", ignore_errors=True)
            if outcome == "stopped" or delay:
                break
        else:
            sys.exit(f"{number.name} never stopped an export that had just begun to write")


if __name__ == "__main__":
    main()

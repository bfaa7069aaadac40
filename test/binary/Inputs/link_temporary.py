"""Puts a link where a running job will write its next checkpoint: link_temporary.py VICTIM DIRECTORY COMMAND...

The job waits for itself: it is stopped as soon as its first checkpoint says which id it has."""

import json
import os
import pathlib
import signal
import subprocess
import sys
import time

victim, directory, command = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3:]
process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
first = directory / "step-00001000.safetensors"
while not first.exists() and process.poll() is None:
    time.sleep(0.0005)
process.send_signal(signal.SIGSTOP)
data = first.read_bytes()
job = json.loads(data[8:8 + int.from_bytes(data[:8], "little")])["__metadata__"]["job_id"]
last = directory / "step-00002000.safetensors"
planted = not last.exists()
if planted:
    os.symlink(os.path.abspath(victim), f"{last}.{job}.tmp")
process.send_signal(signal.SIGCONT)
if process.wait() != 0 or not last.is_file() or last.is_symlink():
    sys.exit("the job did not save its last checkpoint")
if not planted:
    sys.exit("the job was faster than this script: no link was planted")

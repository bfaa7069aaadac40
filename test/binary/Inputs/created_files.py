"""Runs a command with the umask 000 and looks at what it makes: created_files.py FOLDER... -- COMMAND

Judges each file and folder by the first mode that it is seen with.  Nobody else may open temporaries (names that
end in .tmp), secrets, and what is in $TMPDIR, unless a folder around them is closed already.  Prints a line for
each, with its mode, and fails where others can open most of a kind.
"""

import os
import pathlib
import re
import stat
import subprocess
import sys
import threading

at = sys.argv.index("--")
folders, command = [pathlib.Path(name) for name in sys.argv[1:at]], sys.argv[at + 1:]
temporary = pathlib.Path(os.environ["TMPDIR"])
before = {path for folder in folders for path in folder.rglob("*")}
first = {}


def look():
    for folder in [temporary, *folders]:
        for path in folder.rglob("*"):
            if path.name.endswith(".old.tmp"):  # a checkpoint that is about to go, and had its mode
                continue
            try:
                if path not in first and path not in before:
                    first[path] = stat.S_IMODE(path.lstat().st_mode)
            except OSError:
                pass


def watch(ended):
    while not ended.wait(0.001):
        try:
            look()
        except OSError:  # a folder that went meanwhile
            pass


os.umask(0)
ended = threading.Event()
watcher = threading.Thread(target=watch, args=(ended,))
watcher.start()
try:
    status = subprocess.run(command, stdout=subprocess.DEVNULL).returncode
finally:
    ended.set()
watcher.join()
look()
failures = status != 0
kinds = {}  # open or not, of each kind of name
for path, mode in sorted(first.items()):
    isInside = any(not first.get(parent, 0o777) & 0o077 for parent in path.parents)
    isSecret = not isInside and (path.parent == temporary or path.name.endswith(".tmp") or path.name.startswith("rendezvous-"))
    name = re.sub(r"\.\w{6}\.(?=tmp)|\.[0-9a-f]{8,}\.|\d{2,}|braidc-\w+", lambda found: ".N." if found[0][0] == "." else "N", path.name)
    if isSecret:
        print(f"{name} {mode:04o}")
        kinds.setdefault(name, []).append(path if mode & 0o077 else None)
# The mode of a whole file is opened just before it gets its name: of several, one may be seen first at that moment.
for name, seen in kinds.items():
    opened = [path for path in seen if path]
    if 2 * len(opened) > len(seen):
        print(f"others can open {opened[0]}")
        failures = True
sys.exit(1 if failures else 0)

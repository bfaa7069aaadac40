#!/usr/bin/env python3
"""planted_braidc.py FOLDER RIGHT WRONG COMMAND...: runs the command with a braidc, in FOLDER, whose programs of several ranks
have WRONG where the pipeline of passes has RIGHT."""

import os
import pathlib
import shutil
import sys

COMPILER = """#!/usr/bin/env python3
import os, subprocess, sys
words = sys.argv[1:]
if not any(word.startswith("--mesh") for word in words):
    os.execv({real!r}, [{real!r}, *words])
emitted = [word for word in words if word.startswith("--emit") or word == "-o"]
output = words[words.index("-o") + 1] if "-o" in words else None
kept = [word for word in words if word not in emitted and word != output]
done = subprocess.run([{real!r}, *kept, *([] if "--print-pipeline" in kept else ["--print-pipeline"])], capture_output=True, text=True)
sys.stderr.write(done.stderr)
if done.returncode:
    sys.exit(done.returncode)
pipeline = done.stdout.strip()
pipeline = pipeline.replace({right!r}, {wrong!r})
if output is None:
    print(pipeline)
    sys.exit()
sys.exit(subprocess.run(["braid-opt", kept[0], "--mlir-print-debuginfo", "--pass-pipeline=" + pipeline, "-o", output]).returncode)
"""


def main():
    folder, right, wrong, *command = sys.argv[1:]
    path = pathlib.Path(folder) / "braidc"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(COMPILER.format(real=shutil.which("braidc"), right=right, wrong=wrong))
    path.chmod(0o755)
    os.environ["PATH"] = f"{folder}{os.pathsep}{os.environ['PATH']}"
    os.execvp(command[0], command)


if __name__ == "__main__":
    main()

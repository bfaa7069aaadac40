"""Imports damaged programs, and looks for crashes: what mutants.py and jax_mutants.py share.

braid-import must end with status 0, 1 or 2 within 20 seconds and 2 GiB of address space, and with a message unless it
succeeds. A mutant that fails is kept in FOLDER; --only repeats it.
"""

import argparse
import re
import resource
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

SECONDS, MEMORY = 20, 2 << 30


def ops(source):
    """Returns the names of the importer's table."""
    table = subprocess.run(["braid-import", "--ops", f"--from={source}"], check=True, capture_output=True, text=True)
    return re.findall(r"^\| `(\S+)` \|", table.stdout, re.M)


def attempt(name, mutant, suffix, folder):
    """Imports a mutant, the bytes of a file and options. Returns its status, and what is wrong with it, if anything."""
    data, options = mutant
    path, weights = folder / f"mutant-{name}{suffix}", folder / f"weights-{name}"
    path.write_bytes(data)
    words = [f"--weights={weights}" if word == "--weights" else word for word in options]
    output = [] if "--summary" in options else ["-o", "/dev/null"]
    try:
        done = subprocess.run(["braid-import", path, *words, *output], capture_output=True, timeout=SECONDS, check=False)
        status, errors = done.returncode, done.stderr.decode(errors="replace")
    except subprocess.TimeoutExpired:
        status, errors = -1, f"no end after {SECONDS} seconds"
    weights.unlink(missing_ok=True)
    if status not in (0, 1, 2) or (status and not errors.strip()) or "Stack dump" in errors or "runtime error" in errors:
        return status, f"mutant {name} ({path}), options {words}: status {status}\n{errors[-1500:]}"
    path.unlink()
    return status, None


def main(description, source, suffix, mutator, programs):
    """Imports mutants of `programs()`. `mutator(seed, ops).mutant(programs)` returns the bytes of one, and options."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("count", type=int)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", type=int)
    parser.add_argument("--without-limit", action="store_true", help="of memory, for sanitizers")
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    table, bases = ops(source), programs()
    if not arguments.without_limit:
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    def outcome(number):
        mutant = mutator(f"{arguments.seed}/{number}", table).mutant(bases)
        return attempt(f"{arguments.seed}-{number}", mutant, suffix, arguments.folder)

    numbers = range(arguments.count) if arguments.only is None else [arguments.only]
    statuses, problems = {}, []
    with ThreadPoolExecutor(2) as pool:
        for status, problem in pool.map(outcome, numbers):
            statuses[status] = statuses.get(status, 0) + 1
            problems += [problem] if problem else []
    print("\n".join(problems[:20]))
    print(f"{len(numbers)} mutants, {statuses.get(0, 0)} imported, {len(problems)} failures")
    sys.exit(bool(problems))

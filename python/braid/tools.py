"""Finds and runs the programs of Braid."""

from __future__ import annotations

import functools
import logging
import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from .errors import CompileError, ToolNotFound, compile_error

log = logging.getLogger("braid")

_PACKAGE = Path(__file__).resolve().parent


def _folders() -> list[Path]:
    """Folders of tools beside PATH: those of the wheel, and those of the checkout that this package is of."""
    note = _PACKAGE / "checkout.txt"  # written by an installation
    checkout = Path(note.read_text()) if note.exists() else _PACKAGE.parents[1]
    return [_PACKAGE / "prefix" / "bin", checkout / "build" / "release" / "bin"]


def find(name: str) -> str:
    """Returns the path of a tool such as `braidc`.

    If the environment variable BRAID_HOME is set, the tool must be in its folder `bin`. Otherwise the tools of the
    wheel come first, then PATH, then the build folder of a checkout.
    """
    home = os.environ.get("BRAID_HOME")
    if home:
        found = shutil.which(name, path=os.path.join(home, "bin"))
        if not found:
            raise ToolNotFound(f"BRAID_HOME is '{home}', but there is no program '{name}' in its folder bin")
        return found
    wheel, checkout = _folders()
    path = os.pathsep.join([str(wheel), os.environ.get("PATH", ""), str(checkout)])
    found = shutil.which(name, path=path)
    if not found:
        raise ToolNotFound(f"no program '{name}' in PATH: install Braid, add the folder of its tools to PATH, "
                           "or set BRAID_HOME to the prefix of an installation")
    return found


def compiler() -> str:
    """Returns the C++ compiler of steps: c++, which for the tools of a wheel also finds the libraries of the wheel."""
    wrapper = _folders()[0] / "c++"
    return str(wrapper) if wrapper.exists() and find("braidc") == str(wrapper.parent / "braidc") else "c++"


def _without(errors: str, temporary: str, shown: str) -> str:
    """Shows a temporary file under another name; without one, leaves out places in the file and its lines there."""
    if shown:
        return errors.replace(temporary, shown)
    return re.sub(re.escape(temporary) + r"(?::\d+)*: (.*\n)(?:.*\n\s*\^\s*\n)?", r"\1", errors)


def run(name: str, *words: str, temporary: str | os.PathLike = "", shown: str = "") -> str:
    """Runs a tool, and returns its standard output. A failure is a CompileError with the tool's message.

    In messages the path of a temporary file is shown as `shown`; without that, places in the file are left out.
    """
    command = [find(name), *words]
    log.info("%s", shlex.join(command))
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace",
                          check=False)
    errors = _without(done.stderr, str(temporary), shown) if temporary else done.stderr
    if done.returncode < 0:
        raise CompileError(f"{name} was ended by signal {-done.returncode}: {shlex.join(command)}\n{errors}")
    if done.returncode:
        raise compile_error(errors)
    for line in errors.splitlines():
        log.info("%s", line)
    return done.stdout


@functools.lru_cache(maxsize=None)
def _version_of(path: str, changed: int) -> str:
    done = subprocess.run([path, "--version"], capture_output=True, text=True, check=False)
    lines = done.stdout.splitlines()
    return lines[0].strip() if lines else ""


def identity(compiler: str) -> list[str]:
    """Returns what a compiled library depends on beside its graph and options: the compilers and the processor."""
    braidc = Path(find("braidc")).resolve()
    found = shutil.which(compiler)
    if not found:
        raise ToolNotFound(f"no C++ compiler '{compiler}' in PATH: compiling a step needs one, such as g++")
    parts = [_version_of(str(braidc), braidc.stat().st_mtime_ns), _version_of(found, os.stat(found).st_mtime_ns)]
    for path in (braidc, braidc.parents[1] / "lib" / "braid" / "libbraid_rt.a"):
        if path.exists():
            parts.append(f"{path.stat().st_size} {path.stat().st_mtime_ns}")
    return [*parts, _processor()]


@functools.lru_cache(maxsize=None)
def _processor() -> str:
    """Returns the name and the instruction sets of the processor."""
    try:
        text = Path("/proc/cpuinfo").read_text(errors="replace")
    except OSError:
        return ""
    lines = text.split("\n\n", 1)[0].splitlines()
    return "\n".join(line for line in lines if line.startswith(("model name", "flags", "Features", "CPU part")))


def version() -> str:
    """Returns what `braidc --version` prints."""
    braidc = find("braidc")
    return _version_of(braidc, os.stat(braidc).st_mtime_ns)


def words_of(options: Sequence[str]) -> list[str]:
    """Checks a list of options of braidc."""
    if isinstance(options, str) or not all(isinstance(option, str) for option in options):
        raise TypeError("options is a list of texts, such as ['--bucket-mb=8']")
    return list(options)

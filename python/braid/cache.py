"""Compiled libraries on disk, by what they depend on."""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
from collections.abc import Callable, Iterable
from pathlib import Path


def folder() -> Path:
    """Returns the folder of compiled libraries: `braid` in XDG_CACHE_HOME, else in ~/.cache."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "braid"


def clear() -> None:
    """Removes all compiled libraries. Steps that run keep theirs."""
    shutil.rmtree(folder(), ignore_errors=True)


def key(parts: Iterable[str]) -> str:
    """Returns a name for these texts, of 32 hexadecimal digits."""
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode()
        digest.update(len(data).to_bytes(8, "little") + data)
    return digest.hexdigest()[:32]


def fetch(name: str, build: Callable[[Path], None]) -> Path:
    """Returns the path of a library, which `build` writes if it is not there.

    Of several processes on a host one builds, and the others wait. A library gets its name when it is complete.
    """
    place = folder()
    place.mkdir(parents=True, exist_ok=True)
    path = place / f"{name}.so"
    if path.exists():
        return path
    with open(place / f"{name}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not path.exists():
            unfinished = place / f"{name}.{os.getpid()}.tmp"
            try:
                build(unfinished)
                os.replace(unfinished, path)
            finally:
                unfinished.unlink(missing_ok=True)
    return path

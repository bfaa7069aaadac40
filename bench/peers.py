"""The Python that peers run in: one that the user names, or one with packages from the Python package archive."""

import pathlib
import subprocess
import sys

import tools

PACKAGES = ["numpy", "torch", "transformers", "jax", "matplotlib"]


def install(folder):
    """Makes a virtual environment with the peers if there is none. Returns its Python."""
    python = pathlib.Path(folder) / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    missing = [name for name in PACKAGES if not has(python, name)]
    if missing:
        tools.note(f"installing {', '.join(missing)} into {folder}")
        subprocess.run([python, "-m", "pip", "install", "--quiet", *missing], check=True)
    return str(python)


def has(python, module):
    return subprocess.run([python, "-c", f"import {module}"], stderr=subprocess.DEVNULL, check=False).returncode == 0

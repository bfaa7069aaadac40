"""Exceptions of the package."""

from __future__ import annotations

import re

# "model.py:31:4: error: text [h.0.attn]", as the tools print it; the column and the module may be missing.
_PLACED = re.compile(r"^(?P<file>[^\s:][^:\n]*):(?P<line>\d+)(?::\d+)?: error: ")
_MODULE = re.compile(r" \[(?P<module>[\w.]+)\]$")


class Error(RuntimeError):
    """Base class of the exceptions of this package."""


class ToolNotFound(Error):
    """No program of Braid, or no C++ compiler, was found on this machine."""


class StepError(Error):
    """A function of a compiled step failed, or was given values that do not fit."""


class CompileError(Error):
    """A model or an option that Braid cannot compile.

    `file` and `line` are the place in the source of the model, `module` is the path of the submodule, such as
    `h.0.attn`. Each is None if the message has none.
    """

    def __init__(self, message: str, file: str | None = None, line: int | None = None, module: str | None = None):
        super().__init__(message)
        self.file, self.line, self.module = file, line, module


def compile_error(output: str) -> CompileError:
    """Returns the exception for the standard error of a tool: its first error, with the place."""
    lines = [line for line in output.strip().splitlines() if not line.startswith("try '")]
    first = next((number for number, line in enumerate(lines) if "error: " in line), 0)
    text = "\n".join(lines[first:])  # without the remarks before it
    placed = _PLACED.match(text)
    module = _MODULE.search(text.partition("\n")[0])
    return CompileError(text or "the tool failed without a message", placed and placed["file"],
                        int(placed["line"]) if placed else None, module and module["module"])

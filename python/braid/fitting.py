"""Memory and time of a model's training step for each layout, without a GPU and without the weights."""

from __future__ import annotations

import html
import json
import os
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from . import settings
from .errors import CompileError
from .graph import Graph, graph_of

Row = dict[str, Any]
_COLUMNS = (("mesh", "mesh"), ("zero", "ZeRO"), ("recompute", "recompute"), ("peak_bytes", "peak"),
            ("persistent_bytes", "persistent"), ("predicted_s", "step"), ("fits", "fits"))


class Fit:
    """Plans of a model, one row for each layout. Iterates over `rows`, and prints as a table.

    Keys of a row:
    - `mesh`, `zero` (None without a batch axis), `recompute`: the layout;
    - `peak_bytes`: exact peak of a rank, which is all that the step allocates on its GPU;
    - `persistent_bytes`: the part of it that parameters and optimizer states have;
    - `bytes_moved`: bytes that a rank sends in a step;
    - `predicted_s`, `exposed_s`: predicted seconds of a step, and of waiting for communication in it;
    - `fits`: whether the peak is within `memory_bytes`.

    `refused` has rows with `mesh`, `zero`, `recompute` and `reason`. `seconds` has the time that this took: "export"
    and "plans".
    """

    def __init__(self, rows: list[Row], refused: list[Row], title: str, memory_bytes: int, seconds: dict[str, float]):
        self.rows, self.refused, self.title = rows, refused, title
        self.memory_bytes, self.seconds = memory_bytes, seconds

    @property
    def best(self) -> Row | None:
        """The row with the shortest predicted step of those that fit; None if none fits."""
        return min((row for row in self.rows if row["fits"]), key=lambda row: (row["predicted_s"], row["peak_bytes"]),
                   default=None)

    def __iter__(self) -> Iterator[Row]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, index: int) -> Row:
        return self.rows[index]

    def to_pandas(self) -> Any:
        """Returns the rows as a pandas.DataFrame."""
        import pandas
        return pandas.DataFrame(self.rows)

    def _cells(self) -> list[list[str]]:
        return [[name for _, name in _COLUMNS]] + [[_cell(key, row[key]) for key, _ in _COLUMNS] for row in self.rows]

    def _summary(self) -> str:
        best = self.best
        if not best:
            return f"no layout fits into {size_text(self.memory_bytes)}"
        words = [best["mesh"] and f"mesh={best['mesh']!r}", best["zero"] is not None and f"zero={best['zero']}",
                 best["recompute"] != "none" and f"recompute={best['recompute']!r}"]
        layout = ", ".join(filter(None, words)) or "one rank"
        return f"the fastest that fits into {size_text(self.memory_bytes)}: {layout}"

    def __str__(self) -> str:
        cells = self._cells()
        widths = [max(len(row[column]) for row in cells) for column in range(len(_COLUMNS))]
        lines = [self.title]
        for row in cells:
            lines.append("  ".join(cell.ljust(width) if column in (0, 2) else cell.rjust(width)
                                   for column, (cell, width) in enumerate(zip(row, widths))).rstrip())
        reasons: dict[str, list[str]] = {}
        for row in self.refused:
            reasons.setdefault(row["reason"], []).append(_layout(row))
        for reason, (first, *others) in reasons.items():
            lines.append(f"not possible: {first}{f' and {len(others)} more' if others else ''}: {reason}")
        return "\n".join([*lines, self._summary()])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        head, *body = self._cells()
        rows = "".join("<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>" for row in body)
        heads = "".join(f"<th>{html.escape(name)}</th>" for name in head)
        return (f"<table><caption>{html.escape(self.title)}</caption><tr>{heads}</tr>{rows}</table>"
                f"<p>{html.escape(self._summary())}</p>")


def _layout(row: Row) -> str:
    zero = "" if row["zero"] is None else f" zero={row['zero']}"
    return f"{row['mesh'] or 'one rank'}{zero} recompute={row['recompute']}"


def size_text(count: float) -> str:
    for unit in ("B", "KiB", "MiB"):
        if count < 1024:
            return f"{count:.{0 if unit == 'B' else 1}f} {unit}"
        count /= 1024
    return f"{count:.1f} GiB"


def _cell(key: str, value: Any) -> str:
    if value is None:
        return "-"
    if key.endswith("_bytes"):
        return size_text(value)
    if key.endswith("_s"):
        return f"{value * 1e3:.1f} ms" if value >= 1e-3 else f"{value * 1e6:.1f} us"
    return {True: "yes", False: "no"}.get(value, str(value)) if isinstance(value, bool) else str(value)


def default_meshes(gpus: int) -> list[str]:
    """Returns the meshes that `fit` plans without `meshes`: data parallel, and with pairs of tensor parallel ranks."""
    if gpus == 1:
        return [""]
    return [f"dp={gpus}"] + ([f"dp={gpus // 2},tp=2"] if gpus % 2 == 0 and gpus > 2 else [])


def _plan(graph: Graph, words: Sequence[str]) -> Row:
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "plan.json"
        graph.run("--emit=memory", "-o", "/dev/null", f"--report={report}", *words)
        plan = json.loads(report.read_text())
    step = plan.get("step", {})
    return {"peak_bytes": plan["arena_bytes"],
            "persistent_bytes": sum(kind["bytes"] for kind in plan["persistent"].values()),
            "card_bytes": plan["card"]["memory_bytes"],
            "bytes_moved": step.get("bytes_moved", 0), "predicted_s": plan["predicted_step_s"],
            "exposed_s": step.get("exposed_s", 0.0)}


def _stages(mesh: str, zero: Sequence[int] | None) -> Sequence[int | None]:
    """Returns the stages of ZeRO to plan on a mesh."""
    axes = [axis.split("=")[0].strip() for axis in mesh.split(",")]
    if not any(axis in ("dp", "replica", "shard") for axis in axes):
        return [None]
    return zero if zero is not None else (0, 1, 2, 3) if len(axes) == 1 else (0, 1, 3)


def fit(model: Any, batch: Any = None, gpus: int = 8, gpu: str = "h100", *, loss: Any = None, optimizer: str = "adamw",
        precision: str = "bf16", meshes: Sequence[Any] | None = None, zero: Sequence[int] | None = None,
        recompute: Sequence[str] = ("none", "full"), clip: float | None = None, accumulate: int = 1,
        memory: float | None = None, workers: int = 2, options: Sequence[str] = (), **hyperparameters: Any) -> Fit:
    """Plans a model's training step for each layout, and returns the exact peak of a rank and the predicted time.

    - `model`: a torch.nn.Module, which may be on the device `meta`, or a Graph.
    - `batch`, `loss`: as for `export`. The batch has the rows of a step over all GPUs.
    - `gpus`: number of ranks; `gpu`: a card such as "h100" or "h200"; a wrong name is refused with the list.
    - `optimizer` is a name; this and the other options are those of `compile`.
    - `meshes`: such as ["dp=8", "dp=4,tp=2"]; the default is data parallel, and with pairs of tensor parallel ranks.
    - `zero`: stages to plan on each mesh with a batch axis; the default is all four, and 0, 1 and 3 with tensor
      parallel ranks. `recompute`: policies to plan for each.
    - `memory`: bytes of a GPU that may be used; the default is nine tenths of the card's.
    - `workers`: plans that are made at a time. Each takes a core and some hundred MB.

    Neither weights nor a GPU are needed. Raises CompileError if no layout can be compiled.
    """
    start = time.monotonic()
    graph = model if isinstance(model, Graph) else graph_of(model, batch, loss)
    exported = time.monotonic()
    described = settings.optimizer_of(optimizer, hyperparameters, (), None, graph.text)
    layouts = [{"mesh": mesh, "zero": stage, "recompute": policy}
               for mesh in map(settings.mesh_text, default_meshes(gpus) if meshes is None else meshes)
               for stage in _stages(mesh, zero) for policy in recompute]
    common = {"precision": precision, "clip": clip, "accumulate": accumulate, "target": f"cuda:{gpu}", "options": options}
    rows, refused = _plans(graph, described, layouts, common, workers)
    if not rows:
        raise refused[0]["error"] if refused else CompileError("no layout was given")
    limit = int(memory or 0.9 * rows[0]["card_bytes"])
    for row in rows:
        del row["card_bytes"]
        row["fits"] = row["peak_bytes"] <= limit
    seconds = {"export": exported - start, "plans": time.monotonic() - exported}
    for row in refused:
        del row["error"]
    shapes = ", ".join(f"{name}{list(shape)}" for name, shape in graph.inputs.items())
    return Fit(rows, refused, f"{graph.name}, {gpus} x {gpu}, {optimizer}, {precision}, {shapes}", limit, seconds)


def _plans(graph: Graph, optimizer: Any, layouts: list[Row], common: Row, workers: int) -> tuple[list[Row], list[Row]]:
    """Returns the rows of layouts that can be compiled, and of those that cannot, in the order of the layouts."""
    rows, refused = [], []
    with ThreadPoolExecutor(max(1, min(workers, os.cpu_count() or 1))) as pool:
        plans = [pool.submit(_plan, graph, settings.words(optimizer, **layout, **common)) for layout in layouts]
        for layout, plan in zip(layouts, plans):
            try:
                rows.append({**layout, **plan.result()})
            except CompileError as error:
                reason = str(error).splitlines()[0].removeprefix("braidc: error: ")
                refused.append({**layout, "reason": reason, "error": error})
    return rows, refused

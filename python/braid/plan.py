"""The memory plan of a compiled step."""

from __future__ import annotations

import html
import json
import tempfile
from pathlib import Path
from typing import Any

from .fitting import size_text
from .graph import Graph


class Plan:
    """The memory plan of a step: exact bytes, known before the first step.

    `data` is the JSON of `braidc --report`. Shows the report's page in notebooks.
    """

    def __init__(self, graph: Graph, words: list[str], text: str):
        self._graph, self._words, self._page = graph, words, ""
        self.data: dict[str, Any] = json.loads(text)

    @property
    def peak_bytes(self) -> int:
        """Peak of a rank in bytes, which is the arena that the step allocates."""
        return self.data["arena_bytes"]

    @property
    def predicted_seconds(self) -> float | None:
        """Predicted time of a step in seconds."""
        return self.data.get("predicted_step_s")

    def _report(self) -> str:
        with tempfile.TemporaryDirectory() as folder:
            report = Path(folder) / "plan.html"
            self._graph.run("--emit=memory", "-o", "/dev/null", f"--report={report}", *self._words)
            return report.read_text()

    def save(self, path: str) -> None:
        """Writes the page of the plan, `*.html`, or its JSON."""
        Path(path).write_text(self.html() if str(path).endswith(".html") else json.dumps(self.data, indent=2))

    def html(self) -> str:
        """Returns a page with the tensors over the actions of a step, by their place in memory."""
        self._page = self._page or self._report()
        return self._page

    def _repr_html_(self) -> str:
        page = html.escape(self.html(), quote=True)
        return f'<iframe srcdoc="{page}" style="width:100%;height:720px;border:0"></iframe>'

    def __repr__(self) -> str:
        at_peak = ", ".join(f"{name} {size_text(count)}" for name, count in self.data["at_peak"].items() if count)
        seconds = self.predicted_seconds
        predicted = f", predicted step {seconds:.3g} s" if seconds else ""
        return (f"<braid.Plan peak {size_text(self.peak_bytes)} ({self.peak_bytes} bytes){predicted}; "
                f"at the peak: {at_peak}>")

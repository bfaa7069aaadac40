"""A picture of what bench/train has measured: plot.py RESULTS.jsonl PICTURE.png (needs matplotlib).

For each work a bar for each program: the fastest step, with a line up to the median, as a multiple of the limit;
works without one, because this processor has no fast bf16, are left out.
"""

import json
import pathlib
import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402


def draw(records, path):
    records = [record for record in records if record["limit_seconds"]]
    works = list(dict.fromkeys(record["work"] for record in records))
    programs = list(dict.fromkeys(record["program"] for record in records))
    colors = dict(zip(programs, plt.get_cmap("tab10").colors * 2))
    figure, axes = plt.subplots(figsize=(2 + 1.4 * len(works), 4.5), layout="constrained")
    for at, work in enumerate(works):
        its = [record for record in records if record["work"] == work]
        width = 0.8 / len(its)
        for i, record in enumerate(its):
            unit = record["limit_seconds"]
            x, best, median = at - 0.4 + (i + 0.5) * width, record["best"]["seconds"] / unit, record["median"]["seconds"] / unit
            axes.bar(x, best, width * 0.9, color=colors[record["program"]])
            axes.plot([x, x], [best, median], color="black", linewidth=1)
    axes.axhline(1, color="gray", linestyle="--", linewidth=1)
    axes.set_xticks(range(len(works)), works, rotation=20, ha="right")
    axes.set_ylabel("fastest step / limit (line: to the median)")
    axes.legend([plt.Rectangle((0, 0), 1, 1, color=colors[name]) for name in programs], programs, frameon=False)
    axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, dpi=150)


if __name__ == "__main__":
    lines = [json.loads(line) for line in pathlib.Path(sys.argv[1]).read_text().splitlines()]
    draw([line for line in lines if line.get("bench") == "train" and "program" in line], sys.argv[2])

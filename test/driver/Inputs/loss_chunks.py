"""What --loss-chunk=auto chooses, against plans of every number of chunks.

loss_chunks.py GRAPH FOLDER
"""
import json
import pathlib
import re
import subprocess
import sys

graph, folder = sys.argv[1], pathlib.Path(sys.argv[2])
ROWS = 8 * 16


def plan(*options):
    """The arena, and the rows of a chunk if a remark names them."""
    report = folder / "plan.json"
    done = subprocess.run(["braidc", graph, "--emit=memory", "-o", str(folder / "plan"), f"--report={report}", *options],
                          capture_output=True, text=True, check=True)
    rows = re.search(r"in \d+ chunks of (\d+) rows of logits", done.stderr)
    return json.loads(report.read_text())["arena_bytes"], int(rows[1]) if rows else None


arenas = {count: plan(f"--loss-chunk={ROWS // count}")[0] for count in (1, 2, 4, 8, 16, 32, 64)}
arena, rows = plan("--loss-chunk=auto")
fewest = next(count for count, bytes_ in arenas.items() if bytes_ <= 1.01 * min(arenas.values()))
assert (arena, ROWS // (rows or ROWS)) == (arenas[fewest], fewest), (arenas, arena, rows)
assert fewest > 1, "the graph needs no chunks"

# With a limit, auto takes the fewest chunks that keep it, and none if none are needed.
limit = (arenas[1] + arenas[2]) // 2
kept, rows = plan(f"--memory-limit={limit}", "--recompute=none")
assert kept <= limit and rows == ROWS // 2, (arenas, kept, rows)
kept, rows = plan(f"--memory-limit={arenas[1]}", "--recompute=none")
assert kept == arenas[1] and rows is None, (arenas, kept, rows)

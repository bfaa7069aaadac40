#!/usr/bin/env python3
"""Compiled steps are cached; processes that want the same library compile it once. usage: cache.py FOLDER"""

import os
import subprocess
import sys
from pathlib import Path

import braid
import models
from braid import cache, graph, tools

CHILD = """
import models, braid
_, batches, loss, _ = models.make("mixer")
with braid.compile(models.Mixer(), batches[0], loss=loss, optimizer="sgd") as step:
    print(float(step(batches[0], lr=0.0)) > 0)
"""


def main():
    os.environ["XDG_CACHE_HOME"] = sys.argv[1]
    folder = Path(sys.argv[1]) / "braid"
    _, batches, loss, _ = models.make("mixer")
    calls = []
    run = tools.run

    def counted(name, *words, **options):
        calls.append(name)
        return run(name, *words, **options)

    graph.tools.run = counted
    for options, wanted in (({}, 1), ({}, 0), ({"seed": 5}, 0), ({"beta2": 0.95}, 1), ({"precision": "bf16"}, 1)):
        calls.clear()
        braid.compile(models.Mixer(), batches[0], loss=loss, **options).close()
        assert calls.count("braidc") == wanted, (options, calls)
    assert len(list(folder.glob("*.so"))) == 3
    print("3 libraries for 5 steps")
    both = [subprocess.Popen([sys.executable, "-c", CHILD], stdout=subprocess.PIPE, text=True,
                             env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}) for _ in range(2)]
    assert [child.communicate()[0] for child in both] == ["True\n", "True\n"]
    assert len(list(folder.glob("*.so"))) == 4 and not list(folder.glob("*.tmp"))
    try:
        cache.fetch("broken", lambda path: path.write_text("half") and 1 / 0)
    except ZeroDivisionError:
        assert not list(folder.glob("broken*.tmp")) and not (folder / "broken.so").exists()
    braid.clear_cache()
    assert not folder.exists()
    print("two processes compile once")


main()

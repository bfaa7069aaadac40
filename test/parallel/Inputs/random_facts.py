#!/usr/bin/env python3
"""Training steps of random graphs under random strategies keep the facts of all ops, from
the graph to memory: none is lost, and dependences agree with every phase.

    random_facts.py FIRST END     seeds FIRST to END - 1; prints the failures
    random_facts.py --show SEED   prints the graph of a seed and its command
"""

import sys

import seeds
from random_steps import TrainedGraph, is_refused


class Graph(TrainedGraph):
    def step(self):
        return ("tg-make-programs{programs=train},canonicalize,cse,tg-differentiate{function=train},tg-verify-facts,"
                f"func.func(tg-apply-optimizer{{optimizer={self.optimizer}}}),tg-verify-facts")

    def pipeline(self):
        passes = super().pipeline().replace("tg-derive-facts,", "")
        for boundary in ("comm-shard,", "exec-verify-values,"):
            passes = passes.replace(boundary, boundary + "tg-verify-facts,")
        return passes + ",tg-verify-facts"


def commands(graph):
    yield ["braid-opt", "-", f"--pass-pipeline=builtin.module({graph.pipeline()})", "-o", "/dev/null"]


def main():
    return seeds.main(Graph, commands, what="programs", passes=lambda run: is_refused(run) or run.returncode == 0,
                      counted="refused", count=is_refused, suffices=lambda refused, graphs: refused <= graphs // 10)


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Training steps of random graphs, on the ranks of random strategies, compute what one
rank does: from the graph to merged and hidden communication, on values and in memory.

    random_steps.py FIRST END     seeds FIRST to END - 1; prints the failures
    random_steps.py --show SEED   prints the graph of a seed and its command

Some arguments of a graph have the batch in dim 0, others are parameters: of several
units or none, frozen, read by nobody.  A graph that reads two parts of the batch along
one dim of a matmul is refused, which is no failure.
"""

import sys

import seeds
from random_shardings import ShardedGraph
from random_graphs import MEMORY, VALUES, tensor

STRATEGIES = [("dp = 2", "axes=dp"), ("dp = 3", "axes=dp"), ("dp = 4", "axes=dp"),
              ("replica = 2, shard = 2", "axes=replica,shard"),
              ("replica = 2, shard = 2", "axes=replica,shard shard=shard")]
RANKS = {"dp = 2": 2, "dp = 3": 3}  # else 4
OPTIMIZERS = ["adamw clip=0.5", "adam", "sgd", "momentum hyperparameters=momentum=0.9,weight_decay=0.1 clip=1"]


class TrainedGraph(ShardedGraph):
    """A graph whose only annotations are those of a strategy."""

    def __init__(self, seed):
        super().__init__(seed)
        choose = self.random.choice
        self.mesh_text, self.axes_text = choose(STRATEGIES)
        self.zero = choose([0, 1, 2, 3, 3])
        self.noise = self.random.random() < 0.3
        self.optimizer = choose(OPTIMIZERS) + (" report-norm" if self.noise else "")
        # The last argument is a number, and always trained.
        results = list(dict.fromkeys(self.random.sample(self.values, 4) + self.values[-1:] + self.arguments[-1:]))
        self.result = self.loss(results)
        self.attributes = [self.attribute(name[1:], shape) for name, shape in self.arguments]
        self.stage = choose(["values", "memory", "memory"])

    def constrain(self):
        """No annotations in between."""

    def attribute(self, name, shape):
        draw = self.random.random()
        if shape and shape[0] % RANKS.get(self.mesh_text, 4) == 0 and draw < 0.4:
            return f'tg.input = "{name}", tg.role = #tg.role<features>'
        unit = self.random.choice(["", ', unit = "a"', ', unit = "b"', ', unit = "c"'])
        frozen = ", frozen" if draw > 0.9 and shape else ""
        return f'tg.param = #tg.param<"{name}", #tg.init<normal, 0.0, 0.5>{unit}{frozen}>'

    def text(self):
        arguments = ",\n    ".join(f"{name}: {tensor(shape)} {{{attribute}}}"
                                   for (name, shape), attribute in zip(self.arguments, self.attributes))
        return (f'func.func @model({arguments})\n    -> (tensor<f32> {{tg.role = #tg.role<loss>}}) {{\n' + "\n".join(self.lines)
                + f"\n  return {self.result} : tensor<f32>\n}}\n")

    def step(self):
        return ("canonicalize,cse,tg-differentiate{function=model},"
                f"func.func(tg-apply-optimizer{{optimizer={self.optimizer}}})")

    def communication(self):
        """What merges collectives, and what hides them."""
        choose = self.random.choice
        gather = ""
        if self.zero == 3:
            gather = choose(["", "comm-gather-units,", "comm-gather-units{reshard-after-forward=false},"])
        bucket = (f"comm-bucket{{bucket-mb={choose(['0', '0.0001', '0.001', 'inf'])} "
                  f"first-bucket-mb={choose(['0', '0.0001', 'inf'])} per-unit={choose(['auto', 'true', 'false'])}}}")
        link, compute = choose(["0.1,1", "20,10", "0,0.001"]), choose(["1,1", "0.01,0.1"])
        overlap = (f"exec-set-machine{{link={link} compute={compute}}},comm-overlap{{prefetch={choose([0, 1, 2])}}}")
        return gather + bucket, choose(["", f"{overlap},"])

    def pipeline(self):
        merge, overlap = self.communication()
        noise = "func.func(comm-noise-scale)," if self.noise else ""
        passes = (f"{self.step()},comm-annotate{{layout='mesh {self.mesh_text}'}},"
                  f"tg-derive-facts,comm-data-parallel{{{self.axes_text} zero={self.zero}}},comm-shard,{noise}"
                  f"canonicalize,cse,func.func(tg-decompose,{merge}),comm-verify-order")
        if self.stage == "values":
            return passes
        actions = VALUES.removesuffix(",exec-verify-values")
        return f"{passes},{actions},{overlap}exec-verify-values{MEMORY.removeprefix(VALUES)},comm-verify-order"


def commands(graph):
    known = ["--set", "step=1"] if "adam" in graph.optimizer else []
    yield ["braid-interp", "-", "--compare", "--function=model", *known, "--arithmetic=f64", "--rtol=1e-5",
           "--atol=1e-6", "--reference-pipeline=" + graph.step(), "--pipeline=" + graph.pipeline()]


def is_refused(run):
    return "conflicting shardings" in run.stderr


def main():
    return seeds.main(TrainedGraph, commands, passes=lambda run: is_refused(run) or seeds.agrees(run),
                      counted="refused", count=is_refused, suffices=lambda refused, graphs: refused <= graphs // 10)


if __name__ == "__main__":
    sys.exit(main())

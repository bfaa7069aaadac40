#!/usr/bin/env python3
"""Random programs of ranks compute the same, in every bit, once comm-overlap has put
their communication beside computation, on values and in memory.

    random_overlap.py FIRST END     seeds FIRST to END - 1; prints the failures
    random_overlap.py --show SEED   prints the program of a seed and its passes

The programs are those of random_buckets.py, where parameters that are stored in shards
are gathered too, some of them twice.
"""

import sys

import seeds
from random_buckets import MACHINE, Step


class StoredStep(Step):
    """A step whose gradients depend on parameters that are sharded."""

    def __init__(self, seed):
        self.stored = []
        super().__init__(seed)
        choose = self.random.choice
        limit = choose(["", "", "memory-limit=0", f"memory-limit={self.random.randint(9, 40)}K"])
        self.overlap = " ".join([f"prefetch={choose([0, 1, 1, 2, 5])}", f"early-updates={choose(['true', 'false'])}",
                                 limit])
        self.machine = (f"link={choose([0, 0.1, 2])},{choose([0.001, 0.01, 1])} "
                        f"compute={choose([0.01, 1])},{choose([0.001, 0.1])}")

    def gradient(self, parameter):
        super().gradient(parameter)
        if self.random.random() < 0.4:
            return
        axes = self.group()
        if not self.stored or self.random.random() < 0.7:
            self.stored.append((self.sizes[parameter], axes))
        number = self.random.randrange(len(self.stored))
        size, axes = self.stored[number]
        whole = self.emit(f"comm.all_gather %s{number} dims [flat] over @mesh {{{', '.join(axes)}}} : "
                          f"(tensor<{size // self.ranks(axes)}xf32>) -> tensor<{size}xf32>")
        square = self.emit(f"arith.mulf {whole}, {whole} : tensor<{size}xf32>")
        self.numbers.append(self.emit(f"tg.reduce sum {square} dims [0] : tensor<{size}xf32> -> tensor<f32>"))

    def text(self):
        arguments = ""
        for number, (size, axes) in enumerate(self.stored):
            arguments += (f'%s{number}: tensor<{size // self.ranks(axes)}xf32> {{tg.param = #tg.param<"s{number}", '
                          f'#tg.init<ones>, unit = "s{number}">, comm.global = tensor<{size}xf32>, '
                          f'comm.sharding = #comm.sharding<@mesh, {{}}, flat {{{", ".join(axes)}}}>}},\n    ')
        return super().text().replace("func.func @f(", "func.func @f(" + arguments)


EXEC = "exec-select-calls,exec-form-kernels,exec-fuse-kernels"
MEMORY = "exec-verify-values,exec-plan-memory,exec-outline-kernels,exec-batch-launches,exec-verify-plan"


def commands(step):
    before = f"{MACHINE},tg-derive-facts,func.func(tg-decompose,comm-bucket{{{step.options}}},{EXEC})"
    after = f"{before},exec-set-machine{{{step.machine}}},comm-overlap{{{step.overlap}}},comm-verify-order"
    for rest in ["", "," + MEMORY]:
        yield ["braid-interp", "-", "--compare", "--rtol=0", "--atol=0", f"--reference-pipeline={before}{rest}",
               f"--pipeline={after}{rest}"]


def main():
    return seeds.main(StoredStep, commands, "runs", counted="hide all",
                      count=lambda run: " 0.0 us wait for communication" in run.stderr,
                      suffices=lambda hidden, _: hidden > 0)


if __name__ == "__main__":
    sys.exit(main())

"""Compares each phase of braid-opt, as MLIR prints it, with the passes that it should be."""

import re
import subprocess
import sys

SHARD = ("func.func(comm-propagate,comm-insert-reshards,comm-verify-shardings),comm-partition,"
         "func.func(comm-simplify),comm-verify-order")
PLAN = ("exec-plan-memory,exec-pad-matmuls,exec-outline-kernels,exec-shorten-row-loops,exec-batch-launches,exec-stream-stores,"
        "exec-split-matmuls,exec-copy-panels,exec-verify-plan,exec-verify-memory,tg-verify-facts")

# A phase with its options, and its passes with what the options say of them.
PHASES = {
    "braid-prepare": "exec-set-target,func.func(tg-note-groups,tg-transpose-weights)",
    "braid-prepare{accumulate=4 mixed-precision=true}":
        "exec-set-target,func.func(tg-note-groups,tg-transpose-weights,tg-rebatch{factor=4},tg-mixed-precision)",
    "braid-programs": "tg-make-programs",
    "braid-programs{hooks=true}": "func.func(tg-mark-units),tg-make-programs",
    "braid-differentiate": "canonicalize,cse,tg-differentiate{function=train}",
    "braid-differentiate{accumulate=true mixed-precision=true}":
        "canonicalize,cse,tg-split-loss,tg-differentiate{function=train},"
        "func.func(tg-gradient-precision),tg-accumulate",
    "braid-differentiate{hooks=true}":
        "tg-attach-hooks{function=train phase=forward},canonicalize,cse,tg-differentiate{function=train},"
        "func.func(tg-mark-gradients),tg-attach-hooks{function=train phase=backward}",
    "braid-optimizer": "tg-remove-hooks,func.func(tg-apply-optimizer)",
    "braid-optimizer{mixed-precision=true}": "tg-remove-hooks,func.func(tg-apply-optimizer),tg-working-copies",
    "braid-annotate{mesh={mesh dp = 2}}": "comm-annotate{layout={mesh dp = 2}}",
    "braid-annotate{mesh={mesh dp = 2} layout-file=f data-parallel=true}":
        "comm-annotate{layout={mesh dp = 2}},comm-annotate{layout-file=f},comm-data-parallel",
    "comm-shard": SHARD,
    "braid-partition": f"comm-agree,{SHARD}",
    "braid-partition{noise-scale=true mixed-precision=true}":
        f"comm-agree,{SHARD},func.func(comm-noise-scale,comm-reduce-precision)",
    "braid-partition{root-parallel=true mixed-precision=true}": f"comm-agree,{SHARD},comm-root-parallel,comm-verify-order",
    "braid-decompose": "canonicalize,cse,func.func(tg-decompose,tg-verify-primitives),tg-verify-facts",
    "braid-decompose{actions=true}":
        "canonicalize,cse,"
        "func.func(exec-select-attention,exec-select-dot-products,exec-select-epilogues,tg-decompose,tg-verify-primitives),tg-verify-facts",
    "braid-collectives": "func.func(comm-bucket,comm-name-tensors)",
    "braid-collectives{gather-units=true}": "func.func(comm-gather-units,comm-bucket,comm-name-tensors)",
    "braid-actions": "func.func(exec-chunk-sums,exec-select-calls,exec-select-bias-gradients,exec-select-addends,exec-form-kernels,exec-fuse-kernels,exec-fuse-gathers,"
                     "exec-recompute-operands),exec-early-updates,exec-gather-kernels,exec-form-packs,func.func(exec-verify-library-sizes),"
                     "exec-verify-values,tg-verify-facts",
    "braid-actions{without=exec-select-bias-gradients}": "func.func(exec-chunk-sums,exec-select-calls,exec-select-addends,exec-form-kernels,exec-fuse-kernels,exec-fuse-gathers,"
                                           "exec-recompute-operands),exec-early-updates,exec-gather-kernels,exec-form-packs,func.func(exec-verify-library-sizes),"
                                           "exec-verify-values,tg-verify-facts",
    "braid-actions{without=exec-select-bias-gradients,exec-select-addends orders-attention=true}":
        "func.func(exec-chunk-sums,exec-select-calls,exec-form-kernels,exec-fuse-kernels,exec-fuse-gathers,exec-recompute-operands),"
        "exec-early-updates,exec-gather-kernels,exec-form-packs,exec-order-attention{memory-limit= order=auto row-alignment=-1},"
        "func.func(exec-verify-library-sizes),exec-verify-values,tg-verify-facts",
    "braid-actions{without=exec-early-updates,exec-gather-kernels}":
        "func.func(exec-chunk-sums,exec-select-calls,exec-select-bias-gradients,exec-select-addends,exec-form-kernels,exec-fuse-kernels,exec-fuse-gathers,"
        "exec-recompute-operands),exec-form-packs,func.func(exec-verify-library-sizes),exec-verify-values,tg-verify-facts",
    "braid-offload": "exec-offload-state,exec-verify-values,tg-verify-facts",
    "braid-offload{activations=true}": "exec-offload-state,exec-offload-activations,exec-verify-values,tg-verify-facts",
    "braid-offload{state=false activations=true}": "exec-offload-activations,exec-verify-values,tg-verify-facts",
    "braid-overlap": "comm-fill-waits,comm-overlap,exec-verify-values,tg-verify-facts",
    "braid-overlap{without=comm-fill-waits}": "comm-overlap,exec-verify-values,tg-verify-facts",
    "braid-memory": PLAN,
    "braid-memory{ranks=true}":
        PLAN.replace("exec-verify-plan", "comm-share-multiprocessors,exec-verify-plan") + ",comm-verify-order",
    "braid-memory{without=exec-shorten-row-loops}": PLAN.replace("exec-shorten-row-loops,", ""),
}


def printed(passes):
    """The pipeline with all options, as braid-opt prints it before it runs."""
    command = ["braid-opt", f"--pass-pipeline=builtin.module({passes})", "--dump-pass-pipeline"]
    run = subprocess.run(command, input="", capture_output=True, text=True)
    text = re.search(r"^builtin\.module\(.*\)$", run.stderr, re.M)
    return text.group(0) if text else f"no pipeline, but\n{run.stderr}"


def main():
    problems = 0
    for phase, passes in PHASES.items():
        found, expected = printed(phase), printed(passes)
        if found != expected or not found.startswith("builtin.module("):
            problems += 1
            print(f"{phase} is\n{found}\nand not\n{expected}")
    print(f"{len(PHASES)} phases, {problems} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""The examples under every strategy, precision and number of ranks, on the shim.

matrix.py --work FOLDER [--only REGEX] [--cover] [--list]
matrix.py --pairs [--without NAME]

Models: the GPT of examples/gpt-text and the Llama of examples/llama-tiny, made small and with weights whose attention is
peaked, and the MLP of examples/mlp-by-hand.  Strategies: DDP, ZeRO-1, 2, 3 and hybrid sharding (HSDP), over f32 and bf16, on 1, 2 and 4
ranks, with and without graphs, with microbatches, with hooks, through the host, and with the optimizer's state there.  Each
case trains by run_model.py.  Prints passed and failed, and a JSON line of the same at the end.

The product of models, precisions, strategies and ranks has 60 cases.  With --cover, those 18 of it run in which each
two values that a case of the product has together are together in one case: any two may interact, and a case of the
product that none of the 18 is fails by itself only if three or four do.  --pairs counts the pairs that are left out.
"""
import argparse
import itertools
import json
import pathlib
import re
import struct
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
REPO = HERE.parent.parent

GPT = {"model_type": "gpt2", "vocab_size": 256, "n_positions": 16, "n_embd": 32, "n_layer": 2, "n_head": 2,
       "activation_function": "gelu_new", "layer_norm_epsilon": 1e-5}
# Rows of logits are not multiples of 16 bytes unless they are padded.
ODD = {**GPT, "vocab_size": 257}
STRATEGIES = {"ddp": "--zero=0", "zero1": "--zero=1", "zero2": "--zero=2", "zero3": "--zero=3"}


class Case:
    def __init__(self, name, model, options="", ranks=1, run="", more=(), values=()):
        self.name, self.model, self.options, self.ranks, self.run = name, model, options, ranks, run
        self.more = list(more)
        self.values = values  # one of each axis of the product, none for other cases

    def pairs(self):
        return set(itertools.combinations(self.values, 2))


def product():
    """Every model, precision, strategy and number of ranks."""
    for model in ("gpt", "llama", "mlp"):
        for precision in ("f32", "bf16"):
            base = f"--precision={precision}"
            yield Case(f"{model}-{precision}", model, base, more=["--sample"] if model != "mlp" else [],
                       values=(model, precision, "alone", 1))
            for ranks in (2, 4):
                for strategy, option in STRATEGIES.items():
                    options = f"{base} --mesh=dp={ranks} {option}"
                    yield Case(f"{model}-{precision}-{strategy}-{ranks}", model, options, ranks,
                               values=(model, precision, strategy, ranks))
            yield Case(f"{model}-{precision}-hsdp-4", model, f"{base} --mesh=replica=2,shard=2 --zero=3", 4,
                       values=(model, precision, "hsdp", 4))


# Each model under each strategy, which are 18 pairs, so fewer cases do not cover them.
COVER = {
    "gpt": "f32, f32-ddp-2, bf16-zero1-2, f32-zero2-4, bf16-zero3-4, bf16-hsdp-4",
    "llama": "bf16, bf16-ddp-4, f32-zero1-4, bf16-zero2-2, f32-zero3-2, f32-hsdp-4",
    "mlp": "f32, bf16-ddp-2, f32-zero1-4, bf16-zero2-4, f32-zero3-2, bf16-hsdp-4",
}


def cover():
    """The cases of the product that have each of its pairs."""
    names = {f"{model}-{rest}" for model, list_ in COVER.items() for rest in list_.split(", ")}
    return [case for case in product() if case.name in names]


def pairs_of(some):
    return set().union(*(case.pairs() for case in some))


def cases():
    yield from product()
    yield Case("gpt-no-graph", "gpt", run="--cuda-graph off")
    yield Case("gpt-ddp-2-no-graph", "gpt", "--mesh=dp=2", 2, run="--cuda-graph off")
    yield Case("gpt-buckets", "gpt", "--mesh=dp=2 --zero=2 --bucket-mb=0.02 --first-bucket-mb=0.01", 2)
    yield Case("gpt-accumulate", "gpt", "--accumulate=2 --clip=1.0")
    yield Case("gpt-accumulate-zero2-2", "gpt", "--accumulate=2 --mesh=dp=2 --zero=2", 2)
    yield Case("gpt-dataparallel-2", "gpt", "--mesh=dp=2 --strategy=dataparallel", 2)
    for strategy, option in (("ddp", "--zero=0"), ("zero3", "--zero=3")):
        yield Case(f"gpt-device-threads-{strategy}", "gpt", f"--mesh=dp=2 {option}", 2,
                   run="--ranks 2 --transport device-threads", more=["--staged", "--devices=1"])
    for precision in ("f32", "bf16"):
        yield Case(f"odd-{precision}", "odd", f"--precision={precision}")
        yield Case(f"odd-{precision}-zero3-2", "odd", f"--precision={precision} --mesh=dp=2 --zero=3", 2)
    yield Case("gpt-hooks-zero2-2", "gpt", "--mesh=dp=2 --zero=2 --hook=h.0.exit:norm,h.1.exit.grad:norm,h.0.exit.grad:clip:0.02,"
               "param:transformer.ln_f.weight:norm", 2)
    yield Case("gpt-int8", "gpt", "--optimizer-state=int8")
    yield Case("gpt-int8-zero3-2", "gpt", "--optimizer-state=int8 --mesh=dp=2 --zero=3", 2)
    yield Case("gpt-recompute", "gpt", "--recompute=selective")
    yield Case("odd-recompute-zero3-2", "odd", "--recompute=full --precision=bf16 --mesh=dp=2 --zero=3", 2)
    yield Case("odd-loss-chunk", "odd", "--loss-chunk=16 --clip=1.0")
    yield Case("odd-accumulate", "odd", "--accumulate=2 --clip=1.0")
    yield Case("gpt-offload", "gpt", "--offload=optimizer", more=["--sample"])
    yield Case("gpt-offload-accumulate", "gpt", "--offload=optimizer --accumulate=2 --clip=1.0")
    for precision in ("f32", "bf16"):
        for strategy in ("ddp", "zero1", "zero3"):
            yield Case(f"gpt-offload-{precision}-{strategy}-2", "gpt",
                       f"--offload=optimizer --precision={precision} --mesh=dp=2 {STRATEGIES[strategy]}", 2)
    yield Case("gpt-offload-dataparallel-2", "gpt", "--offload=optimizer --mesh=dp=2 --strategy=dataparallel", 2)
    yield Case("gpt-offload-no-overlap-2", "gpt", "--offload=optimizer --mesh=dp=2 --zero=2 --overlap=none", 2)
    activations = "--offload=activations --offload-activations=all"
    yield Case("gpt-offload-activations", "gpt", activations, more=["--sample"])
    yield Case("gpt-offload-activations-no-graph", "gpt", activations, run="--cuda-graph off")
    yield Case("gpt-offload-activations-accumulate", "gpt", f"{activations} --accumulate=2 --clip=1.0")
    yield Case("llama-offload-activations-bf16", "llama", f"{activations} --precision=bf16")
    yield Case("gpt-offload-activations-attention", "gpt", f"{activations} --recompute=attention")
    yield Case("gpt-offload-activations-selective-bf16", "gpt", f"{activations} --recompute=selective --precision=bf16")
    both = "--offload=optimizer,activations --offload-activations=all"
    yield Case("gpt-offload-both", "gpt", both)
    for strategy in ("ddp", "zero3"):
        yield Case(f"gpt-offload-activations-{strategy}-2", "gpt", f"{activations} --mesh=dp=2 {STRATEGIES[strategy]}", 2)
        yield Case(f"gpt-offload-both-bf16-{strategy}-2", "gpt",
                   f"{both} --precision=bf16 --mesh=dp=2 {STRATEGIES[strategy]}", 2)
    yield Case("gpt-offload-both-dataparallel-2", "gpt", f"{both} --mesh=dp=2 --strategy=dataparallel", 2)
    yield Case("llama-2x2", "llama", f"--mesh=dp=2,tp=2 --layout={REPO}/examples/llama-2x2/weights", 4)


    for name, model, mesh, options, ranks in (
            ("tp2", "gpt", "tp=2", "", 2), ("tp2-sequence", "gpt", "tp=2", "--sequence-parallel", 2),
            ("tp4-repeated-heads", "llama", "tp=4", "", 4), ("tp2-sequence-llama", "llama", "tp=2", "--sequence-parallel", 2),
            ("cp2-ulysses", "llama", "cp=2", "--context=ulysses", 2), ("cp2-gather", "gpt", "cp=2", "--context=gather", 2),
            ("dp2-tp2", "gpt", "dp=2,tp=2", "--zero=1 --clip=1.0", 4), ("dp2-cp2", "llama", "dp=2,cp=2", "--zero=3", 4),
            ("cp2-tp2", "gpt", "cp=2,tp=2", "--accumulate=2", 4),
            ("cp2-tp2-sequence", "llama", "cp=2,tp=2", "--sequence-parallel --zero=1", 4),
            ("pp2", "gpt", "pp=2", "--accumulate=4 --clip=1.0", 2),
            ("pp2-zb-h1", "llama", "pp=2", "--accumulate=4 --schedule=zb-h1", 2),
            ("pp2-dp2", "gpt", "pp=2,dp=2", "--accumulate=2 --zero=1", 4),
            ("pp2-tp2", "llama", "pp=2,tp=2", "--accumulate=2", 4)):
        yield Case(f"axes-{name}", model, f"--precision=bf16 --mesh={mesh} {options}".strip(), ranks,
                   run="--cuda-graph off" if "pp=" in mesh else "")


def graphs(work):
    """The models' graphs and data."""
    llama = json.loads((REPO / "examples/llama-tiny/config.json").read_text())
    llama.update(hidden_size=32, intermediate_size=48, num_hidden_layers=2, num_attention_heads=4,
                 num_key_value_heads=2)
    for name, config in (("gpt", GPT), ("odd", ODD), ("llama", llama)):
        (work / f"{name}.json").write_text(json.dumps(config))
        subprocess.run(["braid-model", work / f"{name}.json", "--batch", "8", "--seq", "8", "-o", work / f"{name}.mlir"], check=True)
    (work / "mlp.mlir").write_text((REPO / "examples/mlp-by-hand/mlp.mlir").read_text())
    subprocess.run([sys.executable, REPO / "examples/mlp-by-hand/make_data.py", work / "mlp.data"], check=True,
                   stdout=subprocess.DEVNULL)
    sys.path.insert(0, str(HERE))
    import run_model
    for name in ("gpt", "odd", "llama"):
        run_model.first_step.peak(work / f"{name}.mlir")
    for name in ("gpt", "odd", "llama"):
        run_model.text(work / f"{name}.data", 20000)
    # Models of bytes need text.
    odd = (work / "odd.data").read_bytes()
    header = struct.pack("<8sIIQQ", b"BRAIDTOK", 1, 2, len(odd), ODD["vocab_size"]).ljust(64, b"\0")
    (work / "odd.data").write_bytes(header + b"".join(struct.pack("<H", byte) for byte in odd))


def run(case, work):
    folder = work / "cases"
    command = [sys.executable, HERE / "run_model.py", work / f"{case.model}.mlir", "--data", work / f"{case.model}.data",
               "--work", folder, "--ranks", str(case.ranks), f"--options={case.options}", f"--run={case.run}", *case.more,
               "--tolerance", "1e-2" if "bf16" in case.options else "1e-4"]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
    return done.returncode == 0, done.stdout.strip()


def print_pairs(without):
    """Returns the pairs of values of the product that the cover has."""
    chosen = [case for case in cover() if case.name != without]
    left_out = pairs_of(product()) - pairs_of(chosen)
    print(f"{len(chosen)} of {len(list(product()))} cases have {len(pairs_of(chosen))} pairs, {len(left_out)} are left out")
    print("\n".join(sorted(f"left out: {a} with {b}" for a, b in left_out)))
    sys.exit(1 if left_out else 0)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=pathlib.Path)
    parser.add_argument("--only", default="", help="cases whose names match")
    parser.add_argument("--cover", action="store_true", help="of the product those that have each pair of values")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--pairs", action="store_true", help="count the pairs of values that --cover leaves out")
    parser.add_argument("--without", default="", help="a case that --pairs does not count")
    args = parser.parse_args()
    if args.pairs:
        print_pairs(args.without)
    chosen = [case for case in (cover() if args.cover else cases()) if re.search(args.only, case.name)]
    if args.list:
        print("\n".join(case.name for case in chosen))
        return
    args.work.mkdir(parents=True, exist_ok=True)
    graphs(args.work)
    failed = []
    for case in chosen:
        start = time.time()
        right, output = run(case, args.work)
        print(f"{'passed' if right else 'FAILED'} {case.name} ({time.time() - start:.1f} s): {output if not right else output.splitlines()[-1]}",
              flush=True)
        failed += [] if right else [case.name]
    print(json.dumps({"passed": len(chosen) - len(failed), "failed": len(failed), "failures": failed}))
    sys.exit(1 if failed or not chosen else 0)


if __name__ == "__main__":
    main()

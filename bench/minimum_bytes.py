#!/usr/bin/env python3
"""The least bytes that a training step of a GPT-2 or Llama can move, from the model's shapes alone.

  minimum_bytes.py CONFIG.json [FOLDER] --batch 64 --seq 1024

CONFIG.json is that of Hugging Face.  FOLDER is what braidc wrote for the model (--emit=dir): then the
bytes of its launches (bench/roofline.py) stand beside the minimum, with their ratio.

The minimum: each layer, in each direction, reads each of its inputs, its parameters and what it has
saved once, and writes each of its outputs and what it saves once, in the type in which it is kept.
Nothing else is written, and no two layers share a read.  What counts as a layer is what GPUs cannot
fuse today without computing something twice:

- a matmul with its bias and GELU, or with the residual that its result is added to.  Its gradient is two matmuls, one for the input and one for the
  weights, and both read the gradient of the result.  Layers that read the same input and nothing
  between (q, k and v; gate and up) are one matmul.  Gradients of biases are sums of what a layer has at
  hand: they are written, and read nothing.
- attention: q, k and v are read, the result and a log-sum-exp a row written; backward, also the
  gradient is read, and those of q, k and v are written.  Scores stay on chip.
- rotary embedding, in place, of q and k.
- the gated activation of Llama: of gate and up its product is written; all three are saved.
- a norm: the sum that the matmul before it has written is read, and the norm written.  Backward the
  gradients of both and the sum are read, and the gradient of the sum is written.
- the embedding with the first norm: a row is read once however many tokens are it.
- the loss: of each logit read its gradient is written.
- the norm of all gradients where they are clipped, and the update of parameters.

Activations and what computes are bf16, row statistics, gradients of parameters and the optimizer's
state f32: --precision=bf16 with AdamW.
"""

import argparse
import collections
import json
import pathlib
import sys
from dataclasses import dataclass

HALF, FULL, INDEX = 2, 4, 4


@dataclass
class Model:
    """Returns the settings that both kinds of config.json have."""
    width: int
    layers: int
    heads: int
    kv: int  # the width of k, and of v
    inner: int
    vocabulary: int
    positions: int  # of a table that is learned; 0: there is none
    gated: bool
    bias: bool  # of matmuls and norms
    tied: bool


def model_of(config, path="the config"):
    if config["model_type"] == "gpt2":
        width = config["n_embd"]
        return Model(width, config["n_layer"], config["n_head"], width, config.get("n_inner") or 4 * width, config["vocab_size"],
                     config["n_positions"], gated=False, bias=True, tied=config.get("tie_word_embeddings", True))
    if config["model_type"] == "llama":
        heads = config["num_attention_heads"]
        size = config.get("head_dim") or config["hidden_size"] // heads
        return Model(config["hidden_size"], config["num_hidden_layers"], heads, size * config.get("num_key_value_heads", heads),
                     config["intermediate_size"], config["vocab_size"], 0, gated=True, bias=False,
                     tied=config.get("tie_word_embeddings", False))
    sys.exit(f"minimum_bytes: {path} is of model_type '{config['model_type']}'; gpt2 and llama are known")


def read_model(path):
    return model_of(json.loads(pathlib.Path(path).read_text()), path)


class Step:
    """Returns the bytes of each layer of a step: by unit, phase and kind. `half`: bytes of a computing element."""

    def __init__(self, model, batch, seq, half=HALF):
        self.half = half
        self.model, self.batch, self.seq, self.tokens = model, batch, seq, batch * seq
        self.bytes, self.parameters = collections.Counter(), 0
        self.unit = None
        self.embed()
        for layer in range(model.layers):
            self.unit = f"layer {layer}"
            self.block()
        self.unit = "head"
        self.norm()
        self.head()
        self.unit = "update"
        self.update()

    def add(self, phase, kind, values=0, full=0, weights=0):
        """Bytes of `values` per token in bf16, `full` per token in f32, and read weights in bf16."""
        self.bytes[self.unit, phase, kind] += self.tokens * (self.half * values + FULL * full) + self.half * weights

    def gradients(self, kind, count):
        """Parameters whose gradients are written."""
        self.parameters += count
        self.bytes[self.unit, "backward", kind] += FULL * count

    def matmul(self, inner, outer, beside=0):
        """A layer from `inner` to `outer` numbers a token; `beside`: what its epilogue keeps or adds beside the result."""
        weights = inner * outer
        self.add("forward", "matmul", inner + outer + beside, weights=weights + self.model.bias * outer)
        self.add("backward", "matmul", outer + inner, weights=weights)  # the input's gradient
        self.add("backward", "matmul", outer + inner)  # the weights'
        self.gradients("matmul", weights + self.model.bias * outer)

    def norm(self):
        """Bytes of a norm after a residual sum, which it reads. The first norm is part of the embedding, where its reads are counted, and writes its sum."""
        width, statistics = self.model.width, 1 + self.model.bias  # a mean, too, in layer norms
        weights = width * (1 + self.model.bias)
        self.add("forward", "norm", 2 * width, statistics, weights)
        # The last sum receives only the gradient of the norm.
        self.add("backward", "norm", (3 if self.unit == "head" else 4) * width, statistics, width)
        self.gradients("norm", weights)

    def block(self):
        model = self.model
        self.norm()
        qkv = model.width + 2 * model.kv
        self.matmul(model.width, qkv)
        if not model.positions:
            for phase in ("forward", "backward"):
                self.add(phase, "rotary", 2 * (model.width + model.kv))
        self.add("forward", "attention", qkv + model.width, model.heads)
        self.add("backward", "attention", 2 * qkv + 2 * model.width, model.heads)
        self.matmul(model.width, model.width, beside=model.width)
        self.norm()
        if model.gated:
            self.matmul(model.width, 2 * model.inner)
            self.add("forward", "activation", 3 * model.inner)
            self.add("backward", "activation", 5 * model.inner)
        else:
            self.matmul(model.width, model.inner, beside=model.inner)
            self.add("backward", "matmul", model.inner)  # GELU's input, read by the gradient of the next matmul
        self.matmul(model.inner, model.width, beside=model.width)

    def embed(self):
        self.unit, model = "embedding", self.model
        rows = min(self.tokens, model.vocabulary) * model.width
        self.add("forward", "embedding", weights=rows + min(self.seq, model.positions) * model.width)
        self.bytes[self.unit, "forward", "embedding"] += INDEX * self.tokens
        self.add("backward", "embedding", model.width)
        self.bytes[self.unit, "backward", "embedding"] += INDEX * self.tokens
        if model.tied:  # added to what the head has written
            self.bytes[self.unit, "backward", "embedding"] += 2 * FULL * rows
        else:
            self.gradients("embedding", model.vocabulary * model.width)
        self.gradients("embedding", model.positions * model.width)

    def head(self):
        model, bias = self.model, self.model.bias
        model.bias = False
        self.matmul(model.width, model.vocabulary)
        model.bias = bias
        self.add("forward", "loss", 2 * model.vocabulary)
        self.bytes[self.unit, "forward", "loss"] += INDEX * self.tokens

    def update(self):
        # The gradient, the master and both means are read. The master, the means and the working copy are written.
        self.bytes[self.unit, "update", "clip"] += FULL * self.parameters
        self.bytes[self.unit, "update", "update"] += (7 * FULL + (HALF if self.half == HALF else 0)) * self.parameters

    def total(self):
        return sum(self.bytes.values())

    def by_kind(self):
        kinds = collections.Counter()
        for (_, phase, kind), count in self.bytes.items():
            kinds[phase, kind] += count
        return kinds


def compare(step, folder):
    """Compares the bytes of the launches with the minimum, in the groups that both have; returns their ratio."""
    import roofline  # beside this file: nothing above reads what braidc wrote
    launches = roofline.Step(roofline.read(folder), roofline.GPUS["h200"]).all()
    kinds = ("matmul", "attention")
    least, moved = collections.Counter(), collections.Counter()
    for (phase, kind), count in step.by_kind().items():
        least[phase, kind if kind in kinds else "others"] += count
    for its, times in launches:
        kind = next((kind for kind in kinds if its.kind.startswith(kind)), "others")
        # The loss and its gradient may be one launch, of either phase.
        moved[its.phase if (its.phase, kind) in least else "update", kind] += times * its.bytes
    print(f"{'':20}{'minimum':>10}{'launches':>10}{'excess':>10} GB")
    for phase, kind in least:
        a, b = least[phase, kind] / 1e9, moved[phase, kind] / 1e9
        print(f"{phase:9}{kind:11}{a:10.3f}{b:10.3f}{b - a:10.3f}")
    a, b = step.total(), sum(moved.values())
    print(f"{'all':20}{a / 1e9:10.3f}{b / 1e9:10.3f}{(b - a) / 1e9:10.3f}\nratio {b / a:.3f}")
    return b / a


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("config", metavar="CONFIG.json")
    parser.add_argument("folder", nargs="?", type=pathlib.Path, help="what braidc wrote for the model")
    parser.add_argument("--batch", type=int, required=True)
    parser.add_argument("--seq", type=int, required=True)
    parser.add_argument("--most", type=float, metavar="RATIO", help="fail where the launches move more than this times the minimum")
    options = parser.parse_intermixed_args()
    step = Step(read_model(options.config), options.batch, options.seq)
    for (phase, kind), count in step.by_kind().items():
        print(f"{phase:9}{kind:11}{count / 1e9:10.3f} GB")
    print(f"{'minimum':20}{step.total() / 1e9:10.3f} GB, {step.parameters:,} parameters")
    if options.folder:
        ratio = compare(step, options.folder)
        if options.most and ratio > options.most:
            sys.exit(f"minimum_bytes: {options.folder} moves {ratio:.3f} times the minimum, more than {options.most}")


if __name__ == "__main__":
    main()

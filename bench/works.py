"""The works of bench/train: models, batches, ranks and precisions."""

import dataclasses
import fnmatch
import json
import math
import random
import struct
from array import array

import gpt2
import tools


@dataclasses.dataclass(frozen=True)
class Work:
    """A model and its batch; `config` is that of Hugging Face, or the sizes of the layers of an MLP."""
    name: str
    config: dict
    batch: int
    seq: int = 0  # 0: rows, and no tokens
    ranks: int = 1
    threads: int = 2  # of a rank
    precision: str = "f32"

    @property
    def kind(self):
        return self.config["model_type"]

    @property
    def key(self):
        """Its name in results: "gpt2-4x64-bf16-2ranks"."""
        return self.name + (f"-{self.precision}" if self.precision != "f32" else "") + (f"-{self.ranks}ranks" if self.ranks > 1 else "")

    @property
    def tokens(self):
        """Tokens of a step; rows for an MLP."""
        return self.batch * (self.seq or 1)

    def asdict(self):
        return dataclasses.asdict(self) | {"kind": self.kind}


def small_gpt(vocabulary, width, layers, heads, positions):
    return gpt2.CONFIG | {"vocab_size": vocabulary, "n_positions": positions, "n_embd": width, "n_layer": layers, "n_head": heads,
                          "bos_token_id": 0, "eos_token_id": 0}


LLAMA_25M = {
    "model_type": "llama", "architectures": ["LlamaForCausalLM"], "vocab_size": 8192, "max_position_embeddings": 512,
    "hidden_size": 512, "intermediate_size": 1344, "num_hidden_layers": 6, "num_attention_heads": 8,
    "num_key_value_heads": 4, "head_dim": 64, "hidden_act": "silu", "rms_norm_eps": 1e-5, "rope_theta": 10000.0,
    "initializer_range": 0.02, "tie_word_embeddings": False, "attention_bias": False, "mlp_bias": False,
    "bos_token_id": 1, "eos_token_id": 2,
}

# The works that bench/train measures, each in f32 and in bf16.
WORKS = [
    Work("gpt2-4x64", gpt2.CONFIG, 4, 64),
    Work("gpt2-1x1024", gpt2.CONFIG, 1, 1024),
    Work("gpt-small-8x256", small_gpt(256, 192, 4, 6, 256), 8, 256),
    Work("llama-25m-4x512", LLAMA_25M, 4, 512),
    Work("mlp-256", {"model_type": "mlp", "layers": [1024, 4096, 4096, 256]}, 256),
    Work("gpt2-4x64", gpt2.CONFIG, 4, 64, ranks=2, threads=1),
]
# A small work to try the benchmark itself.
TINY = [
    Work("tiny-gpt", small_gpt(256, 32, 2, 2, 16), 4, 16),
    Work("tiny-gpt", small_gpt(256, 32, 2, 2, 16), 4, 16, ranks=2, threads=1),
    Work("tiny-llama", LLAMA_25M | {"vocab_size": 256, "hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2,
                                    "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 8}, 4, 16),
    Work("tiny-mlp", {"model_type": "mlp", "layers": [16, 32, 8]}, 8),
]


def choose(names, precisions, tiny):
    works = [dataclasses.replace(work, precision=precision) for precision in precisions for work in (TINY if tiny else WORKS)]
    return [work for work in works if not names or any(fnmatch.fnmatch(work.key, name) for name in names)]


#===----------------------------------------------------------------------===#
# Graphs and data
#===----------------------------------------------------------------------===#


def write_graph(work, build, folder):
    if work.kind == "mlp":
        (folder / "model.mlir").write_text(mlp_graph(work))
        return
    (folder / "config.json").write_text(json.dumps(work.config))
    tools.run([build / "bin" / "braid-model", folder / "config.json", "--batch", work.batch, "--seq", work.seq,
               "-o", folder / "model.mlir"])


def mlp_graph(work):
    """Linear layers with GELU between them, and the mean squared error."""
    sizes, batch = work.config["layers"], work.batch
    arguments, body, value, shape = [], [], "%x", f"tensor<{batch}x{sizes[0]}xf32>"
    for i, (inner, outer) in enumerate(zip(sizes, sizes[1:])):
        weight, bias, result = f"tensor<{outer}x{inner}xf32>", f"tensor<{outer}xf32>", f"tensor<{batch}x{outer}xf32>"
        arguments += [f'%w{i}: {weight} {{tg.param = #tg.param<"layers.{i}.weight", #tg.init<normal, 0.0, {inner ** -0.5:f}>, unit = "layers.{i}">}}',
                      f'%b{i}: {bias} {{tg.param = #tg.param<"layers.{i}.bias", #tg.init<zeros>, unit = "layers.{i}">}}']
        body += [f'%m{i} = tg.contract "bi,oi->bo" {value}, %w{i} : ({shape}, {weight}) -> {result}',
                 f"%s{i} = tg.broadcast %b{i} dims [1] : {bias} -> {result}",
                 f"%y{i} = arith.addf %m{i}, %s{i} : {result}"]
        value, shape = f"%y{i}", result
        if i + 2 < len(sizes):
            body.append(f"%h{i} = tg.gelu tanh %y{i} : {result}")
            value = f"%h{i}"
    arguments += [f'%x: tensor<{batch}x{sizes[0]}xf32> {{tg.input = "x", tg.role = #tg.role<features>}}',
                  f'%t: {shape} {{tg.input = "t", tg.role = #tg.role<labels>}}']
    body += [f"%e = arith.subf {value}, %t : {shape}", f"%q = arith.mulf %e, %e : {shape}",
             f"%loss = tg.reduce mean %q dims [0, 1] : {shape} -> tensor<f32>",
             f"return %loss, {value} : tensor<f32>, {shape}"]
    return ("module {\n  func.func @model(\n      " + ",\n      ".join(arguments) +
            f')\n      -> (tensor<f32> {{tg.role = #tg.role<loss>}}, {shape} {{tg.output = "prediction"}}) {{\n    ' +
            "\n    ".join(body) + "\n  }\n}\n")


def write_data(work, steps, folder):
    """Enough for so many steps in their order, without the part that is held out.  Returns the path."""
    if work.kind != "mlp":
        path = folder / "tokens.bin"
        gpt2.write_tokens(path, 2 * (steps + 1) * work.tokens + 1, work.config["vocab_size"])
        return path
    path, rows = folder / "rows.safetensors", 2 * (steps + 1) * work.batch
    sizes, generator, header, data = work.config["layers"], random.Random(1), {}, b""
    for name, width in (("x", sizes[0]), ("t", sizes[-1])):
        values = array("f", (generator.random() - 0.5 for _ in range(rows * width)))
        header[name] = {"dtype": "F32", "shape": [rows, width], "data_offsets": [len(data), len(data) + 4 * len(values)]}
        data += values.tobytes()
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)
    return path


#===----------------------------------------------------------------------===#
# What a step must do
#===----------------------------------------------------------------------===#


def gemm_flops(work):
    """FLOPs of forward and backward; for attention, the half that the causal mask keeps."""
    if work.kind == "mlp":
        sizes = work.config["layers"]
        # The gradient of the first layer's input is not needed.
        return work.batch * sum(2 * a * b * (3 if i else 2) for i, (a, b) in enumerate(zip(sizes, sizes[1:])))
    import minimum_bytes
    model = minimum_bytes.model_of(work.config)
    layer = model.width * (2 * model.width + 2 * model.kv) + (3 if model.gated else 2) * model.width * model.inner
    weights = model.layers * layer + model.vocabulary * model.width
    return work.tokens * (6 * weights + 6 * model.layers * model.width * work.seq)


def moved_bytes(work):
    """Returns the minimum of bytes outside of GEMMs and attention, of all ranks together."""
    if work.kind == "mlp":
        parameters = sum(a * b + b for a, b in zip(work.config["layers"], work.config["layers"][1:]))
        return (30 if work.precision == "bf16" else 28) * parameters
    import minimum_bytes
    half = 2 if work.precision == "bf16" else 4
    step = minimum_bytes.Step(minimum_bytes.model_of(work.config), work.batch, work.seq, half=half)
    return sum(count for (_, kind), count in step.by_kind().items() if kind not in ("matmul", "attention", "clip"))


def limit_seconds(work, rates):
    """GEMMs at the rate of GEMMs, then the bytes at the rate of copies; the ranks share the work."""
    flops = rates[f"{work.precision}_flops"]
    if not flops:
        return math.nan
    return (gemm_flops(work) / flops + moved_bytes(work) / rates["bytes_per_second"]) / work.ranks

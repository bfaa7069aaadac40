"""Random models that are small and awkward, with data to train them on.

A model writes its graph for a batch, as braid-model or a person would, and a file of
data.  Sizes are odd, so that they divide by no number of ranks; some parameters have
fewer elements than there are ranks, or are read by nobody.  `is_random` says that the
microbatch decides (dropout), `has_state` that a step leaves more behind than parameters.
"""

import array
import json
import math
import re
import struct
import subprocess

from random_graphs import tensor


def write_tokens(path, tokens, vocabulary):
    """Tokens of 16 bits in the runtime's format."""
    header = struct.pack("<8sIIQQ", b"BRAIDTOK", 1, 2, len(tokens), vocabulary).ljust(64, b"\0")
    path.write_bytes(header + array.array("H", tokens).tobytes())


def write_rows(path, tensors):
    """Lists of rows of f32 as a safetensors file."""
    header, data = {}, b""
    for name, rows in tensors.items():
        values = array.array("f", (value for row in rows for value in row)).tobytes()
        header[name] = {"dtype": "F32", "shape": [len(rows), len(rows[0])],
                        "data_offsets": [len(data), len(data) + len(values)]}
        data += values
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


class LanguageModel:
    """GPT-2 or Llama by braid-model; losses of all kinds, some with ignored targets."""
    has_state = False

    def __init__(self, random):
        self.random = random
        self.config = random.choice([self.gpt2, self.llama])()
        self.vocabulary = random.choice([2, 11, 37, 97, 130])  # with one class every gradient is 0
        self.sequence = random.randint(1, 9)
        self.config |= {"vocab_size": self.vocabulary, "tie_word_embeddings": random.random() < 0.5}
        self.loss = random.choice(["mean", "mean", "sum"])
        self.ignored = random.choice([-100, -100, 3])
        self.is_random = any(value for key, value in self.config.items() if key.endswith(("pdrop", "dropout")))

    def gpt2(self):
        heads, rate = self.random.randint(1, 3), self.random.choice([0, 0, 0.1, 0.3])
        return {"model_type": "gpt2", "n_layer": self.random.randint(1, 4), "n_head": heads,
                "n_embd": heads * self.random.choice([3, 5, 8]), "n_positions": 9,
                "activation_function": self.random.choice(["gelu_new", "relu", "gelu"]),
                "embd_pdrop": rate, "attn_pdrop": rate, "resid_pdrop": rate}

    def llama(self):
        shared = self.random.randint(1, 2)
        heads = shared * self.random.randint(1, 2)
        return {"model_type": "llama", "num_hidden_layers": self.random.randint(1, 4),
                "num_attention_heads": heads, "num_key_value_heads": shared,
                "hidden_size": heads * self.random.choice([2, 6]),
                "intermediate_size": self.random.choice([7, 13, 24]), "max_position_embeddings": 9,
                "attention_bias": self.random.random() < 0.3, "mlp_bias": self.random.random() < 0.3}

    def layout(self):
        """Inner layers by blocks over tp, where their width is even."""
        gpt2 = self.config["model_type"] == "gpt2"
        if self.config["n_embd" if gpt2 else "intermediate_size"] % 2:
            return None
        if gpt2:
            return "*.c_fc.weight: {} {tp}\n*.mlp.c_proj.weight: {tp} {}\n"
        return "*.gate_proj.weight: {tp} {}\n*.up_proj.weight: {tp} {}\n*.down_proj.weight: {} {tp}\n"

    def write_graph(self, path, batch):
        config = path.with_suffix(".json")
        config.write_text(json.dumps(self.config))
        subprocess.run(["braid-model", config, f"--batch={batch}", f"--seq={self.sequence}", "-o", path], check=True)
        text = path.read_text().replace("cross_entropy mean", f"cross_entropy {self.loss}")
        path.write_text(re.sub(r"ignore -100\b", f"ignore {self.ignored}", text))

    def write_data(self, path):
        """Runs of tokens, so that ignored ones are not equally many in every sequence."""
        tokens = []
        while len(tokens) < 1500:
            tokens += [self.random.choice([min(3, self.vocabulary - 1), self.random.randrange(self.vocabulary)])] * self.random.randint(1, 5)
        write_tokens(path, tokens, self.vocabulary)


class Perceptron:
    """Layers by hand, with what importers do not write: parameters of one element, read
    twice, read by nobody, frozen or of another layer's unit; running statistics."""

    def __init__(self, random):
        self.random = random
        self.widths = [random.choice([1, 3, 5, 6, 17]) for _ in range(random.randint(2, 5))]
        self.loss = random.choice(["mean", "mean", "sum"])
        self.is_random, self.has_state = random.random() < 0.2, random.random() < 0.3
        self.draw = random.getrandbits(32)

    def layout(self):
        return None

    def write_graph(self, path, batch):
        path.write_text(Layers(type(self.random)(self.draw), self, batch).text())

    def write_data(self, path):
        def rows(width):
            return [[self.random.gauss(0, 1) for _ in range(width)] for _ in range(251)]
        write_rows(path, {"x": rows(self.widths[0]), "t": rows(self.widths[-1])})


class Layers:
    """The graph of a Perceptron for a batch: the same draws for every batch."""

    def __init__(self, random, model, batch):
        self.random, self.model, self.batch = random, model, batch
        self.arguments, self.lines, self.results = [], [], []
        x, t = (self.data(name, role, width) for name, role, width in
                (("x", "features", model.widths[0]), ("t", "labels", model.widths[-1])))
        if model.has_state:
            x = self.centered(x, model.widths[0])
        if model.is_random:
            self.arguments.append('%key: tensor<4xi32> {tg.input = "key", tg.role = #tg.role<key>}')
        self.squares = {}
        for layer, widths in enumerate(zip(model.widths, model.widths[1:])):
            x = self.layer(layer, x, *widths)
        width = model.widths[-1]
        d = self.emit(f"arith.subf {x}, {t} : {self.rows(width)}")
        q = self.emit(f"arith.mulf {d}, {d} : {self.rows(width)}")
        loss = self.emit(f"tg.reduce {model.loss} {q} dims [0, 1] : {self.rows(width)} -> tensor<f32>")
        self.results.insert(0, (loss, "tensor<f32>", 'tg.role = #tg.role<loss>'))
        random.shuffle(self.arguments)

    def rows(self, width):
        return tensor((self.batch, width))

    def emit(self, text):
        self.lines.append(f"  %{len(self.lines)} = {text}")
        return f"%{len(self.lines) - 1}"

    def data(self, name, role, width):
        self.arguments.append(f'%{name}: {self.rows(width)} {{tg.input = "{name}", tg.role = #tg.role<{role}>}}')
        return f"%{name}"

    def param(self, name, shape, layer, frozen=""):
        unit = self.random.choice(["", f', unit = "{layer}"', f', unit = "{layer}"', f', unit = "{max(layer - 1, 0)}"'])
        self.arguments.append(f'%{name}: {tensor(shape)} {{tg.param = #tg.param<"{name}", '
                              f'#tg.init<normal, 0.0, 0.5>{unit}{frozen}>}}')
        return f"%{name}"

    def centered(self, x, width):
        """x less the running mean of all batches, and less a number that counts them."""
        vector, rows = tensor((width,)), self.rows(width)
        self.arguments += [f'%mean: {vector} {{tg.state = #tg.state<"mean", #tg.init<zeros>, kind = running_statistic>}}',
                           '%batches: tensor<i32> {tg.state = #tg.state<"batches", #tg.init<zeros>, kind = running_statistic>}']
        now = self.emit(f"tg.reduce mean {x} dims [0] : {rows} -> {vector}")
        keep = self.emit(f"arith.constant dense<0.9> : {vector}")
        moved = self.emit(f"arith.addf {self.emit(f'arith.mulf %mean, {keep} : {vector}')}, {now} : {vector}")
        self.results.append((moved, vector, 'tg.updates = "mean"'))
        one = self.emit("arith.constant dense<1> : tensor<i32>")
        count = self.emit(f"arith.addi %batches, {one} : tensor<i32>")
        self.results.append((count, "tensor<i32>", 'tg.updates = "batches"'))
        known = self.emit("tg.convert %batches : tensor<i32> -> tensor<f32>")
        for subtracted, shape, dims in (("%mean", vector, "[1]"), (known, "tensor<f32>", "[]")):
            wide = self.emit(f"tg.broadcast {subtracted} dims {dims} : {shape} -> {rows}")
            x = self.emit(f"arith.subf {x}, {wide} : {rows}")
        return x

    def layer(self, layer, x, into, out):
        choose, some = self.random.choice, self.random.random
        before, rows = self.rows(into), self.rows(out)
        order, shape = choose([("oi", (out, into)), ("io", (into, out))])
        known = self.squares.get((order, shape), [])
        if known and some() < 0.4:
            weight = choose(known)
        else:
            weight = self.param(f"w{layer}", shape, layer, ", frozen" if some() < 0.1 and layer else "")
            self.squares[order, shape] = known + [weight]
        x = self.emit(f'tg.contract "bi,{order}->bo" {x}, {weight} : ({before}, {tensor(shape)}) -> {rows}')
        if some() < 0.6:
            bias = self.emit(f"tg.broadcast {self.param(f'b{layer}', (out,), layer)} dims [1] : {tensor((out,))} -> {rows}")
            x = self.emit(f"arith.addf {x}, {bias} : {rows}")
        if some() < 0.4:  # one element, in one of two ranks
            one = choose([(), (1,)])
            scale = self.param(f"s{layer}", one, layer)
            if one:
                scale = self.emit(f"tg.reshape {scale} : tensor<1xf32> -> tensor<f32>")
            x = self.emit(f"arith.addf {x}, {self.emit(f'tg.broadcast {scale} dims [] : tensor<f32> -> {rows}')} : {rows}")
        if some() < 0.3:
            self.param(f"unread{layer}", choose([(3,), (7, 5), (1,)]), layer)
        x = self.emit(f"{choose(['tg.silu', 'tg.gelu tanh', 'math.tanh'])} {x} : {rows}")
        if self.model.is_random:
            x = self.emit(f"tg.dropout {x}, %key rate 0.25 stream {layer} : ({rows}, tensor<4xi32>) -> {rows}")
        return x

    def text(self):
        values, types, attributes = zip(*self.results)
        results = ", ".join(f"{type} {{{attribute}}}" for type, attribute in zip(types, attributes))
        return ("func.func @model(" + ",\n    ".join(self.arguments) + f")\n    -> ({results}) {{\n"
                + "\n".join(self.lines) + f"\n  return {', '.join(values)} : {', '.join(types)}\n}}\n")


def random_model(random):
    return random.choice([LanguageModel, Perceptron])(random)

"""A twin of a model that is too large to be compared: the same structure with smaller sizes.

Sizes keep their parity and their common divisors with the numbers of ranks, so that the same sizes divide. Groups of
query heads, windows, stages of pipelines and patterns of layers stay.
"""

import math
import re

from . import command

MOST_PARAMETERS = 1_000_000
MOST_TOKENS = 4096  # of a batch
LEAST_SEQUENCE = 200  # two tiles of attention and a part of one (runtime/AttentionTile.h)
OF_LAYERS = ("--hook", "--stages", "--layout", "--recompute-file")  # options that name layers

LAYERS = ("num_hidden_layers", "n_layer")
HEADS = ("num_attention_heads", "n_head")
WIDTHS = ("hidden_size", "n_embd")
INNER = ("intermediate_size", "n_inner", "moe_intermediate_size", "shared_expert_intermediate_size")
EXPERTS = ("num_experts", "num_local_experts")
POSITIONS = ("max_position_embeddings", "n_positions")
PATTERN = 6  # layers, the longest pattern of a family: five with a window and one without


def smaller(size, ranks, least):
    """Returns the smallest number from `least` on with the same parity and common divisors with the ranks."""
    for other in range(least, size):
        if math.gcd(other, ranks) == math.gcd(size, ranks) and (other - size) % 2 == 0:
            return other
    return size


def first_of(config, names):
    return next((name for name in names if isinstance(config.get(name), int)), None)


def layers_of(layers, stages, pattern):
    """Returns a number of layers: one pattern of layers for each stage, and the remainder."""
    each = min(layers // stages, max(pattern // stages, 1)) if layers >= stages else 0
    return each * stages + layers % stages


def shrink(config, options):
    """The twin's settings that differ from those of `config`; `options` are braidc's."""
    mesh = command.mesh_of(options)
    ranks = math.prod(size for axis, size in mesh.items() if axis != "pp")
    chunks = command.number_of(options, "--chunks", 2 if re.search("interleaved|zb-v", " ".join(options)) else 1)
    stages = mesh.get("pp", 1) * chunks
    patterns = ("layer_types", "sliding_window", "decoder_sparse_step", "mlp_only_layers")
    has_pattern = any(key in config for key in patterns)
    twin = {}
    names_layers = config.get("mlp_only_layers") or any(command.name_of(option) in OF_LAYERS for option in options)
    if (name := first_of(config, LAYERS)) and not names_layers:
        twin[name] = layers_of(config[name], stages, PATTERN if has_pattern else 2)
        if isinstance(config.get("layer_types"), list):
            twin["layer_types"] = config["layer_types"][:twin[name]]
        if isinstance(config.get("max_window_layers"), int):
            twin["max_window_layers"] = min(config["max_window_layers"], max(twin[name] - 1, 0))
    twin |= heads_of(config, ranks)
    for name in INNER:
        if isinstance(config.get(name), int):
            twin[name] = smaller(config[name], ranks, 24)
    if isinstance(config.get("vocab_size"), int):
        twin["vocab_size"] = smaller(config["vocab_size"], ranks, 97)
        for name in ("pad_token_id", "bos_token_id", "eos_token_id"):
            if isinstance(config.get(name), int):
                twin[name] = min(config[name], twin["vocab_size"] - 1)
    if name := first_of(config, EXPERTS):
        twin[name] = smaller(config[name], ranks, max(4, config.get("num_experts_per_tok", 2)))
    return {key: value for key, value in twin.items() if value != config.get(key)}


def heads_of(config, ranks):
    """Returns the heads of queries, the heads of keys, and the total width."""
    name, width = first_of(config, HEADS), first_of(config, WIDTHS)
    if not name or not width or config[name] < 1:
        return {}
    heads, keys = config[name], config.get("num_key_value_heads", config[name])
    if not isinstance(keys, int) or keys < 1 or heads % keys:
        return {}
    twin = {}
    fewer = smaller(keys, ranks, min(keys, 2))
    each = smaller(heads // keys, ranks, min(heads // keys, 2))
    twin[name] = fewer * each
    if "num_key_value_heads" in config:
        twin["num_key_value_heads"] = fewer
    head = config.get("head_dim") or config[width] // heads
    small = min(head, 16)
    if config.get("head_dim"):
        twin["head_dim"] = small
    own = config[width] == heads * head
    twin[width] = twin[name] * small if own else smaller(config[width], ranks, 32)
    return twin


def shorter(for_model, for_compiler, positions):
    """Returns the options of both tools for fewer tokens in a batch, and the ratio of the new length to the old."""
    old = {"--batch": command.number_of(for_model, "--batch", 8),
           "--seq": command.number_of(for_model, "--seq", min(64, positions or 64))}
    mesh, accumulate = command.mesh_of(for_compiler), command.number_of(for_compiler, "--accumulate", 1)
    if math.prod(old.values()) <= MOST_TOKENS:
        return {}, {}, 1
    ranks = math.prod(size for axis, size in mesh.items() if axis in ("cp", "tp")) * 2
    parts = math.prod(size for axis, size in mesh.items() if axis not in ("cp", "tp", "pp")) * accumulate
    sizes = {"--batch": smaller(old["--batch"], parts, 2), "--seq": smaller(old["--seq"], ranks, LEAST_SEQUENCE)}
    length = sizes["--seq"] / old["--seq"]
    if bound := command.value_of(for_model, "--expert-bound"):
        sizes["--expert-bound"] = scaled(command.number_of(for_model, "--expert-bound", bound), length)
    chunk = command.value_of(for_compiler, "--loss-chunk", "")
    rows = {"--loss-chunk": scaled(int(chunk), length * sizes["--batch"] / old["--batch"])} if chunk.isdecimal() else {}
    return sizes, rows, length


def scaled(size, share, least=1):
    return min(size, max(least, round(size * share)))

"""JAX's side of bench/train: jax_train.py JOB.json.

One jitted step of forward, backward and AdamW, which gives its arguments' memory to its results. Parameters have the
names of the file; with bf16, matrices and activations are bf16, and parameters, norms and losses stay f32.
"""

import json
import os
import pathlib
import sys
import time

job = json.loads(pathlib.Path(sys.argv[1]).read_text())
# XLA uses one thread per core: it has no other setting.
os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:job["threads"]])

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402

import weights  # noqa: E402

HALF = jnp.bfloat16 if job["precision"] == "bf16" else jnp.float32
config = job["config"]


def linear(x, matrix, bias=None):
    """Multiplies by a matrix of in x out."""
    y = x.astype(HALF) @ matrix.astype(HALF)
    return y if bias is None else y + bias.astype(HALF)


def attend(q, k, v):
    """Causal attention on [batch, seq, heads, size]."""
    return jax.nn.dot_product_attention(q, k, v, is_causal=True)


def loss_of_logits(logits, targets):
    logits = logits.astype(jnp.float32)
    picked = jnp.take_along_axis(logits, targets[..., None], axis=-1)[..., 0]
    return jnp.mean(jax.nn.logsumexp(logits, axis=-1) - picked)


def gpt2(p, ids, targets):
    def norm(x, name):
        x = x.astype(jnp.float32)
        mean, variance = x.mean(-1, keepdims=True), x.var(-1, keepdims=True)
        return (x - mean) * jax.lax.rsqrt(variance + config["layer_norm_epsilon"]) * p[name + ".weight"] + p[name + ".bias"]

    batch, seq = ids.shape
    heads = config["n_head"]
    x = (p["wte.weight"][ids] + p["wpe.weight"][:seq]).astype(HALF)
    for i in range(config["n_layer"]):
        at = f"h.{i}."
        qkv = linear(norm(x, at + "ln_1"), p[at + "attn.c_attn.weight"], p[at + "attn.c_attn.bias"])
        q, k, v = (part.reshape(batch, seq, heads, -1) for part in jnp.split(qkv, 3, -1))
        x = x + linear(attend(q, k, v).reshape(x.shape), p[at + "attn.c_proj.weight"], p[at + "attn.c_proj.bias"])
        up = linear(norm(x, at + "ln_2"), p[at + "mlp.c_fc.weight"], p[at + "mlp.c_fc.bias"])
        x = x + linear(jax.nn.gelu(up, approximate=True), p[at + "mlp.c_proj.weight"], p[at + "mlp.c_proj.bias"])
    return loss_of_logits(linear(norm(x, "ln_f"), p["wte.weight"].T), targets)


def llama(p, ids, targets):
    def norm(x, name):
        x = x.astype(jnp.float32)
        return x * jax.lax.rsqrt((x * x).mean(-1, keepdims=True) + config["rms_norm_eps"]) * p[name + ".weight"]

    batch, seq = ids.shape
    size, inner = config["head_dim"], jnp.arange(0, config["head_dim"], 2) / config["head_dim"]
    angles = jnp.tile(jnp.outer(jnp.arange(seq), config["rope_theta"] ** -inner), 2)[:, None, :]
    cos, sin = jnp.cos(angles), jnp.sin(angles)

    def rotate(x):
        a, b = jnp.split(x, 2, -1)
        return (x * cos + jnp.concatenate((-b, a), -1) * sin).astype(HALF)

    x = p["embed_tokens.weight"][ids].astype(HALF)
    for i in range(config["num_hidden_layers"]):
        at = f"layers.{i}."
        y = norm(x, at + "input_layernorm")
        q, k, v = (linear(y, p[at + f"self_attn.{name}_proj.weight"].T).reshape(batch, seq, -1, size) for name in "qkv")
        x = x + linear(attend(rotate(q), rotate(k), v).reshape(batch, seq, -1), p[at + "self_attn.o_proj.weight"].T)
        y = norm(x, at + "post_attention_layernorm")
        gate, up = (linear(y, p[at + f"mlp.{name}_proj.weight"].T) for name in ("gate", "up"))
        x = x + linear(jax.nn.silu(gate) * up, p[at + "mlp.down_proj.weight"].T)
    head = p.get("lm_head.weight", p["embed_tokens.weight"])
    return loss_of_logits(linear(norm(x, "norm"), head.T), targets)


def mlp(p, x, targets):
    count = len(config["layers"]) - 1
    for i in range(count):
        x = linear(x, p[f"layers.{i}.weight"].T, p[f"layers.{i}.bias"])
        x = jax.nn.gelu(x, approximate=True) if i + 1 < count else x
    return jnp.mean((x.astype(jnp.float32) - targets) ** 2)


LOSS = {"gpt2": gpt2, "llama": llama, "mlp": mlp}[job["kind"]]


def step(number, parameters, means, squares, inputs, targets):
    loss, gradients = jax.value_and_grad(LOSS)(parameters, inputs, targets)
    (a, b), rate = job["betas"], job["lr"]
    means = jax.tree.map(lambda m, g: a * m + (1 - a) * g, means, gradients)
    squares = jax.tree.map(lambda s, g: b * s + (1 - b) * g * g, squares, gradients)

    def update(p, m, s):
        direction = (m / (1 - a ** number)) / (jnp.sqrt(s / (1 - b ** number)) + 1e-8)
        return p - rate * (direction + job["decay"] * p)

    return loss, jax.tree.map(update, parameters, means, squares), means, squares


def plain(name):
    """Returns the names without the component of the whole model."""
    for part in ("transformer.", "model."):
        name = name.removeprefix(part)
    return name


def main():
    parameters = {plain(name): jnp.asarray(array) for name, array in weights.read_tensors(job["weights"]).items()
                  if not name.endswith((".exp_avg", ".exp_avg_sq"))}  # AdamW's, which begin at 0
    means, squares = (jax.tree.map(jnp.zeros_like, parameters) for _ in range(2))
    run, batches, seconds, losses = jax.jit(step, donate_argnums=(1, 2, 3)), weights.Batches(job), [], []
    for number in range(job["steps"]):
        inputs, targets = batches(number)
        start = time.perf_counter()
        loss, parameters, means, squares = run(jnp.float32(number + 1), parameters, means, squares, inputs, targets)
        jax.block_until_ready(parameters)
        losses.append(float(loss))
        seconds.append(time.perf_counter() - start)
    print(json.dumps({"seconds": seconds, "losses": losses}))


main()

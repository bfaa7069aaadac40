#!/usr/bin/env python3
"""Compares ten compiled steps with JAX's own: losses, parameters and states of the optimizer. Needs jax and safetensors.

  compare_jax_steps.py FOLDER [NAME...]

Each case is a whole step that JAX lowers, with its gradients and its optimizer. The training binary runs it, and the
interpreter runs its first step. Errors are relative to the largest element of a tensor.
"""
import inspect
import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy
from safetensors.numpy import load_file, save_file

sys.path.insert(0, str(Path(__file__).parent / "Inputs"))
import stablehlo
from jax_models import INPUTS, MODELS, SIZE, STEPS, VOCABULARY, adamw, batches, normal

TOLERANCE = 1e-5
RATE = 0.1


#
# A model of ops whose gradients no other model has: slices with strides, maxima, exact GELU, positions of both dims.
#


def patterns(params, tokens, targets):
    x = params["table"][tokens] + params["places"][:, jnp.arange(tokens.shape[1])].T
    low, high = x[..., ::2], x[..., 1::2]
    x = jnp.stack([low * 0.8 - high * 0.6, high * 0.8 + low * 0.6], axis=-1).reshape(x.shape)
    x = jax.nn.gelu(x @ params["up"], approximate=False) + jax.nn.relu(x @ params["side"])
    x = jnp.where(x > 0.5, jnp.max(x, axis=1, keepdims=True), jnp.clip(x, -0.4, 0.4)) + jax.nn.sigmoid(x)
    x = jnp.flip(jnp.pad(x, ((0, 0), (1, 0), (0, 0)))[:, :-1], axis=-1) + x
    logits = (x @ params["down"]).reshape(-1, params["down"].shape[1]).astype(jnp.float32)
    rows = jax.nn.log_softmax(logits)[jnp.arange(targets.size), targets.reshape(-1)]
    return -rows.mean() + 1e-3 * jnp.sum(params["up"] ** 2)


def patterns_params():
    keys = jax.random.split(jax.random.PRNGKey(5), 5)
    return {"table": normal(keys[0], VOCABULARY, SIZE), "places": normal(keys[1], SIZE, 16),
            "up": normal(keys[2], SIZE, SIZE), "side": normal(keys[3], SIZE, SIZE), "down": normal(keys[4], SIZE, VOCABULARY)}


#
# Mixtures of experts: two experts for each token within a capacity, as in GShard; then all experts, of which most count 0.
#

EXPERTS, CAPACITY = 4, 20


def routed(x, router):
    weights, chosen = jax.lax.top_k(jax.nn.softmax(x @ router), 2)
    return weights, jax.nn.one_hot(chosen, EXPERTS)


def experts(params, tokens, targets):
    x = params["table"][tokens].reshape(-1, SIZE)
    weights, hot = routed(x, params["router"])
    places = ((jnp.cumsum(hot.reshape(-1, EXPERTS), 0) - 1).reshape(hot.shape) * hot).sum(-1)
    slots = jax.nn.one_hot(places, CAPACITY)
    hidden = jnp.einsum("tke,tkc,td,edf->ecf", hot, slots, x, params["up"], optimize="optimal")
    x = x + jnp.einsum("tk,tke,tkc,ecf,efd->td", weights, hot, slots, jax.nn.relu(hidden), params["down"], optimize="optimal")
    weights, hot = routed(x, params["router"])
    x = x + jnp.einsum("tk,tke,ted->td", weights, hot, jnp.tanh(jnp.einsum("td,edf,efg->teg", x, params["up"], params["down"])))
    balance = EXPERTS * (hot.sum(1).mean(0) * jax.nn.softmax(x @ params["router"]).mean(0)).sum()
    return jnp.mean(optax_rows(x @ params["table"].T, targets.reshape(-1))) + 0.01 * balance


def optax_rows(logits, targets):
    return jax.nn.logsumexp(logits, -1) - jnp.take_along_axis(logits, targets[:, None], -1)[:, 0]


def experts_params():
    keys = jax.random.split(jax.random.PRNGKey(6), 4)
    return {"table": normal(keys[0], VOCABULARY, SIZE), "router": 4 * normal(keys[1], SIZE, EXPERTS),
            "up": normal(keys[2], EXPERTS, SIZE, SIZE), "down": normal(keys[3], EXPERTS, SIZE, SIZE)}


MODELS = MODELS | {"patterns": (patterns, patterns_params), "experts": (experts, experts_params)}


def clipped_step(function, params, m, v, count, tokens, targets):
    """A step that limits the norm of the gradients."""
    count += 1
    loss, gradients = jax.value_and_grad(function)(params, tokens, targets)
    norm = jnp.sqrt(sum(jnp.sum(g * g) for g in jax.tree.leaves(gradients)))
    gradients = jax.lax.cond(norm > 0.5, lambda all: jax.tree.map(lambda g: g * (0.5 / norm), all), lambda all: all, gradients)
    return *adamw(params, gradients, m, v, count.astype(jnp.float32)), count, loss, norm


#
# Steps: arguments are states, then the batch, whose names tell their roles.
#


def sgd_step(function, params, features, labels, lr):
    loss, gradients = jax.value_and_grad(function)(params, features, labels)
    return loss, jax.tree.map(lambda p, g: p - lr * g, params, gradients)


def adam_step(function, params, m, v, count, tokens, targets):
    count += 1
    loss, gradients = jax.value_and_grad(function)(params, tokens, targets)
    return *adamw(params, gradients, m, v, count.astype(jnp.float32)), count, loss


def adam_mlp_step(function, params, m, v, count, features, labels):
    return adam_step(function, params, m, v, count, features, labels)


def dict_step(function, params, m, v, count, batch):
    count += 1
    loss, gradients = jax.value_and_grad(function)(params, batch)
    params, m, v = adamw(params, gradients, m, v, count.astype(jnp.float32))
    return {"v": v, "m": m, "count": count, "params": params, "loss": loss}


def delayed_step(function, params, old, older, features, labels):
    """A step whose new states are old values of other states."""
    loss, gradients = jax.value_and_grad(function)(params, features, labels)
    new = jax.tree.map(lambda p, g, o, q: p - 0.1 * g + 0.1 * (p - o) + 0.05 * q, params, gradients, old, older)
    return {"older": old, "old": params, "params": new, "loss": loss}


class State(NamedTuple):
    params: dict
    m: dict
    v: dict
    count: jax.Array


def state_step(function, state, features, labels):
    *new, loss = adam_step(function, *state, features, labels)
    norm = jnp.sqrt(sum(jnp.sum(p * p) for p in jax.tree.leaves(new[0])))
    return loss, State(*new), norm


def start_adam(params):
    zeros = jax.tree.map(jnp.zeros_like, params)
    return params, zeros, zeros, jnp.int32(0)


class Case(NamedTuple):
    model: str
    step: Callable
    start: Callable = start_adam
    # Returns the states and the loss among the results.
    finish: Callable = lambda results: (results[:4], results[4])
    takes_rate: bool = False
    # Options of the import, for a step that donates nothing.
    options: tuple = ()


CASES = {
    "sgd": Case("jax_mlp", sgd_step, lambda params: (params,), lambda results: ((results[1],), results[0]), True),
    "adam": Case("jax_mlp", adam_mlp_step),
    "state": Case("jax_mlp", state_step, lambda params: (State(*start_adam(params)),),
                  lambda results: ((results[1],), results[0]), options=("--state=state",)),
    "delayed": Case("jax_mlp", delayed_step, lambda params: start_adam(params)[:3],
                    lambda results: ([results[key] for key in ("params", "old", "older")], results["loss"])),
    "patterns": Case("patterns", clipped_step),
    "experts": Case("experts", adam_step),
    "gpt2": Case("jax_gpt2", adam_step),
    "llama": Case("jax_llama", adam_step),
    "flaxlike": Case("jax_flaxlike", dict_step,
                     finish=lambda results: ([results[key] for key in ("params", "m", "v", "count")], results["loss"])),
}


def run(*command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{Path(command[0]).name}: {done.stderr}")
    return done.stdout


def arrays_of(states, roots):
    """Returns the arrays of states by the names that braid-import gives them: parameters without the argument's name."""
    found = {}
    for root, tree in zip(roots, states):
        for path, leaf in jax.tree_util.tree_flatten_with_path(tree)[0]:
            keys = [root, *filter(None, stablehlo.name_of(path).split("."))]
            found[".".join(keys)] = numpy.asarray(leaf)
    return found


def own_name(name, found):
    """Returns the name of an array in the graph: parameters lack the argument's name."""
    for each in (name, name.split(".", 1)[-1]):
        if each in found:
            return each
    sys.exit(f"no {name} among {sorted(found)}")


def compare(what, found, wanted):
    errors = {}
    for name, value in wanted.items():
        other = numpy.asarray(found[own_name(name, found)], numpy.float64)
        errors[name] = float(numpy.abs(other - value).max()) / max(float(numpy.abs(value).max()), 1e-3)
    worst = max(errors, key=errors.get)
    if not errors[worst] <= TOLERANCE:
        sys.exit(f"{what}: {worst} differs by {errors[worst]:.2g}")
    print(f"  {what}: {len(wanted)} tensors agree")


def data_of(model, folder):
    if model != "jax_mlp":
        return INPUTS / "tokens.bin", "--data-format=nanogpt"
    rows = [numpy.concatenate(parts) for parts in zip(*batches(model))]
    save_file(dict(zip(("features", "labels"), rows)), folder / "data.safetensors")
    return (folder / "data.safetensors",)


def train(name, case, params, folder):
    """Trains the imported step; returns losses, and the tensors of the checkpoint."""
    run("braid-import", folder / "step.mlir", "-o", folder / "graph.mlir", *case.options)
    save_file({key: numpy.ascontiguousarray(value) for key, value in params.items()}, folder / "model.safetensors")
    run("braidc", folder / "graph.mlir", "-o", folder / "train")
    run(folder / "train", "train", "--data", *data_of(case.model, folder), "--batch-order=sequential", "--holdout=0",
        f"--steps={STEPS}", f"--lr={RATE}", "--lr-schedule=constant", "--warmup=0", "--init", folder / "model.safetensors",
        "--log", folder / "log.jsonl", "--checkpoint", folder / "run")
    lines = [json.loads(line) for line in (folder / "log.jsonl").read_text().splitlines()]
    return [line["loss"] for line in lines if "loss" in line and "step" in line], load_file(next((folder / "run").glob("step-*10.safetensors")))


def interpret(states, batch, folder):
    """Returns the results of the first step in the interpreter."""
    inputs = {name: numpy.asarray(value, order="C") for name, value in (states | batch).items()}
    save_file(inputs, folder / "in.safetensors")
    run("braid-interp", folder / "graph.mlir", "--function=model", "--inputs", folder / "in.safetensors", "--outputs",
        folder / "out.safetensors")
    return load_file(folder / "out.safetensors")


def check(name, folder):
    case = CASES[name]
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    function, make = MODELS[case.model]
    step, params, inputs = partial(case.step, function), make(), list(batches(case.model))
    states, scalars = case.start(params), (jnp.float32(RATE),) * case.takes_rate
    roots = list(inspect.signature(step).parameters)[:len(states)]
    donated = tuple(range(len(states))) if not case.options else ()
    lowered = jax.jit(step, donate_argnums=donated).lower(*states, *inputs[0], *scalars)
    stablehlo.write(lowered, folder / "step.mlir", __file__)
    print(name)
    prefix = "params." if roots == ["state"] else ""
    start = {prefix + key: numpy.asarray(value) for key, value in stablehlo.named_leaves(params)}
    losses, found = train(name, case, start, folder)
    names = [parameter for parameter in inspect.signature(step).parameters][len(states):]
    batch = inputs[0][0] if isinstance(inputs[0][0], dict) else dict(zip(names, (*inputs[0], *scalars)))
    interpreted = interpret({own_name(key, found): value for key, value in arrays_of(states, roots).items()}, batch, folder)
    wanted, jitted = [], jax.jit(step)
    for number, batch in enumerate(inputs):
        results = jitted(*states, *batch, *scalars)
        states, loss = case.finish(results)
        wanted.append(float(loss))
        if number == 0:
            updates = {key.removeprefix("updates "): value for key, value in interpreted.items()}
            compare("interpreted", updates, arrays_of(states, roots))
    if any(abs(a - b) > TOLERANCE * abs(b) for a, b in zip(losses, wanted, strict=True)):
        sys.exit(f"{name}: losses {losses} instead of {wanted}")
    print(f"  {len(losses)} losses agree")
    compare("trained", found, arrays_of(states, roots))


def main():
    folder = Path(sys.argv[1])
    for name in sys.argv[2:] or CASES:
        check(name, folder / name)


if __name__ == "__main__":
    main()

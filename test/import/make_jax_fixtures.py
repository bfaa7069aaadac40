#!/usr/bin/env python3
"""Writes the StableHLO of the tests' JAX functions, and what JAX computes with them. Needs jax and safetensors.

  make_jax_fixtures.py [NAME...]

Inputs/jax_step.mlir is a whole step of the MLP, with Adam, and jax_step.golden.safetensors has:

  data.*      the rows of ten batches
  param.*     parameters
  loss        the losses of ten steps
  after.*     parameters and states after the last step

For each model Inputs/NAME.mlir, and NAME.golden.safetensors:

  input.*     the first batch
  param.*     parameters, under the names that braid-import gives them
  loss        the losses of ten steps of AdamW (f32[10])
  grad.*      gradients of the first step
  after.*     parameters after the last step

Batches are the consecutive rows of Inputs/tokens.bin. A large epsilon of AdamW keeps elements from moving by the
rounding errors of gradients that are 0.
"""
import sys
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy
from safetensors.numpy import save_file

sys.path.insert(0, str(Path(__file__).parent / "Inputs"))
import stablehlo
from jax_models import INPUTS, MODELS, adamw, batches, named

#
# Spellings of cross entropy.
#


def row_losses(logits, targets):
    return jax.nn.logsumexp(logits, -1) - jnp.take_along_axis(logits, targets[..., None], -1)[..., 0]


def masked_loss(logits, targets):
    mask = targets != -100
    chosen = jnp.take_along_axis(jax.nn.log_softmax(logits), jnp.where(mask, targets, 0)[..., None], -1)[..., 0]
    return -(chosen * mask).sum() / jnp.maximum(mask.sum(), 1)


def padded_loss(logits, targets):
    is_word = targets != 0
    return jnp.where(is_word, row_losses(logits, targets), 0.0).sum() / is_word.astype(jnp.float32).sum()


def optax_loss(logits, targets):
    logits -= jnp.max(logits, axis=-1, keepdims=True)
    label_logits = jnp.take_along_axis(logits, jnp.expand_dims(targets, -1), axis=-1).squeeze(-1)
    return (jnp.log(jnp.sum(jnp.exp(logits), axis=-1)) - label_logits).mean()


def loss_of_rows(logits, targets):
    logits, targets = logits.reshape(-1, logits.shape[-1]), targets.reshape(-1)
    return -jax.nn.log_softmax(logits)[jnp.arange(targets.shape[0]), targets].mean()


def losses(params, tokens, targets):
    logits = params["w"][tokens]
    found = [each(logits, targets) for each in (masked_loss, padded_loss, optax_loss, loss_of_rows)]
    rows = jax.nn.one_hot(targets, logits.shape[-1]) * jax.nn.log_softmax(logits)
    return -0.5 * jnp.sum(params["w"] ** 2) / 3, *found, -rows.sum() / targets.size


def write(name):
    function, make = MODELS[name]
    params = make()
    inputs = list(batches(name))
    stablehlo.write(jax.jit(function).lower(params, *inputs[0]), INPUTS / f"{name}.mlir", __file__)
    given = inputs[0][0] if isinstance(inputs[0][0], dict) else dict(zip(("features", "labels") if name == "jax_mlp" else ("tokens", "targets"), inputs[0]))
    golden = {f"input.{key}": value for key, value in given.items()}
    golden |= {f"param.{key}": value for key, value in named(params).items()}
    step = jax.jit(jax.value_and_grad(function))
    first = second = jax.tree.map(jnp.zeros_like, params)
    losses = []
    for number, batch in enumerate(inputs, 1):
        loss, gradients = step(params, *batch)
        losses.append(float(loss))
        if number == 1:
            golden |= {f"grad.{key}": value for key, value in named(gradients).items()}
        params, first, second = adamw(params, gradients, first, second, number)
    golden |= {f"after.{key}": value for key, value in named(params).items()}
    golden["loss"] = numpy.array(losses, numpy.float32)
    save_file({key: numpy.ascontiguousarray(value) for key, value in golden.items()}, INPUTS / f"{name}.golden.safetensors")
    print(name, losses[0], losses[-1])


def step(params, m, v, count, features, labels):
    """A whole step, whose arguments but the batch are states."""
    loss, gradients = jax.value_and_grad(MODELS["jax_mlp"][0])(params, features, labels)
    count += 1
    return *adamw(params, gradients, m, v, count.astype(jnp.float32)), count, loss


def write_step():
    params, inputs = MODELS["jax_mlp"][1](), list(batches("jax_mlp"))
    zeros = jax.tree.map(jnp.zeros_like, params)
    states, losses, compiled = (params, zeros, zeros, jnp.int32(0)), [], jax.jit(step)
    lowered = jax.jit(step, donate_argnums=(0, 1, 2, 3)).lower(*states, *inputs[0])
    stablehlo.write(lowered, INPUTS / "jax_step.mlir", __file__)
    for batch in inputs:
        *states, loss = compiled(*states, *batch)
        losses.append(float(loss))
    golden = {f"data.{name}": numpy.concatenate(rows) for name, rows in zip(("features", "labels"), zip(*inputs))}
    golden |= {f"param.{key}": value for key, value in named(params).items()}
    for prefix, tree in zip(("", "m.", "v."), states):
        golden |= {f"after.{prefix}{key}": value for key, value in named(tree).items()}
    golden["loss"] = numpy.array(losses, numpy.float32)
    save_file({key: numpy.ascontiguousarray(value) for key, value in golden.items()}, INPUTS / "jax_step.golden.safetensors")
    print("jax_step", losses[0], losses[-1])


if not sys.argv[1:] or "jax_step" in sys.argv[1:]:
    write_step()
if not sys.argv[1:] or "jax_losses" in sys.argv[1:]:
    ids = jax.ShapeDtypeStruct((2, 3), jnp.int32)
    stablehlo.write(jax.jit(losses).lower({"w": jax.ShapeDtypeStruct((8, 8), jnp.float32)}, ids, ids),
                    INPUTS / "jax_losses.mlir", __file__)
for chosen in sys.argv[1:] or MODELS:
    if chosen in MODELS:
        write(chosen)

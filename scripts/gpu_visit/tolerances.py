"""Tolerances between a GPU's numbers and the CPU target's. Both are right, but add in different orders.

A sum of n terms in floating point with unit roundoff u is off by at most λ·√n·u, relative to the size of
its terms, with probability 1 - 2·exp(-λ²/2), where roundings are independent (Higham and Mary, "A new
approach to probabilistic rounding error analysis", 2019, theorem 2.4).  λ = 4 makes that 0.9993.  Errors
of sums one after the other are independent, too, so their squares add; and two programs that differ
have such an error each, hence √2:

    error(n1, n2, …) = λ·√2·u·√(n1 + n2 + …)

f32: u = 2⁻²⁴, and n are the lengths of all sums between the tokens and a gradient: those of the forward
pass, again in the backward pass, and the sum over tokens.  bf16: sums are made in f32, and each result is
rounded once to u = 2⁻⁹, which outweighs that: every n is 1.

- Gradients of step 1 (Adam's first mean holds them, times 1 - β1): ‖difference‖₂ ≤ error·‖gradient‖₂ of each tensor.
  This is the sharp test; later steps are not sharp, because Adam divides by the gradient's size, so an element whose
  gradient is smaller than its error moves up or down by the whole learning rate.
  A sum that nearly cancels magnifies roundings, independently of its length. So in bf16 the tolerance is at least twice
  the distance of the CPU target's gradient from its gradient in f32, if the manifest has that.
- Loss of step 1: the mean over tokens of numbers off by the error of the forward pass, and its own sum.
- Loss of step t, in f32: an element moves by at most lr, and its moves in both programs differ by at most
  2·lr·|difference/gradient|.  That changes the loss by at most 2·lr·‖difference‖₁, which is at most
  2·lr·√P·error·‖gradient‖₂ for P parameters (Cauchy and Schwarz), and ‖gradient‖₂ is at most what --clip
  says; without it, that of step 1 stands for all.  Each step before t adds that much.
  An optimizer's state of 8 bits is rounded itself, by far more: a last bit may move an element to the next of 255 values.
  So λ times what another order of sums changes on the CPU target is allowed where that is more.
- Loss of step t, in bf16: that bound would be as large as the loss.  Held to 2⁻⁷, twice what rounding a
  logit to bf16 may change; the stand-in differs by a sixth of it after ten steps.
"""

import math

from . import programs

LAMBDA = 4
ROUNDOFF = {"f32": 2.0**-24, "bf16": 2.0**-9}
BF16_LOSS = 2.0**-7


def forward_sums(config, seq):
    """The lengths of the sums between the tokens and a token's loss."""
    if config["model_type"] == "gpt2":
        width, layers, heads = config["n_embd"], config["n_layer"], config["n_head"]
        inner = config.get("n_inner") or 4 * width
    else:
        width, layers, heads = config["hidden_size"], config["num_hidden_layers"], config["num_attention_heads"]
        inner = config["intermediate_size"]
    # A norm, the projection, scores, softmax, weighted values, the output; a norm and the MLP.
    block = [width, width, width // heads, seq, seq, width, width, width, inner]
    return [*(layers * block), width, width, config["vocab_size"]]


def error(precision, sums):
    return LAMBDA * math.sqrt(2) * ROUNDOFF[precision] * math.sqrt(sum(sums) if precision == "f32" else len(sums))


def of_gradients(entry):
    return error(entry["precision"], [*entry["sums"], *entry["sums"], entry["tokens"]])


def of_gradient(entry, name):
    """Returns the tolerance of one tensor: at least twice the effect of rounding alone on the CPU."""
    return max(of_gradients(entry), 2 * entry.get("roundings", {}).get(name, 0))


def of_losses(entry, losses):
    """The largest difference of the loss of each step."""
    first = error(entry["precision"], entry["sums"]) / math.sqrt(entry["tokens"]) + error("f32", [entry["tokens"]])
    if entry["precision"] == "bf16":
        return [abs(loss) * (first if step == 0 else BF16_LOSS) for step, loss in enumerate(losses)]
    each = 2 * programs.LEARNING_RATE * math.sqrt(entry["parameters"]) * of_gradients(entry) * entry.get("norm", programs.CLIP)
    rounded = LAMBDA * entry.get("state_rounding", 0)
    return [abs(loss) * first + max(step * each, rounded if step else 0) for step, loss in enumerate(losses)]

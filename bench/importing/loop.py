#!/usr/bin/env python3
"""Times steps of a model of Transformers in a loop of Python: braid.compile, or torch.compile.

  bench/importing/loop.py gpt2|llama|qwen3|vit [--peer] [--target h100] [--steps 25] [--graph FILE]

Both compute in bf16 with float32 parameters and AdamW: torch.compile by autocast and the fused optimizer, with the
batch on the device. `--graph` takes a graph of braid-model in place of the module. Prints the minimum and the median
milliseconds of a step after five, the memory, and some losses. Needs a GPU, or `--target cpu` and patience.
"""

import argparse
import time

import torch
import transformers as tf

import braid

WARM_UP = 5


def causal(config, model_of, batch, seq):
    torch.manual_seed(0)
    module, ids = model_of(config).train(), torch.randint(0, min(config.vocab_size, 32000), (batch, seq))
    return module, dict(input_ids=ids, labels=ids.clone(), use_cache=False)


def gpt2():
    config = tf.GPT2Config(resid_pdrop=0, embd_pdrop=0, attn_pdrop=0)
    return causal(config, tf.GPT2LMHeadModel, 32, 1024)


def llama():
    """The shape of TinyLlama."""
    config = tf.LlamaConfig(vocab_size=32000, hidden_size=2048, num_hidden_layers=22, num_attention_heads=32,
                            num_key_value_heads=4, intermediate_size=5632, max_position_embeddings=4096)
    return causal(config, tf.LlamaForCausalLM, 4, 2048)


def qwen3():
    """The shape of Qwen3-0.6B."""
    config = tf.Qwen3Config(vocab_size=151936, hidden_size=1024, num_hidden_layers=28, num_attention_heads=16,
                            num_key_value_heads=8, head_dim=128, intermediate_size=3072, tie_word_embeddings=True)
    return causal(config, tf.Qwen3ForCausalLM, 4, 2048)


def vit():
    torch.manual_seed(0)
    config = tf.ViTConfig(num_labels=1000, hidden_dropout_prob=0, attention_probs_dropout_prob=0)
    batch = dict(pixel_values=torch.randn(128, 3, 224, 224), labels=torch.randint(0, 1000, (128,)))
    return tf.ViTForImageClassification(config).train(), batch


MODELS = {"gpt2": gpt2, "llama": llama, "qwen3": qwen3, "vit": vit}


def ours(module, batch, arguments):
    """Returns a function that runs a step and returns its loss, and one that returns the bytes in use."""
    words = dict(optimizer="adamw", target=arguments.target, precision="bf16", weight_decay=0.01)
    if arguments.graph:
        step = braid.compile_graph(arguments.graph, **words)
        batch = dict(tokens=batch["input_ids"], targets=batch["labels"])
    else:
        step = braid.compile(module, batch, **words)
    return lambda: float(step(batch, lr=1e-4)), lambda: step.state.arena_bytes


def peer(module, batch, arguments):
    """The same for torch.compile."""
    device = "cpu" if arguments.target == "cpu" else "cuda"
    module.to(device)
    batch = {name: value.to(device) if torch.is_tensor(value) else value for name, value in batch.items()}
    optimizer = torch.optim.AdamW(module.parameters(), lr=1e-4, weight_decay=0.01, fused=True)
    torch.set_float32_matmul_precision("high")
    compiled = torch.compile(module)

    def step():
        with torch.autocast(device, torch.bfloat16):
            loss = compiled(**batch).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        return loss.item()

    return step, lambda: torch.cuda.max_memory_allocated() if device == "cuda" else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", choices=sorted(MODELS))
    parser.add_argument("--peer", action="store_true", help="torch.compile instead of Braid")
    parser.add_argument("--graph", help="a graph of braid-model for the same shapes")
    parser.add_argument("--target", default="h100", help="as in braid.compile (h100)")
    parser.add_argument("--steps", type=int, default=25)
    arguments = parser.parse_args()
    begin = time.perf_counter()
    step, memory = (peer if arguments.peer else ours)(*MODELS[arguments.model](), arguments)
    losses, times = [], []
    for _ in range(arguments.steps):
        before = time.perf_counter()
        losses.append(step())
        times.append(time.perf_counter() - before)
        if len(times) == 1:
            print(f"first step done after {time.perf_counter() - begin:.1f} s", flush=True)
    counted = sorted(times[WARM_UP:] or times)
    print(f"ms a step: {counted[0] * 1e3:.2f} {counted[len(counted) // 2] * 1e3:.2f}  memory {memory() / 2**30:.2f} GiB  "
          f"losses {' '.join(f'{loss:.4f}' for loss in (losses[0], losses[len(losses) // 2], losses[-1]))}")


main()

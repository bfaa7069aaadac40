"""The PyTorch side of bench/step: eager steps of a GPT-2, seconds a step as JSON.

Usage: torch_step.py CONFIG BATCH SEQ STEPS THREADS.
"""

import json
import sys
import time

import torch

import torch_gpt2

path = sys.argv[1]
batch, seq, steps, threads = map(int, sys.argv[2:])
torch.set_num_threads(threads)
model = torch_gpt2.make_model(path)
optimizer = torch_gpt2.make_optimizer(model)
tokens = torch.randint(model.config.vocab_size, (steps * batch * seq + 1,))
seconds = []
for step in range(steps):
    start = time.perf_counter()
    window = tokens[step * batch * seq:][:batch * seq + 1]
    loss = torch_gpt2.train_step(model, optimizer, window, batch, seq)
    seconds.append(time.perf_counter() - start)
print(json.dumps({"seconds": seconds, "loss": loss}))

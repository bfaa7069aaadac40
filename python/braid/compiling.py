"""Compiles graphs to libraries, and modules to steps."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from . import cache, settings, tools
from .graph import Graph, graph_of, load_graph, rows_of_all_ranks, ways_of
from .step import Step


def library_of(graph: Graph, words: list[str]) -> Path:
    """Returns the path of a graph's library, compiled with these words of braidc or found in the cache."""
    named = [word.partition("=")[2] for word in words if word.startswith("--cc=")]
    compiler = named[-1] if named else tools.compiler()
    name = cache.key([graph.name, graph.text, *words, *tools.identity(compiler)])
    return cache.fetch(name, lambda path: graph.run("--emit=lib", "-o", str(path), *words, f"--cc={compiler}"))


def compile_graph(graph: Graph | str | os.PathLike, *, optimizer: Any = None, mesh: Any = None,
                  zero: int | None = None, precision: str = "f32", recompute: str | None = None,
                  clip: float | None = None, accumulate: int = 1, seed: int = 1, target: str = "cpu",
                  sharded: bool = True, options: Sequence[str] = (), decay_exclude: Any = (),
                  run_options: dict[str, Any] | None = None, **hyperparameters: Any) -> Step:
    """Compiles a graph, or the graph in a file, to a step. Arguments are those of `compile`.

    A batch is a dict by the names of the graph's inputs, or a tuple in their order. `optimizer` defaults to AdamW; a
    graph that is a whole step of JAX has its own, and takes none.
    """
    if not isinstance(graph, Graph):
        graph = load_graph(graph)
    if optimizer is None and not graph.is_whole_step:
        optimizer = "adamw"
    described = settings.optimizer_of(optimizer, hyperparameters, decay_exclude, graph.module, graph.text)
    words = settings.words(described, mesh, zero, precision, recompute, clip, accumulate, target, options)
    path = library_of(graph, words)
    return Step(path, graph, seed, sharded, described.source, words, **(run_options or {}))


def compile(model: Any, batch: Any, *, loss: Any = None, optimizer: Any = "adamw", mesh: Any = None,
            zero: int | None = None, precision: str = "f32", recompute: str | None = None, clip: float | None = None,
            accumulate: int = 1, seed: int = 1, target: str = "cpu", forward: bool = False, sharded: bool = True,
            options: Sequence[str] = (), decay_exclude: Any = (), run_options: dict[str, Any] | None = None,
            **hyperparameters: Any) -> Step:
    """Compiles the training step of a module of PyTorch, and returns it.

    - `model`, `batch`, `loss`: as for `export`. The batch is an example; its values do not matter. It has the rows of
      all microbatches of a step.
    - `optimizer`: "adamw", "adam", "lion", "sgd", "momentum" or "nesterov", with hyperparameters as keywords (`betas`,
      `beta1`, `beta2`, `eps`, `weight_decay`, `momentum`) and `decay_exclude` (of "biases", "norms", "embeddings");
      or an AdamW, Adam or SGD of torch.optim, whose settings, groups and current learning rate are read.
    - `mesh`: axes of ranks, "dp=2,tp=4" or {"dp": 2, "tp": 4}; `zero`: 0 to 3. Each process of a launcher such as
      torchrun is a rank.
    - `sharded`: whether batches have this rank's rows (the default), here and in the step, or those of all ranks.
    - `precision`: "f32", or "bf16" with float32 masters; `recompute`: "none", "attention", "selective", "full" or
      "auto"; `clip`: largest norm of the gradients; `accumulate`: microbatches in a step.
    - `seed`: of dropout, and of initial values that the module does not have.
    - `target`: "cpu", "cuda:sm_90" or a GPU such as "h100".
    - `forward`: whether `step.forward` can compute the outputs; they may be the largest tensors of all.
    - `options`: more options of braidc. `run_options`: fields of braid_options, such as {"threads": 2}.

    Raises CompileError, with the line of the module's source if the module cannot be compiled.
    """
    ways = ways_of(settings.mesh_text(mesh))
    whole = rows_of_all_ranks(batch, ways) if sharded and ways > 1 else batch
    graph = graph_of(model, whole, loss, forward)
    return compile_graph(graph, optimizer=optimizer, mesh=mesh, zero=zero, precision=precision, recompute=recompute,
                         clip=clip, accumulate=accumulate, seed=seed, target=target, sharded=sharded, options=options,
                         decay_exclude=decay_exclude, run_options=run_options, **hyperparameters)

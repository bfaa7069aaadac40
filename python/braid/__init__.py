"""Braid: training steps of PyTorch and JAX models, compiled ahead of time.

    plans = braid.fit(model, batch, gpus=8)                    # exact memory and predicted time of each layout
    step = braid.compile(model, batch, loss="cross_entropy")   # a step, on this machine
    for batch in loader:
        loss = step(batch, lr=3e-4)

docs/Python.md is the guide.
"""

from .cache import clear as clear_cache
from .compiling import compile, compile_graph  # noqa: A004 (as torch.compile)
from .errors import CompileError, Error, StepError, ToolNotFound
from .exporting import export
from .fitting import Fit, fit
from .graph import Graph, graph_of, load_graph
from .jax_graph import from_jax, from_jax_step, to_jax
from .plan import Plan
from .step import Loss, Step
from .tools import version
from .training import train

__all__ = ["CompileError", "Error", "Fit", "Graph", "Loss", "Plan", "Step", "StepError", "ToolNotFound", "clear_cache",
           "compile", "compile_graph", "export", "fit", "from_jax", "from_jax_step", "graph_of", "load_graph", "to_jax", "train",
           "version"]
__version__ = "0.1.0"

"""Replaces ops that braid-import lacks by PyTorch's own decompositions of them.

All other ops of the program stay as they are: composites that braid-import has, views, writes, regions without
gradients, and the names and places of all of them. An op whose decomposition needs an op that braid-import lacks stays,
too, so that the import refuses the op that the model calls.
"""

from __future__ import annotations

import functools
import operator
import os
import re
from collections.abc import Callable
from typing import Any

from . import tools


@functools.lru_cache(maxsize=None)
def _ops_of(path: str, changed: int) -> frozenset[str]:
    return frozenset(re.findall(r"^\| `(\S+)` \|", tools.run(path, "--ops"), re.M))


def supported_ops() -> frozenset[str]:
    """Returns the names of the ops that braid-import has, such as aten.add.Tensor."""
    path = tools.find("braid-import")
    return _ops_of(path, os.stat(path).st_mtime_ns)


def _is_supported(op: Any) -> bool:
    """Whether braid-import has an op, or the op without `_` for one that overwrites its operand."""
    name = str(op)
    return name in supported_ops() or (op._schema.is_mutable and name.replace("_.", ".") in supported_ops())


def _is_call(node: Any) -> bool:
    """Whether a node of a graph calls an op, and is no region and no result of an earlier node."""
    import torch
    return node.op == "call_function" and isinstance(node.target, torch._ops.OpOverload)


def _returns_view(op: Any) -> bool:
    """Whether results of an op share memory with an operand that it does not overwrite."""
    return not op._schema.is_mutable and any(result.alias_info is not None for result in op._schema.returns)


def _trained(value: Any) -> Any:
    """Returns a tensor like `value` whose gradient is needed: some decompositions differ without one."""
    import torch
    with torch.enable_grad():
        return value.detach().requires_grad_().clone() if value.is_floating_point() else value


def _decomposition_of(op: Any) -> Callable[..., Any] | None:
    from torch._decomp import decomposition_table
    decomposition = decomposition_table.get(op) or (op.decompose if op._can_decompose() else None)
    names = [argument.name for argument in op._schema.arguments]
    is_stack = decomposition and {"hx", "params", "num_layers", "dropout", "train"} <= set(names)
    return _layer_by_layer(decomposition, names) if is_stack else decomposition


def _layer_by_layer(decomposition: Callable[..., Any], names: list[str]) -> Callable[..., Any]:
    """Returns the decomposition of a recurrent network into its layers, with dropout between them.

    PyTorch's decomposition of several layers at once leaves out the dropout (2.15, `_rnn_helper`).
    """
    import torch

    def decompose(*arguments: Any) -> Any:
        given = dict(zip(names, arguments))
        count, rate, hidden = given["num_layers"], given["dropout"], given["hx"]
        if count == 1 or not rate or not given["train"]:
            return decomposition(*arguments)
        states = hidden if isinstance(hidden, (tuple, list)) else [hidden]
        ways = 2 if given["bidirectional"] else 1
        size = len(given["params"]) // count
        layer, ends = given | {"num_layers": 1, "dropout": 0.0}, []
        for number in range(count):
            own = [state[number * ways:(number + 1) * ways] for state in states]
            layer["hx"] = own if isinstance(hidden, (tuple, list)) else own[0]
            layer["params"] = given["params"][number * size:(number + 1) * size]
            output, *end = decomposition(*layer.values())
            ends.append(end)
            layer[names[0]] = torch.dropout(output, rate, True) if number < count - 1 else output
        return (layer[names[0]], *map(torch.cat, zip(*ends)))

    return decompose


def _traced(node: Any, has_writes: bool) -> Any:
    """Returns the graph of a call's decomposition into supported ops, or None. Its inputs are the call's tensors."""
    import torch
    from torch.fx.experimental.proxy_tensor import make_fx
    from torch.utils import _pytree as pytree
    decomposition = _decomposition_of(node.target)
    if decomposition is None:
        return None
    leaves, form = pytree.tree_flatten((node.args, dict(node.kwargs)))
    places = [place for place, leaf in enumerate(leaves) if isinstance(leaf, torch.fx.Node)]

    def call(*tensors: Any) -> Any:
        given = list(leaves)
        for place, tensor in zip(places, tensors):
            given[place] = tensor
        args, kwargs = pytree.tree_unflatten(given, form)
        return decomposition(*args, **kwargs)

    values = [leaves[place].meta["val"] for place in places]
    mode = next((value.fake_mode for value in values if hasattr(value, "fake_mode")), None)
    for keeps_composites in (True, False):  # a decomposition in C++ calls its op again where composites are kept
        try:
            with mode or torch._subclasses.FakeTensorMode():
                given = map(_trained, values) if keeps_composites else values
                module = make_fx(call, pre_dispatch=keeps_composites)(*given)
        except Exception:  # PyTorch has no base class of what a decomposition raises
            return None
        module.graph.eliminate_dead_code()
        calls = [each for each in module.graph.nodes if each.op not in ("placeholder", "output")]
        if all(each.target is not node.target for each in calls):
            break
    if not all(_is_call(each) or each.target is operator.getitem for each in calls) or not _expand(module, has_writes):
        return None
    # A write through a result would be lost if the result was a view, and no longer is one.
    calls = [each for each in module.graph.nodes if _is_call(each)]
    keeps_views = all(_returns_view(each.target) for each in calls)
    return None if has_writes and _returns_view(node.target) and not keeps_views else module


def _results_of(node: Any) -> dict[int, Any]:
    """Returns the nodes of a call's results, by their numbers."""
    return {user.args[1]: user for user in node.users if user.target is operator.getitem}


def _inline(node: Any, module: Any) -> None:
    """Puts the graph of a call's decomposition in the call's place."""
    import torch
    from torch.utils import _pytree as pytree
    graph = node.graph
    inputs = [leaf for leaf in pytree.tree_leaves((node.args, dict(node.kwargs))) if isinstance(leaf, torch.fx.Node)]
    copies: dict[Any, Any] = dict(zip((each for each in module.graph.nodes if each.op == "placeholder"), inputs))
    place = {key: value for key, value in node.meta.items() if key not in ("val", "tensor_meta")}

    def value_of(inner: Any) -> Any:
        """Returns a node of its own for a result, which gets the result's name."""
        copy = copies[inner]
        if copy in inputs or copy in named:
            copy = graph.call_function(torch.ops.aten.alias.default, (copy,))
            copy.meta = place | {"val": inner.meta["val"]}
        named.append(copy)
        return copy

    named: list[Any] = []
    with graph.inserting_before(node):
        for inner in module.graph.nodes:
            if inner.op == "call_function":
                copies[inner] = graph.node_copy(inner, copies.__getitem__)
                copies[inner].meta = place | {"val": inner.meta["val"]}
        results = next(each for each in module.graph.nodes if each.op == "output").args[0]
        pairs = [(node, results)]
        if isinstance(results, (tuple, list)):
            pairs = [(user, results[number]) for number, user in _results_of(node).items()]
        pairs = [(old, value_of(result)) for old, result in pairs if result is not None]
    for old, new in pairs:
        name = old.name
        old.replace_all_uses_with(new)
        graph.erase_node(old)
        new.name = name
    if isinstance(results, (tuple, list)):
        for rest in _results_of(node).values():
            graph.erase_node(rest)
        graph.erase_node(node)


def _expand(module: Any, has_writes: bool) -> bool:
    """Replaces the unsupported ops of a module by decompositions. Returns whether none is left."""
    missing = [node for node in module.graph.nodes if _is_call(node) and not _is_supported(node.target)]
    left = 0
    for node in missing:
        traced = _traced(node, has_writes)
        if traced is None:
            left += 1
        else:
            _inline(node, traced)
    if len(missing) > left:
        module.recompile()
    return left == 0


def _pure(op: Any) -> Any:
    """Returns the op that computes what `op` writes to its first argument, if only the names of arguments differ."""
    import torch
    if not op._schema.is_mutable or not op._opname.endswith("_") or op.namespace != "aten":
        return None
    pure = getattr(getattr(torch.ops.aten, op._opname[:-1], None), op._overloadname, None)
    if pure is None or str(pure) not in supported_ops():
        return None
    renamed, names = ([argument.name for argument in each._schema.arguments] for each in (op, pure))
    return pure if renamed != names and renamed[1:] == names[1:] else None


def _write_apart(node: Any, pure: Any) -> None:
    """Replaces a call that overwrites its first argument by a computation and a copy.

    braid-import takes an op's arguments by name, and `dropout_(self, ...)` has other names than `dropout(input, ...)`.
    """
    import torch
    with node.graph.inserting_before(node):
        value = node.graph.call_function(pure, node.args, dict(node.kwargs))
        written = node.graph.call_function(torch.ops.aten.copy_.default, (node.args[0], value))
    value.meta, written.meta, name = dict(node.meta), dict(node.meta), node.name
    node.replace_all_uses_with(written)
    node.graph.erase_node(node)
    written.name = name


def decompose(exported: Any) -> None:
    """Replaces the ops of an exported program that braid-import lacks, where PyTorch has a decomposition."""
    import torch
    modules = [each for each in exported.graph_module.modules() if isinstance(each, torch.fx.GraphModule)]
    calls = [node for module in modules for node in module.graph.nodes if _is_call(node)]
    has_writes = any(node.target._schema.is_mutable for node in calls)
    for node in calls:
        if pure := _pure(node.target):
            _write_apart(node, pure)
    for module in modules:
        _expand(module, has_writes)
        module.recompile()

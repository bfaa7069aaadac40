"""The text of JAX functions, and the names of their parameters. Only `named_leaves` needs jax."""

import re
from pathlib import Path

FRAME = re.compile(r'"([^"]*)":(\d+):(\d+)')


def name_of(path):
    """Returns the name of a leaf, as braid-import makes it: the keys of its path, joined by dots."""
    return ".".join(str(getattr(key, "key", getattr(key, "idx", getattr(key, "name", key)))) for key in path)


def stacked(path, leaf):
    """Whether braid-import takes a leaf apart: lax.scan reads it layer by layer."""
    return name_of(path).startswith("layers.")


def named_leaves(params):
    """Returns (name, leaf) of a pytree."""
    import jax
    return [(name_of(path), leaf) for path, leaf in jax.tree_util.tree_flatten_with_path(params)[0]]


def write(lowered, path, script):
    """Writes the generic form, with file names without folders."""
    text = lowered.compiler_ir().operation.get_asm(print_generic_op_form=True, enable_debug_info=True)
    Path(path).write_text(text.replace(str(Path(script).parent) + "/", ""))

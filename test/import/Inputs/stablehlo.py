"""The text of JAX functions, and the names of their parameters. Only writing them needs jax."""

from pathlib import Path


def name_of(path):
    """Returns the name of a leaf, as braid-import makes it: the keys of its path, joined by dots."""
    return ".".join(str(getattr(key, "key", getattr(key, "idx", getattr(key, "name", key)))) for key in path)


def named_leaves(params, stacked=()):
    """Returns (name, leaf) of a pytree. Leaves under the paths `stacked` hold a tensor for each layer of lax.scan."""
    import jax
    for path, leaf in jax.tree_util.tree_flatten_with_path(params)[0]:
        name = name_of(path)
        container = next((each for each in stacked if name.startswith(f"{each}.")), None)
        if container is None:
            yield name, leaf
        else:
            for number, layer in enumerate(leaf):
                yield f"{container}.{number}{name[len(container):]}", layer


def write(lowered, path, script):
    """Writes the generic form, with file names without folders."""
    text = lowered.compiler_ir().operation.get_asm(print_generic_op_form=True, enable_debug_info=True)
    Path(path).write_text(text.replace(str(Path(script).parent) + "/", ""))

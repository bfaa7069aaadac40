"""Archives of folders: xz with a dictionary that spans binaries which share a runtime."""

import lzma
import tarfile

from . import tools

FILTERS = [{"id": lzma.FILTER_X86}, {"id": lzma.FILTER_LZMA2, "preset": 4, "dict_size": 128 << 20}]


def pack(folder, path):
    """Packs a folder's entries in the order of their names, without owners and times: the same files give the same bytes."""
    def plain(entry):
        entry.uid = entry.gid = entry.mtime = 0
        entry.uname = entry.gname = ""
        return entry

    with lzma.open(path, "wb", filters=FILTERS) as stream, tarfile.open(fileobj=stream, mode="w") as archive:
        for child in sorted(folder.iterdir()):
            archive.add(child, child.name, filter=plain)


def unpack(path, folder):
    """Unpacks into a new folder.  Refuses absolute paths and `..`, although archives are our own."""
    folder.mkdir(parents=True)
    try:
        with lzma.open(path) as stream, tarfile.open(fileobj=stream, mode="r|") as archive:
            for entry in archive:
                if entry.name.startswith("/") or ".." in entry.name.split("/") or not (entry.isfile() or entry.isdir()):
                    raise tools.Failed(f"{path} holds '{entry.name}', which gpu-visit does not pack")
                archive.extract(entry, folder)
    except (lzma.LZMAError, tarfile.TarError, EOFError) as error:
        raise tools.Failed(f"cannot unpack {path}: {error}") from error
    return folder

"""What holds of the machine, whatever program runs there: NCCL with one rank."""

import pathlib
import re

from . import tools

HERE = pathlib.Path(__file__).resolve().parent
# The name under which results of the machine stand.
MACHINE = "machine"
CHECKS = ["nccl_alone"]


def nccl(bench, scratch):
    """A communicator, registered memory, each collective at once and in a CUDA graph: a line for each that works."""
    libraries = [] if bench.builder.command or not bench.nvcc else bench.builder.nccl()
    binary = bench.builder.tool(HERE / "nccl_alone.cu", scratch / "nccl_alone", *libraries)
    try:
        printed = tools.run([binary, 5000 if bench.rehearsal else 1 << 22], timeout=60)
    except tools.Failed as error:
        done = re.findall(r"^ok (.+)", error.printed, re.MULTILINE)
        raise tools.Failed(f"{error}\nwhat worked before: {', '.join(done) or 'nothing'}", error.printed) from error
    done = re.findall(r"^ok (.+)", printed, re.MULTILINE)
    return {"version": int(re.search(r"NCCL (\d+)", printed).group(1)), "worked": done}

#!/usr/bin/env python3
"""Checks in machine code that kernels wait before they access memory: no GPU is needed.

    bench/launch_waits.py train kernels.cubin

A kernel that begins early (programmatic dependent launch) must wait for the kernel in front of it, with all of its
threads, before it reads or writes the device's memory. The sources wait, by enter_kernel(). Only the machine code shows
whether the compiler has moved a load before the wait. The instructions that can be reached from a kernel's entry
without a wait are followed over branches: none may access global memory, and none may end the thread. Code for GPUs
before sm_90 has no wait and is left out. The files are those that cuobjdump takes: cubins, objects, programs.
"""
import argparse
import os
import re
import shutil
import subprocess
import sys

# The instruction of griddepcontrol.wait.
WAIT = "ACQBULK"
# Opcodes that begin like an access of memory count as accesses of global memory, so that unknown ones do. The second
# list has the exceptions: constants, the stack, shared memory, tensor memory, and sums over a warp.
ACCESS = re.compile(r"(U?LD|U?ST|ATOM|RED|CCTL|UBLK|UTMA|SULD|SUST|SUATOM|SURED|TEX|TLD|TXD)")
ELSEWHERE = {"LDC", "ULDC", "LDCU", "LDL", "STL", "LDS", "STS", "LDSM", "STSM", "MOVM", "ATOMS", "LDT", "STT", "LDTM", "STTM",
             "REDUX", "LDGDEPBAR", "UTMACMDFLUSH"}
# Control flow. Calls and WARPSYNC return; a condition is a predicate before a jump, or an operand of it.
COMPUTED = {"BRX", "BRXU", "JMX", "JMXU"}
JUMPS = {"BRA", "JMP", "CALL", "WARPSYNC", *COMPUTED}
ENDS = {"RET", "EXIT", "KILL", "BPT"}
TARGET = re.compile(r"\b0x([0-9a-f]+)\s*$")


def split_opcode(text):
    """The predicate, the opcode and what follows: ("@P0", "BRA", "0x390")."""
    predicate, opcode, rest = re.match(r"(?:(@!?U?P\w+)\s+)?([A-Z0-9_]+)(.*)", text).groups()
    return predicate, opcode, rest


def is_access(opcode):
    return bool(ACCESS.match(opcode)) and opcode not in ELSEWHERE


def successors(at, following, text):
    """Returns the possible next addresses. Raises ValueError for a computed jump."""
    predicate, opcode, rest = split_opcode(text)
    if opcode in ENDS:
        return [following] if predicate else []  # what follows a call is reached from the call
    if opcode not in JUMPS:
        return [following]
    target = None if opcode in COMPUTED else TARGET.search(rest)
    if not target:
        if opcode == "WARPSYNC":
            return [following]
        raise ValueError(f"the jump '{text}' at {at:#x} is computed")
    is_sure = opcode in ("BRA", "JMP") and not predicate and re.fullmatch(r"\s+0x[0-9a-f]+\s*", rest)
    return [int(target[1], 16)] if is_sure else [int(target[1], 16), following]


def find_early(instructions):
    """Returns why a kernel may run before it has waited, from its instructions by address; None if it cannot."""
    addresses = sorted(instructions)
    after = dict(zip(addresses, addresses[1:]))
    left, seen = [addresses[0]], set()
    while left:
        at = left.pop()
        if at is None or at in seen:
            continue
        seen.add(at)
        text = instructions[at]
        predicate, opcode, _ = split_opcode(text)
        if opcode == WAIT and not predicate:
            continue
        if is_access(opcode):
            return f"'{text}' at {at:#x} accesses memory before the wait"
        if opcode == "EXIT":
            return f"'{text}' at {at:#x} ends a thread before the wait"
        try:
            left += successors(at, after.get(at), text)
        except ValueError as error:
            return f"{error}: it cannot be followed to the wait"
    return None


def read_kernels(text):
    """The architecture, name and instructions of each kernel, as cuobjdump prints them."""
    arch = None
    for part in re.split(r"(?=\bcode for sm_|\bFunction : )", text):
        if found := re.match(r"code for sm_(\d+)", part):
            arch = int(found[1])
        elif found := re.match(r"Function : (\S+)", part):
            lines = re.findall(r"/\*([0-9a-f]{4,})\*/\s+([^;/]*?)\s*;", part)
            yield arch, found[1], {int(address, 16): instruction for address, instruction in lines}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", help="cubins, objects or programs")
    toolkit = os.path.join(os.environ.get("CUDA_HOME", "/usr/local/cuda"), "bin")
    parser.add_argument("--cuobjdump", default=shutil.which("cuobjdump") or shutil.which("cuobjdump", path=toolkit))
    args = parser.parse_args()
    if not args.cuobjdump:
        sys.exit("launch_waits: found no cuobjdump in PATH or CUDA_HOME; scripts/setup-cuda installs it")
    checked, wrong = 0, 0
    for file in args.files:
        done = subprocess.run([args.cuobjdump, "-sass", file], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if done.returncode:
            sys.exit(f"launch_waits: '{args.cuobjdump} -sass {file}' ended with status {done.returncode}\n{done.stderr[-2000:]}")
        for arch, name, instructions in read_kernels(done.stdout):
            if arch < 90:
                continue
            checked += 1
            if reason := find_early(instructions) if instructions else "cuobjdump shows no instructions of it; it needs nvdisasm beside it":
                wrong += 1
                print(f"{file}: {name} (sm_{arch}): {reason}")
    print(f"{checked} kernels, {wrong} of which access memory or end before they wait")
    sys.exit(1 if wrong or not checked else 0)


if __name__ == "__main__":
    main()

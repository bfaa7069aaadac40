"""Ports for jobs that tests and benchmarks start."""

import random
import socket

# Below the ports that systems give to outgoing connections and to servers that ask for no port in particular, and
# below those that the runtime derives from the numbers of Slurm's jobs: nobody else takes one of these by chance.
RANGE = range(10000, 20000)
claims = []


def free_port():
    """Returns a free port of 127.0.0.1, which no other call on this host returns before this process ends."""
    for port in random.sample(RANGE, len(RANGE)):
        claim = socket.socket(socket.AF_UNIX)
        try:
            claim.bind(f"\0braid-port-{port}")
            with socket.socket() as probe:
                probe.bind(("127.0.0.1", port))
        except OSError:
            claim.close()
            continue
        claims.append(claim)
        return port
    raise OSError(f"all ports from {RANGE.start} to {RANGE.stop - 1} are in use")

#!/usr/bin/env python3
"""read_events.py DIR METRICS: checks every record of the event files in DIR, by a reader that
shares nothing with their writer, and that they have the numbers of the log METRICS.
"""

import json
import pathlib
import struct
import sys


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def masked(data):
    crc = crc32c(data)
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def records(data):
    at = 0
    while at < len(data):
        length, = struct.unpack_from("<Q", data, at)
        body = data[at + 12:at + 12 + length]
        sums = struct.unpack_from("<I", data, at + 8) + struct.unpack_from("<I", data, at + 12 + length)
        if sums != (masked(data[at:at + 8]), masked(body)):
            sys.exit(f"the record at byte {at} has wrong checksums")
        yield body
        at += 16 + length


def varint(data, at):
    value, shift = 0, 0
    while True:
        byte = data[at]
        value, shift, at = value | (byte & 127) << shift, shift + 7, at + 1
        if byte < 128:
            return value, at


def fields(data):
    """The fields of a protobuf message: numbers, and bytes of what has a length."""
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        kind = key & 7
        if kind == 0:
            value, at = varint(data, at)
        elif kind == 1:
            value, at = struct.unpack_from("<d", data, at)[0], at + 8
        elif kind == 5:
            value, at = struct.unpack_from("<f", data, at)[0], at + 4
        elif kind == 2:
            length, at = varint(data, at)
            value, at = data[at:at + length], at + length
        else:
            sys.exit(f"a field of kind {kind}")
        yield key >> 3, value


def scalars(directory):
    """(step, tag): value of all event files."""
    found = {}
    for path in sorted(pathlib.Path(directory).glob("events.out.tfevents.*")):
        for number, record in enumerate(records(path.read_bytes())):
            event = dict(fields(record))
            if number == 0 and event.get(3) != b"brain.Event:2":
                sys.exit(f"{path} begins with {event}")
            for _, value in fields(event.get(5, b"")):
                tag, number_of = dict(fields(value))[1].decode(), dict(fields(value))[2]
                key = event[2], tag
                if key in found:
                    sys.exit(f"{tag} of step {event[2]} is there twice")
                found[key] = number_of
    return found


def main():
    directory, metrics = sys.argv[1:]
    found = scalars(directory)
    expected = {}
    for entry in map(json.loads, open(metrics)):
        for key, value in entry.items():
            if key not in ("job", "step", "tokens", "seconds"):
                expected[entry["step"], key] = value
    if set(found) != set(expected):
        sys.exit(f"events have {sorted(set(found) ^ set(expected))} and the log has not, or the other way round")
    for key, value in expected.items():
        if abs(found[key] - value) > 1e-6 * abs(value):
            sys.exit(f"{key} is {found[key]} in an event and {value} in the log")
    print(f"{len(found)} numbers of {len({step for step, _ in found})} steps")


main()

# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""Captures to replay, and Weft captures read by tshark with Weft's dissector. It takes 0.2 ms per frame: omit kinds
of frames that a test does not need."""
import pathlib
import struct
import subprocess

DATA, CREDIT, ARN, ACK = 1, 2, 3, 4
COUNTS, ENHANCED_PACKET = 5, 6
FRAME_AT = 28  # in a block: type, length, interface, time, lengths of the frame
KIND_AT = 15   # in a frame: Ethernet, version


def blocks(data):
    """The blocks of a pcapng file in this machine's byte order, each with its type."""
    at = 0
    while at < len(data):
        kind, length = struct.unpack_from("=II", data, at)
        yield kind, data[at:at + length]
        at += length


def keep(path, kinds):
    """Writes a file beside it with only the frames of these kinds."""
    kept = path.with_suffix(".kept.pcapng")
    kept.write_bytes(b"".join(
        block for kind, block in blocks(path.read_bytes())
        if kind != ENHANCED_PACKET or block[FRAME_AT + KIND_AT] in kinds))
    return kept


def fields(dissector, path, names, kinds=None):
    """Returns a list of the fields' texts for each frame (only of 'kinds', if given)."""
    path = pathlib.Path(path)
    words = [word for name in names for word in ("-e", name)]
    done = subprocess.run(["tshark", "-X", f"lua_script:{dissector}", "-r", str(path if kinds is None else keep(path, kinds)),
                           "-T", "fields", *words], capture_output=True, text=True, timeout=240, check=True)
    return [line.split("\t") for line in done.stdout.splitlines()]


def write_udp(path, packets):
    """UDP packets (time in s, last bytes of source and destination, length, first byte) with wrong checksums, cut to 100 bytes."""
    with open(path, "wb") as out:
        out.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 100, 101))
        for at, source, destination, length, first in packets:
            packet = struct.pack(">BBH4xBBH", 0x45, 0, 28 + length, 64, 17, 1) + bytes((192, 168, 1, source, 192, 168, 1, destination))
            packet += struct.pack(">HHHH", 9, 9, 8 + length, 1) + bytes([first]) * length
            out.write(struct.pack("<IIII", int(at), round(at % 1 * 1e6), min(len(packet), 100), len(packet)) + packet[:100])

#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""A stream of TCP whose contents are compared: prints how many bytes passed and their SHA-256.

usage: transfer.py receive ADDRESS FIFO
       transfer.py send ADDRESS BYTES
       FIFO ends once the receiver listens
"""
import hashlib
import random
import socket
import sys

PORT = 5201
SECONDS = 60


def receive(address, fifo):
    digest, count = hashlib.sha256(), 0
    with socket.create_server((address, PORT)) as server:
        open(fifo, "w").close()
        server.settimeout(SECONDS)
        stream = server.accept()[0]
        stream.settimeout(SECONDS)
        while data := stream.recv(1 << 16):
            digest.update(data)
            count += len(data)
    return count, digest


def send(address, count):
    data = random.Random(1).randbytes(count)
    with socket.create_connection((address, PORT), timeout=SECONDS) as stream:
        stream.sendall(data)
    return count, hashlib.sha256(data)


if __name__ == "__main__":
    total, checksum = receive(*sys.argv[2:]) if sys.argv[1] == "receive" else \
        send(sys.argv[2], int(sys.argv[3]))
    print(total, checksum.hexdigest())

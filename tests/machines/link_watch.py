#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""Asks a process of a lab for the state of one port as often as it answers, and prints each change with the
machine's time in seconds.

usage: link_watch.py PREFIX PORT SECONDS READY STATE...

Ends when the states named have been seen in this order, with exit code 0, or after so many seconds, with 1.
The file READY is made when the first of them has been seen. A lost carrier is 'down' for this, whatever it is
called; the lines have the words of the lab.
"""
import json
import socket
import sys
import time


def links_of(answer):
    """DPDK 22.11 writes an array of objects as {"0": {…}, "1": {…}}."""
    return answer.values() if isinstance(answer, dict) else answer


def main():
    prefix, port, seconds, ready, *awaited = sys.argv[1:]
    deadline = time.monotonic() + float(seconds)
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as control:
        control.settimeout(10)
        control.connect(f"/var/run/dpdk/{prefix}/dpdk_telemetry.v2")
        control.recv(1 << 16)
        last = None
        while awaited and time.monotonic() < deadline:
            control.send(b"/weft/links,0")
            answer = json.loads(control.recv(1 << 20))
            state = next(link["state"] for link in links_of(answer["/weft/links"]) if link["port"] == port)
            if state != last:
                print(f"{time.time():.4f} {state}", flush=True)
                last = state
            if (state == "up") == (awaited[0] == "up"):
                del awaited[0]
                if ready:
                    with open(ready, "w", encoding="ascii"):
                        ready = None
            time.sleep(0.005)
    return 1 if awaited else 0


sys.exit(main())

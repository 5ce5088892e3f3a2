#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""What a process of a lab knows of other machines' clocks, as it learns it: a line of JSON for each exchange.

usage: clock_samples.py SOCKET COUNT SECONDS
       SOCKET of the process's telemetry; ends after so many exchanges, or so many seconds
"""
import json
import socket
import sys
import time

ANSWER_BYTES = 1 << 16
ANSWER_SECONDS = 60
PAUSE_SECONDS = 0.25 # for the process, whose CPU this program has meanwhile


def main():
    path, count, seconds = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
    telemetry = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    telemetry.settimeout(ANSWER_SECONDS)
    telemetry.connect(path)
    telemetry.recv(ANSWER_BYTES) # who it is
    seen, deadline = set(), time.monotonic() + seconds
    while len(seen) < count and time.monotonic() < deadline:
        telemetry.send(b"/weft/clocks")
        for clock in json.loads(telemetry.recv(ANSWER_BYTES))["/weft/clocks"].values():
            name = clock["at"], clock["of"], clock["samples"]
            if clock["known"] and name not in seen:
                seen.add(name)
                print(json.dumps(clock), flush=True)
        time.sleep(PAUSE_SECONDS)


main()

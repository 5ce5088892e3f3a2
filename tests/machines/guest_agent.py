#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""Runs in a guest, as its first process: takes orders over a port of virtio-serial and answers.

A line of JSON is an order: {"id": N, "command": TEXT, "input": BASE64, "seconds": S} runs TEXT in a shell
and is answered {"id": N, "code": C, "out": BASE64, "err": BASE64} when that ends, in any order;
{"id": N, "signal": S} sends a signal to what order N has started, and has no answer;
{"id": N, "clock": true} is answered with the guest's time in seconds as "clock".
"""
import base64
import glob
import json
import os
import signal
import subprocess
import threading
import time

PORT = "weft.agent"


def port_path():
    for path in glob.glob("/sys/class/virtio-ports/*/name"):
        with open(path) as file:
            if file.read().strip() == PORT:
                return "/dev/" + path.split("/")[-2]
    raise OSError(f"there is no port {PORT}")


class Agent:
    def __init__(self, port):
        self.port, self.lock, self.running = port, threading.Lock(), {}

    def answer(self, **what):
        rest = json.dumps(what).encode() + b"\n"
        with self.lock:
            while rest: # the port takes 32 KiB at a time
                rest = rest[self.port.write(rest):]

    def run(self, order, process):
        try:
            out, err = process.communicate(base64.b64decode(order.get("input", "")), order["seconds"])
            code = process.returncode
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            # Children that have left the group may hold the pipes.
            try:
                out, err = process.communicate(timeout=5)
            except subprocess.TimeoutExpired:
                out, err = b"", b""
            code, err = 124, err + f"\nno end after {order['seconds']} s".encode()
        self.running.pop(order["id"], None)
        self.answer(id=order["id"], code=code, out=base64.b64encode(out).decode(),
                    err=base64.b64encode(err).decode())

    def obey(self, order):
        if "clock" in order:
            self.answer(id=order["id"], clock=time.time())
            return
        if "signal" in order:
            process = self.running.get(order["id"])
            if process is not None:
                os.killpg(process.pid, order["signal"])
            return
        process = subprocess.Popen(["/bin/bash", "-c", order["command"]], stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
        self.running[order["id"]] = process
        threading.Thread(target=self.run, args=(order, process), daemon=True).start()


def reap_others(child):
    """Reaps processes, as the first process of a system must; returns when the child has ended."""
    while os.wait()[0] != child:
        pass


def main():
    child = os.fork()
    if child != 0:
        reap_others(child)
        return
    os.chdir("/")
    # Lines in both directions; an end of file only says that nobody is connected yet.
    with open(port_path(), "r+b", buffering=0) as port:
        agent = Agent(port)
        agent.answer(id=0, code=0, out="", err="")
        rest = b""
        while True:
            rest += port.read(65536) or b""
            *lines, rest = rest.split(b"\n")
            for line in lines:
                agent.obey(json.loads(line))


main()

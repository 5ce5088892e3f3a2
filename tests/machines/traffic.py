# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""Traffic of a lab until so many messages have arrived, each of them once and in its order."""
import time

from lab import Wrong, run_result

CHECKS = ("lost", "duplicated", "out_of_order")
RUNS_MAX = 20
SECONDS_MAX = 300


def one_run(lab, seconds):
    """'run' on all machines; Wrong if something is not as sent. Returns how many messages were not sent, because
    their host stood still for a while, as those of a busy machine do."""
    dropped = 0
    ended = lab.everywhere("run", "--duration", f"{seconds}s", "--json", "-", seconds=seconds + 60)
    for site, done in zip(lab.bench.sites, ended):
        if not site.has_hosts():
            continue
        result = run_result(done)
        for check in CHECKS:
            if result["checks"][check] != 0:
                raise Wrong(f"{site.machine.name}: {result['checks'][check]} {check.replace('_', ' ')}; "
                            f"{lab.faults()}")
        dropped += result["messages"].get("dropped", 0)
    return dropped


def counted(lab):
    return lab.counter("messages_injected"), lab.counter("messages_delivered")


def until(lab, messages, seconds):
    """Returns a line that says how many there were. Machines do not begin at the same moment, so what one
    has sent and another one has not counted in its run is in the counters of both."""
    dropped, began = 0, time.monotonic()
    injected, delivered = counted(lab)
    for _ in range(RUNS_MAX):
        dropped += one_run(lab, seconds)
        now = counted(lab)
        if now[1] == delivered:
            raise Wrong(f"0 of {now[0] - injected} messages arrived, {dropped} were not sent; {lab.faults()}")
        if now[1] - delivered >= messages or time.monotonic() - began > SECONDS_MAX:
            break
    lab.wait(lambda: len({a - b for a, b in zip(counted(lab), (injected, delivered))}) == 1,
             "messages are still under way", 60)
    got = counted(lab)[1] - delivered
    took = time.monotonic() - began
    if got < messages:
        raise Wrong(f"{got} messages in {took:.0f} s, expected {messages}; {lab.faults()}")
    return (f"{got} frames of {lab.mtu}, {lab.counter('frames_retransmitted')} sent twice; 0 lost, "
            f"0 duplicated, 0 out of order; {dropped} not sent; {took:.0f} s")

# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""Traffic of a lab until so many messages have arrived, each of them once and in its order."""
import time

from lab import Wrong, run_result

CHECKS = ("lost", "duplicated", "out_of_order")
SECONDS_MIN = 300
RATE_MIN = 200 # messages per second that guests without hardware virtualisation manage on a busy machine
RUN_SECONDS_MAX = 60


def one_run(lab, seconds, meanwhile=lambda: None):
    """'run' on all machines, and meanwhile(); Wrong if something is not as sent. Returns how many messages were not sent, because
    their host stood still for a while, as those of a busy machine do; and what each machine knew of the others'
    clocks, in words."""
    dropped, clocks = 0, []
    ended = lab.everywhere("run", "--duration", f"{seconds}s", "--json", "-", seconds=seconds + 240, meanwhile=meanwhile)
    for site, done in zip(lab.bench.sites, ended):
        if not site.has_hosts():
            continue
        result = run_result(done)
        for check in CHECKS:
            if result["checks"][check] != 0:
                raise Wrong(f"{site.machine.name}: {result['checks'][check]} {check.replace('_', ' ')}; "
                            f"{lab.faults()}")
        dropped += result["messages"].get("dropped", 0)
        clocks.append(words_of(result.get("clocks")))
    return dropped, "; ".join(words for words in clocks if words)


def words_of(clocks):
    if not clocks or clocks["bound_ns"] is None:
        return ""
    return (f"clocks within {clocks['bound_ns'] / 1e3:.0f} us ({clocks['mean_bound_ns'] / 1e3:.0f} on average), "
            f"{clocks['frames_untimed']} of {clocks['frames_timed'] + clocks['frames_untimed']} frames untimed, "
            f"{clocks['steps']} steps")


class Counted:
    """The counts of all interfaces since another such moment."""

    NAMES = ("messages_injected", "messages_delivered", "frames_retransmitted")

    def __init__(self, lab, since=None):
        self.now = dict.fromkeys(self.NAMES, 0)
        for status in lab.statuses():
            for counters in status["nics"].values():
                for name in self.NAMES:
                    self.now[name] += counters.get(name, 0)
        before = since.now if since else dict.fromkeys(self.NAMES, 0)
        self.injected, self.delivered, self.repeated = (self.now[name] - before[name] for name in self.NAMES)


def until(lab, messages, seconds):
    """Returns a line that says how many there were. The first run takes so many seconds, a further one as long
    as the rest should need. Machines do not begin at the same moment, so what one has sent and another one has
    not counted in its run is in the counters of both."""
    dropped, sent_seconds, began, before = 0, 0, time.monotonic(), Counted(lab)
    end = began + max(SECONDS_MIN, messages / RATE_MIN)
    while True:
        more, clocks = one_run(lab, seconds)
        dropped += more
        sent_seconds += seconds
        got = Counted(lab, before)
        if got.delivered == 0:
            raise Wrong(f"0 of {got.injected} messages arrived, {dropped} were not sent; {lab.faults()}")
        if got.delivered >= messages or time.monotonic() > end:
            break
        rest = 1.1 * (messages - got.delivered) * sent_seconds / got.delivered
        seconds = min(max(3, round(rest)), RUN_SECONDS_MAX)
    final = lab.wait(lambda: all_arrived(lab, before), "messages are still under way")
    took = time.monotonic() - began
    if final.delivered < messages:
        raise Wrong(f"{final.delivered} messages in {took:.0f} s, expected {messages}; {lab.faults()}")
    return (f"{final.delivered} frames of {lab.mtu}, {final.repeated} sent twice; 0 lost, 0 duplicated, 0 out of "
            f"order; {dropped} not sent; {took:.0f} s{'; ' if clocks else ''}{clocks}")


def all_arrived(lab, before):
    got = Counted(lab, before)
    return got if got.injected == got.delivered else None

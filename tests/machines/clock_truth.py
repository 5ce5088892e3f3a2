# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""The clocks of guests, compared with the truth. QEMU emulates a guest's time stamp counter by this machine's, less what that
showed when the guest was made. So the counters of guests differ by constants, which programs on both sides of shared
memory bound (common_clock.c), and the clock of a lab on a guest is its counter on a scale that is in the file 'clock'."""
import os
import subprocess
from fractions import Fraction

from lab import Wrong

PROBE_SECONDS = 3
# The counters of this machine's processors may differ.
DOUBT_CYCLES = 1000
NS = 10**9


class Interval:
    """Bounds on the cycles that this machine's counter is ahead of the guest's."""

    def __init__(self, low, high):
        if low > high:
            raise Wrong(f"the guest's counter is at least {low} and at most {high} cycles behind: the test has a fault")
        self.low, self.high = low, high

    def middle(self):
        return Fraction(self.low + self.high, 2)

    def width(self):
        return self.high - self.low


def measure(guest, probe):
    """The interval of a guest that has a login."""
    there = guest.shared_there()
    with open(guest.shared_here(), "r+b") as file:
        file.write(bytes(4096))
    running = guest.start(f"{probe} {there} left {PROBE_SECONDS}", seconds=120 + PROBE_SECONDS)
    here = subprocess.run([probe, guest.shared_here(), "right", str(PROBE_SECONDS)], capture_output=True, text=True,
                          timeout=120 + PROBE_SECONDS, check=False)
    done = running.finish()
    if here.returncode != 0 or done.code != 0:
        raise Wrong(f"{probe}: {here.stderr}{done.said()}")
    return Interval(int(done.out) - DOUBT_CYCLES, -int(here.stdout) + DOUBT_CYCLES)


class Truth:
    """'intervals' and 'scales', (frequency, origin), by guest."""

    def __init__(self, intervals, scales):
        self.intervals, self.scales = intervals, scales

    def remote_ns(self, at, of, local_ns):
        """What the clock of 'of' shows when the clock of 'at' shows this."""
        hz, origin = self.scales[at]
        counter = origin + Fraction(local_ns * hz, NS) + self.intervals[at].middle() - self.intervals[of].middle()
        hz, origin = self.scales[of]
        return (counter - origin) * NS / hz

    def doubt_ns(self, at, of):
        """How far off remote_ns() can be."""
        cycles = Fraction(self.intervals[at].width() + self.intervals[of].width(), 2)
        return cycles * NS / min(self.scales[at][0], self.scales[of][0])


def parse_scale(text):
    """Rate and origin from a lab's file 'clock'."""
    hz, origin = text.split(":")
    return int(hz), int(origin)


def probe_path(build):
    """The program, of a build folder."""
    return os.path.join(build, "tests/machines/common-clock")

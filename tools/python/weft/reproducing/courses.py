# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""Numbers that describe the samples of a run; NaN if there is no such sample."""
import functools
import math
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ..quantity import NAN, SHARE, TIME, figure, mean_of, parse_kind

BACK_SHARE = 0.9  # share of deliverable traffic at which a network has recovered
LAST = 0.1  # final share of the hot spot whose samples count as its end
SLACK_NS = 1.0
number = functools.partial(figure, missing=0.0)


class Sample(NamedTuple):
    """Returns the end of a sample, and the traffic accepted in it as a share of the hosts' links."""

    t_ns: float
    accepted: float


@dataclass
class Transient:
    """The efficiency of a network over time, around a hot spot that lasts from 'start' to 'stop';
    without a hot spot, both are the end of the run (figures 6 and 7 of the ARN+AFI paper)."""

    start_ns: float = 0.0
    stop_ns: float = 0.0
    # The traffic that could be accepted during the hot spot: what other hosts send elsewhere than to the
    # hot hosts, and the capacity of the links to those. Without a hot spot, the generated traffic.
    deliverable: float = 0.0
    samples: list[Sample] = field(default_factory=list)

    def take(self, series: list[Any]) -> bool:
        """Stores the samples of a result; returns False if there are none."""
        self.samples = [Sample(number(at, "t_ns"), number(at, "released")) for at in series]
        return bool(self.samples)

    def _between(self, start: float, stop: float) -> list[Sample]:
        """Returns the samples that end after 'start' and by 'stop'."""
        return [s for s in self.samples if start + SLACK_NS < s.t_ns <= stop + SLACK_NS]

    def _mean(self, start: float, stop: float) -> float:
        return mean_of([sample.accepted for sample in self._between(start, stop)]).mean

    def before(self) -> float:
        """Returns the mean over the second half of the time before the hot spot."""
        return self._mean(self.start_ns / 2, self.start_ns)

    def minimum(self) -> float:
        """Returns the lowest sample of the hot spot or, without one, of the run's second half."""
        start = self.start_ns if self.start_ns < self.stop_ns else self.stop_ns / 2
        return min((s.accepted for s in self._between(start, self.stop_ns)), default=NAN)

    def at(self, after_ns: float) -> float:
        """Returns the sample that ends this long after the start of the hot spot."""
        at = self.start_ns + after_ns
        if at > self.stop_ns + SLACK_NS:
            return NAN
        return next((s.accepted for s in self.samples if s.t_ns >= at - SLACK_NS), NAN)

    def end(self) -> float:
        """Returns the mean over the last tenth of the hot spot or, without one, of the run."""
        start = self.start_ns if self.start_ns < self.stop_ns else 0
        sample = self.samples[0].t_ns if self.samples else 0
        return self._mean(self.stop_ns - max(sample, LAST * (self.stop_ns - start)), self.stop_ns)

    def back_ns(self) -> float:
        """Returns the time from the start of the hot spot to the end of its last sample below
        BACK_SHARE of the deliverable traffic: 0 if no sample is, infinity if the last one is."""
        inside = self._between(self.start_ns, self.stop_ns)
        low = [s for s in inside if s.accepted < BACK_SHARE * self.deliverable]
        if low and low[-1] is inside[-1]:
            return math.inf
        return low[-1].t_ns - self.start_ns if low else 0.0


def transient_of(whole: dict[str, Any], network: dict[str, Any]) -> Transient:
    """Describes the hot spot in a configuration and its network (answers of 'weft answer')."""
    end, hosts = whole["duration_ps"] / 1000, network["hosts"]
    found = Transient(end, end)
    others = hot = 0.0  # shares of hosts' links
    destinations = 0  # hot hosts
    for entry, (senders, receivers) in zip(whole["config"]["traffic"], network["counts"]):
        share = (parse_kind(SHARE, str(entry.get("load"))) or 0) / 1e6 * senders
        if entry["pattern"] != "hotspot":
            others += share
            continue
        to_hot = (parse_kind(SHARE, entry["share"]) or 0) / 1e6
        hot += share * to_hot
        others += share * (1 - to_hot)
        destinations += receivers
        start, stop = (parse_kind(TIME, entry[key]) for key in ("start", "stop"))
        found.start_ns = min(end, (start or 0) / 1000)
        found.stop_ns = end if stop is None else min(end, stop / 1000)
    elsewhere = others * (hosts - destinations) / hosts
    accepted_hot = min(others * destinations / hosts + hot, destinations)
    found.deliverable = (elsewhere + accepted_hot) / hosts
    return found


class Settling:
    """The mean latency of a run as a function of the messages that have arrived (figures 62 to 66
    of Flich's thesis). Traffic represents messages: samples and messages have one length each."""

    def __init__(self) -> None:
        self.samples: list[tuple[float, float]] = []  # share of all messages, mean in ns

    def take(self, series: list[Any]) -> bool:
        """Stores the samples of a result; returns False if nothing arrived."""
        arrived = total = before = 0.0
        self.samples = []
        for at in series:
            weight = number(at, "released") * (number(at, "t_ns") - before)
            before = number(at, "t_ns")
            arrived += weight
            total += weight * number(at, "released_latency_ns")
            if arrived > 0:
                self.samples.append((arrived, total / arrived))
        self.samples = [(share / arrived, mean) for share, mean in self.samples]
        return bool(self.samples)

    def deviation(self, share: float) -> float:
        """Returns the maximum deviation of the mean, after this share of the messages or more, from
        the final mean, in percent."""
        last = self.samples[-1][1] if self.samples else NAN
        return max((100 * abs(m / last - 1) for s, m in self.samples if s >= share), default=NAN)

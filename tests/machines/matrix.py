# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""Drivers by nic.mtu: each either passes frames or is refused with the largest that fits."""
import re

import traffic
from lab import Lab, Wrong

MTUS = ("512B", "1KiB", "1500B", "2KiB", "4KiB", "9000B")
FRAMES = 1_000
REFUSAL = re.compile(r"nic\.mtu of (\d+(?:B|KiB)?) fits")
UNITS = {"": 1, "B": 1, "KiB": 1024}


def bytes_of(size):
    number, unit = re.fullmatch(r"(\d+)(B|KiB)?", size).groups(default="")
    return int(number) * UNITS[unit]


def judge_refusal(ended, mtu):
    """The nic.mtu that is named, if all who were not merely interrupted are refused as they should be."""
    named = set()
    for done in ended:
        if done.code in (0, 130):
            continue
        found = REFUSAL.search(done.err)
        if done.code not in (2, 3) or found is None:
            raise Wrong(f"neither passes nor is refused with the nic.mtu that fits: {done.said()}")
        named.add(found[1])
    smallest = min(named, key=bytes_of)
    if bytes_of(smallest) >= bytes_of(mtu):
        raise Wrong(f"is refused, and {smallest} is said to fit")
    return smallest


def cell(options, driver, bench, mtu):
    """'passes …' or 'refused …'."""
    lab = Lab(options.weft, bench, mtu, options.load, driver.eal + options.eal)
    try:
        ended = lab.try_up()
        if any(done.code != 0 for done in ended):
            return f"refused: nic.mtu of {judge_refusal(ended, mtu)} fits"
        lab.wait(lab.all_up, "links are not up")
        return "passes " + traffic.until(lab, FRAMES, 3)
    finally:
        lab.remove()


def run(options, report, driver, bench):
    for mtu in options.mtu or MTUS:
        report.case(f"{driver.name}_{mtu}_passes_or_names_what_fits",
                    lambda mtu=mtu: cell(options, driver, bench, mtu))



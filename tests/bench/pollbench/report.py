# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""The output of the bench."""

# Minimum of weft-table's rate on net_pcap with 64 bytes, against a peer (issue 2); the aim for
# macswap is no bar: it moves six bytes and looks at nothing.
BARS = {"l3fwd": 1.0, "ovs-destination": 1.4, "ovs-port": 1.4}
AIM = {"macswap": 0.7}


def comparison_lines(title, measured, missing, tsc_hz):
    yield f"{title}"
    weft = [m for name, m in measured.items() if name.startswith("weft")]
    heads = "".join(f"{m.name + '/it':>17}" for m in weft)
    yield f"  {'':<16}{'Mpps/CPU-s':>11}{'spread':>8}{'cycles':>8}{heads}"
    for one in measured.values():
        cycles = one.ns_per_packet() * 1e-9 * tsc_hz
        ratios = "".join("%17s" % ("" if one.name.startswith("weft") else f"{m.ratio_to(one):.2f}")
                         for m in weft)
        yield (f"  {one.name:<16}{one.rate / 1e6:>11.2f}{one.spread():>7.0%}{cycles:>9.1f}"
               f"{ratios}")
    for why in missing:
        yield f"  not measured: {why}"


def profile_lines(title, phases):
    yield f"{title}: TSC cycles per packet and where they go (weft-bench-switch --profile)"
    for key, text in (("receive_cycles_per_packet", "receive (PMD)"),
                      ("switch_cycles_per_packet", "check, switch, links, loop"),
                      ("transmit_cycles_per_packet", "transmit (PMD)"),
                      ("receive_empty_cycles_per_packet", "looking at empty ports")):
        yield f"  {phases[key]:8.1f}  {text}"
    yield f"  {phases['tsc_cycles_per_packet']:8.1f}  together, bursts of " \
          f"{phases['receive_burst']:.1f} in and {phases['transmit_burst']:.1f} out"


def instruction_lines(title, places):
    yield f"{title}: instructions per packet (callgrind)"
    for name, count in sorted(places.items(), key=lambda item: -item[1]):
        yield f"  {count:8.1f}  {name}"
    yield f"  {sum(places.values()):8.1f}  together"


def verdicts(measured):
    """(text, met) for each bar that could be measured."""
    table = measured.get("weft-table")
    if table is None:
        return []
    found = []
    for name, bar in {**BARS, **AIM}.items():
        if name in measured:
            ratio = table.ratio_to(measured[name])
            kind = "aim" if name in AIM else "bar"
            found.append((f"{kind}: weft-table/{name} {ratio:.2f}, at least {bar:.2f}: "
                          f"{'met' if ratio >= bar else 'MISSED'}", ratio >= bar or name in AIM))
    return found

# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""weft demo: a two-minute tour on the virtual clock that ends with a picture."""
import os
import subprocess

from .asker import program
from .command import options
from .error import Error, Exit, need
from .files import write_text

USAGE = """\
usage: weft demo [-o DIR]

Runs a two-minute tour: one run, a sweep over the load, a deadlock, and a hot
spot with and without congestion management. It runs on the virtual clock and
needs no root and no NIC.
  -o DIR   a new folder for the run files, the results and the pictures
           (weft-demo)
Exit: 0 success, 2 invalid request, 3 not possible on this machine (no
matplotlib), 130 ended by Ctrl-C.
"""

TREE = """\
# A fat tree of 80 switches and 128 hosts. Each host sends to random others.
weft: run/1
topology: "rlft:ports=8,stages=3"
clock: virtual
link: {rate: 100Gbps, delay: 30ns}
switch: {buffer: 64KiB, mtu: 4KiB}
routing: {algorithm: dmodk}
traffic:
  - {pattern: uniform, load: 80%, message: 4KiB}
measure: {warmup: 200us, duration: 1ms, sample: 50us}
"""

HOT_SPOT = """\
# The same tree. From 1 ms on, a tenth of the hosts send everything to host h4.
weft: run/1
topology: "rlft:ports=8,stages=3"
clock: virtual
link: {rate: 100Gbps, delay: 30ns}
switch: {credits: each, buffer: 344KiB, mtu: 4KiB}
routing: {algorithm: dmodk, mode: table, adaptive: arn, afi: true}
detector: {crt: 1ms}
traffic:
  - {pattern: uniform, from: rest, load: 100%, message: 4KiB}
  - {pattern: hotspot, from: 10%, to: [h4], load: 100%, message: 4KiB, start: 1ms}
measure: {warmup: 0s, duration: 6ms, sample: 200us}
"""

TOUR = """
1. One run. 128 hosts send at 80 % of their links for 1 ms of virtual time.

   $ weft run tree.yaml

2. A sweep: eight loads, two queue layouts. Without virtual output queues (VOQs), a
   blocked packet also blocks the packets behind it.

   $ weft sweep tree.yaml --vary switch.voq=true,false --vary traffic.0.load=20%:90%:10% -o sweep
   $ weft plot sweep --kind latency-throughput --latency total -o latency.png

3. A deadlock. Minimal routes around a ring form a cycle of waiting buffers; up*/down*
   routes do not. The second command ends with exit code 1: the answer is bad.

   $ weft route compute ring:switches=6 --algorithm ud -o ud.routes
   $ weft route compute ring:switches=6 --algorithm minhop -o minhop.routes

4. A hot spot. Congestion spreads upstream and halves the traffic of all other hosts.
   Notifications (ARN) and isolated flows (AFI) bring it back.

   $ weft run hot-spot.yaml --quiet --set routing.adaptive=none --set routing.afi=false --json plain.json
   $ weft run hot-spot.yaml --quiet --json arn-afi.json
   $ weft plot plain.json arn-afi.json --kind efficiency-time -o hot-spot.png
"""

END = """
Look at {0}/latency.png and {0}/hot-spot.png. Then change the run files and try again:
  weft run {0}/tree.yaml --set traffic.0.load=95%
  weft run {0}/hot-spot.yaml --web             the fabric as a picture, while it runs
  weft help files                              what a run file may contain
"""


def main(arguments: list[str]) -> int:
    found, rest = options(USAGE, arguments, {})
    if rest:
        raise Error(f"'{rest[0]}': too many arguments")
    folder = found.get("o", "weft-demo")
    need("matplotlib")
    try:
        os.mkdir(folder)
    except FileExistsError:
        raise Error(f"{folder} already exists; expected a new folder after -o") from None
    write_text(os.path.join(folder, "tree.yaml"), TREE)
    write_text(os.path.join(folder, "hot-spot.yaml"), HOT_SPOT)
    for line in TOUR.splitlines():
        print(line, flush=True)
        if not line.startswith("   $ "):
            continue
        expected = int("minhop" in line)  # Exit.BAD_ANSWER
        done = subprocess.run([program(), *line.split()[2:]], cwd=folder, check=False)
        if done.returncode == Exit.INTERRUPTED:
            raise KeyboardInterrupt
        if done.returncode != expected:
            text = f"'{line[5:]}' ended with exit code {done.returncode}; expected {expected}"
            raise Error(text, Exit.NOT_ABLE)
    print(END.format(folder), end="")
    return Exit.DONE

# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""TSC cycles per packet of a switch by phase: a run with --profile, which reads the TSC around each
burst that goes through a port."""

import json
import subprocess

from .process import BenchError
from .programs import weft_options


def profile(setting, kind, seconds):
    argv = [setting.tools.weft_switch, *setting.eal(setting.prefix("profile"), kind), "--",
            *weft_options(setting, kind), "--profile", "--duration",
            f"{int(seconds * 1000)}ms"]
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise BenchError("weft-bench-switch --profile: " +
                         (done.stderr.strip().splitlines() or ["failed"])[-1])
    result = json.loads(done.stdout)
    return {**result["profile"], "tsc_hz": result["wall"]["tsc_hz"],
            "tsc_cycles_per_packet": result["wall"]["tsc_cycles_per_packet"]}

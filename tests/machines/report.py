# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""A line for each case as it ends, and the totals, as people and tools/check-totals read them."""
import traceback

import machine
from cases import Unable
from lab import Wrong


class Report:
    def __init__(self):
        self.passed, self.failed, self.skipped = 0, [], []

    def case(self, name, claim):
        """Calls claim(), which returns its figures. Whether it held."""
        try:
            said = claim()
        except Unable as why:
            self.skipped.append(name)
            print(f"[ RUN      ] {name}\nskipped: {why}\n[  SKIPPED ] {name}", flush=True)
            return True
        except (Wrong, machine.Broken) as fault:
            self.fail(name, str(fault))
            return False
        except Exception: # a fault in the test itself
            self.fail(name, "the test has a fault\n" + traceback.format_exc())
            return False
        self.passed += 1
        print(f"PASS {name}: {said}", flush=True)
        return True

    def fail(self, name, why):
        self.failed.append(name)
        first, *more = (why.splitlines() or [""])
        print(f"FAIL {name}: {first}", flush=True)
        for line in more[-12:]:
            print(f"     {line}", flush=True)

    def totals(self):
        """Returns the exit code."""
        print(f"[  PASSED  ] {self.passed} test(s).")
        for name in self.failed:
            print(f"[  FAILED  ] {name}")
        print(f"{self.passed} passed, {len(self.failed)} failed, {len(self.skipped)} skipped")
        return 1 if self.failed or self.passed == 0 else 0

# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""The matrix as text, and as a table in Markdown."""


def figure(value):
    return "–" if value is None else f"{value:.4g}" if isinstance(value, float) else str(value)


def verdict(cell):
    if cell.reason is not None:
        return "NOT RUN"
    return "ok" if cell.good() else "MISSED"


class Text:
    def __init__(self):
        print(f"{'PEER':22} {'CLAIM':72} {'THEIRS':>9} {'OURS':>9} {'BOUND':>13}  VERDICT", flush=True)

    def line(self, cell):
        print(f"{cell.peer:22} {cell.claim:72} {figure(cell.theirs):>9} {figure(cell.ours):>9} "
              f"{cell.bound_text():>13}  {verdict(cell)}", flush=True)
        if cell.reason is not None or not cell.good():
            print(f"    {cell.reason or cell.command}", flush=True)

    def totals(self, cells):
        missed = sum(cell.reason is None and not cell.good() for cell in cells)
        unable = sum(cell.reason is not None for cell in cells)
        seconds = sum(cell.seconds for cell in cells)
        print(f"{len(cells) - missed - unable} of {len(cells)} cells agree, {missed} missed, {unable} not run, "
              f"{seconds:.0f} s")
        return 1 if missed else 3 if unable else 0


class Markdown(Text):
    """As tests/bench/pages keeps it."""

    def __init__(self, version, quick):
        print(f"{'Quick validation' if quick else 'Validation'}: Weft, theory, other programs and papers ({version})\n\n"
              "| Peer | Claim | Theirs | Ours | Bound | | Command |\n|---|---|---|---|---|---|---|", flush=True)

    def line(self, cell):
        print(f"| {cell.peer} | {cell.claim} | {figure(cell.theirs)} | {figure(cell.ours)} | {cell.bound_text()} | "
              f"{cell.reason or verdict(cell)} | `{cell.command}` |", flush=True)

    def totals(self, cells):
        missed = sum(cell.reason is None and not cell.good() for cell in cells)
        unable = sum(cell.reason is not None for cell in cells)
        print(f"\n{len(cells) - missed - unable} of {len(cells)} cells agree; {unable} of {len(cells)} cells not run.")
        return 1 if missed else 3 if unable else 0

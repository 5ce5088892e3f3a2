#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""The pages of docs: every link leads somewhere, the index has every page, and prose wraps at 100 columns."""
import pathlib
import re
import unittest

TOP = pathlib.Path(__file__).resolve().parents[2]
DOCS = TOP / "docs"
PAGES = [*sorted(TOP.glob("*.md")), *sorted(DOCS.rglob("*.md"))]
LINES_MAX = 8000  # results are data, and have no pages


def prose(page):
    """(number, line) of each line that is not in a block of code."""
    fence = False
    for number, line in enumerate(page.read_text().split("\n"), 1):
        if line.lstrip().startswith("```"):
            fence = not fence
        elif not fence:
            yield number, line


def anchors(page):
    """The anchors that GitHub makes of the headings of a page."""
    found = {}
    for _, line in prose(page):
        heading = re.match(r"#+ (.*)", line)
        if heading:
            text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading[1]).lower()
            name = re.sub(r"[^\w -]", "", text).replace(" ", "-")
            found[name] = found.get(name, -1) + 1
    return {f"{name}-{number}" if number else name for name, last in found.items() for number in range(last + 1)}


def links(page):
    """(target, its path, its anchor) of each link of a page to another one or to a file."""
    for target in re.findall(r"\]\(([^)\s]+)\)", "\n".join(line for _, line in prose(page))):
        if not re.match(r"[a-z]+:", target):
            path, _, anchor = target.partition("#")
            yield target, (page.parent / path).resolve() if path else page, anchor


class Docs(unittest.TestCase):
    def test_every_link_leads_somewhere(self):
        count = 0
        for page in PAGES:
            for target, path, anchor in links(page):
                count += 1
                self.assertTrue(path.exists(), f"{page}: {target}")
                if anchor and path.suffix == ".md":
                    self.assertIn(anchor, anchors(path), f"{page}: {target}")
        self.assertGreater(count, 100)

    def test_the_index_leads_to_every_page(self):
        there = {path for _, path, _ in links(DOCS / "index.md")}
        self.assertEqual([str(page) for page in DOCS.rglob("*.md") if page not in there | {DOCS / "index.md"}], [])

    def test_every_picture_is_shown_with_a_text(self):
        shown = {}
        for page in PAGES:
            for text, name in re.findall(r"!\[([^\]]*)\]\(([^)]+)\)", page.read_text()):
                shown[(page.parent / name).resolve()] = text
        self.assertEqual({path.name for path in DOCS.joinpath("pictures").iterdir()} - {path.name for path in shown}, set())
        for path, text in shown.items():
            self.assertGreater(len(text), 10, path)

    def test_prose_wraps_at_100_columns(self):
        for page in PAGES:
            for number, line in prose(page):
                if not re.match(r"\s*\||    |\s*(- )?\[[^\]]*\]\([^)]*\)|!\[|<!--", line):
                    self.assertLessEqual(len(line), 100, f"{page}:{number}: {line}")

    def test_pages_stay_short_enough_to_be_read(self):
        texts = (re.sub("(?ms)^<!-- keys .*?^<!-- end -->$", "", page.read_text()) for page in PAGES if DOCS in page.parents)
        lines = sum(text.count("\n") for text in texts)
        self.assertLessEqual(lines, LINES_MAX)


if __name__ == "__main__":
    unittest.main()

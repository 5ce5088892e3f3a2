#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""The notebook of docs/tutorials: its cells are those of the page, and all of them run.

usage: notebook_test.py WEFT [TEST]...      or, after a change of the page: notebook_test.py --write
"""
import importlib
import json
import os
import pathlib
import re
import sys
import tempfile
import unittest

TOP = pathlib.Path(__file__).resolve().parents[2]
PAGE, NOTEBOOK = TOP / "docs/tutorials/4-notebook.md", TOP / "docs/tutorials/4-notebook.ipynb"
FENCE = re.compile(r"^```python\n(.*?)\n```$", re.MULTILINE | re.DOTALL)


def made():
    """The notebook of the page."""
    cells = []
    for index, text in enumerate(FENCE.split(PAGE.read_text())):
        text = text.strip().splitlines(keepends=True)
        if text and index % 2:
            cells.append({"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": [], "source": text})
        elif text:
            cells.append({"cell_type": "markdown", "metadata": {}, "source": text})
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 4}


class Notebook(unittest.TestCase):
    def test_cells_are_those_of_the_page(self):
        self.assertEqual(json.loads(NOTEBOOK.read_text()), made(), "'notebook_test.py --write' writes the notebook anew")

    def test_all_cells_run(self):
        notebook = nbformat.read(NOTEBOOK, as_version=4)
        with tempfile.TemporaryDirectory(prefix="weft-notebook-") as folder:
            ExecutePreprocessor(timeout=240).preprocess(notebook, {"metadata": {"path": folder}})
            self.assertEqual((pathlib.Path(folder) / "tree.pdf").read_bytes()[:5], b"%PDF-")
        kinds = [set().union(*(output.get("data", ()) for output in cell.outputs))
                 for cell in notebook.cells if cell.cell_type == "code"]
        self.assertEqual(["text/html" in kind for kind in kinds], [True, False, True, True, False, True, False, False])
        self.assertEqual(["image/png" in kind for kind in kinds], 6 * [False] + [True, False])


if __name__ == "__main__":
    if sys.argv[1:] == ["--write"]:
        NOTEBOOK.write_text(json.dumps(made(), indent=1, ensure_ascii=False) + "\n")
        sys.exit()
    try:
        for name in ("ipykernel", "matplotlib", "pandas"):
            importlib.import_module(name)
        import nbformat
        from nbconvert.preprocessors import ExecutePreprocessor
    except ImportError as error:
        print(f"SKIP: {error.name} is not installed")
        sys.exit(77)
    os.environ["WEFT"] = os.path.abspath(sys.argv.pop(1))
    os.environ["PYTHONPATH"] = str(TOP / "tools/python")
    unittest.main(verbosity=2)

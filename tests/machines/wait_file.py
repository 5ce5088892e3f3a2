# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""Runs on a machine: until it has the file, and the word is in it. usage: wait_file.py FILE WORD"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../net"))
import labs

path, word = sys.argv[1:]
labs.wait_path(path, None)
labs.wait_file(path, lambda path: word.encode() in open(path, "rb").read())

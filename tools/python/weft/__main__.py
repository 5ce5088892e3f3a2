# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""Started by the command 'weft', as 'python3 -I weft/__main__.py NAME ARGUMENT...'."""
import os
import sys

if __name__ == "__main__":
    if not __package__:
        sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    from weft.command import main

    sys.exit(main(sys.argv[1:]))

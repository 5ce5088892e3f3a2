# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""tools/ansible as the console of a bench runs it, for all of its machines."""
import json
import os
import re
import subprocess

from lab import Wrong

PROGRAM = "ansible-playbook"
FOLDER = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))), "tools/ansible")
SECONDS = 900
LOGIN_SECONDS = 120 # a guest's sshd is slow


class Playbook:
    """'environment' of the console; 'variables' of the role."""

    def __init__(self, weft, lab_file, environment, variables):
        self.folder = os.path.dirname(lab_file)
        self.environment = environment | {
            "WEFT": weft, "WEFT_LAB": lab_file, "HOME": self.folder, "PWD": self.folder, "ANSIBLE_NOCOLOR": "1",
            "ANSIBLE_PIPELINING": "1", "ANSIBLE_TIMEOUT": str(LOGIN_SECONDS), "ANSIBLE_LOCAL_TEMP": f"{self.folder}/ansible"}
        self.variables = {"ansible_python_interpreter": "/usr/bin/python3"} | variables

    def run(self, *words):
        """How many tasks have changed something on each machine. Wrong if one has failed."""
        said_path = f"{self.folder}/playbook"
        with open(said_path, "w", encoding="utf-8") as out: # ssh stays for a while and would keep a pipe open
            done = subprocess.run(
                [PROGRAM, "-i", f"{FOLDER}/inventory", "-e", json.dumps(self.variables), *words, f"{FOLDER}/site.yml"],
                cwd=self.folder, env=self.environment, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT,
                timeout=SECONDS, check=False)
        with open(said_path, encoding="utf-8") as file:
            said = file.read()
        if done.returncode != 0:
            raise Wrong(f"{PROGRAM} {' '.join(words)}: exit {done.returncode}\n{said}")
        return {name: int(changed) for name, changed in re.findall(r"(?m)^(\S+) +: ok=\d+ +changed=(\d+) ", said)}

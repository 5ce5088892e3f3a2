#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""tools/ansible against a machine with a real sshd (ssh_machines.py), whose /etc is a copy in its own mount
namespace: --check changes nothing, a run changes what it says, a second run nothing. The package and the
running system (weft_package: none, weft_now: false) are left out. Needs root, openssh-server and ansible-core.

usage: ansible_test.py WEFT
"""
import json
import os
import re
import subprocess
import sys
import unittest

import labs
import ssh_machines

WEFT = None
TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FILES = {"sysctl.d/60-weft.conf": "vm.nr_hugepages = 64\n",
         "default/grub.d/weft.cfg": 'GRUB_CMDLINE_LINUX="$GRUB_CMDLINE_LINUX intel_iommu=on iommu=pt"\n',
         "modules-load.d/weft.conf": "vfio-pci\n",
         "weft/pair.env": 'WEFT_LAB_OPTIONS="--machine a --wait 600s"\n'}
LAB = """weft: lab/1
name: pair
topology:
  weft: topology/1
  name: pair
  link: {rate: 10Gbps, delay: 30ns}
  switches: [{name: s0, ports: 2}, {name: s1, ports: 2}]
  hosts: [{name: h0}, {name: h1}]
  links: [{a: h0, b: s0:0}, {a: h1, b: s1:0}, {a: s0:1, b: s1:1}]
machines:
  - {name: a, ssh: root@a, devices: [s0, h0], ports: [{port: s0:1, dpdk: "0000:01:00.0"}]}
  - {name: b, ssh: "ssh://ann@b:2222", devices: [s1, h1], ports: [{port: s1:1, dpdk: "0000:02:00.0"}]}
"""


class Role(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.bench = ssh_machines.Bench("a", [], own_etc=True)
        cls.addClassCleanup(cls.bench.remove)
        cls.lab = cls.bench.path("pair.yaml")
        with open(cls.lab, "w") as file:
            file.write(LAB)

    def environment(self):
        return self.bench.environment() | {"WEFT": WEFT, "WEFT_LAB": self.lab, "ANSIBLE_NOCOLOR": "1",
                                           "ANSIBLE_LOCAL_TEMP": self.bench.path("ansible"), "HOME": self.bench.folder}

    def play(self, *words):
        """How many tasks changed something."""
        done = subprocess.run(
            self.bench.console("ansible-playbook", "-i", f"{TOP}/tools/ansible/inventory", "--limit", "a", "-e",
                               json.dumps({"weft_package": "none", "weft_now": False, "weft_hugepages": 64,
                                           "weft_lab_file": self.lab}),
                               *words, f"{TOP}/tools/ansible/site.yml"),
            env=self.environment(), text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, timeout=280, check=False)
        self.assertEqual(done.returncode, 0, done.stdout)
        return int(re.search(r"changed=(\d+)", done.stdout)[1])

    def contents(self, name):
        try:
            with open(os.path.join(self.bench.path("etc-a"), name)) as file:
                return file.read()
        except FileNotFoundError:
            return None

    def test_a_second_run_changes_nothing(self):
        self.assertGreater(self.play("--check"), 3)
        self.assertEqual({name for name in FILES if self.contents(name) is not None}, set())
        self.assertGreater(self.play(), 3)
        self.assertEqual({name: self.contents(name) for name in FILES}, FILES)
        self.assertIn("ExecStart=weft port bind 0000:01:00.0\n", self.contents("systemd/system/weft-ports.service"))
        self.assertEqual(self.play(), 0)
        self.assertEqual(self.play("--check"), 0)

    def test_the_inventory_has_addresses_and_ports(self):
        done = subprocess.run([WEFT, "lab", "inventory", self.lab], text=True, stdout=subprocess.PIPE, check=True)
        document = json.loads(done.stdout)
        self.assertEqual(document["weft"]["hosts"], ["a", "b"])
        self.assertEqual(document["_meta"]["hostvars"]["b"],
                         {"weft_machine": "b", "weft_lab": "pair", "weft_ports": ["0000:02:00.0"],
                          "ansible_user": "ann", "ansible_host": "b", "ansible_port": 2222})


def main():
    global WEFT
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    WEFT = os.path.abspath(sys.argv[1])
    ssh_machines.need_machines()
    if subprocess.run(["which", "ansible-playbook"], stdout=subprocess.DEVNULL, check=False).returncode != 0:
        labs.skip("ansible-core is not installed")
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]], verbosity=2)


if __name__ == "__main__":
    main()

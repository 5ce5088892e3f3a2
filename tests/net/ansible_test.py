#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""tools/ansible against a machine with a real sshd (ssh_machines.py), whose /etc is a copy in its own mount
namespace: --check changes nothing, a run changes what it says, a second run nothing. The package is left out
(weft_package: none), and what changes the running system is a program of the test's in the place of the machine's, which
writes down that it was called. Needs root, openssh-server and ansible-core.

usage: ansible_test.py WEFT
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import labs
import ssh_machines

WEFT = None
TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FILES = {"sysctl.d/60-weft.conf": "vm.nr_hugepages = 64\n",
         "default/grub.d/weft.cfg": 'GRUB_CMDLINE_LINUX="$GRUB_CMDLINE_LINUX intel_iommu=on iommu=pt"\n',
         "modules-load.d/weft.conf": "vfio-pci\n",
         "weft/pair.env": 'WEFT_LAB_OPTIONS="--machine a --wait 600s"\n'}
HANDLERS = ["sysctl --load /etc/sysctl.d/60-weft.conf", "update-grub"]
ENABLED = ["modprobe vfio-pci", "systemctl enable weft-ports"]
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


# In $0's folder: 'log', and files that say how systemctl and id shall answer.
STAND_IN = """#!/bin/sh
here=$(dirname "$0")
name=$(basename "$0")
[ $name = id ] || echo $name $* >> $here/log
case "$name $1" in
    "systemctl show") printf 'LoadState=loaded\\nActiveState=%s\\n' $(cat $here/active || echo inactive);;
    "systemctl is-enabled") [ -f $here/enabled-$2 ] || exit 1;;
    "systemctl enable") touch $here/enabled-$2;;
    "systemctl start" | "systemctl restart") [ ! -f $here/broken ] || exit 1; echo active > $here/active;;
    "id -u") [ -f $here/ordinary ] && echo 1000 || echo 0;;
    "sudo "*) while [ "$1" != /bin/sh ]; do shift; done; exec "$@";;
esac 2> /dev/null
"""
NAMES = ("systemctl", "sysctl", "update-grub", "modprobe", "id", "sudo")


class Role(unittest.TestCase):
    def setUp(self):
        self.programs = tempfile.mkdtemp(prefix="weft-ansible-")
        self.addCleanup(shutil.rmtree, self.programs)
        for name in NAMES:
            with open(os.path.join(self.programs, name), "w") as file:
                file.write(STAND_IN)
            os.chmod(file.name, 0o755)
        os.mkdir(os.path.join(self.programs, "groups"))
        self.boot("quiet")
        self.bench = ssh_machines.Bench("a", [], own_etc=True, path=f"{self.programs}:")
        self.addCleanup(self.bench.remove)
        self.lab = self.bench.path("pair.yaml")
        self.write_lab(LAB)

    def write_lab(self, text):
        with open(self.lab, "w") as file:
            file.write(text)

    def boot(self, words):
        with open(os.path.join(self.programs, "cmdline"), "w") as file:
            file.write(f"BOOT_IMAGE=/vmlinuz {words}\n")

    def have(self, name):
        """The stand-ins find this file."""
        with open(os.path.join(self.programs, name), "w"):
            pass

    def said(self):
        """What was called since it was asked last, without questions."""
        log = os.path.join(self.programs, "log")
        if not os.path.exists(log):
            return []
        with open(log) as file:
            lines = file.read().splitlines()
        os.unlink(log)
        return [line for line in lines if not re.match("sudo|systemctl (show|is-enabled|daemon-reload)", line)]

    def environment(self):
        return self.bench.environment() | {"WEFT": WEFT, "WEFT_LAB": self.lab, "ANSIBLE_NOCOLOR": "1",
                                           "ANSIBLE_PIPELINING": "1", "ANSIBLE_SSH_TRANSFER_METHOD": "piped",
                                           "ANSIBLE_LOCAL_TEMP": self.bench.path("ansible"), "HOME": self.bench.folder}

    def play(self, *words, **more):
        """How many tasks changed something."""
        return int(re.search(r"changed=(\d+)", self.run_role(*words, **more))[1])

    def run_role(self, *words, code=0, **variables):
        """What Ansible says."""
        values = {"weft_package": "none", "weft_now": False, "weft_hugepages": 64, "weft_lab_file": "pair.yaml",
                  "weft_iommu_groups": os.path.join(self.programs, "groups"),
                  "weft_booted_with": os.path.join(self.programs, "cmdline")} | variables
        # ssh stays for a while and keeps a pipe open.
        with open(self.bench.path("said"), "w+") as out:
            done = subprocess.run(
                self.bench.console("ansible-playbook", "-i", f"{TOP}/tools/ansible/inventory", "--limit", "a", "-e",
                                   json.dumps(values), *words, f"{TOP}/tools/ansible/site.yml"),
                env=self.environment() | {"PWD": self.bench.folder}, stdin=subprocess.DEVNULL, stdout=out,
                stderr=subprocess.STDOUT, timeout=280, check=False)
            out.seek(0)
            said = out.read()
        self.assertEqual(done.returncode, code, said)
        return said

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
        self.assertIn("ExecStart=weft port bind --driver vfio-pci 0000:01:00.0\n",
                      self.contents("systemd/system/weft-ports.service"))
        self.assertEqual(self.play(), 0)
        self.assertEqual(self.play("--check"), 0)
        self.assertEqual(self.said(), [])

    def test_a_new_server_gets_all_that_its_next_boot_needs(self):
        self.play(weft_now=True)
        self.assertEqual(self.said(), [*HANDLERS, *ENABLED, "systemctl enable weft-lab@pair"])
        self.assertIn("Before=weft-lab@pair.service\n", self.contents("systemd/system/weft-ports.service"))

    def test_ports_that_cannot_be_bound_do_not_keep_the_boot_loader_as_it_was(self):
        self.have("broken")
        os.mkdir(os.path.join(self.programs, "groups/0"))
        self.play(weft_now=True, code=2)
        self.assertEqual(self.said(), [*HANDLERS, *ENABLED, "systemctl start weft-ports"])
        os.unlink(os.path.join(self.programs, "broken"))
        self.play(weft_now=True)
        self.assertEqual(self.said(), ["modprobe vfio-pci", "systemctl start weft-ports",
                                       "systemctl enable weft-lab@pair"])
        # Another list of ports is bound at once.
        self.write_lab(LAB.replace("0000:01:00.0", "0000:03:00.0"))
        self.play(weft_now=True)
        self.assertEqual(self.said(), ["modprobe vfio-pci", "systemctl restart weft-ports"])

    def test_a_machine_whose_iommu_is_off_is_not_told_to_wait_for_a_boot(self):
        self.assertIn("before the next boot, which binds the ports if", self.run_role(weft_now=True))
        for words, booted in (("", "quiet"), ("intel_iommu=on iommu=pt", "iommu=pt intel_iommu=on")):
            self.boot(booted)
            said = self.run_role(weft_now=True, weft_kernel_arguments=words)
            self.assertIn("no boot will bind the ports before VT-d or AMD-Vi is on in the BIOS", said)
            self.assertNotIn("before the next boot", said)

    def test_a_machine_without_an_iommu_gets_another_driver_at_once(self):
        said = self.run_role(weft_now=True, weft_kernel_arguments="", weft_port_driver="uio_pci_generic")
        self.assertNotIn("IOMMU, and", said)
        self.assertEqual(self.contents("modules-load.d/weft.conf"), "uio_pci_generic\n")
        self.assertIn("ExecStart=weft port bind --driver uio_pci_generic 0000:01:00.0\n",
                      self.contents("systemd/system/weft-ports.service"))
        said = self.said()
        self.assertIn("modprobe uio_pci_generic", said)
        self.assertIn("systemctl start weft-ports", said)

    def test_who_is_not_root_becomes_it(self):
        self.have("ordinary")
        self.write_lab(LAB.replace("root@a", "a")) # ~/.ssh/config knows who
        self.play()
        with open(os.path.join(self.programs, "log")) as file:
            self.assertGreater(len(re.findall("(?m)^sudo .*-u root ", file.read())), 3)

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

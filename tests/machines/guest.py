# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""A machine of QEMU's: its process, its monitor, and the commands that its agent runs."""
import base64
import json
import os
import re
import select
import socket
import subprocess
import tempfile
import threading
import time

import machine

# All that QEMU can emulate, for the programs were built for this machine's CPU. A choice of features must
# hold xsaveopt where it has xsave: otherwise Debian's kernel 6.1 stands still early.
CPU = "max,la57=off"
CONNECT_SECONDS = 90
BOOT_SECONDS = 180
NO_END = 124 # the agent's exit code for a command that does not end in time
FIRST_SLOT = 4
LOGIN_SLOT = 3
SHARED_SLOT = 0x1d
# QEMU's user network forwards a port of 127.0.0.1 that is free to it.
LOGIN_ADDRESS, LOGIN_PORT = "10.0.2.15", 22


def log_path(path):
    """The log of QEMU, beside its sockets."""
    return os.path.join(os.path.dirname(path), "qemu.log")


def listen(path):
    """A socket to which a QEMU that starts connects."""
    end = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    end.bind(path)
    end.listen(1)
    return end


def accept(end, seconds, process):
    """The stream from the process."""
    pidfd = os.pidfd_open(process.pid)
    ready, _, _ = select.select([end, pidfd], [], [], seconds)
    os.close(pidfd)
    path = end.getsockname()
    if end not in ready:
        with open(log_path(path), errors="replace") as file:
            raise machine.Broken(f"QEMU does not connect to {path}: {file.read()}")
    with end:
        return end.accept()[0]


def clock_words():
    """For a kernel's command line: the frequency of this machine's TSC, which is the guest's. A guest would measure it as
    it boots, on a machine that may be busy, and keep what is more than 1 % off."""
    with open("/proc/cpuinfo") as file:
        found = re.search(r"^bogomips\s*:\s*([\d.]+)$", file.read(), re.MULTILINE)
    # Where the kernel counts delays by the TSC, bogomips are two for each MHz.
    return ["tsc=reliable"] + ([f"tsc_early_khz={round(float(found[1]) * 500)}"] if found else [])


class Monitor:
    """QEMU's own commands: QMP."""

    def __init__(self, end, process):
        self.log_path = log_path(end.getsockname())
        self.stream = accept(end, CONNECT_SECONDS, process).makefile("rwb")
        self.stream.readline()
        self.ask("qmp_capabilities")

    def ask(self, command, **arguments):
        try:
            self.stream.write(json.dumps({"execute": command, "arguments": arguments}).encode() + b"\n")
            self.stream.flush()
            said = self.answer()
        except OSError:
            said = {}
        if "error" in said:
            raise machine.Broken(f"{command} {arguments}: {said['error']['desc']}")
        if not said:
            raise machine.Broken(f"QEMU has gone at {command}; {self.log()}")
        return said["return"]

    def log(self):
        with open(self.log_path, errors="replace") as file:
            return file.read()

    def answer(self):
        """The next that is no event; {} at the end."""
        while line := self.stream.readline():
            said = json.loads(line)
            if "error" in said or "return" in said:
                return said
        return {}


class Order(machine.Running):
    """A command that runs in a guest."""

    def __init__(self, guest, number, command, seconds):
        super().__init__(command)
        self.guest, self.number, self.seconds = guest, number, seconds
        self.done, self.said = threading.Event(), None
        self.began = self.ended = time.monotonic()

    def answer(self, said):
        self.said, self.ended = said, time.monotonic()
        self.done.set()

    def wait(self):
        if not self.done.wait(self.seconds + 30) or self.said is None:
            raise machine.Broken(f"{self.guest.name}: no answer to: {self.command}\n{self.guest.last_words()}")
        return self.said

    def finish(self):
        said = self.wait()
        out, err = base64.b64decode(said["out"]), base64.b64decode(said["err"])
        if said["code"] == NO_END and self.ended - self.began < self.seconds - 1:
            err += f" of its clock, which were {self.ended - self.began:.0f} s here".encode()
        return machine.Done(self.command, said["code"], out, err)

    def is_over(self):
        return self.done.is_set()

    def signal(self, number):
        self.guest.send({"id": self.number, "signal": int(number)})


class Guest(machine.Machine):
    """Starts to boot when it is made; wait_boot() says when it obeys. 'nics' are pairs of -device's text and
    of -netdev's, each without its id. 'login': a further NIC, by which this machine and nobody else reaches it, and
    memory that both have."""

    def __init__(self, name, folder, kernel_folder, initrd, nics, memory_mib=2048, iommu=True, hugepages=0,
                 login=False):
        super().__init__(name)
        self.folder = tempfile.mkdtemp(prefix=f"{name}-", dir=folder)
        self.boot = Order(self, 0, "boot", BOOT_SECONDS)
        self.orders, self.number, self.lock = {0: self.boot}, 0, threading.Lock()
        self.ends = {name: listen(self.path(name)) for name in ("qmp", "agent")}
        # setpriv: no guest outlives the test, however that ends.
        self.process = subprocess.Popen(
            ["setpriv", "--pdeathsig", "KILL", "--"] +
            self.arguments(kernel_folder, initrd, nics, memory_mib, iommu, hugepages) +
            (self.login_arguments() if login else []), stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=open(self.path("qemu.log"), "w"), start_new_session=True)
        self.monitor = self.channel = None

    def path(self, name):
        return os.path.join(self.folder, name)

    def arguments(self, kernel_folder, initrd, nics, memory_mib, iommu, hugepages):
        # On a busy host the kernel's trial of its timer ends in a panic: the timer is QEMU's and works.
        words = ["panic=-1", "no_timer_check", "console=ttyS0", "quiet", "loglevel=4", *clock_words(),
                 "mitigations=off", "nokaslr",
                 "random.trust_cpu=on", "audit=0", f"hugepages={hugepages}",
                 "intel_iommu=on" if iommu else "intel_iommu=off"]
        arguments = ["qemu-system-x86_64", "-name", f"weft-{self.name}", "-nodefaults", "-no-user-config",
                     "-display", "none", "-no-reboot",
                     "-accel", os.environ.get("WEFT_MACHINES_ACCEL", "tcg,thread=multi"), "-cpu",
                     os.environ.get("WEFT_MACHINES_CPU", CPU), "-smp", "1", "-m", str(memory_mib),
                     "-machine", "q35,kernel-irqchip=split" if "kvm" in os.environ.get("WEFT_MACHINES_ACCEL", "")
                     else "q35",
                     "-kernel", os.path.join(kernel_folder, "vmlinuz"), "-initrd", initrd,
                     "-append", " ".join(words),
                     "-serial", f"file:{self.path('console.log')}",
                     "-qmp", f"unix:{self.path('qmp')}"]
        if iommu:
            arguments += ["-device", "intel-iommu,intremap=on,aw-bits=48"]
        arguments += ["-fsdev", "local,id=root,path=/,security_model=none,readonly=on,multidevs=remap",
                      "-device", "virtio-9p-pci,fsdev=root,mount_tag=machine",
                      "-device", "virtio-serial-pci",
                      "-chardev", f"socket,id=agent,path={self.path('agent')}",
                      "-device", "virtserialport,chardev=agent,name=weft.agent"]
        for i, (device, netdev) in enumerate(nics):
            place = f"bus=port{i}"
            if re.search("disable-modern=on|rtl8139", device): # no PCI Express device
                place = f"bus=pcie.0,addr={FIRST_SLOT + i:#x}"
            else:
                arguments += ["-device", f"pcie-root-port,id=port{i},chassis={i + 1},addr={FIRST_SLOT + i:#x}"]
            arguments += ["-netdev", f"{netdev},id=net{i}",
                          "-device", f"{device},id=nic{i},netdev=net{i},{place},romfile="]
        return arguments

    def login_arguments(self):
        return ["-netdev", f"user,id=login,restrict=on,hostfwd=tcp:127.0.0.1:0-{LOGIN_ADDRESS}:{LOGIN_PORT}",
                "-device", f"virtio-net-pci,netdev=login,bus=pcie.0,addr={LOGIN_SLOT:#x},romfile=",
                "-object", f"memory-backend-file,id=shared,mem-path={self.shared_here()},size=1M,share=on",
                "-device", f"ivshmem-plain,memdev=shared,bus=pcie.0,addr={SHARED_SLOT:#x}"]

    def shared_here(self):
        """The file of the memory that the guest has, too, at shared_there()."""
        return self.path("shared")

    def shared_there(self):
        device = f"/sys/bus/pci/devices/0000:00:{SHARED_SLOT:02x}.0"
        self.must(f"echo 1 > {device}/enable")
        return f"{device}/resource2"

    def login_port(self):
        """The port of 127.0.0.1 that leads to it."""
        shown = self.monitor.ask("human-monitor-command", **{"command-line": "info usernet"})
        found = re.search(r"TCP\[HOST_FORWARD\]\s+\d+\s+127\.0\.0\.1\s+(\d+)", shown)
        if found is None:
            raise machine.Broken(f"{self.name}: QEMU forwards no port: {shown}")
        return int(found[1])

    def wait_boot(self):
        self.monitor = Monitor(self.ends["qmp"], self.process)
        self.channel = accept(self.ends["agent"], CONNECT_SECONDS, self.process)
        threading.Thread(target=self.read_answers, daemon=True).start()
        self.boot.wait()
        return self

    def reset(self):
        """As its button does it. Whatever ran in it has no answer. wait_back() says when it obeys again."""
        self.boot = Order(self, 0, "boot after a reset", BOOT_SECONDS)
        with self.lock:
            left, self.orders = self.orders, {0: self.boot}
        self.monitor.ask("set-action", reboot="reset")
        self.monitor.ask("system_reset")
        for order in left.values():
            order.answer(None)

    def wait_back(self):
        self.boot.wait()
        self.monitor.ask("set-action", reboot="shutdown")

    def read_answers(self):
        for line in self.channel.makefile("rb"):
            said = json.loads(line)
            with self.lock:
                order = self.orders.pop(said["id"], None)
            if order is not None:
                order.answer(said)
        with self.lock:
            left, self.orders = self.orders, {}
        for order in left.values(): # QEMU has gone: nobody waits any longer
            order.answer(None)

    def send(self, order):
        with self.lock:
            self.channel.sendall(json.dumps(order).encode() + b"\n")

    def new_order(self, command, seconds):
        with self.lock:
            self.number += 1
            order = self.orders[self.number] = Order(self, self.number, command, seconds)
        return order

    def start(self, command, data=b"", seconds=60):
        order = self.new_order(command, seconds)
        self.send({"id": order.number, "command": command, "seconds": seconds,
                   "input": base64.b64encode(data).decode()})
        return order

    def clock_ahead(self):
        """Seconds that its clock is ahead of this machine's, from the best of some questions: the answer's time is taken
        for the middle of its way."""
        best = (float("inf"), 0)
        for _ in range(10):
            asked = time.time()
            order = self.new_order("clock", 10)
            self.send({"id": order.number, "clock": True})
            there = order.wait()["clock"]
            took = time.time() - asked
            best = min(best, (took, there - asked - took / 2))
        return best[1]

    def nic_addresses(self, count):
        """PCI addresses of the NICs, in the order of 'nics': each behind its port, or in its place."""
        slots = " ".join(f"0000:00:{FIRST_SLOT + i:02x}.0" for i in range(count))
        shown = self.must("cd /sys/devices/pci0000:00; for slot in " + slots +
                          "; do ls -d $slot/0000:??:??.? 2>/dev/null || echo $slot; done")
        return [line.split("/")[-1] for line in shown.split()]

    def last_words(self):
        """The last lines of the console and of QEMU."""
        text = ""
        for name in ("qemu.log", "console.log"):
            if os.path.exists(self.path(name)):
                with open(self.path(name), errors="replace") as file:
                    text += "".join(f"  {self.name} {name}: {line}\n" for line in file.read().splitlines()[-8:])
        return text

    def end(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()

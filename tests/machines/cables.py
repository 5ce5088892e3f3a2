# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""Cables between NICs of guests: a frame is a datagram to a unix socket.

QEMU looks the address of the other end up by its path for each frame that it sends, and the path is a
symbolic link: pulling a plug and putting it elsewhere is a link that is replaced. Nothing waits for
anything that is not there, unlike with QEMU's 'stream'. Carrier is the monitor's set_link.
"""
import ctypes
import os
import subprocess

CLONE_NEWNET = 0x40000000


class Plug:
    """The end of a cable in NIC number 'nic' of a guest that is called 'name'."""

    def __init__(self, folder, name, nic):
        self.name, self.nic, self.guest = name, nic, None
        self.socket = os.path.join(folder, f"{name}.{nic}")
        self.far = self.socket + ".far"

    def netdev(self):
        """For -netdev, without its id."""
        return (f"dgram,local.type=unix,local.path={self.socket},"
                f"remote.type=unix,remote.path={self.far}")

    def lead_to(self, other):
        new = self.far + ".new"
        os.symlink(other.socket, new)
        os.replace(new, self.far)

    def carrier(self, is_there):
        self.guest.monitor.ask("set_link", name=f"nic{self.nic}", up=is_there)


class BridgePort(Plug):
    """The same in a bridge of this program's network namespace, to which all cables lead."""

    def __init__(self, folder, name, nic):
        super().__init__(folder, name, nic)
        self.tap = f"{name}-{nic}"
        ip("tuntap", "add", "dev", self.tap, "mode", "tap")
        ip("link", "set", self.tap, "mtu", "9000", "up", "master", "bridge")

    def netdev(self):
        return f"tap,ifname={self.tap},script=no,downscript=no"

    def lead_to(self, other):
        """Nothing to do: the bridge learns where an address is."""


def ip(*words):
    subprocess.run(["ip", *words], check=True, stdin=subprocess.DEVNULL)


def make_bridge():
    """A Linux bridge that learns addresses, in a network namespace that ends with this program."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(CLONE_NEWNET) != 0:
        raise OSError(ctypes.get_errno(), "no network namespace")
    ip("link", "add", "bridge", "mtu", "9000", "type", "bridge")
    ip("link", "set", "bridge", "up")


class Cable:
    def __init__(self, a, b):
        self.a, self.b = a, b
        self.join()

    def join(self):
        self.a.lead_to(self.b)
        self.b.lead_to(self.a)

    def carrier(self, is_there):
        for plug in (self.a, self.b):
            plug.carrier(is_there)


def swap(first, second):
    """Exchanges the far ends of two cables, as hands do it: pulled, put elsewhere, carrier again."""
    for cable in (first, second):
        cable.carrier(False)
    first.b, second.b = second.b, first.b
    for cable in (first, second):
        cable.join()
    for cable in (first, second):
        cable.carrier(True)

# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""Cables between NICs of guests: a frame is a datagram to a unix socket.

QEMU looks the address of the other end up by its path for each frame that it sends, and the path is a
symbolic link: pulling a plug and putting it elsewhere is a link that is replaced. Nothing waits for
anything that is not there, unlike with QEMU's 'stream'. Carrier is the monitor's set_link.
"""
import os


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

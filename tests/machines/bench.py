# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""Where the cases run: machines, which part of the fabric each has, and the cables between them.

Three guests: m0 has the switch s0 with four NICs, m1 the hosts h0 and h1, m2 the hosts h2 and h3. One
machine: the cable from h0 to s0 leads from one of its NICs to another one, and h1 is beside them.
"""
import os
import tempfile

import cables
import guest
import initramfs
import kernel
import machine

HERE = os.path.dirname(os.path.abspath(__file__))


class Site:
    """A machine and the processes of the lab that run on it, each by the name of a device of it;
    'all' of them: no --process is needed."""

    def __init__(self, where, processes, all_of_them=False):
        self.machine, self.processes, self.all = where, processes, all_of_them

    def has_hosts(self):
        return any(name.startswith("h") for name in self.processes)


class Bench:
    """'sites'; 'hosts' of the fabric; 'groups', text of the lab file; 'links', what cables without a NIC
    are made of; 'ports', PCI addresses by port; 'edges', two hosts that programs talk through; 'cables' by
    the switch's port, where there is somebody to pull them."""

    def __init__(self, sites, hosts, groups, links, ports, edges, pulled):
        self.sites, self.hosts, self.groups, self.links = sites, hosts, groups, links
        self.ports, self.edges, self.cables = ports, edges, pulled

    def site_of(self, device):
        """The machine with the process that is named after this device."""
        return next(site for site in self.sites if device in site.processes)

    def process_of(self, device):
        """It is named after the first device of its group."""
        return next((hosts[0] for hosts in self.groups.values() if device in hosts), device)

    def site_of_host(self, host):
        return self.site_of(self.process_of(host))


class Guests:
    """Some guests that boot at the same time; all of them end with the 'with' block. 'login': servers as they are before
    anybody has prepared them."""

    def __init__(self, driver, weft, counts, login=False, plug=cables.Plug):
        self.driver, self.weft, self.counts, self.login, self.plug = driver, weft, counts, login, plug
        self.folder = self.guests = self.plugs = None

    def __enter__(self):
        kernel_folder = kernel.files()
        self.folder = tempfile.TemporaryDirectory(prefix="weft-machines-")
        initrd = os.path.join(self.folder.name, "initrd")
        initramfs.write(initrd, os.path.join(HERE, "guest_agent.py"), kernel.LOGIN_MODULES if self.login else (),
                        systemd=self.login)
        self.plugs = {name: [self.plug(self.folder.name, name, nic) for nic in range(count)]
                      for name, count in self.counts.items()}
        self.guests = {}
        try:
            for name, plugs in self.plugs.items():
                self.guests[name] = guest.Guest(
                    name, self.folder.name, kernel_folder, initrd,
                    [(self.driver.device, plug.netdev()) for plug in plugs], iommu=self.driver.iommu,
                    hugepages=0 if self.login else self.driver.hugepages, login=self.login)
                for plug in plugs:
                    plug.guest = self.guests[name]
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for each in self.guests.values():
            each.end()
        self.folder.cleanup()

    def wait_boot(self):
        """Returns the PCI addresses of each guest's NICs, which are bound."""
        for each in self.guests.values():
            each.wait_boot()
        return {name: self.bind(name) for name in self.guests}

    def bind(self, name):
        """Returns the PCI addresses of the guest's NICs, which are bound until it is reset."""
        addresses = self.guests[name].nic_addresses(self.counts[name])
        self.driver.bind(self.guests[name], self.weft, addresses)
        return addresses


class ThreeGuests(Guests):
    def __init__(self, driver, weft, **plug):
        super().__init__(driver, weft, {"m0": 4, "m1": 2, "m2": 2}, **plug)

    def bench(self):
        plugs = self.plugs
        pulled = {f"s0:{i}": cables.Cable(plugs["m0"][i], plugs[f"m{1 + i // 2}"][i % 2])
                  for i in range(4)}
        addresses = self.wait_boot()
        ports = {f"s0:{i}": addresses["m0"][i] for i in range(4)}
        ports.update({f"h{i}:0": addresses[f"m{1 + i // 2}"][i % 2] for i in range(4)})
        sites = [Site(self.guests["m0"], ["s0"]), Site(self.guests["m1"], ["h0"]),
                 Site(self.guests["m2"], ["h2"])]
        return Bench(sites, 4, {"left": ["h0", "h1"], "right": ["h2", "h3"]}, "dpdk", ports,
                     ("h0", "h2"), pulled)


def one_machine(where, switch_port, host_port, pulled):
    return Bench([Site(where, ["s0", "h0", "h1"], all_of_them=True)], 2, {"first": ["h0"], "second": ["h1"]},
                 "veth", {"s0:0": switch_port, "h0:0": host_port}, ("h0", "h1"), pulled)


class OneGuest(Guests):
    """A guest in the place of a real machine with two ports cabled to each other."""

    def __init__(self, driver, weft):
        super().__init__(driver, weft, {"m0": 2})

    def bench(self):
        plugs = self.plugs["m0"]
        pulled = {"s0:0": cables.Cable(*plugs)}
        ports = self.wait_boot()["m0"]
        return one_machine(self.guests["m0"], *ports, pulled)


class RealMachine:
    """This machine, with two NICs that are cabled to each other and bound to the driver that DPDK
    wants."""

    def __init__(self, addresses):
        self.addresses = addresses

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def bench(self):
        return one_machine(machine.Local("this"), *self.addresses, {})

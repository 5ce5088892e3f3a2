# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""The drivers of DPDK's that QEMU has NICs for, and what each needs of its guest."""


class Driver:
    def __init__(self, name, device, kernel_driver="vfio-pci", hugepages=0, eal=()):
        self.name, self.device, self.kernel_driver = name, device, kernel_driver
        self.hugepages, self.eal = hugepages, list(eal)

    @property
    def iommu(self):
        return self.kernel_driver == "vfio-pci"

    def bind(self, machine, weft, addresses):
        """Gives the NICs to the kernel driver that DPDK wants them to have. Guests have virtio_pci without
        virtio_net, so a NIC may have a driver and no interface, which bind takes only with --force."""
        machine.must(f"{weft} port bind --force --driver {self.kernel_driver} {' '.join(addresses)}")
        for address in addresses:
            machine.must(f"test $(basename $(readlink /sys/bus/pci/devices/{address}/driver)) = {self.kernel_driver}")


# Without an IOMMU DPDK needs to know where its memory is: hugepages. virtio devices go round an IOMMU
# unless they are told not to.
DRIVERS = {driver.name: driver for driver in (
    Driver("e1000e", "e1000e", hugepages=256),
    Driver("vmxnet3", "vmxnet3"),
    Driver("virtio-modern", "virtio-net-pci,disable-legacy=on,iommu_platform=on"),
    Driver("virtio-legacy", "virtio-net-pci,disable-modern=on", "uio_pci_generic", hugepages=512),
)}

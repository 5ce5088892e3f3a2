# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""The guests' kernel and the first program they run: Debian's packages, downloaded and unpacked into a
cache, never installed."""
import glob
import hashlib
import os
import re
import shutil
import subprocess
import tarfile
import tempfile

# All that a guest may load, with what it depends on; the folders are those of the kernel's tree.
MODULES = ["virtio_pci", "9pnet_virtio", "9p", "overlay", "virtio_console", "tun", "veth", "vfio-pci",
           "vfio_iommu_type1", "uio_pci_generic"]
# For guests with a login: the driver of its NIC, which others do without, so that no NIC of a lab has an interface.
LOGIN_MODULES = ["virtio_net"]
FOLDERS = re.compile(r"/kernel/(drivers/(virtio|vfio|uio)/|drivers/char/virtio_console"
                     r"|drivers/net/(tun|veth|virtio_net|net_failover)\."
                     r"|net/9p/|net/core/failover|fs/(9p|netfs|fscache|overlayfs)/|virt/lib/|lib/)")


class Missing(Exception):
    """This machine lacks something that the guests need."""


def cache_folder():
    """One for each list of modules."""
    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    wanted = hashlib.sha256(repr((MODULES, LOGIN_MODULES, FOLDERS.pattern)).encode()).hexdigest()[:12]
    return os.path.join(base, "weft", f"machines-{wanted}")


def package_name():
    """The package of the kernel that linux-image-amd64 stands for today."""
    shown = subprocess.run(["apt-cache", "depends", "linux-image-amd64"], capture_output=True, text=True,
                           timeout=60, check=False)
    found = re.search(r"Depends: (linux-image-\d\S*)", shown.stdout)
    if not found:
        raise Missing("apt knows no linux-image-amd64: apt-get update, or a Debian machine, is needed")
    return found[1]


def download(package, folder):
    """The path of the package's file, which is put into the folder."""
    done = subprocess.run(["apt-get", "-qq", "download", package], cwd=folder, capture_output=True, text=True,
                          timeout=600, stdin=subprocess.DEVNULL, check=False)
    found = glob.glob(os.path.join(folder, f"{package}_*.deb"))
    if done.returncode != 0 or not found:
        said = (done.stderr.strip().splitlines() or ["no message"])[-1]
        raise Missing(f"package {package} cannot be downloaded: {said}")
    return found[0]


def unpack(package_file, folder, wanted):
    """Writes the members of whose names 'wanted' is true, without their folders."""
    with subprocess.Popen(["dpkg-deb", "--fsys-tarfile", package_file], stdout=subprocess.PIPE) as reader:
        with tarfile.open(fileobj=reader.stdout, mode="r|") as archive:
            for member in archive:
                if member.isfile() and wanted(member.name):
                    with open(os.path.join(folder, os.path.basename(member.name)), "wb") as file:
                        shutil.copyfileobj(archive.extractfile(member), file)
    if reader.returncode != 0:
        raise Missing(f"{package_file} cannot be unpacked")


def fill(folder):
    image = download(package_name(), folder)
    unpack(image, folder, lambda name: "/boot/vmlinuz-" in name
           or (name.endswith(".ko") and FOLDERS.search(name)))
    os.remove(image)
    os.rename(glob.glob(os.path.join(folder, "vmlinuz-*"))[0], os.path.join(folder, "vmlinuz"))
    shell = download("busybox-static", folder)
    unpack(shell, folder, lambda name: name.endswith("/bin/busybox"))
    os.remove(shell)


def files():
    """A folder with vmlinuz, busybox and *.ko. It is filled at the first call of this machine, which
    needs the network, and whole whenever it is there."""
    folder = cache_folder()
    if os.path.exists(os.path.join(folder, "vmlinuz")):
        return folder
    for program in ("apt-cache", "apt-get", "dpkg-deb"):
        if shutil.which(program) is None:
            raise Missing(f"{program} is not installed, which the guests' kernel comes by")
    os.makedirs(os.path.dirname(folder), exist_ok=True)
    with tempfile.TemporaryDirectory(dir=os.path.dirname(folder)) as new:
        fill(new)
        os.chmod(new, 0o755)
        if os.path.isdir(folder):
            shutil.rmtree(folder)
        shutil.copytree(new, folder)
    return folder


def module_order(folder, names):
    """File names of the modules named and of all that they depend on, in an order in which they can be loaded."""
    present = {os.path.basename(path)[:-3].replace("-", "_"): path
               for path in glob.glob(os.path.join(folder, "*.ko"))}
    order = []

    def add(name):
        path = present.get(name.replace("-", "_"))
        if path is None: # built in
            return
        if path in order:
            return
        with open(path, "rb") as file:
            depends = re.search(rb"\0depends=([^\0]*)\0", file.read())
        for other in depends[1].decode().split(",") if depends else []:
            if other:
                add(other)
        order.append(path)

    for name in names:
        add(name)
    return order

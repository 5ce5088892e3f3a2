/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Messages about PCI devices. The test provides /sys and /proc. */

#include "port/pci_fault.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "needs.h"

#define ADDRESS "0000:3b:00.0"
#define DEVICE  "/sys/bus/pci/devices/" ADDRESS

static char root[] = "/tmp/weft-pci-XXXXXX";

static void run(const char *format, const char *what)
{
	char command[512];

	snprintf(command, sizeof(command), format, root, what);
	assert_int_equal(system(command), 0);
}

static void make_folder(const char *path)
{
	run("mkdir -p %s%s", path);
}

static void make_file(const char *path, const char *text)
{
	char full[512];
	FILE *file;

	snprintf(full, sizeof(full), "%s%s", root, path);
	file = fopen(full, "w");
	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

static void make_link(const char *path, const char *target)
{
	char full[512];

	snprintf(full, sizeof(full), "%s%s", root, path);
	unlink(full);
	assert_int_equal(symlink(target, full), 0);
}

/* A NIC bound to 'driver' ("" for none), in IOMMU group 7. */
static void make_nic(const char *driver)
{
	char target[128];

	make_folder(DEVICE);
	make_file(DEVICE "/class", "0x020000\n");
	make_folder("/sys/kernel/iommu_groups/7");
	make_link(DEVICE "/iommu_group", "../../../kernel/iommu_groups/7");
	if (driver[0] == '\0')
		return;
	snprintf(target, sizeof(target), "../../../bus/pci/drivers/%s", driver);
	make_link(DEVICE "/driver", target);
}

static int set_up(void **state)
{
	strcpy(root, "/tmp/weft-pci-XXXXXX");
	return mkdtemp(root) == NULL;
}

static int tear_down(void **state)
{
	run("rm -r %s%s", "");
	return 0;
}

/* The message contains the port and 'part', and is one line. */
static void says(const char *log, int code, const char *part)
{
	const struct pci_failure failure = {.root = root,
		.port = "s0:1",
		.address = ADDRESS,
		.log = log,
		.memory_bytes = UINT64_C(300) << 20};
	struct error error = {""};

	assert_int_equal(pci_fault(&failure, &error), -code);
	assert_ptr_equal(strstr(error.text, "s0:1: "), error.text);
	assert_null(strchr(error.text, '\n'));
	if (strstr(error.text, part) == NULL)
		fail_msg("'%s' does not say '%s'", error.text, part);
}

UNIT_WITH(a_device_that_is_not_there_is_named, set_up, tear_down)
{
	says(NULL, ENODEV, "no PCI device " ADDRESS " in this machine");
}

UNIT_WITH(a_device_that_is_no_nic_is_called_so, set_up, tear_down)
{
	make_nic("ahci");
	make_file(DEVICE "/class", "0x010601\n");
	says(NULL, ENODEV, "is not a network interface (class 0x010601)");
}

UNIT_WITH(a_device_of_the_kernel_is_to_be_bound_to_vfio, set_up, tear_down)
{
	make_nic("e1000e");
	says(NULL, ENODEV,
		"is bound to the kernel driver e1000e; bind it to vfio-pci with 'weft port bind " ADDRESS
		"'");
}

UNIT_WITH(without_an_iommu_nobody_is_sent_to_bind_it_to_vfio, set_up, tear_down)
{
	make_nic("e1000e");
	run("rm -r %s%s", "/sys/kernel/iommu_groups/7");
	says(NULL, ENODEV, "vfio-pci cannot use it: this machine's IOMMU is off");
}

UNIT_WITH(a_device_of_another_process_names_that_process, set_up, tear_down)
{
	make_nic("vfio-pci");
	make_folder("/proc/4242/fd");
	make_file("/proc/4242/comm", "testpmd\n");
	make_link("/proc/4242/fd/9", "/dev/vfio/7");
	says("EAL: Cannot open /dev/vfio/7: Device or resource busy\n", EBUSY,
		"is used by DPDK process 4242 (testpmd)");
}

UNIT_WITH(a_busy_device_of_a_process_that_cannot_be_seen_is_said_to_be_busy, set_up, tear_down)
{
	make_nic("vfio-pci");
	says("EAL: Cannot open /dev/vfio/7: Device or resource busy\n", EBUSY,
		"is used by another process (/dev/vfio/7 is open)");
}

UNIT_WITH(missing_permission_names_the_file, set_up, tear_down)
{
	make_nic("vfio-pci");
	says("EAL: Cannot open /dev/vfio/7: Permission denied\n", EPERM,
		"no permission for /dev/vfio/7");
}

UNIT_WITH(memory_that_cannot_be_locked_is_not_called_a_missing_permission, set_up, tear_down)
{
	make_nic("vfio-pci");
	says("EAL: Cannot set up DMA remapping, error 12 (Cannot allocate memory)\n", ENOMEM,
		"300 MiB");
}

UNIT_WITH(a_group_that_the_kernel_shares_is_told_apart, set_up, tear_down)
{
	make_nic("vfio-pci");
	says("EAL: " ADDRESS " VFIO group is not viable! Not all devices in IOMMU group bound\n",
		ENODEV, "shares IOMMU group 7 with a device that is still bound");
}

UNIT_WITH(uio_without_physical_addresses_asks_for_hugepages, set_up, tear_down)
{
	need_root();
	make_nic("uio_pci_generic");
	says("EAL:   Expecting 'PA' IOVA mode but current mode is 'VA', not initializing\n", ENODEV,
		"provide hugepages");
}

UNIT_WITH(what_nobody_foresaw_is_said_in_the_words_of_dpdk, set_up, tear_down)
{
	make_nic("vfio-pci");
	says("eth_foo_dev_init(): the firmware is too old\nmore\n", ENODEV,
		"(vfio-pci) is not usable: the firmware is too old");
}

UNIT_WITH(a_nic_that_no_driver_of_dpdk_takes_is_said_to_have_none, set_up, tear_down)
{
	make_nic("vfio-pci");
	says("EAL: Driver cannot attach the device (" ADDRESS ")\n"
	     "EAL: Failed to attach device on primary process\n",
		ENODEV, "(vfio-pci) is not usable: DPDK has no driver for it");
}

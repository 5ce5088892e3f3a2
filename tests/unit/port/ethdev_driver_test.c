/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Which driver's needs are taken into account before EAL has probed a device. The test provides a
 * /sys. */

#include "port/ethdev_private.h"

#include "unit.h"

static char root[] = "/tmp/weft-ethdev-XXXXXX";

static int set_up(void **state)
{
	strcpy(root, "/tmp/weft-ethdev-XXXXXX");
	return mkdtemp(root) == NULL;
}

static int tear_down(void **state)
{
	char command[64];

	snprintf(command, sizeof(command), "rm -r %s", root);
	return system(command);
}

static void make_nic(const char *address, const char *vendor)
{
	char command[256];

	snprintf(command, sizeof(command),
		"mkdir -p %s/sys/bus/pci/devices/%s && echo %s > %s/sys/bus/pci/devices/%s/vendor",
		root, address, vendor, root, address);
	assert_int_equal(system(command), 0);
}

UNIT_WITH(the_device_of_another_vendor_needs_no_buffers_of_powers_of_two, set_up, tear_down)
{
	make_nic("0000:3b:00.0", "0x15ad");
	assert_false(ethdev_driver_guess(root, "0000:3b:00.0")->buffers_are_powers);
	assert_false(ethdev_driver_guess(root, "3b:00.0")->buffers_are_powers);
}

UNIT_WITH(a_device_of_intel_may_need_them, set_up, tear_down)
{
	make_nic("0000:3b:00.0", "0x8086");
	assert_true(ethdev_driver_guess(root, "3b:00.0")->buffers_are_powers);
}

UNIT_WITH(a_device_of_which_nothing_is_known_may_need_them, set_up, tear_down)
{
	assert_true(ethdev_driver_guess(root, "0000:3b:00.0")->buffers_are_powers);
	assert_true(ethdev_driver_guess(root, "")->buffers_are_powers);
}

UNIT_WITH(a_virtual_device_is_known_by_its_name, set_up, tear_down)
{
	assert_true(ethdev_driver_guess(root, "net_memif0,role=server")->is_virtual);
}

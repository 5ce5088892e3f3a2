/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "os/hugepages.h"

#include "unit.h"

static char root[32];

static int set_up(void **state)
{
	strcpy(root, "/tmp/weft-huge-XXXXXX");
	return mkdtemp(root) == NULL;
}

static int tear_down(void **state)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -r %s", root);
	return system(command);
}

static void have(unsigned long kib, const char *free_pages)
{
	char command[512];

	snprintf(command, sizeof(command),
		"d=%s/sys/kernel/mm/hugepages/hugepages-%lukB; mkdir -p $d; echo %s "
		">$d/free_hugepages",
		root, kib, free_pages);
	assert_int_equal(system(command), 0);
}

UNIT_WITH(pages_of_all_sizes_are_added_up, set_up, tear_down)
{
	have(2048, "10");
	have(1048576, "2");
	assert_int_equal(hugepages_free_bytes(root), (UINT64_C(2) << 30) + (UINT64_C(20) << 20));
}

UNIT_WITH(a_kernel_without_hugepages_has_none, set_up, tear_down)
{
	assert_int_equal(hugepages_free_bytes(root), 0);
}

UNIT_WITH(a_number_that_cannot_be_read_is_none, set_up, tear_down)
{
	have(2048, "many");
	assert_int_equal(hugepages_free_bytes(root), 0);
}

UNIT_TEST(the_lock_can_be_taken_again_when_it_is_free)
{
	int lock = hugepages_lock();

	hugepages_unlock(lock);
	assert_int_equal(hugepages_lock() >= 0, lock >= 0);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "base/arrays.h"
#include "base/file_text.h"

#include <unistd.h>

#include "unit.h"

struct owner {
	uint64_t *first;
	uint32_t *second;
	struct arrays arrays;
};

UNIT_TEST(arrays_are_zeroed_aligned_and_never_null)
{
	struct owner owner = {0};

	for (unsigned count = 0; count < 100; count++) {
		ARRAYS_ADD(&owner, first, count);
		ARRAYS_ADD(&owner, second, count);
		assert_non_null(owner.first);
		assert_non_null(owner.second);
		assert_int_equal(0, (uintptr_t)owner.second % _Alignof(max_align_t));
		for (unsigned i = 0; i < count; i++)
			assert_int_equal(0, owner.first[i] + owner.second[i]);
	}
	assert_false(owner.arrays.failed);
	arrays_free(&owner.arrays);
	assert_null(owner.arrays.last);
}

UNIT_TEST(an_array_without_memory_is_remembered)
{
	struct owner owner = {0};

	assert_null(ARRAYS_ADD(&owner, first, SIZE_MAX));
	assert_null(ARRAYS_ADD(&owner, first, SIZE_MAX / sizeof(*owner.first)));
	assert_non_null(ARRAYS_ADD(&owner, second, 1));
	assert_true(owner.arrays.failed);
	arrays_free(&owner.arrays);
	assert_false(owner.arrays.failed);
}

UNIT_TEST(an_array_keeps_its_elements_while_it_grows)
{
	uint32_t *number = NULL, room = 0, grown = 0;

	for (uint32_t i = 0; i < 10000; i++) {
		uint32_t before = room;

		assert_true(array_reserve(&number, &room, i + 1u, sizeof(*number)));
		assert_true(room > i);
		grown += room != before;
		number[i] = i;
	}
	for (uint32_t i = 0; i < 10000; i++)
		assert_int_equal(i, number[i]);
	assert_in_range(grown, 1, 14);
	free(number);
}

UNIT_TEST(an_array_that_cannot_grow_is_unchanged)
{
	uint8_t *byte = NULL;
	uint32_t room = 0;

	assert_true(array_reserve(&byte, &room, 100, 1));
	assert_int_equal(100, room);
	byte[99] = 7;
	assert_false(array_reserve(&byte, &room, (size_t)UINT32_MAX + 1, 1));
	assert_false(array_reserve(&byte, &room, UINT32_MAX, SIZE_MAX / 2));
	assert_int_equal(100, room);
	assert_int_equal(7, byte[99]);
	free(byte);
}

/* Elements without bytes take no memory. */
UNIT_TEST(an_array_grows_beyond_half_of_the_largest_room)
{
	uint32_t room = (uint32_t)1 << 31;
	void *array = NULL;

	assert_true(array_reserve(&array, &room, (size_t)room + 1, 0));
	assert_int_equal(UINT32_MAX, room);
	assert_false(array_reserve(&array, &room, (size_t)UINT32_MAX + 1, 0));
	free(array);
}

/* Arrays of 1 MiB or more are in a file, if there is space for one. */
UNIT_TEST(an_array_that_outgrows_memory_keeps_its_contents)
{
	const char *const folder[] = {"/var/tmp", "/nowhere"};

	for (unsigned i = 0; i < 2; i++) {
		uint64_t *array = NULL;
		uint32_t room = 0, before;

		setenv("TMPDIR", folder[i], 1);
		assert_true(array_reserve_spill(&array, &room, 100, sizeof(*array)));
		array[99] = 7;
		assert_true(array_reserve_spill(&array, &room, 9u << 20, sizeof(*array)));
		before = room;
		array[before - 1] = 8;
		assert_true(array_reserve_spill(&array, &room, before + 1, sizeof(*array)));
		assert_int_equal(7, array[99]);
		assert_int_equal(8, array[before - 1]);
		spill_free(array);
	}
	unsetenv("TMPDIR");
}

/* Returns whether the kernel reads ahead in the mapping that has this array in its first page. */
static bool is_read_ahead(const void *array)
{
	FILE *maps = fopen("/proc/self/smaps", "r");
	uintptr_t page = (uintptr_t)array & ~(uintptr_t)(sysconf(_SC_PAGESIZE) - 1);
	char line[512], start[32];

	snprintf(start, sizeof(start), "%lx-", (unsigned long)page);
	while (fgets(line, sizeof(line), maps) != NULL && strncmp(line, start, strlen(start)) != 0)
		;
	while (fgets(line, sizeof(line), maps) != NULL && strncmp(line, "VmFlags:", 8) != 0)
		;
	fclose(maps);
	return strstr(line, " sr") != NULL;
}

UNIT_TEST(the_kernel_reads_ahead_only_in_an_array_that_is_read_in_order)
{
	void *array = spill_zeroed(2, 1 << 20);

	assert_false(is_read_ahead(array));
	spill_read_in_order(array);
	assert_true(is_read_ahead(array));
	spill_free(array);
}

UNIT_TEST(the_text_of_a_large_file_is_read_in_order)
{
	char path[] = "/var/tmp/weft-text-XXXXXX";
	struct error error;
	size_t length;
	char *text;
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, 2 << 20), 0);
	close(fd);
	text = file_text_read_spill(path, SIZE_MAX, &length, &error);
	unlink(path);
	assert_non_null(text);
	assert_int_equal(length, 2 << 20);
	assert_true(is_read_ahead(text));
	spill_free(text);
}

/* A file in tmpfs takes memory for its whole size immediately. */
UNIT_TEST(an_array_is_not_in_a_file_of_tmpfs)
{
	FILE *maps;
	char line[512];
	void *array;

	setenv("TMPDIR", "/dev/shm", 1);
	array = spill_zeroed(65, 1 << 20);
	unsetenv("TMPDIR");
	assert_non_null(array);
	maps = fopen("/proc/self/maps", "r");
	while (fgets(line, sizeof(line), maps) != NULL)
		assert_null(strstr(line, "/dev/shm/"));
	fclose(maps);
	spill_free(array);
}

UNIT_TEST(arrays_that_spill_are_zeroed)
{
	struct owner owner = {.arrays.spills = true};

	ARRAYS_ADD(&owner, first, 9u << 20);
	ARRAYS_ADD(&owner, second, 1);
	assert_int_equal(0, owner.first[0] | owner.first[(9u << 20) - 1] | owner.second[0]);
	assert_null(ARRAYS_ADD(&owner, first, SIZE_MAX));
	arrays_free(&owner.arrays);
}

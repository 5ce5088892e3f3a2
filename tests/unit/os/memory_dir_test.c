/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "needs.h"
#include "os/private_dir.h"

static const char *const patterns[] = {"l*.ring", NULL};
static char dir[32], memory[48];

static int setup(void **state)
{
	snprintf(dir, sizeof(dir), "/tmp/weft-memory-XXXXXX");
	assert_non_null(mkdtemp(dir));
	snprintf(memory, sizeof(memory), "%s/memory", dir);
	return 0;
}

static int teardown(void **state)
{
	memory_dir_remove(dir, patterns, NULL);
	return rmdir(dir);
}

static void make_file(const char *name)
{
	char path[80];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", memory, name);
	fd = open(path, O_RDWR | O_CREAT | O_EXCL, 0600);
	assert_true(fd >= 0);
	close(fd);
}

#define CLAIM(name) UNIT_WITH(name, setup, teardown)

CLAIM(folder_is_private_and_in_memory_where_that_is_possible)
{
	struct statfs shm, found;
	struct stat status;

	assert_int_equal(memory_dir_make(dir, NULL), 0);
	assert_int_equal(stat(memory, &status), 0);
	assert_int_equal(status.st_mode, S_IFDIR | 0700);
	assert_int_equal(statfs(memory, &found), 0);
	if (statfs("/dev/shm", &shm) == 0 && shm.f_type == TMPFS_MAGIC)
		assert_int_equal(found.f_type, TMPFS_MAGIC);
}

CLAIM(run_directory_in_memory_holds_the_folder_itself)
{
	char run_dir[] = "/dev/shm/weft-memory-XXXXXX", path[48];
	struct statfs shm;
	struct stat status;

	if (statfs("/dev/shm", &shm) < 0 || shm.f_type != TMPFS_MAGIC)
		skip_because("/dev/shm is not in memory here");
	assert_non_null(mkdtemp(run_dir));
	assert_int_equal(memory_dir_make(run_dir, NULL), 0);
	snprintf(path, sizeof(path), "%s/memory", run_dir);
	assert_int_equal(lstat(path, &status), 0);
	assert_int_equal(status.st_mode, S_IFDIR | 0700);
	assert_int_equal(memory_dir_remove(run_dir, patterns, NULL), 0);
	assert_int_equal(rmdir(run_dir), 0);
}

CLAIM(second_process_gets_the_same_folder)
{
	struct stat first, second;

	assert_int_equal(memory_dir_make(dir, NULL), 0);
	assert_int_equal(stat(memory, &first), 0);
	assert_int_equal(memory_dir_make(dir, NULL), 0);
	assert_int_equal(stat(memory, &second), 0);
	assert_int_equal(first.st_ino, second.st_ino);
}

CLAIM(folder_that_has_vanished_is_made_again)
{
	char target[64];
	ssize_t length;

	assert_int_equal(memory_dir_make(dir, NULL), 0);
	length = readlink(memory, target, sizeof(target) - 1);
	target[length > 0 ? length : 0] = '\0';
	assert_int_equal(rmdir(length > 0 ? target : memory), 0);
	assert_int_equal(memory_dir_make(dir, NULL), 0);
	make_file("l0.ring");
}

CLAIM(removal_leaves_neither_link_nor_folder)
{
	char target[64] = "";
	struct stat status;

	assert_int_equal(memory_dir_make(dir, NULL), 0);
	make_file("l0.ring");
	make_file("l17.ring");
	if (readlink(memory, target, sizeof(target) - 1) < 0)
		snprintf(target, sizeof(target), "%s", memory);
	assert_int_equal(memory_dir_remove(dir, patterns, NULL), 0);
	assert_int_equal(lstat(memory, &status), -1);
	assert_int_equal(lstat(target, &status), -1);
	assert_int_equal(memory_dir_remove(dir, patterns, NULL), 0);
}

CLAIM(folder_that_cannot_be_removed_is_found_again)
{
	struct stat status;
	struct error error;
	char path[80];

	assert_int_equal(memory_dir_make(dir, NULL), 0);
	make_file("unknown");
	assert_true(memory_dir_remove(dir, patterns, &error) < 0);
	assert_int_equal(stat(memory, &status), 0);
	snprintf(path, sizeof(path), "%s/unknown", memory);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(memory_dir_remove(dir, patterns, NULL), 0);
	assert_int_equal(lstat(memory, &status), -1);
}

CLAIM(folder_of_a_link_that_others_can_change_is_refused)
{
	char open_folder[] = "/tmp/weft-open-XXXXXX";
	struct error error;

	assert_non_null(mkdtemp(open_folder));
	assert_int_equal(chmod(open_folder, 0777), 0);
	assert_int_equal(symlink(open_folder, memory), 0);
	assert_int_equal(memory_dir_make(dir, &error), -EPERM);
	assert_int_equal(unlink(memory), 0);
	assert_int_equal(rmdir(open_folder), 0);
}

CLAIM(run_directory_that_is_missing_is_an_error)
{
	struct error error;

	assert_int_equal(memory_dir_make("/nonexist/run", &error), -ENOENT);
}

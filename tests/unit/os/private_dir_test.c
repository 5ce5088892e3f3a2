/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "os/private_dir.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "needs.h"

#define OTHER 12345 /* a user who need not exist on this machine */

static char root[32], path[64];
static struct error error;

static int set_up(void **state)
{
	strcpy(root, "/tmp/weft-own-XXXXXX");
	if (mkdtemp(root) == NULL)
		return 1;
	snprintf(path, sizeof(path), "%s/folder", root);
	error.text[0] = '\0';
	return 0;
}

static int tear_down(void **state)
{
	char command[64];

	snprintf(command, sizeof(command), "rm -r %s", root);
	return system(command);
}

static const char *below(const char *name)
{
	static char at[128];

	snprintf(at, sizeof(at), "%s/%s", root, name);
	return at;
}

static void make_file(const char *at)
{
	int fd = open(at, O_WRONLY | O_CREAT | O_EXCL, 0600);

	assert_true(fd >= 0);
	close(fd);
}

static void is_refused(int result, const char *why)
{
	assert_int_equal(result, -EPERM);
	if (strstr(error.text, why) == NULL)
		fail_msg("'%s' is not in '%s'", why, error.text);
}

#define CASE(name) UNIT_WITH(name, set_up, tear_down)

CASE(a_new_folder_is_for_its_user_alone)
{
	struct stat status;

	assert_int_equal(private_dir_make(path, &error), 0);
	assert_int_equal(stat(path, &status), 0);
	assert_int_equal(status.st_mode & 07777, 0700);
	assert_int_equal(private_dir_make(path, &error), 0);
}

CASE(a_missing_folder_is_told_from_a_refused_one)
{
	assert_int_equal(private_dir_check(path, &error), -ENOENT);
}

CASE(a_link_is_no_folder)
{
	assert_int_equal(symlink("/tmp", path), 0);
	is_refused(private_dir_make(path, &error), "is a symbolic link, not a folder");
}

CASE(a_file_is_no_folder)
{
	make_file(path);
	is_refused(private_dir_make(path, &error), "is not a folder");
}

CASE(a_folder_that_others_may_write_into_is_refused)
{
	assert_int_equal(mkdir(path, 0700), 0);
	assert_int_equal(chmod(path, 0770), 0);
	is_refused(private_dir_make(path, &error), "is writable by other users (mode 770)");
	assert_int_equal(chmod(path, 01707), 0);
	is_refused(private_dir_make(path, &error), "is writable by other users (mode 1707)");
}

/* Even as root, because the processes of a lab lack the privilege to pass them. */
CASE(a_folder_that_its_user_cannot_enter_is_refused)
{
	char inner[128];

	assert_int_equal(mkdir(path, 0700), 0);
	snprintf(inner, sizeof(inner), "%s/inner", path);
	assert_int_equal(mkdir(inner, 0700), 0);
	assert_int_equal(private_dir_check(inner, &error), 0);
	assert_int_equal(chmod(inner, 0500), 0);
	is_refused(private_dir_check(inner, &error), "(mode 500); run 'chmod u+rwx ");
	assert_int_equal(chmod(inner, 0700), 0);
	need_root(); /* others cannot even look into it */
	assert_int_equal(chmod(path, 0600), 0);
	is_refused(private_dir_check(inner, &error), "(mode 600); run 'chmod u+rwx ");
}

CASE(a_folder_of_another_user_is_refused)
{
	need_root();
	assert_int_equal(mkdir(path, 0700), 0);
	assert_int_equal(chown(path, OTHER, OTHER), 0);
	is_refused(
		private_dir_make(path, &error), "belongs to user 12345, but must belong to user 0");
}

CASE(a_folder_in_one_that_others_can_change_is_refused)
{
	assert_int_equal(mkdir(path, 0700), 0);
	assert_int_equal(chmod(root, 0707), 0);
	is_refused(private_dir_check(path, &error), "is writable by other users (mode 707)");
	assert_int_equal(chmod(root, 01707), 0); /* as /tmp */
	assert_int_equal(private_dir_check(path, &error), 0);
}

CASE(a_folder_in_one_of_another_user_is_refused)
{
	need_root();
	assert_int_equal(mkdir(path, 0700), 0);
	assert_int_equal(chown(root, OTHER, OTHER), 0);
	is_refused(private_dir_check(path, &error),
		"belongs to user 12345, but must belong to user 0");
}

/* The user may redirect it after the check. */
CASE(a_way_over_a_link_of_another_user_is_refused)
{
	char folder[192];

	need_root();
	assert_int_equal(mkdir(below("real"), 0700), 0);
	assert_int_equal(mkdir(below("real/folder"), 0700), 0);
	assert_int_equal(symlink("real", below("link")), 0);
	snprintf(folder, sizeof(folder), "%s/folder", below("link"));
	assert_int_equal(private_dir_check(folder, &error), 0);
	assert_int_equal(lchown(below("link"), OTHER, OTHER), 0);
	is_refused(private_dir_check(folder, &error),
		"link belongs to user 12345, but must belong to user 0");
}

CASE(a_link_does_not_hide_a_folder_that_others_can_change)
{
	char folder[192];

	assert_int_equal(mkdir(below("real"), 0700), 0);
	assert_int_equal(mkdir(below("real/folder"), 0700), 0);
	assert_int_equal(symlink("real", below("link")), 0);
	assert_int_equal(chmod(below("real"), 0777), 0);
	snprintf(folder, sizeof(folder), "%s/folder", below("link"));
	is_refused(private_dir_check(folder, &error), "real is writable by other users");
}

CASE(only_files_with_our_names_are_removed)
{
	static const char *const ours[] = {"one", "two.*", NULL};
	char at[96];

	assert_int_equal(private_dir_make(path, &error), 0);
	for (unsigned i = 0; i < 3; i++) {
		snprintf(at, sizeof(at), "%s/%s", path,
			i == 0   ? "one"
			: i == 1 ? "two.3"
				 : "other");
		make_file(at);
	}
	assert_int_equal(private_dir_remove(path, ours, &error), -ENOTEMPTY);
	assert_int_equal(access(at, F_OK), 0);
	assert_int_equal(unlink(at), 0);
	assert_int_equal(private_dir_remove(path, ours, &error), 0);
	assert_int_equal(private_dir_remove(path, ours, &error), 0); /* gone */
}

CASE(nothing_is_removed_through_a_link)
{
	static const char *const ours[] = {"one", NULL};

	assert_int_equal(mkdir(below("real"), 0700), 0);
	make_file(below("real/one"));
	assert_int_equal(symlink("real", path), 0);
	is_refused(private_dir_remove(path, ours, &error), "is a symbolic link");
	assert_int_equal(access(below("real/one"), F_OK), 0);
}

CASE(nothing_is_removed_from_the_folder_of_another_user)
{
	static const char *const ours[] = {"one", NULL};

	need_root();
	assert_int_equal(mkdir(path, 0700), 0);
	make_file(below("folder/one"));
	assert_int_equal(chown(path, OTHER, OTHER), 0);
	is_refused(private_dir_remove(path, ours, &error), "belongs to user 12345");
	assert_int_equal(access(below("folder/one"), F_OK), 0);
}

CASE(a_file_of_ones_own_is_trusted_unless_others_may_write_it)
{
	make_file(path);
	assert_int_equal(private_file_check(path, &error), 0);
	assert_int_equal(chmod(path, 0644), 0);
	assert_int_equal(private_file_check(path, &error), 0);
	assert_int_equal(chmod(path, 0664), 0);
	is_refused(private_file_check(path, &error), "is writable by other users (mode 664)");
}

CASE(a_file_of_another_user_is_not_trusted)
{
	need_root();
	make_file(path);
	assert_int_equal(chown(path, OTHER, OTHER), 0);
	is_refused(private_file_check(path, &error),
		"belongs to user 12345, but must belong to user 0");
}

CASE(a_file_in_a_folder_that_others_can_change_is_not_trusted)
{
	make_file(path);
	assert_int_equal(chmod(root, 0770), 0);
	is_refused(private_file_check(path, &error), "is writable by other users (mode 770)");
}

CASE(a_file_behind_a_link_is_judged_where_it_is)
{
	assert_int_equal(mkdir(below("real"), 0700), 0);
	make_file(below("real/file"));
	assert_int_equal(symlink("real/file", path), 0);
	assert_int_equal(private_file_check(path, &error), 0);
	assert_int_equal(chmod(below("real"), 0777), 0);
	is_refused(private_file_check(path, &error), "real is writable by other users");
}

CASE(a_file_behind_a_link_of_another_user_is_not_trusted)
{
	need_root();
	make_file(path);
	assert_int_equal(symlink("folder", below("link")), 0);
	assert_int_equal(private_file_check(below("link"), &error), 0);
	assert_int_equal(lchown(below("link"), OTHER, OTHER), 0);
	is_refused(private_file_check(below("link"), &error), "link belongs to user 12345");
}

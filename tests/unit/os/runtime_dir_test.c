/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "os/private_dir.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "needs.h"

static unsigned user; /* that no other process uses, and this one has not used */
static char expected_base[32];

static int set_up(void **state)
{
	user = (user == 0 ? 100000 + 16 * (unsigned)getpid() : user + 1);
	snprintf(expected_base, sizeof(expected_base), "/tmp/weft-%u", user);
	return unsetenv("RUNTIME_DIRECTORY") + unsetenv("XDG_RUNTIME_DIR");
}

static int tear_down(void **state)
{
	char command[64];

	snprintf(command, sizeof(command), "rm -rf %s", expected_base);
	return system(command);
}

/* In a child, which exits with the result. */
static int as_user(int (*run)(void))
{
	pid_t pid = fork();
	int status;

	if (pid == 0)
		_exit(setuid(user) == 0 ? run() : 99);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static bool base_is(const char *expected)
{
	char path[RUNTIME_DIR_MAX];

	runtime_dir_base(path);
	return strcmp(path, expected) == 0;
}

static int has_a_folder_in_tmp(void)
{
	char labs[RUNTIME_DIR_MAX], dpdk[RUNTIME_DIR_MAX];
	size_t length = strlen(expected_base);

	runtime_dir_labs(labs);
	runtime_dir_path("x", dpdk);
	if (!base_is(expected_base) || strncmp(labs, expected_base, length) != 0 ||
		strncmp(dpdk, expected_base, length) != 0)
		return 1;
	return strcmp(labs + length, "/weft") != 0 || strcmp(dpdk + length, "/dpdk/x") != 0;
}

#define CASE(name) UNIT_WITH(name, set_up, tear_down)

CASE(a_user_without_a_session_has_a_folder_of_his_own_in_tmp)
{
	need_root();
	assert_int_equal(as_user(has_a_folder_in_tmp), 0);
}

static int has_the_folder_of_the_session(void)
{
	setenv("XDG_RUNTIME_DIR", "/run/user/12345", 1);
	return !base_is("/run/user/12345");
}

CASE(a_user_with_a_session_has_its_folder)
{
	need_root();
	assert_int_equal(as_user(has_the_folder_of_the_session), 0);
}

/* After su, the folder belongs to another user. */
CASE(root_has_run_whatever_the_session)
{
	need_root();
	setenv("XDG_RUNTIME_DIR", "/run/user/12345", 1);
	assert_true(base_is("/run"));
}

CASE(the_folder_of_a_service_comes_first)
{
	setenv("RUNTIME_DIRECTORY", "/run/bench", 1);
	assert_true(base_is("/run/bench"));
}

static int prepares_its_folder(void)
{
	char dpdk[64];
	struct error error;
	struct stat status;

	snprintf(dpdk, sizeof(dpdk), "%s/dpdk", expected_base);
	if (runtime_dir_prepare(&error) != 0 || stat(dpdk, &status) != 0)
		return 1;
	if ((status.st_mode & 07777) != 0700 || status.st_uid != user)
		return 2;
	return strcmp(getenv("RUNTIME_DIRECTORY"), expected_base) != 0;
}

CASE(dpdk_is_told_of_the_folder)
{
	need_root();
	assert_int_equal(as_user(prepares_its_folder), 0);
}

static int is_refused_the_folder_of_root(void)
{
	char expected[96];
	struct error error;

	if (runtime_dir_prepare(&error) != -EPERM)
		return 1;
	snprintf(expected, sizeof(expected), "%s belongs to user 0, but must belong to user %u",
		expected_base, user);
	return strcmp(error.text, expected) != 0;
}

CASE(a_folder_that_another_user_made_first_is_refused)
{
	need_root();
	assert_int_equal(mkdir(expected_base, 0700), 0);
	assert_int_equal(chmod(expected_base, 0755), 0);
	assert_int_equal(as_user(is_refused_the_folder_of_root), 0);
}

CASE(a_link_in_the_place_of_dpdks_folder_is_refused)
{
	char folder[] = "/tmp/weft-base-XXXXXX", link[64];
	struct error error;

	assert_non_null(mkdtemp(folder));
	snprintf(link, sizeof(link), "%s/dpdk", folder);
	assert_int_equal(symlink("/tmp", link), 0);
	setenv("RUNTIME_DIRECTORY", folder, 1);
	assert_int_equal(runtime_dir_prepare(&error), -EPERM);
	assert_non_null(strstr(error.text, "dpdk is a symbolic link"));
	unlink(link);
	rmdir(folder);
}

CASE(only_files_of_dpdk_are_removed)
{
	static const char *const names[] = {"dpdk_telemetry.v2", "mp_socket_1_2", "mine"};
	char folder[] = "/tmp/weft-dpdk-XXXXXX", path[96];

	assert_non_null(mkdtemp(folder));
	for (unsigned i = 0; i < 3; i++) {
		snprintf(path, sizeof(path), "%s/%s", folder, names[i]);
		close(open(path, O_WRONLY | O_CREAT, 0600));
	}
	assert_int_equal(runtime_dir_remove(folder), -ENOTEMPTY);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(runtime_dir_remove(folder), 0);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "private_dir.h"

#include <dirent.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "netns.h"

#define OTHERS_WRITE (S_IWGRP | S_IWOTH)

static int refuse(struct error *error, const char *path, const struct stat *status)
{
	if (status->st_uid != geteuid() && status->st_uid != 0)
		return error_set(error, EPERM,
			"%s belongs to user %u, but must belong to user "
			"%u%s",
			path, (unsigned)status->st_uid, (unsigned)geteuid(),
			geteuid() == 0 ? "" : " or root");
	return error_set(error, EPERM, "%s is writable by other users (mode %03o)", path,
		(unsigned)status->st_mode & 07777);
}

/* --- folders above --- */

/* In an unsafe folder, another user could rename entries or redirect a symbolic link. */
static bool is_safe_above(const struct stat *status)
{
	if (status->st_uid != 0 && status->st_uid != geteuid())
		return false;
	return S_ISLNK(status->st_mode) || (status->st_mode & OTHERS_WRITE) == 0 ||
	       (status->st_mode & S_ISVTX) != 0;
}

/* Root can use any folder, but a process that has dropped this privilege cannot. */
static int check_entry(
	const char *path, const struct stat *status, mode_t wanted, struct error *error)
{
	if (!S_ISDIR(status->st_mode) || status->st_uid != geteuid() ||
		(status->st_mode & wanted) == wanted)
		return 0;
	return error_set(error, EPERM,
		"%s cannot be used by its owner (mode %03o); run 'chmod u+rwx %s'", path,
		(unsigned)status->st_mode & 07777, path);
}

static int check_step(const char *path, struct error *error)
{
	struct stat status;

	if (lstat(path, &status) < 0)
		return error_set(error, errno, "%s: %s", path, strerror(errno));
	return is_safe_above(&status) ? check_entry(path, &status, S_IXUSR, error)
				      : refuse(error, path, &status);
}

/* Checks each folder and link above the last component of 'path', from the top. */
static int check_steps(const char *path, struct error *error)
{
	char step[PATH_MAX];
	int result = path[0] == '/' ? check_step("/", error) : 0;

	if (snprintf(step, sizeof(step), "%s", path) >= (int)sizeof(step))
		return error_set(error, ENAMETOOLONG, "%s: %s", path, strerror(ENAMETOOLONG));
	for (char *slash = step; result == 0 && (slash = strchr(slash + 1, '/')) != NULL;) {
		*slash = '\0';
		result = check_step(step, error);
		*slash = '/';
	}
	return result;
}

/* Checks the targets of links and the folders above the working directory in the same manner. */
static int check_resolved(const char *path, struct error *error)
{
	const char *slash = strrchr(path, '/');
	char folder[PATH_MAX], whole[PATH_MAX + 2];

	snprintf(folder, sizeof(folder), "%.*s", slash == NULL ? 1 : (int)(slash - path) + 1,
		slash == NULL ? "." : path);
	if (realpath(folder, whole) == NULL)
		return error_set(error, errno, "%s: %s", folder, strerror(errno));
	return check_steps(strcat(whole, "/"), error);
}

int private_dir_check_way(const char *path, struct error *error)
{
	int result = check_steps(path, error);

	return result == 0 ? check_resolved(path, error) : result;
}

/* --- folders --- */

static int open_itself(const char *path, struct error *error)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), code = errno;
	struct stat status;

	if (fd >= 0)
		return fd;
	if (lstat(path, &status) == 0 && !S_ISDIR(status.st_mode))
		return error_set(error, EPERM, "%s is %s", path,
			S_ISLNK(status.st_mode) ? "a symbolic link, not a folder" : "not a folder");
	return error_set(error, code, "%s: %s", path, strerror(code));
}

int private_dir_open(const char *path, struct error *error)
{
	int fd = open_itself(path, error), result;
	struct stat status;

	if (fd < 0)
		return fd;
	if (fstat(fd, &status) < 0)
		result = error_set(error, errno, "%s: %s", path, strerror(errno));
	else if (status.st_uid != geteuid())
		result = error_set(error, EPERM,
			"%s belongs to user %u, but must belong to user "
			"%u",
			path, (unsigned)status.st_uid, (unsigned)geteuid());
	else if ((status.st_mode & OTHERS_WRITE) != 0)
		result = refuse(error, path, &status);
	else
		result = check_entry(path, &status, S_IRWXU, error);
	if (result == 0)
		result = private_dir_check_way(path, error);
	if (result == 0)
		return fd;
	close(fd);
	return result;
}

int private_dir_check(const char *path, struct error *error)
{
	int fd = private_dir_open(path, error);

	if (fd < 0)
		return fd;
	close(fd);
	return 0;
}

int private_dir_make(const char *path, struct error *error)
{
	if (mkdir(path, 0700) < 0 && errno != EEXIST)
		return error_set(error, errno, "%s: cannot be created: %s", path, strerror(errno));
	return private_dir_check(path, error);
}

static bool matches(const char *name, const char *const *patterns)
{
	for (; *patterns != NULL; patterns++)
		if (fnmatch(*patterns, name, FNM_PERIOD) == 0)
			return true;
	return false;
}

int private_dir_remove(const char *path, const char *const *patterns, struct error *error)
{
	int fd = private_dir_open(path, error);
	const struct dirent *entry;
	DIR *dir;

	if (fd < 0)
		return fd == -ENOENT ? 0 : fd;
	dir = fdopendir(fd);
	if (dir == NULL) {
		close(fd);
		return error_set(error, ENOMEM, "%s: out of memory", path);
	}
	while ((entry = readdir(dir)) != NULL)
		if (matches(entry->d_name, patterns))
			unlinkat(fd, entry->d_name, 0);
	closedir(dir);
	if (rmdir(path) == 0 || errno == ENOENT)
		return 0;
	return error_set(error, errno, "%s: cannot be removed: %s", path, strerror(errno));
}

/* --- files --- */

int private_file_check(const char *path, struct error *error)
{
	char whole[PATH_MAX];
	struct stat status;
	int result = private_dir_check_way(path, error);

	if (result == 0)
		result = check_step(path, error); /* it may be a link */
	if (result < 0)
		return result;
	if (realpath(path, whole) == NULL || stat(whole, &status) < 0)
		return error_set(error, errno, "%s: %s", path, strerror(errno));
	if ((status.st_uid != 0 && status.st_uid != geteuid()) ||
		(status.st_mode & OTHERS_WRITE) != 0)
		return refuse(error, whole, &status);
	return check_steps(whole, error);
}

#define SHARED_MEMORY "/dev/shm"

static bool is_in_memory(const char *path)
{
	struct statfs status;

	return statfs(path, &status) == 0 && status.f_type == TMPFS_MAGIC &&
	       access(path, W_OK) == 0;
}

/* Reads the target of a symbolic link. Returns false if 'path' is not a link. */
static bool read_link(const char *path, char target[PATH_MAX])
{
	ssize_t length = readlink(path, target, PATH_MAX - 1);

	target[length > 0 ? length : 0] = '\0';
	return length > 0;
}

/* Creates the link before the folder, so that a process killed in between leaves no folder without
 * a link. The random part of the folder's name comes from a temporary file next to the link.
 * Another process may have created the link in the meantime. */
static int link_fresh(const char *path, struct error *error)
{
	char target[PATH_MAX], name[PATH_MAX];
	int fd, result = 0;

	snprintf(name, sizeof(name), "%s-XXXXXX", path);
	fd = mkstemp(name);
	if (fd < 0)
		return error_set(error, errno, "%s: cannot be created: %s", name, strerror(errno));
	close(fd);
	snprintf(target, sizeof(target), SHARED_MEMORY "/weft-%u-%s", (unsigned)geteuid(),
		name + strlen(path) + 1);
	if (symlink(target, path) != 0 && errno != EEXIST)
		result = error_set(error, errno, "%s: %s", path, strerror(errno));
	unlink(name);
	return result;
}

int memory_dir_make(const char *run_dir, struct error *error)
{
	char path[PATH_MAX], target[PATH_MAX];
	int result = 0;

	snprintf(path, sizeof(path), "%s/" MEMORY_DIR, run_dir);
	if (is_in_memory(run_dir) || !is_in_memory(SHARED_MEMORY))
		return private_dir_make(path, error);
	if (!read_link(path, target))
		result = link_fresh(path, error);
	if (result < 0)
		return result;
	return read_link(path, target) ? private_dir_make(target, error)
				       : private_dir_make(path, error);
}

int memory_dir_remove(const char *run_dir, const char *const *patterns, struct error *error)
{
	char path[PATH_MAX], target[PATH_MAX];
	int result;

	snprintf(path, sizeof(path), "%s/" MEMORY_DIR, run_dir);
	if (!read_link(path, target))
		return private_dir_remove(path, patterns, error);
	result = private_dir_remove(target, patterns, error);
	if (result == 0)
		unlink(path);
	return result;
}

#define VARIABLE   "RUNTIME_DIRECTORY" /* also read by DPDK */
#define NETNS_NOTE "netns-"

/* Returns the base folder from the environment, or /run for root; NULL: use /tmp/weft-UID. */
static const char *given_base(void)
{
	const char *base = getenv(VARIABLE);

	if (base != NULL && base[0] != '\0')
		return base;
	if (geteuid() == 0)
		return "/run";
	base = getenv("XDG_RUNTIME_DIR");
	return base != NULL && base[0] != '\0' ? base : NULL;
}

void runtime_dir_base(char path[RUNTIME_DIR_MAX])
{
	const char *given = given_base();

	if (given != NULL)
		snprintf(path, RUNTIME_DIR_MAX, "%s", given);
	else
		snprintf(path, RUNTIME_DIR_MAX, "/tmp/weft-%u", (unsigned)geteuid());
}

static void path_below(const char *folder, const char *name, char path[RUNTIME_DIR_MAX])
{
	char base[RUNTIME_DIR_MAX];

	runtime_dir_base(base);
	if (snprintf(path, RUNTIME_DIR_MAX, "%s/%s%s%s", base, folder, name[0] != '\0' ? "/" : "",
		    name) >= RUNTIME_DIR_MAX)
		path[RUNTIME_DIR_MAX - 1] = '\0';
}

void runtime_dir_path(const char *prefix, char path[RUNTIME_DIR_MAX])
{
	path_below("dpdk", prefix, path);
}

void runtime_dir_labs(char path[RUNTIME_DIR_MAX])
{
	path_below("weft", "", path);
}

static int runtime_dir_make_base(struct error *error)
{
	char base[RUNTIME_DIR_MAX];

	if (given_base() != NULL)
		return 0;
	runtime_dir_base(base);
	return private_dir_make(base, error);
}

int runtime_dir_prepare(struct error *error)
{
	char base[RUNTIME_DIR_MAX], dpdk[RUNTIME_DIR_MAX];
	int result = runtime_dir_make_base(error);

	runtime_dir_base(base);
	path_below("dpdk", "", dpdk);
	if (result == 0)
		result = private_dir_make(dpdk, error);
	if (result == 0 && setenv(VARIABLE, base, 1) < 0)
		result = error_set(error, ENOMEM, "out of memory");
	return result;
}

static void note_path(const char *path, const char *name, char note[2 * RUNTIME_DIR_MAX])
{
	snprintf(note, 2 * RUNTIME_DIR_MAX, "%s/" NETNS_NOTE "%s", path, name);
}

int runtime_dir_add_netns(const char *path, const char *name, struct error *error)
{
	char note[2 * RUNTIME_DIR_MAX], made[RUNTIME_DIR_MAX];
	int fd, result;

	snprintf(made, sizeof(made), NETNS_DIR "/%s", name);
	if (access(made, F_OK) == 0)
		return -EEXIST;
	note_path(path, name, note);
	fd = open(note, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0)
		return error_set(error, errno, "%s: %s", note, strerror(errno));
	close(fd);
	result = netns_create(name, error);
	if (result < 0)
		unlink(note);
	return result;
}

void runtime_dir_drop_netns(const char *path, const char *name)
{
	char note[2 * RUNTIME_DIR_MAX];

	netns_remove(name, NULL);
	note_path(path, name, note);
	unlink(note);
}

static void drop_all_netns(const char *path)
{
	const size_t before = strlen(NETNS_NOTE);
	const struct dirent *entry;
	int fd = private_dir_open(path, NULL);
	DIR *folder = fd >= 0 ? fdopendir(fd) : NULL;

	while (folder != NULL && (entry = readdir(folder)) != NULL)
		if (strncmp(entry->d_name, NETNS_NOTE, before) == 0)
			runtime_dir_drop_netns(path, entry->d_name + before);
	if (folder != NULL)
		closedir(folder);
}

bool runtime_dir_keep_netns(const char *path, const char *name)
{
	char note[2 * RUNTIME_DIR_MAX];

	note_path(path, name, note);
	return unlink(note) == 0;
}

int runtime_dir_remove(const char *path)
{
	/* Created by the EAL and telemetry libraries of DPDK 22.11. */
	static const char *const names[] = {"config", "dpdk_telemetry.v*", "fbarray_*",
		"hugepage_data", "hugepage_info", "mp_socket*", NULL};

	drop_all_netns(path);
	return private_dir_remove(path, names, NULL);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "private_dir.h"

#include <dirent.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define OTHERS_WRITE (S_IWGRP | S_IWOTH)

static int refuse(struct error *error, const char *path, const struct stat *status)
{
	if (status->st_uid != geteuid() && status->st_uid != 0)
		return error_set(error, EPERM, "%s belongs to user %u, expected %u%s", path,
			(unsigned)status->st_uid, (unsigned)geteuid(),
			geteuid() == 0 ? "" : " or root");
	return error_set(error, EPERM, "%s is writable by other users (mode %03o)", path,
		(unsigned)status->st_mode & 07777);
}

/* --- the way to it --- */

/* Another user could rename the entries of a folder that is not safe, or point a link elsewhere. */
static bool is_safe_above(const struct stat *status)
{
	if (status->st_uid != 0 && status->st_uid != geteuid())
		return false;
	return S_ISLNK(status->st_mode) || (status->st_mode & OTHERS_WRITE) == 0 ||
	       (status->st_mode & S_ISVTX) != 0;
}

/* Root may, but not the processes that give this privilege back. */
static int check_entry(
	const char *path, const struct stat *status, mode_t wanted, struct error *error)
{
	if (!S_ISDIR(status->st_mode) || status->st_uid != geteuid() ||
		(status->st_mode & wanted) == wanted)
		return 0;
	return error_set(error, EPERM,
		"%s cannot be used by its own user (mode %03o): 'chmod u+rwx %s'", path,
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

/* Each folder and link above the last name of 'path', from the top. */
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

/* The same for where links lead to, and above the working directory. */
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
		return error_set(error, EPERM, "%s is %s, expected a folder", path,
			S_ISLNK(status.st_mode) ? "a symbolic link" : "no folder");
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
		result = error_set(error, EPERM, "%s belongs to user %u, expected %u", path,
			(unsigned)status.st_uid, (unsigned)geteuid());
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
		return error_set(error, errno, "%s: cannot be made: %s", path, strerror(errno));
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
		return error_set(error, ENOMEM, "%s: no memory", path);
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
		result = check_step(path, error); /* may be a link */
	if (result < 0)
		return result;
	if (realpath(path, whole) == NULL || stat(whole, &status) < 0)
		return error_set(error, errno, "%s: %s", path, strerror(errno));
	if ((status.st_uid != 0 && status.st_uid != geteuid()) ||
		(status.st_mode & OTHERS_WRITE) != 0)
		return refuse(error, whole, &status);
	return check_steps(whole, error);
}

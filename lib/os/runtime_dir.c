/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "runtime_dir.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "netns.h"
#include "private_dir.h"

#define VARIABLE   "RUNTIME_DIRECTORY" /* DPDK reads it as well */
#define NETNS_NOTE "netns-"

/* NULL: none but /tmp/weft-UID. */
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

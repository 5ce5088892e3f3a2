/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "sweep_manifest.h"

#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "same_file.h"

/* The folder and those above it, as far as they are not there. */
static int make_folder(const char *path, struct fault *fault)
{
	char part[PATH_MAX];
	size_t length = strlen(path);

	if (length >= sizeof(part))
		return fault_set(fault, ENAMETOOLONG, "%s: %s", path, strerror(ENAMETOOLONG));
	memcpy(part, path, length + 1);
	for (size_t i = 1; i <= length; i++) {
		if (path[i] != '/' && path[i] != '\0')
			continue;
		part[i] = '\0';
		if (mkdir(part, 0777) < 0 && errno != EEXIST)
			return fault_set(fault, errno, "%s: the folder cannot be made: %s", part,
				strerror(errno));
		part[i] = path[i];
	}
	return 0;
}

int sweep_folder_open(const struct sweep *sweep, struct fault *fault)
{
	int fd = make_folder(sweep->folder, fault);

	if (fd < 0)
		return fd;
	fd = open(sweep->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return fault_set(fault, errno, "%s: %s", sweep->folder, strerror(errno));
	if (flock(fd, LOCK_EX | LOCK_NB) == 0)
		return fd;
	close(fd);
	return fault_set(fault, EBUSY, "%s: another sweep is running there", sweep->folder);
}

/* Refuses results without a manifest. */
static int refuse_strangers(const struct sweep *sweep, const json_t *asked, struct fault *fault)
{
	const char *file = sweep_manifest_find_point(sweep, asked);

	if (file == NULL)
		return 0;
	return fault_set(fault, EINVAL,
		"%s has %s, but no %s that says what it is a result of; --restart throws it away",
		sweep->folder, file, SWEEP_MANIFEST_NAME);
}

int sweep_folder_compare(
	const struct sweep *sweep, const json_t *there, const json_t *asked, struct fault *fault)
{
	struct fault why;

	if (sweep_manifest_compare(there, asked, &why) == 0)
		return 0;
	return fault_set(fault, EINVAL, "%s has another sweep: %.300s; --restart throws it away",
		sweep->folder, why.text);
}

/* The run file and the files that it names are not overwritten. */
static int check_outputs(const struct sweep *sweep, const json_t *asked, struct fault *fault)
{
	static const char *const names[] = {
		SWEEP_MANIFEST_NAME, "sweep.csv", "sweep-mean.csv", "sweep.json"};
	const char *input;
	json_t *sum;
	int result = 0;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) && result == 0; i++) {
		char path[PATH_MAX];

		sweep_path(sweep, names[i], path);
		result = same_file_refuse(path, sweep->run_file, fault);
		json_object_foreach(json_object_get(asked, "files"), input, sum)
		{
			if (result == 0)
				result = same_file_refuse(path, input, fault);
		}
	}
	return result;
}

int sweep_folder_settle(const struct sweep *sweep, const json_t *asked, struct fault *fault)
{
	struct fault why = {.text = ""};
	json_t *there;
	int result = check_outputs(sweep, asked, fault);

	if (result < 0)
		return result;
	there = sweep_manifest_read(sweep->folder, &why);
	if (sweep->restart) {
		sweep_manifest_remove_points(sweep, there);
		sweep_manifest_remove_points(sweep, asked);
	} else if (there != NULL) {
		result = sweep_folder_compare(sweep, there, asked, fault);
	} else if (why.text[0] != '\0') {
		result = fault_set(fault, EINVAL, "%.300s; --restart begins anew", why.text);
	} else {
		result = refuse_strangers(sweep, asked, fault);
	}
	json_decref(there);
	return result == 0 ? sweep_write_json(sweep, SWEEP_MANIFEST_NAME, asked, fault) : result;
}

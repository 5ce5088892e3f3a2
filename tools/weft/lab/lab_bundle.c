/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "lab_bundle.h"

#include <fcntl.h>
#include <limits.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file_text.h"
#include "lab_snapshot.h"
#include "os/private_dir.h"

#define NAMES_MAX 64          /* the maximum number of files that a lab file can name */
#define FILE_MAX  (64u << 20) /* maximum size of a file, in bytes */
#define LAB_FILE  "lab.yaml"

static char *hex_of(const char *bytes, size_t count)
{
	char *text = malloc(2 * count + 1);

	return text == NULL
		       ? NULL
		       : sodium_bin2hex(text, 2 * count + 1, (const unsigned char *)bytes, count);
}

/* Decodes hexadecimal digits. Returns NULL if the text is not hexadecimal, or if out of memory. */
static unsigned char *bytes_of(const char *text, size_t *count)
{
	size_t length = text != NULL ? strlen(text) : 1;
	unsigned char *bytes = malloc(length / 2 + 1);
	const char *end;

	if (bytes != NULL && length % 2 == 0 &&
		sodium_hex2bin(bytes, length / 2, text, length, NULL, count, &end) == 0 &&
		*end == '\0')
		return bytes;
	free(bytes);
	return NULL;
}

/* --- making it --- */

/* A path in the configuration, and the name that replaces it in the bundle. */
struct named {
	char **path;
	char *own; /* the original path, while '*path' is the name */
	char name[32];
};

struct names {
	struct named at[NAMES_MAX];
	unsigned count;
};

static void add_name(struct names *names, char **path, const char *name, unsigned number)
{
	struct named *named = &names->at[names->count];

	if (*path == NULL || names->count == NAMES_MAX)
		return;
	*named = (struct named){.path = path, .own = *path};
	snprintf(named->name, sizeof(named->name), "%s-%u", name, number);
	names->count++;
}

/* New kinds of files in lab files must be added here. */
static void find_names(struct run_config *run, struct names *names)
{
	names->count = 0;
	add_name(names, &run->mapper.key, "key", 0);
	if (run->mapper.expect != NULL && !topology_is_generated(run->mapper.expect))
		add_name(names, &run->mapper.expect, "expect", 0);
	add_name(names, &run->security.link_key.path, "link-key", 0);
	add_name(names, &run->routing.file, "routes", 0);
	add_name(names, &run->nic.iba_cc.opensm, "opensm", 0);
	for (uint32_t i = 0; i < run->traffic.count; i++) {
		add_name(names, &run->traffic.at[i].file, "traffic", i);
		add_name(names, &run->traffic.at[i].ranks, "ranks", i);
	}
}

static int add_bytes(
	json_t *files, const char *name, const char *bytes, size_t count, struct error *error)
{
	char *text = hex_of(bytes, count);
	int result = text == NULL || json_object_set_new(files, name, json_string(text)) != 0
			     ? error_set(error, ENOMEM, "out of memory")
			     : 0;

	free(text);
	return result;
}

static int add_files(const struct names *names, json_t *files, struct error *error)
{
	int result = 0;

	for (unsigned i = 0; i < names->count && result == 0; i++) {
		size_t count;
		char *bytes = file_text_read(names->at[i].own, FILE_MAX, &count, error);

		result = bytes == NULL ? -EINVAL
				       : add_bytes(files, names->at[i].name, bytes, count, error);
		free(bytes);
	}
	return result;
}

static int add_lab(const struct lab *lab, struct names *names, json_t *files, struct error *error)
{
	size_t length;
	char *text;
	int result;

	for (unsigned i = 0; i < names->count; i++)
		*names->at[i].path = names->at[i].name;
	text = lab_snapshot_text(lab, &length);
	for (unsigned i = 0; i < names->count; i++)
		*names->at[i].path = names->at[i].own;
	if (text == NULL)
		return error_set(error, ENOMEM, "out of memory");
	result = add_bytes(files, LAB_FILE, text, length, error);
	free(text);
	return result;
}

json_t *lab_bundle_make(const struct lab *lab, struct error *error)
{
	json_t *files = json_object();
	struct names names;
	int result;

	find_names(&lab->config->run, &names);
	result = add_files(&names, files, error);
	if (result == 0)
		result = add_lab(lab, &names, files, error);
	if (result == 0)
		return files;
	json_decref(files);
	return NULL;
}

/* --- keeping it --- */

void lab_bundle_dir(const char *run_dir, char *dir, size_t size)
{
	snprintf(dir, size, "%s.files", run_dir);
}

static bool is_name(const char *name)
{
	return name[0] != '\0' && name[0] != '.' && strlen(name) < 64 &&
	       name[strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789.-")] == '\0';
}

static int write_file(const char *dir, const char *name, const char *text, struct error *error)
{
	char path[PATH_MAX];
	size_t count;
	unsigned char *bytes = is_name(name) ? bytes_of(text, &count) : NULL;
	bool good;
	int fd;

	if (bytes == NULL)
		return error_set(error, EINVAL, "'%s': not a valid file of a lab", name);
	snprintf(path, sizeof(path), "%s/%s", dir, name);
	errno = 0; /* a short write sets none */
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
	good = fd >= 0 && write(fd, bytes, count) == (ssize_t)count;
	if (fd >= 0)
		good = close(fd) == 0 && good;
	free(bytes);
	return good ? 0
		    : error_set(error, errno != 0 ? errno : ENOSPC, "%s: %s", path,
			      strerror(errno != 0 ? errno : ENOSPC));
}

int lab_bundle_write(const char *run_dir, json_t *files, struct error *error)
{
	char dir[PATH_MAX];
	const char *name;
	json_t *text;
	int result = lab_bundle_remove(run_dir, error);

	lab_bundle_dir(run_dir, dir, sizeof(dir));
	if (result == 0 && json_object_get(files, LAB_FILE) == NULL)
		result = error_set(error, EINVAL, "the lab file is missing from the files");
	if (result == 0)
		result = lab_make_parents(dir, error);
	if (result == 0)
		result = private_dir_make(dir, error);
	json_object_foreach(files, name, text) {
		if (result == 0)
			result = write_file(dir, name, json_string_value(text), error);
	}
	return result;
}

static bool is_same(const char *path, const char *text)
{
	struct error ignored;
	size_t count;
	char *bytes = file_text_read(path, FILE_MAX, &count, &ignored);
	char *there = bytes != NULL ? hex_of(bytes, count) : NULL;
	bool same = there != NULL && text != NULL && strcmp(there, text) == 0;

	free(bytes);
	free(there);
	return same;
}

int lab_bundle_compare(const char *run_dir, json_t *files, struct error *error)
{
	char dir[PATH_MAX - 80], path[PATH_MAX];
	const char *name;
	json_t *text;

	lab_bundle_dir(run_dir, dir, sizeof(dir));
	if (access(dir, F_OK) != 0)
		return 0;
	json_object_foreach(files, name, text) {
		snprintf(path, sizeof(path), "%s/%s", dir, name);
		if (!is_same(path, json_string_value(text)))
			return error_set(error, EINVAL,
				"the lab is up there with a different %s; 'weft lab up --restart "
				"LAB.yaml' takes it down and applies the file",
				name);
	}
	return 0;
}

int lab_bundle_remove(const char *run_dir, struct error *error)
{
	static const char *const names[] = {LAB_FILE, "key-*", "expect-*", "link-key-*", "routes-*",
		"opensm-*", "traffic-*", "ranks-*", NULL};
	char dir[PATH_MAX];

	lab_bundle_dir(run_dir, dir, sizeof(dir));
	return private_dir_remove(dir, names, error);
}

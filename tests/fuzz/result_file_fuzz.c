/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Reads result files, and parts of results from the processes of a lab. Refused input gives a
 * one-line reason that starts with the file name. */

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/result_file.h"
#include "experiment/result/run_result.h"
#include "fuzz.h"

static void read_part(const uint8_t *data, size_t size)
{
	json_t *part = json_loadb((const char *)data, size, 0, NULL);
	struct run_result *result = calloc(1, sizeof(*result));

	REQUIRE(result != NULL);
	if (part != NULL)
		run_result_add_part(result, part);
	run_result_free(result);
	free(result);
	json_decref(part);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct error error = {""};
	char path[32];
	json_t *result;
	int fd = memfd_create("fuzz", MFD_CLOEXEC);

	REQUIRE(fd >= 0 && write(fd, data, size) == (ssize_t)size);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	result = result_file_load(path, &error);
	if (result == NULL) {
		REQUIRE(strncmp(error.text, path, strlen(path)) == 0);
		REQUIRE(strchr(error.text, '\n') == NULL);
	} else {
		const char *format = json_string_value(json_object_get(result, "weft"));

		REQUIRE(format != NULL && strcmp(format, "result/1") == 0);
	}
	json_decref(result);
	close(fd);
	read_part(data, size);
	return 0;
}

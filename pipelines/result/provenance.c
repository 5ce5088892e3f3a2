/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "run_result.h"

#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>

#include "file_text.h"

#define COMMAND_MAX (1u << 20)

/* The kernel keeps the words as they were, each with a zero behind it. Words that are no UTF-8 are
 * left out: JSON cannot have them. */
static json_t *command_json(void)
{
	json_t *words = json_array();
	size_t length = 0;
	char *text = file_text_read("/proc/self/cmdline", COMMAND_MAX, &length, NULL);

	for (size_t at = 0; text != NULL && at < length; at += strlen(text + at) + 1)
		json_array_append_new(words, json_string(text + at));
	free(text);
	return words;
}

static json_t *time_json(void)
{
	time_t now = time(NULL);
	struct tm utc;
	char text[32];

	if (gmtime_r(&now, &utc) == NULL ||
		strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &utc) == 0)
		return json_null();
	return json_string(text);
}

void provenance_add(json_t *object)
{
	struct utsname system;

	json_object_set_new(object, "version", json_string(WEFT_VERSION));
	json_object_set_new(object, "command", command_json());
	json_object_set_new(
		object, "host", uname(&system) == 0 ? json_string(system.nodename) : json_null());
	json_object_set_new(object, "written", time_json());
}

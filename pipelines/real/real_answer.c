/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Answers to commands that outlast a telemetry request. */

#include <jansson.h>
#include <stdio.h>

#include "real_private.h"

void real_answer(const char *path, const char *error)
{
	char part[TELEMETRY_CONTROL_MAX + 8];
	json_t *json = json_object();

	snprintf(part, sizeof(part), "%s.part", path);
	if (error != NULL)
		json_object_set_new(json, "error", json_string(error));
	if (json_dump_file(json, part, JSON_COMPACT) == 0)
		rename(part, path);
	json_decref(json);
}

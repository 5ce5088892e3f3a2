/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "lab_log.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char *lab_log_read(
	const struct lab_state *state, const struct lab_record *record, struct fault *fault)
{
	char path[400], *text = malloc(LAB_LOG_MAX + 1);
	size_t count = 0;
	FILE *file;

	lab_record_log(state, record, path, sizeof(path));
	file = fopen(path, "re");
	if (file == NULL || text == NULL) {
		fault_set(fault, errno, "%s: %s", path, strerror(errno));
		free(text);
		text = NULL;
	} else {
		if (fseek(file, -(long)LAB_LOG_MAX, SEEK_END) != 0)
			rewind(file);
		count = fread(text, 1, LAB_LOG_MAX, file);
		for (size_t i = 0; i < count; i++)
			if (text[i] == '\0' || (text[i] & 0x80) != 0)
				text[i] = '?';
		text[count] = '\0';
	}
	if (file != NULL)
		fclose(file);
	return text;
}

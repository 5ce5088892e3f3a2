/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "lab_control.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define STEP_MS     5
#define REPORT_MS   5000 /* for a process to write a file */
#define ORDER_TRIES 400

void lab_sleep_ms(int ms)
{
	const struct timespec time = {.tv_sec = ms / 1000, .tv_nsec = (ms % 1000) * 1000000L};

	nanosleep(&time, NULL);
}

int lab_control(struct lab_connection *connection, const char *text, struct fault *fault)
{
	char command[LAB_CONTROL_PATH + 64];
	int result = 0;

	snprintf(command, sizeof(command), "/weft/control,%s", text);
	for (unsigned i = 0; i < ORDER_TRIES; i++) {
		result = lab_order(connection, command, NULL, 0, fault);
		if (result == 0 || strstr(fault->text, "has not been taken") == NULL)
			break;
		lab_sleep_ms(STEP_MS);
	}
	return result;
}

int lab_control_file(struct lab_connection *connection, const struct lab_record *record,
	const char *dir, const char *text, char path[LAB_CONTROL_PATH], struct fault *fault)
{
	/* Each of this command's files has a name of its own. */
	static atomic_uint files;
	char command[LAB_CONTROL_PATH + 32];
	int result;

	snprintf(path, LAB_CONTROL_PATH, "%s/answer-%s-%ld-%u", dir, record->name, (long)getpid(),
		atomic_fetch_add(&files, 1));
	snprintf(command, sizeof(command), "%s %s", text, path);
	result = lab_control(connection, command, fault);
	for (int waited = 0; result == 0 && access(path, R_OK) != 0; waited += STEP_MS) {
		if (waited >= REPORT_MS || !lab_record_alive(record))
			return fault_set(
				fault, ENODEV, "%s: does not answer '%s'", record->name, text);
		lab_sleep_ms(STEP_MS);
	}
	return result;
}

json_t *lab_control_json(struct lab_connection *connection, const struct lab_record *record,
	const char *dir, const char *text, struct fault *fault)
{
	char path[LAB_CONTROL_PATH];
	json_error_t error;
	json_t *json;

	if (lab_control_file(connection, record, dir, text, path, fault) < 0)
		return NULL;
	json = json_load_file(path, 0, &error);
	if (json == NULL)
		fault_set(fault, EPROTO, "%s: %s", path, error.text);
	unlink(path);
	return json;
}

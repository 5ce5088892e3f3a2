/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "real_private.h"

#include <rte_lcore.h>
#include <stdio.h>
#include <stdlib.h>

struct real_report {
	struct run_result result;
	FILE *file;
	char path[TELEMETRY_CONTROL_MAX], part[TELEMETRY_CONTROL_MAX + 8];
	pthread_t thread;
};

static void *write_report(void *ctx)
{
	struct real_report *report = ctx;
	json_t *json = run_result_part_json(&report->result);
	bool good = json != NULL && json_dumpf(json, report->file, JSON_COMPACT) == 0;

	json_decref(json);
	good = fclose(report->file) == 0 && good;
	report->file = NULL;
	if (!good || rename(report->part, report->path) != 0)
		remove(report->part);
	return NULL;
}

static void destroy(struct real_report *report)
{
	if (report->file != NULL) {
		fclose(report->file);
		remove(report->part);
	}
	run_result_free(&report->result);
	free(report);
}

/* Takes the current counts and creates an empty file. Returns NULL on failure. */
static struct real_report *begin(struct real_fabric *fabric, const char *path, bool whole)
{
	struct real_report *report = calloc(1, sizeof(*report));

	if (report == NULL)
		return NULL;
	snprintf(report->path, sizeof(report->path), "%s", path);
	snprintf(report->part, sizeof(report->part), "%s.part", path);
	report->file = fopen(report->part, "we");
	if (report->file == NULL || real_fabric_count(fabric, whole, &report->result, NULL) < 0) {
		destroy(report);
		return NULL;
	}
	return report;
}

void real_report_write(struct real_fabric *fabric, const char *path, bool whole)
{
	struct real_report *report;

	real_report_end(fabric);
	report = begin(fabric, path, whole);
	if (report == NULL)
		return;
	if (whole && rte_ctrl_thread_create(
			     &report->thread, "weft-report", NULL, write_report, report) == 0) {
		fabric->report = report;
		return;
	}
	write_report(report);
	destroy(report);
}

void real_report_end(struct real_fabric *fabric)
{
	struct real_report *report = fabric->report;

	if (report == NULL)
		return;
	pthread_join(report->thread, NULL);
	fabric->report = NULL;
	destroy(report);
}

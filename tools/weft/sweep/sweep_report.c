/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "sweep_run.h"

#include <limits.h>
#include <string.h>

#include "commands.h"
#include "sweep_manifest.h"
#include "sweep_table.h"

static int write_table(const struct sweep *sweep, const char *name,
	void (*write)(const struct sweep_plan *, json_t *const *, FILE *), json_t *const *rows,
	struct fault *fault)
{
	char path[PATH_MAX], part[PATH_MAX + 8];
	FILE *out;
	bool good;

	sweep_path(sweep, name, path);
	snprintf(part, sizeof(part), "%s.part", path);
	out = fopen(part, "w");
	if (out != NULL)
		write(&sweep->plan, rows, out);
	good = out != NULL && !ferror(out);
	if (out != NULL && fclose(out) != 0)
		good = false;
	if (good && rename(part, path) == 0)
		return 0;
	return fault_set(fault, EIO, "%s: cannot be written: %s", path, strerror(errno));
}

/* The results that exist and the points that are missing. */
static json_t *summary(
	const struct sweep *sweep, const json_t *manifest, const struct sweep_outcome *outcome)
{
	json_t *rows = json_array(), *missing = json_array(), *skipped = json_array();

	for (unsigned i = 0; i < sweep->plan.points; i++) {
		char name[SWEEP_NAME_MAX];

		sweep_plan_name(&sweep->plan, i, name);
		if (outcome->row[i] != NULL)
			json_array_append(rows, outcome->row[i]);
		else if (sweep_is_invalid(sweep, i))
			json_array_append_new(skipped,
				json_pack("{s:s,s:s}", "point", name, "why", sweep->invalid[i]));
		else
			json_array_append_new(missing, json_string(name));
	}
	return json_pack("{s:s,s:O,s:O,s:O,s:o,s:o,s:o,s:o}", "weft", "sweep-result/1",
		"configuration", json_object_get(manifest, "configuration"), "vary",
		json_object_get(manifest, "vary"), "seeds", json_object_get(manifest, "seeds"),
		"points", rows, "means", sweep_means(&sweep->plan, outcome->row), "missing",
		missing, "skipped", skipped);
}

int sweep_report_write(const struct sweep *sweep, const json_t *manifest,
	const struct sweep_outcome *outcome, struct fault *fault)
{
	json_t *document = summary(sweep, manifest, outcome);
	int result = write_table(sweep, "sweep.csv", sweep_table_write, outcome->row, fault);

	if (result == 0)
		result = write_table(
			sweep, "sweep-mean.csv", sweep_means_write, outcome->row, fault);
	if (result == 0)
		result = sweep_write_json(sweep, "sweep.json", document, fault);
	if (result == 0 && sweep->json)
		command_print_json(document, JSON_REAL_PRECISION(10));
	else
		json_decref(document);
	return result;
}

enum weft_exit sweep_report_print(const struct sweep *sweep, const struct sweep_outcome *outcome)
{
	FILE *out = sweep->json ? stderr : stdout;

	fprintf(out, "%u of %u points", outcome->done, sweep->plan.points);
	if (sweep_count_invalid(sweep) > 0)
		fprintf(out, ", %u skipped because they are not valid", sweep_count_invalid(sweep));
	if (outcome->had > 0)
		fprintf(out, ", %u of them there before", outcome->had);
	if (outcome->strange > 0)
		fprintf(out, ", %u anew because what was there was another configuration's",
			outcome->strange);
	if (outcome->changed > 0)
		fprintf(out, ", %u anew because they had been changed after their runs",
			outcome->changed);
	if (outcome->failed > 0)
		fprintf(out, ", %u failed", outcome->failed);
	if (outcome->bad > 0)
		fprintf(out, ", %u with packets lost, duplicated, out of order or in deadlock",
			outcome->bad);
	if (outcome->empty > 0)
		fprintf(out, ", %u with nothing measured", outcome->empty);
	fprintf(out, "\n%s/sweep.csv, sweep-mean.csv, sweep.json\n", sweep->folder);
	if (outcome->interrupted)
		fprintf(stderr,
			"weft sweep: ended early; the same command goes on with the %u points that "
			"are missing\n",
			sweep->plan.points - sweep_count_invalid(sweep) - outcome->done);
	if (outcome->interrupted)
		return EXIT_INTERRUPTED;
	if (sweep_count_invalid(sweep) == sweep->plan.points)
		return command_fail("sweep", EXIT_BAD_REQUEST,
			"--skip-invalid: none of %u points is valid", sweep->plan.points);
	return outcome->failed + outcome->bad + outcome->empty > 0 ? EXIT_BAD_ANSWER : EXIT_DONE;
}

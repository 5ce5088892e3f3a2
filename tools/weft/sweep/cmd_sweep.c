/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* weft sweep: a run file over values of its keys and over seeds. */

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "child_process.h"
#include "commands.h"
#include "cpu_count.h"
#include "sweep_manifest.h"
#include "sweep_run.h"
#include "sweep_table.h"

/* The tables that a sweep leaves in its folder, and its last lines. */

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

/* sweep.csv, sweep-mean.csv and sweep.json, which --json prints, too. 0 or -EIO. */
static int sweep_report_write(const struct sweep *sweep, const json_t *manifest,
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

static const char usage[] =
	"usage: weft sweep RUN.yaml [--vary KEY=VALUES]... [--cases FILE] [--seeds LO:HI]\n"
	"                  [--set KEY=VALUE]... [--jobs N] [--on slurm [--sbatch ARGS] [--grace S]]\n"
	"                  [--skip-invalid] [--restart] [--json] -o DIR\n"
	"       weft sweep RUN.yaml ... -o DIR --prepare | --point N\n"
	"       weft sweep RUN.yaml ... --dry-run\n"
	"\n"
	"Runs every combination of the values, each with every seed, and writes DIR/sweep.csv,\n"
	"sweep.json and sweep-mean.csv (mean and 95 % confidence interval over the seeds). The "
	"same\n"
	"command continues after an interruption.\n"
	"  --vary KEY=A,B,C       the values of a key of the run file: routing.algorithm=ud,dmodk\n"
	"  --vary KEY=LO:HI:STEP  the same, counted: traffic.0.load=10%:100%:10%\n"
	"  --cases FILE           named settings of several keys each, as the values of 'case'\n"
	"  --seeds LO:HI          every point once with each seed\n"
	"  --set KEY=VALUE        change a key for all points\n"
	"  --jobs N               points at a time (default: the cores; 1 on the real clock)\n"
	"  --on slurm             run the points as tasks of a job array; DIR is on a disk that all see\n"
	"  --sbatch ARGS          further arguments of sbatch, such as '--time=1:00:00 --mem=2G'\n"
	"  --grace S              seconds after the last task until a point without a result has\n"
	"                         failed (90: a disk shared by NFS shows files late)\n"
	"  --prepare              only write DIR/manifest.json, for --point\n"
	"  --point N              only this point, from 0, of the sweep prepared in DIR; tasks of\n"
	"                         clusters do this (topo/Snakefile)\n"
	"  --skip-invalid         leave points out that are no good run files; say which\n"
	"  --dry-run              only say how many points there are and about how long they take\n"
	"  --restart              delete the results of another sweep in DIR\n"
	"  --json                 print sweep.json\n"
	"Exit: 0 done, 1 a point failed or deadlocked, packets were lost, duplicated or out of order,\n"
	"or nothing was measured, 2 bad request, 3 not able, 130 ended by Ctrl-C.\n";

#define SKIPPED_SHOWN 5u
static void choose_jobs(struct sweep *sweep, bool real_clock)
{
	unsigned asked = sweep->jobs, cores = cpu_count();

	if (asked == 0)
		sweep->jobs = real_clock ? 1 : cores;
	if (sweep->jobs > sweep->plan.points)
		sweep->jobs = sweep->plan.points;
	if (sweep->jobs > SWEEP_JOBS_MAX)
		sweep->jobs = SWEEP_JOBS_MAX;
	if (real_clock && asked == 0 && cores > 1 && sweep->plan.points > 1)
		fputs("weft sweep: one point at a time: on the real clock they would disturb each "
		      "other\n",
			stderr);
	else if (real_clock && sweep->jobs > 1)
		fprintf(stderr,
			"weft sweep: %u points at a time on the real clock disturb each other\n",
			sweep->jobs);
}

static int run(const struct sweep *sweep, const json_t *manifest)
{
	struct sweep_outcome outcome;
	struct fault fault;
	int result = sweep->on_slurm ? sweep_slurm_run(sweep, &outcome, &fault)
				     : sweep_run(sweep, &outcome, &fault);
	int code;

	if (result == 0)
		result = sweep_report_write(sweep, manifest, &outcome, &fault);
	code = result == 0 ? (int)sweep_report_print(sweep, &outcome)
			   : (int)command_fault("sweep", result, &fault);
	sweep_outcome_fini(&outcome, sweep);
	return code;
}

/* As a task: neither locks the folder nor writes tables. */
static int run_point(struct sweep *sweep, const json_t *manifest)
{
	struct fault fault, why = {.text = ""};
	json_t *there = sweep_manifest_read(sweep->folder, &why);
	struct sweep_outcome outcome;
	int result, code;

	if (there == NULL)
		return command_fail("sweep", EXIT_BAD_REQUEST, "--point: %s has no sweep: %s",
			sweep->folder, why.text[0] != '\0' ? why.text : SWEEP_MANIFEST_NAME);
	result = sweep_folder_compare(sweep, there, manifest, &fault);
	json_decref(there);
	if (result < 0)
		return command_fault("sweep", result, &fault);
	sweep->jobs = 1;
	result = sweep_run(sweep, &outcome, &fault);
	code = result < 0            ? command_fault("sweep", result, &fault)
	       : outcome.interrupted ? EXIT_INTERRUPTED
	       : outcome.failed > 0  ? EXIT_BAD_ANSWER
				     : EXIT_DONE;
	sweep_outcome_fini(&outcome, sweep);
	return code;
}

/* The first points that are left out, and why. */
static void print_skipped(const struct sweep *sweep)
{
	unsigned count = sweep_count_invalid(sweep), shown = 0;

	for (unsigned i = 0; i < sweep->plan.points && shown < count; i++) {
		char label[SWEEP_LABEL_MAX];

		if (!sweep_is_invalid(sweep, i))
			continue;
		if (shown++ == SKIPPED_SHOWN) {
			fprintf(stderr, "weft sweep: and %u more skipped\n", count - SKIPPED_SHOWN);
			return;
		}
		sweep_plan_label(&sweep->plan, i, label);
		fprintf(stderr, "weft sweep: skipped: %s: %s\n", label, sweep->invalid[i]);
	}
}

/* How many points there are and about how long they take. */
static int estimate_only(struct sweep *sweep, bool real_clock)
{
	struct sweep_estimate estimate;
	char cpu[32], wall[32];
	struct fault fault;
	int result;

	choose_jobs(sweep, real_clock);
	result = sweep_estimate(sweep, real_clock, &estimate, &fault);
	if (result == -EINTR)
		return EXIT_INTERRUPTED;
	if (result < 0)
		return command_fault("sweep", result, &fault);
	sweep_estimate_time(estimate.cpu_s, cpu);
	sweep_estimate_time(estimate.wall_s, wall);
	printf("%u points", estimate.points);
	if (sweep_count_invalid(sweep) > 0)
		printf(" (%u more are not valid)", sweep_count_invalid(sweep));
	if (real_clock)
		printf(", about %s, %u at a time on the real clock\n", wall, sweep->jobs);
	else if (estimate.trials == 0)
		printf("; none of those that were tried is valid\n");
	else
		printf(", %s %s of CPU time, %s with %u at a time (from short runs of %u "
		       "points)\n",
			estimate.at_most ? "at most" : "about", cpu, wall, sweep->jobs,
			estimate.trials);
	return !real_clock && estimate.trials == 0 ? EXIT_BAD_REQUEST : EXIT_DONE;
}

static int sweep_in_folder(struct sweep *sweep)
{
	bool real_clock;
	struct fault fault;
	json_t *manifest;
	int folder, result, code;

	if (sweep->skip_invalid)
		sweep->invalid = calloc(sweep->plan.points, sizeof(*sweep->invalid));
	if (sweep->skip_invalid && sweep->invalid == NULL)
		return command_fail("sweep", EXIT_NOT_ABLE, "no memory");
	sweep->program = child_program_mark("weft-fabric");
	manifest = sweep_manifest_make(sweep, &real_clock, &fault);
	if (manifest == NULL)
		return command_fault("sweep", -errno, &fault);
	if (sweep->point >= 0) {
		code = run_point(sweep, manifest);
		json_decref(manifest);
		return code;
	}
	print_skipped(sweep);
	if (sweep->dry_run) {
		json_decref(manifest);
		return estimate_only(sweep, real_clock);
	}
	folder = sweep_folder_open(sweep, &fault);
	result = folder < 0 ? folder : sweep_folder_settle(sweep, manifest, &fault);
	if (result == 0 && sweep->prepare) {
		printf("%u points\n", sweep->plan.points - sweep_count_invalid(sweep));
		code = EXIT_DONE;
	} else if (result == 0) {
		choose_jobs(sweep, real_clock);
		code = run(sweep, manifest);
	} else {
		code = command_fault("sweep", result, &fault);
	}
	if (folder >= 0)
		close(folder);
	json_decref(manifest);
	return code;
}

int cmd_sweep(int argc, char **argv)
{
	struct sweep *sweep;
	struct fault fault;
	int result, code;

	if (argc < 2 || command_wants_help(argc, argv)) {
		fputs(usage, argc < 2 ? stderr : stdout);
		return argc < 2 ? EXIT_BAD_REQUEST : EXIT_DONE;
	}
	sweep = calloc(1, sizeof(*sweep));
	if (sweep == NULL)
		return command_fail("sweep", EXIT_NOT_ABLE, "no memory");
	sweep->point = -1;
	sweep->grace_s = -1;
	sweep->argv = argv + 1;
	result = sweep_words_parse(sweep, argc, argv, &fault);
	if (sweep->point >= 0)
		sweep->on_slurm = false;
	code = result == 0 ? sweep_in_folder(sweep) : (int)command_fault("sweep", result, &fault);
	for (unsigned i = 0; sweep->invalid != NULL && i < sweep->plan.points; i++)
		free(sweep->invalid[i]);
	free(sweep->invalid);
	sweep_cases_fini(&sweep->cases);
	sweep_plan_fini(&sweep->plan);
	free(sweep);
	return code;
}

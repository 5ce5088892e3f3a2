/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* weft sweep: a run file over values of its keys and over seeds. */

#include <fcntl.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "child_process.h"
#include "commands.h"
#include "sweep_estimate.h"
#include "sweep_manifest.h"
#include "sweep_run.h"
#include "sweep_slurm.h"
#include "sweep_table.h"

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
	"Exit: 0 done, 1 a point failed or packets were lost, duplicated or out of order, 2 bad\n"
	"request, 3 not able, 130 ended by Ctrl-C.\n";

enum {
	OPTION_VARY = 256,
	OPTION_CASES,
	OPTION_SEEDS,
	OPTION_SET,
	OPTION_JOBS,
	OPTION_ON,
	OPTION_SBATCH,
	OPTION_GRACE,
	OPTION_POINT,
	OPTION_PREPARE,
	OPTION_SKIP_INVALID,
	OPTION_DRY_RUN,
	OPTION_RESTART,
	OPTION_JSON
};

#define SKIPPED_SHOWN 5u
#define GRACE_S       90 /* a client of NFS may remember for 60 s that there was no file */
#define GRACE_MAX_S   86400

static int fail(int result, const struct fault *fault)
{
	return command_fail("sweep", fault_exit_code(result), "%s", fault->text);
}

static const char *case_name(const void *ctx, unsigned index)
{
	const struct sweep_cases *cases = ctx;

	return index < cases->count ? cases->at[index].name : NULL;
}

static int take_cases(struct sweep *sweep, const char *path, struct fault *fault)
{
	int result = sweep_cases_load(&sweep->cases, path, fault);

	return result < 0 ? result
			  : sweep_plan_add_names(
				    &sweep->plan, SWEEP_CASES_KEY, case_name, &sweep->cases, fault);
}

static int take_point(struct sweep *sweep, const char *text, struct fault *fault)
{
	char *end;
	unsigned long point = strtoul(text, &end, 10);

	if (end == text || *end != '\0' || text[0] == '-' || point >= SWEEP_POINTS_MAX)
		return fault_set(fault, EINVAL, "--point %s: expected the number of a point", text);
	sweep->point = (int)point;
	return 0;
}

static int take_grace(struct sweep *sweep, const char *text, struct fault *fault)
{
	uint64_t grace;

	if (!command_number(text, 0, GRACE_MAX_S, &grace))
		return fault_set(
			fault, EINVAL, "--grace %s: expected 0 to %u seconds", text, GRACE_MAX_S);
	sweep->grace_s = (int)grace;
	return 0;
}

static int take_option(struct sweep *sweep, int option, const char *value, struct fault *fault)
{
	switch (option) {
	case OPTION_VARY:
		return sweep_plan_add(&sweep->plan, value, fault);
	case OPTION_CASES:
		return take_cases(sweep, value, fault);
	case OPTION_SKIP_INVALID:
		sweep->skip_invalid = true;
		return 0;
	case OPTION_DRY_RUN:
		sweep->dry_run = true;
		return 0;
	case OPTION_SEEDS:
		return sweep_seeds_parse(value, &sweep->plan.first_seed, &sweep->plan.seeds, fault);
	case OPTION_SET:
		if (sweep->sets == SWEEP_SETS_MAX)
			return fault_set(
				fault, EINVAL, "--set: at most %u of them", SWEEP_SETS_MAX);
		sweep->set[sweep->sets++] = value;
		return 0;
	case OPTION_JOBS:
		return command_jobs(value, SWEEP_JOBS_MAX, &sweep->jobs, fault);
	case OPTION_RESTART:
		sweep->restart = true;
		return 0;
	case OPTION_ON:
		if (strcmp(value, "slurm") != 0)
			return fault_set(fault, EINVAL, "--on %s: expected slurm", value);
		sweep->on_slurm = true;
		return 0;
	case OPTION_SBATCH:
		sweep->sbatch = value;
		return 0;
	case OPTION_GRACE:
		return take_grace(sweep, value, fault);
	case OPTION_PREPARE:
		sweep->prepare = true;
		return 0;
	case OPTION_POINT:
		return take_point(sweep, value, fault);
	case OPTION_JSON:
		sweep->json = true;
		return 0;
	case 'o':
		sweep->folder = value;
		return 0;
	default:
		return fault_set(fault, EINVAL, "'weft sweep --help' lists the options");
	}
}

/* A key has one value at a point, and weft-fabric takes so many changes. */
static int check_cases(const struct sweep *sweep, struct fault *fault)
{
	unsigned most = sweep->sets + sweep->plan.varies + sweep_cases_most(&sweep->cases) + 1;

	for (unsigned i = 0; i < sweep->plan.varies; i++) {
		int result = sweep_cases_check_key(&sweep->cases, sweep->plan.vary[i].key, fault);

		if (result < 0)
			return result;
	}
	/* A trial of --dry-run sets three more. */
	return most + 3 <= RUN_SETS_MAX
		       ? 0
		       : fault_set(fault, EINVAL, "--set and --cases: together more than %u keys",
				 RUN_SETS_MAX - 3 - sweep->plan.varies);
}

static int check_request(struct sweep *sweep, const char *run_file, struct fault *fault)
{
	int result;

	if (run_file == NULL)
		return fault_set(fault, EINVAL, "which run file?");
	if (sweep->folder == NULL && !sweep->dry_run)
		return fault_set(fault, EINVAL, "-o DIR is missing");
	if (sweep->folder != NULL && sweep->folder[0] == '\0')
		return fault_set(fault, EINVAL, "-o '': expected a folder");
	if (sweep->sbatch != NULL && !sweep->on_slurm)
		return fault_set(fault, EINVAL, "--sbatch goes with --on slurm");
	if (sweep->grace_s >= 0 && !sweep->on_slurm && sweep->point < 0)
		return fault_set(fault, EINVAL, "--grace goes with --on slurm");
	if (sweep->dry_run && (sweep->on_slurm || sweep->prepare || sweep->point >= 0))
		return fault_set(fault, EINVAL, "--dry-run: not with --on, --prepare or --point");
	if (sweep->dry_run && (sweep->restart || sweep->json))
		return fault_set(fault, EINVAL, "--dry-run: not with --restart or --json");
	if (sweep->plan.varies == 0 && sweep->plan.seeds == 0)
		return fault_set(fault, EINVAL, "--vary, --cases or --seeds is missing");
	result = check_cases(sweep, fault);
	if (result < 0)
		return result;
	if (realpath(run_file, sweep->run_file) == NULL)
		return fault_set(fault, errno, "%s: %s", run_file, strerror(errno));
	result = sweep_plan_finish(&sweep->plan, fault);
	if (result == 0 && sweep->point >= (int)sweep->plan.points)
		result = fault_set(fault, EINVAL, "--point %d: there are %u points, from 0",
			sweep->point, sweep->plan.points);
	return result;
}

static int take_run_file(const char **run_file, const char *word, struct fault *fault)
{
	if (*run_file != NULL)
		return fault_set(fault, EINVAL, "one run file, not also '%s'", word);
	*run_file = word;
	return 0;
}

static int parse(struct sweep *sweep, int argc, char **argv, struct fault *fault)
{
	static const struct option options[] = {
		{"vary", required_argument, NULL, OPTION_VARY},
		{"cases", required_argument, NULL, OPTION_CASES},
		{"skip-invalid", no_argument, NULL, OPTION_SKIP_INVALID},
		{"dry-run", no_argument, NULL, OPTION_DRY_RUN},
		{"seeds", required_argument, NULL, OPTION_SEEDS},
		{"set", required_argument, NULL, OPTION_SET},
		{"jobs", required_argument, NULL, OPTION_JOBS},
		{"restart", no_argument, NULL, OPTION_RESTART},
		{"json", no_argument, NULL, OPTION_JSON},
		{"on", required_argument, NULL, OPTION_ON},
		{"sbatch", required_argument, NULL, OPTION_SBATCH},
		{"grace", required_argument, NULL, OPTION_GRACE},
		{"point", required_argument, NULL, OPTION_POINT},
		{"prepare", no_argument, NULL, OPTION_PREPARE},
		{NULL, 0, NULL, 0},
	};
	const char *run_file = NULL;
	int option, result = 0;

	argv[0] = (char *)"weft sweep"; /* begins the messages of getopt_long() */
	while (result == 0 && (option = getopt_long(argc, argv, "-o:", options, NULL)) != -1)
		result = option == 1 ? take_run_file(&run_file, optarg, fault)
				     : take_option(sweep, option, optarg, fault);
	for (; result == 0 && optind < argc; optind++) /* behind "--" */
		result = take_run_file(&run_file, argv[optind], fault);
	if (sweep->grace_s < 0 && sweep->on_slurm)
		sweep->grace_s = GRACE_S;
	return result == 0 ? check_request(sweep, run_file, fault) : result;
}

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

/* The folder, made if it is not there, and locked for this sweep alone; a descriptor to close. */
static int open_folder(const struct sweep *sweep, struct fault *fault)
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

static int refuse_another(
	const struct sweep *sweep, const json_t *there, const json_t *asked, struct fault *fault)
{
	struct fault why;

	if (sweep_manifest_compare(there, asked, &why) == 0)
		return 0;
	return fault_set(fault, EINVAL, "%s has another sweep: %.300s; --restart throws it away",
		sweep->folder, why.text);
}

/* Decides about the present files of the folder. --restart removes all results: those that the
 * manifest names, and those with the names of our points even without a manifest. */
static int settle(const struct sweep *sweep, const json_t *asked, struct fault *fault)
{
	struct fault why = {.text = ""};
	json_t *there = sweep_manifest_read(sweep->folder, &why);
	int result = 0;

	if (sweep->restart) {
		sweep_manifest_remove_points(sweep, there);
		sweep_manifest_remove_points(sweep, asked);
	} else if (there != NULL) {
		result = refuse_another(sweep, there, asked, fault);
	} else if (why.text[0] != '\0') {
		result = fault_set(fault, EINVAL, "%.300s; --restart begins anew", why.text);
	} else {
		result = refuse_strangers(sweep, asked, fault);
	}
	json_decref(there);
	return result == 0 ? sweep_write_json(sweep, SWEEP_MANIFEST_NAME, asked, fault) : result;
}

static void choose_jobs(struct sweep *sweep, bool real_clock)
{
	unsigned asked = sweep->jobs, cores = command_cores();

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

static int write_tables(const struct sweep *sweep, const json_t *manifest,
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

static int report(const struct sweep *sweep, const struct sweep_outcome *outcome)
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
	if (outcome->failed > 0)
		fprintf(out, ", %u failed", outcome->failed);
	if (outcome->bad > 0)
		fprintf(out, ", %u with packets lost, duplicated, out of order or in deadlock",
			outcome->bad);
	fprintf(out, "\n%s/sweep.csv, sweep-mean.csv, sweep.json\n", sweep->folder);
	if (outcome->interrupted)
		fprintf(stderr,
			"weft sweep: ended early; the same command goes on with the %u points that "
			"are missing\n",
			sweep->plan.points - sweep_count_invalid(sweep) - outcome->done);
	if (outcome->interrupted)
		return EXIT_INTERRUPTED;
	return outcome->failed + outcome->bad > 0 ? EXIT_BAD_ANSWER : EXIT_DONE;
}

static int run(const struct sweep *sweep, const json_t *manifest)
{
	struct sweep_outcome outcome;
	struct fault fault;
	int result = sweep->on_slurm ? sweep_slurm_run(sweep, &outcome, &fault)
				     : sweep_run(sweep, &outcome, &fault);
	int code;

	if (result == 0)
		result = write_tables(sweep, manifest, &outcome, &fault);
	code = result == 0 ? report(sweep, &outcome) : fail(result, &fault);
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
	result = refuse_another(sweep, there, manifest, &fault);
	json_decref(there);
	if (result < 0)
		return fail(result, &fault);
	sweep->jobs = 1;
	result = sweep_run(sweep, &outcome, &fault);
	code = result < 0            ? fail(result, &fault)
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
		return fail(result, &fault);
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
	return EXIT_DONE;
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
		return fail(-errno, &fault);
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
	folder = open_folder(sweep, &fault);
	result = folder < 0 ? folder : settle(sweep, manifest, &fault);
	if (result == 0 && sweep->prepare) {
		printf("%u points\n", sweep->plan.points - sweep_count_invalid(sweep));
		code = EXIT_DONE;
	} else if (result == 0) {
		choose_jobs(sweep, real_clock);
		code = run(sweep, manifest);
	} else {
		code = fail(result, &fault);
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
	result = parse(sweep, argc, argv, &fault);
	if (sweep->point >= 0)
		sweep->on_slurm = false;
	code = result == 0 ? sweep_in_folder(sweep) : fail(result, &fault);
	for (unsigned i = 0; sweep->invalid != NULL && i < sweep->plan.points; i++)
		free(sweep->invalid[i]);
	free(sweep->invalid);
	sweep_cases_fini(&sweep->cases);
	sweep_plan_fini(&sweep->plan);
	free(sweep);
	return code;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "sweep_run.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "option_key.h"

#define GRACE_S     90 /* a client of NFS may remember for 60 s that there was no file */
#define GRACE_MAX_S 86400

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
	case 'v':
		return sweep_plan_add(&sweep->plan, value, fault);
	case 'c':
		return take_cases(sweep, value, fault);
	case 's':
		return sweep_seeds_parse(value, &sweep->plan.first_seed, &sweep->plan.seeds, fault);
	case 'k':
		if (sweep->sets == SWEEP_SETS_MAX)
			return fault_set(
				fault, EINVAL, "--set: at most %u of them", SWEEP_SETS_MAX);
		sweep->set[sweep->sets++] = value;
		return 0;
	case 'j':
		return command_jobs(value, SWEEP_JOBS_MAX, &sweep->jobs, fault);
	case 'n':
		if (strcmp(value, "slurm") != 0)
			return fault_set(fault, EINVAL, "--on %s: expected slurm", value);
		sweep->on_slurm = true;
		return 0;
	case 'g':
		return take_grace(sweep, value, fault);
	case 'p':
		return take_point(sweep, value, fault);
	case 'o':
		sweep->folder = value;
		return 0;
	default:
		if (option_key_store(sweep, option, value))
			return 0;
		return fault_set(fault, EINVAL, "'weft sweep --help' lists the options");
	}
}

/* A key has one value at a point, and weft-fabric takes so many changes. */
static int check_cases(const struct sweep *sweep, struct fault *fault)
{
	unsigned max = sweep->sets + sweep->plan.varies + sweep_cases_max(&sweep->cases) + 1;

	for (unsigned i = 0; i < sweep->plan.varies; i++) {
		int result = sweep_cases_check_key(&sweep->cases, sweep->plan.vary[i].key, fault);

		if (result < 0)
			return result;
	}
	/* A trial of --dry-run sets three more. */
	return max + 3 <= RUN_SETS_MAX
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

int sweep_words_parse(struct sweep *sweep, int argc, char **argv, struct fault *fault)
{
	static const struct option options[] = {
		{"vary", required_argument, NULL, 'v'},
		{"cases", required_argument, NULL, 'c'},
		{"skip-invalid", no_argument, NULL, OPTION_SET(struct sweep, skip_invalid)},
		{"dry-run", no_argument, NULL, OPTION_SET(struct sweep, dry_run)},
		{"seeds", required_argument, NULL, 's'},
		{"set", required_argument, NULL, 'k'},
		{"jobs", required_argument, NULL, 'j'},
		{"restart", no_argument, NULL, OPTION_SET(struct sweep, restart)},
		{"json", no_argument, NULL, OPTION_SET(struct sweep, json)},
		{"on", required_argument, NULL, 'n'},
		{"sbatch", required_argument, NULL, OPTION_TEXT(struct sweep, sbatch)},
		{"grace", required_argument, NULL, 'g'},
		{"point", required_argument, NULL, 'p'},
		{"prepare", no_argument, NULL, OPTION_SET(struct sweep, prepare)},
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

/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* weft reproduce: figures and tables of papers, published numbers beside ours. */

#include <dirent.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "commands.h"
#include "comparison.h"
#include "cpu_count.h"
#include "option_key.h"
#include "quantity.h"
#include "reproduce_plot.h"
#include "trial.h"

#define JOBS_MAX 256u
#define LIST_MAX 200u

static const char usage[] =
	"usage: weft reproduce --list [--json]\n"
	"       weft reproduce NAME [--quick] [--only A,B] [--instances N] [--warmup N]\n"
	"                           [--messages N] [--latency-limit TIME] [--jobs N]\n"
	"                           [--json|--markdown] [--cache DIR]\n"
	"                           [--on slurm [--srun ARGS]] [--again] [-o DIR]\n"
	"\n"
	"Runs a figure or table of a paper and prints published | ours | ratio. NAME is one of "
	"--list\n"
	"or a file like those in topo/reproduce; a group runs all of its members (--only: those). The\n"
	"same command continues after an interruption.\n"
	"  --list       name, paper, figure or table, and the time on two cores, or why it is not run\n"
	"  --quick      fewer networks and messages: orderings and coarse factors\n"
	"  --only A,B   these networks, cases and algorithms; a list with none of them is run "
	"whole\n"
	"  --instances N  of each random network or seed, up to 100, instead of the definition's\n"
	"  --warmup N   messages of a run before those that are measured, instead of the "
	"definition's\n"
	"  --messages N  messages of a run that are measured; the output says that it is another "
	"run\n"
	"  --latency-limit TIME  mean latency above which a search counts a network as saturated, "
	"such as\n"
	"               20us, instead of the definition's; 0s: any latency is accepted\n"
	"  --jobs N     runs at a time (default: the cores)\n"
	"  --on slurm   each run is a job of Slurm; the folder of results is on a disk that all see\n"
	"  --srun ARGS  further arguments of srun, such as '--time=1:00:00 --mem=2G'\n"
	"  --json       print one JSON document\n"
	"  --markdown   print tables in Markdown, as the pages of the documentation have them\n"
	"  --cache DIR  where results are kept (default: $XDG_CACHE_HOME/weft or ~/.cache/weft)\n"
	"  --again      run everything again\n"
	"  -o DIR       where figures go (default: here)\n"
	"Exit: 0 done, 1 a value is not as published, 2 bad request, 3 not able, 130 ended by "
	"Ctrl-C.\n";

struct request {
	const char *name, *only, *folder, *cache;
	const char *on, *srun;
	char cache_path[PATH_MAX];
	unsigned jobs, instances; /* instances 0: as the definition says */
	uint64_t warmup, messages;
	uint64_t latency_limit_ps;
	bool has_warmup, has_messages, has_latency_limit; /* else as the definition says */
	bool list, quick, json, markdown, again;
	json_t *group; /* with 'json' the documents of a group's members; NULL: no group */
};

static int take_instances(struct request *request, const char *value, struct fault *fault)
{
	uint64_t count;

	if (!command_number(value, 1, EXPERIMENT_COPIES, &count))
		return fault_set(fault, EINVAL, "--instances %s: expected 1 to %u", value,
			EXPERIMENT_COPIES);
	request->instances = (unsigned)count;
	return 0;
}

/* Messages of a run: 'option' says which. */
static int take_messages(
	struct request *request, int option, const char *value, struct fault *fault)
{
	bool warmup = option == 'w';
	uint64_t *count = warmup ? &request->warmup : &request->messages;
	unsigned min = warmup ? 0 : 1;

	*(warmup ? &request->has_warmup : &request->has_messages) = true;
	if (command_number(value, min, EXPERIMENT_MESSAGES, count))
		return 0;
	return fault_set(fault, EINVAL, "--%s %s: expected %u to %u",
		warmup ? "warmup" : "messages", value, min, EXPERIMENT_MESSAGES);
}

static int take_latency_limit(struct request *request, const char *value, struct fault *fault)
{
	request->has_latency_limit = true;
	if (quantity_parse(QUANTITY_TIME, value, &request->latency_limit_ps) == 0)
		return 0;
	return fault_set(
		fault, EINVAL, "--latency-limit %s: expected a time such as 20us, or 0s", value);
}

static int take_option(struct request *request, int option, const char *value, struct fault *fault)
{
	switch (option) {
	case 'n':
		return take_instances(request, value, fault);
	case 'w':
	case 'm':
		return take_messages(request, option, value, fault);
	case 'l':
		return take_latency_limit(request, value, fault);
	case 'j':
		return command_jobs(value, JOBS_MAX, &request->jobs, fault);
	case 'o':
		request->folder = value;
		return 0;
	case 1:
		if (request->name != NULL)
			return fault_set(fault, EINVAL, "one NAME, not also '%s'", value);
		request->name = value;
		return 0;
	default:
		if (option_key_store(request, option, value))
			return 0;
		return fault_set(fault, EINVAL, "'weft reproduce --help' lists the options");
	}
}

/* $XDG_CACHE_HOME/weft, ~/.cache/weft, or a folder here if there is no home. */
static void default_cache(struct request *request)
{
	const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	char folder[PATH_MAX - 8];

	if (cache != NULL && cache[0] == '/')
		snprintf(folder, sizeof(folder), "%s", cache);
	else if (home != NULL && home[0] == '/')
		snprintf(folder, sizeof(folder), "%s/.cache", home);
	else
		snprintf(folder, sizeof(folder), ".");
	mkdir(folder, 0777);
	snprintf(request->cache_path, sizeof(request->cache_path), "%s/weft", folder);
	request->cache = request->cache_path;
}

static int check_on(struct request *request, struct fault *fault)
{
	if (request->on == NULL)
		return request->srun == NULL
			       ? 0
			       : fault_set(fault, EINVAL, "--srun requires --on slurm");
	if (strcmp(request->on, "slurm") != 0)
		return fault_set(fault, EINVAL, "--on %s: expected slurm", request->on);
	if (request->srun == NULL)
		request->srun = "";
	return 0;
}

static int parse(struct request *request, int argc, char **argv, struct fault *fault)
{
#define S struct request
	static const struct option options[] = {
		{"list", no_argument, NULL, OPTION_SET(S, list)},
		{"quick", no_argument, NULL, OPTION_SET(S, quick)},
		{"only", required_argument, NULL, OPTION_TEXT(S, only)},
		{"instances", required_argument, NULL, 'n'},
		{"warmup", required_argument, NULL, 'w'},
		{"messages", required_argument, NULL, 'm'},
		{"latency-limit", required_argument, NULL, 'l'},
		{"jobs", required_argument, NULL, 'j'},
		{"on", required_argument, NULL, OPTION_TEXT(S, on)},
		{"srun", required_argument, NULL, OPTION_TEXT(S, srun)},
		{"json", no_argument, NULL, OPTION_SET(S, json)},
		{"markdown", no_argument, NULL, OPTION_SET(S, markdown)},
		{"cache", required_argument, NULL, OPTION_TEXT(S, cache)},
		{"again", no_argument, NULL, OPTION_SET(S, again)},
		{NULL, 0, NULL, 0},
	};
#undef S
	int option, result = 0;

	argv[0] = (char *)"weft reproduce"; /* begins the messages of getopt_long() */
	while (result == 0 && (option = getopt_long(argc, argv, "-o:", options, NULL)) != -1)
		result = take_option(request, option, optarg, fault);
	if (result == 0 && request->list == (request->name != NULL))
		result = fault_set(fault, EINVAL, "expected --list or a NAME%s",
			request->list ? ", not both" : "");
	if (result == 0 && request->markdown && (request->json || request->list))
		result = fault_set(
			fault, EINVAL, "--markdown is for tables of a NAME, without --json");
	if (request->cache == NULL && !request->list)
		default_cache(request);
	if (request->folder == NULL)
		request->folder = ".";
	if (request->jobs == 0)
		request->jobs = request->on != NULL ? JOBS_MAX : cpu_count();
	return result == 0 ? check_on(request, fault) : result;
}

/* The folder of the sources if it exists, else the installed one. */
static const char *experiments_folder(void)
{
	return access(REPRODUCE_SOURCE, R_OK) == 0 ? REPRODUCE_SOURCE : REPRODUCE_INSTALLED;
}

static int is_experiment(const struct dirent *entry)
{
	const char *end = strrchr(entry->d_name, '.');

	/* The base run files are named run-…. */
	return end != NULL && strcmp(end, ".yaml") == 0 && strncmp(entry->d_name, "run-", 4) != 0;
}

static struct experiment *open_named(const char *name, struct fault *fault)
{
	char path[PATH_MAX];

	if (strchr(name, '/') != NULL || strchr(name, '.') != NULL)
		return experiment_load(name, fault);
	snprintf(path, sizeof(path), "%s/%s.yaml", experiments_folder(), name);
	if (access(path, R_OK) == 0)
		return experiment_load(path, fault);
	fault_set(fault, EINVAL, "no experiment '%s'; 'weft reproduce --list' lists them", name);
	errno = EINVAL;
	return NULL;
}

static void list_one(const struct experiment *experiment, json_t *rows)
{
	bool missing = experiment->missing[0] != '\0';

	if (rows == NULL) {
		printf("%-22s %-20s %-17s %-10s %-10s %s%s%s\n", experiment->name,
			experiment->paper, experiment->place,
			missing ? "not run" : experiment->time, experiment->quick_time,
			experiment->title, missing ? "; " : "", experiment->missing);
		return;
	}
	json_array_append_new(rows,
		json_pack("{s:s,s:s,s:s,s:s,s:s,s:s,s:s?,s:b}", "name", experiment->name, "paper",
			experiment->paper, "place", experiment->place, "title", experiment->title,
			"time", experiment->time, "quick_time", experiment->quick_time, "missing",
			missing ? experiment->missing : NULL, "group", experiment->members > 0));
}

static int list(const struct request *request)
{
	struct dirent **entry;
	int count = scandir(experiments_folder(), &entry, is_experiment, versionsort);
	json_t *rows = request->json ? json_array() : NULL;
	struct fault fault;
	int code = EXIT_DONE;

	if (count < 0)
		return command_fail("reproduce", EXIT_NOT_ABLE, "%s: %s", experiments_folder(),
			strerror(errno));
	if (rows == NULL)
		printf("%-22s %-20s %-17s %-10s %-10s %s\n", "NAME", "PAPER", "PLACE", "TIME",
			"--quick", "WHAT");
	for (int i = 0; i < count; i++) {
		char path[PATH_MAX];
		struct experiment *experiment;

		snprintf(path, sizeof(path), "%s/%s", experiments_folder(), entry[i]->d_name);
		experiment = experiment_load(path, &fault);
		if (experiment == NULL)
			code = command_fault("reproduce", -errno, &fault);
		else
			list_one(experiment, rows);
		experiment_destroy(experiment);
		free(entry[i]);
	}
	free(entry);
	if (rows != NULL)
		command_print_json(rows, 0);
	return code;
}

static void destroy_trials(struct trial *trial, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		trial_fini(&trial[i]);
	free(trial);
}

/* Whether any row wants this algorithm on this network. */
static bool is_wanted(const struct experiment *experiment, const struct published *published,
	unsigned network, unsigned case_at, unsigned algorithm)
{
	if (experiment_wants_all(experiment))
		return true;
	for (unsigned i = 0; i < published->rows; i++) {
		const struct published_row *row = &published->row[i];

		if (row->network == network && row->case_at == case_at &&
			(row->algorithm == algorithm ||
				(row->quantity <= PUBLISHED_PERCENT && row->over == algorithm)))
			return true;
	}
	return false;
}

/* Adds the trials of one instance; the algorithms of a case follow each other. */
static int add_instance(struct trial *trial, unsigned *made, const struct experiment *experiment,
	const struct published *published, unsigned network, unsigned copy, struct fault *fault)
{
	unsigned each = experiment->cases.count * experiment->algorithms.count;
	int result = 0;

	for (unsigned i = 0; i < each && result == 0; i++) {
		unsigned case_at = i / experiment->algorithms.count;
		unsigned algorithm = i % experiment->algorithms.count;

		if (is_wanted(experiment, published, network, case_at, algorithm))
			result = trial_init(&trial[(*made)++], experiment, case_at, network, copy,
				algorithm, fault);
	}
	return result;
}

/* A trial for each algorithm, case and instance that a row wants. */
static struct trial *make_trials(const struct experiment *experiment,
	const struct published *published, unsigned *made, struct fault *fault)
{
	unsigned each = experiment->cases.count * experiment->algorithms.count, max = 0;
	struct trial *trial;
	int result = 0;

	*made = 0;
	for (unsigned i = 0; i < experiment->networks.count; i++)
		max += experiment->networks.at[i].copies * each;
	trial = calloc(max, sizeof(*trial));
	if (trial == NULL)
		result = fault_set(fault, ENOMEM, "no memory");
	for (unsigned n = 0; n < experiment->networks.count; n++)
		for (unsigned i = 0; i < experiment->networks.at[n].copies && result == 0; i++)
			result = add_instance(trial, made, experiment, published, n, i, fault);
	if (result == 0)
		return trial;
	if (trial != NULL)
		destroy_trials(trial, *made);
	errno = -result;
	return NULL;
}

static int show(const struct request *request, const struct experiment *experiment,
	const struct comparison *comparison, const struct trial *trial, unsigned trials)
{
	struct fault fault;
	int result = 0;

	if (request->group != NULL)
		json_array_append_new(
			request->group, comparison_json(comparison, experiment, trial, trials));
	else if (request->json)
		command_print_json(comparison_json(comparison, experiment, trial, trials),
			JSON_REAL_PRECISION(10));
	else if (request->markdown)
		comparison_markdown(comparison, experiment, trial, trials, stdout);
	else
		comparison_print(comparison, experiment, trial, trials, stdout);
	if (reproduce_plot_wanted(experiment))
		result = reproduce_plot(experiment, trial, trials, request->folder,
			request->json || request->markdown ? stderr : stdout, &fault);
	if (result < 0)
		return command_fault("reproduce", result, &fault);
	return comparison_good(comparison) ? EXIT_DONE : EXIT_BAD_ANSWER;
}

static int compare(const struct request *request, const struct experiment *experiment,
	const struct published *published, struct trial *trial, unsigned trials)
{
	struct trial_runner runner = {.trial = trial,
		.trials = trials,
		.cache = request->cache,
		.jobs = request->jobs < trials ? request->jobs : trials,
		.srun = request->srun,
		.again = request->again};
	struct comparison comparison;
	struct fault fault;
	int result = trial_run(&runner, &fault), code;

	if (result < 0)
		return command_fault("reproduce", result, &fault);
	if (runner.interrupted) {
		fprintf(stderr, "weft reproduce: ended early; the same command runs the missing "
				"points\n");
		return EXIT_INTERRUPTED;
	}
	if (comparison_make(&comparison, experiment, published, trial, trials) == 0)
		code = show(request, experiment, &comparison, trial, trials);
	else
		code = command_fail("reproduce", EXIT_NOT_ABLE, "no memory");
	comparison_fini(&comparison);
	return code;
}

/* Makes the experiment the one that the options ask for. */
static int apply(const struct request *request, struct experiment *experiment, struct fault *fault)
{
	int result = request->quick ? experiment_reduce(experiment, fault) : 0;

	if (result == 0 && request->instances != 0)
		result = experiment_set_instances(experiment, request->instances, fault);
	if (result == 0 && request->has_warmup)
		result = experiment_set_warmup(experiment, request->warmup, fault);
	if (result == 0 && request->has_messages)
		result = experiment_set_messages(experiment, request->messages, fault);
	if (result == 0 && request->has_latency_limit)
		result = experiment_set_latency_limit(experiment, request->latency_limit_ps, fault);
	if (result == 0 && request->only != NULL)
		result = experiment_select(experiment, request->only, fault);
	return result;
}

static int reproduce(const struct request *request, struct experiment *experiment)
{
	struct published published = {NULL, 0};
	struct trial *trial = NULL;
	struct fault fault;
	unsigned trials = 0;
	int result = apply(request, experiment, &fault), code;

	if (result == 0 && reproduce_plot_wanted(experiment))
		result = reproduce_plot_folder(request->folder, &fault);
	if (result == 0)
		result = schedule_make(&experiment->schedule, request->cache, &fault);
	if (result == 0)
		result = published_load(&published, experiment, &fault);
	if (result == 0) {
		trial = make_trials(experiment, &published, &trials, &fault);
		result = trial == NULL ? -errno : 0;
	}
	code = result == 0 ? compare(request, experiment, &published, trial, trials)
			   : (int)command_fault("reproduce", result, &fault);
	if (trial != NULL)
		destroy_trials(trial, trials);
	published_fini(&published);
	return code;
}

static int run_one(const struct request *request, struct experiment *experiment)
{
	if (experiment->missing[0] == '\0')
		return reproduce(request, experiment);
	return command_fail("reproduce", EXIT_NOT_ABLE, "%s cannot be run: %s", experiment->name,
		experiment->missing);
}

/* Whether '--only' of a group names the member, or there is no such option. */
static bool is_chosen(const struct request *request, const char *member)
{
	return request->only == NULL || experiment_names(request->only, member);
}

static int run_member(const struct request *request, const char *name)
{
	struct request own = *request;
	struct experiment *experiment;
	struct fault fault;
	int code;

	own.only = NULL;
	experiment = open_named(name, &fault);
	if (experiment == NULL)
		return command_fault("reproduce", -errno, &fault);
	if (!experiment_has_instances(experiment))
		own.instances = 0;
	if (!request->json)
		printf("%s%s\n", request->markdown ? "\n### " : "\n== ", name);
	code = run_one(&own, experiment);
	experiment_destroy(experiment);
	return code;
}

/* Each word of '--only' is a member. */
static bool knows_words(const struct request *request, const struct experiment *group)
{
	unsigned known = 0;

	if (request->only == NULL)
		return true;
	for (unsigned i = 0; i < group->members; i++)
		known += is_chosen(request, group->member[i]);
	return known >= experiment_count_words(request->only);
}

/* Before any of them runs, which may take hours: no chosen member is a group. */
static int check_members(const struct request *request, const struct experiment *group)
{
	int code = EXIT_DONE;

	for (unsigned i = 0; i < group->members && code == EXIT_DONE; i++) {
		struct experiment *experiment;
		struct fault fault;

		if (!is_chosen(request, group->member[i]))
			continue;
		/* One that cannot be read is named in its turn. */
		experiment = open_named(group->member[i], &fault);
		if (experiment != NULL && experiment->members > 0)
			code = command_fail("reproduce", EXIT_BAD_REQUEST,
				"%s: expected experiments as members, '%s' is a group",
				request->name, group->member[i]);
		experiment_destroy(experiment);
	}
	return code;
}

/* The members of a group one after the other; the greatest exit code, or that of Ctrl-C. */
static int run_group(struct request *request, const struct experiment *group)
{
	int code;

	if (!knows_words(request, group))
		return command_fail("reproduce", EXIT_BAD_REQUEST,
			"%s: --only %s: expected members of the group, such as %s", group->name,
			request->only, group->member[0]);
	code = check_members(request, group);
	if (code != EXIT_DONE)
		return code;
	request->group = request->json ? json_array() : NULL;
	for (unsigned i = 0; i < group->members && code != EXIT_INTERRUPTED; i++) {
		int one = is_chosen(request, group->member[i])
				  ? run_member(request, group->member[i])
				  : EXIT_DONE;

		code = one > code ? one : code;
	}
	if (request->group != NULL)
		command_print_json(json_pack("{s:s,s:s,s:o}", "weft", "reproduction-group/1",
					   "name", group->name, "members", request->group),
			JSON_REAL_PRECISION(10));
	return code;
}

int cmd_reproduce(int argc, char **argv)
{
	struct request request = {.jobs = 0};
	struct experiment *experiment;
	struct fault fault;
	int result, code;

	if (argc < 2 || command_wants_help(argc, argv)) {
		fputs(usage, argc < 2 ? stderr : stdout);
		return argc < 2 ? EXIT_BAD_REQUEST : EXIT_DONE;
	}
	result = parse(&request, argc, argv, &fault);
	if (result < 0)
		return command_fault("reproduce", result, &fault);
	if (request.list)
		return list(&request);
	experiment = open_named(request.name, &fault);
	if (experiment == NULL)
		return command_fault("reproduce", -errno, &fault);
	code = experiment->members > 0 ? run_group(&request, experiment)
				       : run_one(&request, experiment);
	experiment_destroy(experiment);
	return code;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "run_config.h"

#include <stdlib.h>
#include <string.h>

#include "run_config_fields.h"
#include "traffic/traffic_pattern.h"

static const char *const placement_choices[] = {RUN_PLACEMENTS(WORD_TEXT) NULL};

static int read_placement(const struct yaml_tree_node *node, void *member, struct error *error)
{
	struct run_placement *placement = member;
	char text[RUN_PATH_MAX];
	int result = yaml_read_text(node, text, sizeof(text), error);

	if (result < 0)
		return result;
	if (strncmp(text, "file:", 5) == 0) {
		placement->kind = RUN_PLACEMENT_FILE;
		return run_resolve_path(node, text + 5, &placement->file, error);
	}
	for (unsigned i = 0; placement_choices[i] != NULL; i++)
		if (strcmp(text, placement_choices[i]) == 0) {
			placement->kind = (enum run_placement_kind)i;
			return 0;
		}
	return yaml_tree_refuse(node, error,
		"'placement: %s': expected packed, random, by-group, spread or file:PATH", text);
}

static void write_placement(const void *member, FILE *out, unsigned indent)
{
	const struct run_placement *placement = member;
	char text[RUN_PATH_MAX + 5];

	fputc(' ', out);
	if (placement->kind != RUN_PLACEMENT_FILE) {
		fputs(placement_choices[placement->kind], out);
		return;
	}
	snprintf(text, sizeof(text), "file:%s", placement->file);
	yaml_tree_write_text(text, out);
}

/* The hosts of a job send only to each other. */
static int check_pattern(const struct run_config_traffic *traffic,
	const struct yaml_tree_node *node, struct error *error)
{
	const struct traffic_pattern *pattern = traffic->pattern;

	if (yaml_tree_get(node, "from") != NULL || yaml_tree_get(node, "to") != NULL)
		return yaml_tree_refuse(node, error,
			"the hosts of a job send to each other, so 'from' and 'to' are not allowed");
	if (pattern->schedule || pattern->pairs || pattern->anywhere ||
		(pattern->keys & TRAFFIC_TO) == 0 || pattern->spots)
		return yaml_tree_refuse(node, error,
			"pattern %s cannot be used in a job; use one that sends only to the "
			"job's hosts, such as uniform, or set 'schedule' to a schedule file",
			pattern->name);
	return 0;
}

static int read_job_traffic(const struct yaml_tree_node *node, void *member, struct error *error)
{
	struct run_config_traffic *traffic = member;
	int result = run_read_traffic_row(node, traffic, error);

	if (result == 0)
		result = check_pattern(traffic, node, error);
	if (result == 0)
		traffic->from.kind = traffic->to.kind = RUN_HOSTS_UNSET;
	return result;
}

static void write_job_traffic(const void *member, FILE *out, unsigned indent)
{
	fputc(' ', out);
	yaml_fields_write_row(run_traffic_fields, member, out);
}

#define S struct run_config_job
const struct yaml_field run_job_fields[] = {
	{"name", YAML_FIELD_NAME, true, YAML_MEMBER(S, name),
		.doc = "Name of the job, for the result."},
	{"schedule", YAML_FIELD_CUSTOM, YAML_MEMBER(S, schedule), RUN_PATH,
		.doc = "The schedule that the job runs. A job has this or `traffic`."},
	{"traffic", YAML_FIELD_CUSTOM, YAML_MEMBER(S, traffic), .read = read_job_traffic,
		.write = write_job_traffic, .optional = true, .map = run_traffic_fields,
		.doc = "Traffic among the hosts of the job: an entry as in `traffic`, without `from` and `to`."},
	{"hosts", YAML_FIELD_NUMBER, YAML_MEMBER(S, hosts), .min = 1, .max = TOPOLOGY_HOSTS_MAX,
		.optional = true,
		.doc = "Number of hosts. Required, except with `placement: file:PATH`. The job then takes this many hosts from the file, by default all."},
	{"placement", YAML_FIELD_CUSTOM, YAML_MEMBER(S, placement), .read = read_placement,
		.write = write_placement, .form = "packed|random|by-group|spread|^file:.",
		.doc = "Which free hosts the job gets."},
	{"ranks-per-host", YAML_FIELD_NUMBER, YAML_MEMBER(S, ranks_per_host), .min = 1,
		.max = TOPOLOGY_HOSTS_MAX, .optional = true,
		.doc = "Assigns this many ranks of the schedule to each host."},
	{"start", YAML_FIELD_TIME, YAML_MEMBER(S, start_ps),
		.doc = "Start of the job, relative to the start of the traffic, in whole nanoseconds."},
	{"baseline", YAML_FIELD_BOOL, YAML_MEMBER(S, baseline),
		.doc = "Also runs the job alone and with each of the others, to measure its slowdown and the interference matrix."},
	{NULL},
};
#undef S

static int check_job(
	const struct run_config_job *job, const struct yaml_tree_node *row, struct error *error)
{
	bool traffic = job->traffic.pattern != NULL;

	if (job->schedule != NULL && traffic)
		return yaml_tree_refuse(row, error,
			"job %s: 'schedule' and 'traffic' cannot be combined; use one of them",
			job->name);
	if (job->schedule == NULL && !traffic)
		return yaml_tree_refuse(
			row, error, "job %s: 'schedule' or 'traffic' is missing", job->name);
	if (job->hosts == 0 && job->placement.kind != RUN_PLACEMENT_FILE)
		return yaml_tree_refuse(
			row, error, "job %s: 'hosts', the number of hosts, is missing", job->name);
	if (traffic && job->ranks_per_host != 0)
		return yaml_tree_refuse(
			row, error, "job %s: 'ranks-per-host' requires a schedule", job->name);
	if (job->start_ps % PS_PER_NS != 0)
		return yaml_tree_refuse(row, error,
			"job %s: 'start' must be a whole number of nanoseconds", job->name);
	return 0;
}

static int check_name(const struct run_config_job_list *jobs, const struct yaml_tree_node *row,
	struct error *error)
{
	const char *name = jobs->at[jobs->count - 1].name;

	for (uint32_t i = 0; i + 1 < jobs->count; i++)
		if (strcmp(jobs->at[i].name, name) == 0)
			return yaml_tree_refuse(row, error, "duplicate job %s", name);
	return 0;
}

int run_read_jobs(const struct yaml_tree_node *node, void *member, struct error *error)
{
	struct run_config_job_list *jobs = &((struct run_config *)member)->jobs;
	void *rows;
	int result = run_read_rows(node, RUN_JOBS_MAX, sizeof(*jobs->at), &rows, error);

	if (result < 0)
		return result;
	jobs->at = rows;
	for (const struct yaml_tree_node *row = node->first; row != NULL && result == 0;
		row = row->next) {
		struct run_config_job *job = &jobs->at[jobs->count++];

		*job = (struct run_config_job){.place = run_place_of(row)};
		result = yaml_fields_read(run_job_fields, row, job, error);
		if (result == 0)
			result = check_job(job, row, error);
		if (result == 0)
			result = check_name(jobs, row, error);
	}
	return result;
}

void run_write_jobs(const void *member, FILE *out, unsigned indent)
{
	const struct run_config_job_list *jobs = &((const struct run_config *)member)->jobs;

	run_write_rows(run_job_fields, jobs->at, sizeof(*jobs->at), jobs->count, out, indent);
}

bool run_jobs_present(const void *member)
{
	return ((const struct run_config *)member)->jobs.count > 0;
}

static weft_time later(weft_time time, weft_time by)
{
	return time > WEFT_TIME_NEVER - by ? WEFT_TIME_NEVER : time + by;
}

static int make_entry(const struct run_config_job *job, struct run_config_traffic *entry)
{
	if (job->schedule == NULL) {
		*entry = job->traffic;
		entry->start_ps = later(entry->start_ps, job->start_ps);
		entry->stop_ps = later(entry->stop_ps, job->start_ps);
	} else {
		*entry = run_traffic_default;
		entry->pattern = &traffic_goal;
		entry->start_ps = job->start_ps;
		entry->ranks_per_host = job->ranks_per_host;
		entry->file = strdup(job->schedule);
	}
	entry->place = entry->from.place = entry->to.place = job->place;
	return job->schedule != NULL && entry->file == NULL ? -ENOMEM : 0;
}

int run_jobs_complete(struct run_config *config, struct error *error)
{
	struct run_config_traffic_list *list = &config->traffic;
	struct run_config_traffic *at;
	int result = 0;

	if (config->jobs.count == 0)
		return 0;
	if (list->count + config->jobs.count > RUN_TRAFFIC_MAX)
		return run_config_refuse(config, &config->jobs.at[0].place, error,
			"there are %u jobs and %u 'traffic' entries; at most %u are allowed in "
			"total",
			config->jobs.count, list->count, RUN_TRAFFIC_MAX);
	at = realloc(list->at, (list->count + config->jobs.count) * sizeof(*list->at));
	if (at == NULL)
		return error_set(error, ENOMEM, "%s: out of memory", config->origin);
	list->at = at;
	for (uint32_t i = 0; i < config->jobs.count && result == 0; i++) {
		result = make_entry(&config->jobs.at[i], &list->at[list->count]);
		list->at[list->count++].job = i + 1;
	}
	return result == 0 ? 0 : error_set(error, ENOMEM, "%s: out of memory", config->origin);
}

void run_jobs_free(struct run_config_job_list *jobs)
{
	for (uint32_t i = 0; i < jobs->count; i++) {
		/* Set only for a refused job; otherwise the entry in the run's traffic owns it. */
		run_traffic_fini(&jobs->at[i].traffic);
		free(jobs->at[i].schedule);
		free(jobs->at[i].placement.file);
	}
	free(jobs->at);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "run_hosts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/file_text.h"
#include "base/rng.h"

#define STREAM_PLACEMENT 0x6a6f6273
#define FILE_MAX         ((size_t)16 << 20)

/* --- groups --- */

struct neighbours {
	uint16_t at[TOPOLOGY_PORTS_MAX]; /* switches, ascending, without duplicates */
	unsigned count;
};

static void find_neighbours(
	const struct topology *topology, uint32_t at, struct neighbours *neighbours)
{
	unsigned kept = 0;

	neighbours->count = 0;
	for (unsigned port = 0; port < topology->switch_at[at].ports; port++) {
		int32_t link = topology->switch_port_link[at * TOPOLOGY_PORTS_MAX + port];
		const struct topology_link *found = link < 0 ? NULL : &topology->link_at[link];
		struct topology_port peer;

		if (found == NULL)
			continue;
		peer = found->a.kind == DEVICE_SWITCH && found->a.device == at &&
				       found->a.port == port
			       ? found->b
			       : found->a;
		if (peer.kind == DEVICE_SWITCH)
			neighbours->at[neighbours->count++] = (uint16_t)peer.device;
	}
	qsort(neighbours->at, neighbours->count, sizeof(neighbours->at[0]), run_hosts_compare);
	for (unsigned i = 0; i < neighbours->count; i++)
		if (i == 0 || neighbours->at[i] != neighbours->at[i - 1])
			neighbours->at[kept++] = neighbours->at[i];
	neighbours->count = kept;
}

static bool has(const struct neighbours *neighbours, uint32_t at)
{
	uint16_t key = (uint16_t)at;

	return bsearch(&key, neighbours->at, neighbours->count, sizeof(key), run_hosts_compare) !=
	       NULL;
}

static bool are_same(const struct neighbours *a, const struct neighbours *b)
{
	return a->count == b->count && memcmp(a->at, b->at, a->count * sizeof(a->at[0])) == 0;
}

struct grouping {
	const struct neighbours *of; /* [switches] */
	const bool *with_hosts;
	uint32_t *group;
};

static uint32_t root_of(uint32_t *group, uint32_t at)
{
	while (group[at] != at)
		at = group[at] = group[group[at]];
	return at;
}

static void join(uint32_t *group, uint32_t a, uint32_t b)
{
	a = root_of(group, a);
	b = root_of(group, b);
	group[a > b ? a : b] = a < b ? a : b;
}

static bool in_triangle(const struct grouping *grouping, uint32_t a, uint32_t b)
{
	const struct neighbours *of = &grouping->of[a];

	for (unsigned i = 0; i < of->count; i++)
		if (grouping->with_hosts[of->at[i]] && has(&grouping->of[b], of->at[i]))
			return true;
	return false;
}

static void join_neighbours(const struct grouping *grouping, uint32_t at)
{
	const struct neighbours *of = &grouping->of[at];

	for (unsigned i = 0; i < of->count; i++) {
		const struct neighbours *next = &grouping->of[of->at[i]];

		if (grouping->with_hosts[of->at[i]]) {
			if (in_triangle(grouping, at, of->at[i]))
				join(grouping->group, at, of->at[i]);
			continue;
		}
		for (unsigned k = 0; k < next->count; k++)
			if (grouping->with_hosts[next->at[k]] &&
				are_same(of, &grouping->of[next->at[k]]))
				join(grouping->group, at, next->at[k]);
	}
}

static void make_groups(const struct topology *topology, const struct grouping *grouping)
{
	uint32_t groups = 0;

	for (uint32_t at = 0; at < topology->switches; at++)
		grouping->group[at] = at;
	for (uint32_t at = 0; at < topology->switches; at++)
		if (grouping->with_hosts[at])
			join_neighbours(grouping, at);
	for (uint32_t at = 0; at < topology->switches; at++) {
		grouping->group[at] = root_of(grouping->group, at);
		groups += grouping->with_hosts[at] && grouping->group[at] == at;
	}
	for (uint32_t at = 0; at < topology->switches && groups == 1; at++)
		grouping->group[at] = at;
}

/* Sets group[] of every switch to the first switch of its group. Returns 0 or -ENOMEM. */
static int job_placement_groups(const struct topology *topology, uint32_t *group)
{
	struct neighbours *of = calloc(topology->switches + 1u, sizeof(*of));
	bool *with_hosts = calloc(topology->switches + 1u, sizeof(*with_hosts));
	struct topology_port at;
	bool made = of != NULL && with_hosts != NULL;

	for (uint32_t i = 0; i < topology->switches && made; i++)
		find_neighbours(topology, i, &of[i]);
	for (uint32_t host = 0; host < topology->hosts && made; host++)
		if (topology_host_switch(topology, host, &at))
			with_hosts[at.device] = true;
	if (made)
		make_groups(topology, &(struct grouping){of, with_hosts, group});
	free(of);
	free(with_hosts);
	return made ? 0 : -ENOMEM;
}

/* --- choices --- */

struct placer {
	const struct run_config *run;
	const struct topology *topology;
	struct job_placement *placement;
	uint16_t *chosen; /* [hosts]: hosts of the current job */
	uint32_t *at;     /* [hosts]: the host's switch, or the number of switches if it has none */
	uint32_t *group;  /* [switches + 1] */
	uint32_t *count;  /* [switches + 1]: scratch space */
	uint8_t *owner;   /* [hosts]: index of its job plus 1; 0: free */
	uint32_t chosen_count;
	struct error *error;
};

#define NO_JOB UINT8_MAX /* owner of edges and absent hosts */

static int refuse(const struct placer *placer, const struct run_config_job *job, const char *what)
{
	return run_config_refuse(
		placer->run, &job->place, placer->error, "job %s: %s", job->name, what);
}

static void choose(struct placer *placer, uint32_t host, uint32_t number)
{
	placer->owner[host] = (uint8_t)(number + 1);
	placer->chosen[placer->chosen_count++] = (uint16_t)host;
}

static bool wants(const struct placer *placer, const struct run_config_job *job)
{
	return placer->chosen_count < job->hosts;
}

static void choose_packed(struct placer *placer, const struct run_config_job *job, uint32_t number)
{
	for (uint32_t host = 0; host < placer->topology->hosts && wants(placer, job); host++)
		if (placer->owner[host] == 0)
			choose(placer, host, number);
}

/* Fisher-Yates shuffle, only as far as needed. */
static void choose_random(struct placer *placer, const struct run_config_job *job, uint32_t number)
{
	uint16_t *free_host = placer->chosen;
	uint32_t left = 0;
	struct rng rng;

	rng_init(&rng, placer->run->seed, number, STREAM_PLACEMENT);
	for (uint32_t host = 0; host < placer->topology->hosts; host++)
		if (placer->owner[host] == 0)
			free_host[left++] = (uint16_t)host;
	for (uint32_t i = 0; i < left && wants(placer, job); i++) {
		uint32_t other = i + (uint32_t)rng_below(&rng, left - i);
		uint16_t drawn = free_host[other];

		free_host[other] = free_host[i];
		choose(placer, drawn, number);
	}
}

/* Round i takes the first free host of each switch of which i hosts have been taken. */
static void choose_spread(struct placer *placer, const struct run_config_job *job, uint32_t number)
{
	uint32_t before;

	do {
		before = placer->chosen_count;
		memset(placer->count, 0,
			(placer->topology->switches + 1u) * sizeof(*placer->count));
		for (uint32_t host = 0; host < placer->topology->hosts && wants(placer, job);
			host++)
			if (placer->owner[host] == 0 && placer->count[placer->at[host]]++ == 0)
				choose(placer, host, number);
	} while (placer->chosen_count > before && wants(placer, job));
}

static void choose_by_group(
	struct placer *placer, const struct run_config_job *job, uint32_t number)
{
	const struct topology *topology = placer->topology;

	while (wants(placer, job)) {
		uint32_t best = 0;

		memset(placer->count, 0, (topology->switches + 1u) * sizeof(*placer->count));
		for (uint32_t host = 0; host < topology->hosts; host++)
			placer->count[placer->group[placer->at[host]]] += placer->owner[host] == 0;
		for (uint32_t at = 0; at <= topology->switches; at++)
			best = placer->count[at] > placer->count[best] ? at : best;
		if (placer->count[best] == 0)
			return;
		for (uint32_t host = 0; host < topology->hosts && wants(placer, job); host++)
			if (placer->owner[host] == 0 && placer->group[placer->at[host]] == best)
				choose(placer, host, number);
	}
}

static int take_line(
	struct placer *placer, uint32_t number, const char *path, unsigned line, const char *name)
{
	const struct run_config_job *jobs = placer->run->jobs.at;
	int32_t host = topology_find_host(placer->topology, name);

	if (host < 0)
		return error_set(placer->error, EINVAL, "%s:%u: topology %s has no host '%s'", path,
			line, placer->topology->name, name);
	if (placer->owner[host] == NO_JOB)
		return error_set(placer->error, EINVAL, "%s:%u: host %s has an edge or is absent",
			path, line, name);
	if (placer->owner[host] != 0)
		return error_set(placer->error, EINVAL, "%s:%u: job %s already has host %s", path,
			line, jobs[placer->owner[host] - 1].name, name);
	choose(placer, (uint32_t)host, number);
	return 0;
}

static int choose_listed(struct placer *placer, const struct run_config_job *job, uint32_t number)
{
	const char *path = job->placement.file;
	size_t length;
	char *text = file_text_read(path, FILE_MAX, &length, placer->error);
	char *at = text, *line, *rest;
	int result = text == NULL ? -errno : 0;

	for (unsigned i = 1; result == 0 && at != NULL && (job->hosts == 0 || wants(placer, job));
		i++) {
		line = strsep(&at, "\n");
		line[strcspn(line, "#")] = '\0';
		line = strtok_r(line, " \t\r", &rest);
		if (line != NULL)
			result = take_line(placer, number, path, i, line);
	}
	free(text);
	return result;
}

static int choose_hosts(struct placer *placer, uint32_t number)
{
	const struct run_config_job *job = &placer->run->jobs.at[number];
	char what[128];
	int result = 0;

	placer->chosen_count = 0;
	switch (job->placement.kind) {
	case RUN_PLACEMENT_PACKED:
		choose_packed(placer, job, number);
		break;
	case RUN_PLACEMENT_RANDOM:
		choose_random(placer, job, number);
		break;
	case RUN_PLACEMENT_BY_GROUP:
		choose_by_group(placer, job, number);
		break;
	case RUN_PLACEMENT_SPREAD:
		choose_spread(placer, job, number);
		break;
	case RUN_PLACEMENT_FILE:
		result = choose_listed(placer, job, number);
		break;
	}
	if (result < 0 || (placer->chosen_count > 0 && placer->chosen_count >= job->hosts))
		return result;
	if (placer->chosen_count == job->hosts)
		return refuse(placer, job, "its file contains no hosts");
	snprintf(what, sizeof(what), "%u of its %u hosts are free in topology %.48s",
		placer->chosen_count, job->hosts, placer->topology->name);
	return refuse(placer, job, what);
}

static int keep(struct placer *placer, uint16_t *const kept[], const uint32_t *counts)
{
	struct job_placement *placement = placer->placement;

	for (uint32_t i = 0; i < placer->run->jobs.count; i++) {
		memcpy(placement->host + placement->first[i], kept[i], counts[i] * sizeof(**kept));
		placement->first[i + 1] = placement->first[i] + counts[i];
	}
	return 0;
}

/* Places jobs with a file first. */
static int place_all(struct placer *placer)
{
	uint16_t *kept[RUN_JOBS_MAX] = {NULL};
	uint32_t counts[RUN_JOBS_MAX], jobs = placer->run->jobs.count;
	int result = 0;

	for (unsigned listed = 2; listed-- > 0;)
		for (uint32_t i = 0; i < jobs && result == 0; i++) {
			const struct run_config_job *job = &placer->run->jobs.at[i];

			if ((job->placement.kind == RUN_PLACEMENT_FILE) != listed)
				continue;
			result = choose_hosts(placer, i);
			counts[i] = placer->chosen_count;
			kept[i] = result == 0 ? malloc(counts[i] * sizeof(**kept)) : NULL;
			if (kept[i] != NULL)
				memcpy(kept[i], placer->chosen, counts[i] * sizeof(**kept));
			else if (result == 0)
				result = error_set(
					placer->error, ENOMEM, "not enough memory for jobs");
		}
	if (result == 0)
		result = keep(placer, kept, counts);
	for (uint32_t i = 0; i < jobs; i++)
		free(kept[i]);
	return result;
}

static void take_away(struct placer *placer)
{
	const struct topology *topology = placer->topology;
	struct topology_port at;

	for (uint32_t host = 0; host < topology->hosts; host++) {
		placer->owner[host] =
			topology->host_at[host].absent || topology->host_at[host].owner != host
				? NO_JOB
				: 0;
		placer->at[host] =
			topology_host_switch(topology, host, &at) ? at.device : topology->switches;
	}
	for (uint32_t i = 0; i < placer->run->edges.count; i++) {
		int32_t host = topology_find_host(topology, placer->run->edges.at[i].host);

		if (host >= 0)
			placer->owner[host] = NO_JOB;
	}
}

int job_placement_make(const struct run_config *run, const struct topology *topology,
	struct job_placement *placement, struct error *error)
{
	size_t hosts = (size_t)topology->hosts + 1, switches = (size_t)topology->switches + 1;
	struct placer placer = {
		.run = run,
		.topology = topology,
		.placement = placement,
		.chosen = calloc(hosts, sizeof(*placer.chosen)),
		.at = calloc(hosts, sizeof(*placer.at)),
		.owner = calloc(hosts, sizeof(*placer.owner)),
		.group = calloc(switches, sizeof(*placer.group)),
		.count = calloc(switches, sizeof(*placer.count)),
		.error = error,
	};
	int result;

	*placement = (struct job_placement){.host = calloc(hosts, sizeof(*placement->host))};
	if (placement->host == NULL || placer.chosen == NULL || placer.at == NULL ||
		placer.owner == NULL || placer.group == NULL || placer.count == NULL ||
		job_placement_groups(topology, placer.group) < 0) {
		result = error_set(error, ENOMEM, "not enough memory for jobs");
	} else {
		placer.group[topology->switches] = topology->switches;
		take_away(&placer);
		result = place_all(&placer);
	}
	free(placer.chosen);
	free(placer.at);
	free(placer.owner);
	free(placer.group);
	free(placer.count);
	return result;
}

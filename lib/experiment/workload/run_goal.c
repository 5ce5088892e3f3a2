/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "run_goal.h"

#include <errno.h>
#include <stdlib.h>

#include "flow_draw.h"
#include "permutation.h"
#include "traffic/traffic_pattern.h"

struct reader {
	struct pair_file file;
	const struct topology *topology;
	struct run_goal *goal;
	uint32_t *rank_line; /* line of each; 0: none */
};

static int take_rank(const struct reader *reader, const char *text, uint32_t *rank)
{
	char *end;
	unsigned long number = strtoul(text, &end, 10);

	if (text[0] < '0' || text[0] > '9' || *end != '\0' || number >= reader->goal->goal->ranks)
		return error_set(reader->file.error, EINVAL,
			"%s:%u: '%s': expected a rank from 0 to %u", reader->file.path,
			reader->file.line, text, reader->goal->goal->ranks - 1);
	*rank = (uint32_t)number;
	if (reader->rank_line[*rank] != 0)
		return error_set(reader->file.error, EINVAL, "%s:%u: rank %u has a host in line %u",
			reader->file.path, reader->file.line, *rank, reader->rank_line[*rank]);
	reader->rank_line[*rank] = reader->file.line;
	return 0;
}

static int take_host(const struct reader *reader, const char *text, uint32_t rank)
{
	int32_t host = topology_find_host(reader->topology, text);

	if (host < 0)
		return error_set(reader->file.error, EINVAL, "%s:%u: topology %s has no host '%s'",
			reader->file.path, reader->file.line, reader->topology->name, text);
	reader->goal->host_of[rank] = (uint16_t)host;
	return 0;
}

static int take_pair(void *ctx, char *number, char *name)
{
	uint32_t rank = 0;
	int result = take_rank(ctx, number, &rank);

	return result == 0 ? take_host(ctx, name, rank) : result;
}

static int read_file(struct reader *reader)
{
	int result = pair_file_read(&reader->file);

	for (uint32_t rank = 0; rank < reader->goal->goal->ranks && result == 0; rank++)
		if (reader->rank_line[rank] == 0)
			result = error_set(reader->file.error, EINVAL, "%s: rank %u has no host",
				reader->file.path, rank);
	return result;
}

static int read_ranks(struct run_goal *goal, const struct topology *topology, const char *path,
	struct error *error)
{
	struct reader reader = {
		.file = {path, "RANK HOST", take_pair, &reader, error},
		.topology = topology,
		.goal = goal,
		.rank_line = calloc(goal->goal->ranks, sizeof(*reader.rank_line)),
	};
	int result;

	if (reader.rank_line == NULL)
		result = error_set(error, ENOMEM, "%s: no memory", path);
	else
		result = read_file(&reader);
	free(reader.rank_line);
	return result;
}

/* Ranks in the order of hosts, or as the file says. */
static int choose_hosts(struct run_goal *goal, const struct run_config_traffic *traffic,
	const struct topology *topology, struct error *error)
{
	uint32_t ranks = goal->goal->ranks;
	uint32_t per_host = traffic->ranks_per_host != 0 ? traffic->ranks_per_host : 1;

	if (traffic->ranks != NULL)
		return read_ranks(goal, topology, traffic->ranks, error);
	if ((ranks - 1) / per_host >= topology->hosts)
		return error_set(error, EINVAL,
			"%s: %u ranks, but topology %s has %u hosts with %u each; expected "
			"ranks-per-host: %u, or a file of ranks",
			traffic->file, ranks, topology->name, topology->hosts, per_host,
			topology->hosts > 0 ? (ranks - 1) / topology->hosts + 1 : ranks);
	for (uint32_t rank = 0; rank < ranks; rank++)
		goal->host_of[rank] = (uint16_t)(rank / per_host);
	return 0;
}

static int place_ranks(struct run_goal *goal, const struct run_config_traffic *traffic,
	const struct topology *topology, struct error *error)
{
	uint32_t ranks = goal->goal->ranks;
	int result;

	goal->hosts = topology->hosts;
	goal->host_of = calloc(ranks, sizeof(*goal->host_of));
	goal->rank_of = calloc((size_t)topology->hosts + 1, sizeof(*goal->rank_of));
	goal->sender = calloc(ranks, sizeof(*goal->sender));
	if (goal->host_of == NULL || goal->rank_of == NULL || goal->sender == NULL)
		return error_set(error, ENOMEM, "no memory for a schedule");
	result = choose_hosts(goal, traffic, topology, error);
	for (uint32_t host = 0; host < topology->hosts; host++)
		goal->rank_of[host] = RUN_GOAL_NO_RANK;
	for (uint32_t rank = 0; rank < ranks && result == 0; rank++) {
		uint32_t *first = &goal->rank_of[goal->host_of[rank]];

		if (*first != RUN_GOAL_NO_RANK || goal->goal->rank[rank].count == 0)
			continue;
		*first = rank;
		goal->sender[goal->senders++] = goal->host_of[rank];
	}
	return result;
}

static int draw_schedule(struct run_goal *goal, const struct run_config *run,
	const struct topology *topology, struct error *error)
{
	int result = flow_draw(run, goal->entry, topology, &goal->flows, error);

	return result == 0 ? run_flows_schedule(&goal->flows, run->origin, &goal->goal, error)
			   : result;
}

static int open_entry(struct run_goal *goal, const struct run_config *run,
	const struct topology *topology, struct error *error)
{
	const struct run_config_traffic *traffic = &run->traffic.at[goal->entry];
	int result = 0;

	goal->start_ps = traffic->start_ps;
	if (traffic->file == NULL)
		result = draw_schedule(goal, run, topology, error);
	else if (traffic->pattern == &traffic_flows)
		result = run_flows_load(traffic->file, topology, &goal->flows, &goal->goal, error);
	else if ((goal->goal = goal_load(traffic->file, error)) == NULL)
		result = -errno;
	return result == 0 ? place_ranks(goal, traffic, topology, error) : result;
}

int run_goal_open(const struct run_config *run, const struct topology *topology,
	struct run_goal **goal, struct error *error)
{
	const struct run_config_traffic *traffic = NULL;
	struct run_goal *opened;
	int result;

	*goal = NULL;
	for (uint32_t i = 0; i < run->traffic.count && traffic == NULL; i++)
		if (run->traffic.at[i].pattern->schedule)
			traffic = &run->traffic.at[i];
	if (traffic == NULL)
		return 0;
	opened = calloc(1, sizeof(*opened));
	if (opened == NULL)
		return error_set(error, ENOMEM, "no memory for a schedule");
	opened->entry = (uint8_t)(traffic - run->traffic.at);
	opened->copy_rate_bps = run->host.copy_rate_bps;
	/* Flows measure the network. */
	if (traffic->pattern != &traffic_flows) {
		opened->overhead_ps = run->host.overhead_ps;
		opened->gap_ps = run->host.gap_ps;
	}
	opened->piece_bytes =
		traffic->pattern == &traffic_flows ? run->nic.mtu_bytes : RUN_MESSAGE_MAX;
	result = open_entry(opened, run, topology, error);
	if (result < 0)
		run_goal_close(opened);
	else
		*goal = opened;
	return result;
}

struct goal_replay *run_goal_replay(const struct run_goal *goal, struct error *error)
{
	const struct goal_replay_config config = {.goal = goal->goal,
		.host_of = goal->host_of,
		.hosts = goal->hosts,
		.copy_rate_bps = goal->copy_rate_bps,
		.overhead_ps = goal->overhead_ps,
		.gap_ps = goal->gap_ps,
		.piece_bytes = goal->piece_bytes,
		.interleave = goal->flows.count > 0,
		.times = goal->flows.count > 0};
	struct goal_replay *replay = goal_replay_create(&config);

	if (replay == NULL)
		error_set(error, ENOMEM, "no memory for a schedule");
	return replay;
}

int run_goal_check_beside(const struct run_goal *goal, const struct run_config *run,
	const struct run_hosts *hosts, struct error *error)
{
	for (uint32_t i = 0; i < hosts->entries; i++) {
		const struct run_hosts_entry *entry = &hosts->entry[i];

		if (run->traffic.at[i].pattern->schedule)
			continue;
		for (uint32_t j = 0; j < entry->from_count; j++) {
			uint32_t rank = goal->rank_of[entry->from[j]];

			if (rank != RUN_GOAL_NO_RANK)
				return run_config_refuse(run, &run->traffic.at[i].place, error,
					"host %s sends, and has rank %u of the schedule; name "
					"hosts without a rank",
					hosts->topology->host_at[entry->from[j]].name, rank);
		}
	}
	return 0;
}

void run_goal_close(struct run_goal *goal)
{
	if (goal == NULL)
		return;
	goal_destroy(goal->goal);
	free(goal->host_of);
	free(goal->rank_of);
	free(goal->sender);
	free(goal->flows.at);
	free(goal);
}

int run_goal_diagnose(
	const struct run_goal *goal, const struct goal_replay *replay, struct error *error)
{
	int result = goal_replay_diagnose(replay, error);

	if (result < 0 && goal->flows.count > 0)
		return error_set(error, EINVAL,
			"flows have not completed by the end of the run: a longer measure.duration "
			"gives them time");
	return result;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "run_goal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/quantity.h"
#include "goal/goal.h"
#include "topo/topology_hosts.h"
#include "traffic/traffic_pattern.h"

struct reader {
	struct pair_file file;
	const struct topology *topology;
	struct run_goal *goal;
	uint32_t *rank_line; /* [ranks]: line that lists the rank; 0: none */
	uint16_t *turn;      /* [hosts]: port for the host's next rank; 0: its first port */
};

static int take_rank(const struct reader *reader, const char *text, uint32_t *rank)
{
	uint64_t number;

	if (!quantity_number(text, 0, reader->goal->goal->ranks - 1u, &number))
		return error_set(reader->file.error, EINVAL,
			"%s:%u: '%s': expected a rank from 0 to %u", reader->file.path,
			reader->file.line, text, reader->goal->goal->ranks - 1);
	*rank = (uint32_t)number;
	if (reader->rank_line[*rank] != 0)
		return error_set(reader->file.error, EINVAL,
			"%s:%u: rank %u already has a host from line %u", reader->file.path,
			reader->file.line, *rank, reader->rank_line[*rank]);
	reader->rank_line[*rank] = reader->file.line;
	return 0;
}

/* Assigns the host's next port to a rank whose host is named without a port. */
static void take_turn(
	struct run_goal *goal, const struct topology *topology, uint32_t rank, uint16_t *turn)
{
	uint16_t host = goal->host_of[rank];

	goal->host_of[rank] = turn[host] != 0 ? turn[host] : host;
	turn[host] = (uint16_t)topology->host_at[goal->host_of[rank]].next;
}

static int take_host(const struct reader *reader, const char *text, uint32_t rank)
{
	int32_t host = topology_find_host(reader->topology, text);

	if (host < 0)
		return error_set(reader->file.error, EINVAL, "%s:%u: topology %s has no host '%s'",
			reader->file.path, reader->file.line, reader->topology->name, text);
	reader->goal->host_of[rank] = (uint16_t)host;
	if (strchr(text, ':') == NULL)
		take_turn(reader->goal, reader->topology, rank, reader->turn);
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
	uint16_t *turn, struct error *error)
{
	struct reader reader = {
		.file = {path, "RANK HOST", take_pair, &reader, error},
		.topology = topology,
		.goal = goal,
		.rank_line = calloc(goal->goal->ranks, sizeof(*reader.rank_line)),
		.turn = turn,
	};
	int result;

	if (reader.rank_line == NULL)
		result = error_set(error, ENOMEM, "%s: out of memory", path);
	else
		result = read_file(&reader);
	free(reader.rank_line);
	return result;
}

/* Places the ranks of a part on the hosts in order, and on each host's ports in rotation. Ranks of
 * flows are ports. 'among' NULL: all hosts of the topology. */
static int fill_hosts(struct run_goal *goal, const struct run_goal_part *part,
	const struct run_config_traffic *traffic, const uint16_t *among, uint32_t hosts,
	const struct topology *topology, const char *where, uint16_t *turn, struct error *error)
{
	uint32_t per_host = traffic->ranks_per_host != 0 ? traffic->ranks_per_host : 1;
	uint32_t host = 0, left = per_host;

	for (uint32_t rank = 0; goal->flows.count > 0 && rank < part->ranks; rank++)
		goal->host_of[rank] = (uint16_t)rank;
	if (goal->flows.count > 0)
		return 0;
	if ((part->ranks - 1) / per_host >= hosts)
		return error_set(error, EINVAL,
			"%s has %u ranks, but %s has only %u hosts with %u each; set "
			"ranks-per-host to %u%s",
			traffic->file, part->ranks, where, hosts, per_host,
			hosts > 0 ? (part->ranks - 1) / hosts + 1 : part->ranks,
			among == NULL ? ", or use a rank file" : "");
	for (uint32_t rank = 0; rank < part->ranks; rank++, left--) {
		for (; left == 0 || (among == NULL && topology->host_at[host].owner != host);
			host++)
			left = per_host;
		goal->host_of[part->first_rank + rank] =
			among != NULL ? among[host] : (uint16_t)host;
		take_turn(goal, topology, part->first_rank + rank, turn);
	}
	return 0;
}

static int place_part(struct run_goal *goal, const struct run_goal_part *part,
	const struct run_config *run, const struct topology *topology,
	const struct job_placement *placement, uint16_t *turn, struct error *error)
{
	const struct run_config_traffic *traffic = &run->traffic.at[part->entry];
	const uint32_t *first = &placement->first[part->job - 1];
	char where[TOPOLOGY_NAME_MAX + 16];

	if (part->job == 0 && traffic->ranks != NULL)
		return read_ranks(goal, topology, traffic->ranks, turn, error);
	snprintf(where, sizeof(where), "%s %s", part->job != 0 ? "job" : "topology",
		part->job != 0 ? run->jobs.at[part->job - 1].name : topology->name);
	return part->job == 0 ? fill_hosts(goal, part, traffic, NULL, topology->nodes, topology,
					where, turn, error)
			      : fill_hosts(goal, part, traffic, placement->host + first[0],
					first[1] - first[0], topology, where, turn, error);
}

/* Returns true if the rank sends to other hosts. Answers to requests for long messages do not
 * count, because their bytes hardly load the host's link. */
static bool has_send(const struct run_goal *goal, uint32_t number)
{
	const struct goal_rank *rank = &goal->goal->rank[number];

	for (uint32_t i = 0; i < rank->count; i++) {
		const struct goal_op *op = &goal->goal->op[rank->first + i];

		if (op->kind == GOAL_SEND && goal->host_of[op->peer] != goal->host_of[number])
			return true;
	}
	return false;
}

/* 'sends': hosts that are already among the senders. */
static void note_hosts(struct run_goal *goal, struct run_goal_part *part, bool *sends)
{
	const struct goal *schedule = goal->goal;

	part->first_sender = goal->senders;
	for (uint32_t i = 0; i < part->ranks; i++) {
		uint32_t rank = part->first_rank + i;
		uint16_t host = goal->host_of[rank];

		if (goal->rank_of[host] == RUN_GOAL_NO_RANK && schedule->rank[rank].count > 0) {
			goal->rank_of[host] = rank;
			goal->entry_of[host] = part->entry;
			goal->busy_hosts++;
		}
		if (sends[host] || !has_send(goal, rank))
			continue;
		sends[host] = true;
		goal->sender[goal->senders++] = host;
	}
	part->senders = goal->senders - part->first_sender;
}

/* Checks that every message of the schedule has a path between the ports of its ranks. */
static int check_planes(
	const struct run_goal *goal, const struct topology *topology, struct error *error)
{
	const struct goal *schedule = goal->goal;
	int result = 0;

	if (!topology_has_rails(topology))
		return 0;
	for (uint32_t rank = 0; rank < schedule->ranks && result == 0; rank++)
		for (uint32_t i = 0; i < schedule->rank[rank].count && result == 0; i++) {
			const struct goal_op *op = &schedule->op[schedule->rank[rank].first + i];
			uint32_t from = goal->host_of[rank], to;

			if (op->kind != GOAL_SEND)
				continue;
			to = goal->host_of[op->peer];
			if (from != to && topology_apart(topology, from, to))
				result = error_set(error, EINVAL,
					"rank %u at %s sends to rank %u at %s, but no cables "
					"lead there; use a rank file with ports in one plane",
					rank, topology->host_at[from].name, op->peer,
					topology->host_at[to].name);
		}
	return result;
}

static int place_ranks(struct run_goal *goal, const struct run_config *run,
	const struct topology *topology, struct error *error)
{
	uint16_t *turn = calloc((size_t)topology->hosts + 1, sizeof(*turn));
	bool *sends = calloc((size_t)topology->hosts + 1, sizeof(*sends));
	uint32_t ranks = goal->goal->ranks;
	struct job_placement placement = {NULL};
	int result = 0;

	goal->hosts = topology->hosts;
	goal->host_of = calloc(ranks, sizeof(*goal->host_of));
	goal->rank_of = calloc((size_t)topology->hosts + 1, sizeof(*goal->rank_of));
	goal->entry_of = calloc((size_t)topology->hosts + 1, sizeof(*goal->entry_of));
	goal->sender = calloc(ranks, sizeof(*goal->sender));
	if (goal->host_of == NULL || goal->rank_of == NULL || goal->entry_of == NULL ||
		goal->sender == NULL || turn == NULL || sends == NULL) {
		free(turn);
		free(sends);
		return error_set(error, ENOMEM, "not enough memory for a schedule");
	}
	for (uint32_t host = 0; host < topology->hosts; host++)
		goal->rank_of[host] = RUN_GOAL_NO_RANK;
	if (run->jobs.count > 0)
		result = job_placement_make(run, topology, &placement, error);
	for (uint32_t i = 0; i < goal->parts && result == 0; i++) {
		result = place_part(goal, &goal->part[i], run, topology, &placement, turn, error);
		if (result == 0)
			note_hosts(goal, &goal->part[i], sends);
	}
	free(placement.host);
	free(turn);
	free(sends);
	return result == 0 ? check_planes(goal, topology, error) : result;
}

static int draw_schedule(struct run_goal *goal, const struct run_config *run,
	const struct topology *topology, struct error *error)
{
	int result = flow_draw(run, goal->part[0].entry, topology, &goal->flows, error);

	return result == 0 ? run_flows_schedule(&goal->flows, run->origin, &goal->goal, error)
			   : result;
}

/* Loads the schedule of one part. */
static int load_part(struct run_goal *goal, const struct run_config *run, uint32_t number,
	const struct topology *topology, struct error *error)
{
	const struct run_config_traffic *traffic = &run->traffic.at[goal->part[number].entry];
	int result = 0;

	goal->goal = NULL;
	if (traffic->file == NULL)
		result = draw_schedule(goal, run, topology, error);
	else if (traffic->pattern == &traffic_flows)
		result = run_flows_load(
			traffic->file, topology, traffic->rail, &goal->flows, &goal->goal, error);
	else if ((goal->goal = goal_load(traffic->file, error)) == NULL)
		result = -errno;
	return result;
}

/* Merges the schedules of jobs; a single schedule without a job is used unchanged. */
static int join_parts(struct run_goal *goal, struct goal_part *from, struct goal **loaded,
	const struct run_config *run, struct error *error)
{
	weft_time first = WEFT_TIME_NEVER;

	for (uint32_t i = 0; i < goal->parts; i++)
		first = goal->part[i].start_ps < first ? goal->part[i].start_ps : first;
	goal->start_ps = first;
	if (goal->part[0].job == 0) {
		goal->goal = loaded[0];
		loaded[0] = NULL;
		return 0;
	}
	for (uint32_t i = 0; i < goal->parts; i++)
		from[i] = (struct goal_part){loaded[i], run->jobs.at[goal->part[i].job - 1].name,
			(goal->part[i].start_ps - first) / PS_PER_NS};
	goal->goal = goal_join(from, goal->parts, error);
	return goal->goal != NULL ? 0 : -errno;
}

static int load_parts(struct run_goal *goal, const struct run_config *run,
	const struct topology *topology, struct error *error)
{
	struct goal_part *from = calloc(goal->parts, sizeof(*from));
	struct goal **loaded = calloc(goal->parts, sizeof(*loaded));
	uint32_t ranks = 0;
	int result = 0;

	if (from == NULL || loaded == NULL)
		result = error_set(error, ENOMEM, "not enough memory for a schedule");
	for (uint32_t i = 0; i < goal->parts && result == 0; i++) {
		result = load_part(goal, run, i, topology, error);
		loaded[i] = goal->goal;
		goal->goal = NULL;
		if (result < 0)
			break;
		goal->part[i].first_rank = ranks;
		goal->part[i].ranks = loaded[i]->ranks;
		ranks += loaded[i]->ranks;
	}
	if (result == 0)
		result = join_parts(goal, from, loaded, run, error);
	for (uint32_t i = 0; i < goal->parts && loaded != NULL; i++)
		goal_destroy(loaded[i]);
	free(loaded);
	free(from);
	return result == 0 ? place_ranks(goal, run, topology, error) : result;
}

static void list_parts(struct run_goal *goal, const struct run_config *run)
{
	for (uint32_t i = 0; i < run->traffic.count; i++) {
		const struct run_config_traffic *traffic = &run->traffic.at[i];

		if (traffic->pattern->schedule && !run_job_is_absent(run, traffic))
			goal->part[goal->parts++] = (struct run_goal_part){.entry = (uint8_t)i,
				.job = traffic->job,
				.start_ps = traffic->start_ps};
	}
}

int run_goal_open(const struct run_config *run, const struct topology *topology,
	struct run_goal **goal, struct error *error)
{
	const struct run_config_traffic *traffic;
	struct run_goal *opened;
	int result = 0;

	*goal = NULL;
	if (!run_config_has_schedule(run))
		return 0;
	opened = calloc(1, sizeof(*opened));
	if (opened != NULL)
		opened->part = calloc(run->traffic.count, sizeof(*opened->part));
	if (opened == NULL || opened->part == NULL) {
		run_goal_close(opened);
		return error_set(error, ENOMEM, "not enough memory for a schedule");
	}
	list_parts(opened, run);
	if (opened->parts == 0) {
		run_goal_close(opened);
		return 0;
	}
	traffic = &run->traffic.at[opened->part[0].entry];
	opened->copy_rate_bps = run->host.copy_rate_bps;
	/* Flows measure only the network. */
	if (traffic->pattern != &traffic_flows) {
		opened->overhead_ps = run->host.overhead_ps;
		opened->gap_ps = run->host.gap_ps;
		opened->rendezvous_bytes = run->host.rendezvous_bytes;
	}
	opened->piece_bytes =
		traffic->pattern == &traffic_flows ? run->nic.mtu_bytes : RUN_MESSAGE_MAX;
	result = load_parts(opened, run, topology, error);
	if (result < 0)
		run_goal_close(opened);
	else
		*goal = opened;
	return result;
}

const uint16_t *run_goal_senders(const struct run_goal *goal, uint8_t entry, uint32_t *count)
{
	*count = 0;
	for (uint32_t i = 0; i < goal->parts; i++)
		if (goal->part[i].entry == entry) {
			*count = goal->part[i].senders;
			return goal->sender + goal->part[i].first_sender;
		}
	return NULL;
}

struct goal_replay *run_goal_replay(const struct run_goal *goal, bool spills, struct error *error)
{
	const struct goal_replay_config config = {.goal = goal->goal,
		.host_of = goal->host_of,
		.hosts = goal->hosts,
		.copy_rate_bps = goal->copy_rate_bps,
		.overhead_ps = goal->overhead_ps,
		.gap_ps = goal->gap_ps,
		.piece_bytes = goal->piece_bytes,
		.rendezvous_bytes = goal->rendezvous_bytes,
		.interleave = goal->flows.count > 0,
		.spills = spills,
		.times = goal->flows.count > 0};
	struct goal_replay *replay = goal_replay_create(&config);

	if (replay == NULL)
		error_set(error, ENOMEM, "not enough memory for a schedule");
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
					"host %s sends but also has rank %u of the schedule; use hosts without a rank",
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
	free(goal->entry_of);
	free(goal->part);
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
			"flows did not complete by the end of the run; use a longer measure.duration");
	return result;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "route_set.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "route_algorithm.h"
#include "topo/topology_hosts.h"

/* All routes to one destination. A pair's entry is a count byte and, for each route, a length byte
 * and the route. Offset 0 means no entry, so the first byte of the block is unused. */
struct column {
	uint32_t *entry; /* [hosts]: offset by source; NULL: no routes */
	uint8_t *bytes;
	uint32_t used, room;
};

struct route_set {
	struct route_origin origin;
	struct vc_rule *vc_rule;
	double excess;
	uint32_t hosts;
	uint8_t *parts;              /* [source][destination][route]; NULL: not merged */
	struct route_demand *demand; /* computes all routes; NULL: they are in the columns */
	struct column column[];
};

struct route_set *route_set_create(uint32_t hosts)
{
	struct route_set *set = calloc(1, sizeof(*set) + hosts * sizeof(set->column[0]));

	if (set == NULL)
		return NULL;
	set->hosts = hosts;
	set->excess = -1;
	return set;
}

void route_set_destroy(struct route_set *set)
{
	if (set == NULL)
		return;
	for (uint32_t host = 0; host < set->hosts; host++) {
		free(set->column[host].entry);
		free(set->column[host].bytes);
	}
	vc_rule_destroy(set->vc_rule);
	route_demand_destroy(set->demand);
	free(set->parts);
	free(set);
}

struct route_origin *route_set_origin(struct route_set *set)
{
	return &set->origin;
}

const struct route_origin *route_set_origin_const(const struct route_set *set)
{
	return &set->origin;
}

uint32_t route_set_hosts(const struct route_set *set)
{
	return set->hosts;
}

void route_set_use_vc_rule(struct route_set *set, struct vc_rule *rule)
{
	vc_rule_destroy(set->vc_rule);
	set->vc_rule = rule;
}

void route_set_note_excess(struct route_set *set, double excess)
{
	set->excess = excess;
}

double route_set_excess(const struct route_set *set)
{
	return set->excess;
}

const struct vc_rule *route_set_vc_rule(const struct route_set *set)
{
	return set->vc_rule;
}

void route_set_use_demand(struct route_set *set, struct route_demand *demand)
{
	set->demand = demand;
}

bool route_set_is_on_demand(const struct route_set *set)
{
	return set->demand != NULL;
}

bool route_set_failed(const struct route_set *set)
{
	return set->demand != NULL && route_demand_failed(set->demand);
}

const char *route_set_fault(const struct route_set *set)
{
	return set->demand != NULL ? route_demand_fault(set->demand) : "";
}

bool route_set_owns(const struct route_set *set, uint32_t destination, const uint8_t *route)
{
	const struct column *column = &set->column[destination];

	return route >= column->bytes && route < column->bytes + column->used;
}

static int column_reserve(struct column *column, uint32_t hosts, uint32_t more)
{
	uint32_t room = column->room;
	uint8_t *bytes;

	if (column->entry == NULL) {
		column->entry = calloc(hosts, sizeof(*column->entry));
		if (column->entry == NULL)
			return -ENOMEM;
	}
	if (column->used + more <= room)
		return 0;
	if (room > UINT32_MAX / 2)
		return -ENOMEM;
	room = room == 0 ? hosts * 6 + more + 1 : room + room / 4 + more;
	bytes = realloc(column->bytes, room);
	if (bytes == NULL)
		return -ENOMEM;
	column->bytes = bytes;
	column->room = room;
	if (column->used == 0)
		column->used = 1;
	return 0;
}

static uint32_t entry_bytes(const uint8_t *entry)
{
	uint32_t bytes = 1;

	for (unsigned i = 0; i < entry[0]; i++)
		bytes += 1u + entry[bytes];
	return bytes;
}

/* Moves the pair's entry to the end of the block, so that it can grow. The old copy is wasted,
 * which costs nothing if routes are added pair by pair. */
static void entry_open(struct column *column, uint32_t source)
{
	uint32_t at = column->entry[source], bytes;

	if (at == 0) {
		column->entry[source] = column->used;
		column->bytes[column->used++] = 0;
		return;
	}
	bytes = entry_bytes(column->bytes + at);
	if (at + bytes != column->used) {
		memcpy(column->bytes + column->used, column->bytes + at, bytes);
		column->entry[source] = column->used;
		column->used += bytes;
	}
}

int route_set_add(struct route_set *set, uint32_t source, uint32_t destination,
	const uint8_t *route, unsigned length)
{
	const uint32_t entry_max = 1 + ROUTE_ALTERNATIVES_MAX * (1 + ROUTE_ELEMENTS_MAX);
	struct column *column;
	int result;

	if (source >= set->hosts || destination >= set->hosts || source == destination ||
		length == 0 || length > ROUTE_ELEMENTS_MAX)
		return -EINVAL;
	if (set->demand != NULL)
		return route_demand_add(set->demand, source, destination, route, length);
	column = &set->column[destination];
	if (route_set_count(set, source, destination) == ROUTE_ALTERNATIVES_MAX)
		return -ENOSPC;
	result = column_reserve(column, set->hosts, entry_max);
	if (result < 0)
		return result;
	entry_open(column, source);
	column->bytes[column->entry[source]]++;
	column->bytes[column->used++] = (uint8_t)length;
	memcpy(column->bytes + column->used, route, length);
	column->used += length;
	return 0;
}

const uint8_t *route_set_pair(const struct route_set *set, uint32_t source, uint32_t destination)
{
	const struct column *column;

	if (source >= set->hosts || destination >= set->hosts)
		return NULL;
	if (set->demand != NULL)
		return source != destination ? route_demand_entry(set->demand, source, destination)
					     : NULL;
	column = &set->column[destination];
	if (column->entry == NULL || column->entry[source] == 0)
		return NULL;
	return column->bytes + column->entry[source];
}

unsigned route_set_count(const struct route_set *set, uint32_t source, uint32_t destination)
{
	return route_pair_count(route_set_pair(set, source, destination));
}

const uint8_t *route_set_get(const struct route_set *set, uint32_t source, uint32_t destination,
	unsigned i, unsigned *length)
{
	return route_pair_get(route_set_pair(set, source, destination), i, length);
}

void route_set_add_lengths(const struct route_set *set, uint64_t *sum)
{
	unsigned length;

	if (set->demand != NULL) {
		route_demand_sum(set->demand, sum);
		return;
	}
	/* The routes to one destination are adjacent in memory. */
	for (uint32_t to = 0; to < set->hosts; to++)
		for (uint32_t from = 0; from < set->hosts; from++)
			if (route_set_get(set, from, to, 0, &length) != NULL)
				sum[from] += length;
}

unsigned route_set_longest(const struct route_set *set)
{
	unsigned longest = 0, length;

	if (set->demand != NULL)
		return FRAME_ROUTE_USUAL;
	for (uint32_t to = 0; to < set->hosts; to++)
		for (uint32_t from = 0; from < set->hosts; from++)
			for (unsigned i = 0; route_set_get(set, from, to, i, &length) != NULL; i++)
				longest = length > longest ? length : longest;
	return longest;
}

int route_set_mark_parts(
	struct route_set *set, uint32_t source, uint32_t destination, unsigned i, uint8_t parts)
{
	size_t pair = (size_t)source * set->hosts + destination;

	if (i >= route_set_count(set, source, destination))
		return -EINVAL;
	if (set->parts == NULL)
		set->parts = calloc((size_t)set->hosts * set->hosts, ROUTE_ALTERNATIVES_MAX);
	if (set->parts == NULL)
		return -ENOMEM;
	set->parts[pair * ROUTE_ALTERNATIVES_MAX + i] |= parts;
	return 0;
}

const uint8_t *route_set_parts(const struct route_set *set, uint32_t source)
{
	size_t row = (size_t)set->hosts * ROUTE_ALTERNATIVES_MAX;

	return set->parts == NULL ? NULL : set->parts + source * row;
}

size_t route_set_pack(const struct route_set *set, uint32_t destination, uint8_t *out)
{
	size_t bytes = 0;

	for (uint32_t source = 0; source < set->hosts; source++) {
		const uint8_t *entry = route_set_pair(set, source, destination);
		size_t more = entry == NULL ? 1 : entry_bytes(entry);

		if (out != NULL && entry == NULL)
			out[bytes] = 0;
		else if (out != NULL)
			memcpy(out + bytes, entry, more);
		bytes += more;
	}
	return bytes;
}

static size_t check_entry(const uint8_t *entry, size_t left)
{
	size_t bytes = 1;

	if (left == 0 || entry[0] > ROUTE_ALTERNATIVES_MAX)
		return 0;
	for (unsigned i = 0; i < entry[0]; i++) {
		if (bytes >= left || entry[bytes] == 0 || entry[bytes] > ROUTE_ELEMENTS_MAX)
			return 0;
		bytes += 1u + entry[bytes];
	}
	return bytes <= left ? bytes : 0;
}

int route_set_unpack(struct route_set *set, uint32_t destination, const uint8_t *block,
	size_t bytes, size_t *where)
{
	struct column *column = &set->column[destination];
	uint32_t *entry;

	*where = 0;
	if (column->entry != NULL || bytes >= UINT32_MAX)
		return -EINVAL;
	entry = calloc(set->hosts, sizeof(*entry));
	column->bytes = malloc(bytes + 1);
	if (entry == NULL || column->bytes == NULL) {
		free(entry);
		return -ENOMEM;
	}
	memcpy(column->bytes + 1, block, bytes);
	column->entry = entry;
	column->used = column->room = (uint32_t)bytes + 1;
	for (uint32_t source = 0; source < set->hosts; source++) {
		size_t more = check_entry(block + *where, bytes - *where);

		if (more == 0 || (source == destination && more > 1))
			return -EINVAL;
		if (more > 1)
			entry[source] = (uint32_t)*where + 1;
		*where += more;
	}
	return *where == bytes ? 0 : -EINVAL;
}

int route_set_check_connected(
	const struct route_set *set, const struct topology *topology, struct error *error)
{
	uint32_t first_source = 0, first_destination = 0;
	uint64_t missing = 0;

	if (set->demand != NULL)
		return 0;
	for (uint32_t source = 0; source < set->hosts; source++)
		for (uint32_t destination = 0; destination < set->hosts; destination++) {
			if (source == destination ||
				route_set_count(set, source, destination) > 0 ||
				topology_apart(topology, source, destination))
				continue;
			if (missing++ == 0) {
				first_source = source;
				first_destination = destination;
			}
		}
	if (missing == 0)
		return 0;
	return error_set(error, EINVAL,
		"%s: there is no route from %s to %s (%" PRIu64
		" pairs of hosts have no route); use a connected topology",
		topology->name, topology->host_at[first_source].name,
		topology->host_at[first_destination].name, missing);
}

struct part {
	route_job_fn run;
	void *context;
	unsigned job, jobs;
	pthread_t thread;
	int result;
	struct error error;
};

static void *part_run(void *argument)
{
	struct part *part = argument;

	part->result = part->run(part->context, part->job, part->jobs, &part->error);
	return NULL;
}

int route_jobs_run(unsigned jobs, route_job_fn run, void *context, struct error *error)
{
	unsigned parts = jobs == 0 ? 1 : jobs, started;
	struct part *part;
	int result = 0;

	if (parts == 1)
		return run(context, 0, 1, error);
	part = calloc(parts, sizeof(*part));
	if (part == NULL)
		return error_set(error, ENOMEM, "not enough memory for %u jobs", parts);
	for (unsigned i = 0; i < parts; i++)
		part[i] = (struct part){.run = run, .context = context, .job = i, .jobs = parts};
	for (started = 1; started < parts; started++)
		if (pthread_create(&part[started].thread, NULL, part_run, &part[started]) != 0)
			break;
	part_run(&part[0]);
	for (unsigned i = started; i < parts; i++)
		part_run(&part[i]);
	for (unsigned i = 1; i < started; i++)
		pthread_join(part[i].thread, NULL);
	for (unsigned i = 0; i < parts && result == 0; i++)
		if (part[i].result < 0)
			result = error_set(error, -part[i].result, "%s", part[i].error.text);
	free(part);
	return result;
}

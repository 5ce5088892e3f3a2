/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "run_flows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/arrays.h"
#include "run_hosts.h"
#include "traffic/arrivals.h"

#define STREAM_FLOWS    0x666c6f77
#define STREAM_ARRIVALS 0x61727269
#define FLOW_WEIGHT_MAX UINT32_MAX
#define FLOW_MATRIX_MAX (1u << 26)
#define WHOLE_TOLERANCE 1e-9

/* --- distribution of sizes --- */

struct points {
	struct flow_size_point **at;
	uint32_t count, room;
};

static bool take_share(const char *text, double *share)
{
	char *end;

	if (strspn(text, "0123456789.eE-+") != strlen(text) || text[0] < '0' || text[0] > '9')
		return false;
	*share = strtod(text, &end);
	return *end == '\0' && *share >= 0 && *share <= 100;
}

static int take_point(const struct flow_reader *reader, char *const *column, unsigned columns)
{
	struct points *points = reader->ctx;
	struct flow_size_point point, *last = NULL;

	if (columns != 2)
		return FLOW_REFUSE(reader, "expected BYTES SHARE");
	if (!flow_digits(column[0], FLOW_SIZE_MAX, &point.bytes))
		return FLOW_REFUSE(
			reader, "'%s': expected a number of bytes up to 2^40", column[0]);
	if (!take_share(column[1], &point.share))
		return FLOW_REFUSE(
			reader, "'%s': expected a share from 0 to 1, or to 100", column[1]);
	if (points->count > 0)
		last = &(*points->at)[points->count - 1];
	if (last != NULL && (point.bytes < last->bytes || point.share < last->share))
		return FLOW_REFUSE(reader,
			"the value must be at least the %s of the previous "
			"line",
			point.bytes < last->bytes ? "bytes" : "share");
	if (points->count == FLOW_SIZE_POINTS_MAX)
		return FLOW_REFUSE(reader, "more than %u points", FLOW_SIZE_POINTS_MAX);
	if (!array_reserve(points->at, &points->room, points->count + 1, sizeof(point)))
		return -ENOMEM;
	(*points->at)[points->count++] = point;
	return 0;
}

/* Converts shares to fractions of 1. */
static int finish_sizes(const struct points *points, const char *path, struct flow_sizes *sizes,
	struct error *error)
{
	struct flow_size_point *at = *points->at;
	double whole = points->count > 0 ? at[points->count - 1].share : 0;

	if (whole > 100 - WHOLE_TOLERANCE)
		whole = 100;
	else if (whole < 1 - WHOLE_TOLERANCE || whole > 1 + WHOLE_TOLERANCE)
		return error_set(error, EINVAL, "%s: the last line's share must be 1 or 100", path);
	if (at[points->count - 1].bytes == 0)
		return error_set(error, EINVAL, "%s: flows must have at least 1 byte", path);
	for (uint32_t i = 0; i < points->count; i++)
		at[i].share = i + 1 < points->count ? at[i].share / whole : 1;
	*sizes = (struct flow_sizes){path, at, points->count};
	return 0;
}

int flow_sizes_parse(char *text, size_t length, const char *path, struct flow_size_point **at,
	struct flow_sizes *sizes, struct error *error)
{
	struct points points = {at, 0, 0};
	struct flow_reader reader = {path, NULL, take_point, &points, error, 0};
	int result;

	*at = NULL;
	result = flow_lines_parse(&reader, text, length);
	return result == 0 ? finish_sizes(&points, path, sizes, error) : result;
}

static int load_sizes(const struct run_config_traffic *traffic, struct flow_size_point **at,
	struct flow_sizes *sizes, struct error *error)
{
	struct points points = {at, 0, 0};
	struct flow_reader reader = {traffic->sizes.file, NULL, take_point, &points, error, 0};
	int result;

	*at = NULL;
	if (traffic->sizes.known != NULL) {
		*sizes = *traffic->sizes.known;
		return 0;
	}
	result = flow_lines_load(&reader);
	return result == 0 ? finish_sizes(&points, reader.path, sizes, error) : result;
}

/* --- matrix --- */

struct pairs {
	struct flow_matrix *matrix;
	uint32_t room, lines;
	bool named; /* some host is given by name, which may be a number */
};

static int take_pair(const struct flow_reader *reader, char *const *column, unsigned columns)
{
	struct pairs *pairs = reader->ctx;
	struct flow_matrix *matrix = pairs->matrix;
	struct flow_pair pair = {0};
	int result;

	if (columns != 3)
		return FLOW_REFUSE(reader, "expected SRC DST WEIGHT, one pair per line");
	pairs->lines++;
	pairs->named = pairs->named || topology_find_host(reader->topology, column[0]) >= 0 ||
		       topology_find_host(reader->topology, column[1]) >= 0;
	result = flow_host(reader, column[0], &pair.from);
	if (result == 0)
		result = flow_host(reader, column[1], &pair.to);
	if (result < 0)
		return result;
	if (pair.from == pair.to)
		return FLOW_REFUSE(reader, "host %s would send to itself", column[0]);
	if (!flow_digits(column[2], FLOW_WEIGHT_MAX, &pair.weight))
		return FLOW_REFUSE(
			reader, "'%s': expected a weight from 0 to %u", column[2], FLOW_WEIGHT_MAX);
	if (pair.weight == 0)
		return 0;
	if (matrix->count == FLOW_MATRIX_MAX)
		return FLOW_REFUSE(reader, "more than %u pairs", FLOW_MATRIX_MAX);
	if (!array_reserve(&matrix->at, &pairs->room, matrix->count + 1, sizeof(pair)))
		return -ENOMEM;
	matrix->at[matrix->count++] = pair;
	return 0;
}

static int compare_pairs(const void *a, const void *b)
{
	const struct flow_pair *x = a, *y = b;

	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	return x->to < y->to ? -1 : x->to > y->to;
}

static int finish_matrix(const struct pairs *pairs, const char *path, struct error *error)
{
	struct flow_matrix *matrix = pairs->matrix;

	/* Would otherwise be read as three pairs. */
	if (pairs->lines == 3 && !pairs->named)
		return error_set(error, EINVAL,
			"%s: 3 lines of 3 numbers may be a square matrix; write SRC DST WEIGHT "
			"with host names, such as h0",
			path);
	if (matrix->count == 0)
		return error_set(error, EINVAL, "%s: no pair with a weight above 0", path);
	qsort(matrix->at, matrix->count, sizeof(*matrix->at), compare_pairs);
	for (uint32_t i = 1; i < matrix->count; i++)
		if (matrix->at[i].from == matrix->at[i - 1].from)
			matrix->at[i].weight += matrix->at[i - 1].weight;
	return 0;
}

int flow_matrix_parse(char *text, size_t length, const char *path, const struct topology *topology,
	struct flow_matrix *matrix, struct error *error)
{
	struct pairs pairs = {.matrix = matrix};
	struct flow_reader reader = {path, topology, take_pair, &pairs, error, 0};
	int result;

	*matrix = (struct flow_matrix){0};
	result = flow_lines_parse(&reader, text, length);
	return result == 0 ? finish_matrix(&pairs, path, error) : result;
}

static int load_matrix(const char *path, const struct topology *topology,
	struct flow_matrix *matrix, struct error *error)
{
	struct pairs pairs = {.matrix = matrix};
	struct flow_reader reader = {path, topology, take_pair, &pairs, error, 0};
	int result = flow_lines_load(&reader);

	return result == 0 ? finish_matrix(&pairs, path, error) : result;
}

/* --- drawing --- */

struct drawer {
	const struct run_config *run;
	const struct run_config_traffic *traffic;
	uint32_t which;
	const struct topology *topology;
	const struct run_hosts_entry *hosts; /* NULL: use 'matrix' */
	struct rails *rails;                 /* NULL: every host has one port */
	struct flow_matrix matrix;
	struct flow_sizes sizes;
	double wire_bytes; /* mean per flow */
	struct run_flows *flows;
	uint32_t room;
};

/* A sender and its destinations. */
struct drawn_host {
	uint16_t host;         /* a port, if the host has several */
	uint32_t first, count; /* its pairs in the matrix */
	double share;          /* share of the load */
};

static uint16_t draw_pair(const struct drawer *drawer, const struct drawn_host *at, struct rng *rng)
{
	const struct flow_pair *pair = &drawer->matrix.at[at->first];
	uint64_t drawn = rng_below(rng, pair[at->count - 1].weight);
	uint32_t low = 0, high = at->count - 1;

	while (low < high) {
		uint32_t middle = (low + high) / 2;

		if (pair[middle].weight <= drawn)
			low = middle + 1;
		else
			high = middle;
	}
	return pair[low].to;
}

/* Draws an entry of 'to' other than the host itself, at index 'self' (to_count: not in 'to'). */
static uint16_t draw_other(const struct run_hosts_entry *hosts, uint32_t self, struct rng *rng)
{
	uint32_t others = hosts->to_count - (self < hosts->to_count);
	uint32_t drawn = (uint32_t)rng_below(rng, others);

	return hosts->to[drawn + (drawn >= self)];
}

static uint32_t place_of(const struct run_hosts_entry *hosts, uint16_t host)
{
	uint32_t place = 0;

	while (place < hosts->to_count && hosts->to[place] != host)
		place++;
	return place;
}

/* Returns the mean interval between flows. */
static weft_time gap_of(const struct drawer *drawer, const struct drawn_host *at)
{
	struct topology_port port = {DEVICE_HOST, at->host, 0};
	double rate = (double)topology_link_at(drawer->topology, port)->rate_bps;
	double gap = drawer->wire_bytes * 8e12 * 1e6 /
		     (rate * drawer->traffic->value.load_ppm * at->share);

	/* Capped so that a drawn gap, which may be up to 45 times as long, does not wrap. */
	return gap < 1 ? 1 : gap < 0x1p58 ? (weft_time)gap : UINT64_C(1) << 58;
}

static uint16_t draw_destination(
	const struct drawer *drawer, const struct drawn_host *at, uint32_t self, struct rng *rng)
{
	return drawer->hosts != NULL ? draw_other(drawer->hosts, self, rng)
				     : draw_pair(drawer, at, rng);
}

/* Draws until 'rail' lets the port send to the host. Returns false if it reaches almost no host. */
static bool draw_port(const struct drawer *drawer, const struct drawn_host *at, uint32_t self,
	struct rng *rng, uint16_t *to)
{
	uint32_t port = RAILS_NONE;

	for (unsigned i = 0; i < RAIL_DRAWS_MAX && port == RAILS_NONE; i++) {
		uint32_t host = drawer->rails->host_of[draw_destination(drawer, at, self, rng)];

		if (host != drawer->rails->host_of[at->host])
			port = rails_port(
				drawer->rails, drawer->traffic->rail, at->host, host, rng);
	}
	*to = (uint16_t)port;
	return port != RAILS_NONE;
}

static int draw_host(struct drawer *drawer, const struct drawn_host *at)
{
	uint64_t device = (uint64_t)drawer->which << 32 | at->host;
	uint32_t self = drawer->hosts != NULL
				? place_of(drawer->hosts,
					  (uint16_t)drawer->topology->host_at[at->host].owner)
				: 0;
	weft_time length = drawer->traffic->stop_ps - drawer->traffic->start_ps;
	weft_time gap = gap_of(drawer, at), now = 0;
	struct arrivals_stream stream = {0};
	struct arrivals arrivals;
	struct rng rng;

	arrivals_init(&arrivals, ARRIVALS_POISSON, 0, 0);
	rng_init(&stream.rng, drawer->run->seed, device, STREAM_ARRIVALS);
	rng_init(&rng, drawer->run->seed, device, STREAM_FLOWS);
	while ((now += arrivals_next(&arrivals, &stream, gap)) < length) {
		struct run_flow_request flow = {.from = at->host,
			.after = RUN_FLOW_NONE,
			.start_ps = now - now % PS_PER_NS,
			.bytes = flow_sizes_draw(&drawer->sizes, &rng)};
		int result;

		if (drawer->rails == NULL)
			flow.to = draw_destination(drawer, at, self, &rng);
		else if (!draw_port(drawer, at, self, &rng, &flow.to))
			return 0;
		result = flow_add(drawer->flows, &drawer->room, &flow);
		if (result < 0)
			return result;
	}
	return 0;
}

static int draw_from_hosts(struct drawer *drawer)
{
	const struct run_hosts_entry *hosts = drawer->hosts;
	int result = 0;

	for (uint32_t i = 0; i < hosts->from_count && result == 0; i++) {
		const struct drawn_host at = {.host = hosts->from[i], .share = 1};

		if (hosts->to_count > 1 || hosts->to[0] != drawer->topology->host_at[at.host].owner)
			result = draw_host(drawer, &at);
	}
	return result;
}

/* A host of a matrix sends through all of its ports. */
static int draw_ports(struct drawer *drawer, struct drawn_host *at)
{
	int result = draw_host(drawer, at);

	while (result == 0 && drawer->topology->host_at[at->host].next != 0) {
		at->host = (uint16_t)drawer->topology->host_at[at->host].next;
		result = draw_host(drawer, at);
	}
	return result;
}

static int draw_from_matrix(struct drawer *drawer)
{
	const struct flow_matrix *matrix = &drawer->matrix;
	uint64_t max = 0;
	int result = 0;

	for (uint32_t i = 0; i < matrix->count; i++)
		max = matrix->at[i].weight > max ? matrix->at[i].weight : max;
	for (uint32_t first = 0, i = 1; i <= matrix->count && result == 0; i++) {
		if (i < matrix->count && matrix->at[i].from == matrix->at[first].from)
			continue;
		result = draw_ports(
			drawer, &(struct drawn_host){.host = matrix->at[first].from,
					.first = first,
					.count = i - first,
					.share = (double)matrix->at[i - 1].weight / (double)max});
		first = i;
	}
	return result;
}

static int compare_flows(const void *a, const void *b)
{
	const struct run_flow_request *x = a, *y = b;

	if (x->start_ps != y->start_ps)
		return x->start_ps < y->start_ps ? -1 : 1;
	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	/* A host can start two flows in the same nanosecond. */
	if (x->to != y->to)
		return x->to < y->to ? -1 : 1;
	return x->bytes < y->bytes ? -1 : x->bytes > y->bytes;
}

static int draw_flows(struct drawer *drawer, struct error *error)
{
	const struct run_config *run = drawer->run;
	struct run_flows *flows = drawer->flows;
	int result;

	drawer->wire_bytes = flow_sizes_wire_bytes(&drawer->sizes, run->nic.mtu_bytes,
		FRAME_HEADER_BYTES + FRAME_WIRE_OVERHEAD + run_config_extra_bytes(run));
	result = drawer->hosts != NULL ? draw_from_hosts(drawer) : draw_from_matrix(drawer);
	if (result == -ENOSPC)
		return run_config_refuse(run, &drawer->traffic->place, error,
			"more than %u flows; use an earlier 'stop', larger 'sizes' or a lower "
			"'load'",
			RUN_FLOWS_MAX);
	if (result < 0)
		return error_set(error, ENOMEM, "%s: not enough memory for flows", run->origin);
	if (flows->count == 0)
		return run_config_refuse(run, &drawer->traffic->place, error,
			"no flow starts before 'stop'; use a later 'stop' or smaller 'sizes'");
	qsort(flows->at, flows->count, sizeof(*flows->at), compare_flows);
	return 0;
}

int flow_draw(const struct run_config *run, uint32_t which, const struct topology *topology,
	struct run_flows *flows, struct error *error)
{
	struct drawer drawer = {.run = run,
		.traffic = &run->traffic.at[which],
		.which = which,
		.topology = topology,
		.flows = flows};
	struct flow_size_point *at = NULL;
	struct run_hosts *hosts = NULL;
	int result = load_sizes(drawer.traffic, &at, &drawer.sizes, error);

	if (result == 0 && drawer.traffic->matrix != NULL)
		result = load_matrix(drawer.traffic->matrix, topology, &drawer.matrix, error);
	else if (result == 0) {
		hosts = run_hosts_resolve_all(run, topology, error);
		result = hosts != NULL ? 0 : -errno;
		drawer.hosts = hosts != NULL ? &hosts->entry[which] : NULL;
	}
	if (result == 0 && rails_create(topology, &drawer.rails) < 0)
		result = error_set(error, ENOMEM, "%s: not enough memory for flows", run->origin);
	if (result == 0)
		result = draw_flows(&drawer, error);
	rails_destroy(drawer.rails);
	run_hosts_destroy(hosts);
	free(drawer.matrix.at);
	free(at);
	return result;
}

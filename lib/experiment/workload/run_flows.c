/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "run_flows.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/arrays.h"
#include "base/file_text.h"
#include "base/quantity.h"

#define COLUMNS 5

struct list {
	struct run_flows *flows;
	uint32_t room;
	struct rails *rails; /* NULL: every host has one port */
	enum rail_rule rail;
	uint32_t *turns; /* [hosts of rails.h]: number of flows so far */
};

bool flow_digits(const char *text, uint64_t max, uint64_t *number)
{
	uint64_t value = 0;

	if (*text == '\0')
		return false;
	for (; *text >= '0' && *text <= '9'; text++) {
		uint64_t digit = (uint64_t)(*text - '0');

		if (value > (max - digit) / 10)
			return false;
		value = value * 10 + digit;
	}
	*number = value;
	return *text == '\0' && value <= max;
}

int flow_host(const struct flow_reader *reader, const char *text, uint16_t *host)
{
	int32_t found = topology_find_host(reader->topology, text);
	uint64_t number;

	if (found < 0 && reader->topology->nodes > 0 &&
		flow_digits(text, reader->topology->nodes - 1, &number))
		found = (int32_t)number;
	if (found < 0)
		return FLOW_REFUSE(
			reader, "topology %s has no host '%s'", reader->topology->name, text);
	*host = (uint16_t)found;
	return 0;
}

int flow_add(struct run_flows *flows, uint32_t *room, const struct run_flow_request *flow)
{
	if (flows->count == RUN_FLOWS_MAX)
		return -ENOSPC;
	if (!array_reserve(&flows->at, room, flows->count + 1u, sizeof(*flow)))
		return -ENOMEM;
	flows->at[flows->count++] = *flow;
	return 0;
}

static int take_start(const struct flow_reader *reader, const char *text, weft_time *start_ps)
{
	uint64_t ns;

	if (flow_digits(text, WEFT_TIME_NEVER / PS_PER_NS - 1, &ns)) {
		*start_ps = ns * PS_PER_NS;
		return 0;
	}
	if (quantity_parse(QUANTITY_TIME, text, start_ps) < 0 || *start_ps % PS_PER_NS != 0)
		return FLOW_REFUSE(
			reader, "'%s': expected a time in whole nanoseconds, such as 10us", text);
	return 0;
}

static int take_bytes(const struct flow_reader *reader, const char *text, uint64_t *bytes)
{
	if ((flow_digits(text, GOAL_BYTES_MAX, bytes) ||
		    quantity_parse(QUANTITY_SIZE, text, bytes) == 0) &&
		*bytes > 0 && *bytes <= GOAL_BYTES_MAX)
		return 0;
	return FLOW_REFUSE(
		reader, "'%s': expected a length of 1 byte to 1 TiB, such as 64KiB", text);
}

/* Reads AFTER. The other flow must start or end where this one starts. */
static int take_after(
	const struct flow_reader *reader, const char *text, struct run_flow_request *flow)
{
	struct run_flows *flows = ((struct list *)reader->ctx)->flows;
	struct run_flow_request *other;
	uint64_t number;

	if (flows->count == 0 || !flow_digits(text, flows->count - 1, &number))
		return FLOW_REFUSE(reader,
			"'%s': expected the number of an earlier flow, counted from 0", text);
	flow->after = (uint32_t)number;
	other = &flows->at[number];
	if (reader->topology->host_at[other->to].owner ==
		reader->topology->host_at[flow->from].owner)
		flow->from = other->to;
	else if (reader->topology->host_at[other->from].owner ==
		 reader->topology->host_at[flow->from].owner)
		flow->from = other->from;
	if (other->to != flow->from && other->from != flow->from)
		return FLOW_REFUSE(reader,
			"flow %s (line %u) neither starts nor ends at host %s, so the host "
			"cannot wait for it",
			text, other->line, reader->topology->host_at[flow->from].name);
	other->awaited |= other->to == flow->from;
	return 0;
}

/* Selects the ports of a flow between two hosts. A named port is kept, and so is the source port of
 * a flow with AFTER. */
static int take_ports(const struct flow_reader *reader, const char *from, const char *to,
	struct run_flow_request *flow)
{
	const struct list *list = reader->ctx;
	const struct rails *rails = list->rails;
	uint32_t *turn = &list->turns[rails->host_of[flow->from]], at = RAILS_NONE;
	bool named = strchr(from, ':') != NULL || flow->after != RUN_FLOW_NONE;
	struct rng rng;

	if (rails->host_of[flow->from] == rails->host_of[flow->to])
		return 0;
	rng_init(&rng, 0, list->flows->count, 0);
	if (strchr(to, ':') != NULL)
		return named && rails->plane[flow->from] == rails->plane[flow->to]
			       ? 0
			       : FLOW_REFUSE(reader,
					 "'%s': both ends must have connected ports, or neither",
					 to);
	if (named)
		at = rails_port(rails, list->rail, flow->from, rails->host_of[flow->to], &rng);
	else if (rails_flow(rails, list->rail, (*turn)++, &rng, &flow->from, &flow->to))
		return 0;
	if (at == RAILS_NONE)
		return FLOW_REFUSE(reader,
			"with this 'rail', no port of %s can be reached from "
			"%s",
			to, reader->topology->host_at[flow->from].name);
	flow->to = (uint16_t)at;
	return 0;
}

static int take_flow(const struct flow_reader *reader, char *const *column, unsigned columns)
{
	struct run_flow_request flow = {.after = RUN_FLOW_NONE, .line = reader->line};
	struct list *list = reader->ctx;
	int result;

	if (columns < 4 || columns > COLUMNS)
		return FLOW_REFUSE(reader, "expected SRC DST START BYTES [AFTER]");
	result = flow_host(reader, column[0], &flow.from);
	if (result == 0)
		result = flow_host(reader, column[1], &flow.to);
	if (result == 0)
		result = take_start(reader, column[2], &flow.start_ps);
	if (result == 0)
		result = take_bytes(reader, column[3], &flow.bytes);
	if (result == 0 && columns == COLUMNS)
		result = take_after(reader, column[4], &flow);
	if (result == 0 && list->rails != NULL)
		result = take_ports(reader, column[0], column[1], &flow);
	if (result == 0)
		result = flow_add(list->flows, &list->room, &flow);
	return result == -ENOSPC ? FLOW_REFUSE(reader, "more than %u flows", RUN_FLOWS_MAX)
				 : result;
}

static int take_line(const struct flow_reader *reader, char *line)
{
	char *column[COLUMNS + 1], *rest = NULL;
	unsigned columns = 0;

	line[strcspn(line, "#")] = '\0';
	for (char *word = strtok_r(line, " \t\r,", &rest); word != NULL && columns <= COLUMNS;
		word = strtok_r(NULL, " \t\r,", &rest))
		column[columns++] = word;
	return columns == 0 ? 0 : reader->take(reader, column, columns);
}

int flow_lines_parse(struct flow_reader *reader, char *text, size_t length)
{
	const char *end = text + length;
	int result = 0;

	if (memchr(text, '\0', length) != NULL)
		return error_set(reader->error, EINVAL,
			"%s: contains a zero byte; a text file is required", reader->path);
	for (char *line = text, *next; result == 0 && line < end; line = next) {
		next = line + strcspn(line, "\n");
		if (next < end)
			*next++ = '\0';
		reader->line++;
		result = take_line(reader, line);
	}
	return result == -ENOMEM
		       ? error_set(reader->error, ENOMEM, "%s: out of memory", reader->path)
		       : result;
}

int flow_lines_load(struct flow_reader *reader)
{
	size_t length;
	char *text = file_text_read(reader->path, GOAL_TEXT_MAX, &length, reader->error);
	int result = -errno;

	if (text == NULL)
		return result;
	result = flow_lines_parse(reader, text, length);
	free(text);
	return result;
}

/* --- schedule --- */

struct writer {
	struct run_flows *flows;
	uint32_t *by_from, *by_to; /* flow indices, sorted by host and then by time or number */
	uint32_t op, cpu;
	FILE *out;
};

static int compare_from(const void *a, const void *b, void *of)
{
	const struct run_flow_request *flow = of;
	uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
	const struct run_flow_request *x = &flow[i], *y = &flow[j];

	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	if (x->start_ps != y->start_ps)
		return x->start_ps < y->start_ps ? -1 : 1;
	return i < j ? -1 : i > j;
}

static int compare_to(const void *a, const void *b, void *of)
{
	const struct run_flow_request *flow = of;
	uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;

	if (flow[i].to != flow[j].to)
		return flow[i].to < flow[j].to ? -1 : 1;
	return i < j ? -1 : i > j;
}

/* CPU 0 waits from one start to the next. Each flow that waits for another has its own CPU. */
static void write_send(struct writer *writer, uint32_t number, weft_time *before)
{
	struct run_flow_request *flow = &writer->flows->at[number];
	bool waits = flow->after != RUN_FLOW_NONE;

	fprintf(writer->out, "c%u: calc %" PRIu64 " cpu %u\n", number,
		(flow->start_ps - (waits ? 0 : *before)) / PS_PER_NS, waits ? ++writer->cpu : 0);
	if (waits)
		fprintf(writer->out, "c%u requires %c%u\n", number,
			writer->flows->at[flow->after].to == flow->from ? 'r' : 'f', flow->after);
	else
		*before = flow->start_ps;
	fprintf(writer->out, "f%u: send %" PRIu64 "b to %u tag %u\nf%u requires c%u\n", number,
		flow->bytes, flow->to, flow->awaited ? number + 1 : 0, number, number);
	flow->op = writer->op + 1;
	writer->op += 2;
}

/* A recv matches any flow, unless another flow waits for this one. */
static void write_recv(struct writer *writer, uint32_t number)
{
	const struct run_flow_request *flow = &writer->flows->at[number];

	if (flow->awaited)
		fprintf(writer->out, "r%u: recv %" PRIu64 "b from %u tag %u\n", number, flow->bytes,
			flow->from, number + 1);
	else
		fprintf(writer->out, "recv %" PRIu64 "b from -1 tag 0\n", flow->bytes);
	writer->op++;
}

static void write_rank(struct writer *writer, uint32_t host, uint32_t *from, uint32_t *to)
{
	const struct run_flows *flows = writer->flows;
	weft_time before = 0;

	writer->cpu = 0;
	fprintf(writer->out, "rank %u {\n", host);
	for (; *from < flows->count && flows->at[writer->by_from[*from]].from == host; (*from)++)
		write_send(writer, writer->by_from[*from], &before);
	for (; *to < flows->count && flows->at[writer->by_to[*to]].to == host; (*to)++)
		write_recv(writer, writer->by_to[*to]);
	fputs("}\n", writer->out);
}

static void write_schedule(struct writer *writer)
{
	struct run_flows *flows = writer->flows;
	uint32_t last = 0, from = 0, to = 0;

	for (uint32_t i = 0; i < flows->count; i++) {
		writer->by_from[i] = writer->by_to[i] = i;
		last = flows->at[i].from > last ? flows->at[i].from : last;
		last = flows->at[i].to > last ? flows->at[i].to : last;
	}
	qsort_r(writer->by_from, flows->count, sizeof(*writer->by_from), compare_from, flows->at);
	qsort_r(writer->by_to, flows->count, sizeof(*writer->by_to), compare_to, flows->at);
	fprintf(writer->out, "num_ranks %u\n", last + 1);
	for (uint32_t host = 0; host <= last; host++)
		write_rank(writer, host, &from, &to);
}

int run_flows_schedule(
	struct run_flows *flows, const char *path, struct goal **goal, struct error *error)
{
	struct arrays arrays = {NULL, false};
	char *text = NULL;
	size_t length;
	struct writer writer = {.flows = flows,
		.by_from = arrays_add(&arrays, flows->count, sizeof(*writer.by_from)),
		.by_to = arrays_add(&arrays, flows->count, sizeof(*writer.by_to)),
		.out = open_memstream(&text, &length)};
	bool written = false;

	if (writer.out != NULL && !arrays.failed) {
		write_schedule(&writer);
		written = !ferror(writer.out);
	}
	if (writer.out != NULL && fclose(writer.out) != 0)
		written = false;
	*goal = written ? goal_parse(text, length, path, error) : NULL;
	arrays_free(&arrays);
	free(text);
	if (*goal != NULL)
		return 0;
	return written ? -errno : error_set(error, ENOMEM, "%s: out of memory", path);
}

static int finish(int result, struct run_flows *flows, const char *path, struct goal **goal,
	struct error *error)
{
	*goal = NULL;
	if (result == 0 && flows->count == 0)
		return error_set(error, EINVAL, "%s: no flows", path);
	return result == 0 ? run_flows_schedule(flows, path, goal, error) : result;
}

static int open_list(
	struct list *list, const char *path, const struct topology *topology, struct error *error)
{
	if (rails_create(topology, &list->rails) == 0 && list->rails != NULL)
		list->turns = calloc(list->rails->hosts, sizeof(*list->turns));
	if (topology_has_rails(topology) && list->turns == NULL)
		return error_set(error, ENOMEM, "%s: out of memory", path);
	return 0;
}

static void close_list(struct list *list)
{
	rails_destroy(list->rails);
	free(list->turns);
}

int run_flows_parse(char *text, size_t length, const char *path, const struct topology *topology,
	struct run_flows *flows, struct goal **goal, struct error *error)
{
	struct list list = {.flows = flows, .rail = RAIL_UNSET};
	struct flow_reader reader = {path, topology, take_flow, &list, error, 0};
	int result = open_list(&list, path, topology, error);

	if (result == 0)
		result = flow_lines_parse(&reader, text, length);
	close_list(&list);
	return finish(result, flows, path, goal, error);
}

int run_flows_load(const char *path, const struct topology *topology, enum rail_rule rail,
	struct run_flows *flows, struct goal **goal, struct error *error)
{
	struct list list = {.flows = flows, .rail = rail};
	struct flow_reader reader = {path, topology, take_flow, &list, error, 0};
	int result = open_list(&list, path, topology, error);

	if (result == 0)
		result = flow_lines_load(&reader);
	close_list(&list);
	return finish(result, flows, path, goal, error);
}

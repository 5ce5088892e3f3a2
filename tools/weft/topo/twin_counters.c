/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "twin.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/arrays.h"
#include "base/file_text.h"
#include "common/commands.h"
#include "topo/topology.h"

#define INPUT_MAX   ((size_t)1 << 30)
#define HOT_MAX     10
#define UNKNOWN_MAX 50
#define WORD_BYTES  4

/* Counter values of one direction of a link. */
struct reading {
	bool known;
	uint64_t words, wait;
};

/* One direction of a link between switches. */
struct channel {
	uint32_t way;
	double bytes, wait;
	double share, predicted; /* relative to the sum over all channels */
};

struct comparison {
	const struct topology *topology;
	const struct ib_addresses *addresses;
	struct reading *file[2]; /* indexed by direction */
	struct channel *channel;
	uint32_t channels, missing;
	json_t *unknown;
	struct arrays arrays;
};

static void add_unknown(struct comparison *comparison, const struct ib_counter *counter)
{
	char text[64];

	if (counter->guid != 0)
		snprintf(text, sizeof(text), "GUID 0x%" PRIx64 " port %u", counter->guid,
			counter->port);
	else
		snprintf(text, sizeof(text), "LID %u port %u", counter->lid, counter->port);
	json_array_append_new(comparison->unknown, json_string(text));
}

/* Port 0 of a switch is its management port. Ports whose cable was omitted have no link. */
static void take_counters(
	struct comparison *comparison, const struct ib_counters *counters, struct reading *file)
{
	for (uint32_t i = 0; i < counters->count; i++) {
		const struct ib_counter *counter = &counters->at[i];
		const struct ib_address *address = ib_address_find(
			comparison->addresses, counter->guid, counter->lid, counter->port);

		if (!counter->known || counter->port == 0)
			continue;
		if (address != NULL && topology_link_at(comparison->topology, address->at) == NULL)
			continue;
		if (address != NULL)
			file[topology_way_at(comparison->topology, address->at)] =
				(struct reading){true, counter->words, counter->wait};
		else if (counter->words > 0)
			add_unknown(comparison, counter);
	}
}

static int read_file(struct comparison *comparison, const char *path, struct reading *file)
{
	struct topology_import import = {
		.note = command_note, .context = (void *)(uintptr_t) "twin"};
	struct ib_counters counters = {0};
	struct error error;
	size_t length;
	char *text = file_text_read(path, INPUT_MAX, &length, &error);
	int result = text != NULL ? ib_counters_read(&counters, text, length, path, &import, &error)
				  : -errno;

	if (result == 0)
		take_counters(comparison, &counters, file);
	free(counters.at);
	free(text);
	return result < 0 ? command_error("twin", result, &error) : EXIT_DONE;
}

/* Computes the traffic in one file, or between two files. Returns false if it is unknown. */
static bool measure(
	const struct comparison *comparison, uint32_t way, bool two, struct channel *channel)
{
	const struct reading *before = &comparison->file[0][way],
			     *after = &comparison->file[1][way];

	if (!before->known || (two && (!after->known || after->words < before->words)))
		return false;
	channel->way = way;
	channel->bytes = WORD_BYTES * (double)(two ? after->words - before->words : before->words);
	/* A 32-bit counter saturates, and can be cleared separately. */
	channel->wait = !two                         ? (double)before->wait
			: after->wait < before->wait ? 0
						     : (double)(after->wait - before->wait);
	return true;
}

static struct topology_port end_of(const struct topology *topology, uint32_t way, bool far)
{
	const struct topology_link *link = &topology->link_at[way / 2];

	return (way % 2 == 1) != far ? link->b : link->a;
}

static int compare_channels(const void *a, const void *b)
{
	const struct channel *x = a, *y = b;

	if (x->bytes != y->bytes)
		return x->bytes > y->bytes ? -1 : 1;
	return (x->way > y->way) - (x->way < y->way);
}

static void find_channels(struct comparison *comparison, bool two, const double *load)
{
	const struct topology *topology = comparison->topology;
	double bytes = 0, predicted = 0;

	for (uint32_t way = 0; way < 2 * topology->links; way++) {
		struct channel *channel = &comparison->channel[comparison->channels];

		if (end_of(topology, way, false).kind != DEVICE_SWITCH ||
			end_of(topology, way, true).kind != DEVICE_SWITCH)
			continue;
		if (!measure(comparison, way, two, channel)) {
			comparison->missing++;
			continue;
		}
		channel->predicted =
			load == NULL ? 0 : load[way] * (double)topology->link_at[way / 2].rate_bps;
		bytes += channel->bytes;
		predicted += channel->predicted;
		comparison->channels++;
	}
	for (uint32_t i = 0; i < comparison->channels; i++) {
		struct channel *channel = &comparison->channel[i];

		channel->share = bytes > 0 ? channel->bytes / bytes : 0;
		channel->predicted = predicted > 0 ? channel->predicted / predicted : 0;
	}
	qsort(comparison->channel, comparison->channels, sizeof(struct channel), compare_channels);
}

/* Returns Pearson's correlation; null if one variable is the same for all links. */
static json_t *correlation(const struct comparison *comparison)
{
	double mean = 1.0 / (comparison->channels > 0 ? comparison->channels : 1), xx = 0, yy = 0,
	       xy = 0;

	for (uint32_t i = 0; i < comparison->channels; i++) {
		double x = comparison->channel[i].share - mean,
		       y = comparison->channel[i].predicted - mean;

		xx += x * x;
		yy += y * y;
		xy += x * y;
	}
	return sqrt(xx) > 1e-9 && sqrt(yy) > 1e-9 ? json_real(xy / sqrt(xx * yy)) : json_null();
}

static json_t *hot_json(const struct comparison *comparison)
{
	char from[TOPOLOGY_NAME_MAX + 8], to[TOPOLOGY_NAME_MAX + 8];
	json_t *hot = json_array();

	for (uint32_t i = 0; i < comparison->channels && i < HOT_MAX; i++) {
		const struct channel *channel = &comparison->channel[i];
		const struct topology *topology = comparison->topology;

		topology_port_name(
			topology, end_of(topology, channel->way, false), from, sizeof(from));
		topology_port_name(topology, end_of(topology, channel->way, true), to, sizeof(to));
		json_array_append_new(
			hot, json_pack("{s:s, s:s, s:f, s:f, s:f, s:f}", "port", from, "to", to,
				     "bytes", channel->bytes, "wait", channel->wait, "measured",
				     channel->share, "predicted", channel->predicted));
	}
	return hot;
}

json_t *twin_counters_compare(const struct topology *topology, const struct ib_addresses *addresses,
	const char *const path[2], const struct twin_prediction *prediction, int *result)
{
	struct comparison comparison = {
		.topology = topology, .addresses = addresses, .unknown = json_array()};
	size_t ways = 2 * (size_t)topology->links + 1;
	json_t *measured = NULL;

	ARRAYS_ADD(&comparison, file[0], ways);
	ARRAYS_ADD(&comparison, file[1], ways);
	ARRAYS_ADD(&comparison, channel, ways);
	if (comparison.arrays.failed)
		*result = command_fail("twin", EXIT_NOT_ABLE, "out of memory");
	for (unsigned i = 0; i < 2 && path[i] != NULL && *result == EXIT_DONE; i++)
		*result = read_file(&comparison, path[i], comparison.file[i]);
	if (*result == EXIT_DONE) {
		find_channels(&comparison, path[1] != NULL, prediction->load);
		measured = json_pack("{s:s, s:i, s:i, s:o, s:o, s:O}", "routes", prediction->routes,
			"channels", (int)comparison.channels, "without_counters",
			(int)comparison.missing, "correlation", correlation(&comparison), "hot",
			hot_json(&comparison), "unknown", comparison.unknown);
	}
	json_decref(comparison.unknown);
	arrays_free(&comparison.arrays);
	return measured;
}

static double real_of(const json_t *object, const char *key)
{
	return json_number_value(json_object_get(object, key));
}

void twin_counters_print(const json_t *measured, FILE *out)
{
	const json_t *unknown = json_object_get(measured, "unknown");
	const json_t *correlation = json_object_get(measured, "correlation");
	json_t *entry;

	fprintf(out, "\n%.0f channels between switches; %.0f have no counters\n",
		real_of(measured, "channels"), real_of(measured, "without_counters"));
	if (json_is_real(correlation))
		fprintf(out, "correlation with uniform traffic (%s): %.2f\n",
			json_string_value(json_object_get(measured, "routes")),
			json_real_value(correlation));
	fprintf(out, "%-32s %18s %9s %10s %14s\n", "busiest channels", "bytes", "measured",
		"predicted", "waits");
	for (size_t i = 0; (entry = json_array_get(json_object_get(measured, "hot"), i)) != NULL;
		i++)
		fprintf(out, "%-16s %-15s %18.0f %7.2f %% %8.2f %% %14.0f\n",
			json_string_value(json_object_get(entry, "port")),
			json_string_value(json_object_get(entry, "to")), real_of(entry, "bytes"),
			100 * real_of(entry, "measured"), 100 * real_of(entry, "predicted"),
			real_of(entry, "wait"));
	for (size_t i = 0; (entry = json_array_get(unknown, i)) != NULL; i++)
		if (i < UNKNOWN_MAX)
			fprintf(out, "not in the listing: %s\n", json_string_value(entry));
	if (json_array_size(unknown) > UNKNOWN_MAX)
		fprintf(out, "and %zu more\n", json_array_size(unknown) - UNKNOWN_MAX);
}

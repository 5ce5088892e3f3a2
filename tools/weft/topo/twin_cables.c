/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* weft twin: finds cables that differ from other cables on the same level. */

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>

#include "base/quantity.h"
#include "topo/topology_levels.h"
#include "twin.h"

static void add_oddity(struct twin *twin, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void add_oddity(struct twin *twin, const char *format, ...)
{
	va_list args;

	if (twin->oddities < TWIN_ODDITIES_MAX) {
		va_start(args, format);
		vsnprintf(twin->oddity[twin->oddities], sizeof(twin->oddity[0]), format, args);
		va_end(args);
	}
	twin->oddities++;
}

static unsigned links_up(const struct topology *topology, uint32_t at)
{
	struct topology_port port = {DEVICE_SWITCH, at, 0}, peer;
	unsigned up = 0;

	for (; port.port < topology->switch_at[at].ports; port.port++)
		up += topology_peer(topology, port, &peer) && peer.kind == DEVICE_SWITCH &&
		      topology->switch_at[peer.device].stage > topology->switch_at[at].stage;
	return up;
}

/* Returns the most frequent number of uplinks among the switches of a level. */
static unsigned usual_links_up(const struct topology *topology, unsigned stage)
{
	uint32_t count[TOPOLOGY_PORTS_MAX + 1] = {0};
	unsigned usual = 0;

	for (uint32_t s = 0; s < topology->switches; s++)
		if (topology->switch_at[s].stage == stage)
			count[links_up(topology, s)]++;
	for (unsigned up = 0; up <= TOPOLOGY_PORTS_MAX; up++)
		usual = count[up] >= count[usual] ? up : usual;
	return usual;
}

static void find_uneven(struct twin *twin)
{
	const struct topology *topology = twin->topology;
	struct topology_level level[UINT8_MAX];
	unsigned levels;

	topology_levels_describe(topology, level, &levels);
	for (unsigned stage = 1; stage < levels; stage++) {
		unsigned usual = usual_links_up(topology, stage);

		for (uint32_t s = 0; s < topology->switches; s++) {
			unsigned up = links_up(topology, s);

			if (topology->switch_at[s].stage == stage && up != usual)
				add_oddity(twin,
					"%s has %u uplink%s; the usual number on level %u is %u",
					topology->switch_at[s].name, up, up == 1 ? "" : "s", stage,
					usual);
		}
	}
}

/* Returns the lower level of a cable; 0 for a host's cable. Cables of one class are compared. */
static unsigned class_of(const struct topology *topology, const struct topology_link *link)
{
	unsigned a, b;

	if (link->a.kind == DEVICE_HOST || link->b.kind == DEVICE_HOST)
		return 0;
	a = topology->switch_at[link->a.device].stage;
	b = topology->switch_at[link->b.device].stage;
	return a < b ? a : b;
}

struct rate {
	unsigned class;
	uint64_t rate_bps;
};

static int compare_rates(const void *a, const void *b)
{
	const struct rate *x = a, *y = b;

	if (x->class != y->class)
		return x->class < y->class ? -1 : 1;
	return (x->rate_bps > y->rate_bps) - (x->rate_bps < y->rate_bps);
}

/* Sets usual[class] to the rate of most cables of the class. */
static int find_usual_rates(const struct topology *topology, uint64_t usual[UINT8_MAX + 1])
{
	struct rate *rate = calloc(topology->links + 1u, sizeof(*rate));
	uint32_t max = 0, run = 0;

	if (rate == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < topology->links; i++)
		rate[i] = (struct rate){
			class_of(topology, &topology->link_at[i]), topology->link_at[i].rate_bps};
	qsort(rate, topology->links, sizeof(*rate), compare_rates);
	for (uint32_t i = 0; i < topology->links; i++) {
		if (i == 0 || rate[i].class != rate[i - 1].class)
			max = run = 0;
		else if (rate[i].rate_bps != rate[i - 1].rate_bps)
			run = 0;
		if (++run >= max) {
			max = run;
			usual[rate[i].class] = rate[i].rate_bps;
		}
	}
	free(rate);
	return 0;
}

static int find_slow(struct twin *twin)
{
	const struct topology *topology = twin->topology;
	uint64_t usual[UINT8_MAX + 1] = {0};
	char a[TWIN_PORT_TEXT], b[TWIN_PORT_TEXT], rate[QUANTITY_TEXT], expected[QUANTITY_TEXT];

	twin->mended = topology_copy(topology);
	if (twin->mended == NULL || find_usual_rates(topology, usual) < 0)
		return -ENOMEM;
	for (uint32_t i = 0; i < topology->links; i++) {
		const struct topology_link *link = &topology->link_at[i];
		uint64_t wanted = usual[class_of(topology, link)];

		if (link->rate_bps >= wanted)
			continue;
		twin->slow++;
		twin->mended->link_at[i].rate_bps = wanted;
		topology_port_name(topology, link->a, a, sizeof(a));
		topology_port_name(topology, link->b, b, sizeof(b));
		quantity_format(QUANTITY_RATE, link->rate_bps, rate);
		quantity_format(QUANTITY_RATE, wanted, expected);
		add_oddity(twin,
			"the cable from %s to %s has a rate of %s; the usual rate of such cables is %s",
			a, b, rate, expected);
	}
	return 0;
}

int twin_examine_cables(struct twin *twin)
{
	int result = find_slow(twin);

	find_uneven(twin);
	return result;
}

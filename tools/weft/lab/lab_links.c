/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "lab_links.h"

#include <stdlib.h>
#include <string.h>

#include "base/quantity.h"
#include "cmd_lab.h"
#include "lab_query.h"
#include "link/pacer.h"

struct range {
	unsigned count;
	uint64_t low, high;
};

static void widen(struct range *range, uint64_t value)
{
	if (range->count == 0 || value < range->low)
		range->low = value;
	if (range->count == 0 || value > range->high)
		range->high = value;
	range->count++;
}

static void print_range(enum quantity_kind kind, const struct range *range, FILE *out)
{
	char low[QUANTITY_TEXT], high[QUANTITY_TEXT];

	quantity_format(kind, range->low, low);
	quantity_format(kind, range->high, high);
	fprintf(out, range->low == range->high ? ", %s" : ", %s to %s", low, high);
}

void lab_links_print(const struct lab *lab, const bool *here, FILE *out)
{
	const char *before = "links: ";

	for (unsigned i = 0; i < 2 * LAB_LINK_KIND_COUNT; i++) {
		const enum lab_link_kind kind = i / 2;
		const bool timed = i % 2 == 0;
		struct range rate = {0}, delay = {0};

		for (uint32_t at = 0; at < lab->topology->links; at++)
			if (lab->plan->link[at].kind == kind && (here == NULL || here[at]) &&
				lab_plan_is_timed(lab->plan, at) == timed) {
				widen(&rate, lab->topology->link_at[at].rate_bps);
				widen(&delay, lab->topology->link_at[at].delay_ps);
			}
		if (rate.count == 0)
			continue;
		fprintf(out, "%s%u %s", before, rate.count, lab_link_kind_name(kind));
		before = "; ";
		if (timed) {
			print_range(QUANTITY_RATE, &rate, out);
			print_range(QUANTITY_TIME, &delay, out);
		} else {
			fprintf(out, ", as fast as %s",
				kind == LAB_LINK_SHARED || kind == LAB_LINK_MEMIF
					? "memory"
					: "their devices");
		}
	}
	if (before[0] == ';')
		fputc('\n', out);
}

void lab_links_warn(const struct lab *lab, json_t *links)
{
	const uint32_t dilation = lab->config->run.dilation;
	json_t *end;
	size_t index;

	json_array_foreach(links, index, end)
	{
		uint64_t device = json_count_of(end, "device_speed_mbps");
		const struct topology_link *link = NULL;
		char asked[QUANTITY_TEXT], speed[QUANTITY_TEXT];
		struct topology_port at;

		if (topology_find_port(lab->topology, lab_text(end, "port"), &at) == 0)
			link = topology_link_at(lab->topology, at);
		if (device == 0 || link == NULL || !link->given ||
			lab->plan->link[link - lab->topology->link_at].kind != LAB_LINK_BOUND ||
			device * 1000000 * dilation >= link->rate_bps)
			continue;
		quantity_format(QUANTITY_RATE, link->rate_bps, asked);
		quantity_format(QUANTITY_RATE, device * 1000000, speed);
		fprintf(stderr, "weft lab up: warning: %s: the file's rate is %s, the device's %s",
			lab_text(end, "port"), asked, speed);
		if (dilation > 1)
			fprintf(stderr, ", %u times that in the lab", dilation);
		fputs(": the link is as fast as the device\n", stderr);
	}
}

void lab_links_planned(const struct lab *lab, uint32_t link, uint64_t value[LINK_KNOB_COUNT])
{
	const struct run_config_faults *faults = &lab->config->run.faults;

	memset(value, 0, LINK_KNOB_COUNT * sizeof(*value));
	if (lab_plan_is_timed(lab->plan, link)) {
		value[LINK_KNOB_RATE] =
			rate_of_time(ps_per_byte(lab->topology->link_at[link].rate_bps));
		value[LINK_KNOB_DELAY] = lab->topology->link_at[link].delay_ps;
	}
	value[LINK_KNOB_CORRUPT] = faults->corrupt_ppm;
	value[LINK_KNOB_CREDIT_LOSS] = faults->credit_loss_ppm;
}

const char *lab_links_gauge(enum link_knob knob)
{
	static const char *const name[] = {
#define X(name, word, gauge, kind) #gauge,
		LINK_KNOBS(X)
#undef X
	};

	return name[knob];
}

uint64_t lab_links_knob(const json_t *link, enum link_knob knob)
{
	return json_count_of(link, lab_links_gauge(knob));
}

void lab_links_print_knobs(const json_t *link, FILE *out)
{
	static const struct {
		const char *word;
		enum quantity_kind kind;
	} as[] = {
#define X(name, word, gauge, kind) {word, kind},
		LINK_KNOBS(X)
#undef X
	};
	char text[QUANTITY_TEXT];
	bool any = false;

	for (unsigned i = 0; i < LINK_KNOB_COUNT; i++) {
		uint64_t value = lab_links_knob(link, i);

		if (value == 0)
			continue;
		quantity_format(as[i].kind, value, text);
		fprintf(out, " %s=%s", as[i].word, text);
		any = true;
	}
	if (!any)
		fputs(" as fast as its device", out);
}

void lab_cover_report(const struct lab *lab, credit_cover_fn *tell, void *ctx)
{
	struct topology timed = *lab->topology;

	timed.link_at = calloc(timed.links + 1u, sizeof(*timed.link_at));
	if (timed.link_at == NULL)
		return;
	for (uint32_t i = 0; i < timed.links; i++) {
		timed.link_at[i] = lab->topology->link_at[i];
		if (!lab_plan_is_timed(lab->plan, i))
			timed.link_at[i].rate_bps = 0;
	}
	credit_cover_report(&lab->config->run, &timed, tell, ctx);
	free(timed.link_at);
}

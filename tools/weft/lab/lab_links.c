/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

#include <stdlib.h>
#include <string.h>

#include "base/quantity.h"
#include "cmd_lab.h"
#include "lab_links.h"
#include "lab_query.h"
#include "link/link_end.h"
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

	for (size_t i = 0; (end = json_array_get(links, i)) != NULL; i++) {
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
		fprintf(stderr,
			"weft lab up: warning: %s: the file's rate is %s, but the device's is %s",
			lab_text(end, "port"), asked, speed);
		if (dilation > 1)
			fprintf(stderr, ", %u times that in the lab", dilation);
		fputs("; the link runs at the device's rate\n", stderr);
	}
}

void lab_links_planned(const struct lab *lab, uint32_t link, uint64_t value[LINK_KNOB_COUNT])
{
	const struct run_config_faults *faults = &lab->config->run.faults;

	memset(value, 0, LINK_KNOB_COUNT * sizeof(*value));
	if (lab_plan_is_timed(lab->plan, link)) {
		value[LINK_KNOB_RATE] =
			rate_of_time(byte_time_of(lab->topology->link_at[link].rate_bps));
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

void lab_links_warn_delay(
	const struct lab *lab, const struct topology_link *now, credit_cover_fn *tell, void *ctx)
{
	weft_time hello = lab->config->run.hello_ps, delay = 0;
	char text[CREDIT_COVER_TEXT], is[QUANTITY_TEXT], interval[QUANTITY_TEXT];

	for (uint32_t i = 0; i < lab->topology->links; i++)
		delay = now[i].delay_ps > delay ? now[i].delay_ps : delay;
	if (delay <= (LINK_HELLOS_MISSED - 1) * hello)
		return;
	quantity_format(QUANTITY_TIME, delay, is);
	quantity_format(QUANTITY_TIME, hello, interval);
	snprintf(text, sizeof(text),
		"delay %s: hellos (every %s) are this late, so a change of the delay can take the link down; in the lab file, 'hello' and the times of 'mapper' should exceed a round trip",
		is, interval);
	tell(ctx, text);
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
	lab_links_warn_delay(lab, timed.link_at, tell, ctx);
	free(timed.link_at);
}

#define STEP_MS 2

int lab_cable_find(
	const struct lab *lab, const char *name, struct lab_cable *cable, struct error *error)
{
	const struct topology_link *link = NULL;
	struct topology_port port;

	if (topology_find_port(lab->topology, name, &port) == 0)
		link = topology_link_at(lab->topology, port);
	if (link == NULL)
		return error_set(error, EINVAL, "%s: no such cable in %s; use a port such as s0:1",
			name, lab->path);
	cable->end[0] = link->a;
	cable->end[1] = link->b;
	for (unsigned i = 0; i < 2; i++)
		topology_port_name(lab->topology, cable->end[i], cable->name[i], LAB_PORT_MAX);
	return 0;
}

static bool is_cut(json_t *links, const char *port)
{
	return strcmp(lab_text(lab_row(links, "port", port), "state"), "cut") == 0;
}

/* Waits for the loop to execute the command in its next iterations. */
static int wait_for(
	struct lab_connection *connection, const char *port, bool cut, struct error *error)
{
	/* Querying many links takes a long time. */
	for (uint64_t until = lab_now_ms() + LAB_FOLLOW_MS; lab_now_ms() < until;) {
		json_t *links = lab_ask_links(connection, error);
		bool done = links != NULL && is_cut(links, port) == cut;

		json_decref(links);
		if (links == NULL)
			return -EPROTO;
		if (done)
			return 0;
		lab_sleep_ms(STEP_MS);
	}
	return error_set(
		error, ETIMEDOUT, "%s: the port's process did not execute the command", port);
}

static int order_end(
	const struct lab_record *record, const char *port, bool cut, struct error *error)
{
	struct lab_connection connection;
	char text[LAB_PORT_MAX + 16];
	int result = lab_connect(&connection, record, error);

	if (result < 0)
		return result;
	snprintf(text, sizeof(text), "link %s %s", port, cut ? "down" : "up");
	result = lab_control(&connection, text, error);
	if (result == 0)
		result = wait_for(&connection, port, cut, error);
	lab_disconnect(&connection);
	return result;
}

int lab_cable_order(const struct lab *lab, const struct lab_state *state,
	const struct lab_cable *cable, struct error *error)
{
	unsigned done = 0;
	int result = 0;

	for (unsigned i = 0; i < 2 && result == 0; i++) {
		const struct lab_record *record = lab_record_of(
			lab, state, topology_device_name(lab->topology, cable->end[i]));

		if (record == NULL || !lab_record_alive(record))
			continue;
		result = order_end(record, cable->name[i], cable->cut, error);
		done += result == 0;
		if (result < 0 && lab_record_dies(record))
			result = 0;
	}
	if (result == 0 && done == 0)
		return error_set(error, ENODEV,
			"%s - %s: neither process of the link is running here", cable->name[0],
			cable->name[1]);
	return result;
}

/* weft lab link: cuts or restores a cable at its ends on this machine. */

enum weft_exit cmd_lab_link(const struct lab_arguments *arguments)
{
	struct lab_cable cable = {.cut = strcmp(arguments->word[1], "down") == 0};
	struct lab_state state;
	enum weft_exit opened;
	struct error error;
	struct lab lab;
	int result;

	if (!cable.cut && strcmp(arguments->word[1], "up") != 0)
		return command_fail("lab link", EXIT_BAD_REQUEST, "'%s': expected down or up",
			arguments->word[1]);
	opened = lab_open_running(arguments, "lab link", &lab, &state);
	if (opened != EXIT_DONE)
		return opened;
	result = lab_cable_find(&lab, arguments->word[0], &cable, &error);
	if (result == 0)
		result = lab_cable_order(&lab, &state, &cable, &error);
	lab_state_free(&state);
	lab_close(&lab);
	if (result < 0)
		return command_error("lab link", result, &error);
	printf("%s - %s is %s\n", cable.name[0], cable.name[1], cable.cut ? "cut" : "joined");
	return EXIT_DONE;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "real_private.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "os/atomic_file.h"

/* The loop that owns the transmitter reads each word for each frame, and no two of them need to
 * match, so the leader may store them from its own loop. */
#define STORE(place, value) __atomic_store_n(&(place), (value), __ATOMIC_RELAXED)
#define LOAD(place)         __atomic_load_n(&(place), __ATOMIC_RELAXED)

/* Returns the transmitter of this end, or NULL if it is not in this process. */
static struct tx_queue *tx_of(const struct real_fabric *fabric, const struct real_end *end)
{
	const struct topology_port *at = &end->at;

	for (unsigned i = 0; at->kind == DEVICE_SWITCH && i < fabric->switch_count; i++)
		if (fabric->switches[i].number == at->device)
			return &real_switch_loop(&fabric->switches[i], at->port)->port[at->port].tx;
	for (unsigned i = 0; at->kind == DEVICE_HOST && i < fabric->host_count; i++)
		if (fabric->hosts[i].number == at->device)
			return &fabric->hosts[i].poll->tx;
	return NULL;
}

/* Returns 0 or -ENOMEM. */
static int pace(struct tx_queue *tx, const struct topology_link *link, uint64_t rate_bps,
	weft_time delay_ps, bool jitter)
{
	STORE(tx->pacer.catch_up_ps, REAL_CATCH_UP_PS);
	return tx_queue_pace(tx, rate_bps, delay_ps, jitter, real_held_frames(link));
}

int real_links_pace(struct real_fabric *fabric, struct error *error)
{
	for (uint32_t i = 0; i < fabric->ends; i++) {
		const struct real_end *end = &fabric->end[i];
		const struct topology_link *link = &end->wire;

		if (end->open && !end->timed && link->given &&
			pace(tx_of(fabric, end), link, link->rate_bps, link->delay_ps, false) < 0)
			return error_set(error, ENOMEM, "%s: out of memory", end->port.name);
	}
	return 0;
}

uint64_t real_end_knob(
	const struct real_fabric *fabric, const struct real_end *end, enum link_knob knob)
{
	const struct tx_queue *tx = tx_of(fabric, end);
	bool paced = tx != NULL && LOAD(tx->paced);

	switch (knob) {
	case LINK_KNOB_RATE:
		return paced ? rate_of_time(LOAD(tx->pacer.byte_time)) : 0;
	case LINK_KNOB_DELAY:
		return paced ? LOAD(tx->delay_ps) : 0;
	case LINK_KNOB_JITTER:
		return LOAD(end->impairment.jitter_ps);
	case LINK_KNOB_LOSS:
		return LOAD(end->impairment.loss_ppm);
	case LINK_KNOB_CORRUPT:
		return LOAD(end->impairment.corrupt_ppm);
	case LINK_KNOB_CREDIT_LOSS:
		return LOAD(end->impairment.credit_loss_ppm);
	default:
		return LOAD(end->impairment.reorder_ppm);
	}
}

/* Returns the values from the file. */
static void planned_knobs(const struct real_fabric *fabric, const struct real_end *end,
	uint64_t value[LINK_KNOB_COUNT])
{
	const struct topology_link *link = &end->wire;
	bool given = end->timed || link->given;

	memset(value, 0, LINK_KNOB_COUNT * sizeof(*value));
	value[LINK_KNOB_RATE] = given ? link->rate_bps : 0;
	value[LINK_KNOB_DELAY] = given ? link->delay_ps : 0;
	value[LINK_KNOB_CORRUPT] = fabric->options.run->faults.corrupt_ppm;
	value[LINK_KNOB_CREDIT_LOSS] = fabric->options.run->faults.credit_loss_ppm;
}

static void set_end(const struct real_fabric *fabric, struct tx_queue *tx, struct real_end *end,
	const uint64_t value[LINK_KNOB_COUNT])
{
	struct impairment *impairment = &end->impairment;

	if (end->timed) {
		STORE(tx->pacer.byte_time, byte_time_of(value[LINK_KNOB_RATE]));
		STORE(tx->delay_ps, value[LINK_KNOB_DELAY]);
	} else if (pace(tx, &end->wire, value[LINK_KNOB_RATE], value[LINK_KNOB_DELAY],
			   value[LINK_KNOB_JITTER] != 0) < 0) {
		return;
	}
	STORE(impairment->jitter_ps, value[LINK_KNOB_JITTER]);
	STORE(impairment->loss_ppm, (uint32_t)value[LINK_KNOB_LOSS]);
	STORE(impairment->corrupt_ppm, (uint32_t)value[LINK_KNOB_CORRUPT]);
	STORE(impairment->credit_loss_ppm, (uint32_t)value[LINK_KNOB_CREDIT_LOSS]);
	STORE(impairment->reorder_ppm, (uint32_t)value[LINK_KNOB_REORDER]);
	/* Links that never had faults skip the impairment. The pointer is not cleared again,
	 * because the loop may read it twice for one burst. */
	for (unsigned i = LINK_KNOB_JITTER; i < LINK_KNOB_COUNT; i++)
		if (value[i] != 0)
			STORE(tx->impairment, impairment);
}

void real_end_reset(struct real_fabric *fabric, struct real_end *end)
{
	struct tx_queue *tx = tx_of(fabric, end);
	uint64_t value[LINK_KNOB_COUNT];

	/* A longer delay needs a longer delay line. */
	if (tx->line != NULL && tx->line->frames < real_held_frames(&end->wire))
		tx_queue_fini(tx);
	if (end->timed) {
		real_end_time(fabric, end);
		STORE(tx->cut_through, end->timing.cut_through);
	}
	planned_knobs(fabric, end, value);
	set_end(fabric, tx, end, value);
	end->ordered = end->due = end->cut = false;
	port_cut(&end->port, false);
}

/* Returns the planned rate of an end as time per byte, as stored in the pacer. */
static uint64_t planned(const struct real_end *end)
{
	return byte_time_of(end->timing.rate_bps);
}

/* Returns true if no output of the switch is faster than the rate at which 'input' sends to the
 * switch; an output without a rate counts as faster. */
static bool may_cut_through(
	const struct real_fabric *fabric, uint32_t device, const struct real_end *input)
{
	for (uint32_t i = 0; i < fabric->ends; i++) {
		const struct real_end *end = &fabric->end[i];

		if (end->open && end->at.kind == DEVICE_SWITCH && end->at.device == device &&
			LOAD(tx_of(fabric, end)->pacer.byte_time) < planned(input))
			return false;
	}
	return true;
}

/* A frame that cuts through must not underrun. If the rate is not the planned one, or an output of
 * the switch is now faster, the switch waits for whole frames. */
void real_links_cut_through(struct real_fabric *fabric)
{
	for (uint32_t i = 0; i < fabric->ends; i++) {
		struct real_end *end = &fabric->end[i];
		struct tx_queue *tx = end->open && end->timed ? tx_of(fabric, end) : NULL;

		if (tx != NULL && end->timing.cut_through)
			STORE(tx->cut_through,
				LOAD(tx->pacer.byte_time) == planned(end) &&
					may_cut_through(fabric, end->far.device, end));
	}
}

/* Parses the values of a command. Returns false if it is malformed. */
static bool read_values(const char *text, uint64_t value[LINK_KNOB_COUNT])
{
	char *end;

	for (unsigned i = 0; i < LINK_KNOB_COUNT; i++) {
		if (*text++ != ' ')
			return false;
		value[i] = *text == '-' ? LINK_KNOB_KEEP : strtoull(text, &end, 10);
		text = *text == '-' ? text + 1 : end;
	}
	return *text == '\0';
}

/* Computes the values that an end has after a command; 'asked' NULL: those from the file. */
static void next_knobs(const struct real_fabric *fabric, const struct real_end *end,
	const uint64_t asked[LINK_KNOB_COUNT], uint64_t value[LINK_KNOB_COUNT])
{
	planned_knobs(fabric, end, value);
	for (unsigned knob = 0; knob < LINK_KNOB_COUNT && asked != NULL; knob++)
		value[knob] = asked[knob] != LINK_KNOB_KEEP ? asked[knob]
							    : real_end_knob(fabric, end, knob);
}

void real_end_set(
	struct real_fabric *fabric, struct real_end *end, const uint64_t asked[LINK_KNOB_COUNT])
{
	uint64_t value[LINK_KNOB_COUNT];

	next_knobs(fabric, end, asked, value);
	set_end(fabric, tx_of(fabric, end), end, value);
}

/* Records the command at each end that it applies to, as the resulting values. */
static void note_order(
	struct real_fabric *fabric, const char *target, const uint64_t asked[LINK_KNOB_COUNT])
{
	char name[80], peer[80];

	for (uint32_t i = 0; i < fabric->ends; i++) {
		struct real_end *end = &fabric->end[i];

		topology_port_name(fabric->options.topology, end->at, name, sizeof(name));
		topology_port_name(fabric->options.topology, end->far, peer, sizeof(peer));
		end->due = end->open && link_knobs_mean(target, name, peer);
		if (!end->due)
			continue;
		end->ordered = asked != NULL;
		next_knobs(fabric, end, asked, end->knob);
	}
}

/* Executes the recorded command. */
static void follow_order(struct real_fabric *fabric)
{
	bool rates = false;

	for (uint32_t i = 0; i < fabric->ends; i++) {
		struct real_end *end = &fabric->end[i];
		struct tx_queue *tx = end->due ? tx_of(fabric, end) : NULL;

		if (tx == NULL)
			continue;
		rates = rates ||
			LOAD(tx->pacer.byte_time) != byte_time_of(end->knob[LINK_KNOB_RATE]);
		set_end(fabric, tx, end, end->knob);
	}
	if (rates)
		real_links_cut_through(fabric);
}

void real_links_set(struct real_fabric *fabric, const char *text)
{
	uint64_t asked[LINK_KNOB_COUNT];
	char target[80];
	bool file;

	if (sscanf(text, "%79s", target) != 1)
		return;
	text += strlen(target);
	file = strcmp(text, " file") == 0;
	if (!file && !read_values(text, asked))
		return;
	note_order(fabric, target, file ? NULL : asked);
	real_links_keep(fabric);
	follow_order(fabric);
}

static void write_orders(const struct real_fabric *fabric, FILE *out)
{
	for (uint32_t i = 0; i < fabric->ends; i++) {
		const struct real_end *end = &fabric->end[i];

		if (end->cut)
			fprintf(out, "link %s down\n", end->port.name);
		if (!end->ordered)
			continue;
		fprintf(out, "set %s>", end->port.name);
		for (unsigned knob = 0; knob < LINK_KNOB_COUNT; knob++)
			fprintf(out, " %" PRIu64, end->knob[knob]);
		fputc('\n', out);
	}
}

void real_links_keep(const struct real_fabric *fabric)
{
	struct atomic_file file = {.path = fabric->options.orders};
	struct error error;
	int result;

	if (file.path == NULL)
		return;
	result = atomic_file_open(&file, &error);
	if (result == 0) {
		write_orders(fabric, file.file);
		result = atomic_file_close(&file, &error);
	}
	if (result < 0)
		fprintf(stderr, "weft: %s; link settings will be lost on restart\n", error.text);
}

void real_links_recall(struct real_fabric *fabric)
{
	const char *path = fabric->options.orders;
	char *line = NULL;
	size_t size = 0;
	FILE *file = path != NULL ? fopen(path, "re") : NULL;

	if (file == NULL)
		return;
	fabric->options.orders = NULL; /* the file already contains these commands */
	while (getline(&line, &size, file) > 0) {
		line[strcspn(line, "\n")] = '\0';
		if (strncmp(line, "link ", 5) == 0)
			real_links_cut(fabric, line + 5);
		else if (strncmp(line, "set ", 4) == 0)
			real_links_set(fabric, line + 4);
	}
	fabric->options.orders = path;
	free(line);
	fclose(file);
}

void real_links_pad(struct real_fabric *fabric)
{
	for (unsigned i = 0; i < fabric->switch_count; i++)
		for (unsigned at = 0; at < fabric->switches[i].sw->ports; at++)
			STORE(real_switch_loop(&fabric->switches[i], at)->port[at].guard.full_due,
				PORT_AUTH_FULL_ASK);
	for (unsigned i = 0; i < fabric->host_count; i++)
		STORE(fabric->hosts[i].poll->guard.full_due, PORT_AUTH_FULL_ASK);
}

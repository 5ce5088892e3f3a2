/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "arbiter.h"

#include "arbitration.h"
#include "contention.h"

#define PERIOD     256u   /* packets from an output between restarts of its flow counts */
#define BLOCK_TIME 65536u /* cost of a block at weight 1 */

void arbiter_retry(struct weft_switch *sw, unsigned output)
{
	struct switch_output *out = &sw->port[output].output;

	PORT_SET_EACH(left, sw->vcs > 1 ? out->stalled : PORT_SET_NONE) {
		struct crosspoint *cross = switch_cross(sw, output, port_set_first(left));

		cross->ready |= cross->stalled;
		cross->stalled = 0;
	}
	out->ready |= out->stalled;
	out->stalled = PORT_SET_NONE;
	arbiter_update(sw, output);
}

void arbiter_report(struct weft_switch *sw, struct weft_packet *packet, unsigned output,
	const struct voq *queue, weft_time now)
{
	if (sw->signal.departures & CONGESTION_LEFT)
		congestion_control_left(sw->congestion, packet, output, queue);
	if ((sw->signal.departures & CONGESTION_TIMED) &&
		!port_set_has(sw->contention->driven, output))
		contention_leave(sw, packet, output, now);
}

/* --- rules other than round robin --- */

/* A head that can be sent. */
struct candidate {
	unsigned input, vc;
	const struct weft_packet *packet;
	uint64_t class;    /* lowest wins */
	uint64_t key;      /* among equal classes, lowest wins */
	unsigned distance; /* among equal keys, the nearest in round-robin order wins */
};

static struct arbitration_input *input_at(
	const struct weft_switch *sw, unsigned output, unsigned input)
{
	return &sw->arbitration->input[output * sw->ports + input];
}

static void rate(const struct weft_switch *sw, unsigned output, weft_time now, struct candidate *of)
{
	const struct arbitration *own = sw->arbitration;
	const struct arbitration_output *out = &own->output[output];
	unsigned next;

	of->class = 0;
	if (own->config.vcs == VC_SERVICE_STRICT)
		of->class = FRAME_VCS_MAX - of->vc;
	else if (own->config.vcs == VC_SERVICE_WEIGHTED)
		of->class = weft_time_max(out->vc_time[of->vc], out->vc_clock);
	of->key = 0;
	if (own->config.inputs == ARBITRATION_AGE)
		/* The times wrap, so their difference is compared. */
		of->key = of->packet->injected_ns - (uint32_t)(now / PS_PER_NS) + UINT32_MAX / 2;
	else if (own->config.inputs == ARBITRATION_WEIGHTED)
		of->key = weft_time_max(input_at(sw, output, of->input)->time, out->clock);
	next = own->config.vcs == VC_SERVICE_ROUND_ROBIN ? sw->port[output].output.next_input
							 : out->next[of->vc];
	of->distance =
		((of->input - next) & (PORT_SET_PORTS - 1)) * FRAME_VCS_MAX +
		((of->vc - switch_cross(sw, output, of->input)->next_vc) & (FRAME_VCS_MAX - 1));
}

static bool is_before(const struct candidate *a, const struct candidate *b)
{
	if (b->packet == NULL || a->class != b->class)
		return b->packet == NULL || a->class < b->class;
	return a->key != b->key ? a->key < b->key : a->distance < b->distance;
}

/* Updates the best candidate with the heads of an input. Heads without credits stall. */
static void look_at(struct weft_switch *sw, unsigned output, unsigned input, weft_time now,
	struct candidate *best)
{
	for (unsigned vcs = switch_ready_vcs(sw, output, input); vcs != 0; vcs &= vcs - 1) {
		struct candidate one = {.input = input, .vc = (unsigned)__builtin_ctz(vcs)};
		struct voq *queue = &switch_queues(sw, output, input)[one.vc];

		one.packet = queue->head;
		if (!credit_suffices(
			    &sw->port[output].link.tx[one.packet->vc_next], one.packet->blocks)) {
			arbiter_stall(sw, queue, input, one.vc, output, now);
			continue;
		}
		rate(sw, output, now, &one);
		if (is_before(&one, best))
			*best = one;
	}
}

/* Starts a new period: flows are counted from zero again. */
static void begin_period(struct weft_switch *sw, unsigned output)
{
	sw->arbitration->output[output].packets = 0;
	for (unsigned input = 0; input < sw->ports; input++) {
		input_at(sw, output, input)->before = input_at(sw, output, input)->seen;
		input_at(sw, output, input)->seen = 0;
	}
}

/* Charges the candidate, which is about to be sent, for its service. */
static void charge(struct weft_switch *sw, unsigned output, const struct candidate *of)
{
	struct arbitration *own = sw->arbitration;
	struct arbitration_output *out = &own->output[output];
	struct arbitration_input *input = input_at(sw, output, of->input);
	uint64_t cost = (uint64_t)of->packet->blocks * BLOCK_TIME;
	unsigned weight = own->config.weight[of->vc] != 0 ? own->config.weight[of->vc] : 1;

	out->next[of->vc] = (uint8_t)((of->input + 1) & (PORT_SET_PORTS - 1));
	if (own->config.vcs == VC_SERVICE_WEIGHTED) {
		out->vc_clock = of->class;
		out->vc_time[of->vc] = of->class + cost / weight;
	}
	if (own->config.inputs != ARBITRATION_WEIGHTED)
		return;
	input->seen |= BIT64(rng_mix(of->packet->source) & 63);
	out->clock = of->key;
	input->time = of->key + cost / arbitration_flows(input->seen | input->before);
	if (++out->packets == PERIOD)
		begin_period(sw, output);
}

bool arbiter_aim(struct weft_switch *sw, unsigned output, weft_time now)
{
	struct candidate best = {.packet = NULL};

	PORT_SET_EACH(set, sw->port[output].output.ready)
		look_at(sw, output, port_set_first(set), now, &best);
	if (best.packet == NULL)
		return false;
	sw->port[output].output.next_input = (uint8_t)best.input;
	switch_cross(sw, output, best.input)->next_vc = (uint8_t)best.vc;
	charge(sw, output, &best);
	return true;
}

/* 64 ln(64 / (64 - n)), rounded, for n bits set. */
static const uint16_t counted[65] = {0, 1, 2, 3, 4, 5, 6, 7, 9, 10, 11, 12, 13, 15, 16, 17, 18, 20,
	21, 23, 24, 25, 27, 28, 30, 32, 33, 35, 37, 39, 40, 42, 44, 46, 48, 51, 53, 55, 58, 60, 63,
	65, 68, 71, 74, 78, 81, 85, 89, 93, 97, 102, 107, 113, 119, 126, 133, 142, 151, 163, 177,
	196, 222, 266, 310};

unsigned arbitration_flows(uint64_t seen)
{
	return counted[__builtin_popcountll(seen)];
}

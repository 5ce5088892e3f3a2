/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "datagram.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/port_set.h"
#include "datagram_control.h"
#include "datagram_recovery.h"
#include "datagram_reorder.h"

static bool is_valid(const struct datagram_config *config, const struct link_end_config *link)
{
	if (config->vcs == 0 || config->vcs > FRAME_VCS_MAX || config->vcs != link->vcs ||
		config->host >= config->hosts || config->hosts > PAIR_HOSTS_MAX ||
		config->mtu_bytes == 0 || config->queue == 0 ||
		(config->queue & (config->queue - 1)) != 0 || config->mtu_bytes > UINT16_MAX)
		return false;
	if (config->control != NULL && config->routes == NULL &&
		source_control_spreads(config->control->kind))
		return false;
	if (config->mark_ps != 0 &&
		(config->vcs < 2 || config->adapted_queue == 0 ||
			(config->adapted_queue & (config->adapted_queue - 1)) != 0))
		return false;
	for (unsigned sl = 0; sl < 16; sl++)
		if (config->sl_to_vc[sl] >= config->vcs - (config->mark_ps != 0))
			return false;
	return true;
}

static unsigned adapted_vc(const struct datagram *nic)
{
	return nic->config.vcs - 1u;
}

/* Allocates FIFOs separately from the interface, which would otherwise contain one per possible VC.
 * The interfaces of a large fabric exceed the reach of a processor's TLBs, and most interfaces send
 * without a FIFO. */
static int allocate_fifos(struct datagram *nic)
{
	const size_t bytes = nic->config.vcs * sizeof(*nic->fifo);

	nic->fifo = aligned_alloc(64, bytes);
	if (nic->fifo == NULL)
		return -ENOMEM;
	memset(nic->fifo, 0, bytes);
	for (unsigned vc = 0; vc < nic->config.vcs; vc++) {
		struct datagram_fifo *fifo = &nic->fifo[vc];
		bool adapted = nic->config.mark_ps != 0 && vc == adapted_vc(nic);
		uint32_t size = adapted ? nic->config.adapted_queue : nic->config.queue;

		/* A message that returns from a pause needs room in addition to the queue. */
		if (nic->control != NULL)
			size *= 2;
		fifo->mask = size - 1;
		/* not cleared, because many hosts never use it */
		fifo->message = malloc(size * sizeof(*fifo->message));
		if (fifo->message == NULL)
			return -ENOMEM;
	}
	return 0;
}

/* Returns the position of a number in the shared table. The sender's and the receiver's numbers of
 * a pair are adjacent, so the sender's access brings both into the cache. */
static struct pair_memory place_of(
	const struct datagram_config *config, uint32_t from, uint32_t to, unsigned which)
{
	const size_t bytes = config->numbers == PAIR_NUMBERS_ALL ? sizeof(uint32_t) : 1;
	const size_t pair = (size_t)from * config->hosts + to;

	return (struct pair_memory){
		.first = (uint8_t *)config->number_table + (2 * pair + which) * bytes,
		.step = which == 0 ? 2 : 2 * config->hosts,
	};
}

static int allocate_numbers(struct datagram *nic)
{
	const struct datagram_config *config = &nic->config;
	struct pair_memory sent, come, *given_sent = NULL, *given_come = NULL;

	if (config->number_table != NULL) {
		sent = place_of(config, config->host, 0, 0);
		come = place_of(config, 0, config->host, 1);
		given_sent = &sent;
		given_come = &come;
	}
	if (pair_numbers_init(&nic->sent, config->numbers, config->hosts, given_sent) < 0)
		return -ENOMEM;
	return pair_numbers_init(&nic->come, config->numbers, config->hosts, given_come);
}

void datagram_separate_numbers(struct datagram *nic)
{
	const struct datagram_config *config = &nic->config;
	struct pair_memory come;

	if (config->number_table == NULL || config->numbers == PAIR_NUMBERS_FEW)
		return;
	come = place_of(config, config->host, 0, 1);
	come.step = 2;
	/* This cannot fail with the caller's memory. */
	(void)pair_numbers_init(&nic->come, config->numbers, config->hosts, &come);
}

/* Recovery is needed only if hosts or links can lose packets. */
static int allocate_order(struct datagram *nic)
{
	const struct datagram_config *config = &nic->config;

	if (config->held_max == 0)
		return 0;
	nic->order = datagram_reorder_create(
		config->go_back ? 0 : config->held_max, config->numbers, config->hosts);
	if (config->itb != NULL || config->lossy)
		nic->recovery = datagram_recovery_create();
	return nic->order == NULL ||
			       ((config->itb != NULL || config->lossy) && nic->recovery == NULL)
		       ? -ENOMEM
		       : 0;
}

static int allocate_control(struct datagram *nic)
{
	const struct source_control_config *config = nic->config.control;

	if (config == NULL || config->kind == SOURCE_CONTROL_NONE)
		return 0;
	nic->control = datagram_control_create(config);
	if (nic->control == NULL)
		return -errno;
	if (source_control_measures(config->kind)) {
		nic->frame_flags = FRAME_F_LATENCY;
		nic->extension_bytes = FRAME_LATENCY_BYTES;
	}
	return 0;
}

static int allocate(struct datagram *nic)
{
	const struct datagram_config *config = &nic->config;
	int result = allocate_control(nic);

	if (result < 0)
		return result;
	if (allocate_numbers(nic) < 0)
		return -ENOMEM;
	if (allocate_fifos(nic) < 0 || arn_marks_create(&nic->marks, config->mark_ps) < 0)
		return -ENOMEM;
	if (config->reps) {
		nic->reps = reps_create(config->seed, config->host, config->hosts);
		if (nic->reps == NULL)
			return -ENOMEM;
	}
	nic->itb = config->itb != NULL ? itb_create(config->itb) : NULL;
	if (config->itb != NULL && nic->itb == NULL)
		return -ENOMEM;
	if (allocate_order(nic) < 0)
		return -ENOMEM;
	if (route_choice_init(&nic->choice, config->choice, &config->selection, config->seed,
		    config->host, config->routes != NULL ? config->hosts : 0) < 0)
		return -ENOMEM;
	return 0;
}

int datagram_init(struct datagram *nic, const struct datagram_config *config,
	const struct link_end_config *link)
{
	int result;

	memset(nic, 0, sizeof(*nic));
	if (!is_valid(config, link))
		return -EINVAL;
	nic->config = *config;
	nic->mtu_bytes = (uint16_t)config->mtu_bytes;
	nic->has_routes = config->routes != NULL;
	result = allocate(nic);
	if (result < 0) {
		datagram_fini(nic);
		return result;
	}
	nic->config.itb = NULL;
	nic->config.control = NULL;
	link_end_init(&nic->link, link, 0);
	return 0;
}

bool datagram_failed(const struct datagram *nic)
{
	return nic->sent.failed || nic->come.failed ||
	       (nic->recovery != NULL && nic->recovery->failed) ||
	       (nic->order != NULL && nic->order->latest.failed);
}

void datagram_fini(struct datagram *nic)
{
	for (unsigned vc = 0; nic->fifo != NULL && vc < nic->config.vcs; vc++)
		free(nic->fifo[vc].message);
	free(nic->fifo);
	free(nic->marks);
	pair_numbers_fini(&nic->sent);
	pair_numbers_fini(&nic->come);
	itb_destroy(nic->itb);
	datagram_recovery_destroy(nic->recovery);
	free(nic->reps);
	datagram_reorder_destroy(nic->order);
	datagram_control_destroy(nic->control);
	route_choice_fini(&nic->choice);
	memset(nic, 0, sizeof(*nic));
}

bool datagram_choose_route(
	struct datagram *nic, const struct datagram_message *message, struct datagram_route *chosen)
{
	const uint8_t *pair;
	unsigned count, length = 0;

	*chosen = (struct datagram_route){.route = NULL};
	if (nic->config.routes == NULL)
		return true;
	pair = route_set_pair(nic->config.routes, nic->config.host, message->destination);
	count = route_pair_count(pair);
	if (count == 0)
		return false;
	chosen->alternatives = (uint8_t)count;
	chosen->which = (uint8_t)route_choice_choose(
		&nic->choice, message->destination, count, message->bytes);
	chosen->route = route_pair_get(pair, chosen->which, &length);
	chosen->length = (uint8_t)length;
	return true;
}

/* Chooses the head's route, or only checks that there is one if source control chooses later. */
static bool find_route(struct datagram *nic, struct datagram_fifo *fifo)
{
	const struct datagram_message *message = &fifo->message[fifo->head];

	if (nic->control == NULL || !source_control_spreads(nic->control->source->config.kind))
		return datagram_choose_route(nic, message, &fifo->chosen);
	fifo->chosen = (struct datagram_route){.route = NULL};
	return route_set_count(nic->config.routes, nic->config.host, message->destination) > 0;
}

void datagram_set_routes(struct datagram *nic, const struct route_set *routes)
{
	nic->config.routes = routes;
	for (unsigned vc = 0; vc < nic->config.vcs; vc++) {
		struct datagram_route former = nic->fifo[vc].chosen;

		if (nic->fifo[vc].count > 0 && !find_route(nic, &nic->fifo[vc]))
			nic->fifo[vc].chosen = former; /* it is lost on its path, or resent later */
	}
	if (nic->recovery != NULL)
		nic->recovery->rerouted = true;
}

void datagram_begin_head(struct datagram *nic, unsigned vc)
{
	struct datagram_fifo *fifo = &nic->fifo[vc];

	fifo->sent_bytes = fifo->wire_bytes = 0;
	fifo->started = fifo->numbered = false;
	while (fifo->count > 0 && !find_route(nic, fifo)) {
		nic->unreachable++;
		fifo->head = (fifo->head + 1) & fifo->mask;
		fifo->count--;
	}
	if (fifo->count == 0)
		nic->waiting &= (uint16_t) ~(1u << vc);
	else
		nic->waiting |= (uint16_t)(1u << vc);
}

static void append(struct datagram *nic, unsigned vc, const struct datagram_message *message)
{
	struct datagram_fifo *fifo = &nic->fifo[vc];

	fifo->message[(fifo->head + fifo->count) & fifo->mask] = *message;
	if (fifo->count++ == 0)
		datagram_begin_head(nic, vc);
}

void datagram_drop_head(struct datagram *nic, unsigned vc)
{
	struct datagram_fifo *fifo = &nic->fifo[vc];

	fifo->head = (fifo->head + 1) & fifo->mask;
	fifo->count--;
	datagram_begin_head(nic, vc);
}

void datagram_send(struct datagram *nic, const struct datagram_message *message)
{
	struct datagram_message own = *message;

	own.sl = datagram_sl(nic, message);
	append(nic, nic->config.sl_to_vc[own.sl], &own);
}

void datagram_on_arn(struct datagram *nic, const struct control_arn *arn, weft_time now)
{
	if (nic->marks != NULL && arn->destination < nic->config.hosts)
		arn_marks_set(nic->marks, arn->destination, arn->vc, now);
}

void datagram_on_cn(struct datagram *nic, uint16_t destination, const struct cn *cn, weft_time now)
{
	if (nic->reps != NULL)
		reps_returned(nic->reps, destination, cn->path, (cn->flags & CN_F_FECN) != 0);
	if (nic->control != NULL)
		source_control_on_notification(
			nic->control->source, destination, cn, now / PS_PER_NS);
}

/* Moves marked messages, or the rest of one, from the head of a FIFO to the adapted-flow channel.
 * Returns false if the head is marked and there is no room. */
static bool divert(struct datagram *nic, unsigned vc, weft_time now)
{
	struct datagram_fifo *fifo = &nic->fifo[vc], *adapted = &nic->fifo[adapted_vc(nic)];

	while (fifo->count > 0) {
		struct datagram_message message = fifo->message[fifo->head];

		if (!arn_marks_has(nic->marks, message.destination, (uint8_t)vc, now))
			return true;
		if (adapted->count > adapted->mask)
			return false;
		message.bytes -= fifo->sent_bytes;
		append(nic, adapted_vc(nic), &message);
		datagram_drop_head(nic, vc);
		nic->diverted++;
	}
	return true;
}

static uint16_t divert_heads(struct datagram *nic, weft_time now)
{
	uint16_t held = 0, own = (uint16_t)(nic->waiting & ((1u << adapted_vc(nic)) - 1));

	for (uint16_t vcs = own; vcs != 0; vcs &= (uint16_t)(vcs - 1)) {
		unsigned vc = (unsigned)__builtin_ctz(vcs);

		if (!divert(nic, vc, now))
			held |= (uint16_t)(1u << vc);
	}
	return held;
}

static void fill(struct datagram *nic, unsigned vc, uint32_t payload, struct weft_packet *packet)
{
	struct datagram_fifo *fifo = &nic->fifo[vc];
	const struct datagram_message *message = &fifo->message[fifo->head];

	packet->bytes = (uint16_t)(FRAME_HEADER_BYTES + nic->extension_bytes + fifo->chosen.length +
				   payload);
	packet->blocks = (uint16_t)frame_blocks(packet->bytes);
	packet->vc = packet->vc_next = packet->header_vc = (uint8_t)vc;
	packet->vc_original = nic->config.sl_to_vc[message->sl];
	packet->cursor = 0;
	packet->flags = nic->frame_flags;
	if (fifo->sent_bytes + payload == message->bytes)
		packet->flags |= FRAME_F_TAIL;
	if (vc != packet->vc_original)
		packet->flags |= FRAME_F_ADAPTED;
	packet->route = fifo->chosen.route;
	packet->route_length = fifo->chosen.length;
	packet->sl = message->sl;
	packet->entry = message->entry;
	packet->control = 0;
	packet->kind = FRAME_DATA;
	packet->stalled = 0;
	packet->source = nic->config.host;
	packet->destination = message->destination;
	/* Messages of several VCs are sent concurrently. */
	if (!fifo->numbered)
		fifo->number = nic->messages_begun++;
	fifo->numbered = true;
	packet->message = fifo->number;
	packet->latency_ns = 0;
}

/* Records that the head is next; after that, only credits can delay it. */
static void record_start(struct datagram_fifo *fifo, weft_time now)
{
	if (fifo->started)
		return;
	fifo->started = true;
	fifo->start_ps = now;
}

/* Reports the end of the message whose last frame was just sent. */
static void record_end(
	struct datagram *nic, const struct datagram_fifo *fifo, unsigned last_bytes, weft_time now)
{
	weft_time last_ps = last_bytes * nic->choice.byte_fs / 1000;

	route_choice_sent(&nic->choice, fifo->message[fifo->head].destination,
		fifo->chosen.alternatives, fifo->chosen.which, fifo->start_ps, now + last_ps,
		fifo->wire_bytes);
}

/* Returns the next VC in round robin whose head can be sent, and the payload of that frame, or
 * FRAME_VCS_MAX. */
static unsigned choose_vc(struct datagram *nic, uint32_t *payload, uint16_t held, weft_time now)
{
	for (uint16_t vcs = (uint16_t)(nic->waiting & ~held); vcs != 0;) {
		unsigned vc = bits_round_robin(vcs, nic->next_vc);
		struct datagram_fifo *fifo = &nic->fifo[vc];
		uint32_t left = fifo->message[fifo->head].bytes - fifo->sent_bytes;

		record_start(fifo, now);
		*payload = left < nic->mtu_bytes ? left : nic->mtu_bytes;
		if (credit_suffices(&nic->link.tx[vc],
			    frame_blocks(FRAME_HEADER_BYTES + nic->extension_bytes +
					 fifo->chosen.length + *payload)))
			return vc;
		vcs &= (uint16_t) ~(1u << vc);
	}
	return FRAME_VCS_MAX;
}

bool datagram_inject(struct datagram *nic, weft_time now, struct weft_packet *packet,
	struct datagram_origin *origin)
{
	struct datagram_fifo *fifo;
	uint32_t payload;
	uint16_t held = nic->marks != NULL ? divert_heads(nic, now) : 0;
	unsigned vc;

	if (__builtin_expect(nic->control != NULL, 0))
		held |= datagram_control_heads(nic, now);
	vc = choose_vc(nic, &payload, held, now);
	if (vc == FRAME_VCS_MAX)
		return false;
	fifo = &nic->fifo[vc];
	fill(nic, vc, payload, packet);
	packet->injected_ns = (uint32_t)(fifo->message[fifo->head].generated_ps / PS_PER_NS);
	packet->sequence = datagram_take_number(nic, packet->destination);
	*origin = (struct datagram_origin){.injected_ps = now,
		.generated_ps = fifo->message[fifo->head].generated_ps,
		.payload_bytes = (uint16_t)payload,
		.path = fifo->chosen.which};
	if (__builtin_expect(nic->reps != NULL, 0))
		packet->entropy = origin->path = reps_take(nic->reps, packet->destination);
	credit_take(&nic->link.tx[vc], packet->blocks);
	nic->next_vc = (uint8_t)((vc + 1) & (FRAME_VCS_MAX - 1));
	nic->frames_sent++;
	if (nic->itb != NULL)
		itb_share_sent_own(&nic->itb->turn);
	fifo->sent_bytes += payload;
	fifo->wire_bytes += packet->bytes + FRAME_WIRE_OVERHEAD;
	if (__builtin_expect(nic->control != NULL, 0))
		datagram_control_sent(nic, packet, now);
	if (packet->flags & FRAME_F_TAIL) {
		record_end(nic, fifo, packet->bytes + FRAME_WIRE_OVERHEAD, now);
		nic->messages_sent++;
		datagram_drop_head(nic, vc);
	}
	return true;
}

/* --- packets in transit --- */

bool datagram_absorb(
	struct datagram *nic, struct weft_packet *packet, weft_time header_ps, weft_time now)
{
	struct credit_rx *rx = &nic->link.rx[packet->vc];

	credit_arrive(rx, packet->blocks);
	credit_release(rx, packet->blocks);
	if (nic->itb == NULL || !itb_is_marked(packet) || !itb_is_route(packet)) {
		nic->misrouted++;
		return false;
	}
	return itb_absorb(nic->itb, packet, nic->config.sl_to_vc[packet->sl & 15], header_ps, now);
}

static bool has_own(const struct datagram *nic, weft_time now, bool may_begin)
{
	if (nic->recovery != NULL && datagram_recovery_waits(nic->recovery, now))
		return credit_suffices(
			&nic->link.tx[nic->recovery->again->vc], nic->recovery->again->blocks);
	if (!may_begin)
		return false;
	for (uint16_t vcs = nic->waiting; vcs != 0; vcs &= (uint16_t)(vcs - 1)) {
		unsigned vc = (unsigned)__builtin_ctz(vcs);
		const struct datagram_fifo *fifo = &nic->fifo[vc];
		uint32_t left = fifo->message[fifo->head].bytes - fifo->sent_bytes;
		uint32_t payload = left < nic->config.mtu_bytes ? left : nic->config.mtu_bytes;

		if (credit_suffices(&nic->link.tx[vc],
			    frame_blocks(FRAME_HEADER_BYTES + fifo->chosen.length + payload)))
			return true;
	}
	return false;
}

uint32_t datagram_waiting(const struct datagram *nic)
{
	uint32_t count = 0;

	for (uint16_t vcs = nic->waiting; vcs != 0; vcs &= (uint16_t)(vcs - 1)) {
		const struct datagram_fifo *fifo = &nic->fifo[__builtin_ctz(vcs)];

		count += fifo->count - (fifo->sent_bytes > 0);
	}
	return count;
}

struct weft_packet *datagram_transit(
	struct datagram *nic, uint32_t own_waiting, bool may_begin, weft_time now, bool *blocked)
{
	struct weft_packet *packet;
	uint32_t dry;
	unsigned vc = itb_ready(nic->itb, nic->link.tx, now, &dry);

	*blocked = vc == FRAME_VCS_MAX && dry != 0;
	if (vc == FRAME_VCS_MAX ||
		(itb_share_is_own(&nic->itb->turn, own_waiting) && has_own(nic, now, may_begin)))
		return NULL;
	packet = itb_next_data(nic->itb, vc, now);
	credit_take(&nic->link.tx[vc], packet->blocks);
	return packet;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "driver_replay.h"

#include "setup/congestion_setup.h"
#include "setup/device_config.h"
#include "switch/switch_congestion.h"
#include "unit.h"

#define SESSION 1
#define BEGIN   PS_PER_S /* start of the record on the replay's clock: links come up earlier */
#define FOREVER (UINT64_MAX / 2)
#define RING    64
#define BIGGEST 2048

struct replay {
	const struct replay_options *options;
	uint64_t present; /* ports */
	struct weft_switch *sw;
	struct poll_switch *ps;
	struct port near[SWITCH_PORTS_MAX], peer_buffers[SWITCH_PORTS_MAX];
	uint32_t fed_blocks[SWITCH_PORTS_MAX][FRAME_VCS_MAX];
	bool busy[SWITCH_PORTS_MAX];
	struct replay_list *played;
	struct fecn fecn;
	struct contention contention;
};

static void *grown(void *list, uint32_t used, uint32_t *room, size_t size)
{
	if (used < *room)
		return list;
	*room = *room == 0 ? 256 : 2 * *room;
	list = realloc(list, *room * size);
	assert_non_null(list);
	return list;
}

void replay_add_event(struct replay_list *list, const struct replay_event *event)
{
	list->event = grown(list->event, list->events, &list->event_room, sizeof(*event));
	list->event[list->events] = *event;
	list->event[list->events].number = list->events;
	list->events++;
}

static struct replay_sent *add_sent(struct replay_list *list)
{
	list->sent = grown(list->sent, list->sents, &list->sent_room, sizeof(*list->sent));
	list->sent[list->sents] = (struct replay_sent){0};
	return &list->sent[list->sents++];
}

static unsigned build_data(
	uint8_t *frame, const struct weft_packet *packet, const struct latency_extension *extension)
{
	unsigned headers = FRAME_HEADER_BYTES + packet->route_length;
	unsigned more = packet->flags & FRAME_F_LATENCY ? FRAME_LATENCY_BYTES : 0;
	const struct frame_fields fields = {.kind = FRAME_DATA,
		.source = packet->source,
		.destination = packet->destination,
		.sl = packet->sl,
		.message = packet->message,
		.sequence = packet->sequence,
		.injected_ns = packet->injected_ns,
		.route = packet->route,
		.route_length = packet->route_length,
		.flags = packet->flags & FRAME_F_LATENCY,
		.payload_bytes = (uint16_t)(packet->bytes - headers - more)};
	unsigned bytes;

	assert_true(packet->bytes <= BIGGEST);
	memset(frame, 0, BIGGEST);
	if (more != 0)
		memcpy(frame + headers, extension, more);
	bytes = frame_build(frame, &fields);
	frame_update_mutable(frame, packet->mutable_word);
	return bytes;
}

static void keep_header(struct replay_sent *sent, const uint8_t *frame)
{
	sent->header_bytes = (uint8_t)frame_payload_offset(frame_header_const(frame));
	memcpy(sent->header, frame, sent->header_bytes);
}

void replay_add_sent(struct replay_list *list, weft_time at, uint8_t port,
	const struct weft_packet *packet, const struct latency_extension *extension)
{
	struct replay_sent *sent = add_sent(list);
	uint8_t frame[BIGGEST];

	build_data(frame, packet, extension);
	sent->at = at;
	sent->port = port;
	keep_header(sent, frame);
}

void replay_add_sent_arn(
	struct replay_list *list, weft_time at, uint8_t port, const struct control_arn *arn)
{
	struct replay_sent *sent = add_sent(list);

	sent->at = at;
	sent->port = port + REPLAY_ARNS;
	sent->header_bytes = (uint8_t)control_arn_encode(arn, sent->header);
}

void replay_free(struct replay_list *list)
{
	free(list->event);
	free(list->sent);
	*list = (struct replay_list){0};
}

static int compare_events(const void *a, const void *b)
{
	const struct replay_event *x = a, *y = b;

	if (x->at != y->at)
		return x->at < y->at ? -1 : 1;
	if (x->port != y->port)
		return x->port < y->port ? -1 : 1;
	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	return x->number < y->number ? -1 : 1;
}

void replay_sort(struct replay_list *list)
{
	qsort(list->event, list->events, sizeof(*list->event), compare_events);
}

/* --- the switch under the poll driver --- */

static bool is_present(const struct replay *replay, unsigned at)
{
	return (replay->present >> at & 1) != 0;
}

static void take_sent(struct replay *replay, uint8_t at, weft_time now)
{
	struct rte_mbuf *mbufs[PORT_BURST];
	uint16_t count = port_rx(&replay->peer_buffers[at], mbufs, PORT_BURST, UINT64_MAX);

	for (uint16_t i = 0; i < count; i++) {
		const uint8_t *frame = rte_pktmbuf_mtod(mbufs[i], const uint8_t *);

		if (frame_header_const(frame)->kind == FRAME_DATA) {
			struct replay_sent *sent = add_sent(replay->played);

			sent->at = now - BEGIN;
			sent->port = at;
			keep_header(sent, frame);
			replay->busy[at] = true;
		} else if (frame_header_const(frame)->kind == FRAME_ARN) {
			struct control_arn arn;

			assert_true(control_arn_decode(
				&arn, frame + FRAME_HEADER_BYTES, CONTROL_ARN_BYTES));
			replay_add_sent_arn(replay->played, now - BEGIN, at, &arn);
		}
		rte_pktmbuf_free(mbufs[i]);
	}
}

/* A turn of the poll loop. A wire, and without VOQs the input, is busy from when a frame leaves
 * until the recorded end; credit frames cost nothing, as on the virtual clock. */
static void turn(struct replay *replay, weft_time now)
{
	for (unsigned at = 0; at < replay->sw->ports; at++)
		replay->ps->port[at].left_at = 0;
	for (unsigned at = 0; at < replay->sw->ports; at++) {
		struct poll_switch_port *port = &replay->ps->port[at];

		port->tx.pacer.free_at = replay->busy[at] ? FOREVER : 0;
		if (replay->busy[at] && !replay->sw->voq)
			replay->ps->port[port->leaving.input].left_at = FOREVER;
	}
	poll_switch_run(replay->ps, now);
	for (unsigned at = 0; at < replay->sw->ports; at++)
		if (is_present(replay, at))
			take_sent(replay, (uint8_t)at, now);
}

static void feed(
	struct replay *replay, unsigned at, struct rte_mbuf *mbuf, unsigned bytes, weft_time now)
{
	rte_pktmbuf_data_len(mbuf) = (uint16_t)bytes;
	rte_pktmbuf_pkt_len(mbuf) = bytes;
	mbuf_packet(mbuf)->arrived_ps = now;
	assert_int_equal(port_tx(&replay->peer_buffers[at], &mbuf, 1, now), 1);
}

static struct rte_mbuf *new_frame(const struct replay *replay, uint8_t **frame)
{
	struct rte_mbuf *mbuf = rte_pktmbuf_alloc(replay->options->pool);

	assert_non_null(mbuf);
	*frame = rte_pktmbuf_mtod(mbuf, uint8_t *);
	return mbuf;
}

static void feed_hello(struct replay *replay, unsigned at, weft_time now)
{
	const struct control_hello hello = {
		.device = 100 + at, .session = SESSION, .peer_session = SESSION};
	struct frame_fields fields = {
		.kind = FRAME_HELLO, .source = FRAME_HOST_NONE, .destination = FRAME_HOST_NONE};
	uint8_t *frame;
	struct rte_mbuf *mbuf = new_frame(replay, &frame);

	fields.payload_bytes = (uint16_t)control_hello_encode(&hello, frame + FRAME_HEADER_BYTES);
	feed(replay, at, mbuf, frame_build(frame, &fields), now);
}

/* 'sent' in the record may include packets under way; here it counts fed packets. */
static void feed_credit(
	struct replay *replay, unsigned at, struct control_credit credit, weft_time now)
{
	struct frame_fields fields = {
		.kind = FRAME_CREDIT, .source = FRAME_HOST_NONE, .destination = FRAME_HOST_NONE};
	uint8_t *frame;
	struct rte_mbuf *mbuf = new_frame(replay, &frame);

	for (unsigned vc = 0; vc < credit.vcs; vc++) {
		credit.sent[vc] = replay->fed_blocks[at][vc];
		if (replay->options->ignore_credits)
			credit.limit[vc] = INT32_MAX;
	}
	fields.payload_bytes = (uint16_t)control_credit_encode(&credit, frame + FRAME_HEADER_BYTES);
	feed(replay, at, mbuf, frame_build(frame, &fields), now);
}

static void feed_arn(
	struct replay *replay, unsigned at, const struct control_arn *arn, weft_time now)
{
	struct frame_fields fields = {
		.kind = FRAME_ARN, .source = FRAME_HOST_NONE, .destination = FRAME_HOST_NONE};
	uint8_t *frame;
	struct rte_mbuf *mbuf = new_frame(replay, &frame);

	fields.payload_bytes = (uint16_t)control_arn_encode(arn, frame + FRAME_HEADER_BYTES);
	feed(replay, at, mbuf, frame_build(frame, &fields), now);
}

static void feed_packet(
	struct replay *replay, unsigned at, const struct replay_event *event, weft_time now)
{
	const struct weft_packet *packet = &event->packet;
	uint8_t *frame;
	struct rte_mbuf *mbuf = new_frame(replay, &frame);

	replay->fed_blocks[at][packet->header_vc] += packet->blocks;
	feed(replay, at, mbuf, build_data(frame, packet, &event->extension), now);
}

static void create_switch(
	struct replay *replay, const struct replay_fabric *fabric, uint32_t number)
{
	const struct contention_config contention = {
		.in_frame = true, .extension = poll_switch_extension};
	const struct device_config from = {.run = fabric->run,
		.topology = fabric->topology,
		.routes = fabric->routes,
		.session = SESSION,
		.links_are_up = true};
	struct switch_config config;
	struct error error;

	device_config_switch(&from, number, &config);
	config.hello_ps = PS_PER_S;
	config.credit_refresh_ps = 1; /* free space is granted in every turn */
	config.voq = config.voq && !replay->options->one_queue;
	replay->present = ~config.absent_ports;
	replay->sw = switch_create(&config, BEGIN - 2);
	assert_non_null(replay->sw);
	congestion_setup_marks(replay->sw, &replay->fecn, fabric->run);
	congestion_setup_contention(replay->sw, &replay->contention, fabric->topology, number,
		fabric->run, &contention);
	if (replay->options->contention != NULL)
		replay->contention.config = *replay->options->contention;
	if (congestion_setup_switch(replay->sw, fabric->topology, number, fabric->run, &error) != 0)
		fail_msg("%s", error.text);
	replay->ps = poll_switch_create(replay->sw, replay->options->pool);
	assert_non_null(replay->ps);
}

static void start(struct replay *replay, const struct replay_fabric *fabric, uint32_t number)
{
	struct control_credit grant = {.session = SESSION, .peer_session = SESSION};
	struct error error;

	create_switch(replay, fabric, number);
	for (unsigned at = 0; at < replay->sw->ports; at++) {
		if (!is_present(replay, at))
			continue;
		if (port_open_memory_link(&replay->near[at], "near", &replay->peer_buffers[at],
			    "far", RING, &error) < 0)
			fail_msg("%s", error.text);
		poll_switch_attach(replay->ps, at, &replay->near[at],
			&(struct tx_timing){.rate_bps = PS_PER_S}, NULL);
		feed_hello(replay, at, BEGIN - 2);
	}
	turn(replay, BEGIN - 2);
	grant.vcs = replay->sw->vcs;
	for (unsigned vc = 0; vc < grant.vcs; vc++)
		grant.limit[vc] = run_config_vc_blocks(fabric->run);
	for (unsigned at = 0; at < replay->sw->ports; at++)
		if (is_present(replay, at))
			feed_credit(replay, at, grant, BEGIN - 1);
	turn(replay, BEGIN - 1);
}

static uint64_t count_discards(const struct weft_switch *sw)
{
	uint64_t in = 0, out = 0;

	for (unsigned at = 0; at < sw->ports; at++) {
		in += sw->port[at].count[SWITCH_DATA_IN];
		out += sw->port[at].count[SWITCH_DATA_OUT];
	}
	return in - out - switch_stored_packets(sw);
}

static uint64_t stop(struct replay *replay)
{
	uint64_t discards = count_discards(replay->sw);

	assert_null(switch_check(replay->sw));
	poll_switch_destroy(replay->ps);
	for (unsigned at = 0; at < replay->sw->ports; at++) {
		if (!is_present(replay, at))
			continue;
		port_close(&replay->near[at]);
		port_close(&replay->peer_buffers[at]);
	}
	switch_destroy(replay->sw);
	return discards;
}

static void feed_event(struct replay *replay, const struct replay_event *event, weft_time now)
{
	switch (event->kind) {
	case REPLAY_CREDIT:
		if (event->is_arn && replay->options->ignore_arns)
			return;
		if (event->is_arn)
			feed_arn(replay, event->port, &event->arn, now);
		else
			feed_credit(replay, event->port, event->credit, now);
		return;
	case REPLAY_ARRIVAL:
		feed_packet(replay, event->port, event, now);
		return;
	default:
		replay->busy[event->port] = false;
		replay->ps->port[replay->ps->port[event->port].leaving.input].leaving_by |=
			BIT64(event->port);
	}
}

static void move_round_robins(struct replay *replay)
{
	for (unsigned at = 0; at < replay->sw->ports; at++) {
		struct switch_output *output = &replay->sw->port[at].output;

		output->next_input = (uint8_t)((output->next_input + replay->options->moved_on) %
					       replay->sw->ports);
	}
}

/* On the virtual clock the detector checks its times when a packet arrives, before the switch
 * decides. The poll driver checks in each turn; without this, about one notification in a hundred
 * leaves earlier. */
static void turn_as_on_the_virtual_clock(
	struct replay *replay, const struct replay_event *event, weft_time now)
{
	struct congestion_control *congestion = replay->sw->congestion;
	struct congestion_detector *detector = congestion != NULL ? congestion->detector : NULL;
	weft_time due;

	if (detector != NULL && event->kind == REPLAY_ARRIVAL &&
		switch_congestion_is_due(replay->sw, now))
		congestion_control_poll(congestion, now);
	due = detector != NULL ? detector->next_due : 0;
	if (detector != NULL)
		detector->next_due = WEFT_TIME_NEVER;
	turn(replay, now);
	if (detector == NULL || due >= detector->next_due)
		return;
	detector->next_due = due;
	congestion->due = due < congestion->due ? due : congestion->due;
	congestion->signal->alert = true;
	congestion->signal->departures |= CONGESTION_LEFT;
}

uint64_t replay_run(const struct replay_fabric *fabric, uint32_t number,
	const struct replay_options *options, const struct replay_list *record,
	struct replay_list *played)
{
	struct replay replay = {.options = options, .played = played};

	start(&replay, fabric, number);
	for (uint32_t i = 0; i < record->events; i++) {
		const struct replay_event *event = &record->event[i];

		if (i == record->events / 2)
			move_round_robins(&replay);
		feed_event(&replay, event, BEGIN + event->at);
		turn_as_on_the_virtual_clock(&replay, event, BEGIN + event->at);
	}
	return stop(&replay);
}

static const struct replay_sent *next_of(
	const struct replay_list *list, unsigned port, uint32_t *from)
{
	while (*from < list->sents && list->sent[*from].port != port)
		(*from)++;
	return *from < list->sents ? &list->sent[(*from)++] : NULL;
}

static bool same(const struct replay_sent *a, const struct replay_sent *b)
{
	return a->at == b->at && a->header_bytes == b->header_bytes &&
	       memcmp(a->header, b->header, a->header_bytes) == 0;
}

int replay_difference(const struct replay_list *a, const struct replay_list *b, unsigned port)
{
	uint32_t at_a = 0, at_b = 0;

	for (int number = 0;; number++) {
		const struct replay_sent *x = next_of(a, port, &at_a), *y = next_of(b, port, &at_b);

		if (x == NULL && y == NULL)
			return -1;
		if (x == NULL || y == NULL || !same(x, y))
			return number;
	}
}

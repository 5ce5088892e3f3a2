/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Interfaces on a faulty fabric, in virtual time: frames are lost, duplicated, damaged, and take
 * different times on different paths. Each interface is at the end of a link with credits in both
 * directions, as at a switch port. Hosts number their messages and check that each one arrives
 * once, complete and in order, and has exactly one outcome. */

#include "base/rng.h"
#include "host/measure_sink.h"
#include "nic/nic.h"
#include "traffic/synthetic.h"
#include "unit.h"

#define CHANNEL_HOSTS_MAX 16
#define CHANNEL_STEP_PS   PS_PER_US
#define CHANNEL_SLOTS     1024 /* steps that a frame can be under way */
#define CHANNEL_ROOM      512  /* bytes of a frame */
#define CHANNEL_BURST     8    /* frames an interface may send a step */
#define CHANNEL_PATHS_MAX 4
#define CHANNEL_BODY_MAX  2048

struct channel_options {
	unsigned hosts, vcs, paths;
	uint32_t loss_ppm, control_loss_ppm, duplicate_ppm, damage_ppm;
	unsigned delay, spread, path_delay; /* steps; path i takes i * path_delay more */
	uint32_t mtu_bytes, window_frames;
	bool by_table;
	uint64_t seed;
	const struct route_choice_ops *choice;
	bool itbs;         /* a third host on every route re-injects (if 3 or more) */
	uint64_t itb_pool; /* per host; 0: the default */
	weft_time mark_ps; /* the last VC is the adapted-flow channel; 0: an ordinary VC */
};

struct carried {
	struct weft_packet packet; /* first: what the interface gives back */
	struct carried *next;
	uint32_t bytes;
	uint16_t to;
	uint8_t frame[CHANNEL_ROOM];
};

struct carried_list {
	struct carried *head, **tail;
};

/* A program's message, as far as it has arrived. */
struct body {
	uint32_t bytes;
	uint8_t at[CHANNEL_BODY_MAX];
};

struct station {
	struct channel *channel;
	struct nic *nic;
	struct nic_routes *routes;
	struct measure_sink *sink;
	uint16_t host;
	struct link_end port;       /* the far end of its link */
	struct carried_list egress; /* waits for credits */
	bool real[CHANNEL_HOSTS_MAX];
	struct body body[CHANNEL_HOSTS_MAX];
	uint32_t sent[CHANNEL_HOSTS_MAX][16];     /* programs' messages to, by SL */
	uint32_t received[CHANNEL_HOSTS_MAX][16]; /* from, by SL */
	uint64_t messages_received, acked, failed;
};

struct channel {
	struct channel_options options;
	struct station station[CHANNEL_HOSTS_MAX];
	struct carried_list slot[CHANNEL_SLOTS];
	struct carried *free;
	uint64_t carried, made; /* frames under way; frames allocated */
	uint64_t data_frames, step, bad_frames;
	weft_time now;
	struct rng rng;
	bool cut; /* nothing gets through any more */
};

static inline void carried_push(struct carried_list *list, struct carried *carried)
{
	carried->next = NULL;
	*list->tail = carried;
	list->tail = &carried->next;
}

static inline struct carried *carried_pop(struct carried_list *list)
{
	struct carried *carried = list->head;

	list->head = carried->next;
	if (list->head == NULL)
		list->tail = &list->head;
	return carried;
}

static inline struct carried *carried_get(struct channel *channel)
{
	struct carried *carried = channel->free;

	if (carried != NULL) {
		channel->free = carried->next;
	} else {
		carried = malloc(sizeof(*carried));
		assert_non_null(carried);
		channel->made++;
	}
	channel->carried++;
	return carried;
}

static inline void carried_put(struct channel *channel, struct carried *carried)
{
	carried->next = channel->free;
	channel->free = carried;
	channel->carried--;
}

static inline void carried_put_chain(struct channel *channel, struct weft_packet *packet)
{
	while (packet != NULL) {
		struct weft_packet *next = packet->next;

		carried_put(channel, (struct carried *)packet);
		packet = next;
	}
}

/* A program's message: source, destination, SL, number, then bytes derived from the number. */
static inline void body_fill(uint8_t *out, uint32_t bytes, uint16_t source, uint16_t destination,
	uint8_t sl, uint32_t number)
{
	memset(out, (int)(number * 37 + source), bytes);
	out[0] = 0x45;
	out[1] = (uint8_t)source;
	out[2] = (uint8_t)destination;
	out[3] = sl;
	memcpy(out + 4, &number, sizeof(number));
	memcpy(out + 8, &bytes, sizeof(bytes));
}

#define BODY_MIN 12

static inline void body_check(struct station *station, uint16_t source, uint8_t sl)
{
	struct body *body = &station->body[source];
	uint8_t wanted[CHANNEL_BODY_MAX];

	assert_true(body->bytes >= BODY_MIN);
	body_fill(wanted, body->bytes, source, station->host, sl, station->received[source][sl]++);
	assert_memory_equal(body->at, wanted, body->bytes);
}

static inline void station_deliver(void *ctx, const struct nic_delivery *delivery)
{
	struct station *station = ctx;
	struct body *body = &station->body[delivery->source];

	measure_sink_watch(station->sink, delivery);
	if (delivery->first) {
		station->real[delivery->source] = !synthetic_is(delivery->payload, delivery->bytes);
		body->bytes = 0;
	}
	station->messages_received += delivery->tail;
	if (!station->real[delivery->source]) {
		measure_sink_take(station->sink, delivery);
		return;
	}
	assert_int_equal(delivery->offset, body->bytes);
	assert_true(body->bytes + delivery->bytes <= CHANNEL_BODY_MAX);
	memcpy(body->at + body->bytes, delivery->payload, delivery->bytes);
	body->bytes += delivery->bytes;
	if (delivery->tail)
		body_check(station, delivery->source, delivery->sl);
}

static inline void station_done(void *ctx, const struct nic_outcome *outcome)
{
	struct station *station = ctx;

	if (outcome->error == 0)
		station->acked++;
	else
		station->failed++;
}

/* By some host that is neither end. */
static inline void add_route_by_host(const struct channel *channel, struct nic_routes *routes,
	uint16_t host, uint16_t to, unsigned path)
{
	uint16_t by = (uint16_t)((host + to + path) % channel->options.hosts);
	uint8_t route[] = {(uint8_t)(ROUTE_PORT_BIT | path), 0, ROUTE_TYPE_ITB,
		(uint8_t)(ROUTE_PORT_BIT | path), (uint8_t)(ROUTE_PORT_BIT | to), ROUTE_TYPE_HOST};

	while (by == host || by == to)
		by = (uint16_t)((by + 1) % channel->options.hosts);
	route[1] = (uint8_t)(ROUTE_PORT_BIT | by);
	assert_int_equal(nic_routes_add(routes, to, route, sizeof(route)), 0);
}

static inline struct nic_routes *channel_routes(const struct channel *channel, uint16_t host)
{
	struct nic_routes *routes = nic_routes_create((uint16_t)channel->options.hosts);

	for (uint16_t to = 0; to < channel->options.hosts; to++) {
		if (channel->options.by_table)
			nic_routes_by_table(routes, to);
		for (unsigned path = 0; path < channel->options.paths && !channel->options.by_table;
			path++) {
			uint8_t route[2] = {(uint8_t)(ROUTE_PORT_BIT | path), ROUTE_TYPE_HOST};

			if (channel->options.itbs)
				add_route_by_host(channel, routes, host, to, path);
			else
				assert_int_equal(nic_routes_add(routes, to, route, 2), 0);
		}
	}
	return routes;
}

/* Restarts an interface; the link's far end continues. */
static inline void station_start(struct station *station, uint32_t session)
{
	const struct channel_options *options = &station->channel->options;
	struct nic_config config;

	nic_config_default(&config, station->host, (uint16_t)options->hosts);
	config.mtu_bytes = options->mtu_bytes;
	config.routes = station->routes;
	config.choice = options->choice;
	config.seed = options->seed;
	config.messages = 512;
	config.payloads = 256;
	config.payload_bytes = CHANNEL_BODY_MAX;
	config.window_frames = options->window_frames;
	config.ack_frames = 8;
	config.ack_delay_ps = 5 * PS_PER_US;
	config.gap_ps = 40 * PS_PER_US;
	config.retry_ps = 300 * PS_PER_US;
	config.give_up_ps = 200 * PS_PER_MS;
	config.link.session = session;
	memcpy(config.secret, &session, sizeof(session));
	config.link.vcs = (uint8_t)options->vcs;
	config.link.vc_blocks = 256;
	config.link.hello_ps = 100 * PS_PER_US;
	config.link.refresh_ps = 20 * PS_PER_US;
	for (unsigned sl = 0; sl < 16; sl++)
		config.sl_to_vc[sl] = (uint8_t)(sl % (options->vcs - (options->mark_ps != 0)));
	config.mark_ps = options->mark_ps;
	if (options->itb_pool != 0)
		config.itb.pool_bytes = options->itb_pool;
	config.above =
		(struct nic_host){.ctx = station, .deliver = station_deliver, .done = station_done};
	station->nic = nic_create(&config, station->channel->now);
	assert_non_null(station->nic);
}

static inline void station_stop(struct station *station)
{
	carried_put_chain(station->channel, nic_drain(station->nic));
	nic_destroy(station->nic);
	station->nic = NULL;
}

static inline void channel_start(struct channel *channel, const struct channel_options *options)
{
	memset(channel, 0, sizeof(*channel));
	channel->options = *options;
	channel->now = PS_PER_S;
	rng_init(&channel->rng, options->seed, 99, 0);
	for (unsigned i = 0; i < CHANNEL_SLOTS; i++)
		channel->slot[i].tail = &channel->slot[i].head;
	for (uint16_t i = 0; i < options->hosts; i++) {
		struct station *station = &channel->station[i];
		struct link_end_config port = {.vcs = (uint8_t)options->vcs,
			.vc_blocks = 256,
			.session = 77,
			.hello_ps = 100 * PS_PER_US,
			.refresh_ps = 20 * PS_PER_US};

		station->channel = channel;
		station->host = i;
		station->routes = channel_routes(channel, i);
		station->sink = measure_sink_create(i, (uint16_t)options->hosts);
		station->egress.tail = &station->egress.head;
		link_end_init(&station->port, &port, channel->now);
		station_start(station, 1000 + i);
	}
}

/* Frames for the interface are checked as in the poll driver. */
static inline void station_receive(struct station *station, struct carried *carried)
{
	struct channel *channel = station->channel;

	if (frame_check(carried->frame, carried->bytes) != FRAME_FAULT_OK) {
		channel->bad_frames++;
		carried_put(channel, carried);
		return;
	}
	nic_describe(&carried->packet, carried->frame, carried->bytes, channel->now);
	carried_put_chain(
		channel, nic_receive(station->nic, &carried->packet, carried->frame, channel->now));
}

static inline void station_drain_egress(struct station *station)
{
	while (station->egress.head != NULL) {
		struct carried *carried = station->egress.head;
		unsigned vc = frame_header_const(carried->frame)->vc;
		unsigned blocks = frame_blocks(carried->bytes);
		struct credit_tx *credits;

		if (vc >= station->channel->options.vcs) /* damaged */
			vc = 0;
		credits = &station->port.tx[vc];

		if (!credit_suffices(credits, blocks))
			return;
		credit_take(credits, blocks);
		station_receive(station, carried_pop(&station->egress));
	}
}

static inline void channel_damage(struct channel *channel, struct carried *carried)
{
	unsigned at = FRAME_HEADER_OFFSET +
		      (unsigned)rng_below(&channel->rng, carried->bytes - FRAME_HEADER_OFFSET);

	carried->frame[at] ^= (uint8_t)(1u << rng_below(&channel->rng, 8));
}

/* Returns the path; its cursor is then at the next interface. */
static inline unsigned cross_switches(const struct channel *channel, struct carried *carried)
{
	const struct frame_header *header = frame_header_const(carried->frame);
	const uint8_t *route = carried->frame + FRAME_HEADER_BYTES;
	unsigned path = route[header->cursor] & ROUTE_PORT_MASK;
	uint8_t cursor = header->cursor;

	while ((route[cursor] & ROUTE_PORT_BIT) != 0)
		cursor++;
	if (channel->options.itbs)
		carried->to = route[cursor - 1] & ROUTE_PORT_MASK;
	frame_update_mutable(carried->frame,
		frame_mutable_word(header->vc, header->vc_original, cursor, header->flags));
	return path;
}

/* Sends one copy on its way. */
static inline void channel_carry(struct channel *channel, struct carried *carried)
{
	const struct channel_options *options = &channel->options;
	const struct frame_header *header = frame_header_const(carried->frame);
	unsigned steps = options->delay + (unsigned)rng_below(&channel->rng, options->spread + 1);

	if (header->route_length != 0)
		steps += cross_switches(channel, carried) * options->path_delay;
	if (rng_chance_ppm(&channel->rng, options->damage_ppm))
		channel_damage(channel, carried);
	carried_push(&channel->slot[(channel->step + steps) % CHANNEL_SLOTS], carried);
}

static inline void channel_send(struct channel *channel, struct carried *carried)
{
	const struct channel_options *options = &channel->options;
	bool data = frame_header_const(carried->frame)->kind == FRAME_DATA;

	if (channel->cut || rng_chance_ppm(&channel->rng,
				    data ? options->loss_ppm : options->control_loss_ppm)) {
		carried_put(channel, carried);
		return;
	}
	if (rng_chance_ppm(&channel->rng, options->duplicate_ppm)) {
		struct carried *copy = carried_get(channel);

		copy->bytes = carried->bytes;
		copy->to = carried->to;
		memcpy(copy->frame, carried->frame, carried->bytes);
		channel_carry(channel, copy);
	}
	channel_carry(channel, carried);
}

static inline void port_receive_link_local(struct station *station, struct carried *carried)
{
	const struct frame_header *header = frame_header_const(carried->frame);
	const uint8_t *payload = carried->frame + FRAME_HEADER_BYTES;
	struct channel *channel = station->channel;
	struct control_credit credit;
	struct control_hello hello;

	if (header->kind == FRAME_HELLO) {
		assert_true(control_hello_decode(&hello, payload, CONTROL_HELLO_BYTES));
		link_end_on_hello(&station->port, &hello, channel->now);
	} else if (!rng_chance_ppm(&channel->rng, channel->options.control_loss_ppm)) {
		assert_true(control_credit_decode(
			&credit, payload, CONTROL_CREDIT_BYTES(channel->options.vcs)));
		link_end_on_credit(&station->port, &credit, channel->now);
	}
	carried_put(channel, carried);
}

/* The interface's frames reach the port at once; the port has stored and forwarded them. */
static inline void port_receive(struct station *station, struct carried *carried)
{
	struct channel *channel = station->channel;

	if (carried->packet.kind == FRAME_HELLO || carried->packet.kind == FRAME_CREDIT) {
		port_receive_link_local(station, carried);
		return;
	}
	if (carried->packet.kind == FRAME_DATA) {
		struct credit_rx *rx = &station->port.rx[carried->packet.vc];

		assert_true(credit_arrive(rx, carried->packet.blocks));
		credit_release(rx, carried->packet.blocks);
		channel->data_frames++;
	}
	channel_send(channel, carried);
}

static inline void station_inject(struct station *station)
{
	struct channel *channel = station->channel;

	for (unsigned i = 0; i < CHANNEL_BURST; i++) {
		struct carried *carried = carried_get(channel);
		struct weft_packet *next = nic_inject(station->nic, channel->now, &carried->packet);

		if (next != &carried->packet) {
			carried_put(channel, carried);
			if (next == NULL)
				return;
			carried = (struct carried *)next; /* in transit */
			frame_update_mutable(carried->frame, next->mutable_word);
		} else {
			carried->bytes = next->bytes;
			carried->to = next->destination;
			nic_frame_build(station->nic, next, carried->frame, channel->now);
		}
		assert_int_equal(frame_check(carried->frame, carried->bytes), FRAME_FAULT_OK);
		port_receive(station, carried);
	}
}

static inline void port_send(struct station *station, enum frame_kind kind)
{
	struct frame_fields fields = {
		.kind = kind, .source = FRAME_HOST_NONE, .destination = FRAME_HOST_NONE};
	struct carried *carried = carried_get(station->channel);
	uint8_t *payload = carried->frame + FRAME_HEADER_BYTES;
	weft_time now = station->channel->now;
	struct control_credit credit;
	struct control_hello hello;

	if (kind == FRAME_CREDIT) {
		link_end_fill_credit(&station->port, &credit, now);
		fields.payload_bytes = (uint16_t)control_credit_encode(&credit, payload);
	} else {
		link_end_fill_hello(&station->port, &hello, now);
		fields.payload_bytes = (uint16_t)control_hello_encode(&hello, payload);
	}
	carried->bytes = frame_build(carried->frame, &fields);
	if (kind == FRAME_CREDIT &&
		rng_chance_ppm(&station->channel->rng, station->channel->options.control_loss_ppm))
		carried_put(station->channel, carried);
	else
		station_receive(station, carried);
}

static inline void port_poll(struct station *station)
{
	unsigned due = link_end_poll(&station->port, station->channel->now);

	if (due & LINK_SEND_HELLO)
		port_send(station, FRAME_HELLO);
	if (due & LINK_SEND_CREDIT)
		port_send(station, FRAME_CREDIT);
}

static inline void channel_arrive(struct channel *channel)
{
	struct carried_list *list = &channel->slot[channel->step % CHANNEL_SLOTS];

	while (list->head != NULL) {
		struct carried *carried = carried_pop(list);
		struct station *station = &channel->station[carried->to];

		if (carried->packet.kind != FRAME_DATA &&
			frame_header_const(carried->frame)->kind != FRAME_DATA)
			station_receive(station, carried);
		else
			carried_push(&station->egress, carried);
	}
}

static inline void channel_step(struct channel *channel)
{
	channel->step++;
	channel->now += CHANNEL_STEP_PS;
	channel_arrive(channel);
	for (unsigned i = 0; i < channel->options.hosts; i++) {
		struct station *station = &channel->station[i];

		if (station->nic == NULL)
			continue;
		station_drain_egress(station);
		port_poll(station);
		nic_poll(station->nic, channel->now);
		station_inject(station);
	}
}

static inline void channel_run(struct channel *channel, unsigned steps)
{
	for (unsigned i = 0; i < steps; i++)
		channel_step(channel);
}

/* A message of a program; false: refused. */
static inline bool station_send_body(
	struct station *station, uint16_t to, uint8_t sl, uint32_t bytes)
{
	uint8_t body[CHANNEL_BODY_MAX];
	struct nic_message message = {.destination = to, .sl = sl, .payload = body, .bytes = bytes};

	body_fill(body, bytes, station->host, to, sl, station->sent[to][sl]);
	if (nic_send(station->nic, &message, station->channel->now) < 0)
		return false;
	station->sent[to][sl]++;
	return true;
}

static inline bool station_send_synthetic(
	struct station *station, uint16_t to, uint8_t sl, uint32_t bytes)
{
	struct nic_message message = {
		.destination = to, .sl = sl, .bytes = bytes, .generated_ps = station->channel->now};

	return nic_send(station->nic, &message, station->channel->now) == 0;
}

static inline bool channel_busy(const struct channel *channel)
{
	for (unsigned i = 0; i < channel->options.hosts; i++)
		if (nic_busy(channel->station[i].nic))
			return true;
	return false;
}

/* Runs until all messages have an outcome, at most 'steps'. */
static inline void channel_settle(struct channel *channel, unsigned steps)
{
	while (channel_busy(channel) && steps-- > 0)
		channel_step(channel);
	assert_false(channel_busy(channel));
}

static inline void channel_check(const struct channel *channel)
{
	for (unsigned i = 0; i < channel->options.hosts; i++) {
		const char *wrong = nic_check(channel->station[i].nic);

		if (wrong != NULL)
			fail_msg("host %u: %s", i, wrong);
	}
}

static inline uint64_t channel_count(const struct channel *channel, enum nic_counter counter)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < channel->options.hosts; i++)
		sum += nic_counters(channel->station[i].nic)[counter];
	return sum;
}

static inline void list_free(struct channel *channel, struct carried_list *list)
{
	while (list->head != NULL)
		carried_put(channel, carried_pop(list));
}

/* Stops it; every frame must be accounted for. */
static inline void channel_stop(struct channel *channel)
{
	for (unsigned i = 0; i < channel->options.hosts; i++) {
		struct station *station = &channel->station[i];

		if (station->nic != NULL)
			station_stop(station);
		list_free(channel, &station->egress);
		nic_routes_destroy(station->routes);
		measure_sink_destroy(station->sink);
	}
	for (unsigned i = 0; i < CHANNEL_SLOTS; i++)
		list_free(channel, &channel->slot[i]);
	assert_int_equal(channel->carried, 0);
	while (channel->free != NULL) {
		struct carried *carried = channel->free;

		channel->free = carried->next;
		free(carried);
		channel->made--;
	}
	assert_int_equal(channel->made, 0);
}

OWNED_POINTER_BY(channel, channel_stop)

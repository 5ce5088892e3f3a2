/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* A host of a test fabric: sends numbered packets as credits allow, and checks arrivals. */

#include "fabric_wire.h"

#include "unit.h"

static uint16_t host_number(const struct fabric *fabric, const struct fabric_host *host)
{
	return (uint16_t)(host - fabric->host_at);
}

static size_t flow_index(
	const struct fabric *fabric, unsigned source, unsigned destination, unsigned vc)
{
	return ((size_t)source * fabric->topology->hosts + destination) * fabric->config.vcs + vc;
}

/* Fields that switches must not change follow from the packet's place in its flow. */
static uint32_t expected_message(const struct weft_packet *packet)
{
	return (uint32_t)rng_mix((uint64_t)packet->source << 48 |
				 (uint64_t)packet->destination << 32 | packet->sequence);
}

static void check_arrival(
	const struct fabric *fabric, const struct fabric_host *host, struct weft_packet *packet)
{
	unsigned vc = fabric_switch_vc(fabric, host->end->peer->at.device, packet->sl);
	bool classes = fabric->table->vc_rule != NULL; /* then all reach hosts in class 0 */
	uint32_t message = expected_message(packet);

	if (packet->kind != FRAME_DATA)
		fabric_fail(fabric, "a packet arrives that was freed");
	if (packet->destination != host_number(fabric, host))
		fabric_fail(fabric, "a packet for h%u at h%u", packet->destination,
			host_number(fabric, host));
	if (packet->header_vc != (classes ? 0 : vc) || packet->vc_original != (uint8_t)message ||
		packet->flags != (uint8_t)(message >> 8) || packet->message != message)
		fabric_fail(fabric, "a packet was altered on its way");
	if (packet->route_length != 0 && (packet->cursor != packet->route_length - 1 ||
						 packet->route[packet->cursor] != ROUTE_TYPE_HOST))
		fabric_fail(fabric, "a packet arrives before the end of its route");
}

static void check_order(struct fabric *fabric, const struct weft_packet *packet)
{
	unsigned vc = fabric_host_vc(fabric, packet->sl);
	uint32_t *expected = &fabric->expected_sequence[flow_index(
		fabric, packet->source, packet->destination, vc)];
	int32_t ahead = (int32_t)(packet->sequence - *expected);

	if (ahead < 0 && fabric->config.overtakes) {
		fabric->overtaken++;
		fabric->missing--;
		return;
	}
	if (ahead < 0)
		fabric_fail(fabric, "h%u to h%u, VC %u: packet %u after %u", packet->source,
			packet->destination, vc, packet->sequence, *expected - 1);
	fabric->missing += (uint32_t)ahead;
	*expected = packet->sequence + 1;
}

static void receive_data(
	struct fabric *fabric, struct fabric_host *host, struct weft_packet *packet)
{
	struct credit_rx *rx = &host->link.rx[packet->header_vc];

	check_arrival(fabric, host, packet);
	packet->vc = packet->header_vc;
	if (!credit_arrive(rx, packet->blocks)) {
		host->refused++;
		fabric->discarded++;
		credit_release(rx, packet->blocks);
		fabric_packet_put(fabric, packet);
		return;
	}
	check_order(fabric, packet);
	fabric->delivered++;
	packet->next = NULL;
	if (host->stored_head == NULL)
		host->stored_head = packet;
	else
		host->stored_tail->next = packet;
	host->stored_tail = packet;
}

static void receive(struct fabric *fabric, struct fabric_host *host)
{
	struct fabric_wire *wire = host->end->in;
	struct fabric_control_frame frame;
	struct fabric_item *item;

	while ((item = fabric_wire_next(fabric, wire)) != NULL) {
		wire->head++;
		if (item->packet != NULL) {
			receive_data(fabric, host, item->packet);
			continue;
		}
		fabric_take_control(wire, &frame);
		if (frame.kind == FRAME_CREDIT)
			link_end_on_credit(&host->link, &frame.credit, fabric->now);
		else
			link_end_on_hello(&host->link, &frame.hello, fabric->now);
	}
}

static void consume(struct fabric *fabric, struct fabric_host *host)
{
	int32_t left = (int32_t)fabric->config.consume_blocks;

	while (host->stored_head != NULL && left > 0) {
		struct weft_packet *packet = host->stored_head;

		host->stored_head = packet->next;
		left -= packet->blocks;
		credit_release(&host->link.rx[packet->vc], packet->blocks);
		fabric_packet_put(fabric, packet);
	}
}

static uint16_t choose_destination(const struct fabric *fabric, struct fabric_host *host)
{
	uint16_t self = host_number(fabric, host), to;

	if (self != fabric->config.hot_host && rng_chance_ppm(&host->rng, fabric->config.hot_ppm))
		return fabric->config.hot_host;
	to = (uint16_t)rng_below(&host->rng, fabric->topology->hosts - 1);
	return to < self ? to : (uint16_t)(to + 1);
}

/* Mostly short packets; the longest are the rarest. */
static uint16_t choose_blocks(const struct fabric *fabric, struct fabric_host *host)
{
	uint16_t max = fabric->config.packet_blocks;

	if (rng_below(&host->rng, 4) != 0)
		max = (uint16_t)((max + 3) / 4);
	return (uint16_t)(1 + rng_below(&host->rng, max));
}

static struct weft_packet *make_packet(struct fabric *fabric, struct fabric_host *host, unsigned vc)
{
	struct weft_packet *packet = fabric_packet_get(fabric);
	uint16_t self = host_number(fabric, host), to = choose_destination(fabric, host);
	size_t pair = (size_t)self * fabric->topology->hosts + to;
	unsigned sls = (15 - vc) / fabric->config.vcs + 1; /* that lead to this VC */
	uint32_t message;

	*packet = (struct weft_packet){
		.blocks = choose_blocks(fabric, host),
		.header_vc = (uint8_t)vc,
		.sl = (uint8_t)(vc + fabric->config.vcs * rng_below(&host->rng, sls)),
		.source = self,
		.destination = to,
		.kind = FRAME_DATA,
		.sequence = fabric->sent_sequence[flow_index(fabric, self, to, vc)]++,
	};
	packet->bytes = (uint16_t)(packet->blocks * FRAME_BLOCK_BYTES);
	message = packet->message = expected_message(packet);
	packet->vc_original = (uint8_t)message;
	packet->flags = (uint8_t)(message >> 8);
	if (rng_chance_ppm(&host->rng, fabric->config.source_route_ppm)) {
		packet->route = &fabric->route[pair * FRAME_ROUTE_MAX];
		packet->route_length = fabric->route_length[pair];
	}
	return packet;
}

/* True if the VC could send. */
static bool send_one(struct fabric *fabric, struct fabric_host *host, unsigned vc)
{
	struct credit_tx *tx = &host->link.tx[vc];
	struct weft_packet *packet = host->pending[vc];

	if (packet == NULL && fabric->injecting &&
		rng_chance_ppm(&host->rng, fabric->config.load_ppm))
		packet = host->pending[vc] = make_packet(fabric, host, vc);
	if (packet == NULL || !credit_suffices(tx, packet->blocks))
		return false;
	credit_take(tx, packet->blocks);
	host->pending[vc] = NULL;
	fabric->injected++;
	fabric_wire_send(fabric, host->end->out, packet);
	return true;
}

static void inject(struct fabric *fabric, struct fabric_host *host)
{
	struct fabric_wire *wire = host->end->out;
	unsigned idle = 0;

	fabric_wire_refill(wire, fabric->config.link_blocks);
	if (host->link.state != LINK_UP)
		return;
	while (wire->budget_blocks > 0 && idle < fabric->config.vcs) {
		idle = send_one(fabric, host, host->next_vc) ? 0 : idle + 1;
		host->next_vc = host->next_vc + 1 < fabric->config.vcs ? host->next_vc + 1 : 0;
	}
}

void fabric_host_turn(struct fabric *fabric, struct fabric_host *host)
{
	receive(fabric, host);
	consume(fabric, host);
	inject(fabric, host);
	fabric_send_control(fabric, host->end, link_end_poll(&host->link, fabric->now));
}

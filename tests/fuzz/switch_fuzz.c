/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* A switch with an agent under frames of whoever is at its ports, and under the orders of a mapper:
 * frames of all kinds with any route and any payload, tables that are exchanged and purges at any
 * moment. Whatever comes, its invariants hold, every packet is in one place, nothing but a frame of
 * the mapper reaches the agent, and the agent sends nothing that is not a good frame.
 *
 * Input: records of a command, an argument, a length and that many bytes. */

#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "mapper/mapper_agent.h"
#include "poll/rx_meta.h"
#include "switch/adaptive_routing.h"
#include "switch/contention.h"
#include "switch/forward.h"
#include "switch/switch_congestion.h"
#include "wire/control.h"
#include "wire/frame_check.h"

#define PORTS   4
#define VCS     3
#define HOSTS   8
#define PACKETS 512
#define STEP_PS (500 * PS_PER_US)

/* A packet and its frame, in one buffer as in the poll loop. */
struct buffer {
	struct weft_packet packet;
	uint8_t frame[FRAME_HEADER_BYTES + FRAME_ROUTE_MAX + FRAME_LATENCY_BYTES + 256];
	bool used; /* the switch owns it */
	/* On arrival, of data with an extension. */
	bool has_extension;
	struct latency_extension extension;
};

struct bed {
	struct weft_switch *sw;
	struct mapper_agent agent;
	struct buffer buffer[PACKETS];
	uint8_t *port;
	uint64_t *alternatives;
	struct vc_rule *rule;
	weft_time now;
	uint64_t held; /* buffers that the switch has */
	struct contention contention;
};

static struct buffer *take_buffer(struct bed *bed)
{
	for (unsigned i = 0; i < PACKETS; i++)
		if (!bed->buffer[i].used) {
			bed->buffer[i].used = true;
			bed->held++;
			return &bed->buffer[i];
		}
	return NULL;
}

static void give_back(struct bed *bed, struct weft_packet *packet)
{
	struct buffer *buffer = (struct buffer *)packet;

	REQUIRE(buffer->used); /* nothing is returned twice */
	buffer->used = false;
	bed->held--;
}

static void give_back_all(struct bed *bed, struct weft_packet *packet)
{
	while (packet != NULL) {
		struct weft_packet *next = packet->next;

		give_back(bed, packet);
		packet = next;
	}
}

static void serve_agent(struct bed *bed)
{
	static struct mapper_frame answer;
	struct weft_packet *first = switch_take_for_agent(bed->sw);

	for (struct weft_packet *packet = first; packet != NULL; packet = packet->next) {
		const uint8_t *frame = ((struct buffer *)packet)->frame;
		unsigned kind = frame_header_const(frame)->kind;
		unsigned orders;

		REQUIRE(kind == FRAME_SCOUT || kind == FRAME_MAPPER);
		orders = mapper_agent_receive(
			&bed->agent, bed->now, packet->in_port, frame, packet->bytes, &answer);
		if (orders & MAPPER_AGENT_ANSWER)
			REQUIRE(frame_check(answer.data, answer.bytes) == FRAME_FAULT_OK);
	}
	give_back_all(bed, first);
}

static struct latency_extension *extension_of(void *ctx, const struct weft_packet *packet)
{
	return latency_of_frame(((struct buffer *)(uintptr_t)packet)->frame);
}

/* The switch keeps a correct check correct, the time never decreases, and existing flows stay. It
 * does not change an extension with a wrong check. */
static void require_extension_kept(struct buffer *buffer)
{
	const struct latency_extension *before = &buffer->extension;
	const struct latency_extension *now = latency_of_frame(buffer->frame);

	if (!buffer->has_extension)
		return;
	REQUIRE(latency_check_ok(now) == latency_check_ok(before));
	REQUIRE(latency_waiting_ns(now) >= latency_waiting_ns(before));
	if (!latency_check_ok(before))
		REQUIRE(memcmp(now, before, sizeof(*now)) == 0);
	if (latency_is_predictive(before))
		REQUIRE(now->flows == before->flows &&
			memcmp(now->flow, before->flow, sizeof(now->flow)) == 0);
	else if (latency_is_predictive(now))
		REQUIRE(now->flows <= CN_FLOWS_MAX);
}

/* Like the poll loop with frames that are not link-local. */
static void arrive(struct bed *bed, struct buffer *buffer, unsigned input, unsigned bytes)
{
	const struct frame_header *header = frame_header_const(buffer->frame);
	struct weft_packet *packet = &buffer->packet;

	*packet = (struct weft_packet){.kind = header->kind};
	rx_meta_fill(packet, buffer->frame, bytes, input, header->kind != FRAME_DATA);
	if (packet->control) {
		switch_receive_control(bed->sw, packet, bed->now);
		return;
	}
	switch_count_in(&bed->sw->port[input], 1, bytes);
	switch_receive(bed->sw, packet, bed->now);
}

/* The first bytes of the payload are an extension. Some get a correct check. */
static void seal_extension(struct buffer *buffer, bool right)
{
	struct latency_extension *extension = latency_of_frame(buffer->frame);

	buffer->has_extension = frame_has_latency(frame_header(buffer->frame));
	if (!buffer->has_extension)
		return;
	if (right)
		latency_seal(extension);
	buffer->extension = *extension;
}

/* First the kind, the cursor and whether there is an extension, VC and SL, the length of the route,
 * the destination; then the route and what it carries. */
static void try_frame(struct bed *bed, unsigned input, const uint8_t *data, unsigned bytes)
{
	struct buffer *buffer = bytes >= 5 ? take_buffer(bed) : NULL;
	struct frame_fields fields;
	unsigned payload, length;

	if (buffer == NULL)
		return;
	fields = (struct frame_fields){.kind = data[0] % FRAME_KIND_COUNT,
		.destination = data[4],
		.sl = data[2] & 15,
		.vc = data[2] >> 4,
		.vc_original = data[2] >> 4,
		.flags = data[1] & 0x80 ? FRAME_F_LATENCY : 0,
		.route = data + 5,
		.route_length = data[3] % (FRAME_ROUTE_MAX + 1)};
	if (fields.route_length > bytes - 5)
		fields.route_length = (uint8_t)(bytes - 5);
	payload = bytes - 5 - fields.route_length;
	fields.payload_bytes = (uint16_t)(payload > 256 ? 256 : payload);
	memcpy(buffer->frame + FRAME_HEADER_BYTES + fields.route_length,
		data + 5 + fields.route_length, fields.payload_bytes);
	length = frame_build(buffer->frame, &fields);
	frame_update_mutable(buffer->frame, frame_mutable_word(fields.vc, fields.vc, data[1] & 0x3F,
						    (uint8_t)(fields.flags | data[0] >> 4)));
	seal_extension(buffer, (data[1] & 0x40) != 0);
	if (frame_check(buffer->frame, length) != FRAME_FAULT_OK ||
		frame_link_local(frame_header(buffer->frame)->kind))
		give_back(bed, &buffer->packet);
	else
		arrive(bed, buffer, input, length);
}

static void try_link_local(struct bed *bed, unsigned input, const uint8_t *data, unsigned bytes)
{
	struct control_credit credit;
	struct control_hello hello;
	struct control_arn arn;

	if (control_credit_decode(&credit, data, bytes) && credit.vcs == VCS)
		switch_on_credit(bed->sw, input, &credit, bed->now);
	if (control_hello_decode(&hello, data, bytes))
		switch_on_hello(bed->sw, input, &hello, bed->now);
	if (bed->sw->congestion != NULL && control_arn_decode(&arn, data, bytes))
		congestion_control_on_arn(bed->sw->congestion, input, &arn, bed->now, bed->now);
}

/* Neighbours with correct credits, so that data also continues. */
static void meet(struct bed *bed, unsigned port, uint32_t limit)
{
	struct link_end *link = &bed->sw->port[port].link;
	struct control_credit credit = {.session = 9, .peer_session = 1, .vcs = VCS};

	for (unsigned vc = 0; vc < VCS; vc++) {
		credit.sent[vc] = link->rx[vc].received;
		credit.limit[vc] = link->tx[vc].sent + limit;
	}
	switch_on_credit(bed->sw, port, &credit, bed->now);
	link_end_fill_credit(link, &credit, bed->now);
}

/* If the switch keeps a pointer to the old tables, it is found, because they are freed. */
static void exchange(struct bed *bed, const uint8_t *data, unsigned bytes, bool rule)
{
	uint8_t *port = malloc(HOSTS);
	uint64_t *alternatives = calloc(HOSTS, sizeof(*alternatives));
	bool steps = rule && bytes > 0 && (data[0] & 2) != 0;
	struct vc_rule *next = rule ? vc_rule_create(1, steps ? VCS : 2) : NULL;
	struct switch_routing routing = {.port = port,
		.alternatives = alternatives,
		.hosts = HOSTS,
		.vc_rule = next,
		.stage = 1};

	REQUIRE(port != NULL && alternatives != NULL && (!rule || next != NULL));
	for (unsigned host = 0; host < HOSTS; host++) {
		port[host] = host < bytes ? data[host] % (PORTS + 1) : 0;
		alternatives[host] = bytes > 8 + host ? data[8 + host] & 15 : 0;
	}
	if (steps && next != NULL)
		next->steps = (data[0] & 4) != 0 ? VC_STEPS_LINKS : VC_STEPS_EQUAL;
	for (unsigned i = 0; next != NULL && i < PORTS; i++)
		next->ring[i] = i < bytes ? data[i] & 1 : 0;
	if (switch_set_routing(bed->sw, &routing) == 0) {
		uint8_t *old = bed->port;
		uint64_t *old_alternatives = bed->alternatives;
		struct vc_rule *old_rule = bed->rule;

		bed->port = port, port = old;
		bed->alternatives = alternatives, alternatives = old_alternatives;
		bed->rule = next, next = old_rule;
	}
	free(port);
	free(alternatives);
	vc_rule_destroy(next);
}

static void send_some(struct bed *bed, unsigned output)
{
	struct weft_packet *packets[4];
	unsigned count = switch_transmit(bed->sw, output, packets, 4, bed->now);

	for (unsigned i = 0; i < count; i++) {
		REQUIRE(packets[i]->out_port == output);
		REQUIRE(packets[i]->control || packets[i]->vc_next < VCS);
		require_extension_kept((struct buffer *)packets[i]);
		give_back(bed, packets[i]);
	}
}

static void pass_time(struct bed *bed, weft_time ps)
{
	struct congestion_control_arn arn;

	bed->now += ps;
	for (unsigned port = 0; port < PORTS; port++)
		switch_poll_link(bed->sw, port, bed->now);
	switch_poll_watchdog(bed->sw, bed->now);
	if (bed->sw->congestion == NULL)
		return;
	congestion_control_poll(bed->sw->congestion, bed->now);
	while (congestion_control_take_arn(bed->sw->congestion, &arn))
		REQUIRE(arn.port < PORTS);
}

static void purge(struct bed *bed)
{
	switch_purge(bed->sw);
	REQUIRE(switch_is_empty(bed->sw) && switch_stored_packets(bed->sw) == 0);
}

static void do_record(
	struct bed *bed, unsigned command, unsigned argument, const uint8_t *data, unsigned bytes)
{
	unsigned port = argument % PORTS;

	switch (command % 8) {
	case 0:
		try_link_local(bed, port, data, bytes);
		break;
	case 1:
		meet(bed, port, argument / PORTS);
		break;
	case 2:
		exchange(bed, data, bytes, argument % 8 == 7);
		break;
	case 3:
		pass_time(bed, argument * STEP_PS);
		break;
	case 4:
		send_some(bed, port);
		break;
	case 5:
		if (argument % 4 == 0)
			purge(bed);
		break;
	default:
		try_frame(bed, port, data, bytes);
	}
	serve_agent(bed);
	give_back_all(bed, switch_take_discards(bed->sw));
	REQUIRE(switch_check(bed->sw) == NULL);
	REQUIRE(switch_is_empty(bed->sw) == (switch_stored_packets(bed->sw) == 0));
}

static void time_departures(struct bed *bed, unsigned kind)
{
	bed->contention.config = (struct contention_config){.threshold_ps = STEP_PS,
		.flows = (uint8_t)(kind % (CN_FLOWS_MAX + 1)),
		.scope = (kind & 16) != 0 ? CONTENTION_BUFFER : CONTENTION_OUTPUT,
		.in_frame = true,
		.extension = extension_of};
	switch_set_contention(bed->sw, &bed->contention);
}

/* Bits of 'kind': VOQs; adaptive routing with notifications, which needs them; waiting times. */
static void begin(struct bed *bed, unsigned kind)
{
	const struct congestion_detector_config detector = {.hcdth_ppm = 500000,
		.lcdth_ppm = 200000,
		.fcth_ppm = 500000,
		.crt_ps = STEP_PS,
		.refresh_ps = STEP_PS,
		.by_vc = true};
	const struct arn_table_config table = {
		.entries = 4, .ttl_ps = 100 * STEP_PS, .refresh_ps = STEP_PS};
	const struct switch_congestion_config adapt = {.seed = 1,
		.mode = adaptive_mode_find((kind & 4) != 0 ? "oblivious" : "none"),
		.afi = true,
		.stage = 1,
		.up_ports = 12,
		.hosts = HOSTS,
		.detector = &detector,
		.table = &table};
	const struct mapper_agent_config agent = {.id = 1,
		.session = 1,
		.kind = MAPPER_SWITCH,
		.ports = PORTS,
		.name = "s",
		.lease_ps = STEP_PS,
		.report_retry_ps = STEP_PS,
		.image_bytes_max = 4096};
	struct switch_config config = {.device = 1,
		.session = 1,
		.ports = PORTS,
		.vcs = VCS,
		.voq = (kind & 3) != 0,
		.buffer_blocks = VCS * 8,
		.hello_ps = 20 * STEP_PS,
		.credit_refresh_ps = STEP_PS,
		.watchdog_ps = 50 * STEP_PS,
		.control_reserve = 4};

	for (unsigned sl = 0; sl < 16; sl++)
		config.sl_to_vc[sl] = (uint8_t)(sl % (VCS - 1));
	bed->now = PS_PER_S;
	bed->sw = switch_create(&config, bed->now);
	REQUIRE(bed->sw != NULL);
	if ((kind & 2) != 0)
		REQUIRE(switch_congestion(bed->sw, &adapt) == 0);
	if ((kind & 8) != 0)
		time_departures(bed, kind);
	switch_serve_agent(bed->sw, true);
	mapper_agent_init(&bed->agent, &agent, 0);
	for (unsigned port = 0; port < PORTS; port++)
		meet(bed, port, 8);
}

static void end(struct bed *bed)
{
	switch_drain(bed->sw);
	give_back_all(bed, switch_take_discards(bed->sw));
	REQUIRE(bed->held == 0); /* nothing is lost without being counted */
	REQUIRE(switch_check(bed->sw) == NULL);
	switch_destroy(bed->sw);
	mapper_agent_fini(&bed->agent);
	free(bed->port);
	free(bed->alternatives);
	vc_rule_destroy(bed->rule);
	free(bed);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bed *bed;

	if (size == 0)
		return 0;
	bed = calloc(1, sizeof(*bed));
	REQUIRE(bed != NULL);
	begin(bed, data[0]);
	data++, size--;
	while (size >= 3) {
		unsigned bytes = data[2];

		if (bytes > size - 3)
			bytes = (unsigned)(size - 3);
		do_record(bed, data[0], data[1], data + 3, bytes);
		data += 3 + bytes;
		size -= 3 + bytes;
	}
	end(bed);
	return 0;
}

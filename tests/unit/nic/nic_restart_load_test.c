/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* The guarantee of delivery between two hosts that die and restart independently. Their path goes
 * dark for longer than senders wait, delays every frame by a different time, and loses and
 * duplicates some. An attacker on the path replays frames recorded at any time, also in earlier
 * lives, and injects frames with random numbers. Messages are numbered over all lives of their
 * sender. In one life of its host, a receiver therefore sees only rising numbers, so none twice,
 * and every acknowledged message was received in some life. */

#include "base/rng.h"
#include "nic_pair.h"

#define STEP_PS        (100 * PS_PER_US)
#define DELAY_STEPS    30u /* maximum time that a frame is in flight */
#define GIVE_UP_STEPS  1000u
#define MESSAGES_MAX   100000u
#define BYTES_MIN      sizeof(uint32_t)
#define BYTES_MAX      200u
#define LAST_MESSAGES  20u
#define STEPS_A_SEED   200000u
#define SEEDS          40
#define STEPS_TO_CHECK 64u
#define RECORDS        256u
#define LOSS_PPM       10000
#define DOUBLE_PPM     20000
#define RECORD_PPM     50000
#define REPLAY_PPM     50000
#define FORGE_PPM      50000

struct flight {
	struct box box; /* first: what an interface gives back */
	struct flight *next;
	uint64_t due;
};

struct host {
	struct end end; /* first: what end_begin() fills */
	struct bed *bed;
	uint64_t back_at; /* if it is down */
	uint64_t dark_until;
	struct flight *coming;
	uint32_t sent, next; /* numbered by this host; lowest that may arrive here */
	uint8_t part[BYTES_MAX];
	uint32_t part_bytes;
	bool alive;
	bool seen[MESSAGES_MAX]; /* numbers that have arrived here, in any life */
};

struct bed {
	struct host host[2];
	struct flight *free;
	struct box record[RECORDS];
	struct host *record_to[RECORDS]; /* NULL: not used yet */
	struct rng rng;
	uint64_t step, give_ups, restarts;
};

static struct host *other(const struct host *host)
{
	return &host->bed->host[host == &host->bed->host[0]];
}

static void take_message(struct host *host)
{
	uint32_t number;

	memcpy(&number, host->part, sizeof(number));
	if (number < host->next)
		fail_msg("message %u arrived after %u in one life", number, host->next - 1);
	for (uint32_t i = sizeof(number); i < host->part_bytes; i++)
		assert_int_equal(host->part[i], (uint8_t)(number * 37));
	host->next = number + 1;
	host->seen[number] = true;
}

static void deliver(void *ctx, const struct nic_delivery *delivery)
{
	struct host *host = ctx;

	if (delivery->first)
		host->part_bytes = 0;
	assert_int_equal(delivery->offset, host->part_bytes);
	assert_true(host->part_bytes + delivery->bytes <= BYTES_MAX);
	memcpy(host->part + host->part_bytes, delivery->payload, delivery->bytes);
	host->part_bytes += delivery->bytes;
	if (delivery->tail)
		take_message(host);
}

static void done(void *ctx, const struct nic_outcome *outcome)
{
	struct host *host = ctx;

	if (outcome->error != 0) {
		host->end.failed++;
		return;
	}
	if (!other(host)->seen[outcome->cookie])
		fail_msg("message %u was acknowledged and has not arrived",
			(unsigned)outcome->cookie);
	host->end.acked++;
}

static void begin_life(struct host *host)
{
	struct bed *bed = host->bed;
	uint32_t session = 1 + (uint32_t)rng_below(&bed->rng, UINT32_MAX);
	struct nic_config config = end_config(&host->end, (uint16_t)(host - bed->host), session);

	host->end.now += bed->step * STEP_PS;
	config.payloads = config.messages;
	config.ack_delay_ps = 2 * STEP_PS;
	config.retry_ps = 5 * PS_PER_MS;
	config.give_up_ps = GIVE_UP_STEPS * STEP_PS;
	config.above = (struct nic_host){.ctx = host, .deliver = deliver, .done = done};
	end_begin(&host->end, &config);
	host->alive = true;
	host->next = 0;
}

static void put_flight(struct bed *bed, struct flight *flight)
{
	flight->next = bed->free;
	bed->free = flight;
}

static void put_chain(struct bed *bed, struct weft_packet *packet)
{
	while (packet != NULL) {
		struct weft_packet *next = packet->next;

		put_flight(bed, (struct flight *)packet);
		packet = next;
	}
}

static void end_life(struct host *host)
{
	host->bed->give_ups += end_count(&host->end, NIC_GIVE_UPS);
	host->bed->restarts += end_count(&host->end, NIC_FLOW_RESTARTS);
	put_chain(host->bed, nic_drain(host->end.nic));
	end_stop(&host->end);
	host->alive = false;
}

static struct flight *get_flight(struct bed *bed)
{
	struct flight *flight = bed->free;

	if (flight != NULL) {
		bed->free = flight->next;
		return flight;
	}
	flight = malloc(sizeof(*flight));
	assert_non_null(flight);
	return flight;
}

static void send_to(struct host *to, const struct box *box)
{
	struct bed *bed = to->bed;
	struct flight *flight = get_flight(bed);

	memcpy(flight->box.frame, box->frame, box->packet.bytes);
	flight->box.packet.bytes = box->packet.bytes;
	flight->due = bed->step + 1 + rng_below(&bed->rng, DELAY_STEPS - 1);
	flight->next = to->coming;
	to->coming = flight;
}

/* Everything that the host has to send is in flight, or lost. */
static void send_frames(struct host *host)
{
	struct bed *bed = host->bed;
	struct box box;

	while (end_take(&host->end, &box)) {
		if (rng_chance_ppm(&bed->rng, RECORD_PPM)) {
			unsigned at = (unsigned)rng_below(&bed->rng, RECORDS);

			bed->record[at] = box;
			bed->record_to[at] = other(host);
		}
		if (bed->step < host->dark_until || rng_chance_ppm(&bed->rng, LOSS_PPM))
			continue;
		send_to(other(host), &box);
		if (rng_chance_ppm(&bed->rng, DOUBLE_PPM))
			send_to(other(host), &box);
	}
}

/* An end-to-end frame with random numbers in every field. */
static void forge(struct bed *bed, struct host *to)
{
	static const uint8_t kinds[] = {FRAME_DATA, FRAME_ACK, FRAME_FLOW};
	struct frame_fields fields = {.kind = kinds[rng_below(&bed->rng, 3)],
		.source = (uint16_t)(other(to) - bed->host),
		.destination = (uint16_t)(to - bed->host),
		.flags = FRAME_F_TAIL,
		.message = (uint32_t)rng_next(&bed->rng),
		.sequence = (uint32_t)rng_next(&bed->rng)};
	struct box box;

	if (rng_chance_ppm(&bed->rng, 500000))
		fields.sequence = fields.message = fields.message & 0xFFFF0000; /* frame 0 */
	for (unsigned i = 0; i < CONTROL_FLOW_BYTES; i++)
		box.frame[FRAME_HEADER_BYTES + i] = (uint8_t)rng_next(&bed->rng);
	if (fields.kind == FRAME_FLOW)
		box.frame[FRAME_HEADER_BYTES + 2] = (uint8_t)(1 + rng_below(&bed->rng, 2));
	fields.payload_bytes = fields.kind == FRAME_ACK ? CONTROL_ACK_BYTES : CONTROL_FLOW_BYTES;
	box.packet.bytes = (uint16_t)frame_build(box.frame, &fields);
	send_to(to, &box);
}

static void interfere(struct bed *bed)
{
	unsigned at = (unsigned)rng_below(&bed->rng, RECORDS);

	if (rng_chance_ppm(&bed->rng, REPLAY_PPM) && bed->record_to[at] != NULL)
		send_to(bed->record_to[at], &bed->record[at]);
	if (rng_chance_ppm(&bed->rng, FORGE_PPM))
		forge(bed, &bed->host[rng_below(&bed->rng, 2)]);
}

static void arrive(struct host *host, struct flight *flight)
{
	struct nic *nic = host->end.nic;
	struct box *box = &flight->box;

	if (!host->alive) {
		put_flight(host->bed, flight);
		return;
	}
	nic_describe(&box->packet, box->frame, box->packet.bytes, host->end.now);
	put_chain(host->bed, nic_receive(nic, &box->packet, box->frame, host->end.now));
}

static void receive_frames(struct host *host)
{
	struct flight **at = &host->coming;

	while (*at != NULL) {
		struct flight *flight = *at;

		if (flight->due > host->bed->step) {
			at = &flight->next;
			continue;
		}
		*at = flight->next;
		arrive(host, flight);
	}
}

static void send_message(struct host *host)
{
	uint8_t body[BYTES_MAX];
	uint32_t bytes = BYTES_MIN + (uint32_t)rng_below(&host->bed->rng, BYTES_MAX - BYTES_MIN);
	struct nic_message message = {
		.destination = (uint16_t)(other(host) - host->bed->host),
		.payload = body,
		.bytes = bytes,
		.cookie = host->sent,
	};

	assert_true(host->sent < MESSAGES_MAX);
	memset(body, (int)(host->sent * 37), sizeof(body));
	memcpy(body, &host->sent, sizeof(host->sent));
	host->sent += nic_send(host->end.nic, &message, host->end.now) == 0;
}

static void host_step(struct host *host)
{
	struct bed *bed = host->bed;

	receive_frames(host);
	if (!host->alive && bed->step >= host->back_at)
		begin_life(host);
	if (!host->alive)
		return;
	end_wait(&host->end, STEP_PS);
	send_frames(host);
	if (bed->step % STEPS_TO_CHECK == 0)
		assert_null(nic_check(host->end.nic));
}

static void bed_step(struct bed *bed)
{
	bed->step++;
	interfere(bed);
	host_step(&bed->host[0]);
	host_step(&bed->host[1]);
}

/* The host dies now and then, and its frames are lost for a while now and then. */
static void have_an_accident(struct host *host)
{
	struct bed *bed = host->bed;

	if (host->alive && rng_chance_ppm(&bed->rng, 300)) {
		end_life(host);
		host->back_at =
			bed->step + (rng_chance_ppm(&bed->rng, 500000)
						    ? 1
						    : rng_below(&bed->rng, 2 * GIVE_UP_STEPS));
	}
	if (bed->step >= host->dark_until && rng_chance_ppm(&bed->rng, 300))
		host->dark_until = bed->step + rng_below(&bed->rng, 2 * GIVE_UP_STEPS);
}

static void run_accidents(struct bed *bed)
{
	for (unsigned i = 0; i < STEPS_A_SEED; i++) {
		struct host *host = &bed->host[i % 2];

		have_an_accident(host);
		for (unsigned j = 0; j < 4 && host->alive && rng_chance_ppm(&bed->rng, 30000); j++)
			send_message(host);
		bed_step(bed);
	}
}

/* Both hosts are up and the path is good: everything left over ends, and new messages arrive. */
static void run_end(struct bed *bed)
{
	for (unsigned i = 0; i < 2; i++)
		bed->host[i].dark_until = bed->host[i].back_at = 0;
	for (unsigned i = 0; i < 2 * GIVE_UP_STEPS; i++)
		bed_step(bed);
	for (unsigned i = 0; i < 2; i++) {
		struct host *host = &bed->host[i];

		assert_false(nic_busy(host->end.nic));
		host->end.acked = host->end.failed = 0;
		for (unsigned j = 0; j < LAST_MESSAGES; j++)
			send_message(host);
	}
	for (unsigned i = 0; i < GIVE_UP_STEPS; i++)
		bed_step(bed);
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(bed->host[i].end.acked, LAST_MESSAGES);
		assert_int_equal(bed->host[i].end.failed, 0);
	}
}

static void bed_start(struct bed *bed, uint64_t seed)
{
	*bed = (struct bed){.free = NULL};
	rng_init(&bed->rng, seed, 0, 0);
	for (unsigned i = 0; i < 2; i++) {
		bed->host[i].bed = bed;
		begin_life(&bed->host[i]);
	}
}

static void free_list(struct flight *flight)
{
	while (flight != NULL) {
		struct flight *next = flight->next;

		free(flight);
		flight = next;
	}
}

static void bed_stop(struct bed *bed)
{
	for (unsigned i = 0; i < 2; i++) {
		end_life(&bed->host[i]);
		free_list(bed->host[i].coming);
	}
	free_list(bed->free);
}

UNIT_TEST(nothing_is_lost_or_doubled_by_restarts_replays_and_forgeries)
{
	struct bed *bed = calloc(1, sizeof(*bed));
	uint64_t give_ups = 0, restarts = 0;

	assert_non_null(bed);
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		bed_start(bed, seed);
		run_accidents(bed);
		run_end(bed);
		bed_stop(bed);
		give_ups += bed->give_ups;
		restarts += bed->restarts;
	}
	assert_true(give_ups > 1000);
	assert_true(restarts > 100);
	free(bed);
}

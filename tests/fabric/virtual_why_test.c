/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Explains where the time of captured packets went. The parts add up to the nanosecond, and a cause
 * planted in a run ranks first. */

#include "audit/why.h"

#include "base/rng.h"
#include "virtual_drawn.h"
#include "virtual_shot.h"

#define SHOWN  50
#define DRAWS  4 /* draws for each of the five causes, 20 in total */
#define CAUSES 64

static struct why_packet packet;

static void add(void *ctx, const struct audit_frame_at *frame)
{
	assert_int_equal(why_add(ctx, frame), 0);
}

static struct why *explain(const struct virtual_shot *shot)
{
	struct why *why = why_create(&shot->rules.rules, shot->captured);

	assert_non_null(why);
	virtual_shot_feed(shot, shot->bytes, shot->length, add, why);
	assert_int_equal(why_end(why), 0);
	return why;
}

/* --- sums --- */

static void expect_sums(const struct why *why, const struct topology *topology, const char *what)
{
	for (uint32_t i = 0; i < why_count(why); i++) {
		uint64_t sum = 0;

		why_explain(why, i, &packet);
		for (unsigned j = 0; j < packet.pieces; j++) {
			const struct why_piece *piece = &packet.piece[j];

			/* The pieces follow each other and never overlap. */
			assert_int_equal(piece->from_ns, sum);
			sum += piece->ns;
			if (piece->part == WHY_PROPAGATION)
				assert_int_equal(piece->ns,
					topology->link_at[piece->way / 2].delay_ps / PS_PER_NS);
			assert_true(piece->part != WHY_STALL);
		}
		if (sum != packet.ns)
			fail_msg("%s: packet %u: %u ns in parts, %u in all", what, (unsigned)i,
				(unsigned)sum, (unsigned)packet.ns);
	}
}

static bool try_drawn(unsigned seed)
{
	struct virtual_shot shot = {.bytes = NULL};
	struct error error = {""};
	struct drawn drawn;
	struct why *why;
	char what[32];

	drawn_draw(seed, &drawn);
	shot.lab.config = run_config_parse(
		drawn_plain, strlen(drawn_plain), "test", drawn.set, drawn.sets, &error);
	if (shot.lab.config != NULL && run_config_supported(shot.lab.config, &error) == 0)
		shot.lab.topology = run_config_open_topology(shot.lab.config, &error);
	if (shot.lab.topology != NULL)
		shot.lab.fabric = virtual_fabric_create(shot.lab.topology, shot.lab.config, &error);
	if (shot.lab.fabric == NULL) {
		virtual_lab_close(&shot.lab);
		return false; /* some drawn settings exclude each other */
	}
	virtual_shot_take(&shot);
	why = explain(&shot);
	snprintf(what, sizeof(what), "seed %u", seed);
	assert_true(why_count(why) > 100);
	expect_sums(why, shot.lab.topology, what);
	why_destroy(why);
	virtual_shot_close(&shot);
	return true;
}

UNIT_TEST(parts_of_drawn_runs_add_up)
{
	unsigned runs = 0;

	for (unsigned seed = 1; seed <= 8; seed++)
		runs += try_drawn(seed);
	assert_true(runs >= 4);
}

/* --- planted causes --- */

struct tally {
	enum why_cause cause;
	uint32_t way;
	uint64_t ns;
};

/* The first cause of the slowest packets. */
static struct tally rank(const struct why *why)
{
	struct tally tally[CAUSES], best = {.ns = 0};
	uint32_t slowest[SHOWN], count = why_slowest(why, SHOWN, slowest);
	unsigned tallies = 0;

	assert_true(count > 0);
	for (uint32_t i = 0; i < count; i++) {
		why_explain(why, slowest[i], &packet);
		for (unsigned j = 0; j < packet.pieces; j++) {
			const struct why_piece *piece = &packet.piece[j];
			unsigned at = 0;

			if (piece->cause == WHY_CAUSE_NONE)
				continue;
			while (at < tallies && (tally[at].cause != piece->cause ||
						       tally[at].way != piece->cause_way))
				at++;
			if (at == tallies) {
				assert_true(tallies < CAUSES);
				tally[tallies++] =
					(struct tally){piece->cause, piece->cause_way, 0};
			}
			tally[at].ns += piece->ns;
		}
	}
	for (unsigned i = 0; i < tallies; i++)
		if (tally[i].ns > best.ns)
			best = tally[i];
	return best;
}

/* 'way': the direction of the port with the cause. */
static void expect_first(struct virtual_shot *shot, enum why_cause cause, uint32_t way)
{
	struct why *why;
	struct tally first;

	virtual_shot_take(shot);
	why = explain(shot);
	first = rank(why);
	if (first.cause != cause || first.way != way)
		fail_msg("expected %s at way %u, found %s at way %u", why_cause_name(cause),
			(unsigned)way, why_cause_name(first.cause), (unsigned)first.way);
	why_destroy(why);
	virtual_shot_close(shot);
}

/* A small fabric with the traffic of 'entry'. */
static struct virtual_shot open_small(const char *entry, const char *buffer, const char *delay)
{
	struct virtual_shot shot = {.bytes = NULL};
	char traffic[256], size[64], wait[64];

	snprintf(traffic, sizeof(traffic), "traffic=[{%s}]", entry);
	snprintf(size, sizeof(size), "switch.buffer=%s", buffer);
	snprintf(wait, sizeof(wait), "link.delay=%s", delay);
	virtual_lab_open(&shot.lab, drawn_plain,
		VIRTUAL_LAB_SET("topology=rlft:ports=4,stages=2", "measure.duration=40us",
			"measure.warmup=1us", "measure.sample=5us", traffic, size, wait));
	return shot;
}

static uint32_t way_to_host(const struct virtual_shot *shot, uint32_t host)
{
	const struct topology_port port = {.kind = DEVICE_HOST, .device = host};

	return topology_way_at(shot->lab.topology, port) ^ 1;
}

/* Creates the fabric again, because it contains the former rates of links. */
static void slow_down(struct virtual_shot *shot, uint32_t link)
{
	struct error error = {""};

	virtual_fabric_destroy(shot->lab.fabric);
	shot->lab.topology->link_at[link].rate_bps /= 10;
	shot->lab.fabric = virtual_fabric_create(shot->lab.topology, shot->lab.config, &error);
	if (shot->lab.fabric == NULL)
		fail_msg("%s", error.text);
}

/* The direction in which frames leave a leaf for the destination. */
static uint32_t way_up(const struct virtual_shot *shot, uint32_t from, uint32_t to)
{
	const struct topology *topology = shot->lab.topology;
	struct topology_port leaf;
	struct audit_run rules;
	struct error error = {""};
	uint32_t way;

	assert_true(topology_host_switch(topology, from, &leaf));
	assert_int_equal(audit_run_open(&rules, topology, shot->lab.config, true, &error), 0);
	leaf.port = route_table_row(rules.rules.table, leaf.device)[to];
	way = topology_way_at(topology, leaf);
	audit_run_close(&rules);
	return way;
}

UNIT_TEST(a_slow_link_ranks_first)
{
	struct rng rng;

	rng_init(&rng, 51, 1, 0);
	for (unsigned draw = 0; draw < DRAWS; draw++) {
		struct virtual_shot shot = open_small(
			"pattern: uniform, from: all, load: 30%, message: 1000B", "64KiB", "30ns");
		uint32_t way = way_to_host(&shot, (uint32_t)rng_below(&rng, 8));

		slow_down(&shot, way / 2);
		expect_first(&shot, WHY_CAUSE_SLOW_LINK, way);
	}
}

UNIT_TEST(a_hot_spot_ranks_first)
{
	struct rng rng;

	rng_init(&rng, 51, 2, 0);
	for (unsigned draw = 0; draw < DRAWS; draw++) {
		uint32_t to = (uint32_t)rng_below(&rng, 8);
		struct virtual_shot shot;
		char entry[160];

		snprintf(entry, sizeof(entry),
			"pattern: hotspot, from: all, to: [h%u], load: 40%%, message: 1000B", to);
		shot = open_small(entry, "64KiB", "30ns");
		expect_first(&shot, WHY_CAUSE_HOT_SPOT, way_to_host(&shot, to));
	}
}

/* A buffer of two frames and a delay of many frames, so credits return too late. */
UNIT_TEST(a_small_buffer_ranks_first)
{
	struct rng rng;

	rng_init(&rng, 51, 3, 0);
	for (unsigned draw = 0; draw < DRAWS; draw++) {
		uint32_t from = (uint32_t)rng_below(&rng, 8), to = (from + 2) % 8;
		const struct topology_port host = {.kind = DEVICE_HOST, .device = from};
		struct virtual_shot shot;
		char entry[160];

		snprintf(entry, sizeof(entry),
			"pattern: hotspot, from: [h%u], to: [h%u], load: 60%%, message: 1000B",
			from, to);
		shot = open_small(entry, "5KiB", "1us");
		expect_first(&shot, WHY_CAUSE_SMALL_BUFFER,
			topology_way_at(shot.lab.topology, host) ^ 1);
	}
}

/* Two hosts of a leaf send to two hosts that the tables reach through the same port. */
UNIT_TEST(a_bad_placement_ranks_first)
{
	struct rng rng;

	rng_init(&rng, 51, 4, 0);
	for (unsigned draw = 0; draw < DRAWS; draw++) {
		uint32_t leaf = (uint32_t)rng_below(&rng, 2), odd = (uint32_t)rng_below(&rng, 2);
		char entry[256];
		struct virtual_shot shot;

		snprintf(entry, sizeof(entry),
			"pattern: hotspot, from: [h%u], to: [h%u], load: 90%%, message: 1000B}, "
			"{pattern: hotspot, from: [h%u], to: [h%u], load: 90%%, message: 1000B",
			2 * leaf, 4 + odd, 2 * leaf + 1, 6 + odd);
		shot = open_small(entry, "64KiB", "30ns");
		assert_int_equal(
			way_up(&shot, 2 * leaf, 4 + odd), way_up(&shot, 2 * leaf + 1, 6 + odd));
		expect_first(&shot, WHY_CAUSE_SHARED_LINK, way_up(&shot, 2 * leaf, 4 + odd));
	}
}

/* --- schedules --- */

/* Host 0 starts a chain in which each host sends to the next one when it has received. Other
 * messages are in flight at the start. */
static void write_chain(FILE *out)
{
	fputs("num_ranks 8\n", out);
	for (unsigned rank = 0; rank < 8; rank++) {
		fprintf(out, "rank %u {\n", rank);
		if (rank == 0)
			fputs("b0: send 1000b to 5 tag 1\nb1: send 500b to 3 tag 1\n", out);
		if (rank == 3 || rank == 5)
			fprintf(out, "b0: recv %ub from 0 tag 1\n", rank == 3 ? 500 : 1000);
		if (rank > 0)
			fprintf(out, "r: recv 3000b from %u tag 0\n", rank - 1);
		if (rank < 7)
			fprintf(out, "s: send 3000b to %u tag 0\n", rank + 1);
		if (rank > 0 && rank < 7)
			fputs("s requires r\n", out);
		fputs("}\n", out);
	}
}

UNIT_TEST(the_critical_path_of_a_chain_is_the_chain)
{
	char path[] = "/tmp/weft-why-XXXXXX", entry[64];
	uint32_t packets[64], count;
	struct virtual_shot shot;
	struct why *why;
	uint64_t before_ns = UINT64_MAX;
	unsigned host = 7;
	FILE *out = fdopen(mkstemp(path), "w");

	assert_non_null(out);
	write_chain(out);
	fclose(out);
	snprintf(entry, sizeof(entry), "pattern: goal, file: %s", path);
	shot = open_small(entry, "64KiB", "30ns");
	virtual_shot_take(&shot);
	unlink(path);
	why = explain(&shot);
	count = why_critical_path(why, 64, packets);
	assert_int_equal(count, 7);
	for (uint32_t i = 0; i < count; i++, host--) {
		why_explain(why, packets[i], &packet);
		assert_int_equal(packet.destination, host);
		assert_int_equal(packet.source, host - 1);
		/* The next message of the path could start. */
		assert_true(packet.start_ns + packet.ns <= before_ns);
		before_ns = packet.start_ns;
	}
	why_destroy(why);
	virtual_shot_close(&shot);
}

/* --- a stopped loop --- */

struct stop {
	struct why *why;
	const struct virtual_shot *shot;
	uint64_t from_ns, for_ns;
	uint32_t device;
};

/* Delays the records of a device that are due after its loop was stopped. Frames that others send
 * to it are due as before. */
static void add_stopped(void *ctx, const struct audit_frame_at *frame)
{
	const struct stop *stop = ctx;
	const struct topology_link *link = &stop->shot->lab.topology->link_at[frame->way / 2];
	const struct topology_port *at = frame->way % 2 == 0 ? &link->a : &link->b;
	struct audit_frame_at later = *frame;

	later.time_ns += UINT64_C(1000000);
	if (frame->time_ns >= stop->from_ns &&
		(frame->out || at->kind != DEVICE_SWITCH || at->device != stop->device))
		later.time_ns += stop->for_ns;
	assert_int_equal(why_add(stop->why, &later), 0);
}

UNIT_TEST(a_stopped_loop_ranks_first)
{
	struct rng rng;

	rng_init(&rng, 51, 5, 0);
	for (unsigned draw = 0; draw < DRAWS; draw++) {
		struct virtual_shot shot = open_small(
			"pattern: uniform, from: all, load: 30%, message: 1000B", "64KiB", "30ns");
		struct stop stop = {.shot = &shot,
			.device = (uint32_t)rng_below(&rng, 4),
			.from_ns = 5000 + rng_below(&rng, 20000),
			.for_ns = 200000 + rng_below(&rng, 800000)};
		struct tally first;
		struct topology_port at;

		virtual_shot_take(&shot);
		shot.rules.rules.exact = false;
		stop.why = why_create(&shot.rules.rules, shot.captured);
		virtual_shot_feed(&shot, shot.bytes, shot.length, add_stopped, &stop);
		assert_int_equal(why_end(stop.why), 0);
		first = rank(stop.why);
		at = first.way % 2 == 0 ? shot.lab.topology->link_at[first.way / 2].a
					: shot.lab.topology->link_at[first.way / 2].b;
		assert_int_equal(first.cause, WHY_CAUSE_STOPPED_LOOP);
		assert_int_equal(at.kind, DEVICE_SWITCH);
		assert_int_equal(at.device, stop.device);
		why_destroy(stop.why);
		virtual_shot_close(&shot);
	}
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Finds the buffers that wait for each other. Heads are planted by hand in a ring that has not
 * run. */

#include <errno.h>

#include "virtual/virtual_links.h"
#include "virtual/virtual_private.h"
#include "virtual_lab.h"

#define RING  3
#define FRAME 20 /* blocks */

struct bed {
	struct virtual_lab lab;
	struct weft_packet planted[2 * RING];
	unsigned plants;
	struct deadlock_heads heads;
};

static const char text[] = "weft: run/1\n"
			   "topology: \"ring:switches=3,hosts=1\"\n"
			   "clock: virtual\n"
			   "routing: {algorithm: minhop, mode: table, may-deadlock: true}\n"
			   "measure: {duration: 1ms, sample: 1ms}\n"
			   "traffic: [{pattern: uniform, load: 1%, message: 1KiB}]\n";

static int set_up(void **state)
{
	static struct bed bed;
	memset(&bed, 0, sizeof(bed));
	virtual_lab_open(&bed.lab, text, NULL, 0);
	*state = &bed;
	return 0;
}

static int tear_down(void **state)
{
	struct bed *bed = *state;

	deadlock_heads_free(&bed->heads);
	virtual_lab_close(&bed->lab);
	return 0;
}

/* Returns the port of 'at' that leads to switch 'to', or to the host if 'to' is UINT32_MAX. */
static unsigned port_to(const struct bed *bed, uint32_t at, uint32_t to)
{
	for (unsigned port = 0; port < bed->lab.fabric->sw[at]->ports; port++) {
		const struct topology_port from = {DEVICE_SWITCH, at, (uint8_t)port};
		struct topology_port peer;

		if (topology_peer(bed->lab.topology, from, &peer) &&
			(to == UINT32_MAX ? peer.kind == DEVICE_HOST
					  : peer.kind == DEVICE_SWITCH && peer.device == to))
			return port;
	}
	fail_msg("no port");
	return 0;
}

static struct link_end *neighbour(const struct bed *bed, uint32_t at, unsigned port)
{
	const struct topology_port from = {DEVICE_SWITCH, at, (uint8_t)port};
	struct topology_port peer = from;

	topology_peer(bed->lab.topology, from, &peer);
	return virtual_end_at(bed->lab.fabric, peer);
}

/* Adds a head for 'to' at switch 'at', in the buffer that its neighbour 'from' fills, at the
 * front of a queue with this many blocks. */
static void plant_queue(
	struct bed *bed, uint32_t at, uint32_t from, uint32_t to, bool credits, uint32_t blocks)
{
	struct weft_switch *sw = bed->lab.fabric->sw[at];
	unsigned input = port_to(bed, at, from), output = port_to(bed, at, to);
	struct weft_packet *packet = &bed->planted[bed->plants++];
	struct credit_tx *tx = &sw->port[output].link.tx[0];
	struct credit_rx *rx = &sw->port[input].link.rx[0];
	struct voq *queue = &switch_queues(sw, output, input)[0];

	packet->out_port = (uint8_t)output;
	packet->blocks = FRAME;
	queue->head = packet;
	queue->blocks = blocks;
	rx->received += blocks;
	neighbour(bed, at, input)->tx[0].sent += blocks;
	sw->port[output].output.stalled |= BIT64(input);
	if (!credits)
		neighbour(bed, at, output)->rx[0].granted = tx->limit = tx->sent;
}

/* It fills the buffer. */
static void plant(struct bed *bed, uint32_t at, uint32_t from, uint32_t to, bool credits)
{
	struct weft_switch *sw = bed->lab.fabric->sw[at];

	plant_queue(
		bed, at, from, to, credits, sw->port[port_to(bed, at, from)].link.rx[0].capacity);
}

static void plant_circle(struct bed *bed)
{
	for (uint32_t at = 0; at < RING; at++)
		plant(bed, at, (at + RING - 1) % RING, (at + 1) % RING, false);
}

static unsigned found_of_age(struct bed *bed, weft_time age_ps, struct topology_port *cycle)
{
	const struct virtual_fabric *fabric = bed->lab.fabric;
	const struct deadlock_view view = {fabric->topology, fabric->sw, fabric->now};
	int count;

	deadlock_heads_free(&bed->heads);
	assert_int_equal(deadlock_collect(&view, age_ps, &bed->heads), 0);
	for (uint32_t host = 0; host < RING; host++)
		assert_int_equal(deadlock_collect_host(&view, host, 1, FRAME, 0, &bed->heads), 0);
	count = deadlock_search(&bed->heads, fabric->topology, cycle, RING);
	assert_in_range(count, 0, RING);
	return (unsigned)count;
}

static unsigned found(struct bed *bed, struct topology_port *cycle)
{
	return found_of_age(bed, 0, cycle);
}

static unsigned count_dead(const struct bed *bed, bool hosts)
{
	unsigned dead = 0;

	for (size_t i = 0; i < bed->heads.count; i++)
		dead += bed->heads.head[i].dead && deadlock_is_host(&bed->heads.head[i]) == hosts;
	return dead;
}

UNIT_WITH(a_circle_is_named_by_the_ports_that_send_into_its_buffers, set_up, tear_down)
{
	struct bed *bed = *state;
	struct topology_port cycle[RING];

	plant_circle(bed);
	assert_int_equal(found(bed, cycle), RING);
	for (uint32_t i = 0; i < RING; i++) {
		assert_int_equal(cycle[i].kind, DEVICE_SWITCH);
		assert_int_equal(
			cycle[i].port, port_to(bed, cycle[i].device, (cycle[i].device + 1) % RING));
	}
}

UNIT_WITH(an_open_chain_is_none, set_up, tear_down)
{
	struct bed *bed = *state;
	struct topology_port cycle[RING];

	plant(bed, 0, 2, 1, false);
	plant(bed, 1, 0, 2, false);
	assert_int_equal(found(bed, cycle), 0);
}

/* The space that the head of another queue frees on its way to the host is sufficient. */
UNIT_WITH(a_buffer_that_will_have_room_ends_the_circle, set_up, tear_down)
{
	struct bed *bed = *state;
	struct topology_port cycle[RING];
	uint32_t capacity;

	plant_circle(bed);
	capacity = bed->lab.fabric->sw[1]->port[port_to(bed, 1, 0)].link.rx[0].capacity;
	switch_queues(bed->lab.fabric->sw[1], bed->planted[1].out_port, port_to(bed, 1, 0))[0]
		.blocks = capacity - FRAME;
	plant_queue(bed, 1, 0, UINT32_MAX, false, FRAME);
	assert_int_equal(found(bed, cycle), 0);
	assert_int_equal(count_dead(bed, false), 0);
}

/* One of its queues continues, but never frees enough space for the waiting head. */
UNIT_WITH(a_buffer_whose_room_does_not_suffice_is_part_of_a_circle, set_up, tear_down)
{
	struct bed *bed = *state;
	struct topology_port cycle[RING];
	uint32_t capacity;

	plant_circle(bed);
	capacity = bed->lab.fabric->sw[1]->port[port_to(bed, 1, 0)].link.rx[0].capacity;
	switch_queues(bed->lab.fabric->sw[1], bed->planted[1].out_port, port_to(bed, 1, 0))[0]
		.blocks = capacity - FRAME + 1;
	plant_queue(bed, 1, 0, UINT32_MAX, true, FRAME - 1);
	assert_int_equal(found(bed, cycle), RING);
	assert_int_equal(count_dead(bed, false), RING);
}

/* Credits will be granted. */
UNIT_WITH(room_that_is_not_granted_yet_ends_the_circle, set_up, tear_down)
{
	struct bed *bed = *state;
	struct topology_port cycle[RING];

	for (uint32_t at = 0; at < RING; at++)
		plant_queue(bed, at, (at + RING - 1) % RING, (at + 1) % RING, false, FRAME);
	assert_int_equal(found(bed, cycle), 0);
}

UNIT_WITH(what_leads_into_a_circle_is_dead_with_it, set_up, tear_down)
{
	struct bed *bed = *state;
	struct topology_port cycle[RING];

	plant_circle(bed);
	plant(bed, 0, UINT32_MAX, 1, false);
	plant_queue(bed, 1, UINT32_MAX, 2, false, FRAME);
	assert_int_equal(found(bed, cycle), RING);
	assert_int_equal(count_dead(bed, false), RING + 2);
	assert_int_equal(count_dead(bed, true), 1); /* the other host's buffer has space */
}

UNIT_WITH(who_has_not_waited_long_enough_is_not_stuck, set_up, tear_down)
{
	struct bed *bed = *state;
	struct topology_port cycle[RING];

	plant_circle(bed);
	bed->lab.fabric->now = 10 * PS_PER_MS;
	assert_int_equal(found_of_age(bed, PS_PER_MS, cycle), 0);
	for (uint32_t at = 0; at < RING; at++)
		switch_queues(bed->lab.fabric->sw[at], bed->planted[at].out_port,
			port_to(bed, at, (at + RING - 1) % RING))[0]
			.stalled_at = 9 * PS_PER_MS;
	assert_int_equal(found_of_age(bed, PS_PER_MS, cycle), RING);
}

/* The reports of two processes about a cycle, each about its own switches. */
static void report(struct bed *bed, struct deadlock_heads *all)
{
	const struct virtual_fabric *fabric = bed->lab.fabric;
	const struct deadlock_view view = {fabric->topology, fabric->sw, fabric->now};

	for (uint32_t first = 0; first < RING; first += RING - 1) {
		struct deadlock_heads part = {0};
		json_t *json;

		for (uint32_t at = first; at < RING && (first > 0 || at < RING - 1); at++)
			assert_int_equal(
				deadlock_collect_switch(&view, at, fabric->sw[at], 0, &part), 0);
		json = deadlock_heads_json(&part);
		assert_int_equal(deadlock_heads_read(all, json, fabric->topology), 0);
		json_decref(json);
		deadlock_heads_free(&part);
	}
}

static unsigned found_in_reports(struct bed *bed, uint32_t that_moved)
{
	struct deadlock_heads before = {0}, now = {0};
	struct topology_port cycle[RING];
	int count;

	for (uint32_t at = 0; at < RING; at++)
		switch_queues(bed->lab.fabric->sw[at], bed->planted[at].out_port,
			port_to(bed, at, (at + RING - 1) % RING))[0]
			.stalled_at = PS_PER_MS;
	report(bed, &before);
	if (that_moved < RING)
		switch_queues(bed->lab.fabric->sw[that_moved], bed->planted[that_moved].out_port,
			port_to(bed, that_moved, (that_moved + RING - 1) % RING))[0]
			.stalled_at = 2 * PS_PER_MS;
	report(bed, &now);
	deadlock_keep_common(&before, &now);
	count = deadlock_search(&before, bed->lab.topology, cycle, RING);
	deadlock_heads_free(&before);
	deadlock_heads_free(&now);
	assert_in_range(count, 0, RING);
	return (unsigned)count;
}

UNIT_WITH(a_circle_through_several_processes_is_found_in_their_reports, set_up, tear_down)
{
	plant_circle(*state);
	assert_int_equal(found_in_reports(*state, RING), RING);
}

UNIT_WITH(a_head_that_moved_between_two_reports_ends_the_circle, set_up, tear_down)
{
	plant_circle(*state);
	for (uint32_t at = 0; at < RING; at++)
		assert_int_equal(found_in_reports(*state, at), 0);
}

UNIT_WITH(a_report_of_another_topology_is_refused, set_up, tear_down)
{
	static const char *const bad[] = {"{}", "[1]", "[[1,2,3]]", "[[0,0,1,1,1,0,1,1]]",
		"[[-1,0,1,1,1,0,1]]", "[[2147483648,0,1,1,1,0,1]]", "[[99999999,0,1,1,1,0,1]]",
		"[[0,0,1,1,1,255,1]]", "[[0,0,-1,1,1,0,1]]", "[[0,0,1,1,1,0,-1]]",
		"[[0,0,1,1,4294967296,0,1]]"};
	const struct bed *bed = *state;
	struct deadlock_heads heads = {0};

	for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		json_t *json = json_loads(bad[i], 0, NULL);

		assert_non_null(json);
		assert_int_equal(deadlock_heads_read(&heads, json, bed->lab.topology), -EINVAL);
		json_decref(json);
	}
	assert_int_equal(heads.count, 0);
	deadlock_heads_free(&heads);
}

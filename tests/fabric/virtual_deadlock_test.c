/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Which buffers wait for each other: heads are planted by hand in a ring that has not run. */

#include <string.h>

#include "virtual_lab.h"
#include "virtual_private.h"

#define RING 3

struct bed {
	struct virtual_lab lab;
	struct weft_packet planted[RING + 1];
	unsigned plants;
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

	virtual_lab_close(&bed->lab);
	return 0;
}

/* The port of 'at' that leads to switch 'to'; to UINT32_MAX: to the host. */
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

/* A head at switch 'at' in the buffer that its neighbour 'from' fills, for 'to'. */
static void plant(struct bed *bed, uint32_t at, uint32_t from, uint32_t to, bool credits)
{
	struct weft_switch *sw = bed->lab.fabric->sw[at];
	unsigned input = port_to(bed, at, from), output = port_to(bed, at, to);
	struct weft_packet *packet = &bed->planted[bed->plants++];
	struct credit_tx *tx = &sw->port[output].link.tx[0];

	packet->out_port = (uint8_t)output;
	packet->blocks = 20;
	switch_queues(sw, output, input)[0].head = packet;
	if (!credits)
		tx->limit = tx->sent;
}

static void plant_circle(struct bed *bed)
{
	for (uint32_t at = 0; at < RING; at++)
		plant(bed, at, (at + RING - 1) % RING, (at + 1) % RING, false);
}

static unsigned found_of_age(const struct bed *bed, weft_time age_ps, struct topology_port *cycle)
{
	const struct virtual_fabric *fabric = bed->lab.fabric;
	const struct deadlock_view view = {fabric->topology, fabric->sw, fabric->now};

	return deadlock_find(&view, age_ps, cycle, RING);
}

static unsigned found(const struct bed *bed, struct topology_port *cycle)
{
	return found_of_age(bed, 0, cycle);
}

static void a_circle_is_named_by_the_ports_that_send_into_its_buffers(void **state)
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

static void an_open_chain_is_none(void **state)
{
	struct bed *bed = *state;
	struct topology_port cycle[RING];

	plant(bed, 0, 2, 1, false);
	plant(bed, 1, 0, 2, false);
	assert_int_equal(found(bed, cycle), 0);
}

/* A buffer has room again as soon as any of its heads goes. */
static void a_buffer_with_a_head_that_can_go_ends_the_circle(void **state)
{
	struct bed *bed = *state;
	struct topology_port cycle[RING];

	plant_circle(bed);
	plant(bed, 1, 0, UINT32_MAX, true);
	assert_int_equal(found(bed, cycle), 0);
}

static void a_head_that_waits_for_its_host_will_go(void **state)
{
	struct bed *bed = *state;
	struct topology_port cycle[RING];

	plant_circle(bed);
	plant(bed, 1, 0, UINT32_MAX, false);
	assert_int_equal(found(bed, cycle), 0);
}

static void who_has_not_waited_long_enough_is_not_stuck(void **state)
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

int main(void)
{
	const struct CMUnitTest tests[] = {
#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
		CASE(a_circle_is_named_by_the_ports_that_send_into_its_buffers),
		CASE(an_open_chain_is_none),
		CASE(a_buffer_with_a_head_that_can_go_ends_the_circle),
		CASE(a_head_that_waits_for_its_host_will_go),
		CASE(who_has_not_waited_long_enough_is_not_stuck),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

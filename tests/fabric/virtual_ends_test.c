/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* The virtual clock makes an event of the end of a transmission only when somebody needs it. Here
 * the same runs are made with an event for each end: nothing may come at another time. */

#include <stdio.h>
#include <string.h>

#include "rng.h"
#include "run_config.h"
#include "unit.h"
#include "virtual_devices.h"

#define RUNS 25

static const char tree[] = "weft: run/1\n"
			   "topology: \"rlft:ports=8,stages=2\"\n"
			   "clock: virtual\n"
			   "link: {rate: 100Gbps, delay: 30ns}\n"
			   "switch: {switching: cut-through, buffer: 64KiB, mtu: 4KiB}\n"
			   "nic: {mtu: 4KiB}\n"
			   "routing: {algorithm: dmodk, mode: table}\n"
			   "measure: {warmup: 0ms, duration: 80us, sample: 20us, links: true}\n"
			   "traffic:\n"
			   "  - {pattern: uniform, from: all, load: 50%, message: 1000B}\n";

static const char *pick(struct rng *rng, const char *const *from, unsigned count)
{
	return from[rng_below(rng, count)];
}

#define PICK(rng, ...)                                \
	pick(rng, (const char *const[]){__VA_ARGS__}, \
		sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *))

/* Buffers from a few packets on, where each end counts, to many. */
static struct run_config *draw(struct rng *rng, char *text, size_t room)
{
	const char *set[8] = {
		PICK(rng, "switch.voq=true", "switch.voq=false"),
		PICK(rng, "switch.buffer=18KiB", "switch.buffer=30KiB", "switch.buffer=80KiB",
			"switch.buffer=344KiB"),
		PICK(rng, "switch.vcs=1", "switch.vcs=2"),
		PICK(rng, "traffic[0].load=20%", "traffic[0].load=60%", "traffic[0].load=100%"),
		PICK(rng, "traffic[0].message=100B", "traffic[0].message=4KiB",
			"traffic[0].message=9000B"),
		PICK(rng, "traffic[0].arrivals=constant", "traffic[0].arrivals=poisson"),
		PICK(rng, "switch.routing-delay=0ns", "switch.routing-delay=100ns"),
		PICK(rng, "switch.switching=cut-through", "switch.switching=store-and-forward"),
	};
	struct run_config *config;
	struct fault fault;

	text[0] = '\0';
	for (unsigned i = 0; i < 8; i++)
		snprintf(text + strlen(text), room - strlen(text), "%s ", set[i]);
	config = run_config_parse(tree, strlen(tree), "test", set, 8, &fault);
	if (config == NULL)
		fail_msg("%s: %s", text, fault.text);
	return config;
}

static void run(struct run_config *config, bool every_end, struct run_result *result)
{
	struct virtual_fabric *fabric = NULL;
	struct topology *topology;
	struct fault fault;

	topology = run_config_open_topology(config, &fault);
	if (topology == NULL ||
		(fabric = virtual_fabric_create(topology, config, &fault)) == NULL) {
		fail_msg("%s", fault.text);
		return;
	}
	fabric->every_end = every_end;
	if (virtual_fabric_run(fabric, NULL, NULL, NULL, &fault) != 0 ||
		virtual_fabric_result(fabric, result, &fault) != 0)
		fail_msg("%s", fault.text);
	assert_null(virtual_fabric_check(fabric));
	virtual_fabric_destroy(fabric);
	topology_destroy(topology);
}

static void expect_same_links(const struct run_result *a, const struct run_result *b)
{
	assert_int_equal(a->links, b->links);
	for (unsigned i = 0; i < a->links; i++) {
		assert_true(a->link[i].utilisation == b->link[i].utilisation);
		assert_true(a->link[i].blocked == b->link[i].blocked);
		assert_int_equal(a->link[i].stalls, b->link[i].stalls);
	}
}

static void ends_without_an_event_change_no_delivery_and_no_link(void **state)
{
	struct rng rng;

	rng_init(&rng, 7, 0, 0);
	for (unsigned i = 0; i < RUNS; i++) {
		struct run_result lazy = {.seed = 0}, eager = {.seed = 0};
		char text[512];
		struct run_config *config = draw(&rng, text, sizeof(text));

		run(config, false, &lazy);
		run(config, true, &eager);
		if (lazy.fingerprint != eager.fingerprint)
			print_message("%s\n", text);
		assert_int_equal(lazy.fingerprint, eager.fingerprint);
		assert_int_equal(lazy.packets.delivered, eager.packets.delivered);
		assert_int_equal(lazy.packets.injected, eager.packets.injected);
		assert_true(lazy.packets.delivered > 0);
		expect_same_links(&lazy, &eager);
		run_result_free(&lazy);
		run_result_free(&eager);
		run_config_destroy(config);
	}
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(ends_without_an_event_change_no_delivery_and_no_link),
};

UNIT_MAIN(tests)

/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Multi-step paths in whole fabrics on the virtual clock, at full load and more. */

#include "virtual/virtual_private.h"
#include "virtual_lab.h"

/* Small buffers fill quickly, and a cycle of them would stop the network permanently. */
static const char torus[] = "weft: run/1\n"
			    "topology: \"torus:dims=4x4,hosts=1\"\n"
			    "clock: virtual\n"
			    "link: {rate: 10Gbps, delay: 30ns}\n"
			    "switch: {buffer: 10KiB, mtu: 1KiB, vcs: 4}\n"
			    "nic: {mtu: 1KiB, selector: round-robin}\n"
			    "routing: {algorithm: msp}\n"
			    "measure: {warmup: 0ms, duration: 1ms, sample: 1ms}\n"
			    "traffic: [{pattern: uniform, load: 100%, message: 1KiB}]\n";

static void run(struct virtual_lab *lab, const char *const *set, unsigned sets)
{
	*lab = virtual_lab_ran(torus, set, sets);
	virtual_lab_expect_whole(lab);
	assert_true(lab->result.accepted > 0.1);
}

#define RUN(lab, ...) run(lab, VIRTUAL_LAB_SET(__VA_ARGS__))

UNIT_TEST(at_full_load_nothing_is_lost_and_nothing_stands_still)
{
	static const char *const networks[][4] = {
		{"topology=torus:dims=4x4,hosts=1", "switch.vcs=4", "switch.buffer=10KiB",
			"routing.radius=1"},
		{"topology=torus:dims=8x8,hosts=2", "switch.vcs=4", "switch.buffer=10KiB",
			"routing.radius=1"},
		{"topology=torus:dims=5x3,hosts=1", "switch.vcs=6", "switch.buffer=15KiB",
			"routing.radius=2"},
		{"topology=mesh:dims=4x4,hosts=1", "switch.vcs=3", "switch.buffer=8KiB",
			"routing.radius=1"},
		{"topology=mesh:dims=8x4,hosts=1", "switch.vcs=3", "switch.buffer=8KiB",
			"routing.radius=2"},
		{"topology=rlft:ports=4,stages=3", "switch.vcs=1", "switch.buffer=3KiB",
			"routing.radius=1"},
	};
	static const char *const selectors[] = {
		"nic.selector=first", "nic.selector=random", "nic.selector=round-robin"};

	for (unsigned i = 0; i < sizeof(networks) / sizeof(networks[0]); i++)
		for (unsigned k = 0; k < 3; k++) {
			OWNED(virtual_lab) lab;

			RUN(&lab, networks[i][0], networks[i][1], networks[i][2], networks[i][3],
				selectors[k], k == 0 ? "switch.voq=false" : "switch.voq=true");
		}
}

/* The VCs of switch inputs in which packets have arrived. */
static unsigned used_vcs(const struct virtual_lab *lab)
{
	unsigned used = 0;

	for (uint32_t at = 0; at < lab->fabric->switches; at++)
		for (unsigned port = 0; port < 4; port++)
			for (unsigned vc = 0; vc < lab->config->sw.vcs; vc++)
				if (lab->fabric->sw[at]->port[port].link.rx[vc].received != 0)
					used |= 1u << vc;
	return used;
}

UNIT_TEST(each_step_travels_in_its_classes)
{
	struct virtual_lab lab;

	RUN(&lab, "nic.selector=first");
	assert_int_equal(used_vcs(&lab), 1 << 1 | 1 << 2);
	virtual_lab_close(&lab);
	RUN(&lab, "nic.selector=round-robin");
	assert_int_equal(used_vcs(&lab), 15);
	virtual_lab_close(&lab);
	RUN(&lab, "routing.radius=2", "switch.vcs=6", "switch.buffer=15KiB", "nic.selector=first");
	assert_int_equal(used_vcs(&lab), 3);
	virtual_lab_close(&lab);
}

/* All hosts send to the host halfway around. Several paths carry more than one path can. */
UNIT_TEST(several_paths_carry_more_than_one)
{
	static const char *const pattern[] = {"topology=torus:dims=8x8,hosts=1",
		"traffic.0.pattern=transpose", "switch.buffer=64KiB"};
	OWNED(virtual_lab) one, several;

	RUN(&one, pattern[0], pattern[1], pattern[2], "nic.selector=first");
	RUN(&several, pattern[0], pattern[1], pattern[2], "nic.selector=round-robin");
	assert_true(several.result.accepted > 1.1 * one.result.accepted);
}

UNIT_TEST(fewer_vcs_than_classes_are_refused)
{
	virtual_lab_assert_refused(torus, VIRTUAL_LAB_SET("switch.vcs=3"),
		"test: switch.vcs is 3, but must be 4 or more, because routing.algorithm msp "
		"needs that many VC classes on this topology");
}

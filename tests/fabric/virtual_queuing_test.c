/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Queuing schemes in whole fabrics on the virtual clock. */

#include "experiment/run/run_config.h"
#include "virtual/virtual_private.h"
#include "virtual_lab.h"

/* h5 is a hot spot, and the other hosts send to all. */
static const char tree[] = "weft: run/1\n"
			   "topology: \"rlft:ports=8,stages=2\"\n"
			   "clock: virtual\n"
			   "link: {rate: 100Gbps, delay: 30ns}\n"
			   "switch: {buffer: 128KiB, mtu: 1KiB, vcs: 3}\n"
			   "nic: {mtu: 1KiB}\n"
			   "routing: {algorithm: dmodk, mode: table}\n"
			   "measure: {warmup: 0ms, duration: 1ms, sample: 1ms}\n"
			   "traffic:\n"
			   "  - {pattern: uniform, from: rest, load: 90%, message: 1KiB}\n"
			   "  - {pattern: hotspot, from: 25%, to: [h5], load: 100%, message: "
			   "1KiB}\n";

static void run(struct virtual_lab *lab, const char *const *set, unsigned sets)
{
	*lab = virtual_lab_ran(tree, set, sets);
	virtual_lab_expect_whole(lab);
}

#define RUN(lab, ...) run(lab, VIRTUAL_LAB_SET("seed=3", __VA_ARGS__))

/* The VCs of packets, derived from the blocks that have arrived at the hosts. */
static void assert_only_the_schemes_vcs_arrive(const struct virtual_lab *lab)
{
	const struct virtual_fabric *fabric = lab->fabric;
	uint32_t vcs = lab->config->sw.vcs;

	for (uint32_t to = 0; to < fabric->hosts; to++) {
		const struct datagram *nic = &fabric->host[to].nic;
		uint32_t wanted = 0, found = 0;

		for (uint32_t from = 0; from < fabric->hosts; from++)
			if (from != to && datagram_expected(nic, (uint16_t)from) != 0)
				wanted |= 1u << queuing_sl(fabric->routes.queuing, from, to);
		for (uint32_t vc = 0; vc < vcs; vc++)
			if (nic->link.rx[vc].received != 0)
				found |= 1u << vc;
		assert_int_not_equal(wanted, 0);
		assert_int_equal(found, wanted);
	}
}

/* A host reads its messages queue by queue. If the due messages are for another queue, it must
 * still wake up for the next message. This failed if time had passed while the host was sending. */
UNIT_TEST(what_falls_due_leaves_whatever_its_queue)
{
	static const char *const schemes[] = {"queuing=dbbm", "queuing=vftree", "queuing=flow2sl"};

	for (unsigned i = 0; i < 3; i++) {
		OWNED(virtual_lab) lab;

		RUN(&lab, schemes[i], "traffic.0.load=10%", "traffic.1.from=[h10]",
			"traffic.1.start=50us");
		/* One host fills one link, and all the others are nearly idle. */
		assert_in_range(lab.result.messages.pending, 0, lab.result.messages.generated / 10);
	}
}

UNIT_TEST(packets_travel_in_the_vc_of_their_scheme)
{
	char queuing[64];

	for (unsigned i = 0; queuing_scheme_at(i) != NULL; i++) {
		OWNED(virtual_lab) lab;
		bool small = strcmp(queuing_scheme_at(i)->name, "voqnet") == 0;

		snprintf(queuing, sizeof(queuing), "queuing=%s", queuing_scheme_at(i)->name);
		RUN(&lab, queuing, small ? "topology=rlft:ports=4,stages=2" : "seed=3",
			small ? "switch.vcs=8" : "switch.vcs=3");
		assert_only_the_schemes_vcs_arrive(&lab);
	}
}

/* The hot spot uses the link of 1 of 16 hosts. 14 of 15 of the messages that the 12 others send at
 * 90 % go elsewhere. They share nothing with the hot packets, not even at the sources, so all of
 * them arrive. */
UNIT_TEST(a_hot_spot_does_not_hold_up_what_has_another_queue)
{
	OWNED(virtual_lab) one, each;

	RUN(&one, "topology=rlft:ports=4,stages=3", "switch.vcs=16", "queuing=1q");
	RUN(&each, "topology=rlft:ports=4,stages=3", "switch.vcs=16", "queuing=voqnet");
	assert_true(one.result.accepted < 0.52);
	assert_true(each.result.accepted > 0.68);
}

UNIT_TEST(where_routes_have_vc_classes_a_scheme_chooses_the_vc_of_the_hosts_links)
{
	OWNED(virtual_lab) lab;
	uint32_t found = 0;

	RUN(&lab, "topology=torus:dims=5,hosts=2", "routing.algorithm=dor", "switch.vcs=2",
		"queuing=dbbm");
	for (uint32_t host = 0; host < lab.fabric->hosts; host++)
		for (uint32_t vc = 0; vc < 2; vc++)
			if (lab.fabric->host[host].nic.link.tx[vc].sent != 0)
				found |= 1u << vc;
	assert_int_equal(found, 3);
}

UNIT_TEST(what_a_network_cannot_have_is_refused)
{
	virtual_lab_assert_refused(tree, VIRTUAL_LAB_SET("queuing=voqnet"),
		"queuing voqnet requires a VC for each of the 32 hosts, so at most 16 hosts are allowed");
	virtual_lab_assert_refused(tree,
		VIRTUAL_LAB_SET("topology=torus:dims=4x4", "routing.algorithm=dor", "switch.vcs=16",
			"queuing=voqnet"),
		"test: queuing: voqnet has a VC per destination; on this topology routing.algorithm dor uses "
		"the VCs for its classes");
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Congestion management at the source, in whole fabrics on the virtual clock. */

#include "nic/datagram/datagram_control.h"
#include "virtual/virtual_private.h"
#include "virtual_lab.h"

/* Hosts on a torus whose first links fill up with the pattern transpose. */
static const char torus[] =
	"weft: run/1\n"
	"topology: \"torus:dims=4x4,hosts=1\"\n"
	"clock: virtual\n"
	"link: {rate: 2Gbps, delay: 30ns}\n"
	"switch: {buffer: 24KiB, mtu: 1KiB, vcs: 4, fecn: 8, routing-delay: 50ns}\n"
	"nic: {mtu: 1KiB}\n"
	"routing: {algorithm: msp}\n"
	"watchdog: off\n"
	"measure: {warmup: 1ms, duration: 4ms, sample: 1ms, switches: true}\n"
	"traffic: [{pattern: transpose, load: 80%, message: 1KiB, arrivals: poisson}]\n";

static void run(struct virtual_lab *lab, const char *const *set, unsigned sets)
{
	*lab = virtual_lab_ran(torus, set, sets);
	virtual_lab_expect_whole(lab);
}

#define RUN(lab, ...) run(lab, VIRTUAL_LAB_SET(__VA_ARGS__))

static uint64_t counter(const struct virtual_lab *lab, const char *name)
{
	return run_result_counter(&lab->result, name);
}

static const char *const kinds[] = {"nic.control=iba-cc", "nic.control=drb-cn", "nic.control=drb",
	"nic.control=pr-drb", "nic.control=drb-cc"};

UNIT_TEST(every_kind_keeps_frames_and_their_order)
{
	static const char *const messages[] = {"traffic.0.message=1KiB", "traffic.0.message=5000B"};

	for (unsigned i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		for (unsigned k = 0; k < 2; k++) {
			OWNED(virtual_lab) lab;

			RUN(&lab, kinds[i], messages[k]);
			assert_true(counter(&lab, "cn_sent") > 0);
		}
}

UNIT_TEST(the_fast_path_of_a_host_changes_nothing)
{
	OWNED(virtual_lab) fast, slow;

	RUN(&fast, "nic.control=pr-drb", "switch.credits=coalesced");
	virtual_lab_open(
		&slow, torus, VIRTUAL_LAB_SET("nic.control=pr-drb", "switch.credits=coalesced"));
	slow.fabric->every_end = true;
	virtual_lab_run(&slow);
	assert_int_equal(fast.result.packets.delivered, slow.result.packets.delivered);
	assert_int_equal(counter(&fast, "paths_opened"), counter(&slow, "paths_opened"));
}

/* No frame arrives that could wake a host by chance while all its messages pause. */
UNIT_TEST(messages_that_pause_leave_when_no_others_come)
{
	for (unsigned i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		OWNED(virtual_lab) lab;

		RUN(&lab, kinds[i], "traffic.0.stop=3ms", "traffic.0.message=16KiB",
			"measure.duration=60ms");
		assert_true(lab.result.messages.delivered > 0);
		assert_int_equal(lab.result.messages.pending, 0);
		for (uint32_t host = 0; host < 16; host++) {
			assert_int_equal(lab.fabric->host[host].nic.waiting, 0);
			assert_int_equal(datagram_control_held(&lab.fabric->host[host].nic), 0);
		}
	}
}

UNIT_TEST(the_same_seed_gives_the_same_run)
{
	OWNED(virtual_lab) once, again;

	RUN(&once, "nic.control=pr-drb");
	RUN(&again, "nic.control=pr-drb");
	assert_int_equal(once.result.fingerprint, again.result.fingerprint);
}

UNIT_TEST(paths_open_and_carry_more_than_one)
{
	OWNED(virtual_lab) none, drb;

	RUN(&none, "nic.control=none");
	RUN(&drb, "nic.control=drb");
	assert_true(drb.result.accepted > 1.1 * none.result.accepted);
	assert_true(counter(&drb, "paths_opened") > 0);
	assert_true(drb.result.sample[1].paths > 1);
}

UNIT_TEST(throttling_holds_frames_back)
{
	OWNED(virtual_lab) none, iba;

	RUN(&none, "nic.control=none");
	RUN(&iba, "nic.control=iba-cc");
	assert_true(counter(&iba, "throttled_ns") > 0);
	assert_true(iba.result.sample[1].ccti > 0);
	assert_true(iba.result.network_ns.sum / iba.result.network_ns.count <
		    none.result.network_ns.sum / none.result.network_ns.count);
}

UNIT_TEST(throttling_the_host_holds_back_more_than_the_destination)
{
	OWNED(virtual_lab) destination, host;

#define HOT                                                                            \
	"traffic.0.pattern=hotspot", "traffic.0.to=[h3]", "traffic.1.pattern=uniform", \
		"traffic.1.load=20%", "traffic.1.message=1KiB"
	RUN(&destination, "nic.control=iba-cc", HOT);
	RUN(&host, "nic.control=iba-cc", "nic.iba-cc.per=host", HOT);
	assert_true(destination.result.accepted > host.result.accepted);
}

UNIT_TEST(a_notification_takes_the_delays_of_the_way_back)
{
	/* Longer than the run, so no notification ever arrives. */
	OWNED(virtual_lab) lab;

	RUN(&lab, "nic.control=drb", "link.delay=1ms", "measure.duration=7ms");
	assert_true(counter(&lab, "cn_sent") > 0);
	assert_int_equal(counter(&lab, "cn_received"), 0);
}

UNIT_TEST(only_marked_frames_are_answered_where_marks_count)
{
	OWNED(virtual_lab) lab;

	RUN(&lab, "nic.control=drb-cn", "traffic.0.load=5%");
	assert_true(counter(&lab, "cn_sent") <= counter(&lab, "packets_marked"));
}

UNIT_TEST(contending_flows_fill_the_database)
{
	struct virtual_lab lab;

	RUN(&lab, "nic.control=pr-drb");
	assert_true(counter(&lab, "contention_recorded") > 0);
	assert_true(counter(&lab, "solutions_saved") > 0);
	virtual_lab_close(&lab);
	RUN(&lab, "nic.control=pr-drb", "switch.flows=0");
	assert_int_equal(counter(&lab, "solutions_saved"), 0);
	virtual_lab_close(&lab);
}

UNIT_TEST(an_incast_is_throttled_and_not_spread)
{
	OWNED(virtual_lab) drb, cc;

	RUN(&drb, "nic.control=drb", "traffic.0.pattern=hotspot", "traffic.0.to=[h3]");
	RUN(&cc, "nic.control=drb-cc", "traffic.0.pattern=hotspot", "traffic.0.to=[h3]");
	assert_true(counter(&cc, "throttled_ns") > 0);
	assert_true(counter(&cc, "paths_opened") < counter(&drb, "paths_opened") / 2);
}

UNIT_TEST(switches_tell_their_mean_waiting_time)
{
	OWNED(virtual_lab) lab;
	double max = 0;

	RUN(&lab, "nic.control=none");
	assert_int_equal(lab.result.switch_count, 16);
	for (unsigned i = 0; i < 16; i++)
		max = lab.result.sw[i].waiting_ns > max ? lab.result.sw[i].waiting_ns : max;
	assert_true(max > 4000);
}

UNIT_TEST(acknowledging_messages_sends_one_each)
{
	OWNED(virtual_lab) frames, messages;

	RUN(&frames, "nic.control=drb", "traffic.0.message=4KiB");
	RUN(&messages, "nic.control=drb", "traffic.0.message=4KiB", "nic.drb.ack=message");
	assert_in_range(counter(&messages, "cn_sent") * 100 / counter(&frames, "cn_sent"), 20, 30);
}

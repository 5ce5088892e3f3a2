/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "setup/congestion_setup.h"

#include "unit.h"

/* Hosts at 10 Gbps, the other links at 40. */
static struct topology *make_topology(void)
{
	struct topology *topology = topology_generate("rlft:ports=4,stages=2", NULL);

	assert_non_null(topology);
	for (uint32_t i = 0; i < topology->links; i++)
		topology->link_at[i].rate_bps = 40000000000;
	topology->link_at[topology->host_link[0]].rate_bps = 10000000000;
	return topology;
}

struct bed {
	struct run_config run;
	struct topology *topology;
	struct weft_switch *sw;
	struct contention contention;
	struct fecn fecn;
};

static void open_bed(struct bed *bed, enum source_control_kind kind)
{
	const struct switch_config config = {.session = 1,
		.ports = 4,
		.vcs = 1,
		.voq = true,
		.buffer_blocks = 64,
		.hello_ps = PS_PER_MS,
		.credit_refresh_ps = PS_PER_MS,
		.watchdog_ps = WEFT_TIME_NEVER,
		.control_reserve = 1};

	*bed = (struct bed){.topology = make_topology()};
	run_config_default(&bed->run);
	bed->run.nic.control = kind;
	bed->run.nic.mtu_bytes = 1024;
	bed->run.sw.flows = 5;
	bed->sw = switch_create(&config, 0);
	assert_non_null(bed->sw);
}

static void close_bed(struct bed *bed)
{
	switch_destroy(bed->sw);
	topology_destroy(bed->topology);
}
#define bed_out_of_scope close_bed

static void set_up(struct bed *bed, uint32_t at)
{
	congestion_setup_contention(bed->sw, &bed->contention, bed->topology, at, &bed->run,
		&(struct contention_config){.in_frame = true});
}

static bool last_switch_records(enum source_control_kind kind, enum run_recording recording)
{
	OWNED(bed) bed;
	bool last;

	open_bed(&bed, kind);
	bed.run.sw.recording = recording;
	set_up(&bed, 0);
	last = bed.contention.config.last;
	return last;
}

UNIT_TEST(only_drb_cc_has_the_last_switch_record_unless_the_file_says_which)
{
	assert_false(last_switch_records(SOURCE_CONTROL_PR_DRB, RUN_RECORDING_AUTO));
	assert_true(last_switch_records(SOURCE_CONTROL_DRB_CC, RUN_RECORDING_AUTO));
	assert_true(last_switch_records(SOURCE_CONTROL_PR_DRB, RUN_RECORDING_LAST));
	assert_false(last_switch_records(SOURCE_CONTROL_DRB_CC, RUN_RECORDING_FIRST));
}

UNIT_TEST(sources_that_measure_nothing_time_no_departures)
{
	static const enum source_control_kind kinds[] = {
		SOURCE_CONTROL_NONE, SOURCE_CONTROL_IBA_CC, SOURCE_CONTROL_DRB_CN};

	for (unsigned i = 0; i < 3; i++) {
		OWNED(bed) bed;

		open_bed(&bed, kinds[i]);
		set_up(&bed, 0);
		assert_null(bed.sw->contention);
	}
}

UNIT_TEST(drb_measures_and_records_no_flows)
{
	OWNED(bed) bed;

	open_bed(&bed, SOURCE_CONTROL_DRB);
	set_up(&bed, 0);
	assert_ptr_equal(bed.sw->contention, &bed.contention);
	assert_true(bed.contention.config.in_frame);
	assert_int_equal(bed.contention.config.threshold_ps, WEFT_TIME_NEVER);
}

UNIT_TEST(flows_are_recorded_after_two_full_frames_of_the_slowest_link)
{
	/* 1 KiB, header of 46, extension of 40, and 24 around the frame. */
	const weft_time at_10g = 2 * 8 * (1024 + 46 + 40 + 24) * 100;
	OWNED(bed) bed;

	open_bed(&bed, SOURCE_CONTROL_PR_DRB);
	set_up(&bed, 0);
	assert_int_equal(bed.contention.config.threshold_ps, at_10g);
	assert_int_equal(bed.contention.config.flows, 5);
	assert_int_equal(bed.contention.config.scope, CONTENTION_OUTPUT);
	set_up(&bed, 1);
	assert_int_equal(bed.contention.config.threshold_ps, at_10g / 4);
	bed.run.sw.contention_ps = 7 * PS_PER_US;
	bed.run.sw.contending = RUN_CONTENDING_BUFFER;
	set_up(&bed, 0);
	assert_int_equal(bed.contention.config.threshold_ps, 7 * PS_PER_US);
	assert_int_equal(bed.contention.config.scope, CONTENTION_BUFFER);
}

UNIT_TEST(marks_follow_the_rules_of_the_run_file)
{
	OWNED(bed) bed;

	open_bed(&bed, SOURCE_CONTROL_IBA_CC);
	bed.run.sw.fecn = 8;
	bed.run.sw.marking_rate = 3;
	bed.run.sw.mark_bytes = 256;
	bed.run.sw.victim_mask = false;
	congestion_setup_marks(bed.sw, &bed.fecn, &bed.run);
	assert_ptr_equal(bed.sw->fecn, &bed.fecn);
	assert_int_equal(bed.fecn.rules.marking_rate, 3);
	assert_int_equal(bed.fecn.rules.packet_bytes, 256);
	assert_false(bed.fecn.rules.victims);
	assert_int_equal(bed.fecn.limit[3][0], 32);
}

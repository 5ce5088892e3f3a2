/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Congestion control in options files of OpenSM. */

#include "unit.h"

#include <errno.h>

#include "experiment/run/opensm_cc.h"
#include "experiment/run/run_config.h"
#include "temporary_file.h"

static const char whole[] = "# Congestion Control OPTIONS\n"
			    "guid 0x1\n"
			    "congestion_control TRUE\n"
			    "cc_key 0x0000000000000000\n"
			    "cc_sw_cong_setting_control_map 0x15\n"
			    "cc_sw_cong_setting_victim_mask 0x00fe\n"
			    "cc_sw_cong_setting_threshold 0x0c\n"
			    "cc_sw_cong_setting_packet_size 8\n"
			    "cc_sw_cong_setting_marking_rate 15\n"
			    "cc_ca_cong_setting_port_control 0x0001\n"
			    "cc_ca_cong_setting_control_map 0x0003\n"
			    "cc_ca_cong_setting_ccti_timer 0 100\n"
			    "cc_ca_cong_setting_ccti_increase 0 2\n"
			    "cc_ca_cong_setting_trigger_threshold 0 0\n"
			    "cc_ca_cong_setting_ccti_min 0 1\n"
			    "cc_ca_cong_setting_ccti_timer 1 100\n"
			    "cc_ca_cong_setting_ccti_timer 7 999\r\n"
			    "cc_cct 0:0,3:5,1:16383\n";

static struct opensm_cc parse(const char *text)
{
	struct error error = {""};
	struct opensm_cc out;

	assert_int_equal(0, opensm_cc_parse(text, strlen(text), "o.conf", &out, &error));
	return out;
}

static void refused(const char *text, const char *message)
{
	struct error error = {""};
	struct opensm_cc out;

	assert_int_equal(-EINVAL, opensm_cc_parse(text, strlen(text), "o.conf", &out, &error));
	assert_string_equal(message, error.text);
}

UNIT_TEST(settings_are_read)
{
	struct opensm_cc cc = parse(whole);

	assert_true(cc.has_threshold && cc.threshold == 12);
	assert_true(cc.has_packet_size && cc.packet_bytes == 512);
	assert_true(cc.has_marking_rate && cc.marking_rate == 15);
	assert_true(cc.has_victims && cc.victims);
	assert_true(cc.has_per_host && cc.per_host);
	assert_true(cc.has_timer && cc.timer_ps == 100 * UINT64_C(1024000));
	assert_true(cc.has_increase && cc.increase == 2);
	assert_true(cc.has_min && cc.min == 1);
	assert_true(cc.has_table && cc.table.count == 3);
	assert_int_equal(3 << 14 | 5, cc.table.entry[1]);
	assert_int_equal(1 << 14 | 16383, cc.table.entry[2]);
}

UNIT_TEST(what_a_file_does_not_say_is_not_set)
{
	struct opensm_cc cc = parse("log_level 3\ncc_cct (null)\n");

	assert_false(cc.has_threshold || cc.has_packet_size || cc.has_marking_rate);
	assert_false(cc.has_victims || cc.has_per_host || cc.has_timer);
	assert_false(cc.has_increase || cc.has_min || cc.has_table);
}

UNIT_TEST(settings_outside_the_control_map_do_not_count)
{
	struct opensm_cc cc = parse("cc_sw_cong_setting_control_map 0x10\n"
				    "cc_sw_cong_setting_victim_mask 0x0\n"
				    "cc_sw_cong_setting_threshold 3\n"
				    "cc_sw_cong_setting_packet_size 3\n"
				    "cc_sw_cong_setting_marking_rate 3\n");

	assert_true(cc.has_marking_rate);
	assert_false(cc.has_threshold || cc.has_packet_size || cc.has_victims);
}

UNIT_TEST(no_port_in_the_victim_mask_marks_no_victims)
{
	struct opensm_cc cc = parse("cc_sw_cong_setting_victim_mask 0x0000\n");

	assert_true(cc.has_victims);
	assert_false(cc.victims);
}

UNIT_TEST(service_levels_outside_the_map_do_not_count)
{
	struct opensm_cc cc = parse("cc_ca_cong_setting_control_map 0x2\n"
				    "cc_ca_cong_setting_ccti_timer 0 0\n"
				    "cc_ca_cong_setting_ccti_timer 1 9\n");

	assert_int_equal(9 * UINT64_C(1024000), cc.timer_ps);
}

UNIT_TEST(bad_values_are_refused_with_file_line_and_expectation)
{
	refused("\ncc_sw_cong_setting_threshold 16\n",
		"o.conf:2: cc_sw_cong_setting_threshold: expected 0 to 15, found '16'");
	refused("cc_sw_cong_setting_marking_rate 1 2",
		"o.conf:1: cc_sw_cong_setting_marking_rate: expected 0 to 65535, found '1 2'");
	refused("cc_sw_cong_setting_packet_size",
		"o.conf:1: cc_sw_cong_setting_packet_size: expected 0 to 255, found ''");
	refused("cc_sw_cong_setting_victim_mask 0x",
		"o.conf:1: cc_sw_cong_setting_victim_mask: expected a port mask such as 0x00fe, "
		"found '0x'");
	refused("cc_ca_cong_setting_ccti_increase 16 1",
		"o.conf:1: cc_ca_cong_setting_ccti_increase: expected a service level from 0 to "
		"15 and a value from 0 to 127, found '16 1'");
	refused("cc_ca_cong_setting_ccti_timer 3 0",
		"o.conf:1: cc_ca_cong_setting_ccti_timer must be from 1 to 65535, not '0'");
	refused("cc_cct 4:1",
		"o.conf:1: cc_cct: expected up to 128 entries SHIFT:MULTIPLIER separated by commas, up to 3 and 16383, found '4:1'");
	refused("cc_ca_key 1",
		"o.conf:1: cc_ca_key: expected a key of OpenSM's congestion control");
}

UNIT_TEST(a_table_has_at_most_its_entries)
{
	char text[8 + 4 * (CC_TABLE_ENTRIES + 1) + 1];
	size_t used = (size_t)sprintf(text, "cc_cct 0:1");
	struct error error;
	struct opensm_cc out;

	for (unsigned i = 1; i < CC_TABLE_ENTRIES; i++)
		used += (size_t)sprintf(text + used, ",0:1");
	assert_int_equal(CC_TABLE_ENTRIES, parse(text).table.count);
	sprintf(text + used, ",0:1");
	assert_int_equal(-EINVAL, opensm_cc_parse(text, strlen(text), "o", &out, &error));
}

UNIT_TEST(what_opensm_or_weft_would_not_do_is_refused)
{
	refused("congestion_control FALSE",
		"o.conf:1: congestion_control: expected TRUE, because OpenSM configures nothing otherwise, found 'FALSE'");
	refused("cc_sw_cong_setting_control_map 0x8",
		"o.conf:1: cc_sw_cong_setting_control_map: expected bits 1 and 3 unset, because "
		"credit starvation is not modelled, found '0x8'");
	refused("cc_ca_cong_setting_ccti_min 0 1\ncc_ca_cong_setting_ccti_min 5 2\n",
		"o.conf:2: cc_ca_cong_setting_ccti_min: the value must be the same as for "
		"service level 0, which is 1, because Weft has one setting for all levels");
}

/* Loads a run file with these keys of nic.iba-cc. Returns NULL if it was refused. */
static struct run_config *configure(const char *keys, const char *set, struct error *error)
{
	char path[] = "/tmp/opensm-XXXXXX", text[512], option[64];
	const char *sets[2] = {set, option};
	struct run_config *config;

	temporary_file(path, whole);
	snprintf(option, sizeof(option), "nic.iba-cc.opensm=%s", path);
	snprintf(text, sizeof(text),
		"weft: run/1\ntopology: \"ring:switches=3,hosts=1\"\nclock: virtual\nswitch: {fecn: 4}\nnic: {iba-cc: "
		"{%s%s%s}}\ntraffic: [{pattern: uniform, from: all, load: 10%%, message: 1KiB}]\n",
		keys, set == NULL ? ", opensm: " : "", set == NULL ? path : "");
	config = run_config_parse(text, strlen(text), "test", sets, set == NULL ? 0 : 2, error);
	unlink(path);
	return config;
}

UNIT_TEST(the_file_fills_in_keys_that_are_not_given)
{
	struct error error = {""};
	OWNED(run_config) *config = configure("increase: 9", NULL, &error);

	assert_non_null(config);
	assert_int_equal(9, config->nic.iba_cc.increase);
	assert_int_equal(4, config->sw.fecn);
	assert_int_equal(15, config->sw.marking_rate);
	assert_int_equal(512, config->sw.mark_bytes);
	assert_int_equal(2, config->nic.iba_cc.limit);
	assert_int_equal(CC_TABLE_LIST, config->nic.iba_cc.table_kind);
	assert_int_equal(RUN_CC_PER_HOST, config->nic.iba_cc.per);
}

UNIT_TEST(on_the_command_line_it_replaces_the_run_files_keys)
{
	struct error error = {""};
	OWNED(run_config) *config = configure("increase: 9", "nic.iba-cc.min=2", &error);

	assert_non_null(config);
	assert_int_equal(2, config->nic.iba_cc.increase);
	assert_int_equal(2, config->nic.iba_cc.min);
	assert_int_equal(12, config->sw.fecn);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Converts a capture to messages of hosts: sender, length and time. */

#include "experiment/workload/packet_file.h"
#include "experiment/workload/run_source.h"
#include "packet_bench.h"
#include "temporary_file.h"

#define HOSTS "full:switches=2,hosts=2"

struct run {
	struct run_config *config;
	struct topology *topology;
	struct run_hosts *hosts;
	struct error error;
	char path[sizeof(CAPTURE_PATH)];
};

/* 10.0.0.7 and .9 exchange packets. .7 also writes to .8, and to all. */
static const struct sent sent[] = {{0, 7, 9, 100}, {1000, 9, 7, 1400}, {4000, 7, 8, 100},
	{6000, 7, 255, 60}, {9000, 9, 7, 200}};
#define COUNT (sizeof(sent) / sizeof(sent[0]))

static void open_run_on(struct run *run, const char *topology, const char *keys, const char *rate)
{
	char text[512];

	strcpy(run->path, CAPTURE_PATH);
	write_capture(run->path, &link_forms[3], sent, COUNT);
	snprintf(text, sizeof(text),
		"weft: run/1\ntopology: \"%s\"\nclock: virtual\nlink: {rate: %s}\n"
		"traffic: [{pattern: pcap, file: %s%s}]\n",
		topology, rate, run->path, keys);
	run->error.text[0] = '\0';
	run->hosts = NULL;
	run->topology = NULL;
	run->config = run_config_parse(text, strlen(text), "r.yaml", NULL, 0, &run->error);
	if (run->config == NULL)
		return;
	run->topology = run_config_open_topology(run->config, &run->error);
	run->hosts = run_config_resolve(run->config, run->topology, &run->error);
	if (run->hosts != NULL)
		assert_int_equal(run_source_check(run->config, run->hosts, &run->error), 0);
}

static void open_run(struct run *run, const char *keys)
{
	open_run_on(run, HOSTS, keys, "10Gbps");
}

static void close_run(struct run *run)
{
	run_hosts_destroy(run->hosts);
	topology_destroy(run->topology);
	run_config_destroy(run->config);
	unlink(run->path);
}
#define run_out_of_scope close_run

static struct traffic *source_of(const struct run *run, uint16_t host)
{
	const struct run_source_place place = {.host = host,
		.hosts = run->topology->hosts,
		.rate_bps = TOPOLOGY_RATE_BPS,
		.from_ps = PS_PER_MS,
		.until_ps = WEFT_TIME_NEVER};
	struct traffic_config config;
	struct traffic *traffic;
	uint16_t *list;

	assert_int_equal(run_source_config(run->config, run->hosts, 0, &place, &config, &list), 0);
	config.frame_bytes = 1000;
	traffic = traffic_create(&config, NULL);
	assert_non_null(traffic);
	free(list);
	return traffic;
}

struct wanted {
	uint64_t at_ns;
	uint16_t to;
	uint32_t bytes;
};

static void assert_sends(
	const struct run *run, uint16_t host, const struct wanted *wanted, unsigned count)
{
	OWNED(traffic) *traffic = source_of(run, host);
	struct traffic_taken taken;
	uint64_t frames = 0;

	for (unsigned i = 0; i < count; i++) {
		assert_true(traffic_take(traffic, WEFT_TIME_NEVER - 1, &taken));
		assert_int_equal(
			taken.message.generated_ps, PS_PER_MS + wanted[i].at_ns * PS_PER_NS);
		assert_int_equal(taken.message.destination, wanted[i].to);
		assert_int_equal(taken.message.bytes, wanted[i].bytes);
		frames += frame_count(wanted[i].bytes, 1000);
	}
	assert_int_equal(taken.next_ps, WEFT_TIME_NEVER);
	assert_false(traffic_take(traffic, WEFT_TIME_NEVER - 1, &taken));
	traffic_count(traffic, PS_PER_S);
	assert_int_equal(traffic_generated_frames(traffic), frames);
}
#define ASSERT_SENDS(run, host, wanted) \
	assert_sends(run, host, wanted, sizeof(wanted) / sizeof((wanted)[0]))

UNIT_TEST(addresses_get_hosts_in_the_order_in_which_they_appear)
{
	static const struct wanted h0[] = {{0, 1, 100}, {4000, 2, 100}, {6000, 3, 60}},
				   h1[] = {{1000, 0, 1400}, {9000, 0, 200}};
	OWNED(run) run;

	open_run(&run, "");
	assert_string_equal(run.error.text, "");
	assert_int_equal(run.hosts->entry[0].from_count, 2);
	ASSERT_SENDS(&run, 0, h0);
	ASSERT_SENDS(&run, 1, h1);
	assert_int_equal(run.hosts->entry[0].packets->end_ps, 9000 * PS_PER_NS);
}

UNIT_TEST(packets_whose_addresses_the_file_does_not_map_are_not_sent_and_counted)
{
	static const struct wanted h3[] = {{0, 0, 100}};
	char map[] = CAPTURE_PATH, keys[64];
	const struct run_packets_count *count;
	struct run run;

	temporary_file(map, "10.0.0.7 h3 # a comment\n10.0.0.9 h0\n");
	snprintf(keys, sizeof(keys), ", by: %s", map);
	open_run(&run, keys);
	assert_string_equal(run.error.text, "");
	ASSERT_SENDS(&run, 3, h3);
	count = &run.hosts->entry[0].packets->count;
	assert_int_equal(count->read, 5);
	assert_int_equal(count->no_source, 0);
	assert_int_equal(count->no_destination, 2);
	close_run(&run);
	unlink(map);
}

UNIT_TEST(packets_to_other_addresses_go_to_the_hosts_of_to)
{
	static const struct wanted h3[] = {{0, 0, 100}, {4000, 1, 100}, {6000, 1, 60}};
	char map[] = CAPTURE_PATH, keys[64];
	struct run run;

	temporary_file(map, "10.0.0.7 h3\n10.0.0.9 h0\n");
	snprintf(keys, sizeof(keys), ", by: %s, to: [h1]", map);
	open_run(&run, keys);
	ASSERT_SENDS(&run, 3, h3);
	assert_int_equal(run.hosts->entry[0].packets->count.no_destination, 0);
	close_run(&run);
	unlink(map);
}

UNIT_TEST(one_host_sends_all_packets)
{
	static const struct wanted h2[] = {
		{0, 1, 100}, {1000, 1, 1400}, {4000, 1, 100}, {6000, 1, 60}, {9000, 1, 200}};
	OWNED(run) run;

	open_run(&run, ", host: h2, to: [h1]");
	ASSERT_SENDS(&run, 2, h2);
}

static void open_rails(struct run *run, const char *port)
{
	char map[] = CAPTURE_PATH, text[32], keys[64];

	snprintf(text, sizeof(text), "10.0.0.7 %s\n", port);
	temporary_file(map, text);
	snprintf(keys, sizeof(keys), ", by: %s, to: [h1]", map);
	open_run_on(run, "rail:rails=2,ports=4,stages=1", keys, "10Gbps");
	unlink(map);
}

UNIT_TEST(a_port_sends_to_ports_that_are_drawn_in_its_plane)
{
	static const struct wanted h0[] = {{0, 1, 100}, {4000, 1, 100}, {6000, 1, 60}};
	OWNED(run) run;

	open_rails(&run, "h0:0");
	assert_string_equal(run.error.text, "");
	ASSERT_SENDS(&run, 0, h0);
}

UNIT_TEST(a_port_sends_to_no_port_that_is_drawn_in_another_plane)
{
	OWNED(run) run;

	open_rails(&run, "h0:1");
	assert_null(run.hosts);
	assert_non_null(strstr(
		run.error.text, "a packet goes from h0:1 to h1:0, but no cables lead there"));
}

/* The mean distance of the five packets is 2250 ns. */
UNIT_TEST(speed_divides_times_and_loops_follow_at_the_mean_distance)
{
	static const struct wanted h1[] = {
		{500, 0, 1400}, {4500, 0, 200}, {6125, 0, 1400}, {10125, 0, 200}};
	OWNED(run) run;

	open_run(&run, ", speed: 2, loop: 2");
	ASSERT_SENDS(&run, 1, h1);
	assert_int_equal(run.hosts->entry[0].packets->end_ps, 10125 * PS_PER_NS);
}

UNIT_TEST(a_load_is_the_mean_of_the_links_of_all_senders)
{
	uint64_t bytes = 1860 + 5 * (FRAME_HEADER_BYTES + FRAME_WIRE_OVERHEAD);
	weft_time period;
	OWNED(run) run;

	open_run(&run, ", load: 25%");
	/* Two senders at 10 Gbps. All packets take one frame of 4 KiB each. */
	period = bytes * 800 * 4 / 2;
	assert_int_equal(run.hosts->entry[0].packets->period_ps, period);
	assert_int_equal(run.hosts->entry[0].packets->end_ps, period * 4 / 5);
}

UNIT_TEST(a_load_for_which_the_capture_would_take_centuries_is_refused)
{
	OWNED(run) run;

	open_run_on(&run, HOSTS, ", host: h0, load: 0.0001%}]\nnic: {mtu: 256B} #", "1kbps");
	assert_null(run.hosts);
	assert_non_null(strstr(run.error.text, "longer than 53 days"));
}

UNIT_TEST(what_cannot_be_replayed_is_refused_with_its_place)
{
	static const struct {
		const char *keys, *said;
	} cases[] = {
		{", host: h9", "'host: h9': topology full-2-2 has no such host"},
		{", host: h0, by: round-robin", "so 'by' is not allowed"},
		{", speed: 2, load: 10%", "'speed' and 'load' both set the pace"},
		{", speed: 0", "the speed must be above 0, such as 0.5"},
		{", speed: 0.001, loop: 1000000000", "longer than 53 days"},
		{", message: 1KiB", "pattern pcap has no 'message'"},
		{", host: h0, to: [h0]", "none of the 5 packets connects two hosts"},
		{", by: /dev/null", "/dev/null: contains no line with an ADDRESS and a HOST"},
	};

	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		OWNED(run) run;

		open_run(&run, cases[i].keys);
		assert_null(run.hosts);
		if (strstr(run.error.text, cases[i].said) == NULL)
			fail_msg("%s: %s", cases[i].keys, run.error.text);
	}
}

UNIT_TEST(a_line_of_addresses_that_is_wrong_is_named)
{
	static const struct {
		const char *text, *said;
	} cases[] = {
		{"10.0.0.7 h3\n10.0.0.7 h1\n",
			":2: address 10.0.0.7 is already in an earlier line"},
		{"10.0.0.7 h9\n", ":1: topology full-2-2 has no host 'h9'"},
		{"10.0.0 h3\n", ":1: '10.0.0': expected an IPv4, IPv6 or Ethernet address"},
		{"\n10.0.0.7\n", ":2: expected ADDRESS HOST"},
	};

	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char map[] = CAPTURE_PATH, keys[64];
		struct run run;

		temporary_file(map, cases[i].text);
		snprintf(keys, sizeof(keys), ", by: %s", map);
		open_run(&run, keys);
		assert_null(run.hosts);
		assert_string_equal(run.error.text + strlen(map), cases[i].said);
		close_run(&run);
		unlink(map);
	}
}

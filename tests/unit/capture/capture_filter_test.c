/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Filters of captures: the text that users write is compared with libpcap on the packet alone, and
 * with the fields from which a frame was built. */

#include "capture/capture_filter.h"

#include <pcap/pcap.h>

#include "base/rng.h"
#include "tap_frames.h"
#include "unit.h"
#include "wire/frame.h"

#define PAYLOAD 300u /* payload of a frame whose packet is truncated */
#define DRAWS   3000

static const char *const expressions[] = {
	"icmp",
	"icmp and host 10.99.0.3",
	"tcp port 5201 or udp portrange 4000-5000",
	"src net 10.99.0.0/24 and not dst host 10.99.0.2",
	"ip[8] > 60 and greater 200",
	"tcp[tcpflags] & (tcp-syn|tcp-fin) != 0",
	"len % 3 = 1 and ip[2:2] / 7 > 9",
};

static struct topology *topology;

static int set_up(void **state)
{
	struct error error;

	topology = topology_generate("rlft:ports=4,stages=2", &error);
	return topology != NULL ? 0 : -1;
}

static int tear_down(void **state)
{
	topology_destroy(topology);
	return 0;
}

static struct capture_filter parse(const char *packets, const char *where)
{
	struct capture_filter filter;
	struct error error = {""};

	if (capture_expression_parse(&filter, packets, where, topology, &error) < 0)
		fail_msg("%s", error.text);
	return filter;
}

static struct frame_fields draw_fields(struct rng *rng, uint8_t *route)
{
	struct frame_fields fields = {
		.kind = (enum frame_kind)(1 + rng_below(rng, FRAME_KIND_COUNT - 1)),
		.source = (uint16_t)rng_below(rng, 8),
		.destination = (uint16_t)rng_below(rng, 8),
		.vc = (uint8_t)rng_below(rng, FRAME_VCS_MAX),
		.message = (uint32_t)rng_next(rng),
		.route = route,
		.route_length = (uint8_t)rng_below(rng, 5),
	};

	memset(route, ROUTE_PORT_BIT, fields.route_length);
	if (fields.kind == FRAME_DATA && rng_below(rng, 2) == 0)
		fields.flags = FRAME_F_LATENCY;
	return fields;
}

UNIT_TEST(a_packet_matches_as_it_does_alone)
{
	static uint8_t frame[FRAME_BYTES_MAX], packet[2048];
	uint8_t route[FRAME_ROUTE_MAX];
	pcap_t *pcap = pcap_open_dead(DLT_RAW, 65535);
	struct rng rng;

	rng_init(&rng, 1, 0, 0);
	for (size_t e = 0; e < sizeof(expressions) / sizeof(expressions[0]); e++) {
		struct capture_filter filter = parse(expressions[e], NULL);
		struct bpf_program program;
		unsigned matched = 0;

		assert_int_equal(
			pcap_compile(pcap, &program, expressions[e], 1, PCAP_NETMASK_UNKNOWN), 0);
		for (unsigned i = 0; i < DRAWS; i++) {
			struct frame_fields fields = draw_fields(&rng, route);
			uint32_t at, bytes = tap_frames_draw_message(&rng, packet, &at),
				     frame_bytes;
			struct pcap_pkthdr alone = {.caplen = bytes - at, .len = bytes - at};
			bool expected;

			frame_bytes = tap_frames_build(frame, &fields, packet, bytes);
			expected = fields.kind == FRAME_DATA &&
				   pcap_offline_filter(&program, &alone, packet + at) != 0;
			assert_int_equal(capture_filter_matches(&filter, NULL, frame, frame_bytes),
				expected);
			matched += expected;
		}
		assert_in_range(matched, 1, DRAWS - 1);
		pcap_freecode(&program);
	}
	pcap_close(pcap);
}

/* The frames of eight hosts' messages arrive interleaved. */
UNIT_TEST(all_frames_of_a_cut_packet_share_the_result_of_the_first)
{
	static uint8_t packet[8][2048], frame[FRAME_BYTES_MAX];
	struct capture_filter filter = parse("icmp or host 10.99.0.1", NULL);
	struct capture_filter alone = filter;
	static struct capture_filter_held held;
	uint32_t bytes[8] = {0}, at[8] = {0};
	struct rng rng;
	unsigned seen[2] = {0};
	bool expected[8];

	memset(&held, 0, sizeof(held));
	rng_init(&rng, 2, 0, 0);
	for (unsigned i = 0; i < DRAWS; i++) {
		unsigned host = (unsigned)rng_below(&rng, 8);
		struct frame_fields fields = {.kind = FRAME_DATA, .source = (uint16_t)host};
		uint32_t part;

		if (at[host] == bytes[host]) {
			bytes[host] = tap_frames_draw_message(&rng, packet[host], &at[host]);
			at[host] = 0;
		}
		part = bytes[host] - at[host] < PAYLOAD ? bytes[host] - at[host] : PAYLOAD;
		fields.message = 77;
		part = tap_frames_build(frame, &fields, packet[host] + at[host], part) > 0 ? part
											   : 0;
		if (at[host] == 0)
			expected[host] = capture_filter_matches(
				&alone, NULL, frame, FRAME_HEADER_BYTES + part);
		at[host] += part;
		assert_int_equal(
			capture_filter_matches(&filter, &held, frame, FRAME_HEADER_BYTES + part),
			expected[host]);
		seen[expected[host]]++;
	}
	assert_true(seen[0] > 100 && seen[1] > 100);
}

UNIT_TEST(words_match_the_fields_that_a_frame_was_built_from)
{
	static const struct {
		const char *where;
		uint16_t kinds, vcs;
		int source, destination;
	} cases[] = {
		{"", 0xFFFF, 0xFFFF, -1, -1},
		{"vc=1", 0xFFFF, 2, -1, -1},
		{"  vc=0,15,3 \t", 0xFFFF, 0x8009, -1, -1},
		{"kind=data", 2, 0xFFFF, -1, -1},
		{"kind=data,credit,clock", 1 << 1 | 1 << 2 | 1 << 10, 0xFFFF, -1, -1},
		{"src=h3 dst=h5", 0xFFFF, 0xFFFF, 3, 5},
		{"vc=1,2,3,4 src=h0 kind=data,ack", 1 << 1 | 1 << 4, 30, 0, -1},
		{"kind=hello,cn dst=h7 dropped", 1 << 5 | 1 << 6, 0xFFFF, -1, 7},
		{"kind=data kind=ack", 0, 0xFFFF, -1, -1},
	};
	static uint8_t frame[FRAME_BYTES_MAX];
	uint8_t route[FRAME_ROUTE_MAX];
	struct rng rng;

	rng_init(&rng, 3, 0, 0);
	for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]); c++) {
		struct capture_filter filter = parse(NULL, cases[c].where);

		assert_int_equal(filter.dropped, strstr(cases[c].where, "dropped") != NULL);
		for (unsigned i = 0; i < DRAWS; i++) {
			struct frame_fields fields = draw_fields(&rng, route);
			uint32_t bytes = tap_frames_build(frame, &fields, frame, 0);
			bool expected = (cases[c].kinds >> fields.kind & 1) != 0 &&
					(cases[c].vcs >> fields.vc & 1) != 0 &&
					(cases[c].source < 0 || cases[c].source == fields.source) &&
					(cases[c].destination < 0 ||
						cases[c].destination == fields.destination);

			assert_int_equal(
				capture_filter_matches(&filter, NULL, frame, bytes), expected);
		}
	}
}

UNIT_TEST(a_frame_that_is_too_short_matches_no_condition)
{
	static const uint8_t frame[FRAME_HEADER_BYTES];
	struct capture_filter every = parse(NULL, "dropped"), some = parse(NULL, "vc=0"),
			      packets = parse("ip", NULL);

	for (uint32_t bytes = 0; bytes < FRAME_HEADER_BYTES; bytes++) {
		assert_true(capture_filter_matches(&every, NULL, frame, bytes));
		assert_false(capture_filter_matches(&some, NULL, frame, bytes));
		assert_false(capture_filter_matches(&packets, NULL, frame, bytes));
	}
}

UNIT_TEST(a_filter_survives_its_text_form_and_damage_to_it_is_refused)
{
	char text[CAPTURE_FILTER_TEXT], damaged[CAPTURE_FILTER_TEXT];
	struct rng rng;

	rng_init(&rng, 4, 0, 0);
	for (size_t e = 0; e < sizeof(expressions) / sizeof(expressions[0]); e++) {
		struct capture_filter filter = parse(expressions[e], "src=h3 dropped vc=2"), back;

		filter.snap_bytes = 96;
		memset(filter.text, 0, sizeof(filter.text)); /* for the file alone */
		capture_filter_write(&filter, text);
		assert_true(capture_filter_read(&back, text));
		assert_memory_equal(&back, &filter, sizeof(filter));
		for (unsigned i = 0; i < DRAWS; i++) {
			strcpy(damaged, text);
			damaged[rng_below(&rng, strlen(text))] =
				"0123456789abcdefgX ,"[rng_below(&rng, 20)];
			if (i % 2 == 0)
				damaged[rng_below(&rng, strlen(text))] = '\0';
			if (capture_filter_read(&back, damaged)) {
				char again[CAPTURE_FILTER_TEXT];

				capture_filter_write(&back, again);
				assert_string_equal(again, damaged);
			}
		}
	}
	assert_false(capture_filter_read(&(struct capture_filter){0}, ""));
}

UNIT_TEST(an_error_has_the_words_of_libpcap_and_the_place)
{
	static const struct {
		const char *packets, *where, *text;
	} cases[] = {
		{"icmp and hots 10.99.0.3", NULL,
			"at character 10: 'hots'\n  icmp and hots 10.99.0.3\n           ^"},
		{"icmp and", NULL,
			"--filter 'icmp and': syntax error, at the end\n  icmp and\n          ^"},
		{"(tcp or udp) prot 7", NULL, "at character 14: 'prot'"},
		{"host 10.99.0.3 or ether host 1:2:3:4:5:6", NULL, "ethernet addresses supported"},
		{"tcp port 70000", NULL, "port"},
		{NULL, "vc=1 kind=datum", "expected kinds of data, credit"},
		{NULL, "vc=1 kind=datum", "at character 6: 'kind=datum'"},
		{NULL, "vc=16", "expected VCs from 0 to 15"},
		{NULL, "vc=", "expected VCs"},
		{NULL, "src=h8", "--where 'src=h8': expected a host name, at character 1"},
		{NULL, "kind=data  droped",
			"expected vc=, kind=, src=, dst= or dropped, at character 12"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct capture_filter filter;
		struct error error = {""};

		assert_int_equal(capture_expression_parse(&filter, cases[i].packets, cases[i].where,
					 topology, &error),
			-EINVAL);
		if (strstr(error.text, cases[i].text) == NULL)
			fail_msg("'%s' lacks '%s'", error.text, cases[i].text);
	}
}

UNIT_TEST(lists_of_any_length_are_read_to_their_end)
{
	static const char list[] =
		"kind=credit,arn,ack,cn,hello,scout,mapper,flow,clock,credit,arn,ack,cn,hello,";
	struct capture_filter filter;
	char text[2000];
	struct error error = {""};

	snprintf(text, sizeof(text), "%sdata", list);
	filter = parse(NULL, text);
	assert_true((filter.kinds >> FRAME_DATA & 1) != 0);
	snprintf(text, sizeof(text), "%sdatum", list);
	assert_int_equal(capture_expression_parse(&filter, NULL, text, topology, &error), -EINVAL);
	snprintf(text, sizeof(text), "vc=%01500d", 1);
	assert_int_equal(capture_expression_parse(&filter, NULL, text, topology, &error), -EINVAL);
	assert_non_null(strstr(error.text, "at most 1024 characters"));
}

UNIT_TEST(a_program_that_is_too_long_is_refused)
{
	char text[1000] = "port 1";
	struct capture_filter filter;
	struct error error = {""};

	for (unsigned i = 2; i < 40; i++)
		snprintf(text + strlen(text), 20, " or port %u", i * 17);
	assert_int_equal(capture_expression_parse(&filter, text, NULL, topology, &error), -EINVAL);
	assert_non_null(strstr(error.text, "BPF instructions; at most 48 are allowed"));
}

UNIT_MAIN(set_up, tear_down)

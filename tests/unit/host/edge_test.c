/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "host/edge.h"

#include <errno.h>
#include <netinet/in.h>

#include "unit.h"
#include "wire/big_endian.h"
#include "wire/frame.h"

#define HOST  2
#define HOSTS 300
#define MTU   600

static const struct edge_config good = {.host = HOST,
	.hosts = HOSTS,
	.base = EDGE_BASE_DEFAULT,
	.mtu_bytes = MTU,
	.reassemblies = 2};

static const struct virtio_net_hdr plain;

/* An IPv4 packet of 'bytes' in a frame for 'host'. */
static uint32_t make_ip(uint8_t *frame, uint16_t host, uint16_t bytes)
{
	memset(frame, 0, EDGE_ETHERNET_BYTES + (bytes < EDGE_IPV4_MIN ? EDGE_IPV4_MIN : bytes));
	frame_host_mac(host, frame);
	frame_host_mac(HOST, frame + 6);
	frame[12] = 0x08;
	frame[14] = 0x45;
	frame[16] = (uint8_t)(bytes >> 8);
	frame[17] = (uint8_t)bytes;
	return EDGE_ETHERNET_BYTES + bytes;
}

static void make_arp(uint8_t frame[EDGE_ARP_BYTES], uint32_t target)
{
	static const uint8_t start[] = {0x08, 0x06, 0, 1, 8, 0, 6, 4, 0, 1};

	memset(frame, 0xFF, 6);
	frame_host_mac(HOST, frame + 6);
	memcpy(frame + 12, start, sizeof(start));
	frame_host_mac(HOST, frame + 22);
	memcpy(frame + 28, (const uint8_t[]){10, 87, 0, 3}, 4);
	memset(frame + 32, 0, 6);
	for (unsigned i = 0; i < 4; i++)
		frame[38 + i] = (uint8_t)(target >> (24 - 8 * i));
}

UNIT_TEST(addresses_of_a_list_are_free_and_hosts_without_one_have_none)
{
	uint32_t address[HOSTS] = {[HOST] = 0x0a000001, [7] = 0xac1e054d, [299] = 0x0a570001};
	struct edge_config config = good;
	OWNED(edge) *edge;

	config.address = address;
	edge = edge_create(&config);
	for (uint16_t host = 0; host < HOSTS; host++) {
		assert_int_equal(edge_address(edge, host), address[host]);
		if (address[host] != 0)
			assert_int_equal(edge_host_of(edge, address[host]), host);
	}
	assert_int_equal(edge_host_of(edge, 0), FRAME_HOST_NONE);
	assert_int_equal(edge_host_of(edge, EDGE_BASE_DEFAULT + 2), FRAME_HOST_NONE);
}

UNIT_TEST(addresses_follow_from_host_numbers)
{
	OWNED(edge) *edge = edge_create(&good);

	assert_int_equal(edge_address(edge, 0), 0x0a570001);
	assert_int_equal(edge_address(edge, 299), 0x0a57012c);
	for (uint16_t host = 0; host < HOSTS; host++)
		assert_int_equal(edge_host_of(edge, edge_address(edge, host)), host);
	assert_int_equal(edge_host_of(edge, EDGE_BASE_DEFAULT), FRAME_HOST_NONE);
	assert_int_equal(edge_host_of(edge, EDGE_BASE_DEFAULT + 1 + HOSTS), FRAME_HOST_NONE);
}

UNIT_TEST(a_wrong_configuration_is_refused)
{
	struct edge_config bad = good;

	bad.host = HOSTS;
	assert_null(edge_create(&bad));
	bad = good;
	bad.base = 0x0a570100;
	assert_null(edge_create(&bad));
	bad = good;
	bad.hosts = UINT16_MAX;
	assert_null(edge_create(&bad));
	bad = good;
	bad.mtu_bytes = 65536;
	assert_null(edge_create(&bad));
	assert_int_equal(errno, EINVAL);
}

UNIT_TEST(arp_for_a_host_is_answered_with_its_address)
{
	OWNED(edge) *edge = edge_create(&good);
	uint8_t frame[EDGE_ARP_BYTES], mac[6];
	struct edge_action action;

	make_arp(frame, EDGE_BASE_DEFAULT + 1 + 257);
	edge_from_tap(edge, &plain, frame, sizeof(frame), &action);
	assert_int_equal(action.verdict, EDGE_REPLY);
	assert_memory_equal(action.reply, frame + 6, 6); /* to the sender of the request */
	frame_host_mac(257, mac);
	assert_memory_equal(action.reply + 6, mac, 6);
	assert_int_equal(action.reply[21], 2);
	assert_memory_equal(action.reply + 22, mac, 6);
	assert_memory_equal(action.reply + 28, frame + 38, 4);
	assert_memory_equal(action.reply + 32, frame + 22, 10);
}

UNIT_TEST(arp_for_nobody_or_for_itself_is_not_answered)
{
	OWNED(edge) *edge = edge_create(&good);
	uint8_t frame[EDGE_ARP_BYTES];
	struct edge_action action;

	make_arp(frame, edge_address(edge, HOST));
	edge_from_tap(edge, &plain, frame, sizeof(frame), &action);
	assert_int_equal(action.verdict, EDGE_DROP);
	make_arp(frame, EDGE_BASE_DEFAULT + 1 + HOSTS);
	edge_from_tap(edge, &plain, frame, sizeof(frame), &action);
	assert_int_equal(action.verdict, EDGE_DROP);
	make_arp(frame, edge_address(edge, 5));
	frame[21] = 2; /* an answer */
	edge_from_tap(edge, &plain, frame, sizeof(frame), &action);
	assert_int_equal(action.verdict, EDGE_DROP);
	frame[21] = 1;
	edge_from_tap(edge, &plain, frame, sizeof(frame) - 1, &action);
	assert_int_equal(action.verdict, EDGE_DROP);
	assert_int_equal(edge_counters(edge)[EDGE_DROP_ARP], 4);
}

/* To host 299. */
static void expect_message(uint8_t *frame, uint32_t padded_bytes, uint32_t packet_bytes)
{
	OWNED(edge) *edge = edge_create(&good);
	struct edge_action action;

	edge_from_tap(edge, &plain, frame, padded_bytes, &action);
	assert_int_equal(action.verdict, EDGE_MESSAGE);
	assert_int_equal(action.destination, 299);
	assert_int_equal(action.bytes, packet_bytes);
	assert_ptr_equal(action.message, frame + EDGE_ETHERNET_BYTES);
}

UNIT_TEST(an_ip_packet_becomes_a_message_without_its_padding)
{
	uint8_t frame[700];

	make_ip(frame, 299, 40);
	expect_message(frame, 60, 40);
}

static void make_ip6(uint8_t *frame, uint16_t to, uint16_t payload)
{
	make_ip(frame, to, 40);
	frame[12] = 0x86;
	frame[13] = 0xDD;
	frame[14] = 0x60;
	put16(frame + 18, payload);
}

UNIT_TEST(an_ipv6_packet_is_a_message)
{
	uint8_t frame[700];

	make_ip6(frame, 299, 8);
	expect_message(frame, 70, 48);
}

/* Neighbour discovery uses such a packet. */
UNIT_TEST(a_packet_to_a_group_is_for_all_members)
{
	static const uint32_t address[] = {0, 7, 8, 0, 9};
	const struct edge_config config = {
		.host = 2, .hosts = 5, .address = address, .mtu_bytes = 1500};
	OWNED(edge) *edge = edge_create(&config);
	struct edge_action action;
	uint8_t frame[700];

	make_ip6(frame, 1, 8);
	memset(frame, 0x33, 2);
	edge_from_tap(edge, &plain, frame, 62, &action);
	assert_int_equal(action.verdict, EDGE_GROUP);
	assert_int_equal(edge_member(edge, 0), 1);
	assert_int_equal(edge_member(edge, 2), 4);
	assert_int_equal(edge_member(edge, 5), FRAME_HOST_NONE);
}

UNIT_TEST(what_is_no_packet_for_a_host_is_counted_and_dropped)
{
	OWNED(edge) *edge = edge_create(&good);
	struct edge_action action;
	uint8_t frame[700];

#define DROPPED(bytes, reason)                              \
	edge_from_tap(edge, &plain, frame, bytes, &action); \
	assert_int_equal(action.verdict, EDGE_DROP);        \
	assert_int_equal(edge_counters(edge)[reason], 1);   \
	edge_counters(edge)[reason] = 0
	make_ip(frame, HOSTS, 40);
	DROPPED(54, EDGE_DROP_UNKNOWN_HOST);
	make_ip(frame, HOST, 40);
	DROPPED(54, EDGE_DROP_UNKNOWN_HOST);
	make_ip(frame, 5, 40);
	frame[12] = 0x88;
	DROPPED(54, EDGE_DROP_ETHERTYPE);
	make_ip6(frame, 5, 8);
	DROPPED(61, EDGE_DROP_SHORT);
	make_ip6(frame, 5, 8);
	frame[14] = 0x45;
	DROPPED(62, EDGE_DROP_SHORT);
	make_ip(frame, 5, 40);
	frame[14] = 0x65;
	DROPPED(54, EDGE_DROP_SHORT);
	make_ip(frame, 5, 40);
	frame[14] = 0x44; /* a header of 16 bytes */
	DROPPED(54, EDGE_DROP_SHORT);
	make_ip(frame, 5, 40);
	DROPPED(53, EDGE_DROP_SHORT);
	make_ip(frame, 5, 19);
	DROPPED(60, EDGE_DROP_SHORT);
	make_ip(frame, 5, MTU + 1);
	DROPPED(EDGE_ETHERNET_BYTES + MTU + 1, EDGE_DROP_TOO_LONG);
	DROPPED(13, EDGE_DROP_SHORT);
#undef DROPPED
}

/* Delivers a part of the packet in 'packet'. */
static bool deliver(struct edge *edge, uint16_t source, const uint8_t *packet, uint32_t of,
	uint32_t offset, uint32_t bytes, struct edge_packet *out)
{
	struct nic_delivery delivery = {.source = source,
		.first = offset == 0,
		.tail = offset + bytes == of,
		.offset = offset,
		.payload = packet + offset,
		.bytes = bytes};

	return edge_deliver(edge, &delivery, out);
}

UNIT_TEST(a_message_becomes_the_packet_that_it_was)
{
	OWNED(edge) *edge = edge_create(&good);
	struct edge_packet out;
	uint8_t frame[700], mac[6];

	make_ip(frame, HOST, 500);
	for (unsigned i = 20; i < 500; i++)
		frame[EDGE_ETHERNET_BYTES + i] = (uint8_t)i;
	for (uint32_t part = 100; part <= 500; part += 50) {
		for (uint32_t at = 0; at < 500; at += part) {
			uint32_t bytes = 500 - at < part ? 500 - at : part;

			assert_int_equal(
				deliver(edge, 7, frame + EDGE_ETHERNET_BYTES, 500, at, bytes, &out),
				at + bytes == 500);
		}
		assert_int_equal(out.bytes, 500);
		assert_memory_equal(out.packet, frame + EDGE_ETHERNET_BYTES, 500);
	}
	frame_host_mac(HOST, mac);
	assert_memory_equal(out.ethernet, mac, 6);
	frame_host_mac(7, mac);
	assert_memory_equal(out.ethernet + 6, mac, 6);
	assert_int_equal(out.ethernet[12], 0x08);
	assert_int_equal(out.ethernet[13], 0x00);
}

UNIT_TEST(messages_of_several_sources_do_not_mix)
{
	OWNED(edge) *edge = edge_create(&good);
	uint8_t a[700], b[700];
	struct edge_packet out;

	make_ip(a, HOST, 200);
	make_ip(b, HOST, 200);
	memset(a + 100, 0xAA, 100);
	memset(b + 100, 0xBB, 100);
	assert_false(deliver(edge, 4, a + 14, 200, 0, 100, &out));
	assert_false(deliver(edge, 5, b + 14, 200, 0, 100, &out));
	assert_true(deliver(edge, 4, a + 14, 200, 100, 100, &out));
	assert_memory_equal(out.packet, a + 14, 200);
	assert_true(deliver(edge, 5, b + 14, 200, 100, 100, &out));
	assert_memory_equal(out.packet, b + 14, 200);
}

UNIT_TEST(a_message_that_never_ends_does_not_spoil_the_next)
{
	OWNED(edge) *edge = edge_create(&good);
	struct edge_packet out;
	uint8_t frame[700];

	make_ip(frame, HOST, 200);
	for (unsigned i = 0; i < 10; i++)
		assert_false(deliver(edge, 4, frame + 14, 200, 0, 100, &out));
	assert_int_equal(edge_counters(edge)[EDGE_DROP_INCOMPLETE], 9);
	assert_true(deliver(edge, 4, frame + 14, 200, 100, 100, &out));
	assert_true(deliver(edge, 4, frame + 14, 200, 0, 200, &out));
}

UNIT_TEST(too_many_messages_at_a_time_cost_a_message_not_a_buffer)
{
	OWNED(edge) *edge = edge_create(&good);
	struct edge_packet out;
	uint8_t frame[700];

	make_ip(frame, HOST, 200);
	for (unsigned round = 0; round < 3; round++) {
		for (uint16_t source = 10; source < 13; source++)
			assert_false(deliver(edge, source, frame + 14, 200, 0, 100, &out));
		for (uint16_t source = 10; source < 13; source++)
			assert_int_equal(deliver(edge, source, frame + 14, 200, 100, 100, &out),
				source < 12);
		assert_int_equal(edge_counters(edge)[EDGE_DROP_NO_BUFFER], round + 1);
	}
}

UNIT_TEST(a_message_that_is_too_long_or_no_packet_is_dropped)
{
	OWNED(edge) *edge = edge_create(&good);
	struct edge_packet out;
	uint8_t frame[1400];

	make_ip(frame, HOST, 1200);
	assert_false(deliver(edge, 4, frame + 14, 1200, 0, 500, &out));
	assert_false(deliver(edge, 4, frame + 14, 1200, 500, 500, &out));
	assert_false(deliver(edge, 4, frame + 14, 1200, 1000, 200, &out));
	assert_int_equal(edge_counters(edge)[EDGE_DROP_OVERSIZE], 1);
	make_ip(frame, HOST, 100);
	assert_false(deliver(edge, 4, frame + 14, 99, 0, 99, &out)); /* says 100 */
	assert_false(deliver(edge, 4, frame, 100, 0, 100, &out));
	assert_false(deliver(edge, 4, frame + 14, 0, 0, 0, &out));
	assert_int_equal(edge_counters(edge)[EDGE_DROP_NOT_IP], 3);
}

/* Returns the sum of the big-endian words of 'bytes' bytes, as in RFC 1071. */
static uint32_t sum_words(const uint8_t *at, uint32_t bytes)
{
	uint32_t sum = 0;

	for (uint32_t i = 0; i < bytes; i++)
		sum += (uint32_t)at[i] << (i % 2 == 0 ? 8 : 0);
	while (sum > UINT16_MAX)
		sum = (sum >> 16) + (sum & UINT16_MAX);
	return sum;
}

UNIT_TEST(a_checksum_that_the_kernel_left_is_completed)
{
	OWNED(edge) *edge = edge_create(&good);
	struct virtio_net_hdr offload = {.flags = VIRTIO_NET_HDR_F_NEEDS_CSUM,
		.csum_start = EDGE_ETHERNET_BYTES + 20,
		.csum_offset = 6};
	struct edge_action action;
	uint8_t frame[700];

	for (uint16_t bytes = 28; bytes < 100; bytes++) {
		uint32_t partial, expected;

		make_ip(frame, 5, bytes);
		for (uint16_t i = 20; i < bytes; i++)
			frame[14 + i] = (uint8_t)(i * bytes);
		partial = sum_words(frame + 34, bytes - 20u);
		expected = ~partial & UINT16_MAX;
		edge_from_tap(edge, &offload, frame, EDGE_ETHERNET_BYTES + bytes, &action);
		assert_int_equal(action.verdict, EDGE_MESSAGE);
		assert_int_equal(action.bytes, bytes);
		assert_int_equal(get16(action.message + 26), expected != 0 ? expected : UINT16_MAX);
	}
	make_ip(frame, 5, 28); /* all zeros, but a checksum of 0 would mean 'none' */
	memset(frame + 34, 0xFF, 8);
	edge_from_tap(edge, &offload, frame, EDGE_ETHERNET_BYTES + 28, &action);
	assert_int_equal(get16(action.message + 26), UINT16_MAX);
}

/* A TCP segment that must be split into pieces of 100 bytes. */
static struct virtio_net_hdr make_segment(uint8_t *frame, bool six)
{
	uint16_t tcp = EDGE_ETHERNET_BYTES + (six ? EDGE_IPV6_MIN : 24);

	if (six)
		make_ip6(frame, HOST, 500);
	else
		make_ip(frame, HOST, 540);
	if (!six)
		frame[14] = 0x46; /* with options */
	frame[23] = six ? frame[23] : IPPROTO_TCP;
	for (unsigned i = tcp; i < 554; i++)
		frame[i] = (uint8_t)i;
	return (struct virtio_net_hdr){.flags = VIRTIO_NET_HDR_F_NEEDS_CSUM,
		.gso_type = six ? VIRTIO_NET_HDR_GSO_TCPV6 : VIRTIO_NET_HDR_GSO_TCPV4,
		.hdr_len = (uint16_t)(tcp + 20),
		.gso_size = 100,
		.csum_start = tcp,
		.csum_offset = 16};
}

UNIT_TEST(a_long_segment_arrives_with_the_description_that_it_had)
{
	struct edge_config config = good;
	OWNED(edge) *edge = edge_create(&good);
	OWNED(edge) *sender = NULL;

	config.host = 7;
	sender = edge_create(&config);
	for (unsigned six = 0; six < 2; six++) {
		uint8_t frame[700], was[700];
		struct virtio_net_hdr offload = make_segment(frame, six);
		struct edge_action action;
		struct edge_packet out;

		memcpy(was, frame, 554);
		edge_from_tap(sender, &offload, frame, 554, &action);
		assert_int_equal(action.verdict, EDGE_MESSAGE);
		assert_int_equal(action.bytes, SEGMENT_BYTES + 540);
		assert_false(deliver(edge, 7, action.message, action.bytes, 0, 300, &out));
		assert_true(deliver(
			edge, 7, action.message, action.bytes, 300, action.bytes - 300, &out));
		assert_int_equal(out.bytes, 540);
		assert_memory_equal(out.packet, was + EDGE_ETHERNET_BYTES, 540);
		assert_memory_equal(out.ethernet, was, 6);
		assert_memory_equal(out.ethernet + 12, was + 12, 2);
		assert_memory_equal(&out.offload, &offload, sizeof(offload));
	}
}

UNIT_TEST(a_description_that_does_not_fit_the_frame_is_dropped)
{
	OWNED(edge) *edge = edge_create(&(struct edge_config){
		.host = 7, .hosts = HOSTS, .mtu_bytes = MTU, .base = EDGE_BASE_DEFAULT});
	struct edge_action action;
	uint8_t frame[700];

#define DROPPED(field, value)                                               \
	do {                                                                \
		struct virtio_net_hdr offload = make_segment(frame, false); \
                                                                            \
		offload.field = value;                                      \
		edge_from_tap(edge, &offload, frame, 554, &action);         \
		assert_int_equal(action.verdict, EDGE_DROP);                \
	} while (0)
	DROPPED(flags, 0);
	DROPPED(gso_size, 0);
	DROPPED(csum_offset, 6);
	DROPPED(csum_start, 13);
	DROPPED(csum_start, 36);
	DROPPED(csum_start, 554 - 17);
	DROPPED(csum_start, UINT16_MAX);
#undef DROPPED
	assert_int_equal(edge_counters(edge)[EDGE_DROP_SHORT], 7);
}

UNIT_TEST(a_segment_with_a_bad_header_is_dropped)
{
	OWNED(edge) *edge = edge_create(&good);
	struct edge_packet out;
	uint8_t frame[700];

	make_segment(frame, false);
#define DROPPED(words, size, bytes)                                                         \
	memcpy(frame + 10, (const uint8_t[]){SEGMENT_MARK, words, (size) >> 8, (size)}, 4); \
	assert_false(deliver(edge, 4, frame + 10, bytes, 0, bytes, &out))
	DROPPED(6, 0, 544);
	DROPPED(5, 100, 544); /* in the options */
	DROPPED(131, 100, 544);
	DROPPED(6, 100, 543);
	DROPPED(6, 100, 4);
	frame[23] = IPPROTO_UDP;
	DROPPED(6, 100, 544);
	make_segment(frame, true);
	DROPPED(9, 100, 544);
	DROPPED(131, 100, 544);
#undef DROPPED
	assert_int_equal(edge_counters(edge)[EDGE_DROP_NOT_IP], 8);
}

UNIT_TEST(names_of_all_counters_are_there)
{
	for (unsigned i = 0; i < EDGE_COUNTER_COUNT; i++)
		assert_non_null(edge_counter_name(i));
	assert_null(edge_counter_name(EDGE_COUNTER_COUNT));
}

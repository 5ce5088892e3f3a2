/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Hosts whose data frames have tags, and an attacker between them without the key. */

#include "nic_pair.h"

static const struct link_key link_key = {{7}};
static struct data_tag_key key;

static struct end *begin(struct end *ends)
{
	data_tag_derive(&key, &link_key);
	for (uint16_t host = 0; host < 2; host++) {
		/* In later lives, so flows must be started. */
		struct nic_config config = end_config(&ends[host], host, 40u + host);

		config.data_key = &key;
		end_begin(&ends[host], &config);
	}
	return ends;
}

static void end_both(struct end *ends)
{
	end_stop(&ends[0]);
	end_stop(&ends[1]);
}

static int send_bytes(struct end *end, uint16_t to, uint32_t bytes)
{
	static const uint8_t payload[256];
	const struct nic_message message = {.destination = to, .bytes = bytes, .payload = payload};

	return nic_send(end->nic, &message, end->now);
}

/* A different payload, with both CRCs corrected. */
static void forge_payload(struct box *box)
{
	const struct frame_header *header = frame_header_const(box->frame);
	struct frame_fields fields = {.kind = FRAME_DATA,
		.source = ntohs(header->source_be),
		.destination = ntohs(header->destination_be),
		.flags = header->flags,
		.message = ntohl(header->message_be),
		.sequence = ntohl(header->sequence_be),
		.payload_bytes = ntohs(header->payload_bytes_be)};
	uint8_t tag[DATA_TAG_BYTES];
	unsigned end = frame_payload_offset(header) + fields.payload_bytes;

	memcpy(tag, box->frame + end, sizeof(tag));
	box->frame[frame_payload_offset(header)] ^= 1;
	frame_build(box->frame, &fields);
	memcpy(box->frame + end, tag, sizeof(tag));
}

UNIT_TEST(data_with_tags_arrives_whatever_its_size)
{
	static const uint32_t sizes[] = {1, 5, 6, 13, 14, PAIR_MTU, 3 * PAIR_MTU + 1};
	struct end ends[2];

	begin(ends);
	for (unsigned i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		assert_int_equal(send_bytes(&ends[0], 1, sizes[i]), 0);
		assert_int_equal(send_bytes(&ends[1], 0, sizes[i]), 0);
		pair_exchange(&ends[0], &ends[1]);
	}
	for (unsigned host = 0; host < 2; host++) {
		assert_int_equal(ends[host].tails, sizeof(sizes) / sizeof(sizes[0]));
		assert_int_equal(end_count(&ends[host], NIC_DISCARD_DATA_TAG), 0);
	}
	end_both(ends);
}

/* The tag takes credits and bytes. */
UNIT_TEST(a_tagged_frame_is_eight_bytes_longer)
{
	struct end ends[2];
	struct box box;

	begin(ends);
	assert_int_equal(send_bytes(&ends[0], 1, PAIR_MTU), 0);
	pair_begin(&ends[0], &ends[1]);
	end_expect(&ends[0], &box, 0);
	assert_int_equal(box.packet.bytes, FRAME_HEADER_BYTES + PAIR_MTU + DATA_TAG_BYTES);
	assert_int_equal(box.packet.blocks, frame_blocks(box.packet.bytes));
	end_both(ends);
}

/* The next frame of the flow, from an attacker who has read it. It is not delivered and starts no
 * flow, and the genuine frame is still accepted. */
UNIT_TEST(forged_data_is_counted_and_changes_nothing)
{
	struct end ends[2];
	struct box box, forged;

	begin(ends);
	assert_int_equal(send_bytes(&ends[0], 1, 10), 0);
	pair_begin(&ends[0], &ends[1]);
	end_expect(&ends[0], &box, 0);
	for (unsigned known = 0; known < 2; known++) {
		forged = box;
		forge_payload(&forged);
		assert_true(end_give(&ends[1], &forged));
		assert_int_equal(end_count(&ends[1], NIC_DISCARD_DATA_TAG), known + 1);
		assert_int_equal(ends[1].delivered, known);
		assert_int_equal(ends[1].nic->rx[0].known, known);
		assert_true(end_give(&ends[1], &box));
		assert_int_equal(ends[1].delivered, known + 1);
		assert_int_equal(send_bytes(&ends[0], 1, 10), 0);
		end_expect(&ends[0], &box, known + 1);
	}
	end_both(ends);
}

UNIT_TEST(data_without_a_tag_is_not_delivered)
{
	struct end ends[2];
	struct box box;

	begin(ends);
	assert_int_equal(send_bytes(&ends[0], 1, PAIR_MTU), 0);
	pair_begin(&ends[0], &ends[1]);
	end_expect(&ends[0], &box, 0);
	box.packet.bytes -= DATA_TAG_BYTES;
	assert_true(end_give(&ends[1], &box));
	assert_int_equal(end_count(&ends[1], NIC_DISCARD_DATA_TAG), 1);
	assert_int_equal(ends[1].delivered, 0);
	end_both(ends);
}

/* Its tags belong to the earlier life. An offer that names a frame in flight needs no tag. */
UNIT_TEST(a_receiver_that_starts_again_is_met_at_once)
{
	struct end ends[2];
	struct nic_config config;
	struct box box;

	begin(ends);
	assert_int_equal(send_bytes(&ends[0], 1, 10), 0);
	pair_exchange(&ends[0], &ends[1]);
	end_wait(&ends[1], PS_PER_MS);
	pair_exchange(&ends[0], &ends[1]);
	end_stop(&ends[1]);
	config = end_config(&ends[1], 1, 99);
	config.data_key = &key;
	end_begin(&ends[1], &config);
	assert_int_equal(send_bytes(&ends[0], 1, 10), 0);
	assert_true(end_take(&ends[0], &box));
	assert_true(end_give(&ends[1], &box));
	assert_int_equal(end_count(&ends[1], NIC_DISCARD_OLD_FLOW), 1);
	pair_exchange(&ends[0], &ends[1]);
	assert_int_equal(ends[1].delivered, 1);
	assert_int_equal(end_count(&ends[1], NIC_DISCARD_DATA_TAG), 0);
	end_both(ends);
}

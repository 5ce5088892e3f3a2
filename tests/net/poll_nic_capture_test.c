/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Contents of a capture of an interface's port. */

#include "nic_neighbours.h"

#include <unistd.h>

#include "capture/capture.h"
#include "measure/capture_reason.h"
#include "pcapng_walk.h"

#define SLOTS      (1u << 15) /* more than the frames, however slow the writer is */
#define SNAP_BYTES 64u
#define FILE_BYTES (1u << 23)
#define COMMENT    1u /* options of a packet block */
#define FLAGS      2u

/* A bench with a capture of the first side's port. */
struct captured {
	struct bench bench;
	struct capture_manager *manager;
	char path[32];
	uint8_t *file; /* as read back */
};

/* A frame of the capture. */
struct seen {
	uint64_t time;
	enum pcapng_direction direction;
	uint8_t kind;
	uint32_t bytes;
	char comment[PCAPNG_COMMENT_MAX];
};

static void start_capture(struct captured *captured)
{
	const struct capture_options options = {
		.slots = SLOTS, .snap_bytes = SNAP_BYTES, .reason = capture_reason_text};
	struct error error = {""};
	int fd;

	start(&captured->bench);
	strcpy(captured->path, "/tmp/weft-nic-capture-XXXXXX");
	fd = mkstemp(captured->path);
	assert_true(fd >= 0);
	close(fd);
	captured->manager = capture_manager_create(&options, &error);
	assert_non_null(captured->manager);
	assert_int_equal(
		capture_manager_add_port(captured->manager, &captured->bench.side[0].port), 0);
	if (capture_start(captured->manager, "h0:0", captured->path, NULL, &error) < 0)
		fail_msg("%s", error.text);
}

static struct walk end_capture(struct captured *captured)
{
	struct capture_counts counts;
	size_t bytes;
	FILE *file;

	assert_int_equal(capture_stop(captured->manager, "h0:0", &counts, NULL), 0);
	assert_int_equal(counts.dropped, 0);
	file = fopen(captured->path, "r");
	assert_non_null(file);
	captured->file = malloc(FILE_BYTES);
	bytes = fread(captured->file, 1, FILE_BYTES, file);
	assert_in_range(bytes, 1, FILE_BYTES - 1);
	fclose(file);
	return (struct walk){captured->file, bytes};
}

static void end(struct captured *captured)
{
	capture_manager_destroy(captured->manager);
	unlink(captured->path);
	free(captured->file);
	stop(&captured->bench);
}

static bool next_seen(struct walk *walk, struct seen *seen)
{
	struct walk_block block;
	const uint8_t *option;
	uint16_t bytes = 0;

	do {
		if (!walk_next(walk, &block))
			return false;
	} while (block.type != WALK_PACKET);
	seen->time = (uint64_t)walk_u32(block.body + 4) << 32 | walk_u32(block.body + 8);
	seen->bytes = walk_u32(block.body + 16);
	seen->kind = frame_header_const(block.body + 20)->kind;
	option = walk_option(&block, walk_packet_options(&block), FLAGS, &bytes);
	seen->direction = option == NULL ? PCAPNG_UNKNOWN : walk_u32(option) & 3;
	option = walk_option(&block, walk_packet_options(&block), COMMENT, &bytes);
	assert_non_null(option);
	memcpy(seen->comment, option, bytes);
	seen->comment[bytes] = '\0';
	return true;
}

static void carry_traffic(struct captured *captured)
{
	struct bench *bench = &captured->bench;

	for (unsigned i = 0; i < 2; i++)
		add_traffic(&bench->side[i], 500000, bench->now, bench->now + 5 * PS_PER_MS);
	run_for(bench, 5 * PS_PER_MS);
	settle(bench);
	check_traffic(bench);
}

UNIT_TEST(a_capture_has_each_frame_in_both_directions)
{
	unsigned frames[3][FRAME_KIND_COUNT] = {{0}};
	struct captured captured;
	const uint64_t *count;
	struct seen seen;
	struct walk walk;

	start_capture(&captured);
	carry_traffic(&captured);
	walk = end_capture(&captured);
	while (next_seen(&walk, &seen)) {
		assert_in_range(seen.kind, 1, FRAME_KIND_COUNT - 1);
		frames[seen.direction][seen.kind]++;
	}
	count = count_of(&captured.bench.side[0]);
	assert_int_equal(frames[PCAPNG_OUT][FRAME_DATA], count[NIC_FRAMES_INJECTED]);
	assert_int_equal(frames[PCAPNG_IN][FRAME_DATA], count[NIC_FRAMES_RECEIVED]);
	assert_int_equal(frames[PCAPNG_OUT][FRAME_ACK], count[NIC_ACKS_SENT]);
	assert_int_equal(frames[PCAPNG_IN][FRAME_ACK], count[NIC_ACKS_RECEIVED]);
	assert_int_equal(frames[PCAPNG_IN][FRAME_CREDIT], count[NIC_CREDITS_RECEIVED]);
	assert_int_equal(frames[PCAPNG_IN][FRAME_HELLO], count[NIC_HELLOS_RECEIVED]);
	assert_true(frames[PCAPNG_OUT][FRAME_CREDIT] > 0 && frames[PCAPNG_OUT][FRAME_HELLO] > 0);
	end(&captured);
}

static uint32_t credits_of(const struct seen *seen)
{
	const char *at = strstr(seen->comment, "credits ");

	assert_non_null(at);
	return (uint32_t)strtoul(at + strlen("credits "), NULL, 10);
}

/* Nothing is sent between two consecutive data frames, so the second takes its blocks from those
 * that the first left. */
UNIT_TEST(a_frame_tells_the_credits_that_it_leaves)
{
	struct seen seen, before = {.kind = FRAME_HELLO};
	unsigned pairs[3] = {0};
	struct captured captured;
	struct walk walk;

	start_capture(&captured);
	carry_traffic(&captured);
	walk = end_capture(&captured);
	for (; next_seen(&walk, &seen); before = seen) {
		if (seen.kind != FRAME_DATA || before.kind != FRAME_DATA ||
			seen.direction != before.direction)
			continue;
		assert_int_equal(credits_of(&seen), credits_of(&before) - frame_blocks(seen.bytes));
		pairs[seen.direction]++;
	}
	assert_true(pairs[PCAPNG_IN] > 100 && pairs[PCAPNG_OUT] > 100);
	end(&captured);
}

/* Returns how many frames of the capture have this comment after the other side has sent
 * 'frame'. */
static unsigned comments_after(const uint8_t *frame, uint16_t bytes, const char *comment)
{
	struct captured captured;
	struct rte_mbuf *mbuf;
	unsigned found = 0;
	struct seen seen;
	struct walk walk;

	start_capture(&captured);
	mbuf = rte_pktmbuf_alloc(pool);
	memcpy(rte_pktmbuf_append(mbuf, bytes), frame, bytes);
	mbuf_packet(mbuf)->arrived_ps = 0;
	assert_int_equal(port_tx(&captured.bench.side[1].port, &mbuf, 1, captured.bench.now), 1);
	run_for(&captured.bench, PS_PER_US);
	walk = end_capture(&captured);
	while (next_seen(&walk, &seen))
		found += strcmp(seen.comment, comment) == 0;
	end(&captured);
	return found;
}

UNIT_TEST(a_refused_frame_says_why)
{
	static const uint8_t zero[60];

	assert_int_equal(comments_after(zero, sizeof(zero), "vc 0, refused: ethertype"), 1);
}

UNIT_TEST(a_frame_that_an_in_transit_buffer_cannot_hold_says_so)
{
	static const uint8_t route[] = {ROUTE_TYPE_ITB, ROUTE_PORT_BIT, ROUTE_TYPE_HOST};
	const struct frame_fields fields = {.kind = FRAME_ACK,
		.source = 1,
		.destination = 1,
		.route = route,
		.route_length = sizeof(route)};
	uint8_t frame[FRAME_HEADER_BYTES + FRAME_ROUTE_MAX];

	assert_int_equal(comments_after(frame, (uint16_t)frame_build(frame, &fields),
				 "vc 0, discard_itb_full"),
		1);
}

UNIT_TEST(a_frame_that_the_control_thread_sends_is_in_it)
{
	static const uint8_t to_agent[] = {ROUTE_TYPE_AGENT};
	const struct frame_fields fields = {.kind = FRAME_SCOUT,
		.source = FRAME_HOST_NONE,
		.destination = FRAME_HOST_NONE,
		.route = to_agent,
		.route_length = sizeof(to_agent)};
	struct device_control *control = device_control_create(1600, 8);
	uint8_t frame[FRAME_HEADER_BYTES + FRAME_ROUTE_MAX];
	struct captured captured;
	unsigned scouts = 0;
	struct seen seen;
	struct walk walk;

	assert_non_null(control);
	start_capture(&captured);
	poll_nic_set_control(captured.bench.side[0].pn, control);
	run_for(&captured.bench, 5 * PS_PER_MS);
	assert_true(device_control_send(control, 0, frame, frame_build(frame, &fields)));
	run_for(&captured.bench, 20 * PS_PER_US);
	walk = end_capture(&captured);
	while (next_seen(&walk, &seen))
		scouts += seen.kind == FRAME_SCOUT && seen.direction == PCAPNG_OUT;
	assert_int_equal(scouts, 1);
	end(&captured);
	device_control_destroy(control);
}

int main(void)
{
	char name[] = "poll-nic-capture-test";

	return run_with_eal(name, POOL_MBUFS, &pool);
}

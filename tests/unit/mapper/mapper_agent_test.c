/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* The agent of a device. Attackers without the key cannot affect it. */

#include "mapper/mapper_agent.h"

#include <arpa/inet.h>

#include "base/rng.h"
#include "mapper/table_image.h"
#include "unit.h"

static const struct fabric_key fabric = {{1, 2, 3}}, stranger = {{9}};

#define AGENT_ID      77
#define AGENT_SESSION 5
#define MAPPER_ID     1000
#define LEASE         (50 * PS_PER_MS)
#define ATTACKS       1000000

static const uint8_t route[] = {ROUTE_TYPE_AGENT};

/* For AGENT_TEST(): an agent, as struct mapper_agent. */
static int set_up(void **state)
{
	const struct mapper_agent_config config = {.id = AGENT_ID,
		.session = AGENT_SESSION,
		.kind = MAPPER_SWITCH,
		.ports = 8,
		.number = MAPPER_NUMBER_NONE,
		.name = "s3",
		.key = &fabric,
		.lease_ps = LEASE,
		.report_retry_ps = PS_PER_MS,
		.image_bytes_max = 4096};
	struct mapper_agent *agent = malloc(sizeof(*agent));

	assert_non_null(agent);
	mapper_agent_init(agent, &config, 0);
	*state = agent;
	return 0;
}

static int tear_down(void **state)
{
	mapper_agent_fini(*state);
	free(*state);
	return 0;
}

#define AGENT_TEST(test) UNIT_BED(test, set_up, tear_down, struct mapper_agent *agent)

static struct mapper_speaker speaker(uint64_t id, const struct fabric_key *key)
{
	return (struct mapper_speaker){.key = key, .id = id};
}

static struct mapper_message command(enum mapper_type type)
{
	struct mapper_message message;

	memset(&message, 0, sizeof(message));
	message.type = (uint8_t)type;
	message.command = (struct mapper_command){.priority = 10,
		.session = 3,
		.back_length = 2,
		.back = {ROUTE_PORT_BIT | 6, ROUTE_TYPE_AGENT}};
	message.target = AGENT_ID;
	message.target_session = AGENT_SESSION;
	return message;
}

static unsigned say(struct mapper_agent *agent, struct mapper_speaker *from, weft_time now,
	struct mapper_message message, struct mapper_frame *answer)
{
	struct mapper_frame frame;

	mapper_frame_build(from, &message, route, sizeof(route), &frame);
	return mapper_agent_receive(agent, now, 4, frame.data, frame.bytes, answer);
}

static struct mapper_message heard(const struct mapper_frame *frame)
{
	struct mapper_message message;

	assert_int_equal(mapper_frame_open(&fabric, frame->data, frame->bytes, &message),
		MAPPER_REFUSED_NONE);
	return message;
}

/* An image of 20 destinations, all behind port 'port'. The caller frees it. */
static struct table_image image_for(uint8_t port)
{
	OWNED(topology) *topology = topology_create("t", 1, 20);
	OWNED(route_table) *table = route_table_create(1, 20);
	struct table_image image;

	topology->switch_at[0].ports = 8;
	memset(table->primary, port, 20);
	assert_int_equal(table_image_of_switch(
				 &image, &(struct table_image_source){topology, .table = table}, 0),
		0);
	return image;
}

static struct mapper_message part_of(
	const struct table_image *image, uint32_t epoch, uint32_t offset, uint16_t bytes)
{
	struct mapper_message message = command(MAPPER_TABLE);

	message.table =
		(struct mapper_table){epoch, image->length, offset, bytes, image->bytes + offset};
	return message;
}

static struct mapper_message phase(uint32_t epoch, enum mapper_phase_command what)
{
	struct mapper_message message = command(MAPPER_PHASE);

	message.phase = (struct mapper_phase){.epoch = epoch, .command = (uint8_t)what};
	return message;
}

AGENT_TEST(a_probe_is_answered_on_the_way_that_it_brings)
{
	struct mapper_speaker mapper = speaker(MAPPER_ID, &fabric);
	struct mapper_message probe = command(MAPPER_PROBE), reply;
	struct mapper_frame answer;

	agent->linked = 0x15;
	probe.target = probe.target_session = 0;
	probe.probe.number = 99;
	assert_int_equal(say(agent, &mapper, 0, probe, &answer), MAPPER_AGENT_ANSWER);
	assert_int_equal(answer.port, 4);
	assert_int_equal(frame_header_const(answer.data)->route_length, 2);
	assert_int_equal(frame_route(answer.data)[0], ROUTE_PORT_BIT | 6);
	reply = heard(&answer);
	assert_int_equal(reply.type, MAPPER_REPLY);
	assert_int_equal(reply.sender, AGENT_ID);
	assert_int_equal(reply.target, MAPPER_ID);
	assert_int_equal(reply.target_session, 3);
	assert_int_equal(reply.reply.probe, 99);
	assert_int_equal(reply.reply.entry, 4);
	assert_int_equal(reply.reply.ports, 8);
	assert_int_equal(reply.reply.linked, 0x15);
	assert_int_equal(reply.reply.followed, MAPPER_ID);
	assert_string_equal(reply.reply.name, "s3");
}

AGENT_TEST(tables_are_used_when_all_is_there_and_committed)
{
	struct mapper_speaker mapper = speaker(MAPPER_ID, &fabric);
	struct mapper_frame answer;
	struct table_image image = image_for(3);

	say(agent, &mapper, 0, part_of(&image, 1, 0, 10), &answer);
	assert_int_equal(heard(&answer).status.staged_bytes, 10);
	assert_int_equal(
		say(agent, &mapper, 0, phase(1, MAPPER_COMMIT), &answer), MAPPER_AGENT_ANSWER);
	assert_int_equal(heard(&answer).status.committed, 0);
	/* Parts that arrive out of order or twice do no harm. */
	say(agent, &mapper, 0, part_of(&image, 1, 12, 5), &answer);
	say(agent, &mapper, 0, part_of(&image, 1, 0, 10), &answer);
	assert_int_equal(heard(&answer).status.staged_bytes, 10);
	say(agent, &mapper, 0, part_of(&image, 1, 10, (uint16_t)(image.length - 10)), &answer);
	assert_int_equal(heard(&answer).status.stage, MAPPER_STAGE_READY);
	assert_int_equal(agent->epoch, 0);
	assert_int_equal(say(agent, &mapper, 0, phase(1, MAPPER_COMMIT), &answer),
		MAPPER_AGENT_ANSWER | MAPPER_AGENT_COMMIT);
	assert_int_equal(heard(&answer).status.committed, 1);
	assert_int_equal(agent->image_bytes, image.length);
	assert_memory_equal(agent->image, image.bytes, image.length);
	assert_int_equal(agent->digest, table_image_digest(image.bytes, image.length));
	free(image.bytes);
}

static struct mapper_message read_of(uint32_t offset, uint16_t bytes)
{
	struct mapper_message message = command(MAPPER_READ);

	message.read = (struct mapper_read){offset, bytes};
	return message;
}

/* Only tables in use are reported. Staged tables are not in use anywhere. */
AGENT_TEST(the_image_in_use_is_read_in_parts)
{
	struct mapper_speaker mapper = speaker(MAPPER_ID, &fabric);
	struct mapper_message part;
	struct mapper_frame answer;
	struct table_image image = image_for(3);

	say(agent, &mapper, 0, part_of(&image, 1, 0, (uint16_t)image.length), &answer);
	assert_int_equal(say(agent, &mapper, 0, read_of(0, 7), &answer), MAPPER_AGENT_ANSWER);
	assert_int_equal(heard(&answer).type, MAPPER_IMAGE);
	assert_int_equal(heard(&answer).image.total, 0);
	say(agent, &mapper, 0, phase(1, MAPPER_COMMIT), &answer);
	for (uint32_t at = 0; at < image.length; at += part.image.bytes) {
		say(agent, &mapper, 0, read_of(at, 7), &answer);
		part = heard(&answer);
		assert_int_equal(part.image.epoch, 1);
		assert_int_equal(part.image.total, image.length);
		assert_int_equal(part.image.offset, at);
		assert_int_equal(part.image.digest, agent->digest);
		assert_true(part.image.bytes == 7 || at + part.image.bytes == image.length);
		assert_memory_equal(part.image.data, image.bytes + at, part.image.bytes);
	}
	say(agent, &mapper, 0, read_of(image.length, 7), &answer);
	assert_int_equal(heard(&answer).image.offset, 0);
	free(image.bytes);
}

/* The mapper at the device takes over after another mapper has sent its tables without committing
 * them. */
AGENT_TEST(a_new_leaders_own_agent_keeps_nothing_of_the_old_one)
{
	struct mapper_speaker mapper = speaker(MAPPER_ID, &fabric);
	struct table_image old = image_for(3);
	struct mapper_frame answer;

	say(agent, &mapper, 0, part_of(&old, 7, 0, (uint16_t)old.length), &answer);
	assert_int_equal(agent->stage, MAPPER_STAGE_READY);
	mapper_agent_lead(agent, 44, 0);
	assert_int_equal(agent->stage, MAPPER_STAGE_NONE);
	assert_int_equal(agent->staged_epoch, 0);
	free(old.bytes);
}

AGENT_TEST(what_is_no_image_is_not_staged)
{
	struct mapper_speaker mapper = speaker(MAPPER_ID, &fabric);
	struct mapper_frame answer;
	struct table_image image = image_for(8); /* it has ports 0 to 7 */
	struct mapper_message large = part_of(&image, 2, 0, 4);

	say(agent, &mapper, 0, part_of(&image, 1, 0, (uint16_t)image.length), &answer);
	assert_int_equal(heard(&answer).status.stage, MAPPER_STAGE_REFUSED);
	assert_int_equal(
		say(agent, &mapper, 0, phase(1, MAPPER_COMMIT), &answer), MAPPER_AGENT_ANSWER);
	large.table.total = 4097;
	say(agent, &mapper, 0, large, &answer);
	assert_int_equal(heard(&answer).status.stage, MAPPER_STAGE_REFUSED);
	free(image.bytes);
}

AGENT_TEST(an_older_epoch_changes_nothing)
{
	struct mapper_speaker mapper = speaker(MAPPER_ID, &fabric);
	struct mapper_frame answer;
	struct table_image image = image_for(3);

	say(agent, &mapper, 0, part_of(&image, 5, 0, (uint16_t)image.length), &answer);
	say(agent, &mapper, 0, phase(5, MAPPER_COMMIT), &answer);
	for (uint32_t epoch = 4; epoch <= 5; epoch++) {
		say(agent, &mapper, 0, part_of(&image, epoch, 0, (uint16_t)image.length), &answer);
		assert_int_equal(heard(&answer).status.stage, MAPPER_STAGE_NONE);
		assert_int_equal(say(agent, &mapper, 0, phase(epoch, MAPPER_COMMIT), &answer),
			MAPPER_AGENT_ANSWER);
	}
	assert_int_equal(agent->epoch, 5);
	free(image.bytes);
}

/* An attacker without a key has sent a part of an epoch that no mapper reaches. */
AGENT_TEST(an_epoch_without_further_parts_keeps_no_other_away_for_long)
{
	struct mapper_speaker mapper = speaker(MAPPER_ID, &fabric);
	struct table_image image = image_for(2);
	struct mapper_frame answer;

	say(agent, &mapper, 0, part_of(&image, UINT32_MAX, 0, 8), &answer);
	say(agent, &mapper, LEASE, part_of(&image, 1, 0, (uint16_t)image.length), &answer);
	assert_int_equal(heard(&answer).status.stage, MAPPER_STAGE_NONE);
	say(agent, &mapper, LEASE + 1, part_of(&image, 1, 0, (uint16_t)image.length), &answer);
	assert_int_equal(heard(&answer).status.stage, MAPPER_STAGE_READY);
	free(image.bytes);
}

/* Uses the maximum epoch, then, after a time, one that follows 'after'. Returns true if its tables
 * are accepted. */
static bool takes_a_lower_epoch(
	struct mapper_agent *agent, const struct fabric_key *key, weft_time after)
{
	struct mapper_speaker mapper = speaker(MAPPER_ID, key);
	struct table_image image = image_for(2);
	struct mapper_frame answer;
	unsigned done;

	agent->config.key = agent->speaker.key = key;
	say(agent, &mapper, 0, part_of(&image, UINT32_MAX, 0, (uint16_t)image.length), &answer);
	say(agent, &mapper, 0, phase(UINT32_MAX, MAPPER_COMMIT), &answer);
	assert_int_equal(agent->epoch, UINT32_MAX);
	say(agent, &mapper, after, part_of(&image, 6, 0, (uint16_t)image.length), &answer);
	done = say(agent, &mapper, after, phase(6, MAPPER_COMMIT), &answer);
	free(image.bytes);
	return (done & MAPPER_AGENT_COMMIT) != 0 && agent->epoch == 6;
}

AGENT_TEST(without_a_key_an_epoch_in_use_keeps_no_lower_one_away_after_a_lease)
{
	assert_true(takes_a_lower_epoch(agent, NULL, LEASE + 1));
}

AGENT_TEST(without_a_key_tables_of_a_lower_epoch_are_late_for_a_lease)
{
	assert_false(takes_a_lower_epoch(agent, NULL, LEASE));
}

AGENT_TEST(with_a_key_an_epoch_never_falls)
{
	assert_false(takes_a_lower_epoch(agent, &fabric, 100 * LEASE));
}

AGENT_TEST(pausing_and_resuming_are_told_once)
{
	struct mapper_speaker mapper = speaker(MAPPER_ID, &fabric);
	struct mapper_frame answer;

	agent->idle = false;
	assert_int_equal(say(agent, &mapper, 0, phase(1, MAPPER_PAUSE), &answer),
		MAPPER_AGENT_ANSWER | MAPPER_AGENT_PAUSE);
	assert_int_equal(heard(&answer).status.flags, MAPPER_STATUS_PAUSED);
	agent->idle = true;
	assert_int_equal(
		say(agent, &mapper, 0, phase(1, MAPPER_PAUSE), &answer), MAPPER_AGENT_ANSWER);
	assert_int_equal(heard(&answer).status.flags, MAPPER_STATUS_PAUSED | MAPPER_STATUS_IDLE);
	assert_int_equal(say(agent, &mapper, 0, phase(1, MAPPER_RESUME), &answer),
		MAPPER_AGENT_ANSWER | MAPPER_AGENT_RESUME);
}

AGENT_TEST(the_greatest_mapper_is_obeyed_until_it_is_silent)
{
	struct mapper_speaker lesser = speaker(MAPPER_ID, &fabric),
			      greater = speaker(MAPPER_ID + 1, &fabric);
	struct mapper_frame answer;

	say(agent, &lesser, 0, command(MAPPER_PROBE), &answer);
	assert_int_equal(agent->followed, MAPPER_ID);
	say(agent, &greater, 0, command(MAPPER_PROBE), &answer);
	assert_int_equal(agent->followed, MAPPER_ID + 1);
	/* The mapper of lower priority is informed, and cannot pause any device. */
	assert_int_equal(
		say(agent, &lesser, LEASE, phase(1, MAPPER_PAUSE), &answer), MAPPER_AGENT_ANSWER);
	assert_int_equal(heard(&answer).status.followed, MAPPER_ID + 1);
	assert_false(agent->paused);
	assert_int_equal(agent->refused[MAPPER_REFUSED_LESSER], 1);
	say(agent, &lesser, LEASE + 1, command(MAPPER_PROBE), &answer);
	assert_int_equal(agent->followed, MAPPER_ID);
}

/* The other mapper recorded the link, but its record is lost with it. */
AGENT_TEST(who_leads_again_hears_of_every_port_what_another_was_told)
{
	struct mapper_speaker first = speaker(MAPPER_ID, &fabric), other = speaker(7, &fabric);
	struct mapper_message acknowledge = command(MAPPER_ACKNOWLEDGE);
	struct mapper_frame answer;
	uint64_t reported = 0, up = 0;

	mapper_agent_set_link(agent, 1, true);
	say(agent, &first, 0, command(MAPPER_PROBE), &answer);
	mapper_agent_set_link(agent, 2, true);
	/* A mapper of lower priority, after the lease. Its reply contains all links. */
	say(agent, &other, 2 * LEASE, command(MAPPER_PROBE), &answer);
	assert_false(mapper_agent_poll(agent, 2 * LEASE, &answer));
	say(agent, &first, 2 * LEASE, command(MAPPER_HEARTBEAT), &answer);
	for (unsigned i = 0; i < 8; i++) {
		struct mapper_message report;

		assert_true(mapper_agent_poll(agent, 2 * LEASE, &answer));
		report = heard(&answer);
		assert_int_equal(report.target, MAPPER_ID);
		reported |= (uint64_t)1 << report.report.port;
		up |= (uint64_t)report.report.up << report.report.port;
		acknowledge.acknowledge.sequence = report.report.sequence;
		say(agent, &first, 2 * LEASE, acknowledge, &answer);
	}
	assert_false(mapper_agent_poll(agent, 2 * LEASE, &answer));
	assert_int_equal(reported, 0xFF);
	assert_int_equal(up, 0x06);
}

AGENT_TEST(a_change_of_a_link_is_reported_until_it_is_acknowledged)
{
	struct mapper_speaker mapper = speaker(MAPPER_ID, &fabric);
	struct mapper_message acknowledge = command(MAPPER_ACKNOWLEDGE), report;
	struct mapper_frame answer;

	agent->linked = 0xFF;
	say(agent, &mapper, 0, command(MAPPER_PROBE), &answer);
	assert_false(mapper_agent_poll(agent, 0, &answer));
	assert_true(mapper_agent_due(agent) == WEFT_TIME_NEVER);
	mapper_agent_set_link(agent, 2, false);
	for (weft_time now = 0; now < 3 * PS_PER_MS; now += PS_PER_MS) {
		assert_true(mapper_agent_due(agent) <= now);
		assert_true(mapper_agent_poll(agent, now, &answer));
		assert_false(mapper_agent_poll(agent, now, &answer));
	}
	assert_int_equal(answer.port, 4);
	report = heard(&answer);
	assert_int_equal(report.report.port, 2);
	assert_false(report.report.up);
	acknowledge.acknowledge.sequence = report.report.sequence;
	say(agent, &mapper, 0, acknowledge, &answer);
	assert_false(mapper_agent_poll(agent, 10 * PS_PER_MS, &answer));
}

/* The first report may have arrived while its acknowledgement is lost or late. */
AGENT_TEST(a_link_that_comes_back_is_reported_even_if_its_going_was_not_acknowledged)
{
	struct mapper_speaker mapper = speaker(MAPPER_ID, &fabric);
	struct mapper_message acknowledge = command(MAPPER_ACKNOWLEDGE), report;
	struct mapper_frame answer;

	agent->linked = 0xFF;
	say(agent, &mapper, 0, command(MAPPER_PROBE), &answer);
	mapper_agent_set_link(agent, 2, false);
	assert_true(mapper_agent_poll(agent, 0, &answer));
	acknowledge.acknowledge.sequence = heard(&answer).report.sequence;
	mapper_agent_set_link(agent, 2, true);
	assert_true(mapper_agent_poll(agent, 1, &answer));
	report = heard(&answer);
	assert_int_equal(report.report.port, 2);
	assert_true(report.report.up);
	say(agent, &mapper, 2, acknowledge, &answer); /* from the first mapper */
	assert_true(mapper_agent_poll(agent, 1 + PS_PER_MS, &answer));
	assert_true(heard(&answer).report.up);
	acknowledge.acknowledge.sequence = report.report.sequence;
	say(agent, &mapper, 2 * PS_PER_MS, acknowledge, &answer);
	assert_true(mapper_agent_due(agent) == WEFT_TIME_NEVER);
	assert_false(mapper_agent_poll(agent, PS_PER_S, &answer));
}

/* A copy of everything that a frame may not change, except the counters of refusals. */
static struct mapper_agent snapshot(const struct mapper_agent *agent)
{
	struct mapper_agent copy = *agent;

	memset(copy.refused, 0, sizeof(copy.refused));
	return copy;
}

static void mend(struct mapper_frame *frame)
{
	struct frame_header *header = frame_header(frame->data);
	unsigned at = frame_payload_offset(header), length = ntohs(header->payload_bytes_be);

	if (header->route_length <= FRAME_ROUTE_MAX && at + length <= frame->bytes)
		header->payload_crc_be = htonl(crc32c(frame->data + at, length));
	header->crc_be = htons(frame_header_crc(frame->data));
}

/* An attacker who knows the format and has seen a good frame, but lacks the key. */
static void attack(struct mapper_frame *frame, struct rng *rng)
{
	unsigned at = FRAME_HEADER_BYTES + sizeof(route);

	switch (rng_below(rng, 4)) {
	case 0:
		frame->data[rng_below(rng, frame->bytes)] ^= (uint8_t)(1u << rng_below(rng, 8));
		return;
	case 1:
		frame->bytes = (unsigned)rng_below(rng, frame->bytes);
		return;
	case 2: /* a higher counter */
		frame->data[at + 16 + rng_below(rng, 8)] += 1;
		mend(frame);
		return;
	default:
		frame->data[at + rng_below(rng, frame->bytes - at)] ^=
			(uint8_t)(1 + rng_below(rng, 255));
		mend(frame);
	}
}

/* The last part, the commit and the pause do the most damage if they are wrong. */
static struct mapper_message dangerous(const struct table_image *image, struct rng *rng)
{
	switch (rng_below(rng, 4)) {
	case 0:
		return part_of(image, 2, 10, (uint16_t)(image->length - 10));
	case 1:
		return phase(2, MAPPER_COMMIT);
	case 2:
		return phase(2, MAPPER_PAUSE);
	default:
		return command(MAPPER_PROBE);
	}
}

static void prepare_attack(
	struct mapper_agent *agent, struct mapper_speaker *mapper, const struct table_image *image)
{
	struct mapper_frame answer;

	say(agent, mapper, 0, part_of(image, 1, 0, (uint16_t)image->length), &answer);
	say(agent, mapper, 0, phase(1, MAPPER_COMMIT), &answer);
	say(agent, mapper, 0, part_of(image, 2, 0, 10), &answer);
	assert_int_equal(agent->stage, MAPPER_STAGE_PARTS);
}

AGENT_TEST(forged_and_damaged_frames_change_nothing)
{
	struct mapper_agent before;
	struct mapper_speaker mapper = speaker(MAPPER_ID, &fabric);
	struct table_image image = image_for(3);
	struct rng rng;

	prepare_attack(agent, &mapper, &image);
	before = snapshot(agent);
	rng_init(&rng, 3, 0, 0);
	for (unsigned i = 0; i < ATTACKS; i++) {
		struct mapper_message message = dangerous(&image, &rng);
		struct mapper_speaker liar = {.key = i % 4 == 0 ? &stranger : &fabric,
			.id = MAPPER_ID + i % 2,
			.counter = mapper.counter + rng_below(&rng, 4)};
		struct mapper_frame frame, answer;

		if (i % 8 == 1)
			liar.key = NULL;
		mapper_frame_build(&liar, &message, route, sizeof(route), &frame);
		if (liar.key == &fabric) {
			uint8_t good[MAPPER_FRAME_MAX];
			unsigned bytes = frame.bytes;

			memcpy(good, frame.data, bytes);
			attack(&frame, &rng);
			/* The padding after the payload is not authenticated. */
			if (frame.bytes >= FRAME_HEADER_BYTES + sizeof(route) +
						   ntohs(frame_header(good)->payload_bytes_be) &&
				memcmp(good, frame.data,
					FRAME_HEADER_BYTES + sizeof(route) +
						ntohs(frame_header(good)->payload_bytes_be)) == 0)
				continue;
			if (memcmp(good, frame.data, 12) != 0 &&
				memcmp(good + 12, frame.data + 12, bytes - 12) == 0)
				continue; /* and neither are the Ethernet addresses */
		}
		assert_int_equal(
			mapper_agent_receive(agent, 1, 4, frame.data, frame.bytes, &answer), 0);
		if (i % 1000 == 0) {
			struct mapper_agent after = snapshot(agent);

			assert_memory_equal(&before, &after, sizeof(before));
		}
	}
	free(image.bytes);
}

AGENT_TEST(replayed_and_stale_frames_change_nothing)
{
	struct mapper_agent before;
	struct mapper_speaker mapper = speaker(MAPPER_ID, &fabric);
	struct mapper_frame frame[80], answer;
	struct table_image image = image_for(3);

	prepare_attack(agent, &mapper, &image);
	for (unsigned i = 0; i < 80; i++) {
		struct mapper_message message = phase(2, i % 2 == 0 ? MAPPER_PAUSE : MAPPER_RESUME);

		mapper_frame_build(&mapper, &message, route, sizeof(route), &frame[i]);
		/* One in ten frames is lost. Others arrive when they are too old to be useful. */
		if (i % 10 != 0)
			mapper_agent_receive(agent, 1, 4, frame[i].data, frame[i].bytes, &answer);
	}
	before = snapshot(agent);
	for (unsigned i = 0; i < 80; i++) {
		if (i % 10 == 0 && i > 15)
			continue;
		assert_int_equal(
			mapper_agent_receive(agent, 2, 4, frame[i].data, frame[i].bytes, &answer),
			0);
	}
	struct mapper_agent after = snapshot(agent);
	assert_memory_equal(&before, &after, sizeof(before));
	assert_int_equal(agent->refused[MAPPER_REFUSED_REPLAYED], 74);
	free(image.bytes);
}

AGENT_TEST(frames_for_a_former_life_or_another_device_are_refused)
{
	struct mapper_speaker mapper = speaker(MAPPER_ID, &fabric);
	struct mapper_message message = phase(1, MAPPER_PAUSE);
	struct mapper_frame answer;

	message.target_session = AGENT_SESSION - 1;
	assert_int_equal(say(agent, &mapper, 0, message, &answer), 0);
	assert_int_equal(agent->refused[MAPPER_REFUSED_STALE], 1);
	message.target_session = AGENT_SESSION;
	message.target = AGENT_ID + 1;
	assert_int_equal(say(agent, &mapper, 0, message, &answer), 0);
	message.target = message.target_session = 0; /* only probes may be for any device */
	assert_int_equal(say(agent, &mapper, 0, message, &answer), 0);
	assert_int_equal(agent->refused[MAPPER_REFUSED_NOT_FOR_US], 2);
	assert_false(agent->paused);
}

AGENT_TEST(too_many_senders_are_refused_and_none_forgotten)
{
	struct mapper_frame answer;

	for (unsigned i = 0; i < MAPPER_AGENT_SENDERS + 10; i++) {
		struct mapper_speaker mapper = speaker(MAPPER_ID + i, &fabric);

		assert_int_equal(say(agent, &mapper, 0, command(MAPPER_PROBE), &answer) != 0,
			i < MAPPER_AGENT_SENDERS);
	}
	assert_int_equal(agent->refused[MAPPER_REFUSED_NO_ROOM], 10);
	struct mapper_speaker first = speaker(MAPPER_ID, &fabric);
	assert_int_equal(say(agent, &first, 0, command(MAPPER_PROBE), &answer), 0);
	assert_int_equal(agent->refused[MAPPER_REFUSED_REPLAYED], 1);
}

/* Without a key, every sender is believed: 100,000 identities send once each. */
AGENT_TEST(without_a_key_a_forged_counter_does_not_lock_out_the_true_ones)
{
	struct mapper_speaker mapper = speaker(MAPPER_ID, NULL), forger = mapper;
	struct mapper_frame answer;

	agent->config.key = agent->speaker.key = NULL;
	mapper.counter = 1000;
	forger.counter = UINT64_MAX - 1;
	assert_int_not_equal(say(agent, &mapper, 0, command(MAPPER_PROBE), &answer), 0);
	assert_int_not_equal(say(agent, &forger, 1, command(MAPPER_PROBE), &answer), 0);
	assert_int_not_equal(say(agent, &mapper, 2, command(MAPPER_PROBE), &answer), 0);
	/* A duplicate is still recognised. */
	mapper.counter--;
	assert_int_equal(say(agent, &mapper, 3, command(MAPPER_PROBE), &answer), 0);
	assert_int_equal(agent->refused[MAPPER_REFUSED_REPLAYED], 1);
}

AGENT_TEST(a_flood_of_identities_takes_no_memory_and_nobodys_place)
{
	struct mapper_speaker leader = speaker(MAPPER_ID, NULL), standby = speaker(9, NULL);
	struct mapper_message low = command(MAPPER_PROBE), beat = command(MAPPER_HEARTBEAT);
	struct mapper_frame answer, heard;

	agent->config.key = NULL;
	low.command.priority = 1;
	for (unsigned i = 0; i < 2; i++) {
		say(agent, &leader, 0, beat, &answer);
		assert_int_not_equal(say(agent, &standby, 0, low, &answer), 0);
	}
	mapper_frame_build(&leader, &beat, route, sizeof(route), &heard);
	mapper_agent_receive(agent, 0, 1, heard.data, heard.bytes, &answer);
	for (unsigned i = 0; i < 100000; i++) {
		struct mapper_speaker flood = speaker(MAPPER_ID + 1 + i, NULL);

		say(agent, &flood, LEASE / 2, low, &answer);
	}
	assert_int_equal(agent->sender_count, MAPPER_AGENT_SENDERS);
	assert_int_equal(agent->sender_room, MAPPER_AGENT_SENDERS);
	assert_int_equal(agent->followed, MAPPER_ID);
	assert_int_equal(agent->refused[MAPPER_REFUSED_NO_ROOM], 0);
	/* Their counters are still known. */
	mapper_agent_receive(agent, LEASE / 2, 1, heard.data, heard.bytes, &answer);
	standby.counter--;
	say(agent, &standby, LEASE / 2, low, &answer);
	assert_int_equal(agent->refused[MAPPER_REFUSED_REPLAYED], 2);
	assert_int_not_equal(say(agent, &standby, LEASE / 2, low, &answer), 0);
}

AGENT_TEST(who_is_silent_longest_makes_room_when_all_are_confirmed)
{
	struct mapper_frame answer;

	agent->config.key = NULL;
	for (unsigned i = 0; i < MAPPER_AGENT_SENDERS + 1; i++) {
		struct mapper_speaker mapper = speaker(MAPPER_ID - i, NULL);

		say(agent, &mapper, i, command(MAPPER_PROBE), &answer);
		say(agent, &mapper, i, command(MAPPER_PROBE), &answer);
	}
	assert_int_equal(agent->sender_count, MAPPER_AGENT_SENDERS);
	for (unsigned i = 0; i < MAPPER_AGENT_SENDERS; i++)
		assert_int_not_equal(agent->senders[i].id, MAPPER_ID - 1);
	assert_int_equal(agent->senders[MAPPER_AGENT_SENDERS - 1].id, MAPPER_ID); /* obeyed */
}

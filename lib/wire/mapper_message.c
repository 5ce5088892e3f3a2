/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "mapper_message.h"

/* One description of each body serves both directions: each step writes or reads one field and,
 * when reading, checks its range. */
struct codec {
	uint8_t *out;      /* NULL when reading */
	const uint8_t *in; /* NULL when writing */
	unsigned at, end;  /* reading stops at 'end' */
	bool bad;
};

static uint64_t pass(struct codec *codec, uint64_t value, unsigned bytes)
{
	if (codec->in != NULL && codec->end - codec->at < bytes) {
		codec->bad = true;
		return 0;
	}
	for (unsigned i = 0; codec->in == NULL && i < bytes; i++)
		codec->out[codec->at + i] = (uint8_t)(value >> 8 * (bytes - 1 - i));
	if (codec->in != NULL) {
		value = 0;
		for (unsigned i = 0; i < bytes; i++)
			value = value << 8 | codec->in[codec->at + i];
	}
	codec->at += bytes;
	return value;
}

static void pass8(struct codec *codec, uint8_t *field)
{
	*field = (uint8_t)pass(codec, *field, 1);
}

static void pass16(struct codec *codec, uint16_t *field)
{
	*field = (uint16_t)pass(codec, *field, 2);
}

static void pass32(struct codec *codec, uint32_t *field)
{
	*field = (uint32_t)pass(codec, *field, 4);
}

static void pass64(struct codec *codec, uint64_t *field)
{
	*field = pass(codec, *field, 8);
}

static void pass_zero(struct codec *codec, unsigned bytes)
{
	while (bytes-- > 0)
		codec->bad |= pass(codec, 0, 1) != 0;
}

static void require(struct codec *codec, bool in_range)
{
	codec->bad |= !in_range;
}

/* Passes the first 'used' bytes of a field of 'room' bytes and zeros for the rest. */
static void pass_bytes(struct codec *codec, void *field, unsigned used, unsigned room)
{
	uint8_t *byte = field;

	if (used > room) {
		codec->bad = true;
		return;
	}
	for (unsigned i = 0; i < used; i++)
		pass8(codec, &byte[i]);
	for (unsigned i = used; i < room; i++)
		pass_zero(codec, 1);
}

bool mapper_type_is_command(unsigned type)
{
	return type == MAPPER_PROBE || type == MAPPER_TABLE || type == MAPPER_PHASE ||
	       type == MAPPER_HEARTBEAT || type == MAPPER_ACKNOWLEDGE || type == MAPPER_READ;
}

enum frame_kind mapper_type_kind(unsigned type)
{
	return type == MAPPER_PROBE || type == MAPPER_REPLY ? FRAME_SCOUT : FRAME_MAPPER;
}

/* Returns true if 'back' is port elements followed by the agent element. */
static bool is_way_back(const struct mapper_command *command)
{
	unsigned last = command->back_length - 1u;

	if (command->back_length == 0 || command->back_length > MAPPER_BACK_MAX ||
		command->back[last] != ROUTE_TYPE_AGENT)
		return false;
	for (unsigned i = 0; i < last; i++)
		if ((command->back[i] & ~ROUTE_PORT_MASK) != ROUTE_PORT_BIT)
			return false;
	return true;
}

static void pass_command(struct codec *codec, struct mapper_command *command)
{
	pass16(codec, &command->priority);
	pass8(codec, &command->back_length);
	pass_zero(codec, 1);
	pass32(codec, &command->session);
	pass_bytes(codec, command->back, command->back_length, MAPPER_BACK_MAX);
	require(codec, command->session != 0 && is_way_back(command));
}

static void pass_reply(struct codec *codec, struct mapper_reply *reply)
{
	pass32(codec, &reply->probe);
	pass8(codec, &reply->kind);
	pass8(codec, &reply->ports);
	pass8(codec, &reply->entry);
	pass8(codec, &reply->flags);
	pass32(codec, &reply->session);
	pass32(codec, &reply->epoch);
	pass64(codec, &reply->followed);
	pass16(codec, &reply->followed_priority);
	pass16(codec, &reply->priority);
	pass16(codec, &reply->number);
	pass8(codec, &reply->age);
	pass8(codec, &reply->name_length);
	pass32(codec, &reply->version);
	pass64(codec, &reply->linked);
	pass64(codec, &reply->digest);
	pass_bytes(codec, reply->name, reply->name_length, MAPPER_NAME_MAX);
	pass_zero(codec, 1);
	require(codec, reply->kind <= 1 && reply->ports > 0 && reply->ports <= MAPPER_PORTS_MAX);
	require(codec, reply->entry < reply->ports && reply->session != 0);
	require(codec, reply->age <= MAPPER_AGE_MAX);
	require(codec, (reply->kind == 0 || reply->ports == 1));
	require(codec, (reply->flags & ~(MAPPER_REPLY_CANDIDATE | MAPPER_REPLY_PAUSED)) == 0);
	require(codec, reply->ports >= MAPPER_PORTS_MAX || reply->linked >> reply->ports == 0);
	for (unsigned i = 0; i < reply->name_length && !codec->bad; i++)
		require(codec, reply->name[i] > ' ' && reply->name[i] < 0x7F);
}

/* Passes data in place: reading sets '*data' to point into the frame. */
static void pass_data(struct codec *codec, const uint8_t **data, unsigned bytes)
{
	if (codec->bad)
		return;
	if (codec->in == NULL)
		memcpy(codec->out + codec->at, *data, bytes);
	else if (codec->end - codec->at < bytes)
		codec->bad = true;
	else
		*data = codec->in + codec->at;
	codec->at += bytes;
}

static bool is_part(uint32_t total, uint32_t offset, uint16_t bytes)
{
	return bytes > 0 && bytes <= MAPPER_PART_MAX && bytes <= total && offset <= total - bytes;
}

static void pass_table(struct codec *codec, struct mapper_table *table)
{
	pass32(codec, &table->epoch);
	pass32(codec, &table->total);
	pass32(codec, &table->offset);
	pass16(codec, &table->bytes);
	pass_zero(codec, 2);
	require(codec, table->epoch != 0 && is_part(table->total, table->offset, table->bytes));
	pass_data(codec, &table->data, table->bytes);
}

static void pass_read(struct codec *codec, struct mapper_read *read)
{
	pass32(codec, &read->offset);
	pass16(codec, &read->bytes);
	pass_zero(codec, 2);
	require(codec, read->bytes > 0 && read->bytes <= MAPPER_PART_MAX);
}

static void pass_image(struct codec *codec, struct mapper_image_part *part)
{
	pass32(codec, &part->epoch);
	pass32(codec, &part->total);
	pass32(codec, &part->offset);
	pass16(codec, &part->bytes);
	pass_zero(codec, 2);
	pass64(codec, &part->digest);
	require(codec, part->total == 0 ? part->offset == 0 && part->bytes == 0
					: is_part(part->total, part->offset, part->bytes));
	if (part->bytes > 0)
		pass_data(codec, &part->data, part->bytes);
}

static void pass_phase(struct codec *codec, struct mapper_phase *phase)
{
	pass32(codec, &phase->epoch);
	pass8(codec, &phase->command);
	pass8(codec, &phase->flags);
	pass16(codec, &phase->round);
	require(codec, phase->epoch != 0 && phase->command >= MAPPER_PAUSE &&
			       phase->command <= MAPPER_ABORT);
	require(codec, (phase->flags & ~MAPPER_PHASE_PURGE) == 0);
	require(codec, phase->flags == 0 || phase->command == MAPPER_PAUSE);
}

static void pass_status(struct codec *codec, struct mapper_status *status)
{
	pass32(codec, &status->epoch);
	pass32(codec, &status->staged_bytes);
	pass32(codec, &status->committed);
	pass8(codec, &status->stage);
	pass8(codec, &status->flags);
	pass16(codec, &status->followed_priority);
	pass32(codec, &status->session);
	pass64(codec, &status->followed);
	pass16(codec, &status->round);
	pass_zero(codec, 2);
	require(codec, status->stage < MAPPER_STAGE_COUNT && status->session != 0);
	require(codec, (status->flags & ~(MAPPER_STATUS_PAUSED | MAPPER_STATUS_IDLE)) == 0);
}

static void pass_report(struct codec *codec, struct mapper_report *report)
{
	uint8_t up = report->up;

	pass32(codec, &report->sequence);
	pass32(codec, &report->session);
	pass8(codec, &report->port);
	pass8(codec, &up);
	pass_zero(codec, 2);
	require(codec, report->session != 0 && report->port < MAPPER_PORTS_MAX && up <= 1);
	report->up = up != 0;
}

static void pass_body(struct codec *codec, struct mapper_message *message)
{
	if (mapper_type_is_command(message->type))
		pass_command(codec, &message->command);
	switch (message->type) {
	case MAPPER_PROBE:
		pass32(codec, &message->probe.number);
		pass32(codec, &message->probe.epoch);
		break;
	case MAPPER_REPLY:
		pass_reply(codec, &message->reply);
		break;
	case MAPPER_TABLE:
		pass_table(codec, &message->table);
		break;
	case MAPPER_PHASE:
		pass_phase(codec, &message->phase);
		break;
	case MAPPER_STATUS:
		pass_status(codec, &message->status);
		break;
	case MAPPER_HEARTBEAT:
		pass32(codec, &message->heartbeat.epoch);
		pass16(codec, &message->heartbeat.rank);
		pass_zero(codec, 2);
		break;
	case MAPPER_REPORT:
		pass_report(codec, &message->report);
		break;
	case MAPPER_ACKNOWLEDGE:
		pass32(codec, &message->acknowledge.sequence);
		pass_zero(codec, 4);
		break;
	case MAPPER_READ:
		pass_read(codec, &message->read);
		break;
	case MAPPER_IMAGE:
		pass_image(codec, &message->image);
		break;
	default:
		codec->bad = true;
	}
}

static void pass_envelope(struct codec *codec, struct mapper_message *message, uint16_t *body)
{
	uint8_t keyed = message->keyed;

	pass8(codec, &message->type);
	pass8(codec, &keyed);
	pass16(codec, body);
	pass32(codec, &message->target_session);
	pass64(codec, &message->sender);
	pass64(codec, &message->counter);
	pass64(codec, &message->target);
	require(codec, keyed <= 1 && message->sender != 0 && message->counter != 0);
	message->keyed = keyed != 0;
}

unsigned mapper_message_encode(const struct mapper_message *message, uint8_t *out)
{
	struct mapper_message copy = *message;
	struct codec codec = {.out = out};
	uint16_t body = 0;

	pass_envelope(&codec, &copy, &body);
	pass_body(&codec, &copy);
	body = (uint16_t)(codec.at - MAPPER_ENVELOPE_BYTES);
	out[2] = (uint8_t)(body >> 8);
	out[3] = (uint8_t)body;
	memset(out + codec.at, 0, MAPPER_TAG_BYTES);
	return codec.at + MAPPER_TAG_BYTES;
}

bool mapper_message_decode(struct mapper_message *message, const uint8_t *in, unsigned bytes)
{
	struct codec codec = {.in = in};
	uint16_t body = 0;

	memset(message, 0, sizeof(*message));
	if (bytes < MAPPER_ENVELOPE_BYTES + MAPPER_TAG_BYTES)
		return false;
	codec.end = bytes - MAPPER_TAG_BYTES;
	pass_envelope(&codec, message, &body);
	if (codec.bad || (unsigned)body + MAPPER_ENVELOPE_BYTES != codec.end)
		return false;
	pass_body(&codec, message);
	if (codec.bad || codec.at != codec.end)
		return false;
	codec.end = bytes;
	if (!message->keyed)
		pass_zero(&codec, MAPPER_TAG_BYTES);
	return !codec.bad;
}

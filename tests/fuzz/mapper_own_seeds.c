/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* mapper_own_seeds FOLDER: writes the messages of devices to the mapper of mapper_fuzz: replies of
 * known devices and of a new one, in a new life and next to a mapper of higher priority, reports,
 * statuses. */

#include <stdio.h>
#include <string.h>

#include "fuzz_record.h"
#include "mapper_fabric_small.h"
#include "seed_file.h"
#include "wire/mapper_message.h"

#define COMMAND 0x07 /* tagged, corrected, answered */

static struct mapper_message from(enum mapper_type type, uint64_t sender)
{
	struct mapper_message message;

	memset(&message, 0, sizeof(message));
	message.type = (uint8_t)type;
	message.keyed = true;
	message.sender = sender;
	message.counter = 1;
	message.target = small_id(SMALL_SELF);
	message.target_session = SMALL_MAPPER_SESSION;
	return message;
}

static void put(FILE *out, const struct mapper_message *message, uint8_t command)
{
	uint8_t bytes[MAPPER_MESSAGE_MAX];

	fuzz_record_write(out, command, bytes, mapper_message_encode(message, bytes));
}

static struct mapper_message reply(uint64_t id, uint32_t session, uint8_t kind)
{
	struct mapper_message message = from(MAPPER_REPLY, id);

	message.reply = (struct mapper_reply){.probe = 1,
		.kind = kind,
		.ports = kind == 1 ? 1 : SMALL_PORTS,
		.flags = kind == 1 ? MAPPER_REPLY_CANDIDATE : 0,
		.session = session,
		.followed = small_id(SMALL_SELF),
		.number = MAPPER_NUMBER_NONE,
		.linked = kind == 1 ? 1 : 7};
	return message;
}

static void put_report(FILE *out, unsigned device, uint8_t port, bool up)
{
	struct mapper_message message = from(MAPPER_REPORT, small_id(device));

	message.report = (struct mapper_report){
		.sequence = 1, .session = small_session(device), .port = port, .up = up};
	put(out, &message, COMMAND | 0x80);
}

static void write_links(FILE *out)
{
	put_report(out, 0, 0, false);
	put_report(out, 0, 0, true);
	put_report(out, 2, 1, false);
	put_report(out, 1, 3, true);
	put_report(out, SMALL_SELF, 0, false); /* as if from the agent at the mapper */
}

/* A probe is outstanding while the fabric does not answer. */
static void write_replies(FILE *out)
{
	const struct mapper_message known = reply(small_id(1), small_session(1), 0),
				    anew = reply(small_id(1), 4711, 0), other = reply(77, 5, 0),
				    host = reply(78, 6, 1);
	struct mapper_message greater = reply(small_id(4), small_session(4), 1);

	greater.reply.followed = 1000;
	greater.reply.followed_priority = 9;
	put_report(out, 1, 3, true);
	put(out, &known, 0xF3);
	put(out, &anew, 0x03);
	put(out, &other, 0xF3);
	put(out, &host, 0x03);
	put(out, &greater, COMMAND | 0xF0);
}

static void write_statuses(FILE *out)
{
	for (unsigned device = 0; device < SMALL_DEVICES; device++) {
		struct mapper_message message = from(MAPPER_STATUS, small_id(device));

		message.status = (struct mapper_status){.epoch = 1,
			.staged_bytes = 8,
			.stage = MAPPER_STAGE_READY,
			.flags = MAPPER_STATUS_PAUSED | MAPPER_STATUS_IDLE,
			.session = small_session(device),
			.followed = small_id(SMALL_SELF)};
		put_report(out, 0, 1, device % 2 != 0);
		put(out, &message, 0x83);
	}
}

static int write_seed(const char *folder, const char *name, void (*write)(FILE *out))
{
	FILE *out = seed_open(folder, name);

	if (out == NULL)
		return 1;
	write(out);
	return fclose(out) != 0;
}

int main(int argc, char **argv)
{
	if (argc != 2)
		return 2;
	return write_seed(argv[1], "links", write_links) ||
	       write_seed(argv[1], "replies", write_replies) ||
	       write_seed(argv[1], "statuses", write_statuses);
}

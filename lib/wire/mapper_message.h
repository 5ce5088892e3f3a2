/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/*
 * Payloads of scout and mapper frames (docs/wire-format.md, 'Mapper payloads'): an envelope that
 * says who speaks to whom, a body by type, a tag of 16 bytes that authenticates both. Big-endian on
 * the wire, host order here. What a message means is docs/mapper.md; the tag is the business of
 * lib/mapper/fabric_key.h; here are only the bytes. Decoding checks every length and range and
 * refuses whatever encoding would not have written.
 */

#include <stdbool.h>
#include <stdint.h>

#include "frame.h"

#define MAPPER_ENVELOPE_BYTES 32
#define MAPPER_TAG_BYTES      16
#define MAPPER_BACK_MAX       FRAME_ROUTE_MAX
#define MAPPER_NAME_MAX       63
#define MAPPER_PORTS_MAX      64
#define MAPPER_NUMBER_NONE    0xFFFF
/* Of a part of an image, if a frame may have any length. */
#define MAPPER_PART_MAX 8192

/* Values on the wire; names for counters and reports. */
#define MAPPER_TYPES(X)               \
	X(PROBE, "probe")             \
	X(REPLY, "reply")             \
	X(TABLE, "table")             \
	X(PHASE, "phase")             \
	X(STATUS, "status")           \
	X(HEARTBEAT, "heartbeat")     \
	X(REPORT, "report")           \
	X(ACKNOWLEDGE, "acknowledge") \
	X(READ, "read")               \
	X(IMAGE, "image")

enum mapper_type {
	MAPPER_NO_TYPE,
#define X(name, text) MAPPER_##name,
	MAPPER_TYPES(X)
#undef X
		MAPPER_TYPE_COUNT
};

/* "probe", …; "unknown" for anything else. */
const char *mapper_type_name(unsigned type);

/* What a mapper's messages begin with: who it is, and the way for the answer. The device sends that
 * out of the port by which the question came; 'back' is what follows, ending in ROUTE_TYPE_AGENT.
 */
struct mapper_command {
	uint16_t priority;
	uint32_t session; /* the mapper's, nonzero; answers name it */
	uint8_t back_length;
	uint8_t back[MAPPER_BACK_MAX];
};

struct mapper_probe {
	uint32_t number; /* the answer repeats it */
	uint32_t epoch;  /* the mapper's last one */
};

#define MAPPER_REPLY_CANDIDATE 0x01 /* may be the mapper */
#define MAPPER_REPLY_PAUSED    0x02 /* injection is paused */
#define MAPPER_AGE_MAX         63

struct mapper_reply {
	uint32_t probe;
	uint8_t kind; /* 0 switch, 1 interface */
	uint8_t ports;
	uint8_t entry; /* port by which the probe came */
	uint8_t flags; /* MAPPER_REPLY_* */
	uint32_t session;
	uint32_t epoch;    /* of the tables in use; 0: none */
	uint64_t followed; /* mapper that it obeys; 0: none */
	uint16_t followed_priority;
	uint16_t priority; /* its own, of a candidate */
	uint16_t number;   /* host or switch number that it has or wants; MAPPER_NUMBER_NONE */
	uint8_t age;      /* of the tables in use: they are for 2^(age - 1) us and longer; 0: new */
	uint32_t version; /* of the software */
	uint64_t linked;  /* ports behind which the link layer knows somebody */
	uint64_t digest;  /* of the tables in use */
	uint8_t name_length;
	char name[MAPPER_NAME_MAX + 1];
};

/* A part of a device's image for an epoch. */
struct mapper_table {
	uint32_t epoch;
	uint32_t total; /* bytes of the image */
	uint32_t offset;
	uint16_t bytes; /* of this part, 1 to MAPPER_PART_MAX */
	const uint8_t *data;
};

enum mapper_phase_command {
	MAPPER_PAUSE = 1,
	MAPPER_COMMIT = 2,
	MAPPER_RESUME = 3,
	MAPPER_ABORT = 4,
};

#define MAPPER_PHASE_PURGE 0x01 /* with a pause: throw away what is stored */

struct mapper_phase {
	uint32_t epoch;
	uint8_t command; /* enum mapper_phase_command */
	uint8_t flags;
	uint16_t round; /* the status repeats it */
};

/* What a device has of the epoch that it was asked about. */
enum mapper_stage {
	MAPPER_STAGE_NONE,
	MAPPER_STAGE_PARTS, /* some of the image */
	MAPPER_STAGE_READY, /* all of it, and it is good */
	MAPPER_STAGE_REFUSED,
	MAPPER_STAGE_COUNT
};

#define MAPPER_STATUS_PAUSED 0x01
#define MAPPER_STATUS_IDLE   0x02 /* nothing stored, nothing in transit */

/* The answer to a table part and to a phase. */
struct mapper_status {
	uint32_t epoch; /* the one asked about */
	uint32_t staged_bytes;
	uint32_t committed; /* epoch in use */
	uint8_t stage;      /* enum mapper_stage */
	uint8_t flags;
	uint16_t round; /* of the phase that is answered, 0 of a table */
	uint32_t session;
	uint64_t followed;
	uint16_t followed_priority;
};

struct mapper_heartbeat {
	uint32_t epoch;
	uint16_t rank; /* the receiver's among those who stand by, from 0 */
};

/* A link of the sender went up or down. */
struct mapper_report {
	uint32_t sequence;
	uint32_t session; /* the sender's */
	uint8_t port;
	bool up;
};

struct mapper_acknowledge {
	uint32_t sequence; /* of the report */
};

/* What part of its image does it use? */
struct mapper_read {
	uint32_t offset;
	uint16_t bytes; /* at most, 1 to MAPPER_PART_MAX */
};

/* The answer: that part, or, if the image is not so long, its first one. */
struct mapper_image_part {
	uint32_t epoch; /* of the tables in use; 0: none */
	uint32_t total; /* bytes of the image; 0 without one, and then no part */
	uint32_t offset;
	uint64_t digest;
	uint16_t bytes; /* of this part, 1 to MAPPER_PART_MAX */
	const uint8_t *data;
};

struct mapper_message {
	uint8_t type;                  /* enum mapper_type */
	bool keyed;                    /* it carries a tag; without, the tag's place is zero */
	uint64_t sender, target;       /* identities; target 0: whoever it reaches */
	uint64_t counter;              /* of the sender, rises with each message */
	uint32_t target_session;       /* 0: not known */
	struct mapper_command command; /* only of those that mapper_type_is_command() */
	union {
		struct mapper_probe probe;
		struct mapper_reply reply;
		struct mapper_table table;
		struct mapper_phase phase;
		struct mapper_status status;
		struct mapper_heartbeat heartbeat;
		struct mapper_report report;
		struct mapper_acknowledge acknowledge;
		struct mapper_read read;
		struct mapper_image_part image;
	};
};

#define MAPPER_COMMAND_BYTES 40
#define MAPPER_REPLY_BYTES   116
#define MAPPER_TABLE_BYTES   16 /* before the data */
#define MAPPER_IMAGE_BYTES   24 /* likewise */
/* The longest payload. */
#define MAPPER_MESSAGE_MAX                                                                     \
	(MAPPER_ENVELOPE_BYTES + MAPPER_COMMAND_BYTES + MAPPER_TABLE_BYTES + MAPPER_PART_MAX + \
		MAPPER_TAG_BYTES)

/* Sent by a mapper; the others are answers and reports of devices. */
bool mapper_type_is_command(unsigned type);
/* FRAME_SCOUT for probes and their replies, else FRAME_MAPPER. */
enum frame_kind mapper_type_kind(unsigned type);

/* Writes envelope and body, and zeros in the place of the tag, which are the last MAPPER_TAG_BYTES.
 * Returns the bytes of all; 'out' has room for MAPPER_MESSAGE_MAX. The message is in range. */
unsigned mapper_message_encode(const struct mapper_message *message, uint8_t *out);

/* False if it is none that encoding could have written, the tag's value excepted. 'data' of a
 * table or an image points into 'in'. */
bool mapper_message_decode(struct mapper_message *message, const uint8_t *in, unsigned bytes);

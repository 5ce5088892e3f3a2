/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Payloads of scout and mapper frames (docs/reference/wire-format.md, 'Mapper payloads'): an
 * envelope that names sender and target, a body by type, and a tag of 16 bytes that authenticates
 * both. Big-endian on the wire, host byte order here. This header defines only the encoding: see
 * docs/explanation/the-mapper.md for the meaning of messages and lib/mapper/mapper_frame.h for the
 * tag. Decoding checks every length and range and refuses any encoding that mapper_message_encode()
 * would not write. */

#include <stdbool.h>
#include <stdint.h>

#include "frame.h"

#define MAPPER_ENVELOPE_BYTES 32
#define MAPPER_TAG_BYTES      16
#define MAPPER_BACK_MAX       32
#define MAPPER_NAME_MAX       63
#define MAPPER_PORTS_MAX      64
#define MAPPER_NUMBER_NONE    0xFFFF
/* Size of an image part if the frame length is not limited. */
#define MAPPER_PART_MAX 8192

enum mapper_type {
	MAPPER_NO_TYPE,
	MAPPER_PROBE,
	MAPPER_REPLY,
	MAPPER_TABLE,
	MAPPER_PHASE,
	MAPPER_STATUS,
	MAPPER_HEARTBEAT,
	MAPPER_REPORT,
	MAPPER_ACKNOWLEDGE,
	MAPPER_READ,
	MAPPER_IMAGE,
	MAPPER_TYPE_COUNT
};

/* Common header of a mapper's messages: its priority and session, and the return route. The device
 * sends the answer through the port on which the request arrived. 'back' is the rest of the route,
 * ending in ROUTE_TYPE_AGENT. */
struct mapper_command {
	uint16_t priority;
	uint32_t session; /* the mapper's session, nonzero; answers repeat it */
	uint8_t back_length;
	uint8_t back[MAPPER_BACK_MAX];
};

struct mapper_probe {
	uint32_t number; /* number of the probe; answers repeat it */
	uint32_t epoch;  /* the mapper's last epoch */
};

#define MAPPER_REPLY_CANDIDATE 0x01 /* the device may become the mapper */
#define MAPPER_REPLY_PAUSED    0x02 /* injection is paused */
#define MAPPER_AGE_MAX         63

struct mapper_reply {
	uint32_t probe;
	uint8_t kind; /* 0 switch, 1 interface */
	uint8_t ports;
	uint8_t entry; /* port on which the probe arrived */
	uint8_t flags; /* MAPPER_REPLY_* */
	uint32_t session;
	uint32_t epoch;    /* epoch of the tables in use; 0: none */
	uint64_t followed; /* the mapper that the device follows; 0: none */
	uint16_t followed_priority;
	uint16_t priority; /* the device's own priority, if it is a candidate */
	/* Host or switch number that the device has or requests, or MAPPER_NUMBER_NONE. */
	uint16_t number;
	uint8_t age;      /* n: tables in use for at least 2^(n - 1) us; 0: new */
	uint32_t version; /* hash of the version of Weft and of its formats */
	uint64_t linked;  /* ports on which the link layer has detected a neighbour */
	uint64_t digest;  /* digest of the tables in use */
	uint8_t name_length;
	char name[MAPPER_NAME_MAX + 1];
};

/* One part of a device's image for an epoch. */
struct mapper_table {
	uint32_t epoch;
	uint32_t total; /* image size in bytes */
	uint32_t offset;
	uint16_t bytes; /* size of this part, 1 to MAPPER_PART_MAX */
	const uint8_t *data;
};

enum mapper_phase_command {
	MAPPER_PAUSE = 1,
	MAPPER_COMMIT = 2,
	MAPPER_RESUME = 3,
	MAPPER_ABORT = 4,
};

#define MAPPER_PHASE_PURGE 0x01 /* with a pause: discard stored packets */

struct mapper_phase {
	uint32_t epoch;
	uint8_t command; /* enum mapper_phase_command */
	uint8_t flags;
	uint16_t round; /* number of the phase; the status repeats it */
};

/* Progress of a device towards the requested epoch. */
enum mapper_stage {
	MAPPER_STAGE_NONE,
	MAPPER_STAGE_PARTS, /* some parts of the image have arrived */
	MAPPER_STAGE_READY, /* the whole image has arrived and is valid */
	MAPPER_STAGE_REFUSED,
	MAPPER_STAGE_COUNT
};

#define MAPPER_STATUS_PAUSED 0x01
#define MAPPER_STATUS_IDLE   0x02 /* no packets stored or in transit */

/* The answer to a table part or a phase. */
struct mapper_status {
	uint32_t epoch; /* the requested epoch */
	uint32_t staged_bytes;
	uint32_t committed; /* epoch in use */
	uint8_t stage;      /* enum mapper_stage */
	uint8_t flags;
	uint16_t round; /* round of the answered phase; 0 for a table */
	uint32_t session;
	uint64_t followed;
	uint16_t followed_priority;
};

struct mapper_heartbeat {
	uint32_t epoch;
	uint16_t rank; /* the receiver's rank among the standby mappers, from 0 */
};

/* Reports that a link of the sender went up or down. */
struct mapper_report {
	uint32_t sequence;
	uint32_t session; /* the sender's session */
	uint8_t port;
	bool up;
};

struct mapper_acknowledge {
	uint32_t sequence; /* sequence number of the report */
};

/* Requests a part of the image in use. */
struct mapper_read {
	uint32_t offset;
	uint16_t bytes; /* maximum size of the part, 1 to MAPPER_PART_MAX */
};

/* The answer: the requested part, or the first part if the offset is past the end of the image. */
struct mapper_image_part {
	uint32_t epoch; /* epoch of the tables in use; 0: none */
	uint32_t total; /* image size in bytes; 0: no image, no data */
	uint32_t offset;
	uint64_t digest;
	uint16_t bytes; /* size of this part, 1 to MAPPER_PART_MAX */
	const uint8_t *data;
};

struct mapper_message {
	uint8_t type;            /* enum mapper_type */
	bool keyed;              /* the message carries a tag; otherwise the tag is zero */
	uint64_t sender, target; /* identities; target 0: the device that the message reaches */
	uint64_t counter;        /* the sender's counter, incremented with each message */
	uint32_t target_session; /* 0: not known */
	struct mapper_command command; /* only if mapper_type_is_command() */
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
#define MAPPER_TABLE_BYTES   16 /* without the data */
#define MAPPER_IMAGE_BYTES   24 /* without the data */
#define MAPPER_MESSAGE_MAX                                                                     \
	(MAPPER_ENVELOPE_BYTES + MAPPER_COMMAND_BYTES + MAPPER_TABLE_BYTES + MAPPER_PART_MAX + \
		MAPPER_TAG_BYTES)

/* Returns true for messages of a mapper; the others are answers and reports of devices. */
bool mapper_type_is_command(unsigned type);
/* Returns FRAME_SCOUT for probes and their replies, FRAME_MAPPER for all others. */
enum frame_kind mapper_type_kind(unsigned type);

/* Writes envelope, body and zeros in place of the tag (the last MAPPER_TAG_BYTES). All fields of
 * the message must be in range, and 'out' must hold MAPPER_MESSAGE_MAX bytes. Returns the total
 * bytes. */
unsigned mapper_message_encode(const struct mapper_message *message, uint8_t *out);

/* Returns false for bytes that mapper_message_encode() could not have written. Does not check the
 * tag. 'data' of a table or image points into 'in'. */
bool mapper_message_decode(struct mapper_message *message, const uint8_t *in, unsigned bytes);

/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* State of an audit, private to the files of this folder. A port has the index of the direction
 * (way) of the link that starts at it; its peer has the index way ^ 1. A frame is at a place: in a
 * device, or on a link in one direction. */

#include "audit.h"

#define AUDIT_NONE UINT32_MAX
/* Control frames never wait for credits, so none stays in the fabric longer than this. A port that
 * receives nothing for so long may have been cut. With a longer hello interval, or in a lab that
 * sleeps, a port that is up may also receive nothing for so long. */
#define AUDIT_CONTROL_NS UINT64_C(20000000)

enum audit_class { AUDIT_DATA, AUDIT_END_TO_END, AUDIT_LINK_LOCAL, AUDIT_CLASSES };

/* Frames in arrival order. */
struct audit_list {
	uint32_t first, last;
};

struct audit_mark {
	uint64_t time_ns, number;
	uint32_t file;
};

struct audit_frame {
	struct audit_list *list; /* NULL: in no list */
	uint32_t next, prev;     /* in the list */
	uint32_t chain;          /* next in the hash bucket */
	uint32_t place;
	uint32_t way; /* the port where it arrived or left */
	bool waits;   /* the preceding record is missing, so this one is not judged yet */
	bool passed;  /* a later frame left first, at 'passer' */
	/* If 'waits' is set, passer.number is the last identical frame that left; 0: none. */
	struct audit_mark seen, passer;
	uint64_t identity; /* hash that is the same on every link */
	uint64_t fixed;    /* hash of all bytes that no switch changes */
	uint64_t birth;    /* index of its first transmission; 0: unknown */
	uint32_t bytes;
	struct frame_header header;
	uint8_t route[FRAME_ROUTE_MAX];
	uint8_t output, vc_next; /* predicted when it enters a switch; AUDIT_UNKNOWN */
	uint8_t class;
};

#define AUDIT_UNKNOWN 0xFF

struct audit_port {
	struct topology_port at;
	uint32_t device;
	bool captured;
	bool whole; /* all ports of the device are captured */
	bool timed;
	uint64_t byte_time, delay_ps, free_ps;
	struct audit_list on_link[AUDIT_CLASSES]; /* frames that were sent and have not arrived */
	/* Credits per VC. Each set holds the VCs whose value is known. */
	uint16_t limit_known, granted_known, reported_known;
	uint64_t arrived_ns; /* time of the last arrival at the peer; 0: none */
	/* Set of classes with no arrivals since a silence in which the link may have been cut. */
	uint8_t cut;
	uint64_t credit_in, credit_out; /* record numbers of the last credit frames */
	uint32_t sent[FRAME_VCS_MAX],
		reported[FRAME_VCS_MAX]; /* blocks counted; blocks reported in its credit frames */
	uint32_t limit[FRAME_VCS_MAX];   /* last limit received */
	uint32_t granted[FRAME_VCS_MAX], capacity[FRAME_VCS_MAX];
	uint32_t released[FRAME_VCS_MAX], stored[FRAME_VCS_MAX];
	uint32_t session;
	/* The last data transmission. On the virtual clock, the input 'way' releases its blocks
	 * when the transmission ends. */
	struct audit_leaving {
		uint32_t way, blocks;
		uint64_t until_ps;
		uint8_t vc;
	} leaving;
	/* Switches only. queue[output or 'ports'][vc]: frames that arrived. 'waiting': set of
	 * inputs with frames waiting for this output. passed[input]: inputs that sent to this
	 * output while 'input' could have. */
	struct audit_list *queue;
	uint64_t waiting, *passed;
};

/* Data sent from one host to another. */
struct audit_pair {
	uint64_t key;           /* 0: free slot */
	uint64_t birth[2];      /* birth of the last arrival: [0] not adapted, [1] adapted */
	uint32_t sent, arrived; /* latest sequence numbers */
	uint32_t first;   /* first sequence number of the flow, minus the window if 'numbered' */
	uint32_t message; /* message number of the last frame sent */
	uint32_t offered; /* last flow offered by the receiver; 0: none */
	bool began, received; /* a frame was sent; a frame first sent within the capture arrived */
	bool numbered;        /* numbers were checked, or the flow started in the capture */
	bool ended;           /* the last frame sent ended its message */
	uint8_t vc;           /* VC of the last frame sent */
};

#define AUDIT_GHOSTS (1u << 16)

struct audit {
	struct audit_rules rules;
	struct audit_port *port; /* [ways] */
	uint32_t ways, devices;
	uint32_t *way_of; /* [switch * TOPOLOGY_PORTS_MAX + port]; AUDIT_NONE */
	struct audit_list *lists;
	uint64_t *sets;
	struct audit_frame *frame;
	uint32_t frames, room, spare;
	uint32_t *bucket;
	uint32_t buckets, hashed;
	struct audit_list waiting;
	struct audit_ghost {
		uint64_t key, number;
	} * ghost; /* [AUDIT_GHOSTS]: frames that have left a place */
	struct audit_pair *pair;
	uint32_t pairs, pair_room;
	uint32_t *offset; /* [host]: capture time minus the host's clock, in ns modulo 2^32 */
	bool *offset_known;
	uint64_t births, now_ns;
	struct audit_finding finding[AUDIT_KIND_COUNT];
	struct audit_counts counts;
	bool failed; /* out of memory */
};

/* The record being added, its frame, which is not in any place yet, and its comment's values. */
struct audit_seen {
	const struct audit_frame_at *at;
	struct audit_port *port;
	struct audit_frame frame;
	const uint8_t *bytes; /* header, route and the captured part of the payload */
	uint32_t payload_at, payload_bytes;
	bool has_credits, discarded, refused;
	uint32_t credits;
};

/* Returns an array that is true for each device with uncaptured ports. The caller frees it. Returns
 * NULL if out of memory. */
bool *audit_partial_devices(const struct topology *topology, const bool *captured);

/* Writes text such as "kind 1, 0 to 5, message 3, sequence 17". Returns 'text'. */
#define AUDIT_TEXT 96
const char *audit_describe(const struct audit_frame *frame, char text[AUDIT_TEXT]);

void audit_report(struct audit *audit, enum audit_kind kind, const struct audit_mark *mark,
	const char *format, ...) __attribute__((format(printf, 4, 5)));
/* Writes the port's name. Returns 'text'. */
const char *audit_port_name(
	const struct audit *audit, uint32_t way, char text[TOPOLOGY_NAME_MAX + 8]);

static inline uint32_t audit_blocks(const struct audit_frame *frame)
{
	return frame_blocks(frame->bytes);
}

static inline uint32_t audit_place_of_way(const struct audit *audit, uint32_t way)
{
	return audit->devices + way;
}

/* Stores a copy of the frame at a place and appends it to 'list' (may be NULL). Returns its index,
 * or AUDIT_NONE if out of memory. */
uint32_t audit_keep(struct audit *audit, const struct audit_frame *frame, uint32_t place,
	struct audit_list *list);
/* Returns the oldest frame with this identity at a place, or AUDIT_NONE. */
uint32_t audit_find(const struct audit *audit, uint64_t identity, uint32_t place);
/* Returns the next newer frame with the same identity and place, or AUDIT_NONE. */
uint32_t audit_find_next(const struct audit *audit, uint32_t index);
/* Removes the frame from its place and list. The result is valid until the next audit_keep(). */
struct audit_frame *audit_take(struct audit *audit, uint32_t index);
/* Returns the record of the last frame with this identity that left the place; 0: none known. */
uint64_t audit_ghost_of(const struct audit *audit, const struct audit_frame *frame);
/* Marks the frames ahead of 'index' in its list as overtaken. Frames from before the capture was
 * complete are dropped instead, because they may have arrived while their port was not captured. */
void audit_pass(struct audit *audit, uint32_t index, const struct audit_mark *mark);
/* Returns whether the frame may have been in flight when the capture started. */
bool audit_began_before(const struct audit *audit, const struct audit_frame *frame);
/* Holds a record without its predecessor until the latter is read or can no longer arrive. */
void audit_wait(struct audit *audit, const struct audit_frame *frame, uint32_t place);

/* Returns the pair's record, or NULL if out of memory. */
struct audit_pair *audit_pair_of(struct audit *audit, uint16_t source, uint16_t destination);

/* audit_link.c: call when a frame leaves a port or arrives at one. audit_link_in() returns false if
 * the frame does not enter the device. */
void audit_link_out(struct audit *audit, struct audit_seen *seen);
bool audit_link_in(struct audit *audit, struct audit_seen *seen);
/* Counts the frame's blocks as released by the input where it arrived. */
void audit_release(struct audit *audit, const struct audit_frame *frame);

/* audit_device.c: call when a frame leaves or enters a device. */
void audit_device_out(struct audit *audit, struct audit_seen *seen);
void audit_device_in(struct audit *audit, struct audit_seen *seen);
/* Call when a device discards a frame that it stored. */
void audit_device_gone(struct audit *audit, struct audit_seen *seen);

/* audit_host.c: the same for a host. */
void audit_host_out(struct audit *audit, struct audit_seen *seen);
void audit_host_in(struct audit *audit, struct audit_seen *seen);

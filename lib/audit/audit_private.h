/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The state of an audit, for the files of this folder. A port has the number of the way (one
 * direction of a link) that starts at it; its peer is the other direction of the link, way ^ 1. A
 * frame is at a place: in a device, or on a way. */

#include "audit.h"

#define AUDIT_NONE UINT32_MAX
/* Control frames never wait for credits, so none is in the fabric for longer than this. A port that
 * is up always receives something within this time, because hellos and credits repeat. */
#define AUDIT_CONTROL_NS UINT64_C(20000000)

enum audit_class { AUDIT_DATA, AUDIT_END_TO_END, AUDIT_LINK_LOCAL, AUDIT_CLASSES };

/* Frames in order of arrival. */
struct audit_list {
	uint32_t first, last;
};

struct audit_mark {
	uint64_t time_ns, number;
	uint32_t file;
};

struct audit_frame {
	struct audit_list *list; /* NULL: in none */
	uint32_t next, prev;     /* in the list */
	uint32_t chain;          /* next in the hash bucket */
	uint32_t place;
	uint32_t way; /* the direction in which it arrived or left */
	bool waits;   /* the record before this one is missing: not judged yet */
	bool passed;  /* a later one left, at 'passer' */
	/* Where 'waits': passer is the earlier frame like it, if there was one. */
	struct audit_mark seen, passer;
	uint64_t identity; /* identifies the frame on every link */
	uint64_t fixed;    /* over all bytes that no switch changes */
	uint64_t birth;    /* number of its first transmission */
	uint32_t bytes;
	struct frame_header header;
	uint8_t route[FRAME_ROUTE_MAX];
	uint8_t output, vc_next; /* in a switch, predicted; AUDIT_UNKNOWN */
	uint8_t class;
};

#define AUDIT_UNKNOWN 0xFF

struct audit_port {
	struct topology_port at;
	uint32_t device;
	bool captured;
	bool whole; /* all ports of its device are captured */
	bool timed;
	uint64_t byte_time, delay_ps, free_ps;
	struct audit_list on_link[AUDIT_CLASSES]; /* frames that left and have not arrived */
	/* Credits by VC; sets of VCs whose values are known. */
	uint16_t limit_known, granted_known, reported_known;
	uint64_t arrived_ns; /* when its peer last received something; 0: never */
	/* Set of classes: its link was silent long enough to have been down, and nothing of the
	 * class has arrived since. */
	uint8_t cut;
	uint64_t credit_in, credit_out; /* numbers of the last such frames in the file */
	uint32_t sent[FRAME_VCS_MAX], reported[FRAME_VCS_MAX]; /* counted, in its credit frames */
	uint32_t limit[FRAME_VCS_MAX];                         /* that had arrived */
	uint32_t granted[FRAME_VCS_MAX], capacity[FRAME_VCS_MAX];
	uint32_t released[FRAME_VCS_MAX], stored[FRAME_VCS_MAX];
	uint32_t session;
	/* The last transmission of data: on the virtual clock the input's blocks count as released
	 * when it ends. */
	struct audit_leaving {
		uint32_t way, blocks;
		uint64_t until_ps;
		uint8_t vc;
	} leaving;
	/* Switches only. 'queue': frames that arrived, [output or 'ports'][vc]. 'waiting', per
	 * output: the inputs where frames wait for it. 'passed', [input]: frames that left while
	 * that input could have sent. */
	struct audit_list *queue;
	uint64_t waiting, *passed;
};

/* Data from one host to another. */
struct audit_pair {
	uint64_t key;           /* 0: free */
	uint64_t birth[2];      /* latest arrival; latest adapted frame */
	uint32_t sent, arrived; /* latest sequence number */
	uint32_t first;         /* frame of the flow; a window earlier if none preceded it */
	uint32_t message;       /* message of the last frame sent */
	uint32_t offered;       /* flow that the receiver offered */
	bool began, received;   /* any frame was sent; a frame arrived that was not sent before */
	bool numbered;          /* numbers were checked, or all frames are in the capture */
	bool ended;             /* the latest frame sent is the last one of its message, */
	uint8_t vc;             /* in this VC */
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
	} * ghost; /* [AUDIT_GHOSTS] frames that left a place */
	struct audit_pair *pair;
	uint32_t pairs, pair_room;
	uint32_t *offset; /* [host]: capture time minus its clock, ns modulo 2^32 */
	bool *offset_known;
	uint64_t births, now_ns;
	struct audit_finding finding[AUDIT_KIND_COUNT];
	struct audit_counts counts;
	bool failed; /* out of memory */
};

/* The record that is being added: its frame, which is not in any place yet, and the contents of its
 * comment. */
struct audit_seen {
	const struct audit_frame_at *at;
	struct audit_port *port;
	struct audit_frame frame;
	const uint8_t *bytes; /* header, route and payload as far as they were captured */
	uint32_t payload_at, payload_bytes;
	bool has_credits, discarded, refused;
	uint32_t credits;
};

/* [device]: true if some of its ports are not captured. Returns NULL if out of memory. */
bool *audit_partial_devices(const struct topology *topology, const bool *captured);

/* "h0>h5 message 3 frame 17" */
#define AUDIT_TEXT 96
const char *audit_describe(const struct audit_frame *frame, char text[AUDIT_TEXT]);

void audit_report(struct audit *audit, enum audit_kind kind, const struct audit_mark *mark,
	const char *format, ...) __attribute__((format(printf, 4, 5)));
/* The name of a port, for messages. */
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

/* Keeps a copy of the frame at a place, at the end of 'list' (may be NULL). Returns its index, or
 * AUDIT_NONE if out of memory. */
uint32_t audit_keep(struct audit *audit, const struct audit_frame *frame, uint32_t place,
	struct audit_list *list);
/* The oldest frame with this identity at a place, or AUDIT_NONE. */
uint32_t audit_find(const struct audit *audit, uint64_t identity, uint32_t place);
/* The next newer frame with the same identity and place, or AUDIT_NONE. */
uint32_t audit_find_next(const struct audit *audit, uint32_t index);
/* Removes the frame from its place and list, and returns it; valid until the next is kept. */
struct audit_frame *audit_take(struct audit *audit, uint32_t index);
/* Number of the latest frame with this identity that left the place; 0: none, or forgotten. */
uint64_t audit_ghost_of(const struct audit *audit, const struct audit_frame *frame);
/* Marks the frames ahead of 'index' in its list as overtaken by it. Frames from before the capture
 * was complete may have arrived where nothing was captured yet: they are dropped. */
void audit_pass(struct audit *audit, uint32_t index, const struct audit_mark *mark);
/* The frame may have been in flight when the capture started. */
bool audit_began_before(const struct audit *audit, const struct audit_frame *frame);
/* A record without its predecessor is kept until that arrives, or for some time. */
void audit_wait(struct audit *audit, const struct audit_frame *frame, uint32_t place);

/* The pair's record, or NULL if out of memory. */
struct audit_pair *audit_pair_of(struct audit *audit, uint16_t source, uint16_t destination);

/* audit_link.c: the frame leaves a port, or arrives at it. The second returns false if it does not
 * enter the device. */
void audit_link_out(struct audit *audit, struct audit_seen *seen);
bool audit_link_in(struct audit *audit, struct audit_seen *seen);
/* The blocks of a frame left the input. */
void audit_release(struct audit *audit, const struct audit_frame *frame);

/* audit_device.c: the frame leaves a device or enters it. */
void audit_device_out(struct audit *audit, struct audit_seen *seen);
void audit_device_in(struct audit *audit, struct audit_seen *seen);
/* The device discards a frame that it stored. */
void audit_device_gone(struct audit *audit, struct audit_seen *seen);

/* audit_host.c: likewise, for a host. */
void audit_host_out(struct audit *audit, struct audit_seen *seen);
void audit_host_in(struct audit *audit, struct audit_seen *seen);

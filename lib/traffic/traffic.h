/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Traffic sources: the messages of one host, with their destinations and times. A source provides
 * the message that is due; its driver passes it to the interface and reports the result. The
 * schedule does not wait for the interface (open loop). If the interface refuses messages, the
 * source is late: messages carry the time at which they should have been sent, and those that it
 * could not send still count as generated.
 *
 * A pattern defines the destinations (traffic_pattern.h).
 *
 * Load is a share of the link rate. It includes all costs of a frame on the wire (header, route,
 * preamble, gap), so 100 % is the link's capacity. Without frames (wormhole switching), it is
 * computed from the messages' bytes alone. For bursty sources it is the overall mean: within
 * bursts, the load is higher and must not exceed 100 %. */

#include <stdbool.h>
#include <stdint.h>

#include "arrivals.h"
#include "base/quantity.h"
#include "base/rng.h"
#include "base/weft_error.h"
#include "base/weft_time.h"
#include "queuing/queuing.h"
#include "rails.h"

#define TRAFFIC_BURST_MAX_PS (1000 * PS_PER_S)
#define TRAFFIC_ROUTE_BYTE   65536u /* mean_route is in units of 1 / TRAFFIC_ROUTE_BYTE bytes */

struct traffic_pattern;

/* A packet in a capture. */
struct traffic_packet {
	weft_time at_ps; /* time since the capture's first packet, scaled */
	uint32_t bytes : 31;
	uint32_t drawn : 1; /* 1: destination drawn from the targets; 0: 'to' */
	uint16_t from, to;
};

/* The keys of an entry of 'traffic' that sources use as they are. Run files are read into this
 * struct, which the sources copy as a whole; a new key of a pattern belongs here. */
struct traffic_values {
	uint32_t load_ppm;            /* share of the link rate */
	uint32_t message_bytes;       /* SYNTHETIC_PREFIX_BYTES or more */
	uint32_t other_message_bytes; /* bimodal: the second length */
	uint32_t other_share_ppm;     /* share of messages with the second length; 0: one length */
	/* Upper ends of uniformly distributed lengths that start at these two; 0: fixed lengths. */
	uint32_t message_max_bytes, other_message_max_bytes;
	enum arrivals_kind arrivals;
	weft_time on_ps, off_ps; /* bursty: mean durations, up to TRAFFIC_BURST_MAX_PS */
	uint32_t switches;       /* local, combined: radius in links; UINT32_MAX: unset */
	uint32_t share_ppm;      /* hotspot, combined: share of messages for 'to'; 0: all */
};

struct traffic_config {
	const struct traffic_pattern *pattern;
	struct traffic_values value;
	uint16_t host;  /* sender */
	uint32_t hosts; /* number of hosts */
	uint16_t index; /* distinguishes the sources of a host */
	uint8_t entry;  /* index in the run's traffic; for measurements only */
	uint64_t seed;
	uint64_t rate_bps;           /* link rate */
	bool bare;                   /* no frames: only the messages' bytes count */
	uint32_t frame_bytes;        /* payload of a full frame (the interface's mtu_bytes) */
	uint32_t mean_route;         /* mean route bytes per frame, times TRAFFIC_ROUTE_BYTE */
	weft_time start_ps, stop_ps; /* stop_ps WEFT_TIME_NEVER: unlimited */
	uint8_t sl;
	/* Splits a source into one per queue of a scheme, so that a full queue blocks only itself.
	 * All follow the same schedule; this one provides the messages for queue 'lane', and lane 0
	 * counts the messages of all. NULL: not split. Owned by the caller. */
	const struct queuing *queuing;
	uint8_t lane;
	/* The lists remain the caller's and are used only during the call. */
	/* hotspot, combined: the hot spots. uniform, all-to-all: the destinations, in ascending
	 * order; count 0: all hosts. */
	const uint16_t *targets;
	uint32_t targets_count;
	/* local, combined: the hosts within reach, possibly including the sender. */
	const uint16_t *near;
	uint32_t near_count;
	/* permutation: [hosts] destinations; a host that maps to itself does not send. */
	const uint16_t *permutation;
	/* pcap: the packets of this host, sorted by time, in place of load, lengths and arrivals.
	 * Owned by the caller; must outlive the source. */
	const struct traffic_packet *packet;
	uint32_t packets;
	uint32_t loops;    /* number of passes over the packets */
	weft_time loop_ps; /* interval between passes */
	/* For hosts with several ports; NULL: 'host' is the port. Otherwise 'host', 'hosts' and all
	 * lists use the numbers of rails.h, 'port' is the sender's entry, and destinations are
	 * entries. Owned by the caller. A port that reaches no destination sends nothing. */
	const struct rails *rails;
	enum rail_rule rail;
	uint16_t port;
};

/* Returns the share of the messages that hotspot and combined send to any host. */
static inline uint32_t traffic_elsewhere_ppm(const struct traffic_config *config)
{
	return config->value.share_ppm == 0 ? 0 : QUANTITY_WHOLE_PPM - config->value.share_ppm;
}

/* Returns the sender's entry in the topology, under which it is measured. */
static inline uint16_t traffic_port(const struct traffic_config *config)
{
	return config->rails != NULL ? config->port : config->host;
}

/* A due message. */
struct traffic_message {
	uint16_t destination;
	uint8_t sl;
	uint32_t bytes;
	weft_time generated_ps;
};

struct traffic_counters {
	uint64_t generated_messages, generated_bytes; /* due by the last check */
	uint64_t accepted_messages, accepted_bytes;   /* accepted by the interface */
};

struct traffic;

/* Returns NULL with error EINVAL (lengths, load or targets out of range, or hosts that the pattern
 * does not allow) or ENOMEM. */
struct traffic *traffic_create(const struct traffic_config *config, struct error *error);
void traffic_destroy(struct traffic *traffic);

/* Fills in the message that is due at 'now'. It stays the same until it is accepted or skipped.
 * Returns false if no message is due. */
bool traffic_poll(struct traffic *traffic, weft_time now, struct traffic_message *message);
void traffic_accept(struct traffic *traffic);
/* Skips a message that the interface can never accept (no route). It is counted only as generated.
 */
void traffic_skip(struct traffic *traffic);

/* An accepted message, and what is known of the next one. */
struct traffic_taken {
	struct traffic_message message;
	weft_time next_ps;         /* due time; WEFT_TIME_NEVER: none will follow */
	uint16_t next_destination; /* undefined if none will follow */
};

/* Accepts the next message if it is due by 'latest', which may be ahead of the clock. Returns false
 * if there is none; then only next_ps is set. traffic_count() counts it as generated. A source is
 * used with either traffic_take() or traffic_poll() (see traffic_turn_to_polling()); a source with
 * lanes must be polled. */
bool traffic_take(struct traffic *traffic, weft_time latest, struct traffic_taken *taken);
/* Switches from traffic_take() to traffic_poll(). No accepted message may be ahead of the clock. */
void traffic_turn_to_polling(struct traffic *traffic);
/* Returns when the n-th remaining message is due, or the last one if there are fewer; 0: none left.
 */
weft_time traffic_due_of(const struct traffic *traffic, unsigned n);

/* Counts messages due by 'now', as traffic_poll() does. */
void traffic_count(struct traffic *traffic, weft_time now);
/* Ends the source at the end of a run: counts messages due by 'now', which will no longer be sent.
 * A pending message is discarded. */
void traffic_abandon(struct traffic *traffic, weft_time now);

/* Returns when the next message is available: 0 if one is pending, WEFT_TIME_NEVER if none will
 * follow. */
weft_time traffic_due(const struct traffic *traffic);

/* Returns when the next message would be due if the source had no end. WEFT_TIME_NEVER: it sends
 * nothing, or was abandoned. */
weft_time traffic_next(const struct traffic *traffic);

/* Returns the destination of the next message, as a hint for prefetching. Undefined if there is
 * none. */
uint16_t traffic_next_destination(const struct traffic *traffic);

/* Prefetches the memory that the next message needs. */
void traffic_fetch(const struct traffic *traffic);

/* Returns true if no message is due now or later. */
bool traffic_finished(const struct traffic *traffic, weft_time now);

const struct traffic_counters *traffic_counters(const struct traffic *traffic);
/* Returns the exact number of frames of the generated messages. */
uint64_t traffic_generated_frames(const struct traffic *traffic);
/* Returns the bytes on the wire of the generated messages, each as full frames and a shorter one.
 * Exact, except that routes have the mean length. */
uint64_t traffic_generated_wire_bytes(const struct traffic *traffic);
const struct traffic_config *traffic_config(const struct traffic *traffic);

/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Traffic sources: the messages of one host, their destinations and times. A source provides the
 * message that is due; its driver passes it to the interface and reports that. The schedule does
 * not wait for the interface (open loop): if the interface refuses, the source is late, its
 * messages carry the time at which they should have left, and those that it could not send still
 * count as generated.
 *
 * A pattern defines where messages go (traffic_pattern.h).
 *
 * Load is a share of the link's rate, including everything that a frame costs on the wire (header,
 * route, preamble, gap), so 100 % is what the link can carry; where there are no frames (wormhole
 * switching) it is the messages' bytes alone. It is the mean, also of bursty sources: within bursts
 * the load is higher, and must not be above 100 % there. */

#include <stdbool.h>
#include <stdint.h>

#include "arrivals.h"
#include "base/rng.h"
#include "base/weft_error.h"
#include "base/weft_time.h"
#include "queuing/queuing.h"
#include "rails.h"

#define TRAFFIC_BURST_MAX_PS (1000 * PS_PER_S)
#define TRAFFIC_ROUTE_BYTE   65536u /* mean routes are in parts of a byte */

struct traffic_pattern;

/* A packet of a capture. */
struct traffic_packet {
	weft_time at_ps; /* after the first packet of the capture, scaled */
	uint32_t bytes : 31;
	uint32_t drawn : 1; /* to one of the source's targets, drawn; else to 'to' */
	uint16_t from, to;
};

struct traffic_config {
	const struct traffic_pattern *pattern;
	uint16_t host;  /* the sender */
	uint32_t hosts; /* how many there are */
	uint16_t index; /* distinguishes several sources of one host */
	uint8_t entry;  /* index in the run's traffic: for measurements, without effect */
	uint64_t seed;
	uint64_t rate_bps;            /* rate of the link */
	uint32_t load_ppm;            /* share of the rate */
	bool bare;                    /* no frames: messages cost only their bytes */
	uint32_t frame_bytes;         /* payload of a full frame, as the interface's mtu_bytes */
	uint32_t mean_route;          /* bytes of route per frame / TRAFFIC_ROUTE_BYTE */
	uint32_t message_bytes;       /* SYNTHETIC_PREFIX_BYTES or more */
	uint32_t other_message_bytes; /* bimodal: the other length */
	uint32_t other_share_ppm;     /* share of messages that have it; 0: fixed length */
	/* Lengths drawn, all equally likely, from each of the two up to this; 0: fixed. */
	uint32_t message_max_bytes, other_message_max_bytes;
	enum arrivals_kind arrivals;
	weft_time on_ps, off_ps;     /* bursty: mean times, up to TRAFFIC_BURST_MAX_PS */
	weft_time start_ps, stop_ps; /* stop_ps WEFT_TIME_NEVER: no end */
	uint8_t sl;
	/* One source as several, one for each queue of a scheme: they all read the same schedule,
	 * and this one provides what goes into queue 'lane', so a full queue holds up only itself;
	 * the one of lane 0 counts what all generate. NULL: the whole. The caller's. */
	const struct queuing *queuing;
	uint8_t lane;
	/* Lists are the caller's and are needed only during the call. */
	/* hotspot, combined: the hot spots. uniform, all-to-all: the destinations, ascending; none:
	 * all hosts. */
	const uint16_t *targets;
	uint32_t targets_count;
	uint32_t elsewhere_ppm; /* hotspot, combined: share of its messages that go to any host */
	/* local, combined: the hosts within reach; the sender may be among them. */
	const uint16_t *near;
	uint32_t near_count;
	/* permutation: [hosts], the host itself: it does not send. */
	const uint16_t *permutation;
	/* pcap: the packets of this host, ascending in time, in place of load, lengths and
	 * arrivals. Owned by the caller; must outlive the source. */
	const struct traffic_packet *packet;
	uint32_t packets;
	uint32_t loops;    /* how many times they are sent */
	weft_time loop_ps; /* from one loop to the next */
	/* Hosts with several ports; NULL: 'host' is the port. Otherwise 'host', 'hosts' and all
	 * lists have the numbers of rails.h, 'port' is the sender's entry, and messages go to
	 * entries. Owned by the caller. A port that reaches no destination sends nothing. */
	const struct rails *rails;
	enum rail_rule rail;
	uint16_t port;
};

/* The sender's entry in the topology, under which it is measured. */
static inline uint16_t traffic_port(const struct traffic_config *config)
{
	return config->rails != NULL ? config->port : config->host;
}

/* A message that is due. */
struct traffic_message {
	uint16_t destination;
	uint8_t sl;
	uint32_t bytes;
	weft_time generated_ps;
};

struct traffic_counters {
	uint64_t generated_messages, generated_bytes; /* fallen due by the last check */
	uint64_t accepted_messages, accepted_bytes;   /* how many of these the interface took */
};

struct traffic;

/* Returns NULL with error set (EINVAL, ENOMEM): lengths, load or targets out of range, or hosts
 * that the pattern does not allow. */
struct traffic *traffic_create(const struct traffic_config *config, struct error *error);
void traffic_destroy(struct traffic *traffic);

/* Fills in the message that is due at 'now', the same one until it is accepted. Returns false if
 * there is none. */
bool traffic_poll(struct traffic *traffic, weft_time now, struct traffic_message *message);
void traffic_accept(struct traffic *traffic);
/* Skips a message that the interface can never accept (no route). It is counted only as
 * generated. */
void traffic_skip(struct traffic *traffic);

/* A message that was taken, and the known properties of the next one. */
struct traffic_taken {
	struct traffic_message message;
	weft_time next_ps;         /* when it falls due; WEFT_TIME_NEVER: there will be none */
	uint16_t next_destination; /* means nothing then */
};

/* The next message, if it falls due by 'latest', which may be ahead of the clock: it is accepted.
 * Returns false if there is none; then only next_ps is set. traffic_count() counts it as generated.
 * A source is either taken from or polled (traffic_turn_to_polling()), and one with lanes is
 * polled. */
bool traffic_take(struct traffic *traffic, weft_time latest, struct traffic_taken *taken);
/* Switches from traffic_take() to traffic_poll(). Nothing that was taken is ahead of the clock. */
void traffic_turn_to_polling(struct traffic *traffic);
/* When the n-th remaining message falls due, or the last one if there are fewer; 0: there is
 * none. */
weft_time traffic_due_of(const struct traffic *traffic, unsigned n);

/* Counts what fell due by 'now', as traffic_poll() does. */
void traffic_count(struct traffic *traffic, weft_time now);
/* Counts what fell due by 'now' and will no longer be sent: the end of a run. The message that is
 * due is forgotten. */
void traffic_abandon(struct traffic *traffic, weft_time now);

/* When a message is available: 0 if one was provided and is not accepted, WEFT_TIME_NEVER if there
 * will be none. */
weft_time traffic_due(const struct traffic *traffic);

/* When the next message would fall due if the source had no end; WEFT_TIME_NEVER: it sends nothing,
 * or was abandoned. */
weft_time traffic_next(const struct traffic *traffic);

/* The destination of the next message: a hint for prefetching. Meaningless if there is no next
 * message. */
uint16_t traffic_next_destination(const struct traffic *traffic);

/* Prefetches the memory that the next message needs. */
void traffic_fetch(const struct traffic *traffic);

/* True if nothing is due now or later. */
bool traffic_finished(const struct traffic *traffic, weft_time now);

const struct traffic_counters *traffic_counters(const struct traffic *traffic);
/* Frames of the generated messages: exact. */
uint64_t traffic_generated_frames(const struct traffic *traffic);
/* Bytes of the generated messages on the wire, each as full frames and a shorter one: exact, except
 * that routes have the mean length. */
uint64_t traffic_generated_wire_bytes(const struct traffic *traffic);
const struct traffic_config *traffic_config(const struct traffic *traffic);

/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The parts of a wormhole network, shared by its files (wormhole_*.c) and nobody else. */

#include "event_queue.h"
#include "itb_pool.h"
#include "itb_share.h"
#include "wormhole_net.h"
#include "wormhole_runs.h"

#define WORMHOLE_NONE UINT32_MAX

/*
 * Times in the event queue are cycles with the phase of the cycle in the last two bits; the
 * decisions (docs/wormhole.md) come between ARRIVAL and EMISSION, without an event.
 */
enum wormhole_phase { WORMHOLE_SIGNAL, WORMHOLE_ARRIVAL, WORMHOLE_EMISSION, WORMHOLE_MARK };

#define WORMHOLE_AT(cycle, phase) ((cycle) << 2 | (phase))
#define WORMHOLE_CYCLE(at)        ((at) >> 2)

/* What an event is. One that has lost its reason stays in the queue: whoever it is for knows for
 * when he asked. */
enum wormhole_event {
	WORMHOLE_STOP,   /* reaches the sender of channel 'item' */
	WORMHOLE_GO,     /* likewise */
	WORMHOLE_HEADER, /* message 'item' has its header at the end of a channel */
	WORMHOLE_WAKE,   /* host 'item' may have something to send */
	WORMHOLE_TAIL,   /* the tail leaves on channel 'item' */
	WORMHOLE_LEVEL,  /* the buffer of channel 'item' may have passed a mark */
};

/* One direction of a link: what its sender does, and the buffer at its end. The counts of flits
 * are totals since the beginning. */
struct wormhole_channel {
	struct wormhole_runs runs; /* that its sender has emitted */
	/* The sender. */
	uint64_t start_at; /* from when on the holder's first flit may leave */
	uint64_t tail_at;  /* when its tail leaves unless it is stopped; WORMHOLE_NEVER */
	uint64_t base;     /* total when the holder got the channel */
	uint64_t request;  /* of a switch's output: inputs that want it */
	uint32_t holder;   /* message */
	uint32_t from;     /* channel whose buffer feeds it; none at a host */
	bool stopped;
	bool transit;  /* of a host: the holder was absorbed by it */
	bool asked;    /* is in the list of those that have a decision to make */
	uint8_t next;  /* input that is asked first */
	uint8_t delay; /* cycles */
	uint8_t to_port;
	uint32_t to_channel; /* first channel out of the switch at the end; none: it is a host */
	uint32_t to_device;
	uint32_t back; /* the other direction of the link */
	/* The buffer at the end; none at a host. */
	uint32_t head, waiting, last; /* messages in it: the first one, those behind it */
	uint32_t out;                 /* channel that has been granted to the first one */
	bool stop_sent;
	uint64_t drained;  /* total of the messages that have left completely */
	uint64_t level_at; /* when its next LEVEL event is; WORMHOLE_NEVER */
	/* What was measured. */
	uint64_t stopped_at, stopped_cycles;
};

struct wormhole_host {
	uint64_t wake_at;       /* its next WAKE event */
	uint32_t transit, last; /* messages in transit, by arrival */
	uint64_t absorbed;
	struct itb_share turn;
	struct itb_pool pool;
};

/* Channels or buffers with something to do in the decisions of a cycle. */
struct wormhole_list {
	uint32_t *at;
	uint32_t count;
};

struct wormhole_net {
	const struct topology *topology;
	struct wormhole_parameters parameters;
	const struct wormhole_ops *ops;
	void *ctx;
	struct event_queue *events;
	/* Out of switch 0's ports, switch 1's, …, then by host. */
	struct wormhole_channel *channel;
	struct topology_port *sender; /* by channel */
	struct wormhole_run *runs;    /* of all channels */
	uint32_t channels, first_host_channel;
	uint32_t *first_channel; /* by switch */
	struct wormhole_host *host;
	struct wormhole_message *message;
	uint32_t messages, message_room, free_message;
	struct wormhole_list asked;   /* channels: a decision in cycle 'decide' */
	struct wormhole_list arrived; /* buffers that a header has reached in it */
	uint64_t decide, now;
	struct wormhole_counters count;
	bool halted, failed;
};

static inline bool wormhole_is_host_channel(const struct wormhole_net *net, uint32_t channel)
{
	return channel >= net->first_host_channel;
}

static inline void wormhole_push(struct wormhole_net *net, uint64_t cycle,
	enum wormhole_phase phase, enum wormhole_event kind, uint32_t item)
{
	event_queue_push(net->events, (struct sim_event){WORMHOLE_AT(cycle, phase), kind, item});
}

/* Flits of the buffer's messages that have left it by the end of cycle 'now'. */
static inline uint64_t wormhole_drained(
	const struct wormhole_net *net, const struct wormhole_channel *buffer, uint64_t now)
{
	const struct wormhole_channel *out;

	if (buffer->out == WORMHOLE_NONE)
		return buffer->drained;
	out = &net->channel[buffer->out];
	return buffer->drained + wormhole_runs_by(&out->runs, now) - out->base;
}

/* The level at the end of cycle 'now', not before anything that has happened. */
static inline uint64_t wormhole_level(
	const struct wormhole_net *net, const struct wormhole_channel *buffer, uint64_t now)
{
	uint64_t in =
		now < buffer->delay ? 0 : wormhole_runs_by(&buffer->runs, now - buffer->delay);

	return in - wormhole_drained(net, buffer, now);
}

/* wormhole_level.c: asks for a LEVEL event if the buffer will pass a mark before the one that was
 * asked for, as far as can be known in cycle 'now'. */
void wormhole_foresee(struct wormhole_net *net, uint32_t buffer, uint64_t now);
/* A LEVEL event. */
void wormhole_look_at_level(struct wormhole_net *net, uint32_t buffer, uint64_t now);

/* wormhole_decide.c: what is to be decided in cycle net->decide. */
void wormhole_ask(struct wormhole_net *net, uint32_t channel, uint64_t cycle);
void wormhole_note_arrival(struct wormhole_net *net, uint32_t buffer, uint64_t cycle);
void wormhole_decide(struct wormhole_net *net);

/* wormhole_step.c */
/* The holder of the channel begins or goes on to emit in cycle 'start'. */
void wormhole_launch(struct wormhole_net *net, uint32_t channel, uint64_t start);
/* The first message of the buffer asks for its output, to be decided in 'cycle'. */
void wormhole_request(struct wormhole_net *net, uint32_t buffer, uint64_t cycle);

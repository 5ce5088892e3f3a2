/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Internals of a wormhole network, shared by wormhole_*.c. */

#include <stdbool.h>
#include <stdint.h>

#include "nic/itb_pool.h"
#include "sim/event_queue.h"
#include "wormhole_net.h"

/*
 * The history of a channel's sender, as runs: from the start cycle on one flit per cycle. It keeps
 * as many earlier runs as the far end, a link's delay behind, may still query. The last run may
 * start in the future.
 */

struct wormhole_run {
	uint64_t start;  /* cycle */
	uint64_t before; /* flits of all runs before it */
};

struct wormhole_runs {
	struct wormhole_run run;      /* the last one */
	uint64_t total;               /* if no run is active: flits of all runs */
	bool on;                      /* the last run has not ended yet */
	uint8_t last, mask;           /* newest, and entries - 1, of: */
	struct wormhole_run *earlier; /* a ring; the owner's memory, zero at first */
};

/* Flits emitted by the end of cycle 'at', at most a delay ago. */
uint64_t wormhole_runs_back(const struct wormhole_runs *runs, uint64_t at);

static inline uint64_t wormhole_runs_by(const struct wormhole_runs *runs, uint64_t at)
{
	uint64_t emitted;

	if (__builtin_expect(at < runs->run.start, 0))
		return wormhole_runs_back(runs, at);
	emitted = runs->run.before + (at - runs->run.start) + 1;
	return runs->on || emitted < runs->total ? emitted : runs->total;
}

/* Cycle in which flit number 'total' leaves (1 is the first), as far as the runs are known. */
uint64_t wormhole_runs_cycle_back(const struct wormhole_runs *runs, uint64_t total);

static inline uint64_t wormhole_runs_cycle(const struct wormhole_runs *runs, uint64_t total)
{
	if (__builtin_expect(total <= runs->run.before, 0))
		return wormhole_runs_cycle_back(runs, total);
	return runs->run.start + (total - runs->run.before) - 1;
}

/* Starts a run at 'start'; no run is on. */
void wormhole_runs_begin(struct wormhole_runs *runs, uint64_t start);

/* Ends the run: no flit leaves from cycle 'end' on. A run that would not have started by then is
 * void. */
static inline void wormhole_runs_end(struct wormhole_runs *runs, uint64_t end)
{
	runs->on = false;
	runs->total = runs->run.before;
	if (end > runs->run.start)
		runs->total += end - runs->run.start;
}

#define WORMHOLE_NONE UINT32_MAX

/*
 * Times in the event queue are cycles with the phase of the cycle in the last two bits; the
 * decisions (docs/explanation/wormhole.md) come between ARRIVAL and EMISSION, without an event.
 */
enum wormhole_phase { WORMHOLE_SIGNAL, WORMHOLE_ARRIVAL, WORMHOLE_EMISSION, WORMHOLE_MARK };

#define WORMHOLE_AT(cycle, phase) ((cycle) << 2 | (phase))
#define WORMHOLE_CYCLE(at)        ((at) >> 2)

/* Stale events stay queued; the handler ignores one whose time is not the time it armed. */
enum wormhole_event {
	WORMHOLE_STOP,   /* reaches the sender of channel 'item' */
	WORMHOLE_GO,     /* reaches the sender of channel 'item' */
	WORMHOLE_HEADER, /* the header of message 'item' is at the end of a channel */
	WORMHOLE_WAKE,   /* host 'item' may have something to send */
	WORMHOLE_TAIL,   /* the tail leaves on channel 'item' */
	WORMHOLE_LEVEL,  /* the buffer of channel 'item' may have passed a mark */
	WORMHOLE_ROUTED, /* the first header of the buffer of channel 'item' knows its output */
};

/* One direction of a link: its sender, and the buffer at its end. The counts of flits are totals
 * since the start. */
struct wormhole_channel {
	struct wormhole_runs runs; /* that its sender has emitted */
	/* The sender. */
	uint64_t start_at; /* first cycle in which the holder's first flit may leave */
	uint64_t tail_at;  /* when its tail leaves unless stopped; WORMHOLE_NEVER */
	uint64_t base;     /* total when the holder got the channel */
	uint64_t request;  /* by output of a switch: inputs that request it */
	uint32_t holder;   /* message */
	uint32_t from;     /* channel whose buffer feeds it; none at a host */
	bool stopped;
	bool transit;  /* by host: the holder was absorbed here */
	bool asked;    /* is in the list of channels with a pending decision */
	uint8_t next;  /* input that has priority */
	uint8_t delay; /* cycles */
	uint8_t to_port;
	uint32_t to_channel; /* first channel out of the switch at the end; none for a host */
	uint32_t to_device;
	uint32_t back; /* the other direction of the link */
	/* The buffer at the end; none at a host. */
	uint32_t head, waiting, last; /* its messages: the first one, and the following ones */
	uint32_t out;                 /* channel granted to the first one */
	bool stop_sent;
	uint64_t drained;  /* total of the messages that have left completely */
	uint64_t level_at; /* when its next LEVEL event is; WORMHOLE_NEVER */
	/* Measurements. */
	uint64_t stopped_at, stopped_cycles;
};

struct wormhole_host {
	uint64_t wake_at;       /* its next WAKE event */
	uint32_t transit, last; /* messages in transit, by arrival */
	uint64_t absorbed;
	struct itb_share turn;
	struct itb_pool pool;
};

/* Channels or buffers that take part in the decisions of a cycle. */
struct wormhole_list {
	uint32_t *at;
	uint32_t count;
};

struct wormhole_net {
	const struct topology *topology;
	struct wormhole_parameters parameters;
	/* Cycles from being first in the buffer to the request, and from the grant to the first
	 * flit. */
	uint32_t request_cycles, grant_cycles;
	const struct wormhole_ops *ops;
	void *ctx;
	struct event_queue *events;
	/* Channels that leave switch 0, switch 1, …, then those that leave hosts. */
	struct wormhole_channel *channel;
	struct topology_port *sender; /* by channel */
	struct wormhole_run *runs;    /* runs of all channels */
	uint32_t channels, first_host_channel;
	uint32_t *first_channel; /* by switch */
	struct wormhole_host *host;
	struct wormhole_message *message;
	uint32_t messages, message_room, free_message;
	struct wormhole_list asked;   /* channels with a decision in cycle 'decide' */
	struct wormhole_list arrived; /* buffers that a header has reached in that cycle */
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

/* Flits of the buffer's messages that left it by the end of cycle 'now'. */
static inline uint64_t wormhole_drained(
	const struct wormhole_net *net, const struct wormhole_channel *buffer, uint64_t now)
{
	const struct wormhole_channel *out;

	if (buffer->out == WORMHOLE_NONE)
		return buffer->drained;
	out = &net->channel[buffer->out];
	return buffer->drained + wormhole_runs_by(&out->runs, now) - out->base;
}

/* The level at the end of cycle 'now', not before the latest event. */
static inline uint64_t wormhole_level(
	const struct wormhole_net *net, const struct wormhole_channel *buffer, uint64_t now)
{
	uint64_t in =
		now < buffer->delay ? 0 : wormhole_runs_by(&buffer->runs, now - buffer->delay);

	return in - wormhole_drained(net, buffer, now);
}

/* wormhole_level.c: schedules a LEVEL event if the buffer will pass a mark before the scheduled
 * one, as far as known in cycle 'now'. */
void wormhole_predict(struct wormhole_net *net, uint32_t buffer, uint64_t now);
/* A LEVEL event. */
void wormhole_check_level(struct wormhole_net *net, uint32_t buffer, uint64_t now);

/* wormhole_decide.c: adds a decision for cycle net->decide. */
void wormhole_ask(struct wormhole_net *net, uint32_t channel, uint64_t cycle);
void wormhole_note_arrival(struct wormhole_net *net, uint32_t buffer, uint64_t cycle);
void wormhole_decide(struct wormhole_net *net);

/* wormhole_step.c */
/* The holder of the channel starts or continues to emit in cycle 'start'. */
void wormhole_launch(struct wormhole_net *net, uint32_t channel, uint64_t start);

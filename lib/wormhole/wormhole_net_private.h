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
 * The history of a channel's sender as runs of one flit per cycle. As many earlier runs are stored
 * as the far end, a link delay behind, may still query. The last run may start in the future. */

struct wormhole_run {
	uint64_t start;  /* cycle */
	uint64_t before; /* flits of all earlier runs */
};

struct wormhole_runs {
	struct wormhole_run run;      /* the last run */
	uint64_t total;               /* if no run is active: flits of all runs */
	bool on;                      /* the last run is active */
	uint8_t last, mask;           /* index of the newest entry of 'earlier', and size minus 1 */
	struct wormhole_run *earlier; /* ring buffer in the owner's memory, initially zero */
};

/* Returns the number of flits emitted up to cycle 'at', inclusive, at most a link delay ago. */
uint64_t wormhole_runs_back(const struct wormhole_runs *runs, uint64_t at);

static inline uint64_t wormhole_runs_by(const struct wormhole_runs *runs, uint64_t at)
{
	uint64_t emitted;

	if (__builtin_expect(at < runs->run.start, 0))
		return wormhole_runs_back(runs, at);
	emitted = runs->run.before + (at - runs->run.start) + 1;
	return runs->on || emitted < runs->total ? emitted : runs->total;
}

/* Returns the cycle in which flit number 'total' (from 1) is emitted, as far as runs are known. */
uint64_t wormhole_runs_cycle_back(const struct wormhole_runs *runs, uint64_t total);

static inline uint64_t wormhole_runs_cycle(const struct wormhole_runs *runs, uint64_t total)
{
	if (__builtin_expect(total <= runs->run.before, 0))
		return wormhole_runs_cycle_back(runs, total);
	return runs->run.start + (total - runs->run.before) - 1;
}

/* Starts a run in cycle 'start'. No run may be active. */
void wormhole_runs_begin(struct wormhole_runs *runs, uint64_t start);

/* Ends the run: no flit is emitted from cycle 'end' on. Cancels a run that starts later. */
static inline void wormhole_runs_end(struct wormhole_runs *runs, uint64_t end)
{
	runs->on = false;
	runs->total = runs->run.before;
	if (end > runs->run.start)
		runs->total += end - runs->run.start;
}

#define WORMHOLE_NONE UINT32_MAX

/*
 * Times in the event queue are cycles, with the phase of the cycle in the two least significant
 * bits. Decisions (docs/explanation/wormhole.md) are made between ARRIVAL and EMISSION, without an
 * event. */
enum wormhole_phase { WORMHOLE_SIGNAL, WORMHOLE_ARRIVAL, WORMHOLE_EMISSION, WORMHOLE_MARK };

#define WORMHOLE_AT(cycle, phase) ((cycle) << 2 | (phase))
#define WORMHOLE_CYCLE(at)        ((at) >> 2)

/* Obsolete events stay in the queue. A handler ignores an event whose time is not the expected one.
 */
enum wormhole_event {
	WORMHOLE_STOP,   /* STOP reaches the sender of channel 'item' */
	WORMHOLE_GO,     /* GO reaches the sender of channel 'item' */
	WORMHOLE_HEADER, /* the header of message 'item' reaches the end of a channel */
	WORMHOLE_WAKE,   /* host 'item' may have a message to send */
	WORMHOLE_TAIL,   /* the sender of channel 'item' emits the tail */
	WORMHOLE_LEVEL,  /* the buffer of channel 'item' may have crossed a mark */
	WORMHOLE_ROUTED, /* the first header in the buffer of channel 'item' has been routed */
};

/* One direction of a link: its sender, and the buffer at its far end. Flit counts are totals since
 * the start. */
struct wormhole_channel {
	struct wormhole_runs runs; /* flits that the sender has emitted */
	/* The sender. */
	uint64_t start_at; /* first cycle in which the holder's first flit may be sent */
	uint64_t tail_at;  /* when the holder's tail is sent unless stopped; WORMHOLE_NEVER */
	uint64_t base;     /* flits emitted when the holder got the channel */
	uint64_t request;  /* at a switch: set of the inputs that request this output */
	uint32_t holder;   /* message that is being sent */
	uint32_t from;     /* channel whose buffer feeds this one; none at a host */
	bool stopped;
	bool transit;  /* at a host: the holder was absorbed there */
	bool asked;    /* the channel is in 'asked', the list of pending decisions */
	uint8_t next;  /* input with priority in the next decision */
	uint8_t delay; /* cycles */
	uint8_t to_port;
	uint32_t
		to_channel; /* first output channel of the switch at the far end; none for a host */
	uint32_t to_device;
	uint32_t back; /* channel of the opposite direction */
	/* The buffer at the far end; none at a host. */
	uint32_t head, waiting, last; /* list of messages: the first, the second and the last one */
	uint32_t out;                 /* output channel granted to the first message */
	bool stop_sent;
	uint64_t drained;  /* flits of the messages that have left completely */
	uint64_t level_at; /* time of the next LEVEL event; WORMHOLE_NEVER */
	/* Measurements. */
	uint64_t stopped_at, stopped_cycles;
};

struct wormhole_host {
	uint64_t wake_at;       /* time of the next WAKE event */
	uint32_t transit, last; /* list of messages in transit, in order of arrival */
	uint64_t absorbed;
	struct itb_share turn;
	struct itb_pool pool;
};

/* Channels or buffers that take part in this cycle's decisions. */
struct wormhole_list {
	uint32_t *at;
	uint32_t count;
};

struct wormhole_net {
	const struct topology *topology;
	struct wormhole_parameters parameters;
	/* Cycles from becoming first in the buffer to the request, and from the grant to the first
	 * flit. */
	uint32_t request_cycles, grant_cycles;
	const struct wormhole_ops *ops;
	void *ctx;
	struct event_queue *events;
	/* Output channels of switch 0, switch 1, …, then output channels of hosts. */
	struct wormhole_channel *channel;
	struct topology_port *sender; /* by channel */
	struct wormhole_run *runs;    /* runs of all channels */
	uint32_t channels, first_host_channel;
	uint32_t *first_channel; /* by switch */
	struct wormhole_host *host;
	struct wormhole_message *message;
	uint32_t messages, message_room, free_message;
	struct wormhole_list asked;   /* channels with a pending decision in cycle 'decide' */
	struct wormhole_list arrived; /* buffers that a header reached in that cycle */
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

/* Returns the number of flits that have left the buffer up to and including cycle 'now'. */
static inline uint64_t wormhole_drained(
	const struct wormhole_net *net, const struct wormhole_channel *buffer, uint64_t now)
{
	const struct wormhole_channel *out;

	if (buffer->out == WORMHOLE_NONE)
		return buffer->drained;
	out = &net->channel[buffer->out];
	return buffer->drained + wormhole_runs_by(&out->runs, now) - out->base;
}

/* Returns the buffer level at the end of cycle 'now', which must not precede the latest event. */
static inline uint64_t wormhole_level(
	const struct wormhole_net *net, const struct wormhole_channel *buffer, uint64_t now)
{
	uint64_t in =
		now < buffer->delay ? 0 : wormhole_runs_by(&buffer->runs, now - buffer->delay);

	return in - wormhole_drained(net, buffer, now);
}

/* wormhole_level.c: schedules a LEVEL event if, with what is known in cycle 'now', the buffer will
 * cross a mark before the event scheduled so far. */
void wormhole_predict(struct wormhole_net *net, uint32_t buffer, uint64_t now);
/* Handles a LEVEL event. */
void wormhole_check_level(struct wormhole_net *net, uint32_t buffer, uint64_t now);

/* wormhole_decide.c: adds a decision in the given cycle. */
void wormhole_ask(struct wormhole_net *net, uint32_t channel, uint64_t cycle);
void wormhole_note_arrival(struct wormhole_net *net, uint32_t buffer, uint64_t cycle);
void wormhole_decide(struct wormhole_net *net);

/* wormhole_step.c */
/* Makes the channel's holder start or resume emission in cycle 'start'. */
void wormhole_launch(struct wormhole_net *net, uint32_t channel, uint64_t start);

/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Internals of the interface; only lib/nic includes this.
 *
 * Each peer has two small records, in arrays allocated at creation: 184 bytes for sending and 48
 * for receiving, plus timer and queue nodes. Frames in flight have no records; they are derived
 * from the messages and three sequence numbers. */

#include <stdbool.h>
#include <stdint.h>

#include "arn_marks.h"
#include "base/arrays.h"
#include "deadline_queue.h"
#include "itb.h"
#include "link/limit_times.h"
#include "message_pool.h"
#include "nic.h"
#include "nic/clock/peer_clocks.h"
#include "resequencer.h"
#include "wire/cn.h"
#include "wire/control.h"
#include "wire/frame.h"

/* Divides a store of messages or payloads among the VCs of an interface. Half of the store is
 * reserved for the VCs in equal shares, so that a stalled VC leaves the others their shares. The
 * other half is first come, first served, so that a single VC can use most of the store. With only
 * one VC, it has the whole store. This is Weft's own design: the papers' interfaces have a queue
 * per VC, whose memory they do not specify.
 *
 * The caller provides the memory; one thread. */

struct vc_share {
	uint32_t used[FRAME_VCS_MAX];
	uint32_t reserved;            /* items per VC */
	uint32_t common, common_used; /* items for all VCs */
};

/* Initialises a store of 'total' items, used by 'vcs' VCs, 1 or more. */
static inline void vc_share_init(struct vc_share *share, uint32_t total, unsigned vcs)
{
	uint32_t reserved = vcs == 1 ? total : total / (2 * vcs);

	if (reserved == 0 && total >= vcs)
		reserved = 1;
	*share = (struct vc_share){.reserved = reserved, .common = total - vcs * reserved};
}

static inline bool vc_share_has_room(const struct vc_share *share, unsigned vc)
{
	return share->used[vc] < share->reserved || share->common_used < share->common;
}

/* Returns how many more items a VC can take. */
static inline uint32_t vc_share_left(const struct vc_share *share, unsigned vc)
{
	uint32_t own = share->used[vc] < share->reserved ? share->reserved - share->used[vc] : 0;

	return own + share->common - share->common_used;
}

/* Takes an item; there must be room. */
static inline void vc_share_take(struct vc_share *share, unsigned vc)
{
	share->common_used += share->used[vc]++ >= share->reserved;
}

/* Returns an item. */
static inline void vc_share_put(struct vc_share *share, unsigned vc)
{
	share->common_used -= --share->used[vc] >= share->reserved;
}

/* Queues of peer numbers, linked through an array that several queues may share. A peer can be in
 * only one queue per array. */

#define ID_NONE 0xFFFF

struct id_fifo {
	uint16_t head, tail; /* ID_NONE when empty */
};

static inline void id_fifo_init(struct id_fifo *fifo)
{
	fifo->head = fifo->tail = ID_NONE;
}

static inline void id_fifo_push(struct id_fifo *fifo, uint16_t *next, uint16_t id)
{
	next[id] = ID_NONE;
	if (fifo->head == ID_NONE)
		fifo->head = id;
	else
		next[fifo->tail] = id;
	fifo->tail = id;
}

/* The queue must not be empty. */
static inline uint16_t id_fifo_pop(struct id_fifo *fifo, const uint16_t *next)
{
	uint16_t id = fifo->head;

	fifo->head = next[id];
	if (fifo->head == ID_NONE)
		fifo->tail = ID_NONE;
	return id;
}

enum flow_phase {
	FLOW_ASKING,  /* no data is sent before the receiver's offer */
	FLOW_OFFERED, /* at most FLOW_FLIGHT frames in flight until the first acknowledgement */
	FLOW_OPEN,
};

/* Control frames due to a peer, in order of priority. */
enum flow_due {
	FLOW_DUE_OFFER = 1,
	FLOW_DUE_ASK = 2,
	FLOW_DUE_ACK = 4,
	FLOW_DUE_CLOCK_ASK = 8,
	FLOW_DUE_CLOCK_ANSWER = 16,
};

/* Sending state of one peer. Its messages are a queue whose frames are numbered consecutively:
 *
 *     acked <= send <= high <= next        (serial arithmetic)
 *
 * Frames below 'acked' are acknowledged, and their messages freed. 'send' is the next frame to
 * send, 'high' the first that was never sent, and 'next' the first frame of the next admitted
 * message. If 'send' is below 'high', it repeats frames up to 'repeat_end', then continues at
 * 'high'. */
struct flow_tx {
	struct message_queue messages;
	uint32_t cursor; /* message that contains frame 'send'; MESSAGE_NONE: all sent */
	uint32_t fresh;  /* message that contains frame 'high'; MESSAGE_NONE: none */
	uint32_t acked, send, high, next;
	uint32_t repeat_end;
	uint32_t recover;                  /* after a timeout: value of 'high' at the timeout */
	uint32_t timed;                    /* frame whose round trip is being measured */
	uint32_t peer_session;             /* session of the receiver that made the offer */
	uint32_t asks;                     /* number of names used in requests */
	uint32_t rtt_ns, rtt_deviation_ns; /* smoothed; 0: unknown */
	/* Number of its messages in the pool, including those in a FIFO. */
	uint32_t held, held_payloads;
	uint16_t flow;      /* flow name in each of its frames */
	uint16_t number;    /* number of the next message */
	uint16_t repeat;    /* after a timeout: number of frames to repeat next; 0: no timeout */
	uint16_t wait;      /* retry intervals until the next timeout */
	uint16_t window;    /* maximum frames in flight in an open flow; 0: no route */
	uint16_t open;      /* maximum frames in flight in the current phase */
	uint8_t phase;      /* enum flow_phase */
	uint8_t last_again; /* number of the last request served */
	uint8_t timeouts;   /* number of consecutive timeouts */
	bool timing;        /* 'timed' and 'timed_at' are valid */
	bool queued;        /* in one of the ready queues */
	bool silent;        /* consecutive timeouts without an acknowledgement since */
	struct limit_times opened; /* when the window opened, by sequence number */
	weft_time since; /* when the flow, a repetition or a route last allowed frames to be sent */
	weft_time timed_at;
	weft_time progress_at; /* last acknowledgement, or start of activity */
};

/* Receiving state of one peer. */
struct flow_rx {
	uint32_t expected;
	uint32_t first;               /* first frame of the flow */
	uint32_t offset;              /* bytes of the current message delivered so far */
	uint32_t asked_at;            /* value of 'expected' in the last request */
	uint32_t gap_wait, gap_waits; /* gap times until the next request: remaining, total */
	uint16_t flow;
	uint16_t window;  /* RESEQUENCER_NONE: no frame is held */
	uint16_t unacked; /* frames delivered since the last acknowledgement */
	uint8_t again;    /* number of the last request, 1..255; 0: none yet */
	uint8_t missing;  /* number of frames requested; 0: all */
	bool known;       /* there is a current flow */
	bool begun;       /* part of the flow was delivered */
	bool mid_message;
	uint8_t due;               /* bit set of enum flow_due; nonzero: queued in nic->acks */
	bool ask;                  /* the next acknowledgement is also a request */
	bool asked;                /* 'asked_at' is valid */
	uint16_t unknown_flow;     /* unknown flow to answer with an offer */
	uint32_t unknown_sequence; /* sequence number of the frame to answer */
	uint32_t taken_up;         /* number of flows accepted; part of every offer */
	weft_time due_ps;          /* when an ideal interface could have sent the due frames */
};

/* Reasons for which the interface sends no frame of its own, as bits (nic.c). */
#define NIC_HELD_PAUSED 0x1
#define NIC_HELD_ROUTES 0x2 /* no routes yet */

enum ready_class { READY_RETRY, READY_NEW, READY_CLASSES };

/* Input of nic_frame_build() for the last described frame. */
struct frame_plan {
	uint32_t message;
	uint32_t offset;
	uint32_t bytes; /* payload size */
	struct control_ack ack;
	struct control_flow flow;
	struct cn cn;
	bool clock_answer; /* FRAME_CLOCK only; its stamps are set when it is built */
};

struct nic {
	struct nic_config config;
	struct link_end link;
	unsigned link_due;
	/* Due arrival of the frame being received, otherwise the current time. */
	weft_time due_ps;
	weft_time heard_ps;  /* latest due arrival since the last poll; 0: none */
	weft_time credit_ps; /* when the due credit frame could have been sent */
	weft_time up_ps;     /* when the link came up */
	weft_time marked_ps; /* due arrival of the ARN that set the last new mark */
	/* When the store last gained room; when it was full, now and at the previous iteration. */
	weft_time room_ps, refusing_ps, refused_ps;
	unsigned held; /* NIC_HELD_...; 0: frames are sent, timers run */
	weft_time held_since;
	uint64_t count[NIC_COUNTER_COUNT];

	struct message_pool pool;
	struct vc_share message_share, payload_share; /* shares of the pool per VC */
	struct arn_marks *marks;                      /* NULL: no marks */
	struct arn_policer arn_policer;
	struct message_queue backlog[FRAME_VCS_MAX]; /* one FIFO per VC */
	weft_time backlog_moved[FRAME_VCS_MAX]; /* last frame or first waiting message of the VC */
	uint32_t backlog_vcs;
	uint32_t own_waiting; /* messages of which no frame has been sent */
	struct itb *itb;      /* NULL: not an in-transit host */

	struct flow_tx *tx; /* [hosts] */
	struct flow_rx *rx;
	struct deadline_queue retry, ack_delay, gap;
	weft_time overtaken_ps; /* delay of overtaken frames that were not lost */

	/* Peers with a frame to send, by class and VC. State is rechecked at the head. */
	struct id_fifo ready[READY_CLASSES][FRAME_VCS_MAX];
	uint32_t ready_vcs[READY_CLASSES];
	uint8_t next_vc[READY_CLASSES];
	uint16_t *ready_next; /* [hosts] */

	struct id_fifo acks; /* peers with due control frames (flow_rx.due) */
	uint16_t *ack_next;
	struct arrays arrays; /* arrays indexed by host */

	struct resequencer resequencer;
	struct weft_packet *released;
	struct route_choice choice;
	struct nic_control *control; /* NULL: no congestion management */
	struct peer_clocks *clocks;  /* NULL: all hosts have the same clock */
	struct frame_plan plan;
	struct nic_programs programs;

	uint32_t stalled_vcs;
	weft_time stalled_at; /* when the latest of these VCs stalled */
};

static inline struct message *nic_message_at(struct nic *nic, uint32_t index)
{
	return &nic->pool.message[index];
}

/* Serial arithmetic (RFC 1982). */
static inline bool sequence_before(uint32_t a, uint32_t b)
{
	return (int32_t)(a - b) < 0;
}

static inline void nic_release_packet(struct nic *nic, struct weft_packet *packet)
{
	packet->next = nic->released;
	nic->released = packet;
}

struct nic_route_chosen {
	uint8_t length;              /* number of elements */
	uint8_t which, alternatives; /* number of alternatives */
};

/* Returns the given route of a destination that has one, bypassing the selector. */
static inline const uint8_t *nic_take_route(
	struct nic *nic, uint16_t destination, unsigned which, struct nic_route_chosen *chosen)
{
	chosen->which = (uint8_t)which;
	chosen->alternatives = nic->config.routes->to[destination].count;
	return nic_routes_get(nic->config.routes, destination, which, &chosen->length);
}

/* Returns the elements of the route that the selector chooses for a message of this size; NULL with
 * length 0 if switches use tables. */
const uint8_t *nic_choose_route(
	struct nic *nic, uint16_t destination, uint32_t bytes, struct nic_route_chosen *chosen);

/* ARN handling of an interface (docs/explanation/congestion.md): marked messages are sent on the
 * adapted-flow channel (AFC), the last VC. The mark is looked up when the message is at the head of
 * its FIFO, and again when one of its frames is next. A message on the AFC stays there. Frames of a
 * flow may then overtake each other; the receiver restores the order, as with several paths.
 * Without marks, each function is one comparison. */

/* Handles an ARN. Returns false if it was ignored. */
bool nic_afi_on_arn(struct nic *nic, const struct control_arn *arn, weft_time now);

/* Returns true if the message at the head of its FIFO may join its peer's queue; changes the VC of
 * a marked message. Returns false if it is marked and the AFC has no room for it. It then blocks
 * the FIFO, because on its own VC it would feed the congestion tree that it must avoid. */
bool nic_afi_admit(struct nic *nic, struct message *message, weft_time now);

/* Returns true if the VC of 'message' was changed, because it was marked after its admission. */
bool nic_afi_change(struct nic *nic, struct message *message, weft_time now);

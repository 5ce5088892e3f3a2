/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* For the files poll_switch*.c alone.
 *
 * First the state that the poll driver adds to captured frames of a switch
 * (docs/reference/wire-format.md). Only called for ports that are being captured.
 *
 * Credits: those left to the sender of the frame in its VC on this link after it. Depth: for an
 * arriving frame, the blocks before it in the queue that it joins; for a departing one, the blocks
 * left behind it in its queue. */

#include "capture/capture.h"
#include "poll_switch.h"

/* A frame between poll_switch_capture_begin() and _end(). */
struct poll_switch_captured {
	struct capture_slot *slot; /* NULL: dropped by the capture */
	/* The descriptor of a good data frame; NULL: any other frame. */
	const struct weft_packet *packet;
	struct capture_state state;
};

/* Copies an arriving frame before the switch processes it. */
void poll_switch_capture_begin(const struct poll_switch *ps, unsigned at, struct capture *capture,
	struct rte_mbuf *mbuf, weft_time now, struct poll_switch_captured *frame);
/* Adds the switch's decision. 'passed': the output through which it passed the queues;
 * SWITCH_PORT_NONE: it was stored or discarded. */
void poll_switch_capture_end(const struct poll_switch *ps, unsigned at, struct capture *capture,
	unsigned passed, struct poll_switch_captured *frame);

/* 'mbufs' are about to go to the transmitter. 'queued': they come from the queues and have
 * descriptors; otherwise they passed the queues or the driver made them. */
void poll_switch_capture_out(const struct poll_switch *ps, unsigned at, struct capture *capture,
	struct rte_mbuf **mbufs, unsigned count, bool queued, weft_time now);

/* The switch discarded a packet that it had stored, or a control frame. */
void poll_switch_capture_discard(
	const struct poll_switch *ps, struct weft_packet *packet, weft_time now);

/* The links of a switch: control frames between neighbours, and what falls due at a port. For
 * poll_switch.c. */

/* Handles a good control frame of the neighbour, for this link. The caller keeps the mbuf. */
void poll_switch_receive_link(
	struct poll_switch *ps, unsigned at, struct rte_mbuf *mbuf, weft_time now);

/* Once per loop and port: the state of the link, and the hello and credit frames that are due. */
void poll_switch_poll_link(struct poll_switch *ps, unsigned at, weft_time now);

/* At the end of each iteration of a shard: switch_shard_push(), without packets whose tail is still
 * leaving. */
void poll_switch_push(struct poll_switch *ps, weft_time now);

/* Once per loop, for a switch with a detector: runs the timers of detector and table, and sends the
 * notifications of this loop. */
void poll_switch_poll_congestion(struct poll_switch *ps, weft_time now);

/* The source check of a switch's poll loop (poll_switch.h), for frames that are not plain data of
 * the port's host. */

/* True if the source of a good frame may use this port. Mapper frames have none. */
bool poll_switch_source_passes(const struct poll_switch *ps, unsigned at, const uint8_t *frame);

/* Counts a good data frame that is refused, and its credits, because it has left its sender. The
 * caller keeps the frame. */
void poll_switch_source_refuse(struct poll_switch *ps, unsigned at, struct rte_mbuf *mbuf);

/* After a hello: adopts the host that it names, if the switch learns them. */
void poll_switch_learn_host(struct poll_switch *ps, unsigned at);

/* Frames that pass the queues are collected by output, and leave together. */

/* A received burst has no more than PORT_BURST frames, so there is room. */
static inline void poll_switch_append(
	struct poll_switch *ps, unsigned output, struct rte_mbuf *mbuf, uint32_t bytes, unsigned vc)
{
	struct poll_switch_burst *burst = &ps->burst[output];

	ps->burst_mbuf[output][burst->count++] = mbuf;
	burst->bytes += bytes;
	burst->vc = vc;
}

/* Sends what was collected from 'input', to each output in 'ps->filled'. */
void poll_switch_flush(struct poll_switch *ps, unsigned input, weft_time now);

/* A switch's poll loop and the control thread (device_control.h): the rare half of poll_switch.c.
 */

/* Passes frames for the agent to the control thread; if there is no room, they are lost and
 * counted. */
void poll_switch_control_up(struct poll_switch *ps);

/* At the end of an iteration: executes commands, then reports state. No frame of this iteration is
 * between ports and queues any more. */
void poll_switch_control_poll(struct poll_switch *ps, weft_time now);

/* ---- Shared by switches on one loop and on several. */

/* DEVICE_SEND through a port of this loop. Returns false if it must wait. */
bool poll_switch_control_send(
	struct poll_switch *ps, const struct device_order *order, weft_time now);
/* DEVICE_PURGE. */
void poll_switch_control_purge(struct poll_switch *ps, weft_time now);
/* True if no data is stored here, and none arrived or left since the last call. Mapper frames are
 * ignored, because they come and go all the time. */
bool poll_switch_control_is_idle(struct poll_switch *ps);

/* Frees what is stored between loops; the switch has no tables afterwards. */
void poll_switch_control_end(struct poll_switch *ps);

/* Sends one of the driver's own frames, ready at 'ready', after the frames that are already
 * waiting. tx_queue_has_room() returned true. */
void poll_switch_send_own(
	struct poll_switch *ps, unsigned at, struct rte_mbuf *mbuf, weft_time ready, weft_time now);
/* For a shard: takes the frames that other shards passed on; returns their number. */
unsigned poll_switch_accept(struct poll_switch *ps, weft_time now);
/* Frees the frames that the switch discarded; their space in the buffers has been free since 'now'.
 * 'stored': they have changed since they arrived. */
void poll_switch_free_discards(struct poll_switch *ps, bool stored, weft_time now);

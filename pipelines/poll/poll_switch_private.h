/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Only for poll_switch*.c.
 *
 * Captures: the state that the poll driver adds to captured frames of a switch
 * (docs/reference/wire-format.md). Only called for ports that are being captured.
 *
 * Credits are those left to the frame's sender after it, in its VC on this link. The depth of an
 * arriving frame is the number of blocks before it in its queue; for a departing frame, of blocks
 * left in its queue. */

#include "capture/capture.h"
#include "poll_switch.h"

/* A frame between poll_switch_capture_begin() and _end(). */
struct poll_switch_captured {
	struct capture_slot *slot; /* NULL: the capture dropped the frame */
	/* Descriptor of a valid data frame; NULL: any other frame. */
	const struct weft_packet *packet;
	struct capture_state state;
};

/* Copies an arriving frame before the switch processes it. */
void poll_switch_capture_begin(const struct poll_switch *ps, unsigned at, struct capture *capture,
	struct rte_mbuf *mbuf, weft_time now, struct poll_switch_captured *frame);
/* Adds the switch's decision. 'passed' is the output through which the frame bypassed the queues;
 * SWITCH_PORT_NONE: it was stored or discarded. */
void poll_switch_capture_end(const struct poll_switch *ps, unsigned at, struct capture *capture,
	unsigned passed, struct poll_switch_captured *frame);

/* Call when 'mbufs' are about to be sent. 'queued': they come from the queues and have descriptors;
 * otherwise they bypassed the queues or the driver created them. */
void poll_switch_capture_out(const struct poll_switch *ps, unsigned at, struct capture *capture,
	struct rte_mbuf **mbufs, unsigned count, bool queued, weft_time now);

/* Call when the switch discards a stored packet or a control frame. */
void poll_switch_capture_discard(
	const struct poll_switch *ps, struct weft_packet *packet, weft_time now);

/* Links: control frames between neighbours, and timed events of a port. */

/* Handles a valid link-local control frame. The mbuf remains the caller's. */
void poll_switch_receive_link(
	struct poll_switch *ps, unsigned at, struct rte_mbuf *mbuf, weft_time now);

/* Call once per loop and port: updates the link's state and sends due hello and credit frames. */
void poll_switch_poll_link(struct poll_switch *ps, unsigned at, weft_time now);

/* Call at the end of each iteration of a shard: switch_shard_push(), without packets whose tail has
 * not been sent. */
void poll_switch_push(struct poll_switch *ps, weft_time now);

/* Call once per loop if the switch has congestion control: runs the timers of detector and table,
 * and sends this loop's notifications. */
void poll_switch_poll_congestion(struct poll_switch *ps, weft_time now);

/* The source check (poll_switch.h) for frames that are not plain data of the port's host. */

/* Returns true if the source of a valid frame may use this port. Mapper frames have no source. */
bool poll_switch_source_passes(const struct poll_switch *ps, unsigned at, const uint8_t *frame);

/* Counts a refused valid data frame and its credits, which its sender has used. The frame remains
 * the caller's. */
void poll_switch_source_refuse(struct poll_switch *ps, unsigned at, struct rte_mbuf *mbuf);

/* Call after a hello: adopts the host that it names, if the switch learns hosts. */
void poll_switch_learn_host(struct poll_switch *ps, unsigned at);

/* Frames that bypass the queues are collected per output and sent together. */

/* A received burst has at most PORT_BURST frames, so there is always space. */
static inline void poll_switch_append(
	struct poll_switch *ps, unsigned output, struct rte_mbuf *mbuf, uint32_t bytes, unsigned vc)
{
	struct poll_switch_burst *burst = &ps->burst[output];

	ps->burst_mbuf[output][burst->count++] = mbuf;
	burst->bytes += bytes;
	burst->vc = vc;
}

/* Sends the frames collected from 'input', to each output in 'ps->filled'. */
void poll_switch_flush(struct poll_switch *ps, unsigned input, weft_time now);

/* The poll loop and the control thread (device_control.h). */

/* Passes frames for the agent to the control thread. If it has no space, they are lost and counted.
 */
void poll_switch_control_up(struct poll_switch *ps);

/* Call at the end of an iteration: executes commands, then reports state. At that time no frame is
 * between ports and queues. */
void poll_switch_control_poll(struct poll_switch *ps, weft_time now);

/* ---- Shared by switches on one core and on several. */

/* Executes DEVICE_SEND through a port of this loop. Returns false if the command must wait. */
bool poll_switch_control_send(
	struct poll_switch *ps, const struct device_order *order, weft_time now);
/* Executes DEVICE_PURGE. */
void poll_switch_control_purge(struct poll_switch *ps, weft_time now);
/* Returns true if no data is stored, and none arrived or left since the last call. Ignores mapper
 * frames, which flow continuously. */
bool poll_switch_control_is_idle(struct poll_switch *ps);

/* Frees frames for the agent and the tables in use. The switch has no tables afterwards. */
void poll_switch_control_end(struct poll_switch *ps);

/* Sends a frame of the driver, ready at 'ready', after the frames that are already waiting. Call
 * only if tx_queue_has_room() returned true. */
void poll_switch_send_own(
	struct poll_switch *ps, unsigned at, struct rte_mbuf *mbuf, weft_time ready, weft_time now);
/* For a shard: accepts the frames that other shards passed on. Returns how many. */
unsigned poll_switch_accept(struct poll_switch *ps, weft_time now);
/* Frees the frames that the switch discarded, whose buffer space has been free since 'now'.
 * 'stored': the frames have been modified since they arrived. */
void poll_switch_free_discards(struct poll_switch *ps, bool stored, weft_time now);

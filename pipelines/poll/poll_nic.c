/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "poll_nic.h"

#include <errno.h>
#include <stdlib.h>

#include "measure/capture_reason.h"
#include "poll_capture.h"
#include "poll_nic_endpoints.h"
#include "poll_nic_private.h"
#include "wire/frame_check.h"

/* Maximum number of messages per source and iteration. */
#define MESSAGES_A_TURN 32

#define ACK_FRAMES_MAX 48

static int check_pool(const struct poll_nic_config *config, struct error *error)
{
	unsigned room = rte_pktmbuf_data_room_size(config->pool) - RTE_PKTMBUF_HEADROOM;
	unsigned wanted = config->nic.mtu_bytes + FRAME_HEADER_BYTES + FRAME_ROUTE_MAX +
			  (config->nic.data_key != NULL ? DATA_TAG_BYTES : 0);

	if (source_control_measures(config->nic.control.kind))
		wanted += FRAME_LATENCY_BYTES;

	if (room < wanted)
		return error_set(error, EINVAL,
			"%s: buffers of %u bytes cannot hold an MTU of %u; %u bytes are needed",
			config->port->name, room, config->nic.mtu_bytes, wanted);
	return 0;
}

/* An acknowledgement costs the loops as much as one or two data frames and, with a key, four more
 * hashes on a path with one switch. If it is sent at a quarter of the window, the sender can
 * continue with the remaining three quarters. The limit is less than a flow has in flight before
 * its first acknowledgement. */
static uint32_t ack_frames(const struct nic_config *nic)
{
	uint32_t quarter = nic->window_frames / 4;
	uint32_t max = quarter < ACK_FRAMES_MAX ? quarter : ACK_FRAMES_MAX;

	return nic->ack_frames > max ? nic->ack_frames : max;
}

struct poll_nic *poll_nic_create(
	const struct poll_nic_config *config, weft_time now, struct error *error)
{
	struct nic_config nic = config->nic;
	struct poll_nic *pn;

	if (check_pool(config, error) < 0)
		return NULL;
	pn = calloc(1, sizeof(*pn));
	if (pn == NULL)
		goto err;
	pn->port = config->port;
	pn->pool = config->pool;
	pn->clock = config->clock;
	pn->stamps.clock = config->clock;
	pn->tap.fd = -1;
	tx_queue_init(&pn->tx, config->port, config->timing, config->impairment);
	pn->sink = measure_sink_create(nic.host, nic.hosts);
	if (pn->sink == NULL || host_demux_init(&pn->demux, pn->sink, nic.hosts) < 0)
		goto err;
	nic.ack_frames = ack_frames(&nic);
	nic.above = (struct nic_host){.ctx = &pn->demux, .deliver = host_demux_deliver};
	pn->nic = nic_create(&nic, now);
	if (pn->nic == NULL && errno == EINVAL) {
		error_set(error, EINVAL, "%s: interface configuration out of range",
			config->port->name);
		poll_nic_destroy(pn);
		return NULL;
	}
	if (pn->nic == NULL)
		goto err;
	port_auth_init(&pn->guard, config->port, nic.fabric, config->key, nic_link(pn->nic));
	return pn;
err:
	error_set(error, ENOMEM, "%s: not enough memory for an interface", config->port->name);
	poll_nic_destroy(pn);
	return NULL;
}

void poll_nic_destroy(struct poll_nic *pn)
{
	if (pn == NULL)
		return;
	if (pn->nic != NULL)
		packet_free_list(nic_drain(pn->nic));
	tx_queue_fini(&pn->tx);
	rte_pktmbuf_free(pn->spare);
	for (unsigned i = 0; i < pn->sources; i++)
		traffic_destroy(pn->source[i]);
	poll_nic_tap_fini(&pn->tap);
	poll_nic_endpoints_fini(pn);
	nic_destroy(pn->nic);
	host_tables_destroy(pn->mapper.tables);
	host_demux_fini(&pn->demux);
	measure_sink_destroy(pn->sink);
	free(pn);
}

int poll_nic_add_traffic(
	struct poll_nic *pn, const struct traffic_config *config, struct error *error)
{
	struct traffic_config filled = *config;
	unsigned lanes = config->queuing != NULL ? config->queuing->queues : 1;

	if (pn->sources + lanes > POLL_NIC_SOURCES_MAX)
		return error_set(error, ENOSPC, "%s: more than %u traffic sources", pn->port->name,
			POLL_NIC_SOURCES_MAX / lanes);
	/* With rails, 'host' is a number in the sense of rails.h. */
	if (filled.rails == NULL)
		filled.host = nic_config(pn->nic)->host;
	/* The interface may have space for hosts that are not in the fabric yet. */
	if (filled.hosts == 0)
		filled.hosts = nic_config(pn->nic)->hosts;
	filled.frame_bytes = nic_config(pn->nic)->mtu_bytes;
	filled.index = (uint16_t)(pn->sources / lanes);
	for (unsigned lane = 0; lane < lanes; lane++) {
		filled.lane = (uint8_t)lane;
		pn->source[pn->sources] = traffic_create(&filled, error);
		if (pn->source[pn->sources] == NULL)
			return -EINVAL;
		pn->sources++;
	}
	return 0;
}

/* Returns false for a frame that is not passed on: it is invalid or for this host's agent. */
static __attribute__((noinline)) bool accept_control(struct poll_nic *pn, struct rte_mbuf *mbuf)
{
	const uint8_t *frame = rte_pktmbuf_mtod(mbuf, const uint8_t *);
	uint32_t bytes = rte_pktmbuf_data_len(mbuf);
	enum frame_fault fault = port_auth_find_fault(&pn->guard, frame, bytes);

	if (fault != FRAME_FAULT_OK) {
		pn->faults[fault]++;
		return false;
	}
	pn->carried -= frame_link_local(frame_header_const(frame)->kind);
	if (poll_nic_control_is_for(pn, frame)) {
		device_control_up(pn->mapper.control, 0, frame, bytes);
		return false;
	}
	if (frame_link_local(frame_header_const(frame)->kind) &&
		!port_auth_admits(&pn->guard, nic_link(pn->nic), frame))
		return false;
	if (pn->guard.seal.key == NULL)
		return true;
	if (!frame_payload_ok(frame)) {
		pn->faults[FRAME_FAULT_PAYLOAD_CRC]++;
		return false;
	}
	return port_auth_open(&pn->guard, nic_link(pn->nic), mbuf);
}

/* Returns true for a frame that compares clocks. For such frames the clock is read again, because
 * the loop's time may be stale. */
static inline bool compares_clocks(const struct poll_nic *pn, unsigned kind)
{
	return kind == FRAME_CLOCK && pn->clock != NULL;
}

/* Processes a received frame and frees the packets that the interface returns. */
static inline void receive_frame(struct poll_nic *pn, struct rte_mbuf *mbuf, weft_time now)
{
	const uint8_t *frame = rte_pktmbuf_mtod(mbuf, const uint8_t *);
	uint32_t bytes = rte_pktmbuf_data_len(mbuf);
	struct weft_packet *packet = mbuf_packet(mbuf);
	weft_time due = port_due(pn->port, mbuf, now);
	unsigned kind = frame_header_const(frame)->kind;

	if (!frame_is_good_data_as(frame, bytes, &pn->guard.identity)) {
		if (!accept_control(pn, mbuf)) {
			rte_pktmbuf_free(mbuf);
			return;
		}
		if (compares_clocks(pn, kind))
			now = arrival_stamps_time(&pn->stamps, mbuf);
	}
	nic_describe(packet, frame, rte_pktmbuf_data_len(mbuf), due);
	packet_free_list(nic_receive(pn->nic, packet, frame, now));
	if (kind == FRAME_HELLO)
		port_auth_follow(&pn->guard, nic_link(pn->nic));
	if (kind == FRAME_CREDIT)
		credit_times_update(
			&pn->credits, nic_link(pn->nic)->tx, nic_link(pn->nic)->config.vcs, due);
}

static bool is_data_of(const struct link_end *link, const struct frame_header *header)
{
	return header->kind == FRAME_DATA && header->vc < link->config.vcs;
}

/* Captures a frame that has arrived but is not processed yet. */
static void poll_nic_capture_in(
	const struct poll_nic *pn, struct capture *capture, struct rte_mbuf *mbuf, weft_time now)
{
	const struct link_end *link = nic_link(pn->nic);
	const struct frame_header *header =
		frame_header_const(rte_pktmbuf_mtod(mbuf, const uint8_t *));
	struct capture_state state;

	if (poll_capture_begin(mbuf, pn->guard.fabric, &state) && is_data_of(link, header))
		state.credits_blocks = credit_expected(
			&link->rx[header->vc], frame_blocks(rte_pktmbuf_data_len(mbuf)));
	poll_capture_frame(
		capture, pn->port, PCAPNG_IN, mbuf, port_due(pn->port, mbuf, now), &state);
}

static uint64_t itb_refusals(const struct poll_nic *pn)
{
	const uint64_t *count = nic_counters(pn->nic);

	return count[NIC_ITB_DISCARDED] + count[NIC_ITB_CONTROL_DISCARDED];
}

/* Receives frames singly, so that each capture shows the credits at the frame's arrival. */
static __attribute__((noinline)) void receive_captured(struct poll_nic *pn, struct capture *capture,
	struct rte_mbuf **mbufs, unsigned count, weft_time now)
{
	uint64_t full = itb_refusals(pn), before;
	uint8_t frame[FRAME_BYTES_MAX];

	for (unsigned i = 0; i < count; i++) {
		bool wanted = poll_capture_next(capture, mbufs, i, i + 1) == i;
		uint32_t bytes = rte_pktmbuf_data_len(mbufs[i]);

		if (wanted)
			poll_nic_capture_in(pn, capture, mbufs[i], now);
		/* If a host with in-transit buffers loses the frame, the copy is captured. */
		if (wanted && bytes <= sizeof(frame))
			memcpy(frame, rte_pktmbuf_mtod(mbufs[i], const void *), bytes);
		receive_frame(pn, mbufs[i], now);
		before = full;
		full = itb_refusals(pn);
		if (wanted && full != before)
			capture_frame(capture, PCAPNG_UNKNOWN, frame, bytes, now,
				&(struct capture_state){.credits_blocks = CAPTURE_UNKNOWN,
					.voq_depth_blocks = CAPTURE_UNKNOWN,
					.vc = frame_header_const(frame)->vc,
					.reason = CAPTURE_REASON_ITB_FULL});
	}
}

static unsigned receive(struct poll_nic *pn, weft_time now)
{
	struct rte_mbuf *mbufs[PORT_BURST];
	unsigned count = port_rx(pn->port, mbufs, PORT_BURST, now);
	struct capture *capture;

	if (count == 0)
		return 0;
	pn->carried += count;
	capture = capture_of(pn->port);
	if (__builtin_expect(capture != NULL, 0)) {
		receive_captured(pn, capture, mbufs, count, now);
		return count;
	}
	for (unsigned i = 0; i < count; i++)
		receive_frame(pn, mbufs[i], now);
	return count;
}

static unsigned generate(struct poll_nic *pn, struct traffic *source, weft_time now)
{
	struct traffic_message due;
	unsigned count = 0;

	/* Offer messages for a silent peer, although nic_send() may refuse them, so that they do
	 * not block later ones. */
	while (traffic_poll(source, now, &due) && count < MESSAGES_A_TURN &&
		(nic_has_room(pn->nic, due.destination, due.sl, now) ||
			nic_is_silent(pn->nic, due.destination))) {
		struct nic_message message = {.destination = due.destination,
			.sl = due.sl,
			.entry = traffic_config(source)->entry,
			.bytes = due.bytes,
			.generated_ps = due.generated_ps};
		int result = nic_send(pn->nic, &message, now);

		if (result == -EAGAIN)
			break;
		if (result == 0)
			traffic_accept(source);
		else
			traffic_skip(source);
		count++;
	}
	return count;
}

/* Returns true if a message can be sent. Hosts without a route and hosts without space both delay a
 * schedule. */
static bool can_take(const struct poll_nic *pn, uint16_t to, weft_time now)
{
	return nic_routes_reaches(nic_config(pn->nic)->routes, to) &&
	       nic_has_room(pn->nic, to, 0, now);
}

static unsigned replay_goal(struct poll_nic *pn, weft_time now)
{
	struct poll_nic_goal *goal = &pn->goal;
	struct goal_message due;
	unsigned count = 0;

	while (count < MESSAGES_A_TURN &&
		goal_replay_poll(goal->replay, goal->host, now - goal->from_ps, &due) &&
		can_take(pn, (uint16_t)due.to, now)) {
		struct nic_message message = {.destination = (uint16_t)due.to,
			.entry = goal->entry,
			.bytes = run_goal_bytes(due.bytes),
			.generated_ps = goal->from_ps + due.due_ps};

		if (nic_send(pn->nic, &message, now) < 0)
			break;
		goal_replay_accept(goal->replay, goal->host, now - goal->from_ps);
		goal->messages++;
		goal->frames += frame_count(message.bytes, nic_config(pn->nic)->mtu_bytes);
		goal->bytes += message.bytes;
		count++;
	}
	return count;
}

static void take_message(void *ctx, uint16_t source, weft_time due_ps)
{
	struct poll_nic_goal *goal = ctx;

	if (goal->replay == NULL || due_ps < goal->from_ps)
		return;
	if (!goal_replay_deliver(goal->replay, goal->host, source, due_ps - goal->from_ps))
		goal->strays++;
}

void poll_nic_set_goal(
	struct poll_nic *pn, uint8_t entry, struct goal_replay *replay, weft_time from_ps)
{
	pn->goal = (struct poll_nic_goal){.replay = replay,
		.host = nic_config(pn->nic)->host,
		.entry = entry,
		.from_ps = from_ps};
	pn->demux.message_ctx = &pn->goal;
	pn->demux.message = take_message;
}

/* Forwards a frame in transit, of which only the mutable bytes change. */
static struct rte_mbuf *pass_on(struct weft_packet *packet)
{
	struct rte_mbuf *mbuf = packet_mbuf(packet);

	frame_update_mutable(rte_pktmbuf_mtod(mbuf, uint8_t *), packet->mutable_word);
	return mbuf;
}

/* Returns true if the driver created the frame, for the host itself or for its link. */
static bool is_own_control(const struct poll_nic *pn, const struct weft_packet *packet)
{
	return packet->control &&
	       (packet->source == nic_config(pn->nic)->host || packet->source == FRAME_HOST_NONE);
}

/* Returns the time at which an ideal interface could have sent a frame. */
static weft_time ready_at(struct poll_nic *pn, const struct weft_packet *packet)
{
	const struct credit_tx *tx = &nic_link(pn->nic)->tx[packet->vc];

	if (packet->control)
		return packet->arrived_ps;
	return RTE_MAX(packet->arrived_ps, credit_times_of(&pn->credits, packet->vc, tx->sent));
}

/* Builds the interface's next frame. '*at' is the start of its transmission, or for the interface's
 * own control frames the time at which they were ready. Returns NULL if there is no frame, or no
 * buffer for it. A frame in transit needs no buffer. */
static struct rte_mbuf *next_frame(struct poll_nic *pn, weft_time now, weft_time *at)
{
	struct rte_mbuf *mbuf = pn->spare != NULL ? pn->spare : rte_pktmbuf_alloc(pn->pool);
	struct weft_packet *packet, *next;

	pn->no_mbuf += mbuf == NULL;
	packet = mbuf != NULL ? mbuf_packet(mbuf) : NULL;
	next = nic_inject(pn->nic, now, packet);
	pn->spare = next == packet ? NULL : mbuf;
	if (next == NULL)
		return NULL;
	*at = ready_at(pn, next);
	if (!is_own_control(pn, next))
		*at = tx_queue_begin(&pn->tx, *at, now);
	if (next != packet)
		return pass_on(next);
	packet->injected_ns = (uint32_t)(*at / PS_PER_NS);
	if (compares_clocks(pn, packet->kind))
		now = clock_now(pn->clock);
	nic_frame_build(pn->nic, packet, rte_pktmbuf_mtod(mbuf, uint8_t *), now);
	rte_pktmbuf_data_len(mbuf) = packet->bytes;
	rte_pktmbuf_pkt_len(mbuf) = packet->bytes;
	return mbuf;
}

static unsigned transmit(struct poll_nic *pn, weft_time now)
{
	struct rte_mbuf *mbufs[PORT_BURST];
	uint16_t count = 0;
	weft_time at;

	tx_queue_flush(&pn->tx, now);
	while (count < PORT_BURST && tx_queue_ready(&pn->tx, now)) {
		struct rte_mbuf *mbuf = next_frame(pn, now, &at);

		if (mbuf == NULL)
			break;
		/* Most frames are data frames, which have no seal. */
		if (mbuf_packet(mbuf)->control) {
			pn->no_mbuf += !port_auth_close(&pn->guard, nic_link(pn->nic), mbuf);
			mbuf = port_auth_fill(&pn->guard, mbuf);
		} else {
			pn->carried++;
		}
		if (is_own_control(pn, mbuf_packet(mbuf)))
			tx_queue_stamp_own(&pn->tx, mbuf, at, now);
		else
			tx_queue_stamp(&pn->tx, mbuf, at);
		mbufs[count++] = mbuf;
	}
	if (count > 0)
		poll_nic_send(pn, mbufs, count, now);
	return count;
}

/* Passes the host's messages to the interface. */
static unsigned offer(struct poll_nic *pn, weft_time now)
{
	unsigned moved = 0;

	if (pn->tap.fd >= 0)
		moved += poll_nic_tap_read(&pn->tap, pn->nic, now);
	if (poll_nic_endpoints_active(pn))
		moved += poll_nic_endpoints_run(pn, now);
	for (unsigned i = 0; i < pn->sources; i++)
		moved += generate(pn, pn->source[i], now);
	if (pn->goal.replay != NULL && now >= pn->goal.from_ps)
		moved += replay_goal(pn, now);
	return moved;
}

/* Takes the link down when the cable is pulled, without waiting for missed hellos. */
static inline void check_carrier(struct poll_nic *pn, weft_time now)
{
	struct link_end *link = nic_link(pn->nic);
	bool dark = port_is_cut_by(pn->port, PORT_CUT_CARRIER);

	if (__builtin_expect(dark != link->dark, 0))
		link_end_set_dark(link, dark, now);
}

unsigned poll_nic_run(struct poll_nic *pn, weft_time now)
{
	unsigned moved;

	pn->carried = 0;
	moved = receive(pn, now);
	if (nic_has_routes(pn->nic))
		moved += offer(pn, now);
	check_carrier(pn, now);
	/* The link went down. If nothing reads the port, waiting frames would never be sent. */
	if (__builtin_expect(nic_poll(pn->nic, now), 0)) {
		tx_queue_drain(&pn->tx);
		port_auth_follow(&pn->guard, nic_link(pn->nic));
		link_falls_note(&pn->falls, nic_link(pn->nic), pn->port);
	}
	moved += transmit(pn, now);
	if (__builtin_expect(pn->mapper.control != NULL, 0))
		poll_nic_control_poll(pn, now);
	if (moved == 0)
		port_idle(pn->port, now);
	return moved;
}

int poll_nic_set_clocks(struct poll_nic *pn, const bool *same, uint32_t clock)
{
	int result = pn->clock != NULL ? nic_set_clocks(pn->nic, same, clock) : -EINVAL;

	if (result == 0)
		arrival_stamps_begin(&pn->stamps, pn->port, pn->clock);
	for (uint32_t from = 0; result == 0 && from < nic_config(pn->nic)->hosts; from++)
		measure_sink_set_clock(
			pn->sink, (uint16_t)from, nic_clock_of(pn->nic, (uint16_t)from));
	return result;
}

void poll_nic_stop_traffic(struct poll_nic *pn, weft_time now)
{
	for (unsigned i = 0; i < pn->sources; i++)
		traffic_abandon(pn->source[i], now);
	pn->goal.replay = NULL;
}

bool poll_nic_busy(const struct poll_nic *pn, weft_time now)
{
	for (unsigned i = 0; i < pn->sources; i++)
		if (!traffic_finished(pn->source[i], now))
			return true;
	return nic_busy(pn->nic) || pn->tap.held || pn->tx.waiting > 0;
}

struct traffic_counters poll_nic_traffic(const struct poll_nic *pn)
{
	struct traffic_counters sum = {.generated_messages = pn->goal.messages,
		.generated_bytes = pn->goal.bytes,
		.accepted_messages = pn->goal.messages,
		.accepted_bytes = pn->goal.bytes};

	for (unsigned i = 0; i < pn->sources; i++) {
		const struct traffic_counters *one = traffic_counters(pn->source[i]);

		sum.generated_messages += one->generated_messages;
		sum.generated_bytes += one->generated_bytes;
		sum.accepted_messages += one->accepted_messages;
		sum.accepted_bytes += one->accepted_bytes;
	}
	return sum;
}

uint64_t poll_nic_generated_frames(const struct poll_nic *pn)
{
	uint64_t frames = pn->goal.frames;

	for (unsigned i = 0; i < pn->sources; i++)
		frames += traffic_generated_frames(pn->source[i]);
	return frames;
}

/* Captures of an interface's frames. */

static void capture_out(const struct poll_nic *pn, struct capture *capture, struct rte_mbuf **mbufs,
	unsigned i, unsigned count, weft_time now)
{
	const struct link_end *link = nic_link(pn->nic);
	const struct frame_header *header =
		frame_header_const(rte_pktmbuf_mtod(mbufs[i], const uint8_t *));
	struct capture_state state = {
		.credits_blocks = CAPTURE_UNKNOWN,
		.voq_depth_blocks = CAPTURE_UNKNOWN,
		.vc = header->vc,
	};

	if (is_data_of(link, header))
		state.credits_blocks = credit_available(&link->tx[header->vc]) +
				       poll_capture_blocks_after(mbufs, i + 1, count, header->vc);
	poll_capture_frame(capture, pn->port, PCAPNG_OUT, mbufs[i],
		tx_queue_began(&pn->tx, mbufs[i], now), &state);
}

void poll_nic_capture_out(const struct poll_nic *pn, struct capture *capture,
	struct rte_mbuf **mbufs, unsigned count, weft_time now)
{
	for (unsigned i = 0; (i = poll_capture_next(capture, mbufs, i, count)) < count; i++)
		capture_out(pn, capture, mbufs, i, count, now);
}

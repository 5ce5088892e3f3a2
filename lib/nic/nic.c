/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "nic.h"

#include <errno.h>
#include <stdlib.h>

#include "base/name_table.h"
#include "flow.h"
#include "nic_control.h"
#include "nic_private.h"
#include "traffic/synthetic.h"

#define WINDOW_FRAMES_MAX 4096
#define MTU_BYTES_MIN     64

const char *nic_counter_name(unsigned counter)
{
	static const char *const name[] = {NIC_COUNTERS(WORD_TEXT)};

	return counter < NIC_COUNTER_COUNT ? name[counter] : NULL;
}

void nic_config_default(struct nic_config *config, uint16_t host, uint16_t hosts)
{
	*config = (struct nic_config){
		.host = host,
		.hosts = hosts,
		.mtu_bytes = 4096,
		.choice = &route_choice_first,
		.selection = route_choice_options_default(),
		.messages = 4096,
		.window_frames = 256,
		.reorder_windows = 16,
		.reorder_frames = 512,
		.ack_frames = 16,
		.ack_delay_ps = 50 * PS_PER_US,
		.gap_ps = PS_PER_MS,
		.retry_ps = 20 * PS_PER_MS,
		.give_up_ps = 5 * PS_PER_S,
		.link = {.device_kind = 1,
			.vcs = 1,
			.vc_blocks = 128 * 1024 / FRAME_BLOCK_BYTES,
			.hello_ps = 10 * PS_PER_MS,
			.refresh_ps = PS_PER_MS},
		.itb = {.pool_bytes = ITB_POOL_BYTES_DEFAULT, .pause_ps = ITB_PAUSE_DEFAULT_PS},
	};
}

static bool is_valid(const struct nic_config *config)
{
	for (unsigned sl = 0; sl < 16; sl++)
		if (config->sl_to_vc[sl] + (config->mark_ps != 0) >= config->link.vcs)
			return false;
	return (config->routes == NULL || config->routes->hosts == config->hosts) &&
	       config->choice != NULL && config->host < config->hosts &&
	       config->hosts < FRAME_HOST_NONE && config->mtu_bytes >= MTU_BYTES_MIN &&
	       config->mtu_bytes <= FRAME_PAYLOAD_MAX && config->messages > 0 &&
	       config->messages < MESSAGE_NONE && config->window_frames > 0 &&
	       config->window_frames <= WINDOW_FRAMES_MAX &&
	       (config->window_frames & (config->window_frames - 1)) == 0 &&
	       config->reorder_windows < RESEQUENCER_NONE && config->ack_frames > 0 &&
	       config->retry_ps > 0 && config->gap_ps > 0 && config->give_up_ps > 0 &&
	       config->link.session != 0 && config->link.vcs > 0 &&
	       config->link.vcs <= FRAME_VCS_MAX;
}

static int allocate(struct nic *nic)
{
	const struct nic_config *config = &nic->config;

	nic->tx = arrays_add(&nic->arrays, config->hosts, sizeof(nic->tx[0]));
	nic->rx = arrays_add(&nic->arrays, config->hosts, sizeof(nic->rx[0]));
	nic->ready_next = arrays_add(&nic->arrays, config->hosts, sizeof(nic->ready_next[0]));
	nic->ack_next = arrays_add(&nic->arrays, config->hosts, sizeof(nic->ack_next[0]));
	if (nic->arrays.failed)
		return -ENOMEM;
	if (route_choice_init(&nic->choice, config->choice, &config->selection, config->seed,
		    config->host, config->hosts) < 0)
		return -ENOMEM;
	if (deadline_queue_init(&nic->retry, config->hosts, config->retry_ps) < 0 ||
		deadline_queue_init(&nic->ack_delay, config->hosts, config->ack_delay_ps) < 0 ||
		deadline_queue_init(&nic->gap, config->hosts, config->gap_ps) < 0)
		return -ENOMEM;
	if (message_pool_init(
		    &nic->pool, config->messages, config->payloads, config->payload_bytes) < 0)
		return -ENOMEM;
	nic->itb = config->itb.pool_bytes > 0 ? itb_create(&config->itb) : NULL;
	if (nic->itb == NULL && config->itb.pool_bytes > 0)
		return -ENOMEM;
	return resequencer_init(&nic->resequencer, config->reorder_windows, config->window_frames);
}

static void init_queues(struct nic *nic)
{
	for (unsigned vc = 0; vc < FRAME_VCS_MAX; vc++) {
		message_queue_init(&nic->backlog[vc]);
		for (unsigned class = 0; class < READY_CLASSES; class ++)
			id_fifo_init(&nic->ready[class][vc]);
	}
	id_fifo_init(&nic->acks);
	vc_share_init(&nic->message_share, nic->config.messages, nic->config.link.vcs);
	vc_share_init(&nic->payload_share, nic->config.payloads, nic->config.link.vcs);
}

/* hold_begin() adds a reason why no own frame is sent and no timer runs. hold_end() removes it.
 * After the last one, transmission resumes as if no time had passed for the timers. */
static void hold_begin(struct nic *nic, unsigned reason, weft_time now)
{
	if (nic->held == 0) {
		nic->held_since = now;
		nic->stalled_vcs = 0; /* frames now wait for a different reason */
	}
	nic->held |= reason;
}

/* Restarts the timers. The FIFOs waited only because of the hold. */
static void resume(struct nic *nic, weft_time now)
{
	for (unsigned vc = 0; vc < FRAME_VCS_MAX; vc++)
		nic->backlog_moved[vc] = now;
	flow_rx_resume(nic, now);
	flow_tx_resume(nic, now - nic->held_since, now);
}

static void hold_end(struct nic *nic, unsigned reason, weft_time now)
{
	if ((nic->held & reason) == 0)
		return;
	nic->held &= ~reason;
	if (nic->held == 0)
		resume(nic, now);
}

struct nic *nic_create(const struct nic_config *config, weft_time now)
{
	struct nic *nic;

	if (!is_valid(config)) {
		errno = EINVAL;
		return NULL;
	}
	nic = calloc(1, sizeof(*nic));
	if (nic == NULL)
		return NULL;
	nic->config = *config;
	if (allocate(nic) < 0 || arn_marks_create(&nic->marks, config->mark_ps) < 0 ||
		nic_control_create(nic) < 0) {
		nic_destroy(nic);
		errno = ENOMEM;
		return NULL;
	}
	link_end_init(&nic->link, &config->link, now);
	init_queues(nic);
	flow_tx_init(nic);
	flow_rx_init(nic);
	if (config->routes == NULL)
		hold_begin(nic, NIC_HELD_ROUTES, now);
	return nic;
}

void nic_destroy(struct nic *nic)
{
	if (nic == NULL)
		return;
	resequencer_fini(&nic->resequencer);
	itb_destroy(nic->itb);
	free(nic->marks);
	nic_control_destroy(nic);
	peer_clocks_destroy(nic->clocks);
	message_pool_fini(&nic->pool);
	deadline_queue_fini(&nic->gap);
	deadline_queue_fini(&nic->ack_delay);
	deadline_queue_fini(&nic->retry);
	route_choice_fini(&nic->choice);
	arrays_free(&nic->arrays);
	free(nic);
}

const uint8_t *nic_choose_route(
	struct nic *nic, uint16_t destination, uint32_t bytes, struct nic_route_chosen *chosen)
{
	const struct nic_routes *routes = nic->config.routes;

	*chosen = (struct nic_route_chosen){.alternatives = routes->to[destination].count};
	if (chosen->alternatives == 0)
		return NULL;
	chosen->which = (uint8_t)route_choice_choose(
		&nic->choice, destination, chosen->alternatives, bytes);
	return nic_routes_get(routes, destination, chosen->which, &chosen->length);
}

static int check(const struct nic *nic, const struct nic_message *message)
{
	if (message->sl > 15 || message->destination == nic->config.host ||
		(message->payload == NULL && message->bytes < SYNTHETIC_PREFIX_BYTES))
		return -EINVAL;
	if (message->payload != NULL && message->payload != nic_pulled &&
		message->bytes > nic->config.payload_bytes)
		return -EMSGSIZE;
	if (message->destination >= nic->config.hosts)
		return -ENETUNREACH;
	return nic->config.routes == NULL ||
			       nic_routes_reaches(nic->config.routes, message->destination)
		       ? 0
		       : -ENETUNREACH;
}

static uint8_t sl_of(const struct nic *nic, uint16_t destination, uint8_t sl)
{
	const struct queuing *queuing = nic->config.queuing;

	return queuing == NULL ? sl : queuing_sl(queuing, nic->config.host, destination);
}

/* Returns true if a peer with 'held' messages may hold one more. A peer always holds less than is
 * left, so N peers that take their maximum leave 1 / (N + 1). */
static bool peer_has_room(const struct vc_share *share, unsigned vc, uint32_t held)
{
	uint32_t left = vc_share_left(share, vc);

	return left > held || (left > 0 && held == 0);
}

bool nic_has_room(struct nic *nic, uint16_t destination, uint8_t sl, weft_time now)
{
	bool room = peer_has_room(&nic->message_share,
		nic->config.sl_to_vc[sl_of(nic, destination, sl) & 15], nic->tx[destination].held);

	if (!room)
		nic->refusing_ps = now;
	return room;
}

bool nic_is_silent(const struct nic *nic, uint16_t destination)
{
	return nic->tx[destination].silent;
}

/* Takes a record for the message from the shares of its VC and its peer. Returns MESSAGE_NONE if
 * there is no room. */
static uint32_t get_message(struct nic *nic, const struct nic_message *from, unsigned vc)
{
	struct flow_tx *tx = &nic->tx[from->destination];
	bool slot = from->payload != NULL && from->payload != nic_pulled;
	uint32_t index;

	if (!peer_has_room(&nic->message_share, vc, tx->held) ||
		(slot && !peer_has_room(&nic->payload_share, vc, tx->held_payloads)))
		return MESSAGE_NONE;
	index = message_pool_get(&nic->pool, from->payload, from->bytes);
	if (index == MESSAGE_NONE)
		return MESSAGE_NONE;
	vc_share_take(&nic->message_share, vc);
	tx->held++;
	if (slot) {
		vc_share_take(&nic->payload_share, vc);
		tx->held_payloads++;
	}
	return index;
}

static int refuse(struct nic *nic, uint16_t destination)
{
	bool silent = nic->tx[destination].silent;

	nic->count[silent ? NIC_MESSAGES_SILENT : NIC_MESSAGES_REFUSED]++;
	return silent ? -EHOSTDOWN : -EAGAIN;
}

int nic_send(struct nic *nic, const struct nic_message *from, weft_time now)
{
	uint32_t mtu = nic->config.mtu_bytes, index;
	int result = check(nic, from);
	struct message *message;
	uint8_t sl, vc;

	if (result < 0) {
		nic->count[NIC_MESSAGES_UNREACHABLE] += result == -ENETUNREACH;
		return result;
	}
	sl = sl_of(nic, from->destination, from->sl);
	vc = nic->config.sl_to_vc[sl];
	index = get_message(nic, from, vc);
	if (index == MESSAGE_NONE)
		return refuse(nic, from->destination);
	message = nic_message_at(nic, index);
	message->frames = frame_count(from->bytes, mtu);
	message->destination = from->destination;
	message->sl = sl;
	message->entry = from->entry;
	message->vc = message->share = vc;
	message->generated_ps = message->ready_ps = from->generated_ps;
	if (from->generated_ps <= nic->refused_ps && from->generated_ps < nic->room_ps)
		message->ready_ps = nic->room_ps;
	message->queued_ps = now;
	message->cookie = from->cookie;
	if (nic->backlog[message->vc].head == MESSAGE_NONE)
		nic->backlog_moved[message->vc] = now;
	message_queue_push(&nic->pool, &nic->backlog[message->vc], index);
	nic->backlog_vcs |= 1u << message->vc;
	nic->own_waiting++;
	nic->count[NIC_MESSAGES_QUEUED]++;
	return 0;
}

/* Fails messages of a FIFO in which nothing has moved for too long, for example while the link is
 * down. */
static void fail_backlog(struct nic *nic, unsigned vc, weft_time now)
{
	struct message_queue *backlog = &nic->backlog[vc];

	while (backlog->head != MESSAGE_NONE &&
		now - nic_message_at(nic, backlog->head)->queued_ps >= nic->config.give_up_ps)
		flow_tx_finish(nic, message_queue_pop(&nic->pool, backlog), -ETIMEDOUT);
	if (backlog->head == MESSAGE_NONE)
		nic->backlog_vcs &= ~(1u << vc);
}

static void abandon_transit(struct nic *nic)
{
	struct weft_packet *packet = nic->itb != NULL ? itb_drain(nic->itb) : NULL;

	while (packet != NULL) {
		struct weft_packet *next = packet->next;

		nic->count[NIC_ITB_ABANDONED] += !packet->control;
		nic->count[NIC_ITB_CONTROL_DISCARDED] += packet->control;
		nic_release_packet(nic, packet);
		packet = next;
	}
}

bool nic_poll(struct nic *nic, weft_time now)
{
	unsigned due;
	bool down;

	nic->due_ps = now;
	nic->credit_ps = nic->heard_ps != 0 ? nic->heard_ps : now;
	nic->heard_ps = 0;
	nic->refused_ps = nic->refusing_ps;
	if (nic->config.link.open)
		link_end_renew_open(&nic->link);
	due = link_end_poll(&nic->link, now);
	nic->link_due = due & (LINK_SEND_HELLO | LINK_SEND_CREDIT);
	down = (due & LINK_WENT_DOWN) != 0;
	if (down)
		abandon_transit(nic);
	if (nic->held != 0)
		return down;
	flow_rx_poll(nic, now);
	flow_tx_poll(nic, now);
	nic_control_poll(nic, now);
	for (uint32_t vcs = nic->backlog_vcs; vcs != 0; vcs &= vcs - 1) {
		unsigned vc = (unsigned)__builtin_ctz(vcs);

		if (now - nic->backlog_moved[vc] >= nic->config.give_up_ps)
			fail_backlog(nic, vc, now);
	}
	return down;
}

struct weft_packet *nic_purge(struct nic *nic)
{
	struct weft_packet *released;

	abandon_transit(nic);
	released = nic->released;
	nic->released = NULL;
	return released;
}

struct weft_packet *nic_drain(struct nic *nic)
{
	flow_rx_drain(nic);
	return nic_purge(nic);
}

bool nic_busy(const struct nic *nic)
{
	return nic->pool.used > 0 || (nic->itb != NULL && nic->itb->frames > 0);
}

bool nic_link_up(const struct nic *nic)
{
	return nic->link.state == LINK_UP;
}

const uint64_t *nic_counters(const struct nic *nic)
{
	return nic->count;
}

uint64_t nic_held_wire_bytes(const struct nic *nic)
{
	return nic->resequencer.bytes + nic->resequencer.total * (uint64_t)FRAME_WIRE_OVERHEAD;
}

const struct nic_config *nic_config(const struct nic *nic)
{
	return &nic->config;
}

int nic_set_clocks(struct nic *nic, const bool *same, uint32_t clock)
{
	const struct peer_clocks_config config = {.host = nic->config.host,
		.hosts = nic->config.hosts,
		.clock = clock,
		.secret = nic->config.secret,
		.same = same};

	nic->clocks = peer_clocks_create(&config);
	return nic->clocks != NULL ? 0 : -ENOMEM;
}

const struct clock_offset *nic_clock_of(const struct nic *nic, uint16_t host)
{
	return nic->clocks != NULL && nic->clocks->peer[host].other
		       ? &nic->clocks->peer[host].offset
		       : NULL;
}

void nic_set_programs(struct nic *nic, const struct nic_programs *programs)
{
	nic->programs = *programs;
}

struct link_end *nic_link(struct nic *nic)
{
	return &nic->link;
}

/* --- holding frames --- */

/* Holding the interface's own frames (docs/explanation/the-mapper.md, 'Distribution'). While frames
 * are held, the timers do not advance: the events that they wait for cannot occur, because all
 * devices are held or nothing has been sent. On resumption the timers restart, so that no interface
 * mistakes the pause for losses and retransmits. */

void nic_pause(struct nic *nic, weft_time now)
{
	hold_begin(nic, NIC_HELD_PAUSED, now);
}

void nic_resume(struct nic *nic, weft_time now)
{
	hold_end(nic, NIC_HELD_PAUSED, now);
}

bool nic_is_paused(const struct nic *nic)
{
	return (nic->held & NIC_HELD_PAUSED) != 0;
}

bool nic_is_idle(const struct nic *nic)
{
	return nic_is_paused(nic) && (nic->itb == NULL || nic->itb->frames == 0);
}

/* --- routes and queuing --- */

/* Functions with which a mapper replaces the routes and the queuing scheme of an interface. */

bool nic_has_routes(const struct nic *nic)
{
	return nic->config.routes != NULL;
}

_Static_assert(NIC_ROUTES_MAX == ROUTE_CHOICE_ROUTES_MAX, "sets have rows of the same length");

/* Returns false if the selector has no room for that many alternatives. */
static bool fits(const struct nic *nic, const struct nic_routes *routes)
{
	if (routes == NULL || routes->hosts != nic->config.hosts)
		return false;
	if (!route_choice_learns(&nic->choice))
		return true;
	for (uint16_t to = 0; to < routes->hosts; to++)
		if (routes->to[to].count > nic->choice.options.routes)
			return false;
	return true;
}

static void reroute(struct nic *nic, const struct nic_routes *former, uint16_t peer, weft_time now)
{
	bool same = former != NULL && nic_routes_equal(former, nic->config.routes, peer);
	bool reached = nic->tx[peer].window != 0;

	if (!same) {
		route_choice_forget(&nic->choice, peer);
		nic_control_rerouted(nic, peer);
	}
	flow_tx_reroute(nic, peer, same, now);
	if (!reached && nic->tx[peer].window != 0)
		flow_rx_acknowledge_again(nic, peer);
}

int nic_set_routes(struct nic *nic, const struct nic_routes *routes, weft_time now)
{
	const struct nic_routes *former = nic->config.routes;

	if (!fits(nic, routes))
		return -EINVAL;
	nic->config.routes = routes;
	nic->choice.options.sets = routes->sets;
	for (uint16_t peer = 0; peer < nic->config.hosts; peer++)
		reroute(nic, former, peer, now);
	nic->count[NIC_ROUTE_CHANGES]++;
	hold_end(nic, NIC_HELD_ROUTES, now);
	return 0;
}

/* The VCs of service levels are fixed at creation. A new scheme can only distribute messages among
 * them differently. */
int nic_set_queuing(struct nic *nic, const struct queuing *queuing)
{
	if (queuing != NULL && queuing->hosts < nic->config.hosts)
		return -EINVAL;
	for (unsigned sl = 0; queuing != NULL && sl < queuing->queues; sl++)
		if (nic->config.sl_to_vc[sl] != sl)
			return -EINVAL;
	nic->config.queuing = queuing;
	return 0;
}

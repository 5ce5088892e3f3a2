/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

#include <inttypes.h>

#include "goal_replay_private.h"

static uint32_t op_list_pop(struct op_list *list, const uint32_t *next)
{
	uint32_t op = list->head;

	list->head = next[op];
	return op;
}

/* 'before': the predecessor of 'op', or GOAL_NONE for the head. */
static void op_list_remove(struct op_list *list, uint32_t *next, uint32_t before, uint32_t op)
{
	if (before == GOAL_NONE)
		list->head = next[op];
	else
		next[before] = next[op];
	if (list->tail == op)
		list->tail = before;
}

static weft_time later(weft_time at, uint64_t ns)
{
	weft_time last = WEFT_TIME_NEVER - 1;

	return ns > (last - at) / PS_PER_NS ? last : at + ns * PS_PER_NS;
}

static bool fits(const struct goal_replay *replay, uint32_t recv, uint32_t send)
{
	const struct goal_op *wanted = &replay->goal->op[recv], *sent = &replay->goal->op[send];

	return (wanted->peer == GOAL_ANY || wanted->peer == replay->owner[send]) &&
	       (wanted->any_tag || wanted->tag == sent->tag);
}

/* Records that 'op' started or ended for the operations that wait for it. Appends those with no
 * remaining requirements to 'ready'. */
static void release(struct goal_replay *replay, uint32_t op, uint32_t moment, struct op_list *ready)
{
	const struct goal *goal = replay->goal;

	for (uint32_t i = goal->first_edge[op]; i < goal->first_edge[op + 1]; i++) {
		uint32_t to = goal->edge[i] & ~GOAL_EDGE_STARTED;

		if ((goal->edge[i] & GOAL_EDGE_STARTED) == moment && --replay->waits[to] == 0)
			op_list_push(ready, replay->next, to);
	}
}

static void end(struct goal_replay *replay, uint32_t op, weft_time at, struct op_list *ready)
{
	struct goal_replay_rank *rank = &replay->rank[replay->owner[op]];

	replay->state[op] = OP_DONE;
	if (at > rank->ended_ps)
		rank->ended_ps = at;
	replay->host[rank->host].left--;
	release(replay, op, 0, ready);
	atomic_fetch_add_explicit(&rank->ended, 1, memory_order_release);
}

static weft_time copy_ps(const struct goal_replay *replay, uint64_t bytes)
{
	unsigned __int128 ps =
		replay->copy_rate_bps == 0
			? 0
			: (unsigned __int128)bytes * 8 * PS_PER_S / replay->copy_rate_bps;

	return ps < WEFT_TIME_NEVER ? (weft_time)ps : WEFT_TIME_NEVER;
}

/* Returns the CPU time of a recv that has its message. */
static weft_time recv_ps(const struct goal_replay *replay, uint32_t recv)
{
	uint32_t send = replay->next_message[recv];
	weft_time copy = 0;

	if (replay->rendezvous_bytes != 0 && !goal_replay_is_copy(replay, send) &&
		!goal_replay_asks(replay, send))
		copy = copy_ps(replay, replay->goal->op[send].amount);
	return replay->overhead_ps + copy;
}

/* Returns when an operation that a CPU starts at 'at' ends: a calc, a copy or an overhead. */
static weft_time end_of(const struct goal_replay *replay, const struct goal_replay_cpu *cpu,
	uint32_t op, weft_time at)
{
	const struct goal_op *is = &replay->goal->op[op];
	weft_time ps = replay->overhead_ps;

	if (is->kind == GOAL_CALC)
		return later(at, is->amount);
	if (cpu->copies)
		ps = copy_ps(replay, is->amount);
	else if (is->kind == GOAL_RECV)
		ps = recv_ps(replay, op);
	return ps > WEFT_TIME_NEVER - 1 - at ? WEFT_TIME_NEVER - 1 : at + ps;
}

/* Releases the operations that wait for the start of 'op', once. */
static void release_begin(struct goal_replay *replay, uint32_t op, struct op_list *ready)
{
	if (replay->state[op] == OP_POSTED)
		return;
	replay->state[op] = OP_POSTED;
	release(replay, op, GOAL_EDGE_STARTED, ready);
}

static void run_cpu(struct goal_replay *replay, struct goal_replay_cpu *cpu, weft_time at,
	struct op_list *ready)
{
	if (cpu->running != GOAL_NONE || cpu->ready.head == GOAL_NONE)
		return;
	cpu->running = op_list_pop(&cpu->ready, replay->next);
	cpu->until = end_of(replay, cpu, cpu->running, at);
	release_begin(replay, cpu->running, ready);
}

static void begin_on_cpu(struct goal_replay *replay, struct goal_replay_cpu *cpu, uint32_t op,
	weft_time at, struct op_list *ready)
{
	op_list_push(&cpu->ready, replay->next, op);
	run_cpu(replay, cpu, at, ready);
}

static struct goal_replay_cpu *cpu_of(const struct goal_replay *replay, uint32_t op)
{
	return &replay->cpu[replay->rank[replay->owner[op]].first_cpu + replay->goal->op[op].cpu];
}

static struct goal_replay_channel *find_channel(
	const struct goal_replay *replay, uint32_t from, uint32_t to)
{
	const struct goal_replay_host *host = &replay->host[from];
	uint32_t low = 0, high = host->channels;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		struct goal_replay_channel *channel =
			&replay->channel[host->first_channel + middle];

		if (channel->to == to)
			return channel;
		if (channel->to < to)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

static uint32_t host_of(const struct goal_replay *replay, uint32_t rank)
{
	return replay->rank[rank].host;
}

/* Returns the host's next message for 'op': its own send or request, or an answer. */
static uint32_t word_of(const struct goal_replay *replay, uint32_t host, uint32_t op)
{
	if (!goal_replay_asks(replay, op) || replay->state[op] == OP_ANSWERED)
		return op;
	return op | (host_of(replay, replay->owner[op]) == host ? GOAL_REQUEST : GOAL_ANSWER);
}

static uint32_t from_of(const struct goal_replay *replay, uint32_t word)
{
	uint32_t op = word & GOAL_SEND_OF;

	return host_of(
		replay, (word & GOAL_ANSWER) != 0 ? replay->goal->op[op].peer : replay->owner[op]);
}

static uint32_t to_of(const struct goal_replay *replay, uint32_t word)
{
	uint32_t op = word & GOAL_SEND_OF;

	return host_of(
		replay, (word & GOAL_ANSWER) != 0 ? replay->owner[op] : replay->goal->op[op].peer);
}

static uint64_t bytes_of(const struct goal_replay *replay, uint32_t word)
{
	return word > GOAL_SEND_OF ? 0 : replay->goal->op[word].amount;
}

/* Appends to the send list of host 'number'. */
static void enqueue(struct goal_replay *replay, uint32_t number, uint32_t op, weft_time at)
{
	uint32_t to = to_of(replay, word_of(replay, number, op));
	uint32_t queue = replay->interleave
				 ? (uint32_t)(find_channel(replay, number, to) - replay->channel)
				 : number;

	replay->due_ps[op] = at;
	if (replay->queue[queue].due.head == GOAL_NONE)
		op_list_push(&replay->host[number].turn, replay->next_queue, queue);
	op_list_push(&replay->queue[queue].due, replay->next, op);
}

/* Call when a recv has its message. */
static void finish_recv(
	struct goal_replay *replay, uint32_t recv, weft_time at, struct op_list *ready)
{
	if (recv_ps(replay, recv) == 0)
		end(replay, recv, at, ready);
	else
		begin_on_cpu(replay, cpu_of(replay, recv), recv, at, ready);
}

/* Gives a message, or the request for one, to a recv. */
static void match(struct goal_replay *replay, uint32_t recv, uint32_t send, weft_time at,
	struct op_list *ready)
{
	replay->next_message[recv] = send;
	replay->next_message[send] = recv;
	if (goal_replay_asks(replay, send))
		enqueue(replay, host_of(replay, replay->owner[recv]), send, at);
	else
		finish_recv(replay, recv, at, ready);
}

/* Takes a message that has already arrived, or adds the recv to the waiting ones. */
static void post_recv(struct goal_replay *replay, uint32_t op, weft_time at, struct op_list *ready)
{
	struct goal_replay_rank *rank = &replay->rank[replay->owner[op]];
	uint32_t before = GOAL_NONE;

	release_begin(replay, op, ready);
	for (uint32_t send = rank->unexpected.head; send != GOAL_NONE;
		before = send, send = replay->next_message[send]) {
		if (!fits(replay, op, send))
			continue;
		op_list_remove(&rank->unexpected, replay->next_message, before, send);
		match(replay, op, send, at, ready);
		return;
	}
	op_list_push(&rank->posted, replay->next, op);
}

/* Call when the message or request of a send has arrived. A waiting or later recv takes it. */
static void arrive(struct goal_replay *replay, uint32_t send, weft_time at, struct op_list *ready)
{
	struct goal_replay_rank *rank = &replay->rank[replay->goal->op[send].peer];
	uint32_t before = GOAL_NONE;

	for (uint32_t recv = rank->posted.head; recv != GOAL_NONE;
		before = recv, recv = replay->next[recv]) {
		if (!fits(replay, recv, send))
			continue;
		op_list_remove(&rank->posted, replay->next, before, recv);
		match(replay, recv, send, at, ready);
		return;
	}
	op_list_push(&rank->unexpected, replay->next_message, send);
}

/* Call when the overhead of a send has passed. */
static void dispatch_send(
	struct goal_replay *replay, uint32_t op, weft_time at, struct op_list *ready)
{
	uint32_t number = host_of(replay, replay->owner[op]);
	struct goal_replay_host *host = &replay->host[number];

	if (replay->times != NULL)
		replay->times[op].due_ps = at;
	if (goal_replay_is_copy(replay, op)) {
		begin_on_cpu(replay, &replay->cpu[host->first_cpu + host->cpus - 1], op, at, ready);
		return;
	}
	enqueue(replay, number, op, at);
	release_begin(replay, op, ready);
}

void goal_replay_begin(struct goal_replay *replay, weft_time at, struct op_list *ready)
{
	while (ready->head != GOAL_NONE) {
		uint32_t op = op_list_pop(ready, replay->next);

		replay->state[op] = OP_READY;
		switch ((enum goal_kind)replay->goal->op[op].kind) {
		case GOAL_SEND:
			if (replay->overhead_ps == 0)
				dispatch_send(replay, op, at, ready);
			else
				begin_on_cpu(replay, cpu_of(replay, op), op, at, ready);
			break;
		case GOAL_RECV:
			post_recv(replay, op, at, ready);
			break;
		case GOAL_CALC:
			begin_on_cpu(replay, cpu_of(replay, op), op, at, ready);
			break;
		}
	}
}

/* Handles a message, request or answer that has arrived. */
static void take(struct goal_replay *replay, uint32_t word, weft_time now, struct op_list *ready)
{
	uint32_t send = word & GOAL_SEND_OF;

	if ((word & GOAL_ANSWER) != 0) {
		replay->state[send] = OP_ANSWERED;
		enqueue(replay, host_of(replay, replay->owner[send]), send, now);
		return;
	}
	if (word == send && replay->times != NULL)
		replay->times[send].arrived_ps = now;
	if (word == send && goal_replay_asks(replay, send))
		finish_recv(replay, replay->next_message[send], now, ready);
	else
		arrive(replay, send, now, ready);
}

static struct goal_replay_cpu *first_cpu(
	const struct goal_replay *replay, const struct goal_replay_host *host)
{
	struct goal_replay_cpu *first = NULL;

	for (uint32_t i = 0; i < host->cpus; i++) {
		struct goal_replay_cpu *cpu = &replay->cpu[host->first_cpu + i];

		if (cpu->running != GOAL_NONE && (first == NULL || cpu->until < first->until))
			first = cpu;
	}
	return first;
}

static void pass_time(struct goal_replay *replay, struct goal_replay_host *host, weft_time now)
{
	struct goal_replay_cpu *cpu;

	while ((cpu = first_cpu(replay, host)) != NULL && cpu->until <= now) {
		struct op_list ready = {GOAL_NONE, GOAL_NONE};
		weft_time at = cpu->until;
		uint32_t op = cpu->running;

		cpu->running = GOAL_NONE;
		if (replay->goal->op[op].kind == GOAL_SEND && !cpu->copies) {
			dispatch_send(replay, op, at, &ready);
		} else {
			end(replay, op, at, &ready);
			if (cpu->copies)
				take(replay, op, at, &ready);
		}
		run_cpu(replay, cpu, at, &ready);
		goal_replay_begin(replay, at, &ready);
	}
}

bool goal_replay_poll(
	struct goal_replay *replay, uint32_t host, weft_time now, struct goal_message *message)
{
	struct goal_replay_host *at = &replay->host[host];
	const struct goal_replay_queue *queue;
	uint64_t left;
	uint32_t word;

	pass_time(replay, at, now);
	if (at->turn.head == GOAL_NONE)
		return false;
	queue = &replay->queue[at->turn.head];
	if (queue->accepted_bytes == 0 && now < at->next_send)
		return false;
	word = word_of(replay, host, queue->due.head);
	left = bytes_of(replay, word) - queue->accepted_bytes;
	*message = (struct goal_message){.op = word,
		.to = to_of(replay, word),
		.bytes = left < replay->piece_bytes ? left : replay->piece_bytes,
		.first = queue->accepted_bytes == 0,
		.due_ps = replay->due_ps[queue->due.head]};
	return true;
}

/* Returns false if there are already as many messages as the host sends. */
static bool put_in_flight(struct goal_replay *replay, uint32_t word)
{
	struct goal_replay_channel *channel =
		find_channel(replay, from_of(replay, word), to_of(replay, word));
	uint32_t sent;

	if (channel == NULL)
		return false;
	sent = atomic_load_explicit(&channel->sent, memory_order_relaxed);
	if (sent == channel->sends)
		return false;
	replay->slot[channel->first + sent] = word;
	atomic_store_explicit(&channel->sent, sent + 1, memory_order_release);
	return true;
}

void goal_replay_accept(struct goal_replay *replay, uint32_t host, weft_time now)
{
	struct goal_replay_host *at = &replay->host[host];
	struct op_list ready = {GOAL_NONE, GOAL_NONE};
	uint32_t number = op_list_pop(&at->turn, replay->next_queue);
	struct goal_replay_queue *queue = &replay->queue[number];
	uint32_t word = word_of(replay, host, queue->due.head);
	uint64_t left = bytes_of(replay, word) - queue->accepted_bytes;

	if (queue->accepted_bytes == 0) {
		put_in_flight(replay, word);
		at->next_send = now + replay->gap_ps;
	}
	if (left > replay->piece_bytes) {
		queue->accepted_bytes += replay->piece_bytes;
		op_list_push(&at->turn, replay->next_queue, number);
		return;
	}
	queue->accepted_bytes = 0;
	op_list_pop(&queue->due, replay->next);
	if (queue->due.head != GOAL_NONE)
		op_list_push(&at->turn, replay->next_queue, number);
	if (word > GOAL_SEND_OF)
		return;
	end(replay, word, now, &ready);
	goal_replay_begin(replay, now, &ready);
}

bool goal_replay_accept_elsewhere(struct goal_replay *replay, uint32_t op)
{
	uint32_t send = op & GOAL_SEND_OF;

	return send < replay->goal->ops && replay->goal->op[send].kind == GOAL_SEND &&
	       (op == send || goal_replay_asks(replay, send)) && put_in_flight(replay, op);
}

static bool has_more_pieces(const struct goal_replay *replay, uint32_t word, uint32_t arrived)
{
	uint64_t bytes = bytes_of(replay, word);

	return bytes > replay->piece_bytes && (bytes - 1) / replay->piece_bytes >= arrived;
}

bool goal_replay_deliver(struct goal_replay *replay, uint32_t host, uint32_t from, weft_time now)
{
	struct goal_replay_channel *channel =
		from < replay->hosts ? find_channel(replay, from, host) : NULL;
	struct op_list ready = {GOAL_NONE, GOAL_NONE};
	uint32_t word;

	if (channel == NULL ||
		channel->taken == atomic_load_explicit(&channel->sent, memory_order_acquire))
		return false;
	pass_time(replay, &replay->host[host], now);
	word = replay->slot[channel->first + channel->taken];
	channel->pieces++;
	if (has_more_pieces(replay, word, channel->pieces))
		return true;
	channel->pieces = 0;
	channel->taken++;
	take(replay, word, now, &ready);
	goal_replay_begin(replay, now, &ready);
	return true;
}

weft_time goal_replay_next(const struct goal_replay *replay, uint32_t host)
{
	const struct goal_replay_host *at = &replay->host[host];
	const struct goal_replay_cpu *cpu = first_cpu(replay, at);

	weft_time next = cpu != NULL ? cpu->until : WEFT_TIME_NEVER;

	if (at->turn.head == GOAL_NONE)
		return next;
	if (replay->queue[at->turn.head].accepted_bytes > 0)
		return 0;
	return at->next_send < next ? at->next_send : next;
}

bool goal_replay_host_done(const struct goal_replay *replay, uint32_t host)
{
	return replay->host[host].left == 0;
}

bool goal_replay_done(const struct goal_replay *replay)
{
	for (uint32_t rank = 0; rank < replay->goal->ranks; rank++)
		if (atomic_load_explicit(&replay->rank[rank].ended, memory_order_acquire) !=
			replay->goal->rank[rank].count)
			return false;
	return true;
}

weft_time goal_replay_ended(const struct goal_replay *replay)
{
	weft_time ended = 0;

	for (uint32_t rank = 0; rank < replay->goal->ranks; rank++)
		if (replay->rank[rank].ended_ps > ended)
			ended = replay->rank[rank].ended_ps;
	return ended;
}

uint64_t goal_replay_count(const struct goal_replay *replay)
{
	uint64_t count = 0;

	for (uint32_t rank = 0; rank < replay->goal->ranks; rank++)
		count += atomic_load_explicit(&replay->rank[rank].ended, memory_order_acquire);
	return count;
}

struct goal_replay_end goal_replay_end(const struct goal_replay *replay, uint32_t rank)
{
	const struct goal_replay_rank *at = &replay->rank[rank];

	return (struct goal_replay_end){.ended_ps = at->ended_ps,
		.ended = atomic_load_explicit(&at->ended, memory_order_acquire),
		.posted = at->posted.head,
		.unexpected = at->unexpected.head};
}

void goal_replay_set_end(
	struct goal_replay *replay, uint32_t rank, const struct goal_replay_end *end)
{
	struct goal_replay_rank *at = &replay->rank[rank];

	at->ended_ps = end->ended_ps;
	at->posted.head = end->posted;
	at->unexpected.head = end->unexpected;
	atomic_store_explicit(&at->ended, end->ended, memory_order_release);
}

uint8_t *goal_replay_states(struct goal_replay *replay, uint32_t rank, size_t *count)
{
	*count = replay->goal->rank[rank].count;
	return &replay->state[replay->goal->rank[rank].first];
}

struct goal_replay_times *goal_replay_times(struct goal_replay *replay, uint32_t send)
{
	return &replay->times[send];
}

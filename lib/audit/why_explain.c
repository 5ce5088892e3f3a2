/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Divides a packet's time into parts. Times are truncated to nanoseconds, so the parts add up. */

#include "why_private.h"

#define DEPTH_MAX   64 /* maximum number of buffers followed to a cause */
#define SAMPLES_MAX 8  /* maximum number of parts of an interval without credits */
#define SCAN_MAX    512
#define RECENT      32 /* transmissions from which a port's traffic is judged */
/* On the real clock, a device that sends nothing for longer than this was not running: switches
 * refresh credits more often. */
#define SILENT_NS UINT64_C(50000)

struct root {
	enum why_cause cause;
	uint32_t way;
};

static const struct root none = {WHY_CAUSE_NONE, WHY_NONE};

/* The packet's current place while its time is divided. */
struct stay {
	const struct why *why;
	struct why_packet *out;
	const struct why_event *entered; /* NULL: at the source */
	const struct why_event *left;
	unsigned first; /* index of the first piece of this stay */
};

/* --- port records --- */

static const struct why_event *event_of(const struct why *why, uint32_t at)
{
	return &why->event[why->by_port[at]];
}

/* Returns how many of the sorted records [from, from + count) are not later than a time. */
static uint32_t count_until(const struct why *why, uint32_t from, uint32_t count, uint64_t time_ns)
{
	uint32_t low = 0, high = count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (event_of(why, from + middle)->time_ns <= time_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static uint64_t end_ns(const struct why *why, const struct why_event *sent)
{
	return sent->time_ns + why_wire_ps(&why->port[sent->way], sent->bytes) / PS_PER_NS;
}

/* Returns the packet that the port is sending at a time, or NULL. */
static const struct why_event *find_busy(const struct why *why, uint32_t way, uint64_t time_ns)
{
	const struct why_port *port = &why->port[way];
	uint32_t count = count_until(why, port->out, port->outs, time_ns);
	const struct why_event *sent;

	if (count == 0)
		return NULL;
	sent = event_of(why, port->out + count - 1);
	return time_ns < end_ns(why, sent) ? sent : NULL;
}

/* Returns the index in 'limit' of the first limit of a VC after a time, or of a later VC. */
static uint32_t limit_after(const struct why *why, uint32_t way, unsigned vc, uint64_t time_ns)
{
	uint32_t low = why->port[way].limit, high = low + why->port[way].limits;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		const struct why_limit *at = &why->limit[middle];

		if (at->vc < vc || (at->vc == vc && at->time_ns <= time_ns))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Finds the last limit of a VC up to a time. Returns false if there is none. */
static bool find_limit(
	const struct why *why, uint32_t way, unsigned vc, uint64_t time_ns, uint32_t *limit)
{
	uint32_t after = limit_after(why, way, vc, time_ns);

	if (after == why->port[way].limit || why->limit[after - 1].vc != vc)
		return false;
	*limit = why->limit[after - 1].limit;
	return true;
}

/* Returns the time at which the VC's next limit arrives, at most 'until_ns'. */
static uint64_t next_limit_ns(
	const struct why *why, uint32_t way, unsigned vc, uint64_t time_ns, uint64_t until_ns)
{
	uint32_t after = limit_after(why, way, vc, time_ns);

	if (after == why->port[way].limit + why->port[way].limits || why->limit[after].vc != vc ||
		why->limit[after].time_ns > until_ns)
		return until_ns;
	return why->limit[after].time_ns;
}

/* Returns whether the VC has credits for 'blocks'. These are the credits left after the port's last
 * departure in the VC plus the rise of the limit since then. Returns true if unknown. */
static bool has_credits(
	const struct why *why, uint32_t way, unsigned vc, uint32_t blocks, uint64_t time_ns)
{
	const struct why_port *port = &why->port[way];
	uint32_t count = count_until(why, port->out, port->outs, time_ns), then, now;

	for (uint32_t i = 0; i < count && i < SCAN_MAX; i++) {
		const struct why_event *sent = event_of(why, port->out + count - 1 - i);

		if (sent->vc != vc || sent->credits == WHY_UNKNOWN)
			continue;
		if (!find_limit(why, way, vc, sent->time_ns, &then) ||
			!find_limit(why, way, vc, time_ns, &now))
			return true;
		return sent->credits + (now - then) >= blocks;
	}
	return true;
}

/* --- causes --- */

static bool is_stored(const struct why *why, const struct why_event *event, uint64_t time_ns)
{
	return event->next == WHY_NONE || why->event[event->next].time_ns > time_ns;
}

/* Returns the oldest packet in the buffer of a VC, or NULL. Considers only packets that arrived
 * before 'before' (NULL: all) and leave through 'output' (WHY_NONE: any). */
static const struct why_event *find_oldest(const struct why *why, uint32_t way, unsigned vc,
	uint64_t time_ns, const struct why_event *before, uint32_t output)
{
	const struct why_port *port = &why->port[way];
	uint32_t count = count_until(why, port->in, port->ins, time_ns);
	const struct why_event *found = NULL;

	for (uint32_t i = 0; i < count && i < SCAN_MAX; i++) {
		const struct why_event *event = event_of(why, port->in + count - 1 - i);

		if (event->vc != vc || !is_stored(why, event, time_ns) || event->next == WHY_NONE ||
			(before != NULL && event >= before) ||
			(output != WHY_NONE && why->event[event->next].way != output))
			continue;
		found = event;
	}
	return found;
}

/* One loop serves all ports of a device; the first port represents it. */
static struct root blame_loop(const struct why *why, uint32_t way)
{
	uint32_t first = 0;

	while (why->port[first].device != why->port[way].device)
		first++;
	return (struct root){WHY_CAUSE_STOPPED_LOOP, first};
}

/* Returns the output that the packet's queue serves; WHY_NONE: one queue per VC serves all. */
static uint32_t queue_way(const struct why *why, const struct why_event *left)
{
	return why->rules.vcs_known && !why->rules.voq ? WHY_NONE : left->way;
}

/* Returns the direction from a switch to the host, or 'otherwise' if there is none. */
static uint32_t way_to(const struct why *why, uint16_t host, uint32_t otherwise)
{
	const struct topology_port port = {.kind = DEVICE_HOST, .device = host};

	if (host >= why->rules.topology->hosts ||
		topology_link_at(why->rules.topology, port) == NULL)
		return otherwise;
	return topology_way_at(why->rules.topology, port) ^ 1;
}

/* Returns the reason why a port is busy. */
static struct root blame_port(const struct why *why, uint32_t way, uint64_t time_ns)
{
	const struct why_port *port = &why->port[way];
	uint32_t count = count_until(why, port->out, port->outs, time_ns);
	const struct why_event *last = event_of(why, port->out + count - 1);
	bool sources = false, destinations = false;

	if (port->slow)
		return (struct root){WHY_CAUSE_SLOW_LINK, way};
	for (uint32_t i = 1; i < count && i < RECENT; i++) {
		const struct why_event *sent = event_of(why, port->out + count - 1 - i);

		sources |= sent->source != last->source;
		destinations |= sent->destination != last->destination;
	}
	if (!sources)
		return (struct root){WHY_CAUSE_SOURCE, way};
	if (destinations)
		return (struct root){WHY_CAUSE_SHARED_LINK, way};
	return (struct root){WHY_CAUSE_HOT_SPOT, way_to(why, last->destination, way)};
}

static bool is_silent(const struct why *why, uint32_t device, uint64_t time_ns)
{
	for (uint32_t way = 0; way < why->ways; way++) {
		const struct why_port *port = &why->port[way];
		uint32_t count;

		if (port->device != device)
			continue;
		count = count_until(why, port->out, port->outs, time_ns + SILENT_NS / 2);
		if (count > 0 &&
			event_of(why, port->out + count - 1)->time_ns + SILENT_NS / 2 >= time_ns)
			return false;
	}
	return true;
}

/* Follows the chain of waiting packets to a busy port or to a buffer that is too small. */
static struct root find_root(
	const struct why *why, const struct why_event *entered, uint64_t time_ns)
{
	struct root moving = why->rules.exact ? (struct root){WHY_CAUSE_ARBITRATION, entered->way}
					      : blame_loop(why, entered->way);

	for (unsigned depth = 0; depth < DEPTH_MAX; depth++) {
		const struct why_event *left = &why->event[entered->next], *next;
		uint32_t input = left->way ^ 1;

		if (left->gone)
			return moving;
		if (find_busy(why, left->way, time_ns) != NULL)
			return blame_port(why, left->way, time_ns);
		if (!has_credits(why, left->way, left->vc, frame_blocks(left->bytes), time_ns)) {
			if (!why->port[input].whole)
				return none;
			if (!why->rules.exact && is_silent(why, why->port[input].device, time_ns))
				return blame_loop(why, input);
			next = find_oldest(why, input, left->vc, time_ns, NULL, WHY_NONE);
			moving = (struct root){WHY_CAUSE_SMALL_BUFFER, input};
		} else {
			next = find_oldest(why, entered->way, entered->vc, time_ns, entered,
				queue_way(why, left));
		}
		if (next == NULL || why->port[next->way].host)
			return moving;
		if (!why->port[next->way].whole)
			return none;
		entered = next;
	}
	return moving;
}

/* Returns the cause that leaves the port without credits. */
static struct root blame_credits(const struct why *why, uint32_t way, unsigned vc, uint64_t time_ns)
{
	uint32_t input = way ^ 1;
	const struct why_event *oldest;
	struct root root = {WHY_CAUSE_SMALL_BUFFER, input};

	if (!why->port[input].whole)
		return none;
	if (!why->rules.exact && is_silent(why, why->port[input].device, time_ns))
		return blame_loop(why, input);
	oldest = find_oldest(why, input, vc, time_ns, NULL, WHY_NONE);
	if (oldest == NULL || why->port[input].host)
		return root;
	root = find_root(why, oldest, time_ns);
	/* The oldest packet is about to leave, so the buffer is too small. */
	if (root.cause == WHY_CAUSE_ARBITRATION)
		return (struct root){WHY_CAUSE_SMALL_BUFFER, input};
	return root;
}

/* --- pieces --- */

static void add_flow(struct why_piece *piece, const struct why_event *event, uint64_t ns)
{
	unsigned at = 0;

	if (event == NULL)
		return;
	while (at < WHY_FLOWS && piece->flow[at].ns != 0 &&
		(piece->flow[at].source != event->source ||
			piece->flow[at].destination != event->destination))
		at++;
	if (at == WHY_FLOWS)
		return; /* list full: the first flows are kept */
	piece->flow[at].source = event->source;
	piece->flow[at].destination = event->destination;
	piece->flow[at].ns += ns;
	for (; at > 0 && piece->flow[at].ns > piece->flow[at - 1].ns; at--) {
		struct why_flow kept = piece->flow[at];

		piece->flow[at] = piece->flow[at - 1];
		piece->flow[at - 1] = kept;
	}
}

/* Adds the interval [from_ns, to_ns) to a part. 'behind': the packet waited for, or NULL. */
static void add(struct stay *stay, enum why_part part, uint32_t way, uint64_t from_ns,
	uint64_t to_ns, struct root root, const struct why_event *behind)
{
	struct why_packet *out = stay->out;
	unsigned at = stay->first;

	if (from_ns >= to_ns)
		return;
	while (at < out->pieces &&
		(out->piece[at].part != part || out->piece[at].way != way ||
			out->piece[at].cause != root.cause || out->piece[at].cause_way != root.way))
		at++;
	if (at == WHY_PIECES_MAX)
		at--; /* merge with the last piece, so that the sum stays exact */
	if (at == out->pieces)
		out->piece[out->pieces++] = (struct why_piece){
			.part = part, .way = way, .cause = root.cause, .cause_way = root.way};
	out->piece[at].ns += to_ns - from_ns;
	add_flow(&out->piece[at], behind, to_ns - from_ns);
}

/* Divides an interval in which the port is idle and lacks credits. */
static void add_credits(struct stay *stay, uint64_t from_ns, uint64_t to_ns)
{
	const struct why *why = stay->why;
	uint64_t samples = to_ns - from_ns < SAMPLES_MAX ? to_ns - from_ns : SAMPLES_MAX;

	for (uint64_t i = 0; i < samples; i++) {
		uint64_t begin = from_ns + (to_ns - from_ns) * i / samples;
		uint64_t end = from_ns + (to_ns - from_ns) * (i + 1) / samples;
		uint64_t middle = begin + (end - begin) / 2;

		add(stay, WHY_CREDITS, stay->left->way, begin, end,
			blame_credits(why, stay->left->way, stay->left->vc, middle),
			find_oldest(
				why, stay->left->way ^ 1, stay->left->vc, middle, NULL, WHY_NONE));
	}
}

/* Adds an interval in which the port is idle and has credits. */
static void add_idle(struct stay *stay, uint64_t from_ns, uint64_t to_ns)
{
	const struct why *why = stay->why;
	const struct why_event *front;
	uint32_t way = stay->left->way;

	if (why->port[way].host) {
		add(stay, WHY_WINDOW, way, from_ns, to_ns, (struct root){WHY_CAUSE_PACING, way},
			NULL);
		return;
	}
	front = find_oldest(why, stay->entered->way, stay->entered->vc,
		from_ns + (to_ns - from_ns) / 2, stay->entered, queue_way(why, stay->left));
	if (front != NULL)
		add(stay, WHY_QUEUE, way, from_ns, to_ns,
			find_root(why, front, from_ns + (to_ns - from_ns) / 2), front);
	else if (why->rules.exact)
		add(stay, WHY_ARBITER, way, from_ns, to_ns,
			(struct root){WHY_CAUSE_ARBITRATION, way}, NULL);
	else
		add(stay, WHY_STALL, way, from_ns, to_ns, blame_loop(why, way), NULL);
}

static void divide_idle(struct stay *stay, uint64_t from_ns, uint64_t to_ns)
{
	const struct why_event *left = stay->left;

	while (from_ns < to_ns) {
		uint64_t next = next_limit_ns(stay->why, left->way, left->vc, from_ns, to_ns);

		if (has_credits(stay->why, left->way, left->vc, frame_blocks(left->bytes), from_ns))
			add_idle(stay, from_ns, next);
		else
			add_credits(stay, from_ns, next);
		from_ns = next;
	}
}

/* Divides the wait from 'from_ns' to the departure, while the port is idle or sends other
 * packets. */
static void divide_wait(struct stay *stay, uint64_t from_ns)
{
	const struct why *why = stay->why;
	const struct why_port *port = &why->port[stay->left->way];
	uint64_t to_ns = stay->left->time_ns, at = from_ns;
	uint32_t i = count_until(why, port->out, port->outs, from_ns);

	stay->first = stay->out->pieces;
	if (!port->whole) {
		add(stay, WHY_HIDDEN, stay->left->way, from_ns, to_ns, none, NULL);
		return;
	}
	for (i -= i > 0; i < port->outs; i++) {
		const struct why_event *sent = event_of(why, port->out + i);
		uint64_t end = end_ns(why, sent);

		if (sent->time_ns >= to_ns)
			break;
		if (end <= at)
			continue;
		if (sent->time_ns > at) {
			divide_idle(stay, at, sent->time_ns);
			at = sent->time_ns;
		}
		/* Captures truncate times, so a gap of one nanosecond does not count. */
		if (i + 1 < port->outs && end + 1 == event_of(why, port->out + i + 1)->time_ns)
			end++;
		if (end > to_ns || end + 1 == to_ns)
			end = to_ns;
		if (sent != stay->left)
			add(stay, port->host ? WHY_HOST_QUEUE : WHY_OUTPUT, stay->left->way, at,
				end, blame_port(why, stay->left->way, at), sent);
		at = end;
	}
	divide_idle(stay, at, to_ns);
}

/* Divides the time from port to port. The wire time of a slow link is attributed to the link. On
 * the real clock, time beyond rate and delay is attributed to the receiving loop. */
static void divide_link(
	struct stay *stay, const struct why_event *left, const struct why_event *arrived)
{
	const struct why *why = stay->why;
	const struct why_port *port = &why->port[left->way];
	bool to_switch = !why->port[arrived->way].host;
	uint64_t at = left->time_ns, end = arrived->time_ns;
	uint64_t delay = port->delay_ns;
	uint64_t routing = to_switch ? why->rules.routing_delay_ps / PS_PER_NS : 0;
	uint64_t wire = why_wire_ps(port, left->bytes) / PS_PER_NS;
	struct root slow = {WHY_CAUSE_SLOW_LINK, left->way};

	stay->first = stay->out->pieces;
	if (end < at)
		end = at;
	delay = delay < end - at ? delay : end - at;
	routing = routing < end - at - delay ? routing : end - at - delay;
	if (why->rules.exact || wire > end - at - delay - routing)
		wire = end - at - delay - routing;
	add(stay, WHY_WIRE, left->way, at, at + wire, port->slow ? slow : none, NULL);
	at += wire;
	add(stay, WHY_PROPAGATION, left->way, at, at + delay, none, NULL);
	at += delay;
	add(stay, WHY_ROUTING, arrived->way, at, at + routing, none, NULL);
	at += routing;
	add(stay, WHY_STALL, arrived->way, at, end, blame_loop(why, arrived->way), NULL);
}

/* Returns the departure that led to the delivery, or NULL. Earlier transmissions were lost. */
static const struct why_event *find_start(const struct why *why, const struct why_life *life)
{
	const struct why_event *first = &why->event[life->first];

	for (uint32_t i = life->first; i <= life->last; i++) {
		const struct why_event *event = &why->event[i];
		uint32_t at = i;

		if (!event->out || event->way != first->way || event->source != first->source ||
			event->destination != first->destination ||
			event->sequence != first->sequence || event->message != first->message)
			continue;
		while (at != life->last && why->event[at].next != WHY_NONE)
			at = why->event[at].next;
		if (at == life->last)
			return event;
	}
	return NULL;
}

/* Sets the start of each piece to the end of the previous one. A piece merges alternating waits of
 * one kind, so it has no interval of its own. */
static void line_up(struct why_packet *out)
{
	uint64_t from_ns = 0;

	for (unsigned i = 0; i < out->pieces; i++) {
		out->piece[i].from_ns = from_ns;
		from_ns += out->piece[i].ns;
	}
}

static void divide(const struct why *why, uint32_t packet, struct why_packet *out)
{
	const struct why_life *life = &why->life[packet];
	const struct why_event *first = &why->event[life->first], *last = &why->event[life->last];
	const struct why_event *at = find_start(why, life);
	struct stay stay = {.why = why, .out = out, .left = first};

	*out = (struct why_packet){.source = last->source,
		.destination = last->destination,
		.message = last->message,
		.sequence = last->sequence,
		.bytes = last->bytes,
		.file = last->file,
		.number = last->number,
		.start_ns = life->start_ns,
		.ns = last->time_ns - life->start_ns};
	divide_wait(&stay, life->start_ns);
	stay.first = out->pieces;
	/* A port on the path was not captured. */
	if (at == NULL) {
		add(&stay, WHY_HIDDEN, first->way, first->time_ns, last->time_ns, none, NULL);
		return;
	}
	add(&stay, WHY_WATCHDOG, first->way, first->time_ns, at->time_ns,
		(struct root){WHY_CAUSE_LOSS, first->way}, NULL);
	while (at != last) {
		const struct why_event *next = &why->event[at->next];

		if (at->out) {
			divide_link(&stay, at, next);
		} else {
			stay.entered = at;
			stay.left = next;
			divide_wait(&stay, at->time_ns);
		}
		at = next;
	}
}

void why_explain(const struct why *why, uint32_t packet, struct why_packet *out)
{
	divide(why, packet, out);
	line_up(out);
}

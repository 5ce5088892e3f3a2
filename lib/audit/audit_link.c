/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Checks links. Every frame that leaves a port must arrive at its peer unchanged, in order and not
 * early, and its blocks must be covered by credits granted earlier. */

#include "audit_private.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <string.h>

#include "base/port_set.h"
#include "base/quantity.h"
#include "wire/control.h"

#define PORT_TEXT (TOPOLOGY_NAME_MAX + 8)

/* --- credits --- */

static uint16_t bit(unsigned vc)
{
	return (uint16_t)(1u << vc);
}

/* Returns false if the payload was not captured or is not a valid credit. */
static bool read_credit(const struct audit_seen *seen, struct control_credit *credit)
{
	return seen->payload_at + seen->payload_bytes <= seen->at->captured_bytes &&
	       control_credit_decode(credit, seen->bytes + seen->payload_at, seen->payload_bytes);
}

/* Frames that were on a link when it went down did not arrive. */
static void drop_all(struct audit *audit, struct audit_port *port)
{
	for (unsigned class = 0; class < AUDIT_CLASSES; class ++)
		while (port->on_link[class].first != AUDIT_NONE)
			audit_take(audit, port->on_link[class].first);
}

/* Credit totals restart at zero in a new session. */
static void note_session(struct audit *audit, uint32_t way, uint32_t session)
{
	struct audit_port *port = &audit->port[way];

	if (port->session == session)
		return;
	if (port->session != 0) {
		drop_all(audit, port);
		drop_all(audit, &audit->port[way ^ 1]);
	}
	port->session = session;
	port->reported_known = port->granted_known = 0;
}

static void check_total(struct audit *audit, const struct audit_seen *seen, unsigned vc,
	const char *what, uint32_t shown, uint32_t counted)
{
	char text[PORT_TEXT];

	if (shown != counted)
		audit_report(audit, AUDIT_TOTAL, &seen->frame.seen,
			"%s: VC %u: %s %" PRIu32 " blocks, but its frames add up to %" PRIu32,
			audit_port_name(audit, seen->at->way, text), vc, what, shown, counted);
}

static void check_rise(struct audit *audit, const struct audit_seen *seen, unsigned vc,
	const char *what, uint32_t before, uint32_t now)
{
	char text[PORT_TEXT];

	if ((int32_t)(now - before) < 0)
		audit_report(audit, AUDIT_FELL, &seen->frame.seen,
			"%s: VC %u: %s falls from %" PRIu32 " to %" PRIu32,
			audit_port_name(audit, seen->at->way, text), vc, what, before, now);
}

#define LEAVING_MAX 8

/* Returns the blocks of the input's frames that outputs are still sending. Captures truncate times
 * to nanoseconds, so blocks whose transmission ends within this nanosecond may or may not count. Up
 * to LEAVING_MAX of these are returned in 'ending'. */
static uint32_t leaving_blocks(const struct audit *audit, const struct audit_seen *seen,
	unsigned vc, uint32_t ending[LEAVING_MAX], unsigned *endings)
{
	const struct audit_port *input = seen->port;
	uint64_t now = seen->at->time_ns * PS_PER_NS;
	uint32_t blocks = 0;
	unsigned ports = input->at.kind == DEVICE_SWITCH
				 ? audit->rules.topology->switch_at[input->at.device].ports
				 : 0;

	*endings = 0;
	for (unsigned i = 0; i < ports; i++) {
		uint32_t way = audit->way_of[input->at.device * TOPOLOGY_PORTS_MAX + i];
		const struct audit_leaving *leaving;

		if (way == AUDIT_NONE)
			continue;
		leaving = &audit->port[way].leaving;
		if (leaving->way != seen->at->way || leaving->vc != vc ||
			leaving->until_ps + PS_PER_NS <= now)
			continue;
		if (leaving->until_ps >= now + PS_PER_NS)
			blocks += leaving->blocks;
		else if (*endings < LEAVING_MAX)
			ending[(*endings)++] = leaving->blocks;
	}
	return blocks;
}

/* A port's limit is the number of blocks that it released plus the capacity of its buffer. */
static void check_limit(
	struct audit *audit, const struct audit_seen *seen, unsigned vc, uint32_t limit)
{
	struct audit_port *port = seen->port;
	uint32_t ending[LEAVING_MAX], expected;
	unsigned endings;

	expected = port->capacity[vc] + port->released[vc] -
		   leaving_blocks(audit, seen, vc, ending, &endings);
	for (unsigned set = 1; set < 1u << endings && limit != expected; set++) {
		uint32_t other = expected;

		for (unsigned i = 0; i < endings; i++)
			other -= (set >> i & 1) != 0 ? ending[i] : 0;
		if (other == limit)
			return;
	}
	check_total(audit, seen, vc, "the limit is", limit, expected);
}

static void check_grant(
	struct audit *audit, const struct audit_seen *seen, unsigned vc, uint32_t limit)
{
	struct audit_port *port = seen->port;
	const struct audit_port *peer = &audit->port[seen->at->way ^ 1];

	if ((port->granted_known & bit(vc)) != 0)
		check_rise(audit, seen, vc, "the limit", port->granted[vc], limit);
	if (port->at.kind == DEVICE_SWITCH && audit->rules.vc_blocks != 0)
		port->capacity[vc] = audit->rules.vc_blocks;
	/* The peer's first frame shows the limit that it was granted before the capture. */
	else if ((port->granted_known & bit(vc)) == 0 && (peer->limit_known & bit(vc)) != 0)
		port->capacity[vc] = peer->limit[vc];
	else if ((port->granted_known & bit(vc)) == 0)
		port->capacity[vc] = limit - port->released[vc];
	if (audit->rules.exact && audit->rules.vcs_known && port->whole)
		check_limit(audit, seen, vc, limit);
	port->granted[vc] = limit;
	port->granted_known |= bit(vc);
}

/* Returns true if a later record of the port was already read. A port's file holds frames in the
 * order in which they passed the port. On the real clock, their times may be in a different order:
 * a loop stamps a control frame with the current time, and later frames with their due times. */
static bool is_overtaken(uint64_t *latest, const struct audit_seen *seen)
{
	if (seen->at->number < *latest)
		return true;
	*latest = seen->at->number;
	return false;
}

static void send_credit(struct audit *audit, const struct audit_seen *seen)
{
	struct audit_port *port = seen->port;
	struct control_credit credit;
	char text[PORT_TEXT];

	if (is_overtaken(&port->credit_out, seen) || !read_credit(seen, &credit))
		return;
	note_session(audit, seen->at->way, credit.session);
	for (unsigned vc = 0; vc < credit.vcs; vc++) {
		if ((port->reported_known & bit(vc)) != 0)
			check_rise(audit, seen, vc, "the total sent", port->reported[vc],
				credit.sent[vc]);
		if (audit->rules.exact)
			check_total(audit, seen, vc, "it reports", credit.sent[vc], port->sent[vc]);
		else if ((port->limit_known & bit(vc)) != 0 &&
			 (int32_t)(port->limit[vc] - credit.sent[vc]) < 0)
			audit_report(audit, AUDIT_CREDIT, &seen->frame.seen,
				"%s: VC %u: %" PRIu32 " blocks sent, but the limit is %" PRIu32,
				audit_port_name(audit, seen->at->way, text), vc, credit.sent[vc],
				port->limit[vc]);
		port->reported[vc] = credit.sent[vc];
		port->reported_known |= bit(vc);
		check_grant(audit, seen, vc, credit.limit[vc]);
	}
}

static void take_credit(struct audit_port *port, const struct audit_seen *seen)
{
	struct control_credit credit;

	if (seen->discarded || is_overtaken(&port->credit_in, seen) || !read_credit(seen, &credit))
		return;
	/* A limit applies only to the session to which it was granted. */
	if (port->session != 0 && credit.peer_session != port->session)
		return;
	for (unsigned vc = 0; vc < credit.vcs; vc++)
		port->limit[vc] = credit.limit[vc];
	port->limit_known = (uint16_t)((1u << credit.vcs) - 1);
}

/* Counts the blocks of departing data, which the limit must cover. */
static void spend(struct audit *audit, const struct audit_seen *seen)
{
	struct audit_port *port = seen->port;
	unsigned vc = seen->frame.header.vc & (FRAME_VCS_MAX - 1);
	char text[PORT_TEXT];
	int32_t left;

	port->sent[vc] += audit_blocks(&seen->frame);
	if (!audit->rules.exact)
		return;
	if ((port->limit_known & bit(vc)) == 0) {
		if (!seen->has_credits)
			return;
		port->limit[vc] = port->sent[vc] + seen->credits;
		port->limit_known |= bit(vc);
	}
	left = (int32_t)(port->limit[vc] - port->sent[vc]);
	audit_port_name(audit, seen->at->way, text);
	if (left < 0)
		audit_report(audit, AUDIT_CREDIT, &seen->frame.seen,
			"%s: VC %u: %" PRIu32 " blocks sent, but the limit is %" PRIu32, text, vc,
			port->sent[vc], port->limit[vc]);
	else if (seen->has_credits && (uint32_t)left != seen->credits)
		audit_report(audit, AUDIT_TOTAL, &seen->frame.seen,
			"%s: VC %u: the device reports %" PRIu32
			" blocks left, but the frames give %" PRId32,
			text, vc, seen->credits, left);
}

static void store(struct audit *audit, const struct audit_seen *seen)
{
	struct audit_port *port = seen->port;
	unsigned vc = seen->frame.header.vc & (FRAME_VCS_MAX - 1);
	char text[PORT_TEXT];

	if (!port->whole)
		return;
	port->stored[vc] += audit_blocks(&seen->frame);
	if (port->at.kind == DEVICE_SWITCH && audit->rules.vc_blocks != 0 &&
		port->stored[vc] > audit->rules.vc_blocks)
		audit_report(audit, AUDIT_BUFFER, &seen->frame.seen,
			"%s: VC %u: %" PRIu32 " blocks stored, but the buffer holds %" PRIu32,
			audit_port_name(audit, seen->at->way, text), vc, port->stored[vc],
			audit->rules.vc_blocks);
}

void audit_release(struct audit *audit, const struct audit_frame *frame)
{
	struct audit_port *port = &audit->port[frame->way];
	unsigned vc = frame->header.vc & (FRAME_VCS_MAX - 1);
	uint32_t blocks = audit_blocks(frame);

	port->released[vc] += blocks;
	port->stored[vc] -= blocks < port->stored[vc] ? blocks : port->stored[vc];
}

/* --- rates and delays --- */

static uint64_t wire_ps(const struct audit_port *port, const struct audit_frame *frame)
{
	return bytes_ps(frame->bytes + FRAME_WIRE_OVERHEAD, port->byte_time);
}

/* Allows 1 ns, because captures truncate times to nanoseconds. */
static void check_rate(struct audit *audit, const struct audit_seen *seen)
{
	struct audit_port *port = seen->port;
	uint64_t begin = seen->at->time_ns * PS_PER_NS, takes = wire_ps(port, &seen->frame);
	char text[PORT_TEXT], early[QUANTITY_TEXT];

	if (!port->timed || seen->frame.class != AUDIT_DATA)
		return;
	if (begin + PS_PER_NS < port->free_ps) {
		quantity_format(QUANTITY_TIME, port->free_ps - begin, early);
		audit_report(audit, AUDIT_RATE, &seen->frame.seen,
			"%s: the transmission starts %s before the previous one ends",
			audit_port_name(audit, seen->at->way, text), early);
	}
	port->free_ps = (begin > port->free_ps ? begin : port->free_ps) + takes;
}

/* Returns the minimum time from the start of a transmission to the arrival at the peer. */
static uint64_t bound_ps(const struct audit *audit, uint32_t way, const struct audit_frame *frame)
{
	const struct audit_port *port = &audit->port[way];
	uint64_t bound = port->delay_ps;

	if (frame->class != AUDIT_DATA)
		return bound;
	if (audit->rules.waits != NULL && audit->rules.waits[way])
		bound += wire_ps(port, frame);
	if (audit->port[way ^ 1].at.kind == DEVICE_SWITCH)
		bound += audit->rules.routing_delay_ps;
	return bound;
}

static void check_arrival(struct audit *audit, uint32_t way, const struct audit_frame *left,
	const struct audit_frame *arrived)
{
	uint64_t bound = bound_ps(audit, way, left);
	int64_t took = (int64_t)(arrived->seen.time_ns - left->seen.time_ns); /* ns */
	char text[PORT_TEXT], after[QUANTITY_TEXT], expected[QUANTITY_TEXT];

	if (!audit->port[way].timed || took >= (int64_t)(bound / PS_PER_NS))
		return;
	quantity_format(QUANTITY_TIME, (uint64_t)(took < 0 ? -took : took) * PS_PER_NS, after);
	quantity_format(QUANTITY_TIME, bound / PS_PER_NS * PS_PER_NS, expected);
	audit_report(audit, AUDIT_EARLY, &arrived->seen,
		"%s: arrives %s %s the start of its transmission in frame %" PRIu64
		", but should arrive at least %s after it",
		audit_port_name(audit, way ^ 1, text), after, took < 0 ? "before" : "after",
		left->seen.number, expected);
}

/* --- from port to port --- */

static void compare(struct audit *audit, uint32_t way, const struct audit_frame *left,
	const struct audit_frame *arrived)
{
	uint32_t before, after;
	char text[PORT_TEXT];

	memcpy(&before, &left->header.vc, sizeof(before));
	memcpy(&after, &arrived->header.vc, sizeof(after));
	audit_port_name(audit, way ^ 1, text);
	if (left->fixed != arrived->fixed || before != after ||
		left->header.crc_be != arrived->header.crc_be || left->bytes != arrived->bytes)
		audit_report(audit, AUDIT_CHANGED, &arrived->seen,
			"%s: differs from what was sent in frame %" PRIu64, text,
			left->seen.number);
	/* On the real clock, loops may stamp control frames out of order. */
	if (left->passed && (audit->rules.exact || left->class == AUDIT_DATA))
		audit_report(audit, AUDIT_OVERTAKEN, &left->passer,
			"%s: arrives before frame %" PRIu64 ", which was sent earlier", text,
			left->seen.number);
	check_arrival(audit, way, left, arrived);
}

/* Control frames repeat, and data may be resent. Shortly after the capture starts, an arrival that
 * precedes this transmission may belong to an earlier frame that was not captured. */
static bool is_of_earlier(
	const struct audit *audit, const struct audit_frame *arrived, const struct audit_seen *sent)
{
	return arrived->waits && arrived->seen.time_ns < sent->at->time_ns &&
	       audit_began_before(audit, arrived);
}

void audit_link_out(struct audit *audit, struct audit_seen *seen)
{
	uint32_t way = seen->at->way, place = audit_place_of_way(audit, way), found;

	check_rate(audit, seen);
	if (seen->frame.class == AUDIT_DATA)
		spend(audit, seen);
	else if (seen->frame.header.kind == FRAME_CREDIT)
		send_credit(audit, seen);
	if (!audit->port[way ^ 1].captured)
		return;
	found = audit_find(audit, seen->frame.identity, place);
	while (found != AUDIT_NONE && is_of_earlier(audit, &audit->frame[found], seen)) {
		audit_take(audit, found);
		found = audit_find(audit, seen->frame.identity, place);
	}
	if (found != AUDIT_NONE && audit->frame[found].waits)
		compare(audit, way, &seen->frame, audit_take(audit, found));
	else
		audit_keep(audit, &seen->frame, place, &seen->port->on_link[seen->frame.class]);
}

/* Finds the transmission of an arriving frame; by length if damage changed the identity. */
static uint32_t find_sent(struct audit *audit, const struct audit_seen *seen, uint32_t way)
{
	uint32_t found = audit_find(audit, seen->frame.identity, audit_place_of_way(audit, way));

	if (!seen->refused || found != AUDIT_NONE)
		return found;
	for (unsigned class = 0; class < AUDIT_CLASSES; class ++) {
		uint32_t at = audit->port[way].on_link[class].first;

		if (at != AUDIT_NONE && audit->frame[at].bytes == seen->frame.bytes)
			return at;
	}
	return AUDIT_NONE;
}

/* Returns the newest frame with this identity that was sent by 'until_ns'. There may be several,
 * because control frames repeat. */
static uint32_t find_newest(const struct audit *audit, uint32_t found, uint64_t until_ns)
{
	uint32_t newer = audit_find_next(audit, found);

	while (newer != AUDIT_NONE && audit->frame[newer].seen.time_ns <= until_ns) {
		found = newer;
		newer = audit_find_next(audit, found);
	}
	return found;
}

/* Drops frames that were sent while the link was down. A control frame may overtake data that was
 * sent earlier, so each class reveals only its own losses. */
static void drop_cut(
	struct audit *audit, struct audit_port *port, unsigned class, uint64_t until_ns)
{
	while (port->on_link[class].first != AUDIT_NONE &&
		audit->frame[port->on_link[class].first].seen.time_ns < until_ns)
		audit_take(audit, port->on_link[class].first);
	port->cut &= (uint8_t)~BIT64(class);
}

static void match_sent(struct audit *audit, struct audit_seen *seen)
{
	uint32_t way = seen->at->way ^ 1, found = find_sent(audit, seen, way);
	struct audit_port *port = &audit->port[way];

	if (port->arrived_ns != 0 && seen->at->time_ns > port->arrived_ns + AUDIT_CONTROL_NS)
		port->cut = UINT8_MAX;
	port->arrived_ns = seen->at->time_ns;
	if (found == AUDIT_NONE || audit->frame[found].waits) {
		if (!seen->refused)
			audit_wait(audit, &seen->frame, audit_place_of_way(audit, way));
		return;
	}
	if ((port->cut & BIT64(seen->frame.class)) != 0 && !audit->rules.exact) {
		found = find_newest(audit, found, seen->at->time_ns);
		drop_cut(audit, port, seen->frame.class, audit->frame[found].seen.time_ns);
	}
	audit_pass(audit, found, &seen->frame.seen);
	seen->frame.birth = audit->frame[found].birth;
	if (!seen->refused)
		compare(audit, way, &audit->frame[found], &seen->frame);
	audit_take(audit, found);
}

bool audit_link_in(struct audit *audit, struct audit_seen *seen)
{
	if (audit->port[seen->at->way ^ 1].captured)
		match_sent(audit, seen);
	audit->counts.refused += seen->refused;
	audit->counts.discarded += seen->discarded && !seen->refused;
	if (seen->frame.header.kind == FRAME_CREDIT)
		take_credit(seen->port, seen);
	if (seen->refused || seen->frame.class == AUDIT_LINK_LOCAL)
		return false;
	if (seen->frame.class == AUDIT_DATA)
		store(audit, seen);
	if (seen->discarded && seen->frame.class == AUDIT_DATA)
		audit_release(audit, &seen->frame);
	return !seen->discarded;
}

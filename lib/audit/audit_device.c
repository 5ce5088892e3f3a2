/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Checks devices. A switch must send the frames that entered it in order and fairly. The route, the
 * tables and the rules determine the output and VC of each frame. For hosts, see audit_host.c. */

#include "audit_private.h"

#include <arpa/inet.h>
#include <inttypes.h>

#include "base/port_set.h"
#include "queuing/vc_ladder.h"

#define PORT_TEXT (TOPOLOGY_NAME_MAX + 8)

/* --- expected decisions --- */

struct decision {
	uint8_t output;   /* primary output; AUDIT_UNKNOWN: not determined */
	uint64_t allowed; /* set of permitted outputs; 0: any */
	uint8_t cursor;
	enum vc_turn turn;
	uint64_t detours; /* outputs on which a detour may start (vc_ladder.h) */
	uint8_t past; /* output that bypasses the host that would absorb the frame; AUDIT_UNKNOWN */
};

static void decide_by_route(
	const struct audit *audit, const struct audit_frame *frame, struct decision *decision)
{
	const struct vc_rule *rule = audit->rules.vc_rule;
	unsigned cursor = frame->header.cursor, length = frame->header.route_length;

	decision->turn = cursor < length ? vc_turn_of(frame->route[cursor]) : VC_GO_ON;
	if (decision->turn != VC_GO_ON) {
		cursor++;
	} else if (rule != NULL && rule->steps != VC_STEPS_NONE && cursor + 1 < length &&
		   frame->route[cursor + 1] == ROUTE_TYPE_STEP) {
		decision->turn = VC_STEP_AHEAD;
	}
	decision->cursor = (uint8_t)(cursor + 1);
	if (cursor < length && (frame->route[cursor] & ROUTE_PORT_BIT) != 0) {
		decision->output = frame->route[cursor] & ROUTE_PORT_MASK;
		decision->allowed = BIT64(decision->output);
	}
	if (audit->rules.passes_itbs && cursor + 2u < length &&
		frame->route[cursor + 1] == ROUTE_TYPE_ITB) {
		decision->past = frame->route[cursor + 2] & ROUTE_PORT_MASK;
		decision->allowed |= BIT64(decision->past);
		decision->output = AUDIT_UNKNOWN;
	}
}

/* Draws a host from the packet's random stream and returns the table's port to it, as a set. */
static uint64_t drawn_port(
	const struct audit *audit, const struct frame_header *header, uint32_t at)
{
	const struct route_table *table = audit->rules.table;
	struct rng rng = vc_ladder_rng(audit->rules.seed, ntohs(header->source_be),
		ntohs(header->destination_be), ntohl(header->message_be),
		ntohl(header->sequence_be));
	uint8_t port = route_table_row(table, at)[rng_below(&rng, table->hosts)];

	return port < TOPOLOGY_PORTS_MAX ? BIT64(port) : 0;
}

/* Decides for a switch that may send packets on detours, given the rung on which this one arrived.
 * Returns false if the rule has no ladder. */
static bool decide_by_ladder(const struct audit *audit, const struct audit_frame *frame,
	uint32_t at, struct decision *decision, uint64_t primary, uint64_t others)
{
	const struct vc_rule *rule = audit->rules.vc_rule;
	const struct vc_ladder *ladder = rule == NULL ? NULL : vc_ladder_find(rule->steps);
	enum vc_ladder_move move;

	if (ladder == NULL)
		return false;
	if (frame->class == AUDIT_DATA) {
		/* A packet may continue, or enter the second half, through the same port. */
		if (ladder->halves)
			others = primary | drawn_port(audit, &frame->header, at);
		move = vc_ladder_move(rule, ladder, at, audit->port[frame->way].at.port,
			frame->header.vc, &others);
		others = vc_ladder_ports(rule, at, move, others);
	}
	decision->allowed = primary | others;
	decision->detours = others;
	if (others == 0 && primary != 0)
		decision->output = (uint8_t)__builtin_ctzll(primary);
	return true;
}

static void decide_by_table(const struct audit *audit, const struct audit_frame *frame, uint32_t at,
	struct decision *decision)
{
	const struct route_table *table = audit->rules.table;
	uint16_t destination = ntohs(frame->header.destination_be);
	const uint64_t *alternatives;
	uint64_t others = 0;
	uint8_t primary;

	decision->cursor = frame->header.cursor;
	if (table == NULL || at >= table->switches || destination >= table->hosts)
		return;
	primary = route_table_row(table, at)[destination];
	alternatives = route_table_alternatives(table, at);
	if (alternatives != NULL)
		others = alternatives[destination];
	if (decide_by_ladder(audit, frame, at, decision,
		    primary < TOPOLOGY_PORTS_MAX ? BIT64(primary) : 0, others) ||
		primary >= TOPOLOGY_PORTS_MAX)
		return;
	others &= ~BIT64(primary);
	decision->allowed = BIT64(primary) | others;
	if (!audit->rules.adaptive || others == 0)
		decision->output = primary;
	/* Without adaptive routing, and for frames adapted by AFI, only the primary output is
	 * permitted. On the real clock, its link may be down. */
	if (audit->rules.exact &&
		(!audit->rules.adaptive ||
			(audit->rules.afi && (frame->header.flags & FRAME_F_ADAPTED) != 0)))
		decision->allowed = BIT64(primary);
}

/* Mapper frames carry their output ports in their routes. */
static struct decision decide(
	const struct audit *audit, const struct audit_frame *frame, uint32_t at)
{
	struct decision decision = {.output = AUDIT_UNKNOWN, .past = AUDIT_UNKNOWN};

	if (frame->header.route_length != 0)
		decide_by_route(audit, frame, &decision);
	else
		decide_by_table(audit, frame, at, &decision);
	return decision;
}

/* Returns the VC for the next device, or AUDIT_UNKNOWN. 'flags': flags of the departing frame. */
static uint8_t next_vc(const struct audit *audit, const struct audit_frame *frame,
	const struct audit_port *input, unsigned output, enum vc_turn turn, uint8_t flags)
{
	const struct audit_rules *rules = &audit->rules;
	uint8_t vc = rules->sl_to_vc[frame->header.sl & 15];

	if (frame->class != AUDIT_DATA)
		return frame->header.vc;
	if (!rules->vcs_known)
		return AUDIT_UNKNOWN;
	if (rules->vc_rule != NULL)
		vc = vc_rule_next(rules->vc_rule, input->at.device, input->at.port,
			frame->header.vc, output, turn);
	if (rules->afi && (flags & FRAME_F_ADAPTED) != 0)
		vc = (uint8_t)(rules->vcs - 1);
	return vc;
}

/* --- queues and fairness --- */

/* Without VOQs, a VC has one queue. If it is unknown whether there are VOQs, only the order per
 * output is checked, which must hold in both cases. */
static struct audit_list *queue_of(
	const struct audit *audit, const struct audit_port *input, uint8_t output, unsigned vc)
{
	unsigned ports = audit->rules.topology->switch_at[input->at.device].ports;
	bool one = audit->rules.vcs_known && !audit->rules.voq;
	unsigned row = one ? 0 : output < ports ? output : ports;

	return &input->queue[row * FRAME_VCS_MAX + (vc & (FRAME_VCS_MAX - 1))];
}

static struct audit_port *output_of(const struct audit *audit, uint32_t at, unsigned output)
{
	uint32_t way = output < TOPOLOGY_PORTS_MAX ? audit->way_of[at * TOPOLOGY_PORTS_MAX + output]
						   : AUDIT_NONE;

	return way == AUDIT_NONE ? NULL : &audit->port[way];
}

bool audit_judges_fairness(const struct audit_rules *rules)
{
	return rules->exact && rules->voq && rules->vcs_known && !rules->adaptive &&
	       !rules->passes_itbs;
}

/* Returns whether a frame at this input waits for 'out' and has the credits to leave. */
static bool could_go(
	const struct audit *audit, const struct audit_port *out, const struct audit_port *input)
{
	for (unsigned vc = 0; vc < audit->rules.vcs; vc++) {
		const struct audit_list *queue = queue_of(audit, input, out->at.port, vc);
		const struct audit_frame *head;
		unsigned to;

		if (queue->first == AUDIT_NONE)
			continue;
		head = &audit->frame[queue->first];
		to = head->vc_next & (FRAME_VCS_MAX - 1);
		if ((out->limit_known >> to & 1) != 0 &&
			(int32_t)(out->limit[to] - out->sent[to] - audit_blocks(head)) >= 0)
			return true;
	}
	return false;
}

/* Checks that no input sends twice while another input could have sent. Call when a frame leaves
 * from input 'went' through 'out', before it is removed from its queue. */
static void check_turns(struct audit *audit, const struct audit_seen *seen, struct audit_port *out,
	const struct audit_port *went)
{
	uint64_t left = out->waiting & ~BIT64(went->at.port);
	char text[PORT_TEXT];

	for (; left != 0; left &= left - 1) {
		unsigned input = (unsigned)__builtin_ctzll(left);
		const struct audit_port *port = output_of(audit, out->at.device, input);

		if (!could_go(audit, out, port)) {
			out->passed[input] = 0;
		} else if ((out->passed[input] & BIT64(went->at.port)) == 0) {
			out->passed[input] |= BIT64(went->at.port);
		} else {
			audit_report(audit, AUDIT_UNFAIR, &seen->frame.seen,
				"%s: sends from input %u again while input %u, which has a frame "
				"and credits, is waiting",
				audit_port_name(audit, seen->at->way, text), went->at.port, input);
		}
	}
	out->passed[went->at.port] = 0;
}

static void queue_waits(struct audit *audit, const struct audit_port *input, uint8_t output)
{
	struct audit_port *out = output_of(audit, input->at.device, output);
	uint64_t bit = BIT64(input->at.port);
	bool any = false;

	if (out == NULL || !audit_judges_fairness(&audit->rules))
		return;
	for (unsigned vc = 0; vc < audit->rules.vcs && !any; vc++)
		any = queue_of(audit, input, output, vc)->first != AUDIT_NONE;
	if (!any)
		out->passed[input->at.port] = 0;
	out->waiting = any ? out->waiting | bit : out->waiting & ~bit;
}

/* --- a switch --- */

static void enter_switch(struct audit *audit, struct audit_seen *seen)
{
	struct audit_frame *frame = &seen->frame;
	struct decision decision = decide(audit, frame, seen->port->at.device);
	struct audit_list *queue = NULL;

	frame->output = decision.output;
	frame->vc_next = AUDIT_UNKNOWN;
	if (frame->output != AUDIT_UNKNOWN)
		frame->vc_next = next_vc(audit, frame, seen->port, frame->output, decision.turn,
			frame->header.flags);
	if (frame->class == AUDIT_DATA)
		queue = queue_of(audit, seen->port, frame->output, frame->header.vc);
	audit_keep(audit, frame, seen->port->device, queue);
	if (queue != NULL)
		queue_waits(audit, seen->port, frame->output);
}

static void check_output(struct audit *audit, const struct audit_seen *seen,
	const struct audit_frame *entered, const struct decision *decision)
{
	char text[PORT_TEXT], frame[AUDIT_TEXT];

	if (decision->allowed == 0 || (decision->allowed >> seen->port->at.port & 1) != 0)
		return;
	audit_report(audit, AUDIT_OUTPUT, &seen->frame.seen,
		decision->output != AUDIT_UNKNOWN
			? "%s: %s leaves here, but should leave through port %u"
			: "%s: %s leaves through a port that the table does not allow; the table "
			  "contains %u",
		audit_port_name(audit, seen->at->way, text), audit_describe(entered, frame),
		decision->output != AUDIT_UNKNOWN ? decision->output
						  : (unsigned)__builtin_ctzll(decision->allowed));
}

static void check_mutable(struct audit *audit, const struct audit_seen *seen,
	const struct audit_frame *entered, const struct decision *decision)
{
	const struct audit_port *input = &audit->port[entered->way];
	const struct frame_header *in = &entered->header, *out = &seen->frame.header;
	unsigned vc =
		next_vc(audit, entered, input, seen->port->at.port, decision->turn, out->flags);
	uint8_t changed = in->flags ^ out->flags, may = 0;
	bool past = seen->port->at.port == decision->past;
	unsigned cursor = decision->cursor + (past ? 2u : 0);
	char text[PORT_TEXT];

	/* The same output may continue the path or start a detour. */
	if ((decision->detours >> seen->port->at.port & 1) != 0 && vc != out->vc)
		vc = next_vc(audit, entered, input, seen->port->at.port, VC_NEXT_STEP, out->flags);

	if (audit->rules.marks || !audit->rules.vcs_known)
		may |= FRAME_F_FECN & out->flags;
	if (audit->rules.adaptive || !audit->rules.vcs_known)
		may |= FRAME_F_ADAPTED & out->flags;
	if (past)
		may |= FRAME_F_END_MARK & out->flags;
	audit_port_name(audit, seen->at->way, text);
	if (out->cursor != cursor)
		audit_report(audit, AUDIT_CURSOR, &seen->frame.seen,
			"%s: the cursor is %u, but should be %u", text, out->cursor, cursor);
	if (entered->class != AUDIT_DATA)
		return;
	if ((changed & ~may) != 0)
		audit_report(audit, AUDIT_FLAGS, &seen->frame.seen,
			"%s: the flags are 0x%02x, but were 0x%02x", text, out->flags, in->flags);
	if (audit->rules.vcs_known && audit->rules.afi && out->vc == audit->rules.vcs - 1 &&
		(out->flags & FRAME_F_ADAPTED) == 0)
		audit_report(audit, AUDIT_AFC, &seen->frame.seen,
			"%s: in the adapted-flow channel %u, but not adapted", text, out->vc);
	else if (vc != AUDIT_UNKNOWN && out->vc != vc)
		audit_report(audit, AUDIT_VC, &seen->frame.seen,
			"%s: the VC is %u, but should be %u", text, out->vc, vc);
	if (out->vc_original != in->vc_original)
		audit_report(audit, AUDIT_VC, &seen->frame.seen,
			"%s: the original VC is %u, but was %u", text, out->vc_original,
			in->vc_original);
}

static void compare(
	struct audit *audit, const struct audit_seen *seen, const struct audit_frame *entered)
{
	struct decision decision = decide(audit, entered, seen->port->at.device);
	char text[PORT_TEXT];

	audit_port_name(audit, seen->at->way, text);
	if (entered->fixed != seen->frame.fixed || entered->bytes != seen->frame.bytes)
		audit_report(audit, AUDIT_CHANGED, &seen->frame.seen,
			"%s: bytes that no switch may change differ from frame %" PRIu64, text,
			entered->seen.number);
	if (entered->passed)
		audit_report(audit, AUDIT_OVERTAKEN, &entered->passer,
			"%s: a frame leaves before frame %" PRIu64 ", which was in front of it",
			text, entered->seen.number);
	check_output(audit, seen, entered, &decision);
	check_mutable(audit, seen, entered, &decision);
}

/* Mapper frames may also start and end at switches. */
static bool is_of_mapper(const struct audit_frame *frame)
{
	return frame->header.kind == FRAME_SCOUT || frame->header.kind == FRAME_MAPPER;
}

static void leave_switch(struct audit *audit, struct audit_seen *seen)
{
	uint32_t found = audit_find(audit, seen->frame.identity, seen->port->device);
	struct audit_frame *entered;
	struct audit_port *input;

	if (found == AUDIT_NONE || audit->frame[found].waits) {
		/* A frame that may predate the capture keeps birth 0. */
		if (!audit_began_before(audit, &seen->frame))
			seen->frame.birth = ++audit->births;
		if (!is_of_mapper(&seen->frame))
			audit_wait(audit, &seen->frame, seen->port->device);
		return;
	}
	entered = &audit->frame[found];
	input = &audit->port[entered->way];
	seen->frame.birth = entered->birth;
	compare(audit, seen, entered);
	if (entered->class == AUDIT_DATA) {
		if (audit_judges_fairness(&audit->rules))
			check_turns(audit, seen, seen->port, input);
		if (entered->output != AUDIT_UNKNOWN)
			audit_pass(audit, found, &seen->frame.seen);
		seen->port->leaving = (struct audit_leaving){entered->way, audit_blocks(entered),
			seen->at->time_ns * PS_PER_NS +
				bytes_ps(entered->bytes + FRAME_WIRE_OVERHEAD,
					seen->port->byte_time),
			entered->header.vc};
		audit_release(audit, entered);
	}
	entered = audit_take(audit, found);
	if (entered->class == AUDIT_DATA)
		queue_waits(audit, input, entered->output);
}

/* --- switches and hosts --- */

void audit_device_out(struct audit *audit, struct audit_seen *seen)
{
	if (seen->port->at.kind == DEVICE_HOST)
		audit_host_out(audit, seen);
	else if (seen->port->whole)
		leave_switch(audit, seen);
}

void audit_device_in(struct audit *audit, struct audit_seen *seen)
{
	uint32_t found;

	if (seen->port->at.kind == DEVICE_HOST) {
		audit_host_in(audit, seen);
		return;
	}
	if (!seen->port->whole)
		return;
	found = audit_find(audit, seen->frame.identity, seen->port->device);
	if (found != AUDIT_NONE && audit->frame[found].waits) {
		/* The departure was read first. */
		audit_release(audit, &seen->frame);
		audit_take(audit, found);
		return;
	}
	if (!is_of_mapper(&seen->frame) ||
		seen->frame.route[seen->frame.header.cursor & (FRAME_ROUTE_MAX - 1)] !=
			ROUTE_TYPE_AGENT)
		enter_switch(audit, seen);
}

void audit_device_gone(struct audit *audit, struct audit_seen *seen)
{
	uint32_t found = audit_find(audit, seen->frame.identity, seen->port->device);
	const struct audit_frame *frame;

	audit->counts.discarded++;
	if (found == AUDIT_NONE || audit->frame[found].waits)
		return;
	frame = audit_take(audit, found);
	/* Hosts release a frame's blocks on arrival. */
	if (frame->class != AUDIT_DATA || seen->port->at.kind == DEVICE_HOST)
		return;
	audit_release(audit, frame);
	queue_waits(audit, &audit->port[frame->way], frame->output);
}

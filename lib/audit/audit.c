/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "audit_private.h"

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/arrays.h"
#include "base/rng.h"
#include "wire/frame_check.h"

#define HEADERS (FRAME_HEADER_BYTES + FRAME_ROUTE_MAX + FRAME_LATENCY_BYTES)
/* In captures on the real clock, an arrival may be stamped up to this long before its transmission:
 * a loop reads the clock once per iteration, and may be preempted before it sends or receives. */
#define SLACK_NS UINT64_C(1000000000)

const struct audit_kind_words *audit_kind_words(enum audit_kind kind)
{
	static const struct audit_kind_words words[] = {
#define X(check, id, name, text) {check, name, text},
		AUDIT_KINDS(X)
#undef X
	};

	return &words[kind];
}

/* --- reports --- */

static bool is_earlier(const struct audit_mark *mark, const struct audit_finding *than)
{
	if (mark->time_ns != than->time_ns)
		return mark->time_ns < than->time_ns;
	return mark->file < than->file || (mark->file == than->file && mark->number < than->number);
}

void audit_report(struct audit *audit, enum audit_kind kind, const struct audit_mark *mark,
	const char *format, ...)
{
	struct audit_finding *finding = &audit->finding[kind];
	va_list args;

	if (finding->count++ > 0 && !is_earlier(mark, finding))
		return;
	finding->file = mark->file;
	finding->number = mark->number;
	finding->time_ns = mark->time_ns;
	va_start(args, format);
	vsnprintf(finding->text, sizeof(finding->text), format, args);
	va_end(args);
}

const char *audit_describe(const struct audit_frame *frame, char text[AUDIT_TEXT])
{
	const struct frame_header *header = &frame->header;

	snprintf(text, AUDIT_TEXT, "kind %u, %u to %u, message %" PRIu32 ", sequence %" PRIu32,
		header->kind, ntohs(header->source_be), ntohs(header->destination_be),
		(uint32_t)ntohl(header->message_be), (uint32_t)ntohl(header->sequence_be));
	return text;
}

const char *audit_port_name(
	const struct audit *audit, uint32_t way, char text[TOPOLOGY_NAME_MAX + 8])
{
	topology_port_name(audit->rules.topology, audit->port[way].at, text, TOPOLOGY_NAME_MAX + 8);
	return text;
}

const struct audit_finding *audit_finding(const struct audit *audit, enum audit_kind kind)
{
	return &audit->finding[kind];
}

const struct audit_counts *audit_counts(const struct audit *audit)
{
	return &audit->counts;
}

/* --- held frames --- */

bool audit_began_before(const struct audit *audit, const struct audit_frame *frame)
{
	uint16_t source = ntohs(frame->header.source_be);
	int32_t age_ns;

	if (audit->rules.exact)
		return false;
	if ((frame->class != AUDIT_DATA && frame->header.kind != FRAME_ACK) ||
		source >= audit->rules.topology->hosts)
		return frame->seen.time_ns < audit->rules.complete_ns + AUDIT_CONTROL_NS;
	age_ns = (int32_t)((uint32_t)frame->seen.time_ns - audit->offset[source] -
			   ntohl(frame->header.injected_ns_be));
	return !audit->offset_known[source] ||
	       (int64_t)frame->seen.time_ns - age_ns <
		       (int64_t)(audit->rules.complete_ns + AUDIT_CONTROL_NS);
}

void audit_wait(struct audit *audit, const struct audit_frame *frame, uint32_t place)
{
	uint32_t index;

	/* Control frames repeat: a later one must not be mistaken for this one. */
	if (frame->class != AUDIT_DATA && audit_began_before(audit, frame))
		return;
	index = audit_keep(audit, frame, place, &audit->waiting);

	if (index == AUDIT_NONE)
		return;
	audit->frame[index].waits = true;
	audit->frame[index].passer.number = audit_ghost_of(audit, &audit->frame[index]);
}

static void judge(struct audit *audit, uint32_t index)
{
	struct audit_frame *frame = &audit->frame[index];
	uint64_t first = frame->passer.number;
	const char *where = frame->place < audit->devices ? "leaves" : "arrives at";
	char text[AUDIT_TEXT], port[TOPOLOGY_NAME_MAX + 8];

	audit_port_name(audit, frame->way, port);
	audit_describe(frame, text);
	if (first == 0)
		first = audit_ghost_of(audit, frame);
	if (first != 0)
		audit_report(audit, AUDIT_TWICE, &frame->seen,
			"%s: %s %s twice: once after frame %" PRIu64, port, text, where, first);
	else if (!audit_began_before(audit, frame))
		audit_report(audit, AUDIT_NOWHERE, &frame->seen, "%s: %s %s without having %s",
			port, text, where, frame->place < audit->devices ? "entered" : "been sent");
	audit_take(audit, index);
}

/* Judges held records whose predecessors can no longer arrive. */
static void judge_until(struct audit *audit, uint64_t time_ns)
{
	uint64_t slack = audit->rules.exact ? 0 : SLACK_NS;

	while (audit->waiting.first != AUDIT_NONE &&
		audit->frame[audit->waiting.first].seen.time_ns + slack < time_ns)
		judge(audit, audit->waiting.first);
}

/* --- pairs --- */

static struct audit_pair *find_pair(struct audit_pair *pair, uint32_t room, uint64_t key)
{
	uint32_t at = (uint32_t)rng_mix(key) & (room - 1);

	while (pair[at].key != 0 && pair[at].key != key)
		at = (at + 1) & (room - 1);
	return &pair[at];
}

static bool grow_pairs(struct audit *audit)
{
	uint32_t room = audit->pair_room == 0 ? 1024 : 2 * audit->pair_room;
	struct audit_pair *pair = calloc(room, sizeof(*pair));

	if (pair == NULL)
		return false;
	for (uint32_t i = 0; i < audit->pair_room; i++)
		if (audit->pair[i].key != 0)
			*find_pair(pair, room, audit->pair[i].key) = audit->pair[i];
	free(audit->pair);
	audit->pair = pair;
	audit->pair_room = room;
	return true;
}

struct audit_pair *audit_pair_of(struct audit *audit, uint16_t source, uint16_t destination)
{
	uint64_t key = (uint64_t)1 << 32 | (uint32_t)source << 16 | destination;
	struct audit_pair *pair;

	if (2 * audit->pairs >= audit->pair_room && !grow_pairs(audit)) {
		audit->failed = true;
		return NULL;
	}
	pair = find_pair(audit->pair, audit->pair_room, key);
	if (pair->key == 0) {
		pair->key = key;
		audit->pairs++;
	}
	return pair;
}

/* --- records --- */

static bool has(const struct audit_frame_at *at, const char *word)
{
	return memmem(at->comment, at->comment_bytes, word, strlen(word)) != NULL;
}

static void read_comment(struct audit_seen *seen)
{
	const struct audit_frame_at *at = seen->at;
	const char *found;

	if (at->comment == NULL)
		return;
	found = memmem(at->comment, at->comment_bytes, "credits ", 8);
	if (found != NULL) {
		seen->has_credits = true;
		for (found += 8;
			found < at->comment + at->comment_bytes && *found >= '0' && *found <= '9';
			found++)
			seen->credits = 10 * seen->credits + (uint32_t)(*found - '0');
	}
	seen->refused = has(at, "refused: ");
	seen->discarded = seen->refused || has(at, "discard_") || has(at, "control_bad");
}

static enum audit_class class_of(unsigned kind)
{
	if (kind == FRAME_DATA)
		return AUDIT_DATA;
	return frame_link_local(kind) ? AUDIT_LINK_LOCAL : AUDIT_END_TO_END;
}

/* Hashes kind, source, destination, message, sequence and injection time, which differs when a
 * frame is resent. Control frames may repeat these values, so their payload is also hashed. 'fixed'
 * covers everything that no switch changes. */
static void identify(struct audit_seen *seen, uint32_t captured)
{
	struct audit_frame *frame = &seen->frame;
	const uint8_t *header = (const uint8_t *)&frame->header;
	uint32_t payload = seen->payload_bytes;

	if (seen->payload_at + payload > captured)
		payload = captured > seen->payload_at ? captured - seen->payload_at : 0;
	frame->identity = byte_hash(header[1], header + 2, 4);
	frame->identity = byte_hash(frame->identity, header + 10, 8);
	frame->identity = byte_hash(frame->identity, header + 22, 4);
	if (frame->class != AUDIT_DATA)
		frame->identity =
			byte_hash(frame->identity, seen->bytes + seen->payload_at, payload);
	frame->fixed = byte_hash(frame->identity, header, 26);
	frame->fixed = byte_hash(frame->fixed, frame->route, frame->header.route_length);
}

/* Reads the headers of a captured frame; bytes that were not captured are read as zero. Returns
 * false if the headers are incomplete or this is not a Weft frame. */
static bool read_frame(struct audit *audit, struct audit_seen *seen)
{
	const struct audit_frame_at *at = seen->at;
	struct audit_frame *frame = &seen->frame;
	uint8_t head[HEADERS + 8] = {0};
	char port[TOPOLOGY_NAME_MAX + 8];
	enum frame_fault fault;

	memcpy(head, at->bytes, at->captured_bytes < HEADERS ? at->captured_bytes : HEADERS);
	frame->seen = (struct audit_mark){at->time_ns, at->number, at->file};
	frame->way = at->way;
	frame->bytes = at->frame_bytes;
	frame->header = *frame_header_const(head);
	if (at->captured_bytes < FRAME_HEADER_BYTES || head[12] != FRAME_ETHERTYPE >> 8 ||
		head[13] != (FRAME_ETHERTYPE & 0xFF)) {
		audit->counts.foreign++;
		return false;
	}
	if (at->captured_bytes < at->frame_bytes &&
		at->captured_bytes < frame_payload_offset(&frame->header))
		return false;
	fault = frame_find_fault(head, at->frame_bytes);
	if (fault != FRAME_FAULT_OK && !seen->refused)
		audit_report(audit, AUDIT_DAMAGED, &frame->seen, "%s: the %s is wrong",
			audit_port_name(audit, at->way, port), frame_fault_name(fault));
	if (fault != FRAME_FAULT_OK && fault != FRAME_FAULT_HEADER_CRC)
		return seen->refused && frame->header.route_length <= FRAME_ROUTE_MAX;
	memcpy(frame->route, head + FRAME_HEADER_BYTES, frame->header.route_length);
	frame->class = (uint8_t)class_of(frame->header.kind);
	seen->bytes = at->bytes;
	seen->payload_at = frame_payload_offset(&frame->header);
	seen->payload_bytes = ntohs(frame->header.payload_bytes_be);
	if (seen->payload_at + seen->payload_bytes <= at->captured_bytes &&
		fault == FRAME_FAULT_OK && frame->class != AUDIT_LINK_LOCAL &&
		seen->port->at.kind == DEVICE_HOST && !seen->discarded &&
		!frame_payload_ok(at->bytes))
		audit_report(audit, AUDIT_DAMAGED, &frame->seen, "%s: the payload CRC is wrong",
			audit_port_name(audit, at->way, port));
	identify(seen, at->captured_bytes);
	return true;
}

int audit_add(struct audit *audit, const struct audit_frame_at *at)
{
	struct audit_seen seen = {.at = at, .port = &audit->port[at->way]};

	audit->counts.frames++;
	audit->now_ns = at->time_ns;
	judge_until(audit, at->time_ns);
	read_comment(&seen);
	if (!read_frame(audit, &seen))
		return 0;
	audit->counts.data += seen.frame.class == AUDIT_DATA;
	if (at->alone)
		return 0;
	/* The other end's capture has not started yet, or has ended. */
	if (!audit->rules.exact && at->time_ns < audit->rules.complete_ns) {
		audit->counts.before++;
		return 0;
	}
	if (!audit->rules.exact && at->time_ns > audit->rules.ended_ns) {
		audit->counts.after++;
		return 0;
	}
	if (at->gone) {
		audit_device_gone(audit, &seen);
	} else if (at->out) {
		if (seen.frame.class != AUDIT_LINK_LOCAL)
			audit_device_out(audit, &seen);
		audit_link_out(audit, &seen);
	} else if (audit_link_in(audit, &seen)) {
		audit_device_in(audit, &seen);
	}
	return audit->failed ? -ENOMEM : 0;
}

/* Reports a frame that was overtaken and never left. Other frames may still be in flight. */
static void report_lost(struct audit *audit, const struct audit_frame *frame)
{
	char text[AUDIT_TEXT], port[TOPOLOGY_NAME_MAX + 8];

	audit_port_name(audit, frame->way, port);
	audit_describe(frame, text);
	audit_report(audit, AUDIT_LOST, &frame->seen,
		frame->place < audit->devices
			? "%s: %s enters and never leaves, though frame %" PRIu64 " behind it does"
			: "%s: %s leaves and never arrives, though frame %" PRIu64
			  " behind it does",
		port, text, frame->passer.number);
}

void audit_end(struct audit *audit)
{
	for (uint32_t i = 0; i < audit->pair_room; i++) {
		audit->counts.pairs += audit->pair[i].began;
		audit->counts.unnumbered += audit->pair[i].began && !audit->pair[i].numbered;
	}
	while (audit->waiting.first != AUDIT_NONE) {
		uint32_t first = audit->waiting.first;

		if (!audit->rules.exact &&
			audit->frame[first].seen.time_ns + AUDIT_CONTROL_NS > audit->rules.ended_ns)
			audit_take(audit, first);
		else
			judge(audit, first);
	}
	for (uint32_t i = 0; i < audit->buckets; i++)
		for (uint32_t at = audit->bucket[i]; at != AUDIT_NONE;
			at = audit->frame[at].chain) {
			if (audit->frame[at].passed)
				report_lost(audit, &audit->frame[at]);
			else
				audit->counts.under_way +=
					audit->frame[at].class != AUDIT_LINK_LOCAL;
		}
}

/* --- opening --- */

static void open_port(struct audit *audit, uint32_t way, const bool *captured)
{
	const struct audit_rules *rules = &audit->rules;
	const struct topology_link *link = &rules->topology->link_at[way / 2];
	struct audit_port *port = &audit->port[way];

	port->at = way % 2 == 0 ? link->a : link->b;
	port->device =
		port->at.device + (port->at.kind == DEVICE_HOST ? rules->topology->switches : 0);
	port->captured = captured[way];
	port->timed = rules->timed == NULL || rules->timed[way / 2];
	port->byte_time = byte_time_of(link->rate_bps);
	port->delay_ps = link->delay_ps;
	for (unsigned i = 0; i < AUDIT_CLASSES; i++)
		port->on_link[i] = (struct audit_list){AUDIT_NONE, AUDIT_NONE};
	if (port->at.kind == DEVICE_SWITCH)
		audit->way_of[port->at.device * TOPOLOGY_PORTS_MAX + port->at.port] = way;
}

static unsigned ports_of(const struct audit *audit, const struct audit_port *port)
{
	return audit->rules.topology->switch_at[port->at.device].ports;
}

/* Allocates the queues and sets of the switches' ports. */
static bool open_queues(struct audit *audit)
{
	size_t lists = 0, sets = 0;

	for (uint32_t way = 0; way < audit->ways; way++)
		if (audit->port[way].at.kind == DEVICE_SWITCH) {
			lists += (ports_of(audit, &audit->port[way]) + 1u) * FRAME_VCS_MAX;
			sets += ports_of(audit, &audit->port[way]);
		}
	audit->lists = malloc((lists + 1) * sizeof(*audit->lists));
	audit->sets = calloc(sets + 1, sizeof(*audit->sets));
	if (audit->lists == NULL || audit->sets == NULL)
		return false;
	memset(audit->lists, 0xFF, (lists + 1) * sizeof(*audit->lists));
	lists = sets = 0;
	for (uint32_t way = 0; way < audit->ways; way++) {
		struct audit_port *port = &audit->port[way];

		if (port->at.kind != DEVICE_SWITCH)
			continue;
		port->queue = audit->lists + lists;
		port->passed = audit->sets + sets;
		lists += (ports_of(audit, port) + 1u) * FRAME_VCS_MAX;
		sets += ports_of(audit, port);
	}
	return true;
}

bool *audit_partial_devices(const struct topology *topology, const bool *captured)
{
	bool *partial = calloc(topology->switches + topology->hosts + 1u, sizeof(*partial));

	for (uint32_t way = 0; partial != NULL && way < 2 * topology->links; way++) {
		const struct topology_link *link = &topology->link_at[way / 2];
		const struct topology_port *at = way % 2 == 0 ? &link->a : &link->b;

		partial[at->device + (at->kind == DEVICE_HOST ? topology->switches : 0)] |=
			!captured[way];
	}
	return partial;
}

static bool open_whole(struct audit *audit, const bool *captured)
{
	bool *partial = audit_partial_devices(audit->rules.topology, captured);

	for (uint32_t way = 0; partial != NULL && way < audit->ways; way++)
		audit->port[way].whole = !partial[audit->port[way].device];
	free(partial);
	return partial != NULL;
}

struct audit *audit_create(const struct audit_rules *rules, const bool *captured)
{
	const struct topology *topology = rules->topology;
	struct audit *audit = calloc(1, sizeof(*audit));
	size_t ports = (size_t)topology->switches * TOPOLOGY_PORTS_MAX;

	if (audit == NULL)
		return NULL;
	audit->rules = *rules;
	audit->ways = 2 * topology->links;
	audit->devices = topology->switches + topology->hosts;
	audit->spare = AUDIT_NONE;
	audit->waiting = (struct audit_list){AUDIT_NONE, AUDIT_NONE};
	audit->port = calloc(audit->ways + 1u, sizeof(*audit->port));
	audit->way_of = malloc((ports + 1) * sizeof(*audit->way_of));
	audit->ghost = calloc(AUDIT_GHOSTS, sizeof(*audit->ghost));
	audit->offset = calloc(topology->hosts + 1u, sizeof(*audit->offset));
	audit->offset_known = calloc(topology->hosts + 1u, sizeof(*audit->offset_known));
	if (audit->port == NULL || audit->way_of == NULL || audit->ghost == NULL ||
		audit->offset == NULL || audit->offset_known == NULL) {
		audit_destroy(audit);
		return NULL;
	}
	memset(audit->way_of, 0xFF, (ports + 1) * sizeof(*audit->way_of));
	for (uint32_t way = 0; way < audit->ways; way++)
		open_port(audit, way, captured);
	if (open_queues(audit) && open_whole(audit, captured))
		return audit;
	audit_destroy(audit);
	return NULL;
}

void audit_destroy(struct audit *audit)
{
	if (audit == NULL)
		return;
	free(audit->port);
	free(audit->way_of);
	free(audit->lists);
	free(audit->sets);
	free(audit->frame);
	free(audit->bucket);
	free(audit->ghost);
	free(audit->pair);
	free(audit->offset);
	free(audit->offset_known);
	free(audit);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* The audit of captures of the virtual clock. It accepts all runs, and reports a fault planted in
 * the bytes of a capture at the frame with the fault. */

#include <arpa/inet.h>

#include "base/port_set.h"
#include "base/rng.h"
#include "draws.h"
#include "topo/topology.h"
#include "virtual_drawn.h"
#include "virtual_shot.h"
#include "wire/control.h"
#include "wire/frame_check.h"

#define FRAME_AT 28 /* in a packet block */
#define SENT     5

/* A record of a capture, and its block. */
struct record {
	size_t at, bytes;
	struct capture_packet packet;
	struct topology_port port;
	const struct frame_header *header; /* in the file */
};

/* The file with its records. */
struct shot {
	struct virtual_shot run;
	struct record *record;
	unsigned records;
};

/* --- captures --- */

static void list_records(struct shot *shot)
{
	struct capture_reader reader;
	struct capture_packet packet;
	struct error error;

	assert_int_equal(
		capture_reader_open(&reader, "test", shot->run.bytes, shot->run.length, &error), 0);
	shot->record = calloc(reader.packets + 1, sizeof(*shot->record));
	while (capture_reader_next(&reader, &packet)) {
		struct record *record = &shot->record[shot->records++];
		uint32_t bytes;

		record->at = (size_t)(packet.bytes - shot->run.bytes) - FRAME_AT;
		memcpy(&bytes, shot->run.bytes + record->at + 4, sizeof(bytes));
		record->bytes = bytes;
		record->packet = packet;
		record->header = frame_header_const(packet.bytes);
		assert_int_equal(topology_find_port(shot->run.lab.topology,
					 reader.interface[packet.interface].name, &record->port),
			0);
	}
	capture_reader_close(&reader);
}

static struct shot shoot(const char *const *set, unsigned sets)
{
	struct shot shot = {.record = NULL};

	virtual_lab_open(&shot.run.lab, drawn_plain, set, sets);
	virtual_shot_take(&shot.run);
	list_records(&shot);
	return shot;
}

static void shot_close(struct shot *shot)
{
	virtual_shot_close(&shot->run);
	free(shot->record);
}

/* --- audits --- */

/* The times at which a port is captured. */
struct span {
	uint64_t from_ns, to_ns;
};

struct feed {
	struct audit *audit;
	const struct span *span; /* [way]; NULL: always */
};

static void add(void *ctx, const struct audit_frame_at *frame)
{
	const struct feed *feed = ctx;

	if (feed->span == NULL || (frame->time_ns >= feed->span[frame->way].from_ns &&
					  frame->time_ns <= feed->span[frame->way].to_ns))
		assert_int_equal(audit_add(feed->audit, frame), 0);
}

static struct audit *audit_from(
	const struct shot *shot, const uint8_t *bytes, size_t length, const struct span *span)
{
	struct feed feed = {audit_create(&shot->run.rules.rules, shot->run.captured), span};

	assert_non_null(feed.audit);
	virtual_shot_feed(&shot->run, bytes, length, add, &feed);
	audit_end(feed.audit);
	return feed.audit;
}

static struct audit *audit_bytes(const struct shot *shot, const uint8_t *bytes, size_t length)
{
	return audit_from(shot, bytes, length, NULL);
}

#define WIRE_SLOWER 100000 /* an audit of the real clock tolerates seconds */

/* So slow that even used links seem to be down for a while. */
static void add_slowly(void *audit, const struct audit_frame_at *frame)
{
	struct audit_frame_at later = *frame;

	later.time_ns *= WIRE_SLOWER;
	assert_int_equal(audit_add(audit, &later), 0);
}

static void expect_clean(const struct audit *audit, const char *what)
{
	for (unsigned kind = 0; kind < AUDIT_KIND_COUNT; kind++) {
		const struct audit_finding *finding = audit_finding(audit, kind);

		if (finding->count != 0)
			fail_msg("%s: frame %u: %s: %s", what, (unsigned)finding->number,
				audit_kind_words(kind)->name, finding->text);
	}
}

/* --- captures of wires --- */

/* The frames of a run as tcpdump captures them: once, on the wire. */
static void add_wire(void *audit, const struct audit_frame_at *frame)
{
	struct audit_frame_at at = *frame;

	if (!frame->out)
		return;
	at.comment = NULL;
	add_slowly(audit, &at);
	at.way ^= 1;
	at.out = false;
	add_slowly(audit, &at);
}

static struct audit *audit_wires(const struct shot *shot, const uint8_t *bytes, size_t length)
{
	static const bool untimed[1024];
	struct audit_rules rules = shot->run.rules.rules;
	struct audit *audit;

	rules.exact = false;
	rules.ended_ns = UINT64_MAX;
	rules.timed = untimed;
	rules.window = 0;
	audit = audit_create(&rules, shot->run.captured);
	assert_true(shot->run.lab.topology->links <= 1024);
	virtual_shot_feed(&shot->run, bytes, length, add_wire, audit);
	audit_end(audit);
	return audit;
}

/* --- runs are clean --- */

/* With only the topology, the audit checks less, and still reports nothing. */
static void expect_clean_bare(struct shot *shot, const char *what)
{
	struct audit_run full = shot->run.rules;
	struct error error = {""};
	struct audit *audit;

	assert_int_equal(
		audit_run_open_bare(&shot->run.rules, shot->run.lab.topology, NULL, NULL, &error),
		0);
	shot->run.rules.rules.exact = true;
	audit = audit_bytes(shot, shot->run.bytes, shot->run.length);
	expect_clean(audit, what);
	audit_destroy(audit);
	audit_run_close(&shot->run.rules);
	shot->run.rules = full;
}

/* As in a lab, captures of ports start and end at different times, and the clock is not exact. */
static void expect_clean_from(struct shot *shot, unsigned seed, const char *what)
{
	struct audit_rules full = shot->run.rules.rules;
	uint32_t ways = 2 * shot->run.lab.topology->links;
	struct span *span = calloc(ways, sizeof(*span));
	struct audit *audit;
	struct rng rng;

	rng_init(&rng, seed, 0, 0);
	shot->run.rules.rules.exact = false;
	shot->run.rules.rules.ended_ns = UINT64_MAX;
	for (uint32_t way = 0; way < ways; way++) {
		span[way].from_ns = rng_below(&rng, 30000);
		span[way].to_ns = 40000 + rng_below(&rng, 5000);
		if (span[way].from_ns > shot->run.rules.rules.complete_ns)
			shot->run.rules.rules.complete_ns = span[way].from_ns;
		if (span[way].to_ns < shot->run.rules.rules.ended_ns)
			shot->run.rules.rules.ended_ns = span[way].to_ns;
	}
	audit = audit_from(shot, shot->run.bytes, shot->run.length, span);
	expect_clean(audit, what);
	audit_destroy(audit);
	shot->run.rules.rules = full;
	free(span);
}

static bool try_drawn(unsigned seed)
{
	struct shot shot = {.record = NULL};
	struct error error = {""};
	struct drawn drawn;
	struct audit *audit;
	char what[2048];
	size_t used;

	drawn_draw(seed, &drawn);
	shot.run.lab.config = run_config_parse(
		drawn_plain, strlen(drawn_plain), "test", drawn.set, drawn.sets, &error);
	if (shot.run.lab.config != NULL && run_config_supported(shot.run.lab.config, &error) == 0)
		shot.run.lab.topology = run_config_open_topology(shot.run.lab.config, &error);
	if (shot.run.lab.topology != NULL)
		shot.run.lab.fabric =
			virtual_fabric_create(shot.run.lab.topology, shot.run.lab.config, &error);
	if (shot.run.lab.fabric == NULL) {
		virtual_lab_close(&shot.run.lab);
		return false; /* some drawn settings exclude each other */
	}
	virtual_shot_take(&shot.run);
	audit = audit_bytes(&shot, shot.run.bytes, shot.run.length);
	used = (size_t)snprintf(what, sizeof(what), "seed %u", seed);
	for (unsigned i = 0; i < drawn.sets; i++)
		used += (size_t)snprintf(what + used, sizeof(what) - used, " %s", drawn.set[i]);
	expect_clean(audit, what);
	assert_true(audit_counts(audit)->data > 500);
	audit_destroy(audit);
	expect_clean_bare(&shot, what);
	expect_clean_from(&shot, seed, what);
	shot_close(&shot);
	return true;
}

UNIT_TEST(drawn_runs_keep_all_rules)
{
	unsigned cases = unit_draws(32), runs = 0;

	for (unsigned seed = 1; seed <= cases; seed++)
		runs += try_drawn(seed);
	assert_true(runs >= cases / 2);
}

UNIT_TEST(frames_that_pass_the_hosts_of_in_transit_buffers_are_followed)
{
	struct shot shot = shoot(VIRTUAL_LAB_SET(
		"topology=irregular:switches=8,degree=4,hosts=2,seed=1", "routing.mode=source",
		"routing.algorithm=bmax-itb", "routing.itb-absorb=contention",
		"measure.duration=20us", "measure.warmup=1us", "measure.sample=10us"));
	struct audit *audit = audit_bytes(&shot, shot.run.bytes, shot.run.length);
	uint64_t absorbed = 0;

	expect_clean(audit, "contention");
	audit_destroy(audit);
	expect_clean_bare(&shot, "contention");
	for (unsigned i = 0; i < shot.records; i++)
		absorbed += shot.record[i].port.kind == DEVICE_HOST &&
			    shot.record[i].packet.direction == CAPTURE_OUT &&
			    ntohs(shot.record[i].header->source_be) != shot.record[i].port.device;
	assert_true(absorbed > 100);
	shot_close(&shot);
}

/* --- a cable that is cut --- */

#define SLOWER   2000 /* the run of 40 us takes 80 ms */
#define LOST_MAX 4096

struct cut {
	struct audit *audit;
	uint32_t link;
	uint64_t from_ns, to_ns;
	struct frame_header lost[LOST_MAX];
	unsigned losses;
};

static bool was_lost(const struct cut *cut, const struct frame_header *header)
{
	for (unsigned i = 0; i < cut->losses; i++)
		if (memcmp(&cut->lost[i], header, offsetof(struct frame_header, payload_crc_be)) ==
			0)
			return true;
	return false;
}

/* The records of arrivals at both ends of the cable are missing, and so are the records of what
 * these frames caused. */
static void add_cut(void *ctx, const struct audit_frame_at *frame)
{
	struct cut *cut = ctx;
	const struct frame_header *header = frame_header_const(frame->bytes);
	struct audit_frame_at later = *frame;

	if (!frame_link_local(header->kind) && was_lost(cut, header))
		return;
	if (frame->way / 2 == cut->link && !frame->out && frame->time_ns >= cut->from_ns &&
		frame->time_ns < cut->to_ns) {
		assert_true(cut->losses < LOST_MAX);
		if (!frame_link_local(header->kind))
			cut->lost[cut->losses++] = *header;
		return;
	}
	later.time_ns *= SLOWER;
	assert_int_equal(audit_add(cut->audit, &later), 0);
}

/* --- planted faults --- */

/* A changed capture. The block at 'record' may be followed by a copy. */
struct plant {
	const struct shot *shot;
	struct rng rng;
	uint8_t *bytes;
	size_t length;
	unsigned record; /* position of the fault */
	uint64_t number; /* the frame that the finding must name */
};

typedef struct audit *audit_fn(const struct shot *shot, const uint8_t *bytes, size_t length);
/* False: the fault cannot occur there. */
typedef bool plant_fn(struct plant *plant);

static uint8_t *frame_of(struct plant *plant, unsigned record)
{
	return plant->bytes + plant->shot->record[record].at + FRAME_AT;
}

static bool is_data_out(const struct record *record)
{
	return record->packet.direction == CAPTURE_OUT && record->port.kind == DEVICE_SWITCH &&
	       record->header->kind == FRAME_DATA;
}

/* Inserts a copy of the block after it. Returns the frame of the copy. */
static uint8_t *insert_copy(struct plant *plant)
{
	const struct record *record = &plant->shot->record[plant->record];
	size_t end = record->at + record->bytes;

	memmove(plant->bytes + end + record->bytes, plant->bytes + end, plant->length - end);
	memcpy(plant->bytes + end, plant->bytes + record->at, record->bytes);
	plant->length += record->bytes;
	plant->number++;
	return plant->bytes + end + FRAME_AT;
}

static void seal(uint8_t *frame)
{
	frame_header(frame)->crc_be = 0;
	frame_header(frame)->crc_be = htons(frame_header_crc(frame));
}

static bool plant_twice(struct plant *plant)
{
	if (!is_data_out(&plant->shot->record[plant->record]))
		return false;
	insert_copy(plant);
	return true;
}

static bool plant_nowhere(struct plant *plant)
{
	uint8_t *frame;

	if (!is_data_out(&plant->shot->record[plant->record]))
		return false;
	frame = insert_copy(plant);
	frame_header(frame)->sequence_be ^= htonl(0x40000000);
	seal(frame);
	return true;
}

/* From here on, the port grants one block less in VC 0. */
static bool plant_leak(struct plant *plant)
{
	const struct record *first = &plant->shot->record[plant->record];
	struct topology_port peer;

	if (first->packet.direction != CAPTURE_OUT || first->port.kind != DEVICE_SWITCH ||
		first->header->kind != FRAME_CREDIT ||
		!topology_peer(plant->shot->run.lab.topology, first->port, &peer))
		return false;
	for (unsigned i = plant->record; i < plant->shot->records; i++) {
		const struct record *record = &plant->shot->record[i];
		const struct topology_port *at =
			record->packet.direction == CAPTURE_OUT ? &first->port : &peer;
		uint8_t *limit = frame_of(plant, i) + FRAME_HEADER_BYTES + 16;
		uint32_t value;

		if (record->header->kind != FRAME_CREDIT || record->port.kind != at->kind ||
			record->port.device != at->device || record->port.port != at->port)
			continue;
		memcpy(&value, limit, sizeof(value));
		value = htonl(ntohl(value) - 1);
		memcpy(limit, &value, sizeof(value));
	}
	return true;
}

static bool plant_early(struct plant *plant)
{
	const struct record *record = &plant->shot->record[plant->record];
	uint32_t word[2];
	uint64_t time;

	if (record->packet.direction != CAPTURE_IN || record->header->kind != FRAME_DATA)
		return false;
	time = record->packet.time_ns - 1000;
	word[0] = (uint32_t)(time >> 32);
	word[1] = (uint32_t)time;
	memcpy(plant->bytes + record->at + 12, word, sizeof(word));
	return true;
}

static bool plant_vc(struct plant *plant)
{
	uint8_t *frame = frame_of(plant, plant->record);
	struct frame_header *header = frame_header(frame);

	if (!is_data_out(&plant->shot->record[plant->record]))
		return false;
	frame_update_mutable(
		frame, frame_mutable_word((header->vc + 1) % plant->shot->run.rules.rules.vcs,
			       header->vc_original, header->cursor, header->flags));
	return true;
}

static bool plant_cursor(struct plant *plant)
{
	uint8_t *frame = frame_of(plant, plant->record);
	struct frame_header *header = frame_header(frame);

	if (!is_data_out(&plant->shot->record[plant->record]))
		return false;
	frame_update_mutable(frame, frame_mutable_word(header->vc, header->vc_original,
					    header->cursor - 1, header->flags));
	return true;
}

static bool plant_crc(struct plant *plant)
{
	if (!is_data_out(&plant->shot->record[plant->record]))
		return false;
	frame_header(frame_of(plant, plant->record))->crc_be ^=
		(uint16_t)(1 + rng_below(&plant->rng, 0xFFFF));
	return true;
}

/* The message ends without its last frame. The next frame of the pair reveals this. */
static bool plant_tail(struct plant *plant)
{
	const struct record *own = &plant->shot->record[plant->record], *next = own;
	uint8_t *frame = frame_of(plant, plant->record);
	const struct frame_header *header = own->header;

	if (own->port.kind != DEVICE_HOST || own->packet.direction != CAPTURE_OUT ||
		header->kind != FRAME_DATA || (header->flags & FRAME_F_TAIL) == 0)
		return false;
	do
		if (++next == plant->shot->record + plant->shot->records)
			return false;
	while (next->packet.interface != own->packet.interface ||
		next->packet.direction != CAPTURE_OUT || next->header->kind != FRAME_DATA ||
		next->header->destination_be != header->destination_be);
	plant->number = (uint64_t)(next - plant->shot->record) + 1;
	frame_update_mutable(frame, frame_mutable_word(header->vc, header->vc_original,
					    header->cursor, header->flags & ~FRAME_F_TAIL));
	return true;
}

/* Moves the record to this port of the same switch. Returns false if the capture has no such
 * port. */
static bool move_output(struct plant *plant, uint8_t port)
{
	const struct record *record = &plant->shot->record[plant->record];

	for (unsigned i = 0; i < plant->shot->records; i++) {
		const struct record *other = &plant->shot->record[i];

		if (other->port.kind != DEVICE_SWITCH ||
			other->port.device != record->port.device || other->port.port != port)
			continue;
		memcpy(plant->bytes + record->at + 8, &other->packet.interface, 4);
		return true;
	}
	return false;
}

/* The frame leaves through a port that the tables do not contain. */
static bool plant_output(struct plant *plant)
{
	const struct record *record = &plant->shot->record[plant->record];
	const struct route_table *table = plant->shot->run.rules.rules.table;
	uint16_t destination = ntohs(record->header->destination_be);
	uint64_t allowed;

	if (!is_data_out(record))
		return false;
	allowed = BIT64(route_table_row(table, record->port.device)[destination]);
	if (table->alternatives != NULL)
		allowed |= route_table_alternatives(table, record->port.device)[destination];
	else if (record->header->vc >= plant->shot->run.rules.rules.vcs / 2)
		return false; /* not in the first half of a detour */
	allowed |= BIT64(record->port.port);
	for (uint8_t port = 0; port < TOPOLOGY_PORTS_MAX; port++)
		if ((allowed >> port & 1) == 0 && move_output(plant, port))
			return true;
	return false;
}

/* The epoch before a cable was cut. */
static struct topology *joined_later;
static struct audit_run former;

/* The frame leaves through the port in the table of the previous epoch. */
static bool plant_epoch(struct plant *plant)
{
	const struct record *record = &plant->shot->record[plant->record];
	uint8_t port;

	if (!is_data_out(record))
		return false;
	port = route_table_row(
		former.rules.table, record->port.device)[ntohs(record->header->destination_be)];
	return port != record->port.port && move_output(plant, port);
}

static bool is_same(const struct record *one, const struct record *other)
{
	const uint8_t *a = (const uint8_t *)one->header, *b = (const uint8_t *)other->header;

	return memcmp(a + 1, b + 1, 5) == 0 && memcmp(a + 10, b + 10, 8) == 0;
}

static bool is_from(const struct shot *shot, unsigned out, unsigned *entered)
{
	for (unsigned i = out; i-- > 0;) {
		const struct record *record = &shot->record[i];

		if (record->packet.direction == CAPTURE_IN && record->port.kind == DEVICE_SWITCH &&
			record->port.device == shot->record[out].port.device &&
			is_same(&shot->record[out], record)) {
			*entered = i;
			return true;
		}
	}
	return false;
}

/* The departure at this output before or after a record. Returns 'records' if there is none. */
static unsigned neighbour(const struct shot *shot, unsigned record, int step)
{
	const struct record *at = &shot->record[record];

	for (unsigned i = record + (unsigned)step; i < shot->records; i += (unsigned)step)
		if (is_data_out(&shot->record[i]) &&
			shot->record[i].packet.interface == at->packet.interface)
			return i;
	return shot->records;
}

/* A frame that arrived after it, through the same port and in the same VC, leaves through the same
 * output. */
static bool has_follower(const struct shot *shot, unsigned record)
{
	const struct record *own = &shot->record[record];
	unsigned out = record + 1, entered;

	while (out < shot->records && !(is_data_out(&shot->record[out]) &&
					      shot->record[out].port.device == own->port.device &&
					      is_same(own, &shot->record[out])))
		out++;
	while (out < shot->records && (out = neighbour(shot, out, 1)) < shot->records)
		if (is_from(shot, out, &entered) && entered > record &&
			shot->record[entered].packet.interface == own->packet.interface &&
			shot->record[entered].header->vc == own->header->vc)
			return true;
	return false;
}

/* The frame enters a switch and does not appear again. */
static bool plant_lost(struct plant *plant)
{
	const struct shot *shot = plant->shot;
	const struct record *record = &shot->record[plant->record];
	size_t to = record->at + record->bytes;

	if (record->packet.direction != CAPTURE_IN || record->port.kind != DEVICE_SWITCH ||
		record->header->kind != FRAME_DATA || !has_follower(shot, plant->record))
		return false;
	for (unsigned i = plant->record + 1; i < shot->records; i++) {
		const struct record *other = &shot->record[i];

		if (is_same(record, other))
			continue;
		memmove(plant->bytes + to, shot->run.bytes + other->at, other->bytes);
		to += other->bytes;
	}
	plant->length = to;
	return true;
}

static uint32_t credits_after(const struct record *record)
{
	const char *text =
		memmem(record->packet.comment, record->packet.comment_bytes, "credits ", 8);

	return text == NULL ? 0 : (uint32_t)strtoul(text + 8, NULL, 10);
}

/* Inputs j, i, j send in this order, and the first frame of i has waited since before the first of
 * j left. If the last two are exchanged, j sends twice while i waits. */
static bool plant_unfair(struct plant *plant)
{
	const struct shot *shot = plant->shot;
	unsigned own = plant->record, before, after, entered[3];
	uint8_t frame[2][FRAME_HEADER_BYTES + FRAME_ROUTE_MAX];
	uint32_t captured = shot->record[own].packet.captured_bytes;

	if (!is_data_out(&shot->record[own]))
		return false;
	before = neighbour(shot, own, -1);
	after = neighbour(shot, own, 1);
	if (before >= shot->records || after >= shot->records ||
		!is_from(shot, before, &entered[0]) || !is_from(shot, own, &entered[1]) ||
		!is_from(shot, after, &entered[2]))
		return false;
	if (shot->record[entered[0]].port.port != shot->record[entered[2]].port.port ||
		shot->record[entered[0]].port.port == shot->record[entered[1]].port.port ||
		entered[1] > before || entered[2] > own ||
		credits_after(&shot->record[before]) < 100 ||
		credits_after(&shot->record[own]) < 100 ||
		shot->record[after].packet.frame_bytes != shot->record[own].packet.frame_bytes ||
		shot->record[after].packet.captured_bytes != captured)
		return false;
	memcpy(frame[0], frame_of(plant, own), captured);
	memcpy(frame[1], frame_of(plant, after), captured);
	memcpy(frame_of(plant, own), frame[1], captured);
	memcpy(frame_of(plant, after), frame[0], captured);
	return true;
}

static void plant_and_judge(
	const struct shot *shot, plant_fn *fault, enum audit_kind kind, audit_fn *judge)
{
	struct plant plant = {.shot = shot};
	unsigned planted = 0, tries = 0;
	struct audit *audit = judge(shot, shot->run.bytes, shot->run.length);

	expect_clean(audit, "without a fault");
	audit_destroy(audit);
	rng_init(&plant.rng, 51, kind, 0);
	plant.bytes = malloc(shot->run.length + 65536);
	for (unsigned wanted = unit_draws(100); planted < wanted; tries++) {
		const struct audit_finding *finding;

		assert_true(tries < 1000 * wanted);
		plant.record = (unsigned)rng_below(&plant.rng, shot->records);
		plant.number = plant.record + 1;
		plant.length = shot->run.length;
		memcpy(plant.bytes, shot->run.bytes, shot->run.length);
		if (!fault(&plant) || (judge == audit_wires && plant.record < shot->records / 3))
			continue;
		planted++;
		audit = judge(shot, plant.bytes, plant.length);
		finding = audit_finding(audit, kind);
		if (finding->count == 0 || finding->number != plant.number)
			fail_msg("%s planted in frame %u, found %u times, first in frame %u: %s",
				audit_kind_words(kind)->name, (unsigned)plant.number,
				(unsigned)finding->count, (unsigned)finding->number, finding->text);
		audit_destroy(audit);
	}
	free(plant.bytes);
}

static void plant_all(const struct shot *shot, plant_fn *fault, enum audit_kind kind)
{
	plant_and_judge(shot, fault, kind, audit_bytes);
}

#define SMALL                                                                            \
	"topology=rlft:ports=4,stages=2", "measure.duration=15us", "measure.warmup=1us", \
		"measure.sample=5us"
#define HOT                                                                        \
	"traffic[1].pattern=hotspot", "traffic[1].from=all", "traffic[1].to=[h3]", \
		"traffic[1].load=60%", "traffic[1].message=2KiB"

/* Shots that several faults share. */
static struct shot by_table, by_route, by_choice;

static int set_up(void **state)
{
	const char *const changed[] = {SMALL, "routing.algorithm=ud"};
	OWNED(run_config) *config;
	struct error error = {""};

	by_table = shoot(VIRTUAL_LAB_SET(SMALL, HOT, "link.delay=2us", "switch.vcs=2",
		"queuing=dbbm", "measure.duration=40us"));
	by_route = shoot(VIRTUAL_LAB_SET("topology=torus:dims=3x3,hosts=1", "routing.mode=source",
		"routing.algorithm=dor", "switch.vcs=2", HOT, "measure.duration=15us",
		"measure.warmup=1us", "measure.sample=5us"));
	by_choice = shoot(VIRTUAL_LAB_SET(SMALL, HOT, "routing.adaptive=adaptive"));
	config = run_config_parse(drawn_plain, strlen(drawn_plain), "test", changed,
		sizeof(changed) / sizeof(changed[0]), &error);
	assert_non_null(config);
	joined_later = topology_without(
		by_table.run.lab.topology, (const char *const[]){"s0:2"}, 1, &error);
	if (joined_later == NULL ||
		audit_run_open(&former, joined_later, config, true, &error) != 0)
		fail_msg("%s", error.text);
	return 0;
}

static int tear_down(void **state)
{
	audit_run_close(&former);
	topology_destroy(joined_later);
	shot_close(&by_table);
	shot_close(&by_route);
	shot_close(&by_choice);
	return 0;
}

UNIT_TEST(frames_on_a_cable_that_was_cut_are_not_lost)
{
	struct audit_rules rules = by_table.run.rules.rules;
	const struct topology_port port = {.kind = DEVICE_SWITCH, .device = 0, .port = 2};
	struct cut *cut = calloc(1, sizeof(*cut));

	rules.exact = false;
	rules.ended_ns = UINT64_MAX;
	cut->audit = audit_create(&rules, by_table.run.captured);
	cut->link = topology_way_at(by_table.run.lab.topology, port) / 2;
	cut->from_ns = 12000;
	cut->to_ns = 27000;
	virtual_shot_feed(&by_table.run, by_table.run.bytes, by_table.run.length, add_cut, cut);
	audit_end(cut->audit);
	/* Credits are not checked, because this run lost some. */
	assert_int_equal(audit_finding(cut->audit, AUDIT_LOST)->count, 0);
	assert_int_equal(audit_finding(cut->audit, AUDIT_NOWHERE)->count, 0);
	assert_true(cut->losses > 10);
	audit_destroy(cut->audit);
	free(cut);
}

/* Violations after these frames in a capture of the real clock that starts with the first one. */
static uint64_t count_in(const struct record **record, unsigned records, enum audit_kind kind)
{
	struct audit_rules rules = by_table.run.rules.rules;
	struct audit *audit;
	uint64_t count;

	rules.exact = false;
	rules.window = 2;
	rules.ended_ns = UINT64_MAX;
	audit = audit_create(&rules, by_table.run.captured);
	for (unsigned i = 0; i < records; i++) {
		const struct capture_ordered next = {.packet = record[i]->packet};
		struct audit_frame_at frame = audit_frame_of(
			&next, topology_way_at(by_table.run.lab.topology, record[i]->port));

		frame.time_ns *= SLOWER;
		assert_int_equal(audit_add(audit, &frame), 0);
	}
	audit_end(audit);
	count = audit_finding(audit, kind)->count;
	audit_destroy(audit);
	return count;
}

/* Data that h0 sends to h3 in the second half of the run. */
static void list_sent(const struct record *sent[SENT])
{
	unsigned count = 0;

	for (unsigned i = by_table.records / 2; i < by_table.records && count < SENT; i++) {
		const struct record *record = &by_table.record[i];

		if (record->port.kind == DEVICE_HOST && record->port.device == 0 &&
			record->packet.direction == CAPTURE_OUT &&
			record->header->kind == FRAME_DATA &&
			ntohs(record->header->destination_be) == 3)
			sent[count++] = record;
	}
	assert_int_equal(count, SENT);
}

UNIT_TEST(a_capture_may_start_with_frames_that_are_resent)
{
	const struct record *sent[SENT];

	list_sent(sent);
	sent[1] = sent[0]; /* the next one was sent before */
	assert_int_equal(count_in(sent + 1, SENT - 1, AUDIT_MESSAGE), 0);
}

UNIT_TEST(a_gap_behind_a_window_of_frames_is_named)
{
	const struct record *sent[SENT];

	list_sent(sent);
	sent[SENT - 2] = sent[SENT - 1];
	assert_int_equal(count_in(sent, SENT - 1, AUDIT_MESSAGE), 1);
}

UNIT_TEST(a_capture_may_start_while_a_hot_spot_is_full)
{
	for (unsigned seed = 1; seed <= 4; seed++)
		expect_clean_from(&by_table, seed, "hot spot");
}

/* A loop that is stopped for a while looks like a cut cable. */
UNIT_TEST(frames_in_front_of_a_pause_are_not_lost)
{
	struct audit_rules full = by_choice.run.rules.rules;
	struct audit *audit;

	by_choice.run.rules.rules.exact = false;
	by_choice.run.rules.rules.ended_ns = UINT64_MAX;
	audit = audit_create(&by_choice.run.rules.rules, by_choice.run.captured);
	virtual_shot_feed(
		&by_choice.run, by_choice.run.bytes, by_choice.run.length, add_slowly, audit);
	audit_end(audit);
	expect_clean(audit, "with pauses");
	audit_destroy(audit);
	by_choice.run.rules.rules = full;
}

UNIT_TEST(faults_in_captures_of_wires_are_named)
{
	plant_and_judge(&by_table, plant_twice, AUDIT_TWICE, audit_wires);
	plant_and_judge(&by_route, plant_nowhere, AUDIT_NOWHERE, audit_wires);
	plant_and_judge(&by_route, plant_vc, AUDIT_VC, audit_wires);
	plant_and_judge(&by_route, plant_cursor, AUDIT_CURSOR, audit_wires);
	plant_and_judge(&by_route, plant_crc, AUDIT_DAMAGED, audit_wires);
	plant_and_judge(&by_table, plant_tail, AUDIT_MESSAGE, audit_wires);
	plant_and_judge(&by_choice, plant_output, AUDIT_OUTPUT, audit_wires);
}

UNIT_TEST(a_leaked_credit_is_named)
{
	plant_all(&by_table, plant_leak, AUDIT_TOTAL);
}

UNIT_TEST(a_doubled_frame_is_named)
{
	plant_all(&by_table, plant_twice, AUDIT_TWICE);
}

UNIT_TEST(a_frame_from_nowhere_is_named)
{
	plant_all(&by_route, plant_nowhere, AUDIT_NOWHERE);
}

UNIT_TEST(a_lost_frame_is_named)
{
	plant_all(&by_table, plant_lost, AUDIT_LOST);
}

UNIT_TEST(an_input_that_was_skipped_is_named)
{
	plant_all(&by_table, plant_unfair, AUDIT_UNFAIR);
}

UNIT_TEST(an_early_arrival_is_named)
{
	plant_all(&by_table, plant_early, AUDIT_EARLY);
}

UNIT_TEST(a_wrong_vc_is_named)
{
	plant_all(&by_table, plant_vc, AUDIT_VC);
	plant_all(&by_route, plant_vc, AUDIT_VC);
}

UNIT_TEST(a_cursor_that_stays_is_named)
{
	plant_all(&by_route, plant_cursor, AUDIT_CURSOR);
}

UNIT_TEST(a_wrong_crc_is_named)
{
	plant_all(&by_route, plant_crc, AUDIT_DAMAGED);
}

UNIT_TEST(a_message_that_ends_without_its_last_frame_is_named)
{
	plant_all(&by_table, plant_tail, AUDIT_MESSAGE);
}

UNIT_TEST(a_table_of_the_former_epoch_is_named)
{
	plant_all(&by_table, plant_epoch, AUDIT_OUTPUT);
}

UNIT_TEST(a_port_that_is_not_in_the_set_is_named)
{
	plant_all(&by_choice, plant_output, AUDIT_OUTPUT);
}

UNIT_TEST(a_detour_that_does_not_lead_to_the_drawn_host_is_found)
{
	struct shot shot = shoot(VIRTUAL_LAB_SET(
		SMALL, HOT, "topology=torus:dims=4x3", "routing.algorithm=ugal", "switch.vcs=4"));

	plant_all(&shot, plant_output, AUDIT_OUTPUT);
	shot_close(&shot);
}

UNIT_MAIN(set_up, tear_down)

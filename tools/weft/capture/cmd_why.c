/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* weft why: shows where captured packets spent their time (docs/man/weft-why.1). */

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "audit/why.h"
#include "audit_subject.h"
#include "base/arrays.h"
#include "base/quantity.h"

#define COMMAND     "why"
#define PACKETS_MAX 4096
#define BAR         24
#define CAUSES      5 /* causes listed in the text */

static const char usage[] =
	"usage: weft why FILE... --run RUN [--set KEY=VALUE]... [WHICH] [--json]\n"
	"       weft why FILE... --lab LAB [WHICH] [--json]\n"
	"       weft why FILE... --topology TOPO [--routes FILE] [WHICH] [--json]\n"
	"\n"
	"Breaks down the time of captured packets into waits, transmission and delays,\n"
	"and ranks the causes of the waits. FILE and the options before WHICH work as in\n"
	"'weft audit'.\n"
	"\n"
	"WHICH:\n"
	"  --slowest N              the N slowest packets; 10 by default\n"
	"  --message SRC:DST:N      the last packet of message N from host SRC to DST\n"
	"  --frame FILE:N           the packet of frame N in a capture, as numbered by\n"
	"                           Wireshark\n"
	"  --goal                   the critical path, backwards from the last delivery:\n"
	"                           each message with the last message that its source\n"
	"                           received before\n"
	"\n"
	"  --json                   prints a document\n"
	"Exit: 0 success, 1 no such packet, 2 invalid request or file, 3 not possible on\n"
	"this machine.\n";

struct request {
	struct audit_request audit;
	unsigned slowest;
	const char *message, *frame;
	bool goal, json;
};

/* A cause of delay, summed over all packets shown. */
struct cause {
	enum why_cause cause;
	uint32_t way;
	uint64_t ns;
	struct why_flow flow[WHY_FLOWS];
};

struct answer {
	struct audit_subject subject;
	struct why *why;
	uint32_t packet[PACKETS_MAX];
	uint32_t packets;
	struct why_packet shown;
	struct cause *cause;
	uint32_t causes, room;
	uint64_t part_ns[WHY_PART_COUNT], total_ns;
	uint64_t computed_ns; /* time between the messages of a critical path */
	char *missing;        /* description of missing ports; NULL: none */
};

/* --- request --- */

static int parse(int argc, char **argv, struct request *request)
{
#define S struct request
	static const struct command_option options[] = {
		AUDIT_REQUEST_OPTIONS(S, audit),
		{"slowest", 0, OPTION_NUMBER(S, slowest), 1, PACKETS_MAX},
		{"message", 0, OPTION_TEXT(S, message)},
		{"frame", 0, OPTION_TEXT(S, frame)},
		{"goal", 0, OPTION_SET(S, goal)},
		{"json", 0, OPTION_SET(S, json)},
		{NULL},
	};
#undef S
	int code = command_options(COMMAND, options, request, &argc, &argv);

	if (code != EXIT_DONE)
		return code;
	if ((request->slowest != 0) + (request->message != NULL) + (request->frame != NULL) +
			request->goal >
		1)
		return command_fail(COMMAND, EXIT_BAD_REQUEST,
			"only one of --slowest, --message, --frame and --goal is allowed");
	request->audit.file = (const char *const *)argv;
	request->audit.files = (uint32_t)argc;
	return audit_request_check(&request->audit, COMMAND);
}

/* --- packet selection --- */

/* Returns the host named by the first 'length' characters; negative if there is none. */
static int find_host(const struct topology *topology, const char *name, size_t length)
{
	char text[TOPOLOGY_NAME_MAX];

	if (length >= sizeof(text))
		return -1;
	memcpy(text, name, length);
	text[length] = '\0';
	return topology_find_host(topology, text);
}

static int choose_message(struct answer *answer, const char *text)
{
	const struct topology *topology = answer->subject.topology;
	const char *second = strchr(text, ':'), *third = strrchr(text, ':');
	int source = -1, destination = -1;
	unsigned long number;
	char *end;

	if (third == second || third[1] == '\0')
		return command_fail(COMMAND, EXIT_BAD_REQUEST,
			"--message %s: expected SOURCE:DESTINATION:NUMBER", text);
	/* A host's port name, such as h0:1, also contains a colon. */
	for (; second < third && (source < 0 || destination < 0);
		second = strchr(second + 1, ':')) {
		source = find_host(topology, text, (size_t)(second - text));
		destination = find_host(topology, second + 1, (size_t)(third - second - 1));
	}
	number = strtoul(third + 1, &end, 10);
	if (source < 0 || destination < 0 || *end != '\0')
		return command_fail(COMMAND, EXIT_BAD_REQUEST,
			"--message %s: expected two hosts of this topology and a number", text);
	answer->packet[0] = why_find_message(
		answer->why, (uint16_t)source, (uint16_t)destination, (uint32_t)number);
	answer->packets = answer->packet[0] != UINT32_MAX;
	return EXIT_DONE;
}

static int choose_frame(struct answer *answer, const char *text)
{
	const char *colon = strrchr(text, ':');
	char *end = NULL;
	unsigned long long number = colon == NULL ? 0 : strtoull(colon + 1, &end, 10);

	if (number == 0 || *end != '\0')
		return command_fail(
			COMMAND, EXIT_BAD_REQUEST, "--frame %s: expected FILE:NUMBER", text);
	for (uint32_t file = 0; file < answer->subject.files; file++) {
		const char *path = answer->subject.reader[file].path;

		if (strlen(path) != (size_t)(colon - text) || memcmp(path, text, strlen(path)) != 0)
			continue;
		answer->packet[0] = why_find_frame(answer->why, file, number);
		answer->packets = answer->packet[0] != UINT32_MAX;
		return EXIT_DONE;
	}
	return command_fail(
		COMMAND, EXIT_BAD_REQUEST, "--frame %s: this file is not among the FILEs", text);
}

static int choose(struct answer *answer, const struct request *request)
{
	if (request->message != NULL)
		return choose_message(answer, request->message);
	if (request->frame != NULL)
		return choose_frame(answer, request->frame);
	if (request->goal)
		answer->packets = why_critical_path(answer->why, PACKETS_MAX, answer->packet);
	else
		answer->packets = why_slowest(
			answer->why, request->slowest == 0 ? 10 : request->slowest, answer->packet);
	return EXIT_DONE;
}

/* --- causes --- */

static void merge_flow(struct cause *cause, const struct why_flow *flow)
{
	unsigned at = 0;

	while (at < WHY_FLOWS && cause->flow[at].ns != 0 &&
		(cause->flow[at].source != flow->source ||
			cause->flow[at].destination != flow->destination))
		at++;
	if (at == WHY_FLOWS || flow->ns == 0)
		return;
	cause->flow[at].source = flow->source;
	cause->flow[at].destination = flow->destination;
	cause->flow[at].ns += flow->ns;
}

static int compare_causes(const void *one, const void *other)
{
	const struct cause *a = one, *b = other;

	if (a->ns != b->ns)
		return a->ns > b->ns ? -1 : 1;
	return a->way < b->way ? -1 : a->way > b->way;
}

/* Adds the causes of the packet that is shown. */
static bool add_causes(struct answer *answer)
{
	const struct why_packet *packet = &answer->shown;

	answer->total_ns += packet->ns;
	for (unsigned i = 0; i < packet->pieces; i++) {
		const struct why_piece *piece = &packet->piece[i];
		uint32_t at = 0;

		answer->part_ns[piece->part] += piece->ns;
		if (piece->cause == WHY_CAUSE_NONE)
			continue;
		while (at < answer->causes && (answer->cause[at].cause != piece->cause ||
						      answer->cause[at].way != piece->cause_way))
			at++;
		if (at == answer->causes) {
			if (!array_reserve(
				    &answer->cause, &answer->room, at + 1u, sizeof(*answer->cause)))
				return false;
			answer->cause[answer->causes++] =
				(struct cause){.cause = piece->cause, .way = piece->cause_way};
		}
		answer->cause[at].ns += piece->ns;
		for (unsigned flow = 0; flow < WHY_FLOWS; flow++)
			merge_flow(&answer->cause[at], &piece->flow[flow]);
	}
	return true;
}

/* --- text --- */

static const char *host_name(const struct answer *answer, uint16_t host)
{
	return host < answer->subject.topology->hosts ? answer->subject.topology->host_at[host].name
						      : "?";
}

static void print_flows(const struct answer *answer, const struct why_flow *flow)
{
	for (unsigned i = 0; i < WHY_FLOWS && flow[i].ns != 0; i++)
		printf("%s%s to %s", i == 0 ? " behind " : ", ", host_name(answer, flow[i].source),
			host_name(answer, flow[i].destination));
}

static void print_piece(const struct answer *answer, const struct why_piece *piece)
{
	char port[AUDIT_WAY_NAME], from[32], time[32], bar[BAR + 1];
	uint64_t whole = answer->shown.ns == 0 ? 1 : answer->shown.ns;
	unsigned begin = (unsigned)(piece->from_ns * BAR / whole);
	unsigned end = (unsigned)((piece->from_ns + piece->ns) * BAR / whole);

	memset(bar, ' ', BAR);
	bar[BAR] = '\0';
	if (begin >= BAR)
		begin = BAR - 1;
	for (unsigned i = begin; i < BAR && (i < end || i == begin); i++)
		bar[i] = '=';
	printf("  %12s |%s| %-8s %-14s%12s", quantity_time_text(piece->from_ns, 6, from), bar,
		audit_way_name(answer->subject.topology, piece->way, port),
		why_part_name(piece->part), quantity_time_text(piece->ns, 6, time));
	print_flows(answer, piece->flow);
	if (piece->cause != WHY_CAUSE_NONE)
		printf(" (%s at %s)", why_cause_name(piece->cause),
			audit_way_name(answer->subject.topology, piece->cause_way, port));
	printf("\n");
}

static void print_packet(const struct answer *answer)
{
	const struct why_packet *packet = &answer->shown;
	char time[32];

	printf("%s to %s, message %" PRIu32 ", sequence %" PRIu32 ", %" PRIu32
	       " bytes: %s, delivered in frame %" PRIu64 " of %s\n",
		host_name(answer, packet->source), host_name(answer, packet->destination),
		packet->message, packet->sequence, packet->bytes,
		quantity_time_text(packet->ns, 6, time), packet->number,
		answer->subject.reader[packet->file].path);
	for (unsigned i = 0; i < packet->pieces; i++)
		print_piece(answer, &packet->piece[i]);
}

static unsigned percent(uint64_t part, uint64_t whole)
{
	return whole == 0 ? 0 : (unsigned)((100 * part + whole / 2) / whole);
}

static void print_summary(const struct answer *answer, bool goal)
{
	uint64_t whole = answer->total_ns + answer->computed_ns;
	char text[AUDIT_WAY_NAME];
	unsigned listed = 0;

	printf("%s %" PRIu32 " packet%s, %s:", goal ? "critical path:" : "time of", answer->packets,
		answer->packets == 1 ? "" : "s", quantity_time_text(whole, 6, text));
	for (unsigned part = 0; part < WHY_PART_COUNT; part++)
		if (answer->part_ns[part] != 0)
			printf("%s %u %% %s", listed++ == 0 ? "" : ",",
				percent(answer->part_ns[part], whole), why_part_name(part));
	if (goal)
		printf(", %u %% outside the fabric", percent(answer->computed_ns, whole));
	printf("\n");
	printf("causes:%s\n", answer->causes > 0        ? ""
			      : answer->missing != NULL ? " unknown"
							: " none, because nothing waited");
	for (uint32_t i = 0; i < answer->causes && i < CAUSES; i++) {
		const struct cause *cause = &answer->cause[i];

		printf("  %u. %3u %% %s at %s", i + 1, percent(cause->ns, whole),
			why_cause_name(cause->cause),
			audit_way_name(answer->subject.topology, cause->way, text));
		print_flows(answer, cause->flow);
		printf("\n");
	}
	if (answer->missing != NULL)
		printf("unknown: waits in devices whose ports are not all captured, because %s\n",
			answer->missing);
}

/* --- JSON --- */

static json_t *flows_json(const struct answer *answer, const struct why_flow *flow)
{
	json_t *list = json_array();

	for (unsigned i = 0; i < WHY_FLOWS && flow[i].ns != 0; i++)
		json_array_append_new(list,
			json_pack("{s:s,s:s,s:I}", "source", host_name(answer, flow[i].source),
				"destination", host_name(answer, flow[i].destination), "ns",
				(json_int_t)flow[i].ns));
	return list;
}

static json_t *cause_json(const struct answer *answer, enum why_cause cause, uint32_t way)
{
	char port[AUDIT_WAY_NAME];

	if (cause == WHY_CAUSE_NONE)
		return json_null();
	return json_pack("{s:s,s:s}", "kind", why_cause_name(cause), "port",
		audit_way_name(answer->subject.topology, way, port));
}

static json_t *packet_json(const struct answer *answer)
{
	const struct why_packet *packet = &answer->shown;
	json_t *parts = json_array();
	char port[AUDIT_WAY_NAME];

	for (unsigned i = 0; i < packet->pieces; i++) {
		const struct why_piece *piece = &packet->piece[i];

		json_array_append_new(parts,
			json_pack("{s:s,s:s,s:I,s:I,s:o,s:o}", "part", why_part_name(piece->part),
				"port", audit_way_name(answer->subject.topology, piece->way, port),
				"from_ns", (json_int_t)piece->from_ns, "ns", (json_int_t)piece->ns,
				"behind", flows_json(answer, piece->flow), "cause",
				cause_json(answer, piece->cause, piece->cause_way)));
	}
	return json_pack("{s:s,s:s,s:I,s:I,s:I,s:s,s:I,s:I,s:I,s:o}", "source",
		host_name(answer, packet->source), "destination",
		host_name(answer, packet->destination), "message", (json_int_t)packet->message,
		"sequence", (json_int_t)packet->sequence, "bytes", (json_int_t)packet->bytes,
		"file", answer->subject.reader[packet->file].path, "frame",
		(json_int_t)packet->number, "start_ns", (json_int_t)packet->start_ns, "ns",
		(json_int_t)packet->ns, "parts", parts);
}

static void print_document(const struct answer *answer, json_t *packets)
{
	json_t *causes = json_array(), *totals = json_object();

	for (unsigned part = 0; part < WHY_PART_COUNT; part++)
		json_object_set_new(totals, why_part_name(part),
			json_integer((json_int_t)answer->part_ns[part]));
	for (uint32_t i = 0; i < answer->causes; i++) {
		const struct cause *cause = &answer->cause[i];
		json_t *entry = cause_json(answer, cause->cause, cause->way);

		json_object_set_new(entry, "ns", json_integer((json_int_t)cause->ns));
		json_object_set_new(entry, "behind", flows_json(answer, cause->flow));
		json_array_append_new(causes, entry);
	}
	command_print_json(json_pack("{s:s,s:O,s:I,s:I,s:o,s:o,s:s?}", "weft", "why/1", "packets",
				   packets, "ns", (json_int_t)answer->total_ns, "outside_ns",
				   (json_int_t)answer->computed_ns, "parts", totals, "causes",
				   causes, "missing", answer->missing),
		0);
}

/* --- */

static int add(void *ctx, const struct audit_frame_at *frame)
{
	return why_add(ctx, frame);
}

static int explain(struct answer *answer, const struct request *request)
{
	json_t *packets = json_array();
	bool enough = true;
	uint64_t before_ns = 0;

	for (uint32_t i = 0; i < answer->packets && enough; i++) {
		why_explain(answer->why, answer->packet[i], &answer->shown);
		/* A path is listed backwards from its last message. */
		if (request->goal && i > 0)
			answer->computed_ns +=
				before_ns - answer->shown.start_ns - answer->shown.ns;
		before_ns = answer->shown.start_ns;
		enough = add_causes(answer);
		if (request->json)
			json_array_append_new(packets, packet_json(answer));
		else if (!request->goal)
			print_packet(answer);
	}
	qsort(answer->cause, answer->causes, sizeof(*answer->cause), compare_causes);
	if (enough && request->json)
		print_document(answer, packets);
	else if (enough)
		print_summary(answer, request->goal);
	json_decref(packets);
	return enough ? EXIT_DONE : command_fail(COMMAND, EXIT_NOT_ABLE, "out of memory");
}

static int answer_request(struct answer *answer, const struct request *request)
{
	int code;

	answer->missing = audit_ports_missing(&answer->subject);
	answer->why = why_create(&answer->subject.rules.rules, answer->subject.captured);
	if (answer->why == NULL || audit_subject_read(&answer->subject, add, answer->why) < 0 ||
		why_end(answer->why) < 0)
		return command_fail(COMMAND, EXIT_NOT_ABLE, "out of memory");
	code = choose(answer, request);
	if (code != EXIT_DONE)
		return code;
	if (answer->packets == 0)
		return command_fail(COMMAND, EXIT_BAD_ANSWER,
			why_count(answer->why) == 0
				? "no packet was captured at both its source and its destination"
				: "no such packet was captured at both its source and its destination");
	return explain(answer, request);
}

int cmd_why(int argc, char **argv)
{
	struct request request = {.slowest = 0};
	struct answer *answer;
	struct error error;
	int code, result;

	if (command_help(argc, argv, usage))
		return EXIT_DONE;
	code = parse(argc, argv, &request);
	if (code != EXIT_DONE)
		return code;
	answer = calloc(1, sizeof(*answer));
	if (answer == NULL)
		return command_fail(COMMAND, EXIT_NOT_ABLE, "out of memory");
	result = audit_subject_open(&answer->subject, &request.audit, &error);
	code = result < 0 ? (int)command_error(COMMAND, result, &error)
			  : answer_request(answer, &request);
	why_destroy(answer->why);
	free(answer->cause);
	free(answer->missing);
	audit_subject_close(&answer->subject);
	free(answer);
	return code;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "audit/audit.h"
#include "audit_subject.h"
#include "capture/pcapng.h"
#include "common/output_file.h"

/* weft audit: checks captures against the rules of the fabric (docs/man/weft-audit.1). */

/* weft audit --mark: copies the capture and appends each reported violation to the comment of its
 * frame, which the dissector displays. */

#define SNAP_BYTES 65536

/* Joins the existing comment of a packet and the violations of its frame. */
static void write_comment(const struct audit *audit, const struct capture_packet *packet,
	char comment[PCAPNG_COMMENT_MAX + 1])
{
	int used = snprintf(comment, PCAPNG_COMMENT_MAX + 1, "%.*s", (int)packet->comment_bytes,
		packet->comment != NULL ? packet->comment : "");

	for (unsigned kind = 0; kind < AUDIT_KIND_COUNT; kind++) {
		const struct audit_finding *finding = audit_finding(audit, kind);
		const struct audit_kind_words *words = audit_kind_words(kind);

		if (finding->count == 0 || finding->number != packet->number ||
			used >= PCAPNG_COMMENT_MAX)
			continue;
		used += snprintf(comment + used, (size_t)(PCAPNG_COMMENT_MAX + 1 - used),
			"%s" AUDIT_MARK "%u: %s: %s", used > 0 ? "; " : "", words->check,
			words->text, finding->text);
	}
}

static int copy(struct audit_subject *subject, const struct audit *audit, FILE *out)
{
	struct capture_reader *reader = &subject->reader[0];
	char comment[PCAPNG_COMMENT_MAX + 1];
	struct capture_packet packet;
	struct pcapng pcapng;
	int result = pcapng_begin(&pcapng, pcapng_write_stdio, out, "weft " WEFT_VERSION);

	for (uint32_t i = 0; result >= 0 && i < reader->interfaces; i++) {
		const struct capture_interface *from = &reader->interface[i];

		snprintf(comment, sizeof(comment), "%.*s", (int)from->filter_bytes,
			from->filter != NULL ? from->filter : "");
		pcapng.filter = from->filter != NULL ? comment : NULL;
		result = pcapng_add_interface(&pcapng, from->name, SNAP_BYTES, 0);
	}
	capture_reader_rewind(reader);
	while (result >= 0 && capture_reader_next(reader, &packet)) {
		write_comment(audit, &packet, comment);
		result = pcapng_write_packet(&pcapng,
			&(struct pcapng_packet){
				.interface = packet.interface,
				.direction = packet.direction == CAPTURE_IN    ? PCAPNG_IN
					     : packet.direction == CAPTURE_OUT ? PCAPNG_OUT
									       : PCAPNG_UNKNOWN,
				.time_ns = packet.time_ns,
				.bytes = packet.bytes,
				.captured_bytes = packet.captured_bytes,
				.frame_bytes = packet.frame_bytes,
				.comment = comment,
			});
	}
	for (uint32_t i = 0; result >= 0 && i < reader->interfaces; i++)
		if (reader->interface[i].received != UINT64_MAX)
			result = pcapng_write_counts(&pcapng, i, reader->ended_ns,
				reader->interface[i].received, reader->interface[i].dropped);
	return result < 0 ? result : 0;
}

/* Writes the copy of the subject's only file. Returns EXIT_DONE, or a code after an error. */
static int audit_mark_write(struct audit_subject *subject, const struct audit *audit,
	const char *path, const char *command)
{
	struct output_file output = {
		.command = command, .path = path, .inputs = {subject->reader[0].path}};
	int code = output_file_open(&output), result;

	if (code != EXIT_DONE)
		return code;
	result = copy(subject, audit, output.file);
	if (result == 0)
		return output_file_close(&output);
	output_file_discard(&output);
	return command_fail(command, EXIT_NOT_ABLE, "--mark %s: %s", path, strerror(-result));
}

#define COMMAND "audit"

static const char usage[] =
	"usage: weft audit FILE... --run RUN [--set KEY=VALUE]... [--partial] [--json]\n"
	"       weft audit FILE... --lab LAB [--partial] [--json]\n"
	"       weft audit FILE... --topology TOPO [--routes FILE] [--partial] [--json]\n"
	"\n"
	"Follows each frame of the captures from port to port and checks that the fabric\n"
	"followed its rules. FILE is a pcapng file from 'weft run --pcap' or 'weft lab\n"
	"capture', or a pcap or pcapng file that tcpdump captured on links.\n"
	"\n"
	"  --run FILE       the run file; --set changes keys, as with 'weft run'\n"
	"  --lab LAB        the lab file, or the name of a lab that is up\n"
	"  --topology TOPO  only a topology, without the settings of a run or lab\n"
	"  --routes FILE    its route file\n"
	"  --partial        accepts captures of some ports and lists the checks that are\n"
	"                   not possible\n"
	"  --json           prints a document\n"
	"  --mark OUT       writes a copy of the only FILE as pcapng, in which reported\n"
	"                   frames have the violation in their comment and in Wireshark's\n"
	"                   list of errors\n"
	"Exit: 0 no violation, 1 violations, 2 invalid request or file, 3 not possible on\n"
	"this machine.\n";

struct request {
	struct audit_request audit;
	const char *mark;
	bool json;
};

static int parse(int argc, char **argv, struct request *request)
{
	static const struct command_option options[] = {
		AUDIT_REQUEST_OPTIONS(struct request, audit),
		{"partial", 0, OPTION_SET(struct request, audit.partial)},
		{"json", 0, OPTION_SET(struct request, json)},
		{"mark", 0, OPTION_TEXT(struct request, mark)},
		{NULL},
	};
	int code = command_options(COMMAND, options, request, &argc, &argv);

	if (code != EXIT_DONE)
		return code;
	request->audit.file = (const char *const *)argv;
	request->audit.files = (uint32_t)argc;
	if (request->mark != NULL && argc > 1)
		return command_fail(COMMAND, EXIT_BAD_REQUEST,
			"--mark requires a single FILE, so that frames keep their numbers");
	return audit_request_check(&request->audit, COMMAND);
}

static int add(void *ctx, const struct audit_frame_at *frame)
{
	return audit_add(ctx, frame);
}

/* --- answers --- */

/* Sorts the kinds with violations by the time of the first violation. Returns their number. */
static unsigned sort(const struct audit *audit, enum audit_kind kinds[AUDIT_KIND_COUNT])
{
	unsigned count = 0;

	for (unsigned kind = 0; kind < AUDIT_KIND_COUNT; kind++) {
		const struct audit_finding *finding = audit_finding(audit, kind);
		unsigned at = count;

		if (finding->count == 0)
			continue;
		for (; at > 0 && audit_finding(audit, kinds[at - 1])->time_ns > finding->time_ns;
			at--)
			kinds[at] = kinds[at - 1];
		kinds[at] = kind;
		count++;
	}
	return count;
}

/* Lists the checks that cannot be made, and why. */
static json_t *list_unchecked(
	const struct audit_subject *subject, const struct audit_counts *counts)
{
	const struct audit_rules *rules = &subject->rules.rules;
	const struct topology *topology = subject->topology;
	json_t *list = json_array();
	uint32_t untimed = 0;

	for (uint32_t way = 0; way < 2 * topology->links; way++) {
		const char *part = subject->part[way];
		char name[AUDIT_WAY_NAME];

		if (subject->captured[way])
			continue;
		audit_way_name(topology, way, name);
		json_array_append_new(list,
			json_sprintf(
				"%s %s%s%s: checks of its device and link that require its frames (checks 1, 3, 4, 5, 7%s)",
				name,
				part == NULL ? "is not fully captured" : "is partly captured (",
				part == NULL ? "" : part, part == NULL ? "" : ")",
				part == NULL ? "" : ", 8"));
	}
	if (subject->cut)
		json_array_append_new(
			list, json_string("frames are truncated: payload CRCs (check 2)"));
	for (uint32_t i = 0; i < topology->links; i++)
		untimed += !rules->timed[i];
	if (untimed > 0)
		json_array_append_new(list,
			json_sprintf(
				"Weft does not control the rate and delay of %u of %u links: their timing (check 6)",
				untimed, topology->links));
	if (counts->unnumbered > 0)
		json_array_append_new(list,
			json_sprintf(
				"%" PRIu64 " of %" PRIu64
				" pairs of hosts sent fewer frames than nic.window since the capture started: their sequence numbers (check 8)",
				counts->unnumbered, counts->pairs));
	if (!rules->vcs_known)
		json_array_append_new(
			list, json_string("VCs and buffers are unknown (checks 2, 4, 5)"));
	if (rules->set == NULL && rules->table == NULL)
		json_array_append_new(list,
			json_string(
				"routes and tables are unknown: paths, except against a frame's own source route (check 3)"));
	if (!rules->exact)
		json_array_append_new(list,
			json_string(
				"exact credits and fairness, which require a single capture from the virtual clock (checks 4, 7)"));
	else if (!audit_judges_fairness(rules))
		json_array_append_new(list,
			json_string(
				"fairness, which requires VOQs, known VCs, and no adaptive routing or ITBs (check 7)"));
	return list;
}

static void print_json(const struct audit_subject *subject, const struct audit *audit,
	const enum audit_kind *kinds, unsigned count, json_t *unchecked)
{
	const struct audit_counts *counts = audit_counts(audit);
	uint64_t until_ns = subject->rules.rules.ended_ns;
	json_t *list = json_array();

	for (unsigned i = 0; i < count; i++) {
		const struct audit_finding *finding = audit_finding(audit, kinds[i]);
		const struct audit_kind_words *words = audit_kind_words(kinds[i]);

		json_array_append_new(
			list, json_pack("{s:i,s:s,s:s,s:I,s:s,s:I,s:I,s:s}", "check",
				      (int)words->check, "kind", words->name, "means", words->text,
				      "count", (json_int_t)finding->count, "file",
				      subject->reader[finding->file].path, "frame",
				      (json_int_t)finding->number, "time_ns",
				      (json_int_t)finding->time_ns, "text", finding->text));
	}
	command_print_json(
		json_pack("{s:s,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:o,s:I,s:o,s:O}", "weft",
			"audit/1", "frames", (json_int_t)counts->frames, "data",
			(json_int_t)counts->data, "delivered", (json_int_t)counts->delivered,
			"discarded", (json_int_t)counts->discarded, "refused",
			(json_int_t)counts->refused, "foreign", (json_int_t)counts->foreign,
			"under_way", (json_int_t)counts->under_way, "judged_from_ns",
			(json_int_t)subject->rules.rules.complete_ns, "before",
			(json_int_t)counts->before, "judged_until_ns",
			until_ns == UINT64_MAX ? json_null() : json_integer((json_int_t)until_ns),
			"after", (json_int_t)counts->after, "violations", list, "unchecked",
			unchecked),
		0);
}

static void print_text(const struct audit_subject *subject, const struct audit *audit,
	const enum audit_kind *kinds, unsigned count, json_t *unchecked)
{
	const struct audit_counts *counts = audit_counts(audit);

	for (unsigned i = 0; i < count; i++) {
		const struct audit_finding *finding = audit_finding(audit, kinds[i]);
		const struct audit_kind_words *words = audit_kind_words(kinds[i]);

		printf("%s: frame %" PRIu64 ", %" PRIu64 ".%09" PRIu64 " s: check %u: %s\n",
			subject->reader[finding->file].path, finding->number,
			finding->time_ns / 1000000000, finding->time_ns % 1000000000, words->check,
			words->text);
		printf("  %s\n", finding->text);
		if (finding->count > 1)
			printf("  and %" PRIu64 " more of this kind\n", finding->count - 1);
	}
	printf("frames           %" PRIu64 " captured, %" PRIu64 " of them data\n", counts->frames,
		counts->data);
	printf("data             %" PRIu64 " delivered, %" PRIu64 " discarded, %" PRIu64
	       " refused\n",
		counts->delivered, counts->discarded, counts->refused);
	printf("at the end       %" PRIu64 " frames in the fabric\n", counts->under_way);
	if (counts->before > 0)
		printf("judged from      %" PRIu64 ".%09" PRIu64
		       " s, when the capture of the last port starts; %" PRIu64 " earlier frames\n",
			subject->rules.rules.complete_ns / 1000000000,
			subject->rules.rules.complete_ns % 1000000000, counts->before);
	if (counts->after > 0)
		printf("judged until     %" PRIu64 ".%09" PRIu64
		       " s, when %s ends, the first capture to end; %" PRIu64 " later frames\n",
			subject->rules.rules.ended_ns / 1000000000,
			subject->rules.rules.ended_ns % 1000000000, subject->ends_first,
			counts->after);
	if (counts->foreign > 0)
		printf("other            %" PRIu64 " frames do not belong to Weft\n",
			counts->foreign);
	for (size_t i = 0; i < json_array_size(unchecked); i++)
		printf("not checked      %s\n", json_string_value(json_array_get(unchecked, i)));
	printf("violations       %s\n", count == 0 ? "none" : "see above");
}

/* Requires all frames of all ports, unless --partial is given. */
static int check_complete(const struct audit_subject *subject, const struct audit_request *request)
{
	char *missing = audit_ports_missing(subject);
	int code = EXIT_DONE;

	if (missing != NULL && !request->partial)
		code = command_fail(COMMAND, EXIT_BAD_REQUEST,
			"%s; use complete captures of all ports, or --partial", missing);
	else if (subject->cut && !request->partial)
		code = command_fail(COMMAND, EXIT_BAD_REQUEST,
			"frames in the captures are truncated; capture whole frames, or use "
			"--partial");
	free(missing);
	return code;
}

static int audit_subject_run(struct audit_subject *subject, const struct audit_request *request,
	bool json, const char *mark)
{
	enum audit_kind kinds[AUDIT_KIND_COUNT];
	struct audit *audit;
	json_t *unchecked;
	unsigned count;
	int code = check_complete(subject, request);

	if (code != EXIT_DONE)
		return code;
	audit = audit_create(&subject->rules.rules, subject->captured);
	if (audit == NULL || audit_subject_read(subject, add, audit) < 0) {
		audit_destroy(audit);
		return command_fail(COMMAND, EXIT_NOT_ABLE, "out of memory");
	}
	audit_end(audit);
	count = sort(audit, kinds);
	unchecked = list_unchecked(subject, audit_counts(audit));
	(json ? print_json : print_text)(subject, audit, kinds, count, unchecked);
	json_decref(unchecked);
	if (mark != NULL)
		code = audit_mark_write(subject, audit, mark, COMMAND);
	audit_destroy(audit);
	if (code != EXIT_DONE)
		return code;
	return count == 0 ? EXIT_DONE : EXIT_BAD_ANSWER;
}

int cmd_audit(int argc, char **argv)
{
	struct request request = {.json = false};
	struct audit_subject subject;
	struct error error;
	int code, result;

	if (command_help(argc, argv, usage))
		return EXIT_DONE;
	code = parse(argc, argv, &request);
	if (code != EXIT_DONE)
		return code;
	result = audit_subject_open(&subject, &request.audit, &error);
	code = result < 0 ? (int)command_error(COMMAND, result, &error)
			  : audit_subject_run(&subject, &request.audit, request.json, request.mark);
	audit_subject_close(&subject);
	return code;
}

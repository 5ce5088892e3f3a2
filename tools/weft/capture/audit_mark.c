/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "audit_mark.h"

#include <errno.h>
#include <string.h>

#include "capture/pcapng.h"
#include "common/output_file.h"

#define SNAP_BYTES 65536

/* The existing comment of a packet, and the violations of its frame. */
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

int audit_mark_write(struct audit_subject *subject, const struct audit *audit, const char *path,
	const char *command)
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

/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "virtual_capture.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "capture/pcapng.h"
#include "measure/capture_reason.h"
#include "setup/device_config.h"
#include "virtual_partitions.h"
#include "virtual_private.h"
#include "virtual_ranks.h"

#define HEADERS_MAX (FRAME_HEADER_BYTES + FRAME_ROUTE_MAX + FRAME_LATENCY_BYTES)

/* Wire format of a virtual fabric's packets and control frames (virtual_trace.h). */

/* Returns the number of bytes before a packet's payload. */
static unsigned virtual_capture_header_bytes(const struct virtual_trace_record *record)
{
	return FRAME_HEADER_BYTES + record->packet->route_length +
	       (record->extension != NULL ? FRAME_LATENCY_BYTES : 0);
}

/* Builds a packet's headers in 'frame', in front of a payload of zeros that must already be there.
 * Returns the frame's length in bytes, at most FRAME_BYTES_MAX. */
static unsigned virtual_capture_packet(uint8_t *frame, const struct virtual_trace_record *record)
{
	const struct weft_packet *packet = record->packet;
	unsigned headers = virtual_capture_header_bytes(record);
	const struct frame_fields fields = {
		.kind = (enum frame_kind)packet->kind,
		.source = packet->source,
		.destination = packet->destination,
		.sl = packet->sl,
		.vc = packet->header_vc,
		.vc_original = packet->vc_original,
		.flags = packet->flags,
		.message = packet->message,
		.sequence = packet->sequence,
		.injected_ns = packet->injected_ns,
		.route = packet->route,
		.route_length = packet->route_length,
		.payload_bytes = (uint16_t)(packet->bytes - headers),
	};
	unsigned bytes;

	memset(frame, 0, HEADERS_MAX);
	if (record->extension != NULL)
		memcpy(frame + headers - FRAME_LATENCY_BYTES, record->extension,
			FRAME_LATENCY_BYTES);
	bytes = frame_build(frame, &fields);
	frame_update_mutable(frame, packet->mutable_word);
	return bytes;
}

/* Builds a credit frame or an ARN. Returns its length in bytes. */
static unsigned virtual_capture_control(uint8_t *frame, const struct virtual_trace_record *record)
{
	struct frame_fields fields = {.kind = record->credit != NULL ? FRAME_CREDIT : FRAME_ARN,
		.source = FRAME_HOST_NONE,
		.destination = FRAME_HOST_NONE};
	uint8_t payload[CONTROL_CREDIT_BYTES_MAX];
	unsigned bytes;

	fields.payload_bytes =
		(uint16_t)(record->credit != NULL ? control_credit_encode(record->credit, payload)
						  : control_arn_encode(record->arn, payload));
	memcpy(frame + FRAME_HEADER_BYTES, payload, fields.payload_bytes);
	bytes = frame_build(frame, &fields);
	return bytes;
}

struct capture_file {
	char *path;
	struct capture_rotation rotation;
	FILE *out;  /* NULL: rank 0 writes it */
	int result; /* error from opening the next file */
	struct pcapng pcapng;
	struct capture_file *next;
};

struct captured_port {
	struct capture_file *file; /* NULL: not captured */
	uint32_t interface;
	uint64_t frames;
};

struct virtual_capture {
	struct virtual_fabric *fabric;
	uint32_t snap_bytes;
	const struct capture_filter *filter;    /* NULL: every frame */
	const struct capture_limits *limits;    /* NULL: none */
	char chosen[CAPTURE_FILTER_WORDS + 32]; /* which frames the files contain; "": all */
	struct capture_file *files;
	struct captured_port *port; /* switch ports by switch and port, followed by host ports */
	uint32_t ports;
	/* With several partitions: their records of this round and the last. In rank 0, its own
	 * partitions are followed by the other ranks'. */
	struct capture_log *log[2]; /* [side][logs] */
	unsigned logs;
	uint8_t (*frame)[FRAME_BYTES_MAX]; /* [partitions]: buffers to build frames in */
};

static uint32_t number_of(const struct virtual_capture *capture, const struct topology_port *at)
{
	return at->kind == DEVICE_HOST ? capture->fabric->switches * SWITCH_PORTS_MAX + at->device
				       : at->device * SWITCH_PORTS_MAX + at->port;
}

static struct captured_port *captured(
	const struct virtual_capture *capture, const struct topology_port *at)
{
	return &capture->port[number_of(capture, at)];
}

/* Returns false if rank 0 writes the records of this rank. */
static bool writes(const struct virtual_capture *capture)
{
	return !virtual_has_ranks(capture->fabric) || capture->fabric->partitions->ranks->own == 0;
}

static struct topology_port port_at(const struct virtual_capture *capture, uint32_t number)
{
	uint32_t hosts_at = capture->fabric->switches * SWITCH_PORTS_MAX;

	return number < hosts_at ? (struct topology_port){DEVICE_SWITCH, number / SWITCH_PORTS_MAX,
					   (uint8_t)(number % SWITCH_PORTS_MAX)}
				 : (struct topology_port){DEVICE_HOST, number - hosts_at, 0};
}

static void begin_port(struct virtual_capture *capture, uint32_t number)
{
	const struct topology *topology = capture->fabric->topology;
	const struct topology_port at = port_at(capture, number);
	const struct topology_link *link = topology_link_at(topology, at);
	struct captured_port *port = &capture->port[number];
	char name[TOPOLOGY_NAME_MAX + 8];
	int interface;

	topology_port_name(topology, at, name, sizeof(name));
	port->file->pcapng.filter = capture->chosen[0] != '\0' ? capture->chosen : NULL;
	interface = pcapng_add_interface(
		&port->file->pcapng, name, capture->snap_bytes, link != NULL ? link->rate_bps : 0);
	port->interface = interface > 0 ? (uint32_t)interface : 0;
}

static int begin_file(struct capture_file *file)
{
	int fd = capture_rotation_open(&file->rotation, O_TRUNC);

	file->out = fd < 0 ? NULL : fdopen(fd, "w");
	if (file->out == NULL)
		return fd < 0 ? fd : -errno;
	return pcapng_begin(&file->pcapng, pcapng_write_stdio, file->out, "weft " WEFT_VERSION);
}

static int next_file(struct virtual_capture *capture, struct capture_file *file)
{
	int result = file->pcapng.failed;

	if (fclose(file->out) != 0 && result == 0)
		result = -errno;
	if (result == 0)
		result = begin_file(file);
	for (uint32_t i = 0; i < capture->ports && result == 0; i++)
		if (capture->port[i].file == file)
			begin_port(capture, i);
	return result;
}

static void write_entry(struct virtual_capture *capture, const struct capture_entry *entry,
	const uint8_t *frame, const char *comment)
{
	struct captured_port *port = &capture->port[entry->port];
	struct capture_file *file = port->file;
	struct pcapng_packet packet = {
		.direction = entry->direction,
		.time_ns = entry->at / PS_PER_NS,
		.bytes = frame,
		.captured_bytes = entry->captured_bytes,
		.frame_bytes = entry->frame_bytes,
		.comment = comment,
	};

	if (file->out == NULL)
		return; /* the next file could not be opened */
	while (capture_rotation_is_due(
		&file->rotation, packet.time_ns, pcapng_packet_bytes(&packet)))
		if ((file->result = next_file(capture, file)) < 0)
			return;
	packet.interface = port->interface;
	pcapng_write_packet(&file->pcapng, &packet);
	if (capture_rotates(&file->rotation))
		file->rotation.bytes = (uint64_t)ftell(file->out);
	port->frames++;
}

/* Call when the headers of 'frame' are complete, except its addresses. */
static bool wants(const struct virtual_capture *capture, const uint8_t *frame, unsigned frame_bytes)
{
	return capture->filter == NULL ||
	       capture_filter_matches(capture->filter, NULL, frame, frame_bytes);
}

/* Writes the frame, or keeps it until the frames of the other partitions are known. */
static void take_frame(struct virtual_capture *capture, const struct virtual_trace_record *record,
	unsigned frame_bytes, unsigned kept_bytes)
{
	struct virtual_fabric *partition = virtual_partition_at(capture->fabric, record->partition);
	struct capture_entry entry = {.at = record->now,
		.order = record->order,
		.device = record->at.device +
			  (record->at.kind == DEVICE_HOST ? capture->fabric->switches : 0),
		.port = number_of(capture, &record->at),
		.frame_bytes = frame_bytes,
		.captured_bytes =
			kept_bytes < capture->snap_bytes ? kept_bytes : capture->snap_bytes,
		.direction = record->gone  ? PCAPNG_UNKNOWN
			     : record->out ? PCAPNG_OUT
					   : PCAPNG_IN};
	struct capture_state state;
	char comment[128];

	virtual_trace_state(capture->fabric, record, &state);
	if (capture->filter != NULL && capture->filter->dropped &&
		!capture_reason_drops(state.reason))
		return;
	capture_state_format(&state, capture_reason_text, comment, sizeof(comment));
	if (partition->partitions == NULL) {
		write_entry(capture, &entry, capture->frame[0], comment);
		return;
	}
	entry.pause = partition->partitions->pauses;
	entry.comment_bytes = (uint32_t)strlen(comment) + 1;
	if (capture_log_add(&capture->log[partition->partitions->worker[record->partition].side]
					 [record->partition],
		    &entry, capture->frame[record->partition], comment) < 0)
		partition->failed = true;
}

/* Writes the addresses of the link's ends, as on the real clock. */
static void write_addresses(const struct virtual_capture *capture,
	const struct virtual_trace_record *record, uint8_t *frame)
{
	struct topology_port peer = record->at;
	const struct topology_port *from = record->out ? &record->at : &peer;
	const struct topology_port *to = record->out ? &peer : &record->at;

	topology_peer(capture->fabric->topology, record->at, &peer);
	frame_port_address(device_config_identity(to), to->port, FRAME_FABRIC_NONE, frame);
	frame_port_address(device_config_identity(from), from->port, FRAME_FABRIC_NONE, frame + 6);
}

/* A virtual_trace_fn. */
static void see(void *ctx, const struct virtual_trace_record *record)
{
	struct virtual_capture *capture = ctx;
	uint8_t *frame = capture->frame[record->partition];
	unsigned bytes;

	if (captured(capture, &record->at)->file == NULL)
		return;
	if (record->packet != NULL) {
		bytes = virtual_capture_packet(frame, record);
		if (!wants(capture, frame, bytes))
			return;
		write_addresses(capture, record, frame);
		take_frame(capture, record, bytes, virtual_capture_header_bytes(record));
		return;
	}
	bytes = virtual_capture_control(frame, record);
	if (wants(capture, frame, bytes)) {
		write_addresses(capture, record, frame);
		take_frame(capture, record, bytes, bytes);
	}
	memset(frame, 0, bytes); /* packet payloads must be zeros */
}

static void write_logs(struct virtual_capture *capture, unsigned side)
{
	const struct capture_entry *entry;
	const uint8_t *frame;
	const char *comment;

	while ((entry = capture_log_take(capture->log[side], capture->logs, &frame, &comment)) !=
		NULL)
		write_entry(capture, entry, frame, comment);
}

/* --- several ranks --- */

/* A virtual_append_fn: appends the logs of all partitions, each after its size; empties them. */
static int append_logs(void *ctx, unsigned side, struct ranks_message *message)
{
	struct virtual_capture *capture = ctx;

	for (unsigned i = 0; i < capture->logs; i++) {
		struct capture_log *log = &capture->log[side][i];
		uint64_t used = log->used;
		uint8_t *out = ranks_append(message, sizeof(used) + used);

		if (out == NULL)
			return -ENOMEM;
		memcpy(out, &used, sizeof(used));
		if (used > 0)
			memcpy(out + sizeof(used), log->bytes, used);
		log->used = 0;
	}
	return 0;
}

/* Reads the logs that a rank appended. Returns 0, -EINVAL or -ENOMEM. */
static int read_logs(
	struct virtual_capture *capture, unsigned side, unsigned rank, struct ranks_reader *reader)
{
	unsigned own = virtual_partitions_count(capture->fabric);
	unsigned first = virtual_ranks_first(capture->fabric->partitions, rank);
	int result = 0;

	for (unsigned i = 0; i < own && result == 0; i++) {
		const void *size = ranks_take(reader, sizeof(uint64_t)), *bytes;
		uint64_t used;

		if (size == NULL)
			return -EINVAL;
		memcpy(&used, size, sizeof(used));
		bytes = ranks_take(reader, used);
		result = bytes == NULL ? -EINVAL
				       : capture_log_copy(&capture->log[side][first + i], bytes,
						 used, capture->ports);
	}
	return result == 0 && reader->left > 0 ? -EINVAL : result;
}

/* A virtual_round_fn: writes the frames of a round from all partitions of all ranks. */
static void write_round(void *ctx, unsigned side)
{
	struct virtual_capture *capture = ctx;
	struct virtual_partitions *partitions = capture->fabric->partitions;
	unsigned ranks = partitions->ranks != NULL ? partitions->ranks->count : 1;

	for (unsigned rank = 1; rank < ranks && !partitions->ranks->failed; rank++) {
		struct ranks_reader rest;
		int result = virtual_ranks_rest(partitions, rank, &rest) ? 0 : -EINVAL;

		if (result == 0)
			result = read_logs(capture, side, rank, &rest);
		if (result == -EINVAL)
			partitions->garbled = true;
		if (result < 0) {
			capture->fabric->failed = true;
			return;
		}
	}
	write_logs(capture, side);
}

/* Writes frames after the last round, such as a watchdog's. Returns 0, or -EIO with error set. */
static int write_rest(struct virtual_capture *capture, struct error *error)
{
	struct virtual_partitions *partitions = capture->fabric->partitions;
	unsigned side = partitions->worker[0].side;
	struct ranks *ranks = partitions->ranks;

	if (!writes(capture) && append_logs(capture, side, &ranks->out[0]) < 0)
		ranks_fail(ranks, "not enough memory for messages");
	if (ranks != NULL && ranks_exchange(ranks) == 0 && writes(capture))
		for (unsigned rank = 1; rank < ranks->count && !ranks->failed; rank++) {
			struct ranks_reader reader = {ranks->in[rank].bytes, ranks->in[rank].used};

			if (read_logs(capture, side, rank, &reader) < 0)
				ranks_fail(ranks, "another rank's capture is invalid");
		}
	if (ranks != NULL && ranks->failed) {
		*error = ranks->error;
		return -EIO;
	}
	if (writes(capture))
		write_logs(capture, side);
	return 0;
}

/* --- opening and closing --- */

/* Returns 0 or -ENOMEM. */
static int open_parts(struct virtual_capture *capture)
{
	struct virtual_partitions *of = capture->fabric->partitions;
	unsigned partitions = virtual_partitions_count(capture->fabric);

	capture->logs = writes(capture) ? virtual_partitions_in_all(capture->fabric) : partitions;
	capture->frame = calloc(partitions, sizeof(*capture->frame));
	capture->log[0] = calloc(capture->logs, sizeof(*capture->log[0]));
	capture->log[1] = calloc(capture->logs, sizeof(*capture->log[1]));
	if (capture->frame == NULL || capture->log[0] == NULL || capture->log[1] == NULL)
		return -ENOMEM;
	if (of != NULL) {
		of->each_round = writes(capture) ? write_round : NULL;
		of->append = writes(capture) ? NULL : append_logs;
		of->round_ctx = capture;
	}
	return 0;
}

static void close_parts(struct virtual_capture *capture)
{
	for (unsigned side = 0; side < 2; side++) {
		for (unsigned i = 0; capture->log[side] != NULL && i < capture->logs; i++)
			capture_log_free(&capture->log[side][i]);
		free(capture->log[side]);
	}
	free(capture->frame);
	if (capture->fabric->partitions != NULL) {
		capture->fabric->partitions->each_round = NULL;
		capture->fabric->partitions->append = NULL;
	}
}

/* Credit frames sent at the same time over a link without delay have no defined order, so
 * partitions could not preserve it. */
static bool has_instant_link(const struct topology *topology)
{
	for (uint32_t i = 0; i < topology->links; i++)
		if (topology->link_at[i].delay_ps == 0)
			return true;
	return false;
}

struct virtual_capture *virtual_capture_create(struct virtual_fabric *fabric, uint32_t snap_bytes,
	const struct capture_filter *filter, struct error *error)
{
	struct virtual_capture *capture = calloc(1, sizeof(*capture));
	uint32_t ports = fabric->switches * SWITCH_PORTS_MAX + fabric->hosts;
	char text[VIRTUAL_PARTITIONS_TEXT];

	if (fabric->partitions != NULL && has_instant_link(fabric->topology)) {
		error_set(error, EINVAL,
			"%s: captures (--pcap) of links without delay need a single worker",
			virtual_partitions_text(fabric, text));
		free(capture);
		errno = EINVAL;
		return NULL;
	}
	if (capture != NULL) {
		capture->port = calloc(ports + 1, sizeof(*capture->port));
		capture->ports = ports;
		capture->fabric = fabric;
	}
	if (capture == NULL || capture->port == NULL || open_parts(capture) < 0) {
		error_set(error, ENOMEM, "not enough memory for captures");
		if (capture != NULL)
			virtual_capture_destroy(capture);
		errno = ENOMEM;
		return NULL;
	}
	capture->snap_bytes = snap_bytes != 0 ? snap_bytes : FRAME_BYTES_MAX;
	capture->filter = filter;
	if (filter != NULL)
		snprintf(capture->chosen, sizeof(capture->chosen), "%s", filter->text);
	virtual_fabric_trace(fabric, see, capture);
	return capture;
}

static int file_open(struct virtual_capture *capture, const char *path, struct capture_file **file,
	struct error *error)
{
	struct capture_file *made;
	int result = -ENOMEM;

	for (*file = capture->files; *file != NULL; *file = (*file)->next)
		if (strcmp((*file)->path, path) == 0)
			return 0;
	made = calloc(1, sizeof(*made));
	if (made != NULL && (made->path = strdup(path)) != NULL)
		result = 0;
	if (result == 0 && writes(capture)) {
		made->rotation =
			(struct capture_rotation){.limits = capture->limits, .path = made->path};
		result = begin_file(made);
	}
	if (result < 0) {
		if (made != NULL)
			free(made->path);
		free(made);
		return error_set(
			error, -result, "%s: cannot write a capture: %s", path, strerror(-result));
	}
	made->next = capture->files;
	*file = capture->files = made;
	return 0;
}

static void add_port(
	struct virtual_capture *capture, const struct topology_port *at, struct capture_file *file)
{
	*captured(capture, at) = (struct captured_port){.file = file};
	if (file->out != NULL)
		begin_port(capture, number_of(capture, at));
}

static int add_all(struct virtual_capture *capture, const char *path, struct error *error)
{
	const struct topology *topology = capture->fabric->topology;
	struct capture_file *file;
	int result = file_open(capture, path, &file, error);

	for (uint32_t i = 0; i < topology->links && result == 0; i++) {
		const struct topology_port *end[] = {
			&topology->link_at[i].a, &topology->link_at[i].b};

		for (unsigned k = 0; k < 2; k++)
			if (captured(capture, end[k])->file == NULL)
				add_port(capture, end[k], file);
	}
	return result;
}

void virtual_capture_rotate(struct virtual_capture *capture, const struct capture_limits *limits)
{
	capture->limits = limits;
	snprintf(capture->chosen + strlen(capture->chosen),
		sizeof(capture->chosen) - strlen(capture->chosen), "%s--rotate",
		capture->chosen[0] != '\0' ? " " : "");
}

int virtual_capture_add(struct virtual_capture *capture, const char *port_name, const char *path,
	struct error *error)
{
	const struct topology *topology = capture->fabric->topology;
	struct capture_file *file;
	struct topology_port at;
	int result;

	if (strcmp(port_name, "all") == 0)
		return add_all(capture, path, error);
	if (topology_find_port(topology, port_name, &at) < 0 ||
		topology_link_at(topology, at) == NULL)
		return error_set(error, ENOENT, "%s: no such port here", port_name);
	if (captured(capture, &at)->file != NULL)
		return error_set(error, EINVAL, "%s: is already being captured", port_name);
	result = file_open(capture, path, &file, error);
	if (result == 0)
		add_port(capture, &at, file);
	return result;
}

int virtual_capture_end(struct virtual_capture *capture, struct error *error)
{
	int result = capture->fabric->partitions != NULL ? write_rest(capture, error) : 0;

	if (result < 0 || !writes(capture))
		return result;
	for (uint32_t i = 0; i < capture->ports; i++)
		if (capture->port[i].file != NULL && capture->port[i].file->out != NULL)
			pcapng_write_counts(&capture->port[i].file->pcapng,
				capture->port[i].interface, capture->fabric->now / PS_PER_NS,
				capture->port[i].frames, 0);
	for (struct capture_file *file = capture->files; file != NULL; file = file->next) {
		int failed = file->result < 0 ? file->result : file->pcapng.failed;

		if (file->out != NULL && fclose(file->out) != 0 && failed == 0)
			failed = -errno;
		file->out = NULL;
		if (failed < 0 && failed != -EPIPE && result == 0)
			result = error_set(error, EIO, "%s: the capture is incomplete: %s",
				file->path, strerror(-failed));
	}
	return result;
}

void virtual_capture_destroy(struct virtual_capture *capture)
{
	struct capture_file *next;

	if (capture == NULL)
		return;
	virtual_fabric_trace(capture->fabric, NULL, NULL);
	for (struct capture_file *file = capture->files; file != NULL; file = next) {
		next = file->next;
		if (file->out != NULL)
			fclose(file->out);
		free(file->path);
		free(file);
	}
	close_parts(capture);
	free(capture->port);
	free(capture);
}

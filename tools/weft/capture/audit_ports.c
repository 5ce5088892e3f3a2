/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "audit_subject.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/quantity.h"
#include "base/rng.h"
#include "wire/frame.h"

/* Bits of audit_subject.wired: kinds of frames that were captured on a wire. */
enum { WIRED = 1, WIRED_DATA = 2, WIRED_CREDIT = 4 };

const char *audit_way_name(const struct topology *topology, uint32_t way, char text[AUDIT_WAY_NAME])
{
	const struct topology_link *link = &topology->link_at[way / 2];

	topology_port_name(topology, way % 2 == 0 ? link->a : link->b, text, AUDIT_WAY_NAME);
	return text;
}

uint32_t audit_sender_of(const struct topology *topology, const struct capture_packet *packet)
{
	const uint8_t *from = packet->bytes + 6;
	struct topology_port port = {.kind = DEVICE_HOST};

	if (packet->captured_bytes < 14 || (from[0] != 0x02 && from[0] != 0x12))
		return AUDIT_NO_WAY;
	port.device = (uint32_t)(from[1] << 8 | from[2]);
	if (from[0] == 0x02) {
		/* Switch identities start at 1. */
		if (port.device-- == 0)
			return AUDIT_NO_WAY;
		port.kind = DEVICE_SWITCH;
		port.port = from[3];
	}
	if (port.device >= (port.kind == DEVICE_HOST ? topology->hosts : topology->switches) ||
		port.port >= TOPOLOGY_PORTS_MAX || topology_link_at(topology, port) == NULL)
		return AUDIT_NO_WAY;
	return topology_way_at(topology, port);
}

/* --- missing frames --- */

static void set_lack(struct audit_interface *interface, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void set_lack(struct audit_interface *interface, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	if (vasprintf(&interface->lack, format, args) < 0)
		interface->lack = NULL;
	va_end(args);
	/* Text from a file may contain any bytes. */
	for (char *at = interface->lack; at != NULL && *at != '\0'; at++)
		*at = *at < ' ' || *at > '~' ? '?' : *at;
}

/* Uses the file's own description of the interface. Weft ends the capture of each port with exact
 * frame counts. They do not match if another program removed some frames. */
static void find_lack(
	const struct capture_interface *from, bool port, struct audit_interface *interface)
{
	uint64_t kept = from->received - from->dropped;

	if (from->filter != NULL)
		set_lack(interface, "only frames selected with %.*s were captured",
			(int)from->filter_bytes, from->filter);
	else if (from->dropped > 0)
		set_lack(interface, "%" PRIu64 " frames were dropped", from->dropped);
	else if (port && from->received == UINT64_MAX)
		set_lack(interface,
			"the frame count is unknown: the capture did not end cleanly, or another program rewrote it");
	else if (port && kept != from->packets)
		set_lack(interface,
			"%" PRIu64 " frames were captured, but the file contains %" PRIu64, kept,
			from->packets);
}

static bool is_of_weft(const struct capture_packet *packet)
{
	return packet->captured_bytes >= FRAME_HEADER_BYTES &&
	       packet->bytes[12] == FRAME_ETHERTYPE >> 8 &&
	       packet->bytes[13] == (FRAME_ETHERTYPE & 0xFF);
}

/* The audit needs headers, and the credits and acknowledgements in control frames. On the virtual
 * clock, data frames have no payload. */
static void note_cut(struct audit_subject *subject, struct audit_interface *interface,
	const struct capture_packet *packet)
{
	const struct frame_header *header = frame_header_const(packet->bytes);
	bool whole = header->kind == FRAME_CREDIT || header->kind == FRAME_ACK;

	if (packet->captured_bytes == packet->frame_bytes)
		return;
	if (whole || packet->captured_bytes < frame_payload_offset(header)) {
		if (interface->lack == NULL)
			set_lack(interface, "frames were truncated to %" PRIu32 " bytes",
				packet->captured_bytes);
	} else {
		subject->cut |= !subject->virtual && header->kind == FRAME_DATA;
	}
}

/* --- captures of a different fabric --- */

static int check_rate(const struct audit_subject *subject, uint32_t file,
	const struct capture_interface *from, uint32_t way, struct error *error)
{
	uint64_t rate_bps = subject->topology->link_at[way / 2].rate_bps;
	char there[QUANTITY_TEXT], here[QUANTITY_TEXT];

	if (subject->run == NULL || from->rate_bps == 0 || from->rate_bps == rate_bps)
		return 0;
	quantity_format(QUANTITY_RATE, from->rate_bps, there);
	quantity_format(QUANTITY_RATE, rate_bps, here);
	return error_set(error, EINVAL,
		"%s: the rate of %s is %s, but should be %s; the capture is from a different "
		"fabric",
		subject->reader[file].path, from->name, there, here);
}

/* The source address of a frame identifies the sending port and the fabric. */
static int check_sender(const struct audit_subject *subject, uint32_t file,
	const struct capture_packet *packet, uint32_t way, struct error *error)
{
	const uint8_t *from = packet->bytes + 6;
	uint32_t expected = packet->direction == CAPTURE_OUT ? way : way ^ 1;
	uint32_t sender = audit_sender_of(subject->topology, packet);
	char name[AUDIT_WAY_NAME], other[AUDIT_WAY_NAME] = "a port that is not in the topology";
	char right[AUDIT_WAY_NAME];
	unsigned fabric = (unsigned)(from[4] << 8 | from[5]);

	/* No run or lab has numbered a port with any other address. */
	if (from[0] != 0x02 && from[0] != 0x12)
		return 0;
	audit_way_name(subject->topology, way, name);
	if (subject->fabric != 0 && fabric != subject->fabric)
		return error_set(error, EINVAL,
			"%s: frame %" PRIu64
			" of %s belongs to fabric %u, not %u; the capture is from a different fabric",
			subject->reader[file].path, packet->number, name, fabric, subject->fabric);
	if (sender == expected)
		return 0;
	if (sender != AUDIT_NO_WAY)
		audit_way_name(subject->topology, sender, other);
	return error_set(error, EINVAL,
		"%s: frame %" PRIu64
		" of %s was sent by %s, not %s; the capture is from a different fabric",
		subject->reader[file].path, packet->number, name, other,
		audit_way_name(subject->topology, expected, right));
}

/* --- ports --- */

static int refuse_twice(const struct audit_subject *subject, uint32_t file, uint32_t other,
	uint32_t way, struct error *error)
{
	char name[AUDIT_WAY_NAME];

	return error_set(error, EINVAL, "%s: contains frames of %s, and so does %s",
		subject->reader[file].path, audit_way_name(subject->topology, way, name),
		subject->reader[other].path);
}

/* A name with a colon is a port name. */
static int find_port(struct audit_subject *subject, uint32_t file, uint32_t interface,
	uint32_t *owner, struct error *error)
{
	const struct topology *topology = subject->topology;
	const struct capture_interface *from = &subject->reader[file].interface[interface];
	struct audit_interface *to = &subject->capture[file].interface[interface];
	bool is_port = strchr(from->name, ':') != NULL;
	struct topology_port port;

	to->way = AUDIT_NO_WAY;
	find_lack(from, is_port, to);
	if (!is_port)
		return 0;
	if (topology_find_port(topology, from->name, &port) < 0 ||
		topology_link_at(topology, port) == NULL)
		return error_set(error, EINVAL, "%s: interface %s: no such port in this topology",
			subject->reader[file].path, from->name);
	to->way = topology_way_at(topology, port);
	if (subject->captured[to->way])
		return refuse_twice(subject, file, owner[to->way], to->way, error);
	subject->captured[to->way] = true;
	owner[to->way] = file;
	return check_rate(subject, file, from, to->way, error);
}

/* Checks a frame of a port, or of a wire, where the addresses name the ports. Returns 1 if the
 * frame belongs to a port of this topology. */
static int look(struct audit_subject *subject, uint32_t file, const struct capture_packet *packet,
	uint32_t *owner, struct error *error)
{
	struct audit_interface *interface = &subject->capture[file].interface[packet->interface];
	uint32_t way = interface->way;
	int result;
	bool refused = packet->comment != NULL &&
		       memmem(packet->comment, packet->comment_bytes, "refused: ", 9) != NULL;

	if (!is_of_weft(packet))
		return 0;
	if (!refused)
		note_cut(subject, interface, packet);
	if (way != AUDIT_NO_WAY)
		return refused || (result = check_sender(subject, file, packet, way, error)) == 0
			       ? 1
			       : result;
	way = audit_sender_of(subject->topology, packet);
	if (way == AUDIT_NO_WAY)
		return 0;
	if ((subject->captured[way] || subject->wired[way]) && owner[way] != file)
		return refuse_twice(subject, file, owner[way], way, error);
	subject->wired[way] |= WIRED;
	if (frame_header_const(packet->bytes)->kind == FRAME_DATA)
		subject->wired[way] |= WIRED_DATA;
	else if (frame_header_const(packet->bytes)->kind == FRAME_CREDIT)
		subject->wired[way] |= WIRED_CREDIT;
	owner[way] = file;
	subject->rules.timed[way / 2] = false;
	return 1;
}

/* --- duplicate frames --- */

#define RECENT 4096u

/* Without port names, each frame counts as captured on a wire, where it occurs once. */
struct repeats {
	uint64_t recent[RECENT]; /* hashes */
	struct {
		uint32_t data, again;
	} way[];
};

static void note_repeat(struct repeats *repeats, uint32_t way, const struct capture_packet *packet)
{
	uint64_t hash = byte_hash(way, packet->bytes, FRAME_HEADER_BYTES);

	repeats->way[way].data++;
	repeats->way[way].again += repeats->recent[hash % RECENT] == hash;
	repeats->recent[hash % RECENT] = hash;
}

static int refuse_repeats(const struct audit_subject *subject, uint32_t file,
	const struct repeats *repeats, struct error *error)
{
	char name[AUDIT_WAY_NAME];

	for (uint32_t way = 0; way < 2 * subject->topology->links; way++)
		if (3 * (uint64_t)repeats->way[way].again > repeats->way[way].data)
			return error_set(error, EINVAL,
				"%s: contains the data frames of %s twice but no port names, as "
				"after 'editcap -F pcap'; use the original capture",
				subject->reader[file].path,
				audit_way_name(subject->topology, way, name));
	return 0;
}

/* Ports with missing frames count as not captured. */
static void note_parts(struct audit_subject *subject, uint32_t file, const uint32_t *owner)
{
	for (uint32_t i = 0; i < subject->reader[file].interfaces; i++) {
		const struct audit_interface *interface = &subject->capture[file].interface[i];

		for (uint32_t way = 0; way < 2 * subject->topology->links; way++)
			if (interface->lack != NULL && owner[way] == file &&
				(interface->way == way ||
					(interface->way == AUDIT_NO_WAY && subject->wired[way]))) {
				subject->captured[way] = false;
				subject->wired[way] = 0;
				subject->part[way] = interface->lack;
			}
	}
}

/* A port counts as captured if both directions of its link are. A file written by another program
 * does not state how its frames were selected, but credit frames follow data frames. */
static void join_wire(struct audit_subject *subject, uint32_t way)
{
	unsigned out = subject->wired[way], in = subject->wired[way ^ 1];

	if (((out & WIRED_DATA) != 0 && (in & WIRED_CREDIT) == 0) ||
		((in & WIRED_DATA) != 0 && (out & WIRED_CREDIT) == 0))
		subject->part[way] = "data without credit frames";
	else
		subject->captured[way] |= out != 0 && in != 0;
}

static int find_file(
	struct audit_subject *subject, uint32_t file, uint32_t *owner, struct error *error)
{
	struct capture_reader *reader = &subject->reader[file];
	struct repeats *repeats = calloc(
		1, sizeof(*repeats) + 2 * subject->topology->links * sizeof(repeats->way[0]));
	struct capture_packet packet;
	bool wires = false, any = false;
	int result = 0;

	subject->capture[file].interface =
		calloc(reader->interfaces + 1u, sizeof(struct audit_interface));
	if (subject->capture[file].interface == NULL || repeats == NULL) {
		free(repeats);
		return error_set(error, ENOMEM, "out of memory");
	}
	for (uint32_t i = 0; i < reader->interfaces && result == 0; i++) {
		result = find_port(subject, file, i, owner, error);
		wires |= subject->capture[file].interface[i].way == AUDIT_NO_WAY;
	}
	while (result == 0 && capture_reader_next(reader, &packet)) {
		int seen = look(subject, file, &packet, owner, error);

		any |= seen > 0;
		result = seen < 0 ? seen : 0;
		if (seen > 0 && frame_header_const(packet.bytes)->kind == FRAME_DATA &&
			subject->capture[file].interface[packet.interface].way == AUDIT_NO_WAY)
			note_repeat(repeats, audit_sender_of(subject->topology, &packet), &packet);
	}
	if (result == 0)
		result = refuse_repeats(subject, file, repeats, error);
	free(repeats);
	capture_reader_rewind(reader);
	if (result == 0 && wires && !any)
		return error_set(error, EINVAL,
			"%s: no frame belongs to a port of this topology; use a capture of a "
			"port or a link",
			reader->path);
	note_parts(subject, file, owner);
	return result;
}

int audit_ports_find(struct audit_subject *subject, uint32_t *owner, struct error *error)
{
	int result = 0;

	for (uint32_t file = 0; file < subject->files && result == 0; file++)
		result = find_file(subject, file, owner, error);
	for (uint32_t way = 0; way < 2 * subject->topology->links && result == 0; way++)
		join_wire(subject, way);
	return result;
}

char *audit_ports_missing(const struct audit_subject *subject)
{
	uint32_t ways = 2 * subject->topology->links, missing = 0, first = 0;
	char name[AUDIT_WAY_NAME], *text = NULL;
	const char *why;

	for (uint32_t way = ways; way-- > 0;)
		if (!subject->captured[way]) {
			missing++;
			first = way;
		}
	why = subject->part[first];
	if (missing > 0 &&
		asprintf(&text,
			"%u of %u ports are missing or incomplete in the captures; the first is %s%s%s%s",
			missing, ways, audit_way_name(subject->topology, first, name),
			why != NULL ? " (" : "", why != NULL ? why : "",
			why != NULL ? ")" : "") < 0)
		text = NULL;
	return text;
}

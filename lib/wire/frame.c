/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "frame.h"

#include <arpa/inet.h>

#include "base/name_table.h"
#include "frame_check.h"

const char *frame_fault_name(enum frame_fault fault)
{
	static const char *const name[] = {FRAME_FAULTS(WORD_TEXT)};

	return (unsigned)fault < FRAME_FAULT_COUNT ? name[fault] : "unknown";
}

static void pad_route(const uint8_t *frame, uint64_t route[4])
{
	memset(route, 0, 4 * sizeof(route[0]));
	memcpy(route, frame + FRAME_HEADER_BYTES, frame_header_const(frame)->route_length);
}

unsigned frame_payload_end(const uint8_t *frame)
{
	const struct frame_header *header = frame_header_const(frame);

	return frame_payload_offset(header) + ntohs(header->payload_bytes_be);
}

/* Returns the CRC with a route longer than FRAME_ROUTE_USUAL. The end of the route is processed
 * first, so all other bytes have their usual positions. */
static uint16_t long_route_crc(const uint8_t *frame)
{
	const struct frame_header *header = frame_header_const(frame);
	uint8_t covered[2 * FRAME_ROUTE_USUAL + sizeof(*header)] = {0};

	memcpy(covered, frame + FRAME_HEADER_BYTES + FRAME_ROUTE_USUAL,
		header->route_length - FRAME_ROUTE_USUAL);
	memcpy(covered + FRAME_ROUTE_USUAL, frame + FRAME_HEADER_BYTES, FRAME_ROUTE_USUAL);
	memcpy(covered + 2 * FRAME_ROUTE_USUAL, header, offsetof(struct frame_header, crc_be));
	return crc16(covered, sizeof(covered));
}

uint16_t frame_header_crc(const uint8_t *frame)
{
	uint64_t route[4];

	if (frame_header_const(frame)->route_length > FRAME_ROUTE_USUAL)
		return long_route_crc(frame);

	if (frame_header_const(frame)->route_length == 0)
		return crc_header(NULL, 0, frame_header_const(frame));
	pad_route(frame, route);
	return crc_header(route, 4, frame_header_const(frame));
}

bool frame_crc_long_route_ok(const uint8_t *frame)
{
	uint64_t route[4];

	if (frame_header_const(frame)->route_length > FRAME_ROUTE_USUAL)
		return long_route_crc(frame) == ntohs(frame_header_const(frame)->crc_be);
	pad_route(frame, route);
	return crc_header_matches(route, 4, frame_header_const(frame));
}

/* Checks EtherType, version and kind, the four bytes at offset 12. */
static enum frame_fault find_identity_fault(const uint8_t *frame)
{
	if (frame[12] != FRAME_ETHERTYPE >> 8 || frame[13] != (FRAME_ETHERTYPE & 0xFF))
		return FRAME_FAULT_ETHERTYPE;
	if (frame[14] != FRAME_VERSION)
		return FRAME_FAULT_VERSION;
	if (frame[15] == 0 || frame[15] >= FRAME_KIND_COUNT)
		return FRAME_FAULT_KIND;
	return FRAME_FAULT_OK;
}

enum frame_fault frame_find_fault(const uint8_t *frame, size_t bytes)
{
	const struct frame_header *header = frame_header_const(frame);
	enum frame_fault fault;

	if (bytes < FRAME_HEADER_BYTES)
		return FRAME_FAULT_SHORT;
	fault = find_identity_fault(frame);
	if (fault != FRAME_FAULT_OK)
		return fault;
	if (header->route_length > FRAME_ROUTE_MAX ||
		(frame_link_local(header->kind) && header->route_length != 0))
		return FRAME_FAULT_ROUTE_LENGTH;
	if (frame_payload_offset(header) + (size_t)ntohs(header->payload_bytes_be) > bytes)
		return FRAME_FAULT_LENGTH;
	if (!frame_header_crc_ok(frame, bytes))
		return FRAME_FAULT_HEADER_CRC;
	if (header->cursor > header->route_length)
		return FRAME_FAULT_CURSOR;
	if (header->vc >= FRAME_VCS_MAX || header->vc_original >= FRAME_VCS_MAX)
		return FRAME_FAULT_VC;
	if (header->sl > 15)
		return FRAME_FAULT_SL;
	return FRAME_FAULT_OK;
}

enum frame_fault frame_find_fault_in(const uint8_t *frame, size_t bytes, uint16_t fabric)
{
	enum frame_fault fault = frame_find_fault(frame, bytes);

	if (fault == FRAME_FAULT_OK && frame_fabric(frame) != fabric)
		return FRAME_FAULT_FABRIC;
	return fault;
}

struct frame_identity frame_identity_of(uint16_t fabric)
{
	const uint8_t wanted[8] = {(uint8_t)(fabric >> 8), (uint8_t)fabric, FRAME_ETHERTYPE >> 8,
		FRAME_ETHERTYPE & 0xFF, FRAME_VERSION, FRAME_DATA};
	const uint8_t mask[8] = {0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF};
	struct frame_identity identity;

	memcpy(&identity.wanted, wanted, sizeof(identity.wanted));
	memcpy(&identity.mask, mask, sizeof(identity.mask));
	return identity;
}

struct frame_identity frame_identity_of_host(uint16_t fabric, uint16_t host)
{
	struct frame_identity identity = frame_identity_of(fabric);
	const uint16_t source_be = htons(host);

	memcpy((uint8_t *)&identity.wanted + 6, &source_be, sizeof(source_be));
	memset((uint8_t *)&identity.mask + 6, 0xFF, sizeof(source_be));
	return identity;
}

enum frame_fault frame_check(const uint8_t *frame, size_t bytes)
{
	return frame_is_good_data(frame, bytes) ? FRAME_FAULT_OK : frame_find_fault(frame, bytes);
}

bool frame_payload_ok(const uint8_t *frame)
{
	const struct frame_header *header = frame_header_const(frame);

	return ntohl(header->payload_crc_be) ==
	       crc32c(frame + frame_payload_offset(header), ntohs(header->payload_bytes_be));
}

/* Writes an address of six bytes: the first byte, 24 bits of identity, the fabric number. */
static void write_address(uint8_t first, uint32_t middle, uint16_t fabric, uint8_t mac[6])
{
	mac[0] = first;
	mac[1] = (uint8_t)(middle >> 16);
	mac[2] = (uint8_t)(middle >> 8);
	mac[3] = (uint8_t)middle;
	mac[4] = (uint8_t)(fabric >> 8);
	mac[5] = (uint8_t)fabric;
}

void frame_port_address(uint64_t device, uint8_t port, uint16_t fabric, uint8_t mac[6])
{
	if (device <= UINT16_MAX)
		write_address(0x02, (uint32_t)device << 8 | port, fabric, mac);
	else if (device - FRAME_HOST_DEVICE <= UINT16_MAX)
		write_address(
			0x12, (uint32_t)(device - FRAME_HOST_DEVICE) << 8 | port, fabric, mac);
	else
		write_address(
			0x22, (uint32_t)(device ^ device >> 24 ^ device >> 48) + port, fabric, mac);
}

void frame_group_address(uint16_t fabric, uint8_t mac[6])
{
	write_address(0x57, 0x454654, fabric, mac);
}

void frame_host_mac(uint16_t host, uint8_t mac[6])
{
	static const uint8_t prefix[4] = {0x02, 0x57, 0x46, 0x54};

	memcpy(mac, prefix, sizeof(prefix));
	mac[4] = (uint8_t)(host >> 8);
	mac[5] = (uint8_t)host;
}

unsigned frame_build(uint8_t *frame, const struct frame_fields *fields)
{
	struct frame_header *header = frame_header(frame);
	unsigned payload_at, bytes;

	frame_group_address(fields->fabric, frame);
	write_address(0x02, 0, fields->fabric, frame + 6);
	frame[12] = FRAME_ETHERTYPE >> 8;
	frame[13] = FRAME_ETHERTYPE & 0xFF;
	*header = (struct frame_header){
		.version = FRAME_VERSION,
		.kind = (uint8_t)fields->kind,
		.source_be = htons(fields->source),
		.destination_be = htons(fields->destination),
		.payload_bytes_be = htons(fields->payload_bytes),
		.route_length = fields->route_length,
		.sl = fields->sl,
		.message_be = htonl(fields->message),
		.sequence_be = htonl(fields->sequence),
		.injected_ns_be = htonl(fields->injected_ns),
		.vc = fields->vc,
		.vc_original = fields->vc_original,
		.flags = fields->flags,
	};
	payload_at = frame_payload_offset(header);
	bytes = payload_at + fields->payload_bytes;
	header->payload_crc_be = htonl(crc32c(frame + payload_at, fields->payload_bytes));
	if (fields->route_length > 0)
		memcpy(frame_route(frame), fields->route, fields->route_length);
	header->crc_be = htons(frame_header_crc(frame));
	if (bytes < FRAME_BYTES_MIN) {
		memset(frame + bytes, 0, FRAME_BYTES_MIN - bytes);
		bytes = FRAME_BYTES_MIN;
	}
	return bytes;
}

bool frame_steps_ok(const uint8_t *element, unsigned length)
{
	unsigned steps = 0;

	for (unsigned i = 0; i < length; i++) {
		bool high = route_is_high(element[i]), step = element[i] == ROUTE_TYPE_STEP;
		bool layer = route_is_layer(element[i]);

		if (!high && !step && !layer)
			continue;
		if (i + 1 == length || ((element[i + 1] & ROUTE_PORT_BIT) == 0 &&
					       (high || !route_is_high(element[i + 1]))))
			return false;
		if (step && (++steps > ROUTE_STEPS_MAX || i == 0 ||
				    (element[i - 1] & ROUTE_PORT_BIT) == 0))
			return false;
		if (layer && i > 0)
			return false;
	}
	return true;
}

bool frame_is_host_route(const uint8_t *element, unsigned length)
{
	if (length == 0 || length > FRAME_ROUTE_MAX || element[length - 1] != ROUTE_TYPE_HOST)
		return false;
	for (unsigned i = 0; i + 1 < length; i++)
		if ((element[i] & ROUTE_PORT_BIT) == 0 && element[i] != ROUTE_TYPE_ITB &&
			element[i] != ROUTE_TYPE_STEP && !route_is_high(element[i]) &&
			!route_is_layer(element[i]))
			return false;
	return frame_steps_ok(element, length);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "mapper_frame.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <sodium.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/name_table.h"

_Static_assert(FABRIC_TAG_BYTES == MAPPER_TAG_BYTES, "the tag fills its place in the message");
_Static_assert(FABRIC_TAG_BYTES == crypto_generichash_BYTES_MIN, "128 bits");
_Static_assert(FABRIC_KEY_BYTES == crypto_generichash_KEYBYTES, "256 bits");

#define HEX_DIGITS (2 * FABRIC_KEY_BYTES)

static int check_permissions(int file, const char *path, struct error *error)
{
	struct stat status;

	if (fstat(file, &status) < 0)
		return error_set(error, errno, "%s: %s", path, strerror(errno));
	if (!S_ISREG(status.st_mode))
		return error_set(error, EINVAL, "%s: a fabric key must be in a regular file", path);
	if (status.st_uid != geteuid() && status.st_uid != 0)
		return error_set(error, EACCES,
			"%s: this key file belongs to another user; use one that you own", path);
	if ((status.st_mode & (S_IRWXG | S_IRWXO)) != 0)
		return error_set(error, EACCES,
			"%s: other users can access the fabric key (mode %03o); run 'chmod 600 "
			"%s'",
			path, (unsigned)(status.st_mode & 0777), path);
	return 0;
}

static int parse(struct fabric_key *key, const char *text, size_t length)
{
	uint8_t bytes[FABRIC_KEY_BYTES];
	size_t parsed;
	int result = -EINVAL;

	if (length == HEX_DIGITS + 1 && text[HEX_DIGITS] == '\n')
		length--;
	if (length == HEX_DIGITS &&
		sodium_hex2bin(bytes, sizeof(bytes), text, length, NULL, &parsed, NULL) == 0) {
		memcpy(key->bytes, bytes, sizeof(bytes));
		result = 0;
	}
	sodium_memzero(bytes, sizeof(bytes));
	return result;
}

static int read_key(struct fabric_key *key, int file, const char *path, struct error *error)
{
	char text[HEX_DIGITS + 2];
	ssize_t length = read(file, text, sizeof(text));
	int result;

	if (length < 0)
		return error_set(error, errno, "%s: %s", path, strerror(errno));
	result = parse(key, text, (size_t)length);
	sodium_memzero(text, sizeof(text));
	if (result < 0)
		return error_set(error, EINVAL,
			"%s: must contain %u hexadecimal digits on one "
			"line",
			path, HEX_DIGITS);
	return 0;
}

int fabric_key_load(struct fabric_key *key, const char *path, struct error *error)
{
	int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), result;

	if (file < 0)
		return error_set(error, errno, "%s: %s", path, strerror(errno));
	if (sodium_init() < 0)
		result = error_set(error, EIO, "cannot initialise libsodium");
	else
		result = check_permissions(file, path, error);
	if (result == 0)
		result = read_key(key, file, path, error);
	close(file);
	return result;
}

void fabric_key_tag(const struct fabric_key *key, const uint8_t *data, unsigned bytes,
	uint8_t tag[FABRIC_TAG_BYTES])
{
	crypto_generichash(tag, FABRIC_TAG_BYTES, data, bytes, key->bytes, sizeof(key->bytes));
}

bool fabric_key_matches(const struct fabric_key *key, const uint8_t *data, unsigned bytes,
	const uint8_t tag[FABRIC_TAG_BYTES])
{
	uint8_t right[FABRIC_TAG_BYTES];

	fabric_key_tag(key, data, bytes, right);
	return crypto_verify_16(right, tag) == 0;
}

void fabric_key_derive(
	const struct fabric_key *key, const char *purpose, uint8_t out[FABRIC_KEY_BYTES])
{
	crypto_generichash(out, FABRIC_KEY_BYTES, (const uint8_t *)purpose, strlen(purpose),
		key->bytes, sizeof(key->bytes));
}

uint16_t fabric_number(const char *identity, const struct fabric_key *key)
{
	uint8_t hash[crypto_generichash_BYTES_MIN];
	uint16_t number;

	crypto_generichash(hash, sizeof(hash), (const uint8_t *)identity, strlen(identity),
		key != NULL ? key->bytes : NULL, key != NULL ? sizeof(key->bytes) : 0);
	number = (uint16_t)(hash[0] << 8 | hash[1]);
	return number != 0 ? number : 1;
}

void fabric_key_wipe(struct fabric_key *key)
{
	sodium_memzero(key->bytes, sizeof(key->bytes));
}

const char *mapper_refusal_name(enum mapper_refusal refusal)
{
	static const char *const names[] = {MAPPER_REFUSALS(WORD_TEXT)};

	return names[refusal];
}

void mapper_frame_build(struct mapper_speaker *speaker, struct mapper_message *message,
	const uint8_t *route, unsigned length, struct mapper_frame *frame)
{
	uint8_t *payload = frame->data + FRAME_HEADER_BYTES + length;
	struct frame_fields fields = {
		.kind = mapper_type_kind(message->type),
		.fabric = speaker->fabric,
		.source = FRAME_HOST_NONE,
		.destination = FRAME_HOST_NONE,
		.route = route,
		.route_length = (uint8_t)length,
	};

	message->sender = speaker->id;
	message->counter = ++speaker->counter;
	message->keyed = speaker->key != NULL;
	fields.payload_bytes = (uint16_t)mapper_message_encode(message, payload);
	if (speaker->key != NULL) {
		unsigned covered = fields.payload_bytes - MAPPER_TAG_BYTES;

		fabric_key_tag(speaker->key, payload, covered, payload + covered);
	}
	frame->bytes = frame_build(frame->data, &fields);
}

enum mapper_refusal mapper_frame_open(const struct fabric_key *key, const uint8_t *data,
	unsigned bytes, struct mapper_message *message)
{
	const struct frame_header *header = frame_header_const(data);
	const uint8_t *payload;
	unsigned length, covered;

	if (frame_check(data, bytes) != FRAME_FAULT_OK ||
		(header->kind != FRAME_SCOUT && header->kind != FRAME_MAPPER) ||
		!frame_payload_ok(data))
		return MAPPER_REFUSED_FRAME;
	payload = data + frame_payload_offset(header);
	length = ntohs(header->payload_bytes_be);
	if (!mapper_message_decode(message, payload, length) ||
		mapper_type_kind(message->type) != header->kind)
		return MAPPER_REFUSED_MALFORMED;
	covered = length - MAPPER_TAG_BYTES;
	if (key == NULL)
		return message->keyed ? MAPPER_REFUSED_KEYED : MAPPER_REFUSED_NONE;
	if (!message->keyed)
		return MAPPER_REFUSED_UNKEYED;
	return fabric_key_matches(key, payload, covered, payload + covered) ? MAPPER_REFUSED_NONE
									    : MAPPER_REFUSED_FORGED;
}

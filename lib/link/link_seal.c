/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "link_seal.h"

#include <arpa/inet.h>
#include <sodium.h>
#include <stddef.h>
#include <string.h>

#include "wire/big_endian.h"
#include "wire/control.h"

#define COUNTER_BYTES 8
#define TAG_BYTES     8

_Static_assert(COUNTER_BYTES + TAG_BYTES == LINK_SEAL_BYTES, "the two parts of a seal");
_Static_assert(TAG_BYTES == crypto_shorthash_BYTES, "SipHash-2-4");
_Static_assert(LINK_SEAL_PAIR_KEY_BYTES == crypto_shorthash_KEYBYTES, "128 bits");
_Static_assert(LINK_SEAL_PAIR_KEY_BYTES >= crypto_generichash_BYTES_MIN, "BLAKE2b");
_Static_assert(LINK_KEY_BYTES == crypto_generichash_KEYBYTES, "256 bits");

/* Purposes of derived keys. */
enum purpose { PURPOSE_SESSION = 1, PURPOSE_HELLO, PURPOSE_PAIR, PURPOSE_PAYLOAD, PURPOSE_REST };

/* Identifies one sender and the sessions of both ends. */
struct direction {
	uint64_t device;
	uint8_t port;
	uint32_t session, receiver_session;
};

static void derive(const struct link_key *key, enum purpose purpose, const struct direction *of,
	uint8_t out[LINK_SEAL_PAIR_KEY_BYTES])
{
	uint8_t text[1 + 8 + 1 + 4 + 4];

	text[0] = (uint8_t)purpose;
	put64(text + 1, of->device);
	text[9] = of->port;
	put32(text + 10, of->session);
	put32(text + 14, of->receiver_session);
	crypto_generichash(
		out, LINK_SEAL_PAIR_KEY_BYTES, text, sizeof(text), key->bytes, sizeof(key->bytes));
}

/* Derives a session per end. The devices of a process start with the same session, but a hello must
 * be valid at one end only. */
static uint32_t session_of(const struct link_key *key, const struct link_end *end)
{
	const struct direction of = {end->config.device, end->config.port, end->config.session, 0};
	uint8_t out[LINK_SEAL_PAIR_KEY_BYTES];
	uint32_t session;

	derive(key, PURPOSE_SESSION, &of, out);
	memcpy(&session, out, sizeof(session));
	return session != 0 ? session : 1;
}

void link_seal_init(struct link_seal *seal, const struct link_key *key, struct link_end *end)
{
	const struct direction none = {0};

	*seal = (struct link_seal){.key = key};
	end->config.session = session_of(key, end);
	end->config.proving = true;
	derive(key, PURPOSE_HELLO, &none, seal->hello_key);
}

/* Not inlined, because it is rarely called and would cost every frame thirty instructions. */
static __attribute__((noinline)) void change_keys(
	struct link_seal *seal, const struct link_end *end)
{
	const struct direction send = {
		end->config.device, end->config.port, end->config.session, end->peer_session};
	const struct direction receive = {
		end->peer_device, end->peer_port, end->peer_session, end->config.session};

	derive(seal->key, PURPOSE_PAIR, &send, seal->send_key);
	derive(seal->key, PURPOSE_PAIR, &receive, seal->receive_key);
	seal->session = end->config.session;
	seal->peer_session = end->peer_session;
}

/* Updates the keys if a session has changed. */
static inline void follow_sessions(struct link_seal *seal, const struct link_end *end)
{
	if (seal->session != end->config.session || seal->peer_session != end->peer_session)
		change_keys(seal, end);
}

/* Returns the length, including padding, of a frame whose payload ends at this offset. */
static unsigned padded(unsigned bytes)
{
	return bytes < FRAME_BYTES_MIN ? FRAME_BYTES_MIN : bytes;
}

/* A tag authenticates the fixed header and everything up to and including the counter. It omits
 * header fields without a meaning in control frames, and the payload CRC, which follows from the
 * payload. */
#define HEADER_FIRST_BYTES    10
#define HEADER_LEFT_OUT_BYTES 16
_Static_assert(
	offsetof(struct frame_header, message_be) == HEADER_FIRST_BYTES &&
		offsetof(struct frame_header, vc) == HEADER_FIRST_BYTES + HEADER_LEFT_OUT_BYTES,
	"the fields between are left out");

/* While the tag is computed, the first header bytes overwrite the omitted ones. */
static void make_tag(uint8_t *frame, unsigned end, const uint8_t *key, uint8_t tag[TAG_BYTES])
{
	uint8_t *header = frame + FRAME_HEADER_OFFSET, *text = header + HEADER_LEFT_OUT_BYTES;
	uint8_t kept[HEADER_FIRST_BYTES];

	memcpy(kept, text, sizeof(kept));
	memcpy(text, header, sizeof(kept));
	crypto_shorthash(tag, text, (size_t)(frame + end + COUNTER_BYTES - text), key);
	memcpy(text, kept, sizeof(kept));
}

unsigned link_seal_close(
	struct link_seal *seal, const struct link_end *end, uint8_t *frame, unsigned room)
{
	bool hello = frame_header_const(frame)->kind == FRAME_HELLO;
	unsigned at = frame_payload_end(frame);

	if (room < padded(at) + LINK_SEAL_BYTES)
		return 0;
	follow_sessions(seal, end);
	put64(frame + at, ++seal->sent);
	make_tag(frame, at, hello ? seal->hello_key : seal->send_key, frame + at + COUNTER_BYTES);
	return padded(at + LINK_SEAL_BYTES);
}

static bool tag_matches(uint8_t *frame, unsigned at, const uint8_t *key)
{
	uint64_t right, tag;

	make_tag(frame, at, key, (uint8_t *)&right);
	memcpy(&tag, frame + at + COUNTER_BYTES, sizeof(tag));
	/* A single register comparison takes the same time whichever bytes differ. */
	return right == tag;
}

static bool take_counter(struct link_seal *seal, uint64_t counter)
{
	if (counter == 0 || !replay_is_new(&seal->seen, counter)) {
		seal->count.replayed++;
		return false;
	}
	replay_record(&seal->seen, counter);
	return true;
}

static __attribute__((noinline)) bool open_hello(
	struct link_seal *seal, const struct link_end *end, const uint8_t *frame, unsigned at)
{
	const struct frame_header *header = frame_header_const(frame);
	struct control_hello hello;

	/* link_end refuses an invalid hello. */
	if (!control_hello_decode(
		    &hello, frame + frame_payload_offset(header), ntohs(header->payload_bytes_be)))
		return true;
	switch (link_end_judge_hello(end, &hello)) {
	case LINK_HELLO_KNOWN:
		return take_counter(seal, get64(frame + at));
	case LINK_HELLO_PROVEN:
		/* All earlier frames were for an earlier session of this end. */
		seal->seen =
			(struct replay_window){.highest = get64(frame + at), .seen = UINT64_MAX};
		return true;
	default:
		seal->count.unproven += end->peer_session != 0;
		return end->peer_session == 0;
	}
}

/* Removes the bytes after the payload, which apply to this link only. */
static unsigned remove_seal(uint8_t *frame, unsigned at)
{
	if (at < FRAME_BYTES_MIN)
		memset(frame + at, 0, FRAME_BYTES_MIN - at);
	return padded(at);
}

unsigned link_seal_open(
	struct link_seal *seal, const struct link_end *end, uint8_t *frame, unsigned bytes)
{
	bool hello = frame_header_const(frame)->kind == FRAME_HELLO;
	unsigned at = frame_payload_end(frame);
	bool taken;

	follow_sessions(seal, end);
	if (!hello && end->peer_session == 0) {
		seal->count.unproven++;
		return 0;
	}
	if (bytes < at + LINK_SEAL_BYTES ||
		!tag_matches(frame, at, hello ? seal->hello_key : seal->receive_key)) {
		seal->count.bad_tag++;
		return 0;
	}
	taken = hello ? open_hello(seal, end, frame, at) : take_counter(seal, get64(frame + at));
	return taken ? remove_seal(frame, at) : 0;
}

_Static_assert(DATA_TAG_BYTES == crypto_shorthash_BYTES, "SipHash-2-4");

/* Size of the fixed header up to the mutable bytes. */
#define COVERED_BYTES offsetof(struct frame_header, vc)

static void derive_tag_key(const struct link_key *from, enum purpose purpose, uint8_t *out)
{
	uint8_t text = (uint8_t)purpose;

	crypto_generichash(out, LINK_SEAL_PAIR_KEY_BYTES, &text, sizeof(text), from->bytes,
		sizeof(from->bytes));
}

void data_tag_derive(struct data_tag_key *key, const struct link_key *from)
{
	derive_tag_key(from, PURPOSE_PAYLOAD, key->payload);
	derive_tag_key(from, PURPOSE_REST, key->rest);
}

static void make_data_tag(const struct data_tag_key *key, uint32_t session, const uint8_t *frame,
	uint8_t tag[DATA_TAG_BYTES])
{
	const struct frame_header *header = frame_header_const(frame);
	uint8_t rest[COVERED_BYTES + 1 + 4 + crypto_shorthash_BYTES];
	uint32_t session_be = htonl(session);

	memcpy(rest, header, COVERED_BYTES);
	rest[COVERED_BYTES] = header->flags & FRAME_F_TAIL;
	memcpy(rest + COVERED_BYTES + 1, &session_be, 4);
	crypto_shorthash(rest + COVERED_BYTES + 5, frame + frame_payload_offset(header),
		ntohs(header->payload_bytes_be), key->payload);
	crypto_shorthash(tag, rest, sizeof(rest), key->rest);
}

void data_tag_write(const struct data_tag_key *key, uint32_t session, uint8_t *frame)
{
	make_data_tag(key, session, frame, frame + frame_payload_end(frame));
}

bool data_tag_matches(
	const struct data_tag_key *key, uint32_t session, const uint8_t *frame, unsigned bytes)
{
	unsigned at = frame_payload_end(frame);
	uint8_t right[DATA_TAG_BYTES];

	if (bytes < at + DATA_TAG_BYTES)
		return false;
	make_data_tag(key, session, frame, right);
	return sodium_memcmp(right, frame + at, DATA_TAG_BYTES) == 0;
}

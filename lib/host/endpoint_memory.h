/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The memory that a program shares with its host's interface, and the protocol of the socket that
 * passes this memory. Modelled on the queue pairs of verbs and the ports of GM.
 *
 * A program sends pieces: it fills a send slot and writes an order that names the slot. The slot is
 * free again when the completion arrives. Frames arrive in receive slots; the arrival ring names
 * them, and the program returns each slot through the return ring. All rings have one writer and
 * one reader; a position counts entries and wraps at 2^32. The program can write any value
 * anywhere, so the interface keeps its own positions and slot owners, reads each word once, and
 * checks it. The memory file is sealed and cannot shrink.
 *
 * A piece has a head of ENDPOINT_HEAD_BYTES that only programs interpret. The interface sends the
 * head in the first frame of the piece, after its own fields. */

#include <stdatomic.h>
#include <stdint.h>

#define ENDPOINT_MAGIC        0x77656674u /* "weft" */
#define ENDPOINT_MARK         0xE1        /* first byte of a message */
#define ENDPOINT_VERSION      3
#define ENDPOINTS_MAX         64  /* per host */
#define ENDPOINT_SEND_SLOTS   128 /* a power of two */
#define ENDPOINT_PIECE_FRAMES 8   /* maximum; also the initial window of each peer */
#define ENDPOINT_WINDOW       64 /* maximum window of a peer, in frames, if enough slots are free */
#define ENDPOINT_WIDE_PEERS   128 /* peers with such a window */
#define ENDPOINT_HEAD_BYTES   40
#define ENDPOINT_WIRE_BYTES   64 /* interface's fields and head, before a piece's data */

struct endpoint_order {
	uint16_t slot;
	uint16_t host, endpoint; /* destination */
	uint16_t unused;
	uint32_t life; /* life of the destination; 0: whichever program is attached */
	uint32_t bytes;
	uint8_t head[ENDPOINT_HEAD_BYTES];
	uint64_t padding;
};
_Static_assert(sizeof(struct endpoint_order) == 64, "layout of shared memory");

struct endpoint_completion {
	uint32_t slot;
	int32_t error; /* 0: arrived at the destination's interface; otherwise -errno */
};

enum endpoint_arrival_kind {
	ENDPOINT_ARRIVAL_DATA,
	ENDPOINT_ARRIVAL_GONE, /* the peer has ended; unfinished pieces stay incomplete */
};

/* Start of a receive slot, followed by the frame's data. */
struct endpoint_arrival {
	uint16_t host, endpoint; /* source */
	uint32_t life;
	uint16_t kind;
	uint8_t first, tail; /* first or last frame of its piece */
	uint32_t bytes, offset;
	uint8_t head[ENDPOINT_HEAD_BYTES]; /* valid in the first frame */
	uint32_t padding;
};
_Static_assert(sizeof(struct endpoint_arrival) == 64, "layout of shared memory");

/* Positions are two cache lines apart because processors prefetch pairs of lines. */
struct endpoint_marks {
	/* Written by the program. */
	_Alignas(128) _Atomic uint32_t ordered;
	_Alignas(128) _Atomic uint32_t returned;
	_Alignas(128) _Atomic uint32_t sleeps; /* ring its bell at the next completion or arrival */
	_Atomic uint32_t unexpected;           /* unmatched messages, for statistics */
	/* Written by the interface. */
	_Alignas(128) _Atomic uint32_t completed;
	_Alignas(128) _Atomic uint32_t arrived;
	_Alignas(128) _Atomic uint32_t
		rests; /* ring its bell at the next order or return, and clear this flag */
};

/* Header of the file. Offsets are from the start of the file; ring and slot sizes are in entries.
 * Written once, before the program receives the memory; the interface never reads it back. */
struct endpoint_layout {
	uint32_t magic, version;
	uint16_t host, hosts, endpoint, endpoints;
	uint32_t life;
	uint32_t mtu_bytes; /* payload of a frame */
	uint32_t piece_bytes;
	uint32_t send_slots, receive_slots; /* powers of two */
	uint32_t receive_slot_bytes;
	uint64_t marks, orders, completions, arrivals, returns, send, receive, bytes;
};

/* Returns the maximum data of a piece. Its first frame also carries ENDPOINT_WIRE_BYTES. */
static inline uint32_t endpoint_piece_bytes(uint32_t mtu_bytes)
{
	return ENDPOINT_PIECE_FRAMES * mtu_bytes - ENDPOINT_WIRE_BYTES;
}

/* --- socket protocol: one request, one answer; ATTACH is answered with descriptors --- */

#define ENDPOINT_SOCKET      "endpoints-" /* socket name prefix in the run directory */
#define ENDPOINT_NAME_BYTES  128
#define ENDPOINT_ANY         UINT16_MAX
#define ENDPOINT_DESCRIPTORS 3 /* memory, the interface's bell, the program's bell */

enum endpoint_request_kind { ENDPOINT_ATTACH, ENDPOINT_FIND, ENDPOINT_NAME };

struct endpoint_request {
	uint32_t version;
	uint16_t kind;
	uint16_t number; /* ATTACH: the endpoint, or ENDPOINT_ANY; NAME: the host */
	char host[ENDPOINT_NAME_BYTES];
};

struct endpoint_answer {
	int32_t error; /* 0 or -errno */
	uint16_t host;
	char name[ENDPOINT_NAME_BYTES]; /* NAME */
};

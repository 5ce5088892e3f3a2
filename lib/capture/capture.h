/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Captures ports into pcapng files or FIFOs; started and stopped while frames flow.
 *
 * The data plane copies a frame and the state that explains it into the port's ring of preallocated
 * memory; a full ring counts a drop. One writer thread per file turns the slots into text and
 * blocks. Nothing that happens to the file (a FIFO without a reader, a slow reader, a full disk)
 * affects the data plane. When the reader closes the file the capture ends on its own.
 *
 * struct capture is one port's ring: written by the thread that serves the port, read by the file's
 * writer. It lives as long as the manager, so a data plane that still holds the pointer after a
 * stop writes into live memory. The manager's functions: any thread.
 *
 * No EAL: the unit tests run all of it. */

#include <stdatomic.h>
#include <stdint.h>

#include "base/record_ring.h"
#include "base/weft_error.h"
#include "base/weft_time.h"
#include "capture_filter.h"
#include "capture_rotation.h"
#include "capture_state.h"
#include "pcapng.h"
#include "port/port.h"

struct capture_slot {
	weft_time now;
	struct capture_state state;
	uint32_t frame_bytes, captured_bytes;
	uint8_t direction; /* enum pcapng_direction */
	uint8_t bytes[];
};

struct capture {
	struct record_ring *ring; /* records are struct capture_slot */
	/* NULL: every frame. Written while the port is not captured; both outlive the capture. */
	_Atomic(const struct capture_filter *) filter;
	struct capture_filter_held *held;
	uint32_t snap_bytes;
	capture_drops_fn *drops;
	/* Writer: the data plane. Readers: any thread. */
	_Alignas(RTE_CACHE_LINE_SIZE) _Atomic uint64_t offered;
	_Atomic uint64_t dropped;
	_Atomic weft_time newest; /* latest time of a frame offered */
};

struct capture_options {
	uint32_t slots;            /* frames of snap_bytes that a port's ring holds; 0: 900 */
	uint32_t snap_bytes;       /* bytes kept of each frame; 0: whole frames */
	uint64_t epoch_ns;         /* added to every time: clock_unix_origin_ns(), or 0 */
	capture_reason_fn *reason; /* may be NULL */
	capture_drops_fn *drops;   /* NULL: no reason is a drop */
	const struct capture_limits *limits; /* each file; NULL: none. Outlives the manager */
};

struct capture_counts {
	uint64_t offered; /* frames that passed during the capture and its filter */
	uint64_t dropped; /* matched, but missing in the file because the writer was too slow */
};

struct capture_manager;

/* NULL and error without memory. */
struct capture_manager *capture_manager_create(
	const struct capture_options *options, struct error *error);
/* Ends all captures and frees the rings: the data plane has stopped, or no port is captured and
 * every thread has since started a new burst. */
void capture_manager_destroy(struct capture_manager *manager);

/* Registers 'port' under its name. The port outlives the manager. Returns 0 or -ENOMEM. */
int capture_manager_add_port(struct capture_manager *manager, struct port *port);

/* Captures 'port_name' ("s0:1", or "all") into 'path' from now on; several ports may share a path.
 * 'filter' is copied; NULL: every frame. A FIFO waits for its reader without blocking anything.
 * Fails with -ENOENT: unknown port; -EBUSY: already captured; other errors from opening the
 * file. */
int capture_start(struct capture_manager *manager, const char *port_name, const char *path,
	const struct capture_filter *filter, struct error *error);

/* Ends the capture of 'port_name', or of all captured ports ("all"); returns when the captured
 * frames are written, or after a second if the reader does not take them. 'counts' may be NULL.
 * -ENOENT: unknown port, or not captured. A failure to write the file is reported here. */
int capture_stop(struct capture_manager *manager, const char *port_name,
	struct capture_counts *counts, struct error *error);

/* The ring of a captured port or NULL; called once per burst in the data plane. */
static inline struct capture *capture_of(struct port *port)
{
	return __atomic_load_n(&port->capture, __ATOMIC_ACQUIRE);
}

/* NULL: every frame is wanted. */
static inline const struct capture_filter *capture_filter_of(const struct capture *capture)
{
	return atomic_load_explicit(&capture->filter, memory_order_acquire);
}

/* The quick test of the capture's filter: without one every frame passes. The bytes need not be a
 * Weft frame, but 22 of them can be read. */
struct capture_quick {
	uint64_t word, mask;
};

static inline struct capture_quick capture_quick_of(const struct capture *capture)
{
	const struct capture_filter *filter = capture_filter_of(capture);

	return filter != NULL ? (struct capture_quick){filter->word, filter->mask}
			      : (struct capture_quick){0, 0};
}

static inline bool capture_quick_matches(struct capture_quick quick, const uint8_t *frame)
{
	uint64_t got;

	memcpy(&got, frame + CAPTURE_FILTER_WORD_AT, sizeof(got));
	return (got & quick.mask) == quick.word;
}

/* How many bytes of each frame are kept. */
uint32_t capture_snap_bytes(const struct capture *capture);
/* Copies a frame received or sent at 'now'. Never blocks. Returns NULL if there is no space. */
struct capture_slot *capture_begin(struct capture *capture, enum pcapng_direction direction,
	const void *bytes, uint32_t frame_bytes, weft_time now);
/* Passes the copy, with its state, to the writer, unless the filter rejects the state's reason.
 * 'slot' NULL: the frame counts as dropped. Nothing else is captured at the port between the two
 * calls. */
void capture_end(
	struct capture *capture, struct capture_slot *slot, const struct capture_state *state);
/* Both at once. */
void capture_frame(struct capture *capture, enum pcapng_direction direction, const void *bytes,
	uint32_t frame_bytes, weft_time now, const struct capture_state *state);

/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Captures ports into pcapng files or FIFOs, started and stopped while frames flow.
 *
 * The data plane copies a frame and its state into the port's ring of preallocated memory; if the
 * ring is full, it counts a drop. One writer thread per file formats the records. Nothing that
 * happens to the file (a FIFO without a reader, a slow reader, a full disk) affects the data plane.
 * When the reader closes the file, the capture ends.
 *
 * struct capture is one port's ring, written by the thread that serves the port and read by the
 * file's writer. It lives as long as the manager, so a data plane that still holds the pointer
 * after a stop writes into valid memory. Any thread may call the manager's functions.
 *
 * Independent of EAL: the unit tests run all of it. */

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
	/* NULL: all frames. Set only while the port is not captured. Both outlive the capture. */
	_Atomic(const struct capture_filter *) filter;
	struct capture_filter_held *held;
	uint32_t snap_bytes;
	capture_drops_fn *drops;
	/* Written by the data plane, read by any thread. */
	_Alignas(RTE_CACHE_LINE_SIZE) _Atomic uint64_t offered;
	_Atomic uint64_t dropped;
	_Atomic weft_time newest; /* latest time of an offered frame */
};

struct capture_options {
	uint32_t slots;            /* capacity of a port's ring, in frames of snap_bytes; 0: 900 */
	uint32_t snap_bytes;       /* bytes captured per frame; 0: whole frames */
	uint64_t epoch_ns;         /* added to all times: clock_unix_origin_ns(), or 0 */
	capture_reason_fn *reason; /* may be NULL */
	capture_drops_fn *drops;   /* NULL: no reason is a drop */
	const struct capture_limits *limits; /* per file; NULL: none. Must outlive the manager */
};

struct capture_counts {
	uint64_t offered; /* frames that passed during the capture and matched its filter */
	uint64_t dropped; /* matched, but missing in the file because the writer was too slow */
};

struct capture_manager;

/* Returns NULL with 'error' set if out of memory. */
struct capture_manager *capture_manager_create(
	const struct capture_options *options, struct error *error);
/* Ends all captures and frees the rings. Call after the data plane has stopped, or when no port is
 * captured and every thread has since started a new burst. */
void capture_manager_destroy(struct capture_manager *manager);

/* Registers 'port' under its name. The port must outlive the manager. Returns 0 or -ENOMEM. */
int capture_manager_add_port(struct capture_manager *manager, struct port *port);

/* Starts to capture 'port_name' ("s0:1", or "all") into 'path'; several ports may share a path.
 * 'filter' is copied; NULL: all frames. A FIFO without a reader blocks nothing. Returns 0, -ENOENT
 * (unknown port), -EBUSY (already captured), or an error from opening the file. */
int capture_start(struct capture_manager *manager, const char *port_name, const char *path,
	const struct capture_filter *filter, struct error *error);

/* Ends the capture of 'port_name', or of all captured ports ("all"). Returns when the captured
 * frames are written, or when the reader has accepted nothing for a second. 'counts' may be NULL.
 * -ENOENT: unknown port, or not captured. A failure to write the file is also returned here. */
int capture_stop(struct capture_manager *manager, const char *port_name,
	struct capture_counts *counts, struct error *error);

/* Returns the ring of a captured port, or NULL. Called once per burst in the data plane. */
static inline struct capture *capture_of(struct port *port)
{
	return __atomic_load_n(&port->capture, __ATOMIC_ACQUIRE);
}

/* Returns the filter; NULL: all frames are captured. */
static inline const struct capture_filter *capture_filter_of(const struct capture *capture)
{
	return atomic_load_explicit(&capture->filter, memory_order_acquire);
}

/* Quick test against the capture's filter; without a filter, every frame passes. The bytes need not
 * be a Weft frame, but 22 of them must be readable. */
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

/* Returns the number of bytes captured per frame. */
uint32_t capture_snap_bytes(const struct capture *capture);
/* Copies a frame received or sent at 'now'. Never blocks. Returns NULL if there is no space. */
struct capture_slot *capture_begin(struct capture *capture, enum pcapng_direction direction,
	const void *bytes, uint32_t frame_bytes, weft_time now);
/* Passes the copy and its state to the writer, unless the filter refuses the state's reason. If
 * 'slot' is NULL, counts the frame as dropped. Between the two calls, nothing else may be captured
 * at the port. */
void capture_end(
	struct capture *capture, struct capture_slot *slot, const struct capture_state *state);
/* Calls capture_begin() and capture_end(). */
void capture_frame(struct capture *capture, enum pcapng_direction direction, const void *bytes,
	uint32_t frame_bytes, weft_time now, const struct capture_state *state);

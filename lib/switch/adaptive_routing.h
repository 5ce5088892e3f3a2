/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Adaptive routing: chooses among the primary port for a packet's destination and the other
 * ports that lead there, using the credits for the buffers behind them. docs/developer/extending.md
 * shows how to add a mode.
 *
 * With AFI (congestion_control.h) a packet that leaves its primary port will be stored in the AFC.
 * Alternatives are therefore compared by their credits for the AFC, and the primary port by its
 * credits for the packet's own VC. The caller sets the adapted bit if the result is not the primary
 * port. Packets that already have the bit are not adapted again.
 *
 * Ties are broken at random, from the switch's random stream. Single-threaded; no allocation. */

#include <stdbool.h>
#include <stdint.h>

#include "base/name_table.h"
#include "base/port_set.h"
#include "base/rng.h"
#include "link/credit.h"
#include "wire/frame.h"
#include "wire/packet.h"

/* Estimates the free space at the far end of an output's link from credits alone.
 *
 * The remaining credits are not the free space. A receiver withholds freed blocks until they are
 * worth a credit frame (credit_grant_due()), so the credits fall by up to a quarter of the buffer
 * and jump back up although the occupancy has not changed. Withheld credits must not be mistaken
 * for stored packets. The space is known exactly when a credit frame arrives. Afterwards it is
 * between the remaining credits and that number plus the maximum that can be withheld
 * (credit_withheld_max()). The estimate is therefore the space at the last credit frame, limited by
 * this sum. It needs no additional credit frames.
 *
 * Inline, because modes that compare ports call it per packet. Used only by the switch's thread. */

struct peer_buffer {
	const struct credit_tx *tx; /* [VCs], owned by the link */
	/* Size of each VC of that buffer: the maximum free space seen so far. */
	uint32_t vc_blocks;
	bool exact; /* each packet causes a credit frame, so no credits are withheld */
	uint32_t told[FRAME_VCS_MAX]; /* free space when the last credit frame arrived */
};

/* Call after a valid credit frame has updated 'tx'. The first VC gives the size, which is the same
 * for all VCs. */
static inline void peer_buffer_told(struct peer_buffer *buffer, unsigned vcs)
{
	uint32_t blocks = credit_available(&buffer->tx[0]);

	if (blocks > buffer->vc_blocks)
		buffer->vc_blocks = blocks;
	for (unsigned vc = 0; vc < vcs && !buffer->exact; vc++)
		buffer->told[vc] = credit_available(&buffer->tx[vc]);
}

/* Call when the link goes down or the neighbour restarts, because its buffer size may change. */
static inline void peer_buffer_forget(struct peer_buffer *buffer)
{
	buffer->vc_blocks = 0;
}

/* Returns the estimated free blocks of a VC, at least credit_available(). */
static inline uint32_t peer_buffer_free(const struct peer_buffer *buffer, unsigned vc)
{
	uint32_t left = credit_available(&buffer->tx[vc]), max;

	if (buffer->exact)
		return left;
	max = left + credit_withheld_max(buffer->vc_blocks, left);
	if (buffer->told[vc] < max)
		max = buffer->told[vc];
	return max > left ? max : left;
}

struct adaptive;

struct adaptive_mode {
	const char *name;
	const char *summary; /* the port that the mode chooses, for the documentation */
	/* Needs notifications (ARN) and therefore a detector and an ARN table in the switch.
	 * Packets keep their path, as with 'none', until a notification arrives. */
	bool notified;
	/* Compares ports by their credits. Credits that the receiver withholds (credit_grant_due())
	 * would outweigh the differences, so the mode needs a credit frame for each packet. */
	bool compares;
	bool flowlets;  /* needs a flowlet table in the switch */
	bool entropies; /* packets need an entropy; only for the virtual clock */
	/* Returns 'primary' or a member of 'others', which is not empty and does not contain
	 * 'primary'. 'vc' is the next VC of the packet if it stays on the primary port. NULL:
	 * always 'primary'. */
	unsigned (*choose)(
		struct adaptive *adaptive, unsigned primary, port_set others, unsigned vc);
};

#define ADAPTIVE_FLOWLETS 1024u /* entries of the flowlet table */

struct adaptive_flowlet {
	weft_time last_ps;
	uint32_t flow; /* source << 16 | destination */
	uint8_t port;
	bool used;
};

struct adaptive {
	bool afi;
	uint8_t channel; /* index of the AFC */
	/* adaptive-th: occupancy above which packets leave the primary port. */
	uint32_t threshold_ppm;
	const struct adaptive_mode *mode;
	const struct peer_buffer *output; /* [ports], the buffers behind the outputs; borrowed */
	struct rng rng;
	/* Set before each choice, for modes that use them. */
	const struct weft_packet *packet;
	weft_time now;
	uint8_t turn; /* spray-rr: the port at which the search starts */
	weft_time flowlet_gap_ps;
	struct adaptive_flowlet *flowlet; /* [ADAPTIVE_FLOWLETS]; NULL: none */
};

/* Returns true if the mode can choose a port other than the primary one. */
static inline bool adaptive_chooses(const struct adaptive *adaptive)
{
	return adaptive->mode->choose != NULL;
}

/* Returns the port for a packet. 'set' contains the ports that lead to its destination and whose
 * links are up; it may include the primary port. */
static inline unsigned adaptive_route(
	struct adaptive *adaptive, unsigned primary, port_set set, unsigned vc, bool adapted)
{
	port_set others = set & ~port_set_of(primary);

	if (adapted || port_set_is_empty(others) || !adaptive_chooses(adaptive))
		return primary;
	return adaptive->mode->choose(adaptive, primary, others, vc);
}

/* Returns the next VC of a packet of 'vc' that takes an alternative. */
static inline unsigned adaptive_vc(const struct adaptive *adaptive, unsigned vc)
{
	return adaptive->afi ? adaptive->channel : vc;
}

/* Returns the number of blocks that may be sent now. Unlike adaptive_free(), this already accounts
 * for packets just sent, so it suits packet-by-packet comparisons. */
static inline uint32_t adaptive_credits(const struct adaptive *adaptive, unsigned port, unsigned vc)
{
	return credit_available(&adaptive->output[port].tx[vc]);
}

/* Returns the free space (struct peer_buffer), for comparison with a share of the buffer. */
static inline uint32_t adaptive_free(const struct adaptive *adaptive, unsigned port, unsigned vc)
{
	return peer_buffer_free(&adaptive->output[port], vc);
}

/* Returns the member of 'set', which must not be empty, with the most free space in 'vc', for a
 * choice that lasts. Ties are broken at random. */
unsigned adaptive_max_free(struct adaptive *adaptive, port_set set, unsigned vc);

/* All modes, each defined as adaptive_NAME. */
#define ADAPTIVE_MODES(X) \
	X(none)           \
	X(oblivious)      \
	X(always)         \
	X(threshold)      \
	X(arn)            \
	X(ecmp)           \
	X(spray_random)   \
	X(spray_rr)       \
	X(flowlet)        \
	X(reps)

#define X(name) extern const struct adaptive_mode adaptive_##name;
ADAPTIVE_MODES(X)
#undef X

extern const struct name_table adaptive_modes;

/* Returns NULL if no mode has this name. */
static inline const struct adaptive_mode *adaptive_mode_find(const char *name)
{
	return name_table_find(&adaptive_modes, name);
}

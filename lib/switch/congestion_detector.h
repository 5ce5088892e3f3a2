/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The congestion detector of one switch (Rocher-Gonzalez et al., "Congestion Management in
 * High-Performance Interconnection Networks Using Adaptive Routing Notifications", section 3.3;
 * readings: docs/explanation/congestion.md). It finds the outputs that are roots of congestion
 * trees.
 *
 * An output becomes suspect when a VOQ (the packets of one (input, VC) for one output) grows above
 * HCDTh. If the remaining credits for the VOQ's head in the next device are above FCTh, packets
 * still advance there: the output may be a root, and CRT starts. Otherwise it is a branch of a tree
 * whose root is further downstream. If both conditions still hold for that VOQ when CRT expires,
 * the output is a root until every VOQ that exceeded HCDTh has fallen below LCDTh.
 *
 * A state machine: the caller reports changes of VOQs; the detector stores no packets and does not
 * read credits. Each event is O(1), with counters and sets and no scans. While no VOQ is above
 * HCDTh, an event is one comparison. Single-threaded; no allocation after
 * congestion_detector_create(). */

#include <stdbool.h>
#include <stdint.h>

#include "base/port_set.h"
#include "base/weft_time.h"
#include "wire/frame.h"

/* When FCTh is tested, besides the paper's tests when a VOQ exceeds HCDTh and after CRT. */
enum congestion_detector_retest {
	CONGESTION_RETEST_NEVER,  /* as in the paper */
	CONGESTION_RETEST_STARTS, /* also on each arrival above HCDTh: a branch may become suspect
				   */
	CONGESTION_RETEST_HOLDS, /* also ends the suspicion if FCTh does not hold at such an arrival
				  */
};

struct congestion_detector_config {
	uint8_t ports;                      /* 1..PORT_SET_PORTS */
	uint8_t vcs;                        /* 1..FRAME_VCS_MAX, including the AFC */
	uint32_t vc_blocks[PORT_SET_PORTS]; /* size of each VC, by input port */
	uint32_t hcdth_ppm, lcdth_ppm;      /* thresholds of a VOQ; lcdth must be below hcdth */
	uint32_t fcth_ppm;                  /* threshold for the VC in the next device */
	weft_time crt_ps;
	weft_time refresh_ps; /* interval between notifications of a root */
	/* Readings (interpretations of the paper); 0 follows its text literally. */
	enum congestion_detector_retest retest;
	bool by_vc; /* a VOQ is compared with the size of its VC; otherwise the sum over all VCs of
		       (input, output) is compared with the size of the input's buffer */
	bool all_voqs; /* notify for all VOQs of a root above HCDTh, not only for the first */
	bool afc;      /* the AFC's VOQs are also considered */
};

enum congestion_detector_state {
	CONGESTION_NONE,
	CONGESTION_BRANCH,
	CONGESTION_SUSPECT,
	CONGESTION_ROOT
};

/* The action required of the caller. */
enum congestion_detector_change {
	CONGESTION_NO_CHANGE,
	/* A VOQ of a root has just exceeded HCDTh: notify for its head, a responsible packet. */
	CONGESTION_ROOT_GROWS,
};

/* A pair (output, input). */
struct congestion_detector_cross {
	uint16_t passed; /* VCs that exceeded HCDTh and have not fallen below LCDTh since */
	uint16_t above;  /* VCs above HCDTh now */
	uint32_t blocks; /* sum over all VCs; unused if by_vc */
	uint8_t recent;  /* the VC that grew last */
};

struct congestion_detector_output {
	enum congestion_detector_state state;
	uint16_t passed;   /* VOQs that must fall below LCDTh: sum over all inputs */
	port_set above;    /* inputs with a VOQ that is above HCDTh now */
	uint8_t input, vc; /* SUSPECT, ROOT: the VOQ that caused the state */
	uint8_t life;      /* number of roots so far, modulo 256 */
	weft_time due;     /* SUSPECT: end of CRT; ROOT: next refresh */
	weft_time since;   /* SUSPECT, ROOT: start of the state */
};

struct congestion_detector {
	port_set crowded; /* outputs whose departures must be reported: a VOQ exceeded HCDTh, or
			     by_vc is false */
	struct congestion_detector_config config;
	uint32_t high[PORT_SET_PORTS], low[PORT_SET_PORTS]; /* thresholds in blocks, by input */
	uint16_t watched;                                   /* VCs that are considered */
	port_set timed;                                     /* outputs with a running timer */
	weft_time next_due; /* the earliest 'due' or an earlier time */
	struct congestion_detector_output output[PORT_SET_PORTS];
	struct congestion_detector_cross *cross; /* [output][input] */
	uint64_t suspicions, roots;              /* number of starts */
};

/* Returns NULL with errno EINVAL (a number out of range, LCDTh not below HCDTh) or ENOMEM. */
struct congestion_detector *congestion_detector_create(
	const struct congestion_detector_config *config);
void congestion_detector_destroy(struct congestion_detector *detector);

static inline struct congestion_detector_cross *congestion_detector_cross(
	const struct congestion_detector *detector, unsigned output, unsigned input)
{
	return &detector->cross[output * detector->config.ports + input];
}

/* Call when a VOQ has grown and is above HCDTh. 'free' and 'capacity' are blocks of the VC in the
 * next device that will store its head. */
enum congestion_detector_change congestion_detector_above(struct congestion_detector *detector,
	unsigned input, unsigned vc, unsigned output, uint32_t free, uint32_t capacity,
	weft_time now);

/* Call when a VOQ of an output with VOQs that exceeded HCDTh has shrunk to 'blocks'. */
void congestion_detector_shrunk(struct congestion_detector *detector, unsigned input, unsigned vc,
	unsigned output, uint32_t blocks);

/* Returns the number of blocks up to which growing VOQs need not be reported. */
uint32_t congestion_detector_report_above(const struct congestion_detector *detector);

/* Records that a VOQ grew by 'packet' blocks to 'blocks'. Returns the number of blocks to
 * compare with the threshold. */
static inline uint32_t congestion_detector_grown(struct congestion_detector *detector,
	unsigned input, unsigned vc, unsigned output, uint32_t blocks, uint32_t packet)
{
	struct congestion_detector_cross *cross;

	if (__builtin_expect(detector->config.by_vc, 1))
		return blocks;
	cross = congestion_detector_cross(detector, output, input);
	cross->recent = (uint8_t)vc;
	return cross->blocks += packet;
}

/* Returns true if congestion_detector_above() must be called for an arrival. 'counted' is the
 * result of congestion_detector_grown(). */
static inline bool congestion_detector_is_above(
	const struct congestion_detector *detector, unsigned input, unsigned vc, uint32_t counted)
{
	return counted > detector->high[input] && (detector->watched >> vc & 1) != 0;
}

/* Call when a packet of 'packet' blocks has left its VOQ, which has 'blocks' left. */
static inline void congestion_detector_depart(struct congestion_detector *detector, unsigned input,
	unsigned vc, unsigned output, uint32_t blocks, uint32_t packet)
{
	if (__builtin_expect(!detector->config.by_vc, 0))
		blocks = congestion_detector_cross(detector, output, input)->blocks -= packet;
	if (__builtin_expect(detector->output[output].passed != 0, 0))
		congestion_detector_shrunk(detector, input, vc, output, blocks);
}

/* Returns the latest time of the next poll; WEFT_TIME_NEVER: after the next event. */
static inline weft_time congestion_detector_next_due(const struct congestion_detector *detector)
{
	return detector->next_due;
}

/* Returns one output whose timer has expired, or -1. '*what' is CONGESTION_SUSPECT if CRT expired:
 * pass the current credits for the head of the output's (input, vc) to
 * congestion_detector_confirm(). It is CONGESTION_ROOT if a refresh is due; the next one is already
 * scheduled. */
int congestion_detector_poll(
	struct congestion_detector *detector, weft_time now, enum congestion_detector_state *what);

/* Call at the end of CRT. Returns true if the output is now a root. */
bool congestion_detector_confirm(struct congestion_detector *detector, unsigned output,
	uint32_t free, uint32_t capacity, weft_time now);

/* Return the inputs, and the VCs of an input, whose heads are responsible for a root. */
port_set congestion_detector_notifiers(const struct congestion_detector *detector, unsigned output);
uint16_t congestion_detector_speaking_vcs(
	const struct congestion_detector *detector, unsigned output, unsigned input);

/* Returns the identifier of an existing root: 16 bits of 'device', the output, and the number of
 * the root at that output. */
static inline uint32_t congestion_detector_root_id(
	const struct congestion_detector *detector, uint32_t device, unsigned output)
{
	return (device & 0xFFFF) << 16 | (uint32_t)(output & 0xFF) << 8 |
	       detector->output[output].life;
}

/* Checks invariants, for tests and debug builds. Returns NULL or a description of the violation. */
const char *congestion_detector_check(const struct congestion_detector *detector);

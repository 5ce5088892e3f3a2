/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The congestion detector of one switch (Rocher-Gonzalez et al., "Congestion Management in
 * High-Performance Interconnection Networks Using Adaptive Routing Notifications", section 3.3;
 * readings: docs/explanation/congestion.md): which outputs are roots of congestion trees.
 *
 * An output becomes suspect when a VOQ (the packets of one (input, VC) for one output) grows above
 * HCDTh. If the credits left for the VOQ's head in the next device are above FCTh, packets still
 * advance there: the output may be a root, and CRT starts; otherwise it is a branch of a tree that
 * is rooted further downstream. If both conditions still hold for that VOQ when CRT expires, the
 * output is a root, until every VOQ that was above HCDTh is back below LCDTh.
 *
 * A state machine: the caller reports changes of VOQs; the detector holds no packets and has no
 * access to credits. Each event is O(1): counters and sets, no scans. While no VOQ is above HCDTh
 * an event is one comparison. One thread; no allocation after congestion_detector_create(). */

#include <stdbool.h>
#include <stdint.h>

#include "base/port_set.h"
#include "base/weft_time.h"
#include "wire/frame.h"

/* When FCTh is tested again. The paper tests it when a VOQ passes HCDTh and at the end of CRT. */
enum congestion_detector_retest {
	CONGESTION_RETEST_NEVER,  /* as in the paper */
	CONGESTION_RETEST_STARTS, /* also at each arrival above HCDTh: a branch may become
				   * suspect */
	CONGESTION_RETEST_HOLDS,  /* as above, and a failed test ends the suspicion: FCTh must hold
				   * throughout */
};

struct congestion_detector_config {
	uint8_t ports; /* 1..PORT_SET_PORTS */
	uint8_t vcs;   /* 1..FRAME_VCS_MAX, the AFC included when there is one */
	uint32_t vc_blocks[PORT_SET_PORTS]; /* size of each VC, by input port */
	uint32_t hcdth_ppm, lcdth_ppm;      /* thresholds of one VC; lcdth below hcdth */
	uint32_t fcth_ppm;                  /* threshold for the VC in the next device */
	weft_time crt_ps;
	weft_time refresh_ps; /* interval of a standing root's notifications */
	/* Readings (interpretations of the paper); 0 follows its text literally. */
	enum congestion_detector_retest retest;
	bool by_vc;    /* a VOQ is compared with its VC's size; otherwise all VCs of (input, output)
			* together are compared with the size of the input's buffer */
	bool all_voqs; /* notify for all VOQs of a root above HCDTh, not only for the first */
	bool afc;      /* the AFC's VOQs are also considered */
};

enum congestion_detector_state {
	CONGESTION_NONE,
	CONGESTION_BRANCH,
	CONGESTION_SUSPECT,
	CONGESTION_ROOT
};

/* The caller's task. */
enum congestion_detector_change {
	CONGESTION_NO_CHANGE,
	/* This VOQ of a root just exceeded HCDTh: its head is a responsible packet. */
	CONGESTION_ROOT_GROWS,
};

/* A pair (output, input). */
struct congestion_detector_cross {
	uint16_t passed; /* VCs above HCDTh that have not been below LCDTh since */
	uint16_t above;  /* VCs above HCDTh now */
	uint32_t blocks; /* sum over all VCs; only if they count together */
	uint8_t recent;  /* the VC that grew it last */
};

struct congestion_detector_output {
	enum congestion_detector_state state;
	uint16_t passed;   /* VOQs that must fall below LCDTh: the sum over its crosses */
	port_set above;    /* inputs with a VOQ above HCDTh now */
	uint8_t input, vc; /* SUSPECT, ROOT: the VOQ that started it */
	uint8_t life;      /* counts the roots here */
	weft_time due;     /* SUSPECT: when CRT expires; ROOT: when to refresh */
	weft_time since;   /* SUSPECT, ROOT */
};

struct congestion_detector {
	port_set crowded; /* outputs whose departures must be reported: a VOQ exceeded HCDTh, or VCs
			   * count together */
	struct congestion_detector_config config;
	uint32_t high[PORT_SET_PORTS], low[PORT_SET_PORTS]; /* blocks, by input */
	uint16_t watched;                                   /* VCs */
	port_set timed;                                     /* outputs with a time in 'due' */
	weft_time next_due;                                 /* the smallest of them, or earlier */
	struct congestion_detector_output output[PORT_SET_PORTS];
	struct congestion_detector_cross *cross; /* [output][input] */
	uint64_t suspicions, roots;              /* counters: begun */
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

/* A VOQ grew to 'blocks' and is above HCDTh. 'free', 'capacity': blocks of the VC in the next
 * device where its head will be stored. */
enum congestion_detector_change congestion_detector_above(struct congestion_detector *detector,
	unsigned input, unsigned vc, unsigned output, uint32_t free, uint32_t capacity,
	weft_time now);

/* A VOQ shrank to 'blocks'; its output has VOQs that exceeded HCDTh. */
void congestion_detector_shrunk(struct congestion_detector *detector, unsigned input, unsigned vc,
	unsigned output, uint32_t blocks);

/* Only VOQs that grow above this number of blocks need to be reported. */
uint32_t congestion_detector_report_above(const struct congestion_detector *detector);

/* The blocks to compare with the threshold for a VOQ that has grown by 'packet' blocks to 'blocks'.
 */
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

/* True if congestion_detector_above() must be called for an arrival; 'counted' is the result of
 * congestion_detector_grown(). */
static inline bool congestion_detector_is_above(
	const struct congestion_detector *detector, unsigned input, unsigned vc, uint32_t counted)
{
	return counted > detector->high[input] && (detector->watched >> vc & 1) != 0;
}

/* A packet left its VOQ, which has 'blocks' left. */
static inline void congestion_detector_depart(struct congestion_detector *detector, unsigned input,
	unsigned vc, unsigned output, uint32_t blocks, uint32_t packet)
{
	if (__builtin_expect(!detector->config.by_vc, 0))
		blocks = congestion_detector_cross(detector, output, input)->blocks -= packet;
	if (__builtin_expect(detector->output[output].passed != 0, 0))
		congestion_detector_shrunk(detector, input, vc, output, blocks);
}

/* Latest time to poll; WEFT_TIME_NEVER: not before the next event. */
static inline weft_time congestion_detector_next_due(const struct congestion_detector *detector)
{
	return detector->next_due;
}

/* Takes one output whose timer has expired. CONGESTION_SUSPECT: CRT expired; the caller passes the
 * current credits for the head of the output's (input, vc) to congestion_detector_confirm().
 * CONGESTION_ROOT: its refresh is due; the next one is already scheduled. Returns the output, or
 * -1. */
int congestion_detector_poll(
	struct congestion_detector *detector, weft_time now, enum congestion_detector_state *what);

/* CRT has ended: returns true if the output is a root from now on. */
bool congestion_detector_confirm(struct congestion_detector *detector, unsigned output,
	uint32_t free, uint32_t capacity, weft_time now);

/* The inputs, and the set of VCs of each, whose heads are responsible for a root. */
port_set congestion_detector_notifiers(const struct congestion_detector *detector, unsigned output);
uint16_t congestion_detector_speaking_vcs(
	const struct congestion_detector *detector, unsigned output, unsigned input);

/* Identifies a root while it stands: 16 bits for the switch, then the output and the number of the
 * root there. */
static inline uint32_t congestion_detector_root_id(
	const struct congestion_detector *detector, uint32_t device, unsigned output)
{
	return (device & 0xFFFF) << 16 | (uint32_t)(output & 0xFF) << 8 |
	       detector->output[output].life;
}

/* Checks invariants, for tests and debug builds. Returns NULL, or a description of the
 * violation. */
const char *congestion_detector_check(const struct congestion_detector *detector);

/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Arbitration rules other than round robin, per output. A rule selects a VC first, and then one of
 * the inputs whose head in that VC can be sent.
 *
 *     VCs     round-robin, applied after the rule for the inputs
 *             strict: the highest VC goes first
 *             weighted: blocks in proportion to the weights (start-time fair queuing)
 *     inputs  round-robin
 *             age: the head of the oldest message (Abts and Weisser, SC 2007)
 *             weighted: blocks in proportion to the flows behind the input
 *
 * Round robin gives all inputs of an output equal shares, however many hosts are behind each, so
 * flows that merged upstream starve. The flows behind an input are the sources of the packets that
 * it recently sent to the output, estimated from a bitmap of hashes (linear counting, Whang 1990).
 *
 * A choice is made by setting the round-robin positions (arbiter_aim()), so round-robin switches
 * pay nothing for it. Because every packet must be counted, drivers store all of them: no packet
 * bypasses the queues of an idle output. Single-threaded. */

#include <stdbool.h>
#include <stdint.h>

#include "base/weft_time.h"
#include "wire/frame.h"

#define ARBITRATIONS(X)               \
	X(ROUND_ROBIN, "round-robin") \
	X(AGE, "age")                 \
	X(WEIGHTED, "weighted")
#define VC_SERVICES(X)                \
	X(ROUND_ROBIN, "round-robin") \
	X(STRICT, "strict")           \
	X(WEIGHTED, "weighted")

#define X(id, text) ARBITRATION_##id,
enum arbitration_kind { ARBITRATIONS(X) };
#undef X
#define X(id, text) VC_SERVICE_##id,
enum vc_service { VC_SERVICES(X) };
#undef X

struct arbitration_config {
	enum arbitration_kind inputs;
	enum vc_service vcs;
	uint8_t weight[FRAME_VCS_MAX]; /* by VC; 0 means 1 */
};

/* State of an input at an output. */
struct arbitration_input {
	uint64_t seen, before; /* source hashes, in this period and the previous one */
	uint64_t time;         /* service received, in blocks divided by the input's weight */
};

struct arbitration_output {
	uint64_t vc_time[FRAME_VCS_MAX];
	uint64_t vc_clock, clock;    /* initial value for VCs and inputs that had no packets */
	uint8_t next[FRAME_VCS_MAX]; /* by VC: next input in round-robin order */
	uint32_t packets;            /* sent in this period */
};

struct arbitration {
	struct arbitration_config config;
	struct arbitration_output *output; /* [ports] */
	struct arbitration_input *input;   /* [outputs][inputs] */
};

/* Returns true unless VCs and inputs are both served round-robin. */
static inline bool arbitration_is_needed(const struct arbitration_config *config)
{
	return config->inputs != ARBITRATION_ROUND_ROBIN || config->vcs != VC_SERVICE_ROUND_ROBIN;
}

/* Estimates the number of flows from a bitmap of source hashes. */
unsigned arbitration_flows(uint64_t seen);

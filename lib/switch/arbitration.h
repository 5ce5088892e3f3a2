/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Arbitration other than round robin, at each output: among the VCs first, then among the inputs
 * whose head of that VC can leave.
 *
 *     VCs     round-robin, with the inputs' order first
 *             strict: a higher VC goes first
 *             weighted: blocks in proportion to the weights (start-time fair queuing)
 *     inputs  round-robin
 *             age: the head whose message is oldest (Abts and Weisser, SC 2007)
 *             weighted: blocks in proportion to the flows behind the input
 *
 * Round robin gives each input of an output the same share, however many hosts are behind it, so
 * flows that merged upstream starve. The flows behind an input are the sources of the packets that
 * it recently sent to the output, estimated from a bitmap of hashes (linear counting, Whang 1990).
 *
 * The choice is made by setting the round-robin positions (arbiter_aim()), so it costs a
 * round-robin switch nothing. Every packet has to be counted, so drivers store all of them: none
 * passes the queues of an idle output. One thread. */

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
	uint8_t weight[FRAME_VCS_MAX]; /* by VC; 0 counts as 1 */
};

/* An input at an output. */
struct arbitration_input {
	uint64_t seen, before; /* hashes of the sources, in this period and the last one */
	uint64_t time;         /* service received, in blocks divided by its weight */
};

struct arbitration_output {
	uint64_t vc_time[FRAME_VCS_MAX];
	uint64_t vc_clock, clock;    /* initial value for VCs and inputs that had nothing to send */
	uint8_t next[FRAME_VCS_MAX]; /* by VC: the input that is next in turn */
	uint32_t packets;            /* in this period */
};

struct arbitration {
	struct arbitration_config config;
	struct arbitration_output *output; /* [ports] */
	struct arbitration_input *input;   /* [outputs][inputs] */
};

/* True unless all is round robin. */
static inline bool arbitration_is_needed(const struct arbitration_config *config)
{
	return config->inputs != ARBITRATION_ROUND_ROBIN || config->vcs != VC_SERVICE_ROUND_ROBIN;
}

/* Estimates the number of flows from a bitmap of their hashes. */
unsigned arbitration_flows(uint64_t seen);

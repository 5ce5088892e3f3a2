/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "cn.h"

#include "frame.h"

#define KNOWN_FLAGS (CN_F_PREDICTIVE | CN_F_FECN | CN_F_BECN)

static uint8_t *put16(uint8_t *at, uint16_t value)
{
	at[0] = (uint8_t)(value >> 8);
	at[1] = (uint8_t)value;
	return at + 2;
}

static uint8_t *put32(uint8_t *at, uint32_t value)
{
	return put16(put16(at, (uint16_t)(value >> 16)), (uint16_t)value);
}

static uint16_t get16(const uint8_t *at)
{
	return (uint16_t)(at[0] << 8 | at[1]);
}

static uint32_t get32(const uint8_t *at)
{
	return (uint32_t)get16(at) << 16 | get16(at + 2);
}

unsigned cn_encode(const struct cn *cn, uint8_t *out)
{
	uint8_t *at = put32(put32(put32(out, cn->message), cn->sequence), cn->waiting_ns);

	*at++ = cn->path;
	*at++ = cn->flags;
	*at++ = cn->flows;
	*at++ = 0;
	for (unsigned i = 0; i < cn->flows; i++)
		at = put16(put16(at, cn->flow[i].source), cn->flow[i].destination);
	return (unsigned)(at - out);
}

bool cn_flows_ok(const struct cn_flow *flow, unsigned flows)
{
	for (unsigned i = 0; i < flows; i++) {
		if (flow[i].source == FRAME_HOST_NONE || flow[i].destination == FRAME_HOST_NONE)
			return false;
		for (unsigned k = 0; k < i; k++)
			if (flow[k].source == flow[i].source &&
				flow[k].destination == flow[i].destination)
				return false;
	}
	return true;
}

/* The parts of a notification agree with each other. */
static bool is_sound(const struct cn *cn)
{
	if ((cn->flags & ~KNOWN_FLAGS) != 0 || (cn->flags & (CN_F_BECN | CN_F_FECN)) == CN_F_BECN ||
		(cn->flows != 0 && (cn->flags & CN_F_PREDICTIVE) == 0))
		return false;
	if (cn->path == CN_PATH_UNKNOWN)
		return cn->waiting_ns == 0 && (cn->flags & CN_F_PREDICTIVE) == 0;
	return cn->path <= CN_PATH_MAX;
}

bool cn_decode(struct cn *cn, const uint8_t *in, unsigned bytes)
{
	if (bytes < CN_BYTES(0) || in[14] > CN_FLOWS_MAX || bytes != CN_BYTES((unsigned)in[14]) ||
		in[15] != 0)
		return false;
	*cn = (struct cn){.message = get32(in),
		.sequence = get32(in + 4),
		.waiting_ns = get32(in + 8),
		.path = in[12],
		.flags = in[13],
		.flows = in[14]};
	for (unsigned i = 0; i < cn->flows; i++)
		cn->flow[i] =
			(struct cn_flow){get16(in + CN_BYTES(i)), get16(in + CN_BYTES(i) + 2)};
	return is_sound(cn) && cn_flows_ok(cn->flow, cn->flows);
}

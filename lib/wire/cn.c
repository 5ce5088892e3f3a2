/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "cn.h"

#include "big_endian.h"
#include "frame.h"

#define KNOWN_FLAGS (CN_F_PREDICTIVE | CN_F_FECN | CN_F_BECN)

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

/* Returns true if the fields of a notification are consistent. */
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

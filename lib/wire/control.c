/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "control.h"

#include "big_endian.h"

unsigned control_credit_encode(const struct control_credit *credit, uint8_t *out)
{
	uint8_t *at = put32(put32(out, credit->session), credit->peer_session);

	at = put32(at, (uint32_t)credit->vcs << 24);
	for (unsigned vc = 0; vc < credit->vcs; vc++)
		at = put32(put32(at, credit->sent[vc]), credit->limit[vc]);
	return (unsigned)(at - out);
}

bool control_credit_decode(struct control_credit *credit, const uint8_t *in, unsigned bytes)
{
	if (bytes < CONTROL_CREDIT_BYTES(0))
		return false;
	*credit = (struct control_credit){
		.session = get32(in),
		.peer_session = get32(in + 4),
		.vcs = in[8],
	};
	if (credit->session == 0 || credit->vcs > FRAME_VCS_MAX ||
		bytes != CONTROL_CREDIT_BYTES((unsigned)credit->vcs))
		return false;
	for (unsigned vc = 0; vc < credit->vcs; vc++) {
		credit->sent[vc] = get32(in + 12 + 8 * vc);
		credit->limit[vc] = get32(in + 16 + 8 * vc);
	}
	return true;
}

unsigned control_hello_encode(const struct control_hello *hello, uint8_t *out)
{
	uint8_t *at = put32(out, (uint32_t)(hello->device >> 32));

	at = put32(at, (uint32_t)hello->device);
	at = put32(put32(at, hello->session), hello->peer_session);
	at = put32(at, (uint32_t)hello->port << 24 | (uint32_t)hello->kind << 16 | hello->formats);
	put32(put32(at, hello->generation), hello->peer_generation);
	return CONTROL_HELLO_BYTES;
}

bool control_hello_decode(struct control_hello *hello, const uint8_t *in, unsigned bytes)
{
	if (bytes != CONTROL_HELLO_BYTES)
		return false;
	*hello = (struct control_hello){
		.device = (uint64_t)get32(in) << 32 | get32(in + 4),
		.session = get32(in + 8),
		.peer_session = get32(in + 12),
		.port = in[16],
		.kind = in[17],
		.formats = (uint16_t)(in[18] << 8 | in[19]),
		.generation = get32(in + 20),
		.peer_generation = get32(in + 24),
	};
	return hello->session != 0 && hello->kind <= 1;
}

unsigned control_ack_encode(const struct control_ack *ack, uint8_t *out)
{
	uint32_t request = (uint32_t)ack->again << 24 | (uint32_t)ack->missing << 16;

	put32(put32(put32(out, ack->expected), request | ack->flow), ack->session);
	return CONTROL_ACK_BYTES;
}

bool control_ack_decode(struct control_ack *ack, const uint8_t *in, unsigned bytes)
{
	if (bytes != CONTROL_ACK_BYTES)
		return false;
	*ack = (struct control_ack){
		.expected = get32(in),
		.again = in[4],
		.missing = in[5],
		.flow = (uint16_t)(in[6] << 8 | in[7]),
		.session = get32(in + 8),
	};
	return ack->session != 0;
}

unsigned control_flow_encode(const struct control_flow *flow, uint8_t *out)
{
	uint8_t *at = put32(out, (uint32_t)flow->flow << 16 | (uint32_t)flow->step << 8);

	at = put32(at, flow->sequence);
	at = put32(at, (uint32_t)flow->offered << 16 | flow->number);
	put32(put32(at, flow->first), flow->session);
	return CONTROL_FLOW_BYTES;
}

bool control_flow_decode(struct control_flow *flow, const uint8_t *in, unsigned bytes)
{
	if (bytes != CONTROL_FLOW_BYTES)
		return false;
	*flow = (struct control_flow){
		.step = in[2],
		.flow = (uint16_t)(in[0] << 8 | in[1]),
		.sequence = get32(in + 4),
		.offered = (uint16_t)(in[8] << 8 | in[9]),
		.number = (uint16_t)(in[10] << 8 | in[11]),
		.first = get32(in + 12),
		.session = get32(in + 16),
	};
	return flow->step == CONTROL_FLOW_ASK ||
	       (flow->step == CONTROL_FLOW_OFFER && flow->session != 0);
}

unsigned control_clock_encode(const struct control_clock *clock, uint8_t *out)
{
	uint8_t *at = put32(put32(out, (uint32_t)clock->step << 24), clock->clock);

	put64(put64(put64(at, clock->number), clock->heard_ns), clock->left_ns);
	return CONTROL_CLOCK_BYTES;
}

bool control_clock_decode(struct control_clock *clock, const uint8_t *in, unsigned bytes)
{
	if (bytes != CONTROL_CLOCK_BYTES)
		return false;
	*clock = (struct control_clock){
		.step = in[0],
		.clock = get32(in + 4),
		.number = get64(in + 8),
		.heard_ns = get64(in + 16),
		.left_ns = get64(in + 24),
	};
	if (clock->clock == 0 || clock->number == 0 || clock->left_ns >= CONTROL_CLOCK_TIMES)
		return false;
	return clock->step == CONTROL_CLOCK_ASK
		       ? clock->heard_ns == 0
		       : clock->step == CONTROL_CLOCK_ANSWER && clock->heard_ns <= clock->left_ns;
}

unsigned control_arn_encode(const struct control_arn *arn, uint8_t *out)
{
	put32(put32(out, arn->id),
		(uint32_t)arn->destination << 16 | (uint32_t)arn->vc << 8 | arn->root_info);
	return CONTROL_ARN_BYTES;
}

bool control_arn_decode(struct control_arn *arn, const uint8_t *in, unsigned bytes)
{
	if (bytes != CONTROL_ARN_BYTES)
		return false;
	*arn = (struct control_arn){
		.id = get32(in),
		.destination = (uint16_t)(in[4] << 8 | in[5]),
		.vc = in[6],
		.root_info = in[7],
	};
	return arn->destination != FRAME_HOST_NONE && arn->vc < FRAME_VCS_MAX;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* frame_seeds FOLDER: writes one good frame of each kind, in the form that frame_fuzz expects, so
 * that the fuzzer starts from the current format. */

#include <stdio.h>

#include "seed_file.h"
#include "wire/cn.h"
#include "wire/control.h"
#include "wire/frame_check.h"
#include "wire/latency.h"

static unsigned fill_payload(enum frame_kind kind, uint8_t *at)
{
	const struct control_credit credit = {
		.session = 7, .peer_session = 8, .vcs = 2, .sent = {1, 2}, .limit = {90, 91}};
	const struct control_hello hello = {.device = 0x1122334455667788u, .session = 7, .kind = 1};
	const struct control_ack ack = {.expected = 5, .session = 7};
	const struct control_flow flow = {
		.step = CONTROL_FLOW_OFFER, .flow = 5, .offered = 6, .session = 7};
	const struct cn cn = {.message = 65543,
		.sequence = 99,
		.waiting_ns = 1500,
		.path = 2,
		.flags = CN_F_PREDICTIVE,
		.flows = 2,
		.flow = {{1, 2}, {3, 4}}};
	const struct control_clock clock = {.step = CONTROL_CLOCK_ANSWER,
		.clock = 7,
		.number = 8,
		.heard_ns = 1000,
		.left_ns = 2000};
	const struct control_arn arn = {.id = 9, .destination = 4, .root_info = 1};

	switch (kind) {
	case FRAME_CREDIT:
		return control_credit_encode(&credit, at);
	case FRAME_HELLO:
		return control_hello_encode(&hello, at);
	case FRAME_ACK:
		return control_ack_encode(&ack, at);
	case FRAME_FLOW:
		return control_flow_encode(&flow, at);
	case FRAME_ARN:
		return control_arn_encode(&arn, at);
	case FRAME_CLOCK:
		return control_clock_encode(&clock, at);
	case FRAME_CN:
		return cn_encode(&cn, at);
	default:
		memset(at, 0x5A, 64);
		return 64;
	}
}

/* Extension of a frame that has waited, with flows. */
static void fill_extension(uint8_t *at)
{
	const struct cn_flow flows[] = {{1, 2}, {3, 4}};
	struct latency_extension extension;

	latency_begin(&extension, 2);
	latency_add(&extension, 1500);
	latency_record(&extension, flows, 2);
	latency_seal(&extension);
	memcpy(at, &extension, sizeof(extension));
}

static int write_seed(
	const char *folder, enum frame_kind kind, unsigned route_length, unsigned flags)
{
	static const uint8_t route[FRAME_ROUTE_MAX] = {
		0x81, 0xC2, ROUTE_TYPE_ITB, 0x83, ROUTE_TYPE_STEP, 0x84};
	uint8_t frame[FRAME_BYTES_MAX], *payload = frame + FRAME_HEADER_BYTES + route_length;
	struct frame_fields fields = {.kind = kind,
		.source = 1,
		.destination = 2,
		.vc = 1,
		.flags = (uint8_t)flags,
		.route = route,
		.route_length = (uint8_t)route_length};
	char name[64];
	unsigned bytes;
	FILE *out;

	fill_extension(payload);
	if (flags != 0)
		payload += FRAME_LATENCY_BYTES;
	fields.payload_bytes = (uint16_t)fill_payload(kind, payload);
	bytes = frame_build(frame, &fields);
	snprintf(name, sizeof(name), "%u-%u-%u", (unsigned)kind, route_length, flags);
	out = seed_open(folder, name);
	if (out == NULL)
		return 1;
	fwrite("\1\0\0", 1, 3, out);
	fwrite(frame, 1, bytes, out);
	return fclose(out) != 0;
}

int main(int argc, char **argv)
{
	static const unsigned lengths[] = {0, 3, 8, 9, FRAME_ROUTE_MAX};
	int failed = argc != 2;

	for (unsigned kind = 1; kind < FRAME_KIND_COUNT && !failed; kind++)
		for (unsigned i = 0; i < sizeof(lengths) / sizeof(lengths[0]) && !failed; i++)
			if (lengths[i] == 0 || !frame_link_local(kind))
				failed = write_seed(argv[1], (enum frame_kind)kind, lengths[i], 0);
	for (unsigned i = 0; i < sizeof(lengths) / sizeof(lengths[0]) && !failed; i++)
		failed = write_seed(argv[1], FRAME_DATA, lengths[i], FRAME_F_LATENCY);
	return failed;
}

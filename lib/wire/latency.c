/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "latency.h"

#include <arpa/inet.h>
#include <string.h>

#include "crc.h"

static uint16_t compute_check(const struct latency_extension *extension)
{
	struct latency_extension copy = *extension;

	copy.check_be = 0;
	return htons(crc16(&copy, sizeof(copy)));
}

void latency_begin(struct latency_extension *extension, unsigned path)
{
	*extension = (struct latency_extension){.flags = (uint8_t)(path << LATENCY_PATH_SHIFT)};
	latency_seal(extension);
}

bool latency_check_ok(const struct latency_extension *extension)
{
	return extension->check_be == compute_check(extension);
}

void latency_add(struct latency_extension *extension, uint32_t waiting_ns)
{
	uint32_t before = ntohl(extension->waiting_ns_be);

	extension->waiting_ns_be =
		htonl(waiting_ns > UINT32_MAX - before ? UINT32_MAX : before + waiting_ns);
}

void latency_record(struct latency_extension *extension, const struct cn_flow *flow, unsigned flows)
{
	extension->flags |= LATENCY_PREDICTIVE;
	extension->flows = (uint8_t)flows;
	memset(extension->flow, 0, sizeof(extension->flow));
	for (unsigned i = 0; i < flows; i++)
		extension->flow[i] =
			(struct latency_flow){htons(flow[i].source), htons(flow[i].destination)};
}

void latency_seal(struct latency_extension *extension)
{
	extension->check_be = compute_check(extension);
}

uint32_t latency_waiting_ns(const struct latency_extension *extension)
{
	return ntohl(extension->waiting_ns_be);
}

static bool rest_is_zero(const struct latency_extension *extension)
{
	for (unsigned i = extension->flows; i < CN_FLOWS_MAX; i++)
		if (extension->flow[i].source_be != 0 || extension->flow[i].destination_be != 0)
			return false;
	return true;
}

void latency_flows(struct cn *cn, const struct latency_extension *extension)
{
	cn->flows = extension->flows;
	for (unsigned i = 0; i < cn->flows; i++)
		cn->flow[i] = (struct cn_flow){ntohs(extension->flow[i].source_be),
			ntohs(extension->flow[i].destination_be)};
}

bool latency_decode(struct cn *cn, const struct latency_extension *extension)
{
	bool predictive = latency_is_predictive(extension);
	const uint8_t known = (uint8_t)(LATENCY_PREDICTIVE | CN_PATH_MAX << LATENCY_PATH_SHIFT);

	if (extension->flows > CN_FLOWS_MAX || (extension->flags & (uint8_t)~known) != 0 ||
		(extension->flows != 0 && !predictive) || !rest_is_zero(extension))
		return false;
	cn->waiting_ns = latency_waiting_ns(extension);
	cn->path = extension->flags >> LATENCY_PATH_SHIFT;
	cn->flags = (uint8_t)((cn->flags & ~CN_F_PREDICTIVE) | (predictive ? CN_F_PREDICTIVE : 0));
	latency_flows(cn, extension);
	return cn_flows_ok(cn->flow, cn->flows);
}

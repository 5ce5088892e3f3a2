/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Invariants of a test fabric between two steps. Each is computed from the packets present and
 * compared with the credits. */

#include "fabric_wire.h"

/* Blocks by VC. */
struct blocks {
	uint32_t vc[FRAME_VCS_MAX];
};

static void add_wire(const struct fabric_wire *wire, struct blocks *blocks, uint64_t *packets)
{
	for (uint32_t i = wire->head; i != wire->tail; i++) {
		const struct weft_packet *packet = wire->item[i & wire->mask].packet;

		if (packet == NULL)
			continue;
		blocks->vc[packet->header_vc] += packet->blocks;
		++*packets;
	}
}

static void add_switch_port(const struct fabric_switch *at, unsigned input, struct blocks *blocks)
{
	const struct weft_switch *sw = at->sw;
	unsigned outputs = sw->voq ? sw->ports : 1;

	for (unsigned output = 0; output < outputs; output++)
		for (unsigned vc = 0; vc < sw->vcs; vc++) {
			const struct voq *queue = &switch_queues(sw, output, input)[vc];

			for (const struct weft_packet *packet = queue->head; packet != NULL;
				packet = packet->next)
				blocks->vc[vc] += packet->blocks;
		}
}

static void add_host(const struct fabric_host *host, struct blocks *blocks, uint64_t *packets)
{
	for (const struct weft_packet *packet = host->stored_head; packet != NULL;
		packet = packet->next) {
		blocks->vc[packet->vc] += packet->blocks;
		++*packets;
	}
}

static void add_stored(
	const struct fabric *fabric, const struct fabric_end *end, struct blocks *blocks)
{
	uint64_t packets = 0;

	if (end->at.kind == DEVICE_HOST)
		add_host(&fabric->host_at[end->at.device], blocks, &packets);
	else
		add_switch_port(&fabric->switch_at[end->at.device], end->at.port, blocks);
}

/* One VC of the direction that ends at 'end'. Returns the sent blocks that are missing: lost, and
 * not yet restored by a credit frame. */
static uint32_t check_credits(const struct fabric *fabric, const struct fabric_end *end,
	unsigned vc, uint32_t flying, uint32_t stored)
{
	const struct credit_tx *tx = &end->peer->link->tx[vc];
	const struct credit_rx *rx = &end->link->rx[vc];
	int32_t available = (int32_t)(tx->limit - tx->sent);
	int32_t lost = (int32_t)(tx->sent - rx->received - flying);
	int32_t told = (int32_t)(rx->granted - tx->limit);
	int32_t untold = (int32_t)credit_ungranted(rx);
	int64_t sum = (int64_t)available + flying + lost + stored + told + untold;

	if (stored > rx->capacity)
		fabric_fail(fabric, "a buffer holds %u of %u blocks", stored, rx->capacity);
	if (available < 0 || lost < 0 || told < 0 || untold < 0)
		fabric_fail(fabric, "VC %u: available %d, lost %d, told %d, untold %d", vc,
			available, lost, told, untold);
	if (sum != rx->capacity)
		fabric_fail(fabric, "VC %u: %lld blocks where the buffer has %u", vc,
			(long long)sum, rx->capacity);
	return (uint32_t)lost;
}

static void check_wire(const struct fabric *fabric, const struct fabric_end *end, uint64_t *packets)
{
	struct blocks flying = {0}, stored = {0};
	uint64_t lost = 0;

	add_wire(end->in, &flying, packets);
	add_stored(fabric, end, &stored);
	for (unsigned vc = 0; vc < fabric->config.vcs; vc++)
		lost += check_credits(fabric, end, vc, flying.vc[vc], stored.vc[vc]);
	if (lost + end->link->blocks_healed != end->in->lost_blocks)
		fabric_fail(fabric, "%llu blocks missing and %llu healed where %llu were lost",
			(unsigned long long)lost, (unsigned long long)end->link->blocks_healed,
			(unsigned long long)end->in->lost_blocks);
}

static uint64_t sum_counter(const struct fabric *fabric, enum switch_counter counter)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < fabric->topology->switches; i++)
		for (unsigned port = 0; port < fabric->switch_at[i].sw->ports; port++)
			sum += fabric->switch_at[i].sw->port[port].count[counter];
	return sum;
}

uint64_t fabric_switch_discards(const struct fabric *fabric)
{
	uint64_t sum = 0;

	for (unsigned i = SWITCH_DISCARD_ROUTING_ERROR; i <= SWITCH_DISCARD_PURGED; i++)
		sum += sum_counter(fabric, (enum switch_counter)i);
	return sum;
}

static void check_hosts(const struct fabric *fabric, uint64_t *packets)
{
	struct blocks ignored = {0};

	for (uint32_t i = 0; i < fabric->topology->hosts; i++) {
		const struct fabric_host *host = &fabric->host_at[i];

		if (host->refused != 0)
			fabric_fail(fabric, "h%u was overrun", i);
		add_host(host, &ignored, packets);
		for (unsigned vc = 0; vc < fabric->config.vcs; vc++)
			*packets += host->pending[vc] != NULL;
	}
}

void fabric_check(const struct fabric *fabric)
{
	uint64_t packets = 0;

	for (uint32_t i = 0; i < fabric->topology->switches; i++) {
		const char *wrong = switch_check(fabric->switch_at[i].sw);

		if (wrong != NULL)
			fabric_fail(fabric, "s%u: %s", i, wrong);
		packets += switch_stored_packets(fabric->switch_at[i].sw);
	}
	for (unsigned i = 0; i < fabric->ends; i++)
		check_wire(fabric, &fabric->end[i], &packets);
	check_hosts(fabric, &packets);
	if (packets != fabric->live)
		fabric_fail(fabric, "%llu packets somewhere where %llu are under way",
			(unsigned long long)packets, (unsigned long long)fabric->live);
	if (sum_counter(fabric, SWITCH_DISCARD_CREDIT_VIOLATION) != 0)
		fabric_fail(fabric, "a switch was overrun");
	if (fabric_switch_discards(fabric) != fabric->discarded)
		fabric_fail(fabric, "discards differ from their counters");
}

/* Sent packets that never arrived, from the receivers' view. */
static uint64_t count_missing(const struct fabric *fabric)
{
	size_t flows =
		(size_t)fabric->topology->hosts * fabric->topology->hosts * fabric->config.vcs;
	uint64_t missing = fabric->missing;

	for (size_t i = 0; i < flows; i++)
		missing += fabric->sent_sequence[i] - fabric->expected_sequence[i];
	return missing;
}

void fabric_check_drained(const struct fabric *fabric)
{
	if (fabric->live != 0)
		fabric_fail(fabric, "%llu packets are left", (unsigned long long)fabric->live);
	if (fabric->injected != fabric->delivered + fabric->lost + fabric->discarded)
		fabric_fail(fabric, "injected differs from delivered + lost + discarded");
	if (count_missing(fabric) != fabric->lost + fabric->discarded)
		fabric_fail(fabric, "what is missing differs from lost + discarded");
	for (unsigned i = 0; i < fabric->ends; i++) {
		const struct fabric_end *end = &fabric->end[i];

		for (unsigned vc = 0; vc < fabric->config.vcs; vc++) {
			uint32_t available = credit_available(&end->peer->link->tx[vc]);

			if (available != end->link->rx[vc].capacity)
				fabric_fail(fabric, "%u of %u credits came back", available,
					end->link->rx[vc].capacity);
		}
	}
}

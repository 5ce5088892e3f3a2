/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "poll_nic_endpoints.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/eventfd.h>

static void pull(void *ctx, uint64_t cookie, uint32_t offset, uint8_t *out, uint32_t bytes)
{
	endpoint_set_pull(((struct poll_nic_endpoints *)ctx)->set, cookie, offset, out, bytes);
}

static void done(void *ctx, const struct nic_outcome *outcome)
{
	endpoint_set_done(((struct poll_nic_endpoints *)ctx)->set, outcome);
}

static void deliver(void *ctx, const struct nic_delivery *delivery)
{
	struct poll_nic_endpoints *endpoints = ctx;

	endpoint_set_deliver(endpoints->set, delivery);
	/* A reply may be due even if no program is attached. */
	atomic_store_explicit(&endpoints->active, true, memory_order_relaxed);
}

int poll_nic_set_endpoints(struct poll_nic *pn, uint16_t count, int thread_bell)
{
	const struct nic_config *config = nic_config(pn->nic);
	struct poll_nic_endpoints *endpoints = calloc(1, sizeof(*endpoints));
	const struct nic_programs programs = {.ctx = endpoints, .pull = pull, .done = done};

	if (endpoints == NULL)
		return -ENOMEM;
	endpoints->count = count;
	endpoints->thread_bell = thread_bell;
	endpoints->set = endpoint_set_create(
		config->host, config->hosts, count, config->mtu_bytes, config->give_up_ps);
	if (endpoints->set == NULL) {
		free(endpoints);
		return -ENOMEM;
	}
	nic_set_programs(pn->nic, &programs);
	pn->demux.endpoint_ctx = endpoints;
	pn->demux.endpoint = deliver;
	pn->endpoints = endpoints;
	return 0;
}

void poll_nic_endpoints_fini(struct poll_nic *pn)
{
	if (pn->endpoints == NULL)
		return;
	endpoint_set_destroy(pn->endpoints->set);
	free(pn->endpoints);
	pn->endpoints = NULL;
}

void poll_nic_endpoint_attach(
	struct poll_nic *pn, unsigned number, struct endpoint *endpoint, int bell)
{
	struct poll_nic_endpoint *at = &pn->endpoints->at[number];

	at->endpoint = endpoint;
	at->bell = bell;
	atomic_store(&at->state, POLL_NIC_ENDPOINT_NEW);
	atomic_store(&pn->endpoints->active, true);
}

void poll_nic_endpoint_detach(struct poll_nic *pn, unsigned number)
{
	unsigned expected = POLL_NIC_ENDPOINT_SERVED;
	struct poll_nic_endpoint *at = &pn->endpoints->at[number];

	/* In state NEW the loop has not processed the endpoint yet. */
	if (!atomic_compare_exchange_strong(&at->state, &expected, POLL_NIC_ENDPOINT_CLOSING))
		atomic_store(&at->state, POLL_NIC_ENDPOINT_CLOSING);
	atomic_store(&pn->endpoints->active, true);
}

/* Updates one endpoint. Returns false if it needs no more calls. */
static bool follow(struct poll_nic_endpoints *endpoints, unsigned number)
{
	struct poll_nic_endpoint *at = &endpoints->at[number];
	unsigned state = atomic_load_explicit(&at->state, memory_order_acquire);

	if (state == POLL_NIC_ENDPOINT_NEW) {
		endpoint_set_add(endpoints->set, at->endpoint);
		/* The state may have become CLOSING. */
		atomic_compare_exchange_strong(&at->state, &state, POLL_NIC_ENDPOINT_SERVED);
	}
	if (state == POLL_NIC_ENDPOINT_CLOSING) {
		/* A program that attached and detached meanwhile may have sent messages.
		 */
		if (!endpoint_set_has(endpoints->set, number))
			endpoint_set_add(endpoints->set, at->endpoint);
		endpoint_set_close(endpoints->set, number);
		if (endpoint_set_remove(endpoints->set, number) != NULL) {
			atomic_store(&at->state, POLL_NIC_ENDPOINT_OVER);
			eventfd_write(endpoints->thread_bell, 1);
			return false;
		}
	}
	return state != POLL_NIC_ENDPOINT_FREE && state != POLL_NIC_ENDPOINT_OVER;
}

unsigned poll_nic_endpoints_run(struct poll_nic *pn, weft_time now)
{
	struct poll_nic_endpoints *endpoints = pn->endpoints;
	bool active = false;
	unsigned moved;
	uint64_t bells;

	/* Cleared first, because a later attachment sets it again. */
	atomic_store(&endpoints->active, false);
	for (unsigned i = 0; i < endpoints->count; i++)
		active = follow(endpoints, i) || active;
	moved = endpoint_set_poll(endpoints->set, pn->nic, now);
	for (bells = endpoint_set_bells(endpoints->set); bells != 0; bells &= bells - 1)
		eventfd_write(endpoints->at[__builtin_ctzll(bells)].bell, 1);
	if (active)
		atomic_store_explicit(&endpoints->active, true, memory_order_relaxed);
	return moved;
}

/* Returns true if no program is being attached or detached. */
static bool is_settled(const struct poll_nic_endpoints *endpoints)
{
	for (unsigned i = 0; i < endpoints->count; i++) {
		unsigned state = atomic_load(&endpoints->at[i].state);

		if (state == POLL_NIC_ENDPOINT_NEW || state == POLL_NIC_ENDPOINT_CLOSING)
			return false;
	}
	return true;
}

bool poll_nic_endpoints_rest(struct poll_nic *pn, bool rests)
{
	struct poll_nic_endpoints *endpoints = pn->endpoints;

	if (endpoints == NULL || !atomic_load(&endpoints->active))
		return true;
	return endpoint_set_rest(endpoints->set, rests) && is_settled(endpoints);
}

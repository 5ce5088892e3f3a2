/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "real_private.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

/* The loop that owns the transmitter reads these words for each frame, and nothing depends on two
 * of them at once, so the leader may store them from its own loop. */
#define STORE(place, value) __atomic_store_n(&(place), (value), __ATOMIC_RELAXED)
#define LOAD(place)         __atomic_load_n(&(place), __ATOMIC_RELAXED)

/* The transmitter of this end. NULL: it is not here. */
static struct tx_queue *tx_of(const struct real_fabric *fabric, const struct real_end *end)
{
	const struct topology_port *at = &end->at;

	for (unsigned i = 0; at->kind == DEVICE_SWITCH && i < fabric->switch_count; i++)
		if (fabric->switches[i].number == at->device)
			return &real_switch_loop(&fabric->switches[i], at->port)->port[at->port].tx;
	for (unsigned i = 0; at->kind == DEVICE_HOST && i < fabric->host_count; i++)
		if (fabric->hosts[i].number == at->device)
			return &fabric->hosts[i].poll->tx;
	return NULL;
}

uint64_t real_end_rate_bps(const struct real_fabric *fabric, const struct real_end *end)
{
	const struct tx_queue *tx = tx_of(fabric, end);

	return tx != NULL && LOAD(tx->paced) ? rate_of_time(LOAD(tx->pacer.ps_per_byte)) : 0;
}

weft_time real_end_delay_ps(const struct real_fabric *fabric, const struct real_end *end)
{
	const struct tx_queue *tx = tx_of(fabric, end);

	return tx != NULL && LOAD(tx->paced) ? LOAD(tx->delay_ps) : 0;
}

/* 0 or -ENOMEM. */
static int pace(struct tx_queue *tx, const struct topology_link *link, uint64_t rate_bps,
	weft_time delay_ps)
{
	STORE(tx->pacer.catch_up_ps, REAL_CATCH_UP_PS);
	return tx_queue_pace(tx, rate_bps, delay_ps, real_held_frames(link));
}

int real_links_pace(struct real_fabric *fabric, struct fault *fault)
{
	for (uint32_t i = 0; i < 2 * fabric->options.topology->links; i++) {
		const struct topology_link *link = &fabric->options.topology->link_at[i / 2];
		const struct real_end *end = &fabric->end[i];

		if (end->open && !end->timed && link->given &&
			pace(tx_of(fabric, end), link, link->rate_bps, link->delay_ps) < 0)
			return fault_set(fault, ENOMEM, "%s: no memory", end->port.name);
	}
	return 0;
}

static void set_end(struct tx_queue *tx, struct real_end *end, const struct topology_link *link,
	uint64_t rate_bps, weft_time delay_ps, uint32_t corrupt_ppm, uint32_t credit_loss_ppm)
{
	if (end->timed) {
		STORE(tx->pacer.ps_per_byte, ps_per_byte(rate_bps));
		STORE(tx->delay_ps, delay_ps);
	} else if (pace(tx, link, rate_bps, delay_ps) < 0) {
		return;
	}
	STORE(end->impairment.corrupt_ppm, corrupt_ppm);
	STORE(end->impairment.credit_loss_ppm, credit_loss_ppm);
	/* Links that never had faults do without the question. It is not taken back: the loop may
	 * be between two looks at it. */
	if ((corrupt_ppm | credit_loss_ppm) != 0)
		STORE(tx->impairment, &end->impairment);
}

/* The rate of an end as planned, as it is kept. */
static uint64_t planned(const struct real_end *end)
{
	return ps_per_byte(end->timing.rate_bps);
}

/* No output of the switch is faster than 'input' sends into it; one without a rate is. */
static bool may_cut_through(
	const struct real_fabric *fabric, uint32_t device, const struct real_end *input)
{
	for (uint32_t i = 0; i < 2 * fabric->options.topology->links; i++) {
		const struct real_end *end = &fabric->end[i];

		if (end->open && end->at.kind == DEVICE_SWITCH && end->at.device == device &&
			LOAD(tx_of(fabric, end)->pacer.ps_per_byte) < planned(input))
			return false;
	}
	return true;
}

/* A frame that cuts through must not run dry: with another rate than planned, or into a switch with
 * an output that is faster now, whole frames are awaited. */
static void set_cut_through(struct real_fabric *fabric)
{
	for (uint32_t i = 0; i < 2 * fabric->options.topology->links; i++) {
		struct real_end *end = &fabric->end[i];
		struct tx_queue *tx = end->open && end->timed ? tx_of(fabric, end) : NULL;

		if (tx != NULL && end->timing.cut_through)
			STORE(tx->cut_through,
				LOAD(tx->pacer.ps_per_byte) == planned(end) &&
					may_cut_through(fabric, fabric->end[i ^ 1].at.device, end));
	}
}

void real_links_set(struct real_fabric *fabric, const char *text)
{
	uint32_t corrupt_ppm, credit_loss_ppm;
	uint64_t rate_bps, delay_ps;
	char port[80], name[80];
	bool rates = false;

	if (sscanf(text, "%79s %" SCNu64 " %" SCNu64 " %" SCNu32 " %" SCNu32, port, &rate_bps,
		    &delay_ps, &corrupt_ppm, &credit_loss_ppm) != 5)
		return;
	for (uint32_t i = 0; i < 2 * fabric->options.topology->links; i++) {
		struct real_end *end = &fabric->end[i];
		struct tx_queue *tx = tx_of(fabric, end);

		topology_port_name(fabric->options.topology, end->at, name, sizeof(name));
		if (end->open && tx != NULL && strcmp(name, port) == 0) {
			rates = rates || LOAD(tx->pacer.ps_per_byte) != ps_per_byte(rate_bps);
			set_end(tx, end, &fabric->options.topology->link_at[i / 2], rate_bps,
				delay_ps, corrupt_ppm, credit_loss_ppm);
		}
	}
	if (rates)
		set_cut_through(fabric);
}

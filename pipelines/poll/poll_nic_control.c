/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Executes the control thread's commands for an interface. */

#include "poll_control.h"
#include "poll_nic_private.h"

void poll_nic_set_control(struct poll_nic *pn, struct device_control *control)
{
	pn->mapper.control = control;
}

static bool is_linked(const struct poll_nic *pn)
{
	return nic_link_up(pn->nic) && !nic_config(pn->nic)->link.open;
}

/* Returns false if the command must wait. */
static bool send(struct poll_nic *pn, const struct device_order *order, weft_time now)
{
	struct rte_mbuf *mbuf = NULL;
	bool wait = false;

	if (is_linked(pn)) {
		/* Waiting cannot deadlock: a link that accepts no frames for a long time goes down.
		 */
		if (!tx_queue_has_room(&pn->tx))
			return false;
		mbuf = poll_control_frame(pn->pool, order, &wait);
	}
	if (wait)
		return false;
	if (mbuf == NULL) {
		pn->mapper.orders_lost++;
		return true;
	}
	tx_queue_stamp_own(&pn->tx, mbuf, now, now);
	poll_nic_send(pn, &mbuf, 1, now);
	return true;
}

/* Returns the old tables with the command, or the new ones if the interface refuses them. */
static void commit(struct poll_nic *pn, struct device_order *order, weft_time now)
{
	const struct queuing *before = nic_config(pn->nic)->queuing;
	struct host_tables *tables = order->of_host;

	if (nic_set_queuing(pn->nic, tables->queuing) < 0) {
		order->refused = true;
		return;
	}
	if (nic_set_routes(pn->nic, tables->routes, now) < 0) {
		nic_set_queuing(pn->nic, before);
		order->refused = true;
		return;
	}
	order->of_host = pn->mapper.tables;
	pn->mapper.tables = tables;
}

static bool obey(void *device, struct device_order *order, weft_time now)
{
	struct poll_nic *pn = device;

	switch ((enum device_order_kind)order->kind) {
	case DEVICE_SEND:
		return send(pn, order, now);
	case DEVICE_PAUSE:
		nic_pause(pn->nic, now);
		break;
	case DEVICE_PURGE:
		packet_free_list(nic_purge(pn->nic));
		tx_queue_purge(&pn->tx);
		break;
	case DEVICE_COMMIT:
		commit(pn, order, now);
		break;
	case DEVICE_RESUME:
		nic_resume(pn->nic, now);
		break;
	}
	return true;
}

static uint64_t data_moved(const struct nic *nic)
{
	const uint64_t *count = nic_counters(nic);

	return count[NIC_FRAMES_RECEIVED] + count[NIC_FRAMES_INJECTED] +
	       count[NIC_FRAMES_RETRANSMITTED] + count[NIC_ITB_REINJECTED];
}

/* Returns true if the NIC is paused, no data is stored and none moved in this iteration, ignoring
 * mapper frames. */
static bool is_idle(struct poll_nic *pn)
{
	uint64_t before = pn->mapper.data_moved;

	if (!nic_is_paused(pn->nic))
		return false;
	pn->mapper.data_moved = data_moved(pn->nic);
	return pn->mapper.data_moved == before && nic_is_idle(pn->nic) &&
	       !tx_queue_holds_data(&pn->tx);
}

void poll_nic_control_poll(struct poll_nic *pn, weft_time now)
{
	poll_control_orders(pn->mapper.control, obey, pn, now);
	device_control_update(pn->mapper.control, is_linked(pn), is_idle(pn));
}

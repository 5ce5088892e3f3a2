/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "poll_switch_private.h"

#include "poll_control.h"
#include "poll_division.h"
#include "setup/device_config.h"

void poll_switch_set_control(
	struct poll_switch *ps, struct device_control *control, struct rte_mempool *pool)
{
	ps->mapper.control = control;
	ps->mapper.pool = pool;
	switch_serve_agent(ps->sw, control != NULL);
}

void poll_switch_control_up(struct poll_switch *ps)
{
	struct weft_packet *first = switch_take_for_agent(ps->sw);

	for (struct weft_packet *packet = first; packet != NULL; packet = packet->next) {
		struct rte_mbuf *mbuf = packet_mbuf(packet);

		device_control_up(ps->mapper.control, packet->in_port,
			rte_pktmbuf_mtod(mbuf, const uint8_t *), rte_pktmbuf_data_len(mbuf));
	}
	packet_free_list(first);
}

bool poll_switch_control_send(
	struct poll_switch *ps, const struct device_order *order, weft_time now)
{
	unsigned at = order->port;
	struct rte_mbuf *mbuf = NULL;
	bool wait = false;

	if (at >= ps->ports)
		return true;
	if (port_set_has(ps->present & ps->sw->linked, at)) {
		/* A link that accepts no frames for a long time goes down. */
		if (!tx_queue_has_room(&ps->port[at].tx))
			return false;
		mbuf = poll_control_frame(ps->mapper.pool, order, &wait);
	}
	if (wait)
		return false;
	if (mbuf == NULL) {
		ps->port[at].agent_lost++;
		return true;
	}
	poll_switch_send_own(ps, at, mbuf, now, now);
	ps->port[at].agent_sent++;
	return true;
}

uint64_t poll_switch_data_moved(const struct poll_switch *ps)
{
	const struct weft_switch *sw = ps->sw;
	uint64_t moved = 0;

	for (unsigned at = 0; at < sw->ports; at++)
		moved += sw->port[at].count[SWITCH_DATA_IN] + sw->port[at].count[SWITCH_DATA_OUT];
	return moved;
}

void poll_switch_control_purge(struct poll_switch *ps, weft_time now)
{
	switch_purge(ps->sw);
	poll_switch_free_discards(ps, true, now);
	for (unsigned at = 0; at < ps->ports; at++)
		if (ps->port[at].port != NULL)
			tx_queue_purge(&ps->port[at].tx);
}

/* Returns the old tables with the command, or the new ones if they cannot be used. */
static void commit(struct poll_switch *ps, struct device_order *order)
{
	struct switch_tables *tables = order->of_switch;

	if (device_use_tables(ps->sw, tables) < 0) {
		order->refused = true;
		return;
	}
	order->of_switch = ps->mapper.tables;
	ps->mapper.tables = tables;
}

static bool obey(void *device, struct device_order *order, weft_time now)
{
	struct poll_switch *ps = device;

	switch ((enum device_order_kind)order->kind) {
	case DEVICE_SEND:
		return poll_switch_control_send(ps, order, now);
	case DEVICE_PAUSE:
		ps->mapper.paused = true;
		break;
	case DEVICE_PURGE:
		poll_switch_control_purge(ps, now);
		break;
	case DEVICE_COMMIT:
		commit(ps, order);
		break;
	case DEVICE_RESUME:
		ps->mapper.paused = false;
		break;
	}
	return true;
}

bool poll_switch_control_is_idle(struct poll_switch *ps)
{
	uint64_t before = ps->mapper.data_moved;

	ps->mapper.data_moved = poll_switch_data_moved(ps);
	if (ps->mapper.data_moved != before || !switch_is_empty(ps->sw))
		return false;
	for (unsigned at = 0; at < ps->ports; at++)
		if (ps->port[at].port != NULL && tx_queue_holds_data(&ps->port[at].tx))
			return false;
	return true;
}

void poll_switch_control_poll(struct poll_switch *ps, weft_time now)
{
	if (ps->shard != NULL) {
		poll_division_control(ps, now);
		return;
	}
	poll_control_orders(ps->mapper.control, obey, ps, now);
	device_control_update(ps->mapper.control, port_set_word(ps->sw->linked & ps->present, 0),
		ps->mapper.paused && poll_switch_control_is_idle(ps));
}

void poll_switch_control_end(struct poll_switch *ps)
{
	packet_free_list(switch_take_for_agent(ps->sw));
	if (ps->mapper.tables == NULL)
		return;
	switch_set_routing(ps->sw, &(struct switch_routing){0});
	switch_tables_destroy(ps->mapper.tables);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* The carrier of a fake NIC: checked on request or, if changes are reported, every millisecond by
 * EAL's interrupt thread. */

#include <rte_alarm.h>

#include "fake_nic.h"
#include "fake_nic_device.h"

#define WATCH_US 1000

bool fake_nic_has_carrier(const struct fake_nic *nic)
{
	return !fake_cable_is_cut(&nic->cable) &&
	       (!nic->arguments.carrier_peer || fake_cable_far_started(&nic->cable));
}

int fake_link_update(struct rte_eth_dev *dev, int wait)
{
	const struct fake_nic *nic = fake_nic_of(dev);
	bool up = dev->data->dev_started && fake_nic_has_carrier(nic);
	union {
		struct rte_eth_link link;
		uint64_t word;
	} is = {.link = {.link_speed = up ? nic->arguments.speed : RTE_ETH_SPEED_NUM_NONE,
			.link_duplex = RTE_ETH_LINK_FULL_DUPLEX,
			.link_autoneg = RTE_ETH_LINK_AUTONEG,
			.link_status = up ? RTE_ETH_LINK_UP : RTE_ETH_LINK_DOWN}},
	  was;

	(void)wait;
	was.word = __atomic_exchange_n(
		(uint64_t *)(void *)&dev->data->dev_link, is.word, __ATOMIC_SEQ_CST);
	return was.link.link_status == is.link.link_status ? -1 : 0;
}

static void watch(void *ctx)
{
	struct rte_eth_dev *dev = ctx;

	if (fake_link_update(dev, 0) == 0)
		rte_eth_dev_callback_process(dev, RTE_ETH_EVENT_INTR_LSC, NULL);
	rte_eal_alarm_set(WATCH_US, watch, dev);
}

void fake_link_watch(struct rte_eth_dev *dev)
{
	if (dev->data->dev_conf.intr_conf.lsc)
		rte_eal_alarm_set(WATCH_US, watch, dev);
}

void fake_link_forget(struct rte_eth_dev *dev)
{
	if (dev->data->dev_conf.intr_conf.lsc)
		rte_eal_alarm_cancel(watch, dev);
}

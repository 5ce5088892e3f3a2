/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The state of a fake NIC and its parts; for fake_nic_*.c only. */

#include <rte_ether.h>
#include <rte_log.h>
#include <rte_mbuf.h>

#include "dpdk_driver.h"
#include "fake_nic_arguments.h"
#include "fake_nic_cable.h"

#define FAKE_SPLIT_MAX 16

extern int fake_nic_logtype;

#define FAKE_NIC_SAY(level, format, ...) \
	rte_log(RTE_LOG_##level, fake_nic_logtype, "net_fake: " format "\n", ##__VA_ARGS__)

/* The receive ring: all places hold mbufs while the port is started. */
struct fake_receiver {
	struct rte_mempool *pool;
	struct rte_mbuf **ring;
	uint32_t descriptors, at;
	uint32_t buffer_bytes;
	bool scatter, stamps;
	int stamp_at; /* in an mbuf */
	uint64_t stamp_flag;
	uint64_t stampable; /* frames so far */
	uint64_t packets, bytes, errors;
};

/* The transmit ring: places of frames, which occupy a descriptor per segment. Frames from 'tail' to
 * 'done' are sent and kept, frames from there to 'head' are not sent yet. */
struct fake_transmitter {
	struct rte_mbuf **ring;
	uint32_t descriptors, used;
	uint32_t tail, done, head;
	bool multi;
	uint64_t packets, bytes, errors;
};

struct fake_nic {
	struct fake_nic_arguments arguments;
	struct eth_dev_ops ops;
	struct rte_eth_dev *dev;
	struct rte_ether_addr address;
	struct fake_cable cable;
	struct fake_receiver rx;
	struct fake_transmitter tx;
	uint64_t missed_before; /* the last reset of the counters */
	uint64_t clock_set;     /* clock offset, in cycles of the time stamp counter */
};

static inline struct fake_nic *fake_nic_of(const struct rte_eth_dev *dev)
{
	return dev->data->dev_private;
}

bool fake_nic_has_carrier(const struct fake_nic *nic);
/* Returns -errno and logs a line if this step is to be refused; else 0. */
int fake_nic_refuse(const struct fake_nic *nic, enum fake_step step);
/* Returns the longest frame that the NIC's MTU allows now. */
uint32_t fake_nic_frame_max(const struct fake_nic *nic);
/* Returns the NIC's clock at this value of the time stamp counter. */
uint64_t fake_nic_ticks(const struct fake_nic *nic, uint64_t tsc);

/* --- fake_nic_receive.c --- */

int fake_receiver_set_up(struct fake_nic *nic, uint16_t descriptors, struct rte_mempool *pool);
int fake_receiver_start(struct fake_nic *nic);
void fake_receiver_stop(struct fake_nic *nic);
void fake_receiver_free(struct fake_nic *nic);
uint16_t fake_receive(void *nic, struct rte_mbuf **mbufs, uint16_t count);

/* --- fake_nic_transmit.c --- */

int fake_transmitter_set_up(struct fake_nic *nic, uint16_t descriptors);
void fake_transmitter_stop(struct fake_nic *nic);
void fake_transmitter_free(struct fake_nic *nic);
uint16_t fake_transmit(void *nic, struct rte_mbuf **mbufs, uint16_t count);
/* Sends what waited for the carrier. */
void fake_transmitter_go_on(struct fake_nic *nic);
int fake_transmitter_clean_up(void *nic, uint32_t max);

/* --- fake_nic_link.c --- */

int fake_link_update(struct rte_eth_dev *dev, int wait);
void fake_link_watch(struct rte_eth_dev *dev);
void fake_link_forget(struct rte_eth_dev *dev);

/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The binary interface between librte_ethdev, the virtual bus and a driver in DPDK 22.11, as far as
 * the tests' own driver (fake_nic.h) uses it. Debian installs the symbols (version INTERNAL) and
 * not the headers (ethdev_driver.h, ethdev_vdev.h, bus_vdev_driver.h), so their layout is described
 * here. It holds for every 22.11.x, because stable releases keep the ABI; fake_nic_test calls all
 * that stands here. What no driver of ours touches is a gap. */

#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include <rte_devargs.h>
#include <rte_ethdev.h>
#include <rte_version.h>

#if RTE_VER_YEAR != 22 || RTE_VER_MONTH != 11
#error "the layouts below are those of DPDK 22.11"
#endif

/* --- ethdev_driver.h --- */

struct eth_dev_ops;

struct rte_eth_dev {
	eth_rx_burst_t rx_pkt_burst;
	eth_tx_burst_t tx_pkt_burst;
	eth_tx_prep_t tx_pkt_prepare;
	eth_rx_queue_count_t rx_queue_count;
	eth_rx_descriptor_status_t rx_descriptor_status;
	eth_tx_descriptor_status_t tx_descriptor_status;
	struct rte_eth_dev_data *data;
	void *process_private;
	const struct eth_dev_ops *dev_ops;
	struct rte_device *device;
	/* More follows; the library allocates it. */
};

struct rte_eth_dev_data {
	char name[RTE_ETH_NAME_MAX_LEN];
	void **rx_queues, **tx_queues;
	uint16_t nb_rx_queues, nb_tx_queues;
	struct rte_eth_dev_sriov sriov;
	void *dev_private; /* rte_free() is called for it */
	struct rte_eth_link dev_link;
	struct rte_eth_conf dev_conf;
	uint16_t mtu;
	uint32_t min_rx_buf_size;
	uint64_t rx_mbuf_alloc_failed; /* rte_eth_stats.rx_nombuf */
	struct rte_ether_addr *mac_addrs;
	uint64_t mac_pool_sel[RTE_ETH_NUM_RECEIVE_MAC_ADDR];
	struct rte_ether_addr *hash_mac_addrs;
	uint16_t port_id;
	uint8_t promiscuous : 1, scattered_rx : 1, all_multicast : 1, dev_started : 1, lro : 1,
		dev_configured : 1, flow_configured : 1;
	uint8_t rx_queue_state[RTE_MAX_QUEUES_PER_PORT];
	uint8_t tx_queue_state[RTE_MAX_QUEUES_PER_PORT];
	uint32_t dev_flags;
	int numa_node;
	/* More follows. */
};

typedef void dpdk_driver_gap_fn(void);

struct eth_dev_ops {
	int (*dev_configure)(struct rte_eth_dev *dev);
	int (*dev_start)(struct rte_eth_dev *dev);
	int (*dev_stop)(struct rte_eth_dev *dev);
	dpdk_driver_gap_fn *link_state[2];
	int (*dev_close)(struct rte_eth_dev *dev);
	dpdk_driver_gap_fn *reset;
	/* 0: it has changed */
	int (*link_update)(struct rte_eth_dev *dev, int wait_to_complete);
	dpdk_driver_gap_fn *is_removed;
	int (*promiscuous_enable)(struct rte_eth_dev *dev);
	int (*promiscuous_disable)(struct rte_eth_dev *dev);
	dpdk_driver_gap_fn *multicast[2], *mac_changes[2];
	int (*mac_addr_set)(struct rte_eth_dev *dev, struct rte_ether_addr *address);
	dpdk_driver_gap_fn *multicast_list;
	int (*mtu_set)(struct rte_eth_dev *dev, uint16_t mtu);
	int (*stats_get)(struct rte_eth_dev *dev, struct rte_eth_stats *stats);
	int (*stats_reset)(struct rte_eth_dev *dev);
	int (*xstats_get)(struct rte_eth_dev *dev, struct rte_eth_xstat *values, unsigned count);
	dpdk_driver_gap_fn *xstats_reset;
	/* How many there are. */
	int (*xstats_get_names)(
		struct rte_eth_dev *dev, struct rte_eth_xstat_name *names, unsigned count);
	dpdk_driver_gap_fn *queue_stats_mapping;
	int (*dev_infos_get)(struct rte_eth_dev *dev, struct rte_eth_dev_info *info);
	dpdk_driver_gap_fn *more_info[7], *vlan[5], *queue_state[4];
	int (*rx_queue_setup)(struct rte_eth_dev *dev, uint16_t queue, uint16_t descriptors,
		unsigned socket, const struct rte_eth_rxconf *conf, struct rte_mempool *pool);
	void (*rx_queue_release)(struct rte_eth_dev *dev, uint16_t queue);
	dpdk_driver_gap_fn *rx_interrupt[2];
	int (*tx_queue_setup)(struct rte_eth_dev *dev, uint16_t queue, uint16_t descriptors,
		unsigned socket, const struct rte_eth_txconf *conf);
	void (*tx_queue_release)(struct rte_eth_dev *dev, uint16_t queue);
	int (*tx_done_cleanup)(void *queue, uint32_t max); /* how many; 0: all */
	dpdk_driver_gap_fn *more_calls[24];
	int (*timesync_enable)(struct rte_eth_dev *dev);
	int (*timesync_disable)(struct rte_eth_dev *dev);
	dpdk_driver_gap_fn *timesync_frames[3];
	int (*timesync_read_time)(struct rte_eth_dev *dev, struct timespec *now);
	dpdk_driver_gap_fn *timesync_write_time;
	int (*read_clock)(struct rte_eth_dev *dev, uint64_t *ticks);
	dpdk_driver_gap_fn *rest[33];
};

_Static_assert(offsetof(struct eth_dev_ops, mtu_set) == 17 * sizeof(void *), "18th");
_Static_assert(offsetof(struct eth_dev_ops, dev_infos_get) == 24 * sizeof(void *), "25th");
_Static_assert(offsetof(struct eth_dev_ops, rx_queue_setup) == 41 * sizeof(void *), "42nd");
_Static_assert(offsetof(struct eth_dev_ops, tx_done_cleanup) == 47 * sizeof(void *), "48th");
_Static_assert(offsetof(struct eth_dev_ops, timesync_enable) == 72 * sizeof(void *), "73rd");
_Static_assert(offsetof(struct eth_dev_ops, timesync_read_time) == 77 * sizeof(void *), "78th");
_Static_assert(offsetof(struct eth_dev_ops, read_clock) == 79 * sizeof(void *), "80th");
_Static_assert(sizeof(struct eth_dev_ops) == 113 * sizeof(void *), "113 calls");

/* NULL: the name is in use or there is no room. */
struct rte_eth_dev *rte_eth_dev_allocate(const char *name);
struct rte_eth_dev *rte_eth_dev_allocated(const char *name);
void rte_eth_dev_probing_finish(struct rte_eth_dev *dev);
int rte_eth_dev_release_port(struct rte_eth_dev *dev);
int rte_eth_dev_callback_process(
	struct rte_eth_dev *dev, enum rte_eth_event_type event, void *argument);

/* --- dev_driver.h, bus_vdev_driver.h --- */

struct rte_driver {
	RTE_TAILQ_ENTRY(rte_driver) next;
	const char *name, *alias;
};

struct rte_device {
	RTE_TAILQ_ENTRY(rte_device) next;
	const char *name, *bus_info;
	const struct rte_driver *driver;
	const struct rte_bus *bus;
	int numa_node;
	struct rte_devargs *devargs;
};

struct rte_vdev_device {
	RTE_TAILQ_ENTRY(rte_vdev_device) next;
	struct rte_device device;
};

struct rte_vdev_driver {
	RTE_TAILQ_ENTRY(rte_vdev_driver) next;
	struct rte_driver driver;
	int (*probe)(struct rte_vdev_device *device);
	int (*remove)(struct rte_vdev_device *device);
	dpdk_driver_gap_fn *dma[2];
	uint32_t flags;
};

void rte_vdev_register(struct rte_vdev_driver *driver);

/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "fake_nic.h"

#include <errno.h>
#include <string.h>

#include <rte_cycles.h>
#include <rte_malloc.h>

#include "fake_nic_device.h"

/* A plug-in must enable its log type itself. */
RTE_LOG_REGISTER(fake_nic_logtype, pmd.net.fake, NOTICE)

/* --- properties --- */

int fake_nic_refuse(const struct fake_nic *nic, enum fake_step step)
{
	if (nic->arguments.fail != step)
		return 0;
	FAKE_NIC_SAY(ERR, "%s does not do that because of the moon", nic->dev->data->name);
	return -(int)nic->arguments.error;
}

uint32_t fake_nic_frame_max(const struct fake_nic *nic)
{
	return nic->dev->data->mtu + nic->arguments.overhead - RTE_ETHER_CRC_LEN;
}

uint64_t fake_nic_ticks(const struct fake_nic *nic, uint64_t tsc)
{
	uint64_t set = __atomic_load_n(&nic->clock_set, __ATOMIC_RELAXED);
	unsigned __int128 count =
		(unsigned __int128)(tsc + set) * (1000000 + nic->arguments.stamps);

	if (nic->arguments.timesync)
		return (uint64_t)(count / 1000000 * 1000000000 / rte_get_tsc_hz());
	return (uint64_t)(count / 2000000) >> nic->arguments.stamps_shift;
}

static int get_info(struct rte_eth_dev *dev, struct rte_eth_dev_info *info)
{
	const struct fake_nic_arguments *arguments = &fake_nic_of(dev)->arguments;
	const struct rte_eth_desc_lim limits = {
		.nb_min = (uint16_t)arguments->descriptors_min,
		.nb_max = (uint16_t)arguments->descriptors_max,
		.nb_align = (uint16_t)arguments->descriptors_align,
		.nb_seg_max = FAKE_SPLIT_MAX,
		.nb_mtu_seg_max = FAKE_SPLIT_MAX,
	};

	info->max_rx_queues = info->max_tx_queues = 1;
	info->max_mac_addrs = 1;
	info->min_rx_bufsize = 256;
	info->max_rx_pktlen = arguments->max_frame;
	info->min_mtu = (uint16_t)arguments->min_mtu;
	info->max_mtu = (uint16_t)arguments->max_mtu;
	info->rx_desc_lim = info->tx_desc_lim = limits;
	info->speed_capa = rte_eth_speed_bitflag(arguments->speed, RTE_ETH_LINK_FULL_DUPLEX);
	if (!arguments->no_scatter)
		info->rx_offload_capa = RTE_ETH_RX_OFFLOAD_SCATTER;
	if (arguments->stamps > 0)
		info->rx_offload_capa |= RTE_ETH_RX_OFFLOAD_TIMESTAMP;
	if (!arguments->no_multi)
		info->tx_offload_capa = RTE_ETH_TX_OFFLOAD_MULTI_SEGS;
	return 0;
}

/* --- set-up --- */

static int configure(struct rte_eth_dev *dev)
{
	return fake_nic_refuse(fake_nic_of(dev), FAKE_STEP_configure);
}

static int set_up_rx(struct rte_eth_dev *dev, uint16_t queue, uint16_t descriptors, unsigned socket,
	const struct rte_eth_rxconf *conf, struct rte_mempool *pool)
{
	struct fake_nic *nic = fake_nic_of(dev);
	int result = fake_nic_refuse(nic, FAKE_STEP_rxq);

	(void)socket, (void)conf;
	if (result == 0)
		result = fake_receiver_set_up(nic, descriptors, pool);
	if (result == 0)
		dev->data->rx_queues[queue] = nic;
	return result;
}

static int set_up_tx(struct rte_eth_dev *dev, uint16_t queue, uint16_t descriptors, unsigned socket,
	const struct rte_eth_txconf *conf)
{
	struct fake_nic *nic = fake_nic_of(dev);
	int result = fake_nic_refuse(nic, FAKE_STEP_txq);

	(void)socket, (void)conf;
	if (result == 0)
		result = fake_transmitter_set_up(nic, descriptors);
	if (result == 0)
		dev->data->tx_queues[queue] = nic;
	return result;
}

static void release_rx(struct rte_eth_dev *dev, uint16_t queue)
{
	fake_receiver_free(fake_nic_of(dev));
	dev->data->rx_queues[queue] = NULL;
}

static void release_tx(struct rte_eth_dev *dev, uint16_t queue)
{
	fake_transmitter_free(fake_nic_of(dev));
	dev->data->tx_queues[queue] = NULL;
}

static int start(struct rte_eth_dev *dev)
{
	struct fake_nic *nic = fake_nic_of(dev);
	int result = fake_nic_refuse(nic, FAKE_STEP_start);

	if (result == 0)
		result = fake_receiver_start(nic);
	if (result < 0)
		return result;
	dev->rx_pkt_burst = fake_receive;
	dev->tx_pkt_burst = fake_transmit;
	fake_link_watch(dev);
	return 0;
}

static int stop(struct rte_eth_dev *dev)
{
	struct fake_nic *nic = fake_nic_of(dev);

	fake_link_forget(dev);
	dev->data->dev_started = 0;
	fake_receiver_stop(nic);
	fake_transmitter_stop(nic);
	return 0;
}

static int close_device(struct rte_eth_dev *dev)
{
	struct fake_nic *nic = fake_nic_of(dev);

	fake_receiver_free(nic);
	fake_transmitter_free(nic);
	fake_cable_close(&nic->cable);
	dev->data->mac_addrs = NULL; /* a part of what will be freed */
	return 0;
}

static int set_mtu(struct rte_eth_dev *dev, uint16_t mtu)
{
	(void)mtu; /* ethdev has checked it and stores it */
	return dev->data->dev_started ? -EBUSY : 0;
}

static int set_promiscuous(struct rte_eth_dev *dev)
{
	(void)dev; /* ethdev stores it */
	return 0;
}

static int set_address(struct rte_eth_dev *dev, struct rte_ether_addr *address)
{
	rte_ether_addr_copy(address, &fake_nic_of(dev)->address);
	return 0;
}

/* --- counters --- */

static int get_stats(struct rte_eth_dev *dev, struct rte_eth_stats *stats)
{
	const struct fake_nic *nic = fake_nic_of(dev);

	stats->ipackets = nic->rx.packets;
	stats->ibytes = nic->rx.bytes;
	stats->ierrors = nic->rx.errors;
	stats->imissed =
		__atomic_load_n(&nic->cable.own->missed, __ATOMIC_RELAXED) - nic->missed_before;
	stats->rx_nombuf = dev->data->rx_mbuf_alloc_failed;
	stats->opackets = nic->tx.packets;
	stats->obytes = nic->tx.bytes;
	stats->oerrors = nic->tx.errors;
	return 0;
}

static int reset_stats(struct rte_eth_dev *dev)
{
	struct fake_nic *nic = fake_nic_of(dev);

	nic->rx.packets = nic->rx.bytes = nic->rx.errors = 0;
	nic->tx.packets = nic->tx.bytes = nic->tx.errors = 0;
	nic->missed_before = __atomic_load_n(&nic->cable.own->missed, __ATOMIC_RELAXED);
	dev->data->rx_mbuf_alloc_failed = 0;
	return 0;
}

/* Named as by mlx5 and other drivers. */
static int get_extra_names(
	struct rte_eth_dev *dev, struct rte_eth_xstat_name *names, unsigned count)
{
	if (names != NULL && count > 0)
		strcpy(names[0].name, "rx_pause_ctrl_phy");
	return 1;
}

static int get_extra(struct rte_eth_dev *dev, struct rte_eth_xstat *values, unsigned count)
{
	if (values != NULL && count > 0)
		values[0] = (struct rte_eth_xstat){0, fake_nic_of(dev)->arguments.pause};
	return 1;
}

/* --- start and end --- */

static int read_clock(struct rte_eth_dev *dev, uint64_t *ticks)
{
	*ticks = fake_nic_ticks(fake_nic_of(dev), rte_rdtsc());
	return fake_nic_refuse(fake_nic_of(dev), FAKE_STEP_clock);
}

static int switch_timesync(struct rte_eth_dev *dev)
{
	(void)dev;
	return 0;
}

static int read_time(struct rte_eth_dev *dev, struct timespec *now)
{
	uint64_t ns = fake_nic_ticks(fake_nic_of(dev), rte_rdtsc());

	*now = (struct timespec){
		.tv_sec = (time_t)(ns / 1000000000), .tv_nsec = (long)(ns % 1000000000)};
	return fake_nic_refuse(fake_nic_of(dev), FAKE_STEP_clock);
}

static void fill_ops(struct fake_nic *nic)
{
	nic->ops = (struct eth_dev_ops){
		.dev_configure = configure,
		.dev_start = start,
		.dev_stop = stop,
		.dev_close = close_device,
		.link_update = fake_link_update,
		.mac_addr_set = set_address,
		.mtu_set = set_mtu,
		.stats_get = get_stats,
		.stats_reset = reset_stats,
		.xstats_get = get_extra,
		.xstats_get_names = get_extra_names,
		.dev_infos_get = get_info,
		.rx_queue_setup = set_up_rx,
		.rx_queue_release = release_rx,
		.tx_queue_setup = set_up_tx,
		.tx_queue_release = release_tx,
	};
	if (!nic->arguments.promisc_unsupported) {
		nic->ops.promiscuous_enable = set_promiscuous;
		nic->ops.promiscuous_disable = set_promiscuous;
	}
	if (nic->arguments.timesync) {
		nic->ops.timesync_enable = nic->ops.timesync_disable = switch_timesync;
		nic->ops.timesync_read_time = read_time;
	} else if (nic->arguments.stamps > 0) {
		nic->ops.read_clock = read_clock;
	}
	if (nic->arguments.done_cleanup)
		nic->ops.tx_done_cleanup = fake_transmitter_clean_up;
}

static void fill_data(struct fake_nic *nic)
{
	struct rte_eth_dev_data *data = nic->dev->data;

	nic->address = (struct rte_ether_addr){
		{0x02, 'f', 'a', 'k', (uint8_t)data->port_id, (uint8_t)nic->cable.side}};
	data->mac_addrs = &nic->address;
	data->numa_node = SOCKET_ID_ANY;
	data->dev_link.link_speed = nic->arguments.speed;
	if (nic->arguments.lsc)
		data->dev_flags |= RTE_ETH_DEV_INTR_LSC;
}

static int create(struct fake_nic *nic, const char *name, struct rte_device *device)
{
	int result = fake_cable_open(&nic->cable, nic->arguments.cable, nic->arguments.end);

	if (result < 0) {
		FAKE_NIC_SAY(ERR, "%s: end %c of cable %s: %s", name, "ab"[nic->arguments.end],
			nic -> arguments.cable, rte_strerror(-result));
		return result;
	}
	nic->dev = rte_eth_dev_allocate(name);
	if (nic->dev == NULL) {
		fake_cable_close(&nic->cable);
		return -ENOMEM;
	}
	nic->dev->data->dev_private = nic;
	nic->dev->device = device;
	nic->dev->dev_ops = &nic->ops;
	nic->missed_before = nic->cable.own->missed;
	fill_ops(nic);
	fill_data(nic);
	rte_eth_dev_probing_finish(nic->dev);
	return 0;
}

static int probe(struct rte_vdev_device *vdev)
{
	const struct rte_device *device = &vdev->device;
	struct fake_nic *nic = rte_zmalloc("net_fake", sizeof(*nic), 0);
	int result;

	if (nic == NULL)
		return -ENOMEM;
	if (strncmp(rte_version(), "DPDK 22.11.", strlen("DPDK 22.11.")) != 0) {
		FAKE_NIC_SAY(ERR, "made for DPDK 22.11, this is %s", rte_version());
		result = -ENOTSUP;
	} else {
		result = fake_nic_arguments_parse(
			&nic->arguments, device->devargs != NULL ? device->devargs->args : "");
	}
	if (result == 0)
		result = create(nic, device->name, &vdev->device);
	if (result < 0)
		rte_free(nic);
	return result;
}

static int remove_device(struct rte_vdev_device *vdev)
{
	struct rte_eth_dev *dev = rte_eth_dev_allocated(vdev->device.name);

	if (dev == NULL)
		return 0; /* closed already */
	if (dev->data->dev_started)
		stop(dev);
	close_device(dev);
	return rte_eth_dev_release_port(dev);
}

static struct rte_vdev_driver driver = {
	.driver = {.name = "net_fake"}, .probe = probe, .remove = remove_device};

RTE_INIT(fake_nic_register)
{
	rte_vdev_register(&driver);
}

/* --- for tests --- */

static struct fake_nic *find(const char *name)
{
	struct rte_eth_dev *dev = rte_eth_dev_allocated(name);

	return dev != NULL && dev->device->driver == &driver.driver ? fake_nic_of(dev) : NULL;
}

int fake_nic_carrier(const char *name, bool up)
{
	struct fake_nic *nic = find(name);

	if (nic == NULL)
		return -ENODEV;
	fake_cable_cut(&nic->cable, !up);
	return 0;
}

int fake_nic_set_clock(const char *name, int64_t tsc)
{
	struct fake_nic *nic = find(name);

	if (nic == NULL)
		return -ENODEV;
	__atomic_fetch_add(&nic->clock_set, (uint64_t)tsc, __ATOMIC_RELAXED);
	return 0;
}

int fake_nic_look(const char *name, struct fake_nic_look *look)
{
	const struct fake_nic *nic = find(name);

	if (nic == NULL)
		return -ENODEV;
	*look = (struct fake_nic_look){
		.kept = __atomic_load_n(&nic->cable.own->kept, __ATOMIC_RELAXED),
		.kept_max = __atomic_load_n(&nic->cable.own->kept_max, __ATOMIC_RELAXED),
		.segmented = __atomic_load_n(&nic->cable.own->segmented, __ATOMIC_RELAXED),
		.buffer_bytes = nic->rx.buffer_bytes,
	};
	for (uint32_t i = 0; nic->rx.ring != NULL && i < nic->rx.descriptors; i++)
		look->filled += nic->rx.ring[i] != NULL;
	return 0;
}

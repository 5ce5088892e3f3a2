/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* A NIC for tests: the DPDK driver net_fake, as awkward as the poll-mode drivers of PCI NICs are,
 * without a PCI device. Two ports are the ends of a cable, in one process or in two. Linked into
 * test programs, and a plug-in (librte_net_fake.so) that any DPDK program loads with EAL's '-d'.
 *
 *	net_fake0,cable=/dev/shm/c0,end=a,keep=2048,split=3
 *
 * cable=WORD     a cable within this process
 * cable=/PATH    a cable between processes: a file, of the layout in fake_nic_cable.h
 * end=a|b        the end of the cable; each is one port's
 *
 * All that follows is off unless it is given:
 *
 * keep=N           keeps sent mbufs, up to N descriptors of its ring, until few of these are free
 *                  (em, ixgbe, vmxnet3); 0: frees what it has sent at once
 * done_cleanup=1   has rte_eth_tx_done_cleanup()
 * round=N|pow2     uses the room of an mbuf rounded down to N bytes, or to a power of two (em)
 * scatter=always   chains mbufs for frames longer than one without having been asked to (em)
 * no_scatter=1     has no RTE_ETH_RX_OFFLOAD_SCATTER
 * split=N          delivers each frame in N mbufs
 * room=N           refuses mbufs without room for its longest frame and N bytes more, unless it may
 *                  scatter (virtio: 16, a VLAN tag and its own header)
 * no_multi=1       has no RTE_ETH_TX_OFFLOAD_MULTI_SEGS
 * max_mtu=N min_mtu=N max_frame=N overhead=N
 *                  limits as rte_eth_dev_info has them; the overhead is that of a frame beside its
 *                  MTU (18, as with em and ixgbe; i40e has 26)
 * descriptors=MIN:MAX:ALIGN
 *                  limits of its rings
 * lsc=1            reports changes of the carrier by RTE_ETH_EVENT_INTR_LSC
 * carrier=peer     has carrier only while the port at the far end is started
 * down=hold        without carrier keeps what it is given, and sends it late; else it is lost
 * pause=N          reports N received pause frames
 * speed=N          Mbit/s, 10000 if not given
 * stamps=PPM       stamps frames when they arrive, by a clock of half the frequency of the
 *                  processor's time stamp counter, and so many millionths more
 * stamps_ahead=N   the stamps are N ms ahead of that clock; N may be negative
 * stamps_shift=N   its ticks are 2^N times as long
 * stamps_every=N   only each N-th frame has a stamp
 * timesync=1       that clock counts nanoseconds, and is read as drivers for IEEE 1588 have it
 * promisc=unsupported  takes all frames and cannot be told to
 * fail=configure|rxq|txq|start|stamps|clock
 *                  refuses this step with a line in the log; stamps: a receive queue that is to
 *                  stamp frames; clock: to be read
 * error=N          with this errno, EIO if not given
 *
 * Like any NIC it fills its receive ring with mbufs beforehand, drops what finds no free descriptor
 * (imissed), what is longer than its MTU or needs more buffers than it may use (ierrors), counts
 * mbufs that it could not get (rx_nombuf), pads frames to 60 bytes, and takes frames for other
 * addresses only while it is promiscuous. One thread uses a port; looks and cuts may be another's.
 */

#include <stdbool.h>
#include <stdint.h>

/* State that no counter of ethdev shows. */
struct fake_nic_look {
	uint64_t kept, kept_max; /* sent mbufs that it holds now, and the maximum so far */
	uint64_t segmented;      /* frames delivered in several segments */
	uint64_t filled;         /* mbufs in the receive ring */
	uint32_t buffer_bytes;   /* part of an mbuf used for a frame */
};

/* Removes the carrier of this device's cable, or restores it. Returns -ENODEV without such a
 * device. */
int fake_nic_carrier(const char *name, bool up);
/* Shifts its stamp clock by cycles of the time stamp counter. -ENODEV. */
int fake_nic_set_clock(const char *name, int64_t tsc);
int fake_nic_look(const char *name, struct fake_nic_look *look);

/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Offloads of a TAP: the kernel leaves checksums and the segmentation of long TCP segments to the
 * edge, and describes them in a header before each Ethernet frame. The edge completes checksums,
 * and passes long segments on as they are, with a header (wire/segment.h). Input from both sides is
 * untrusted. */

#include <linux/virtio_net.h>
#include <stdbool.h>
#include <stdint.h>

/* Carries out the offloads of an IP packet that has SEGMENT_BYTES of room before it. Returns the
 * number of header bytes written there, or -EINVAL: the description does not fit the packet. */
int edge_offload_send(const struct virtio_net_hdr *offload, uint8_t *packet, uint32_t bytes);

/* Describes an IP packet for the kernel; 'header': the segment header of its message, or NULL.
 * Returns false if it does not fit the packet. */
bool edge_offload_receive(const uint8_t *header, const uint8_t *packet, uint32_t bytes,
	struct virtio_net_hdr *offload);

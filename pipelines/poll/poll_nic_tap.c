/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Reads and writes the TAP of an emulated host. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "poll_nic_private.h"

#define FRAMES_A_TURN 32
/* Pause after an empty read, in real time. A system call takes some hundred nanoseconds, more than
 * an iteration of the loop. */
#define PAUSE_PS (20 * PS_PER_US)
/* Maximum number of IP packets being reassembled, one per sending host. */
#define REASSEMBLIES 1024

static void write_packet(void *ctx, const struct edge_packet *packet)
{
	struct poll_nic_tap *tap = ctx;
	const struct iovec piece[] = {
		{(void *)(uintptr_t)&packet->offload, sizeof(packet->offload)},
		{(void *)(uintptr_t)packet->ethernet, sizeof(packet->ethernet)},
		{(void *)(uintptr_t)packet->packet, packet->bytes},
	};

	if (writev(tap->fd, piece, 3) < 0)
		edge_counters(tap->edge)[errno == EINVAL ? EDGE_DROP_NOT_IP : EDGE_DROP_TAP_FULL]++;
}

/* Writes an ARP reply. */
static void write_reply(struct poll_nic_tap *tap)
{
	struct edge_packet packet = {.packet = tap->action.reply + EDGE_ETHERNET_BYTES,
		.bytes = EDGE_ARP_BYTES - EDGE_ETHERNET_BYTES};

	memcpy(packet.ethernet, tap->action.reply, EDGE_ETHERNET_BYTES);
	write_packet(tap, &packet);
}

static int send_packet(struct poll_nic_tap *tap, struct nic *nic, weft_time now)
{
	const struct edge_action *action = &tap->action;
	struct nic_message message = {.destination = action->destination,
		.payload = action->message,
		.bytes = action->bytes,
		.generated_ps = now};
	int result = nic_send(nic, &message, now);

	if (result == 0) {
		edge_counters(tap->edge)[EDGE_MESSAGES_OUT]++;
		edge_counters(tap->edge)[EDGE_BYTES_OUT] +=
			action->bytes - segment_header(action->message, action->bytes);
		tap->frames += (action->bytes + nic_config(nic)->mtu_bytes - 1) /
			       nic_config(nic)->mtu_bytes;
	} else if (result == -EHOSTDOWN)
		edge_counters(tap->edge)[EDGE_DROP_SILENT]++;
	else if (result != -EAGAIN)
		edge_counters(tap->edge)[EDGE_DROP_UNREACHABLE]++;
	return result;
}

/* Sends a message to each member of a group. Unreachable members are skipped. */
static int send_copies(struct poll_nic_tap *tap, struct nic *nic, weft_time now)
{
	while ((tap->action.destination = edge_member(tap->edge, tap->member)) != FRAME_HOST_NONE) {
		int result = send_packet(tap, nic, now);

		if (result == -EAGAIN)
			return result;
		edge_counters(tap->edge)[EDGE_COPIES] += result == 0;
		tap->member = (uint16_t)(tap->action.destination + 1);
	}
	tap->member = 0;
	return 0;
}

/* Executes tap->action. Returns false, and keeps the action, if the interface is full. */
static bool take_frame(struct poll_nic_tap *tap, struct nic *nic, weft_time now)
{
	int result = 0;

	if (tap->action.verdict == EDGE_MESSAGE)
		result = send_packet(tap, nic, now);
	else if (tap->action.verdict == EDGE_GROUP)
		result = send_copies(tap, nic, now);
	else if (tap->action.verdict == EDGE_REPLY)
		write_reply(tap);
	tap->held = result == -EAGAIN;
	return !tap->held;
}

static bool read_frame(struct poll_nic_tap *tap, weft_time now)
{
	const size_t before = sizeof(struct virtio_net_hdr);
	ssize_t got;

	if (now < tap->due)
		return false;
	got = read(tap->fd, tap->frame, POLL_NIC_TAP_BYTES);
	if (got < (ssize_t)before) {
		tap->read_errors += got >= 0 || (errno != EAGAIN && errno != EINTR);
		tap->due = now + tap->pause;
		return false;
	}
	edge_from_tap(tap->edge, (const struct virtio_net_hdr *)(const void *)tap->frame,
		tap->frame + before, (uint32_t)((size_t)got - before), &tap->action);
	return true;
}

unsigned poll_nic_tap_read(struct poll_nic_tap *tap, struct nic *nic, weft_time now)
{
	unsigned count = 0;

	while (count < FRAMES_A_TURN && (tap->held || read_frame(tap, now))) {
		if (!take_frame(tap, nic, now))
			break;
		count++;
	}
	return count;
}

int poll_nic_attach_tap(struct poll_nic *pn, int fd, const uint32_t *address, struct error *error)
{
	const struct nic_config *config = nic_config(pn->nic);
	struct edge_config edge = {.host = config->host,
		.hosts = config->hosts,
		.base = EDGE_BASE_DEFAULT,
		.address = address,
		.mtu_bytes = config->payload_bytes - SEGMENT_BYTES,
		.reassemblies = config->hosts < REASSEMBLIES ? config->hosts : REASSEMBLIES};

	pn->tap.edge = edge_create(&edge);
	if (pn->tap.edge == NULL)
		return error_set(error, errno,
			"%s: cannot set up the TAP: payload size (%u bytes) or host count (%u) out of range, or out of memory",
			pn->port->name, config->payload_bytes, config->hosts);
	pn->tap.frame = malloc(POLL_NIC_TAP_BYTES);
	if (pn->tap.frame == NULL) {
		poll_nic_tap_fini(&pn->tap);
		return error_set(error, ENOMEM, "%s: not enough memory for a TAP", pn->port->name);
	}
	pn->tap.pause = pn->clock != NULL ? clock_share(pn->clock, PAUSE_PS) : PAUSE_PS;
	pn->tap.fd = fd;
	pn->demux.edge = pn->tap.edge;
	pn->demux.ctx = &pn->tap;
	pn->demux.packet = write_packet;
	return 0;
}

void poll_nic_tap_fini(struct poll_nic_tap *tap)
{
	edge_destroy(tap->edge);
	free(tap->frame);
	tap->edge = NULL;
	tap->frame = NULL;
	tap->fd = -1;
}

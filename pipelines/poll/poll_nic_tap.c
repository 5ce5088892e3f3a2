/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Reads and writes the TAP of an emulated host. */

#include <errno.h>
#include <stdlib.h>
#include <sys/uio.h>
#include <unistd.h>

#include "poll_nic_private.h"

#define FRAMES_A_TURN 32
/* Pause after an empty read, in real time: a system call takes some hundred nanoseconds, more than
 * an iteration of the loop. */
#define PAUSE_PS (20 * PS_PER_US)
/* IP packets in reassembly at the same time, one of each host. */
#define REASSEMBLIES 1024

static void write_piece(struct poll_nic_tap *tap, const struct iovec *piece, int count)
{
	if (writev(tap->fd, piece, count) < 0)
		edge_counters(tap->edge)[EDGE_DROP_TAP_FULL]++;
}

static void write_packet(void *ctx, const struct edge_packet *packet)
{
	struct iovec piece[2] = {
		{.iov_base = (void *)(uintptr_t)packet->ethernet,
			.iov_len = sizeof(packet->ethernet)},
		{.iov_base = (void *)(uintptr_t)packet->packet, .iov_len = packet->bytes},
	};

	write_piece(ctx, piece, 2);
}

static void write_reply(struct poll_nic_tap *tap, uint8_t *reply)
{
	struct iovec piece = {.iov_base = reply, .iov_len = EDGE_ARP_BYTES};

	write_piece(tap, &piece, 1);
}

static int send_packet(
	struct poll_nic_tap *tap, struct nic *nic, const struct edge_action *action, weft_time now)
{
	struct nic_message message = {.destination = action->destination,
		.payload = action->packet,
		.bytes = action->bytes,
		.generated_ps = now};
	int result = nic_send(nic, &message, now);

	if (result == 0) {
		edge_counters(tap->edge)[EDGE_MESSAGES_OUT]++;
		edge_counters(tap->edge)[EDGE_BYTES_OUT] += action->bytes;
		tap->frames += (action->bytes + nic_config(nic)->mtu_bytes - 1) /
			       nic_config(nic)->mtu_bytes;
	} else if (result == -EHOSTDOWN)
		edge_counters(tap->edge)[EDGE_DROP_SILENT]++;
	else if (result != -EAGAIN)
		edge_counters(tap->edge)[EDGE_DROP_UNREACHABLE]++;
	return result;
}

/* A message to each member; those who cannot be reached do not stop the others. */
static int send_copies(
	struct poll_nic_tap *tap, struct nic *nic, struct edge_action *action, weft_time now)
{
	while ((action->destination = edge_member(tap->edge, tap->member)) != FRAME_HOST_NONE) {
		int result = send_packet(tap, nic, action, now);

		if (result == -EAGAIN)
			return result;
		edge_counters(tap->edge)[EDGE_COPIES] += result == 0;
		tap->member = (uint16_t)(action->destination + 1);
	}
	tap->member = 0;
	return 0;
}

/* Passes on the frame in tap->frame. False: the interface is full; the frame stays. */
static bool take_frame(struct poll_nic_tap *tap, struct nic *nic, weft_time now)
{
	struct edge_action action;
	int result = 0;

	edge_from_tap(tap->edge, tap->frame, tap->held, &action);
	if (action.verdict == EDGE_MESSAGE)
		result = send_packet(tap, nic, &action, now);
	else if (action.verdict == EDGE_GROUP)
		result = send_copies(tap, nic, &action, now);
	if (result == -EAGAIN) {
		edge_counters(tap->edge)[EDGE_FROM_TAP]--; /* counted again at the next attempt */
		return false;
	}
	if (action.verdict == EDGE_REPLY)
		write_reply(tap, action.reply);
	tap->held = 0;
	return true;
}

/* Reads the next frame into tap->frame. */
static bool read_frame(struct poll_nic_tap *tap, weft_time now)
{
	ssize_t got;

	if (now < tap->due)
		return false;
	got = read(tap->fd, tap->frame, POLL_NIC_TAP_BYTES);
	if (got <= 0) {
		tap->read_errors += got < 0 && errno != EAGAIN && errno != EINTR;
		tap->due = now + tap->pause;
		return false;
	}
	tap->held = (uint32_t)got;
	return true;
}

unsigned poll_nic_tap_read(struct poll_nic_tap *tap, struct nic *nic, weft_time now)
{
	unsigned count = 0;

	while (count < FRAMES_A_TURN && (tap->held > 0 || read_frame(tap, now))) {
		if (!take_frame(tap, nic, now))
			break;
		count++;
	}
	return count;
}

static int check_payloads(const struct poll_nic *pn, uint32_t mtu_bytes, struct error *error)
{
	const struct nic_config *config = nic_config(pn->nic);

	if (config->payloads == 0 || config->payload_bytes < mtu_bytes)
		return error_set(error, EINVAL,
			"%s: a TAP with an MTU of %u needs payloads of that size, there are %u of %u "
			"bytes",
			pn->port->name, mtu_bytes, config->payloads, config->payload_bytes);
	return 0;
}

int poll_nic_attach_tap(struct poll_nic *pn, int fd, const uint32_t *address, uint32_t mtu_bytes,
	struct error *error)
{
	const struct nic_config *config = nic_config(pn->nic);
	struct edge_config edge = {.host = config->host,
		.hosts = config->hosts,
		.base = EDGE_BASE_DEFAULT,
		.address = address,
		.mtu_bytes = mtu_bytes,
		.reassemblies = config->hosts < REASSEMBLIES ? config->hosts : REASSEMBLIES};
	int result = check_payloads(pn, mtu_bytes, error);

	if (result < 0)
		return result;
	pn->tap.edge = edge_create(&edge);
	if (pn->tap.edge == NULL)
		return error_set(error, errno,
			"%s: cannot bind a TAP: MTU %u or %u hosts out of range, or no memory",
			pn->port->name, mtu_bytes, config->hosts);
	pn->tap.frame = malloc(POLL_NIC_TAP_BYTES);
	if (pn->tap.frame == NULL) {
		poll_nic_tap_fini(&pn->tap);
		return error_set(error, ENOMEM, "%s: no memory for a TAP", pn->port->name);
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

/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "host_demux.h"

#include <errno.h>
#include <stdlib.h>

#include "traffic/synthetic.h"

int host_demux_init(struct host_demux *demux, struct measure_sink *sink, uint16_t hosts)
{
	*demux = (struct host_demux){.sink = sink, .hosts = hosts};
	demux->to_edge = calloc(hosts, sizeof(demux->to_edge[0]));
	return demux->to_edge != NULL ? 0 : -ENOMEM;
}

void host_demux_fini(struct host_demux *demux)
{
	free(demux->to_edge);
	demux->to_edge = NULL;
}

void host_demux_deliver(void *ctx, const struct nic_delivery *delivery)
{
	struct host_demux *demux = ctx;
	bool *to_edge = &demux->to_edge[delivery->source];
	struct edge_packet packet;

	measure_sink_watch(demux->sink, delivery);
	if (delivery->first)
		*to_edge = !synthetic_is(delivery->payload, delivery->bytes);
	if (!*to_edge) {
		measure_sink_take(demux->sink, delivery);
		if (delivery->tail && demux->message != NULL)
			demux->message(demux->message_ctx, delivery->source, delivery->due_ps);
		return;
	}
	measure_sink_pass(demux->sink, delivery);
	if (demux->edge == NULL)
		demux->unclaimed++;
	else if (edge_deliver(demux->edge, delivery, &packet) && demux->packet != NULL)
		demux->packet(demux->ctx, &packet);
}

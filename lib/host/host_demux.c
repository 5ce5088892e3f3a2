/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "host_demux.h"

#include <errno.h>
#include <stdlib.h>

#include "endpoint.h"
#include "traffic/synthetic.h"

int host_demux_init(struct host_demux *demux, struct measure_sink *sink, uint16_t hosts)
{
	*demux = (struct host_demux){.sink = sink, .hosts = hosts};
	demux->to = calloc(hosts, sizeof(demux->to[0]));
	return demux->to != NULL ? 0 : -ENOMEM;
}

void host_demux_fini(struct host_demux *demux)
{
	free(demux->to);
	demux->to = NULL;
}

void host_demux_deliver(void *ctx, const struct nic_delivery *delivery)
{
	struct host_demux *demux = ctx;
	uint8_t *to = &demux->to[delivery->source];
	struct edge_packet packet;

	measure_sink_watch(demux->sink, delivery);
	if (delivery->first)
		*to = synthetic_is(delivery->payload, delivery->bytes)  ? HOST_DEMUX_SINK
		      : endpoint_is(delivery->payload, delivery->bytes) ? HOST_DEMUX_ENDPOINT
									: HOST_DEMUX_EDGE;
	if (*to == HOST_DEMUX_SINK) {
		measure_sink_take(demux->sink, delivery);
		if (delivery->tail && demux->message != NULL)
			demux->message(demux->message_ctx, delivery->source, delivery->due_ps);
		return;
	}
	measure_sink_pass(demux->sink, delivery);
	if (*to == HOST_DEMUX_ENDPOINT ? demux->endpoint == NULL : demux->edge == NULL)
		demux->unclaimed++;
	else if (*to == HOST_DEMUX_ENDPOINT)
		demux->endpoint(demux->endpoint_ctx, delivery);
	else if (edge_deliver(demux->edge, delivery, &packet) && demux->packet != NULL)
		demux->packet(demux->ctx, &packet);
}

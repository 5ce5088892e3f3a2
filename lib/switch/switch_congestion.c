/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "switch_congestion.h"

#include <errno.h>
#include <stdlib.h>

static const struct weft_packet *head_of(void *ctx, unsigned input, unsigned vc, unsigned output)
{
	return switch_queues(ctx, output, input)[vc].head;
}

static bool is_valid(const struct weft_switch *sw, const struct switch_congestion_config *config)
{
	bool known = sw->table_alternatives != NULL;

	if (sw->congestion != NULL || sw->vc_rule != NULL || known != (sw->table_port != NULL) ||
		(!known && config->hosts == 0) || (config->detector != NULL && !sw->voq) ||
		(config->afi && sw->vcs < 2))
		return false;
	for (unsigned sl = 0; sl < 16; sl++)
		if (config->afi && sw->sl_to_vc[sl] >= afi_channel(sw->vcs))
			return false;
	return true;
}

static struct adaptive_output *make_far_ends(const struct weft_switch *sw)
{
	struct adaptive_output *peer_buffers = calloc(sw->ports, sizeof(*peer_buffers));

	for (unsigned port = 0; peer_buffers != NULL && port < sw->ports; port++) {
		const struct credit_tx *tx = sw->port[port].link.tx;

		peer_buffers[port] = (struct adaptive_output){tx, credit_available(tx)};
	}
	return peer_buffers;
}

static struct congestion_detector_config complete(
	const struct weft_switch *sw, const struct congestion_detector_config *config)
{
	struct congestion_detector_config own = *config;

	own.ports = sw->ports;
	for (unsigned port = 0; port < sw->ports; port++)
		own.vc_blocks[port] = sw->port[port].link.config.vc_blocks;
	return own;
}

int switch_congestion(struct weft_switch *sw, const struct switch_congestion_config *config)
{
	struct adaptive_output *peer_buffers;
	struct congestion_detector_config detector;
	struct congestion_control_config own = {.device = (uint32_t)sw->config.device,
		.seed = config->seed,
		.vcs = sw->vcs,
		.stage = config->stage,
		.up_ports = config->up_ports,
		.mode = config->mode,
		.afi = config->afi,
		.threshold_ppm = config->threshold_ppm,
		.alternatives = sw->table_alternatives,
		.hosts = config->hosts > sw->table_hosts ? config->hosts : sw->table_hosts,
		.usable = &sw->usable,
		.table = config->table,
		.head = head_of,
		.ctx = sw,
		.alert = &sw->decision_flags};

	if (!is_valid(sw, config))
		return -EINVAL;
	peer_buffers = make_far_ends(sw);
	if (peer_buffers == NULL)
		return -ENOMEM;
	own.output = peer_buffers;
	if (config->detector != NULL) {
		detector = complete(sw, config->detector);
		own.detector = &detector;
	}
	sw->congestion = congestion_control_create(&own);
	if (sw->congestion == NULL) {
		free(peer_buffers);
		return -errno;
	}
	sw->peer_buffers = peer_buffers;
	sw->congestion->hosts = sw->table_hosts;
	sw->report_above_blocks = sw->congestion->report_above_blocks;
	switch_note_decisions(sw);
	return 0;
}

void switch_congestion_end(struct weft_switch *sw)
{
	congestion_control_destroy(sw->congestion);
	free(sw->peer_buffers);
	sw->congestion = NULL;
	sw->peer_buffers = NULL;
	sw->report_above_blocks = UINT32_MAX;
	switch_note_decisions(sw);
}

void switch_set_fecn(struct weft_switch *sw, struct fecn *fecn)
{
	sw->fecn = fecn;
	switch_note_decisions(sw);
}

/* A VOQ is noted as being above HCDTh if and only if it is. */
static const char *check_crossing(const struct weft_switch *sw, unsigned output, unsigned input)
{
	const struct congestion_detector *detector = sw->congestion->detector;
	const struct congestion_detector_cross *cross =
		congestion_detector_cross(detector, output, input);
	const struct voq *queue = switch_queues(sw, output, input);
	uint32_t blocks = 0;

	for (unsigned vc = 0; vc < sw->vcs; vc++) {
		bool noted = (cross->above >> vc & 1) != 0;

		blocks += queue[vc].blocks;
		if (detector->config.by_vc && noted != congestion_detector_is_above(detector, input,
							       vc, queue[vc].blocks))
			return "the detector's view of a VOQ differs from what is in it";
	}
	if (!detector->config.by_vc && blocks != cross->blocks)
		return "the detector counts other blocks than there are";
	return NULL;
}

/* What every packet looks at against what it stands for. */
static const char *check_short_cuts(const struct congestion_control *congestion)
{
	const struct congestion_detector *detector = congestion->detector;

	for (unsigned output = 0; output < detector->config.ports; output++)
		if (detector->output[output].passed != 0 &&
			(congestion->crowded >> output & 1) == 0)
			return "what leaves a crowded output is not told of";
	if (congestion->entries != congestion->table->count)
		return "the entries of the table are counted wrongly";
	if (congestion->due > congestion_detector_next_due(detector) ||
		congestion->due > arn_table_next_due(congestion->table))
		return "a time comes before the next one";
	return NULL;
}

/* Packets are asked for if and only if one may make a difference. */
static const char *check_alert(const struct weft_switch *sw)
{
	const struct congestion_control *congestion = sw->congestion;
	bool alert = (sw->decision_flags & CONGESTION_CONTROL_ALERT) != 0;

	if ((sw->decision_flags & SWITCH_DECIDES_ADAPTED) == 0)
		return "the switch does not know of its adaptation";
	if (alert != (congestion->chooses || congestion->entries != 0 || congestion->crowded != 0 ||
			     congestion->due != WEFT_TIME_NEVER))
		return "packets are not asked for although one may make a difference, or in vain";
	if (sw->report_above_blocks != congestion->report_above_blocks)
		return "the switch takes another size of queue for a quiet one";
	return NULL;
}

const char *switch_congestion_check(const struct weft_switch *sw)
{
	const struct congestion_control *congestion = sw->congestion;
	const char *wrong;

	if (congestion == NULL)
		return sw->report_above_blocks == UINT32_MAX
			       ? NULL
			       : "queues are told of, but there is nobody";
	wrong = check_alert(sw);
	if (wrong != NULL || congestion->detector == NULL)
		return wrong;
	wrong = congestion_detector_check(congestion->detector);
	if (wrong == NULL)
		wrong = arn_table_check(congestion->table);
	if (wrong == NULL)
		wrong = check_short_cuts(congestion);
	for (unsigned output = 0; output < sw->ports; output++)
		for (unsigned input = 0; input < sw->ports && wrong == NULL; input++)
			wrong = check_crossing(sw, output, input);
	return wrong;
}

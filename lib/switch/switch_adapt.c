/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "switch_adapt.h"

#include <errno.h>
#include <stdlib.h>

static const struct weft_packet *head_of(void *ctx, unsigned input, unsigned vc, unsigned output)
{
	return switch_queues(ctx, output, input)[vc].head;
}

static bool is_valid(const struct weft_switch *sw, const struct switch_adapt_config *config)
{
	bool known = sw->table_alternatives != NULL;

	if (sw->adaptation != NULL || sw->vc_rule != NULL || known != (sw->table_port != NULL) ||
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
	struct adaptive_output *far = calloc(sw->ports, sizeof(*far));

	for (unsigned port = 0; far != NULL && port < sw->ports; port++) {
		const struct credit_tx *tx = sw->port[port].link.tx;

		far[port] = (struct adaptive_output){tx, credit_available(tx)};
	}
	return far;
}

static struct congestion_config complete(
	const struct weft_switch *sw, const struct congestion_config *config)
{
	struct congestion_config own = *config;

	own.ports = sw->ports;
	for (unsigned port = 0; port < sw->ports; port++)
		own.vc_blocks[port] = sw->port[port].link.config.vc_blocks;
	return own;
}

int switch_adapt(struct weft_switch *sw, const struct switch_adapt_config *config)
{
	struct adaptive_output *far;
	struct congestion_config detector;
	struct adaptation_config own = {.device = (uint32_t)sw->config.device,
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
		.alert = &sw->decides};

	if (!is_valid(sw, config))
		return -EINVAL;
	far = make_far_ends(sw);
	if (far == NULL)
		return -ENOMEM;
	own.output = far;
	if (config->detector != NULL) {
		detector = complete(sw, config->detector);
		own.detector = &detector;
	}
	sw->adaptation = adaptation_create(&own);
	if (sw->adaptation == NULL) {
		free(far);
		return -errno;
	}
	sw->far = far;
	sw->adaptation->hosts = sw->table_hosts;
	sw->quiet_blocks = sw->adaptation->quiet_blocks;
	switch_note_decisions(sw);
	return 0;
}

void switch_adapt_end(struct weft_switch *sw)
{
	adaptation_destroy(sw->adaptation);
	free(sw->far);
	sw->adaptation = NULL;
	sw->far = NULL;
	sw->quiet_blocks = UINT32_MAX;
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
	const struct congestion *detector = sw->adaptation->detector;
	const struct congestion_cross *cross = congestion_cross(detector, output, input);
	const struct voq *queue = switch_queues(sw, output, input);
	uint32_t blocks = 0;

	for (unsigned vc = 0; vc < sw->vcs; vc++) {
		bool noted = (cross->above >> vc & 1) != 0;

		blocks += queue[vc].blocks;
		if (detector->config.by_vc &&
			noted != congestion_is_above(detector, input, vc, queue[vc].blocks))
			return "the detector's view of a VOQ differs from what is in it";
	}
	if (!detector->config.by_vc && blocks != cross->blocks)
		return "the detector counts other blocks than there are";
	return NULL;
}

/* What every packet looks at against what it stands for. */
static const char *check_short_cuts(const struct adaptation *adaptation)
{
	const struct congestion *detector = adaptation->detector;

	for (unsigned output = 0; output < detector->config.ports; output++)
		if (detector->output[output].passed != 0 &&
			(adaptation->crowded >> output & 1) == 0)
			return "what leaves a crowded output is not told of";
	if (adaptation->entries != adaptation->table->count)
		return "the entries of the table are counted wrongly";
	if (adaptation->due > congestion_next_due(detector) ||
		adaptation->due > arn_table_next_due(adaptation->table))
		return "a time comes before the next one";
	return NULL;
}

/* Packets are asked for if and only if one may make a difference. */
static const char *check_alert(const struct weft_switch *sw)
{
	const struct adaptation *adaptation = sw->adaptation;
	bool alert = (sw->decides & ADAPTATION_ALERT) != 0;

	if ((sw->decides & SWITCH_DECIDES_ADAPTED) == 0)
		return "the switch does not know of its adaptation";
	if (alert != (adaptation->chooses || adaptation->entries != 0 || adaptation->crowded != 0 ||
			     adaptation->due != WEFT_TIME_NEVER))
		return "packets are not asked for although one may make a difference, or in vain";
	if (sw->quiet_blocks != adaptation->quiet_blocks)
		return "the switch takes another size of queue for a quiet one";
	return NULL;
}

const char *switch_adapt_check(const struct weft_switch *sw)
{
	const struct adaptation *adaptation = sw->adaptation;
	const char *wrong;

	if (adaptation == NULL)
		return sw->quiet_blocks == UINT32_MAX ? NULL
						      : "queues are told of, but there is nobody";
	wrong = check_alert(sw);
	if (wrong != NULL || adaptation->detector == NULL)
		return wrong;
	wrong = congestion_check(adaptation->detector);
	if (wrong == NULL)
		wrong = arn_table_check(adaptation->table);
	if (wrong == NULL)
		wrong = check_short_cuts(adaptation);
	for (unsigned output = 0; output < sw->ports; output++)
		for (unsigned input = 0; input < sw->ports && wrong == NULL; input++)
			wrong = check_crossing(sw, output, input);
	return wrong;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "switch_congestion.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const struct weft_packet *head_of(void *ctx, unsigned input, unsigned vc, unsigned output)
{
	return switch_queues(ctx, output, input)[vc].head;
}

static bool is_valid(const struct weft_switch *sw, const struct switch_congestion_config *config)
{
	bool known = sw->table_alternatives != NULL;

	if (sw->shard != NULL || sw->congestion != NULL || sw->vc_rule != NULL ||
		known != (switch_table_hosts(sw) != 0) || (!known && config->hosts == 0) ||
		(config->detector != NULL && !sw->voq) || (config->afi && sw->vcs < 2))
		return false;
	for (unsigned sl = 0; sl < 16; sl++)
		if (config->afi && sw->sl_to_vc[sl] >= afi_channel(sw->vcs))
			return false;
	return true;
}

static struct peer_buffer *make_peer_buffers(const struct weft_switch *sw, bool exact)
{
	struct peer_buffer *peer_buffers = calloc(sw->ports, sizeof(*peer_buffers));

	for (unsigned port = 0; peer_buffers != NULL && port < sw->ports; port++) {
		peer_buffers[port] =
			(struct peer_buffer){.tx = sw->port[port].link.tx, .exact = exact};
		peer_buffer_told(&peer_buffers[port], sw->vcs);
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
	struct peer_buffer *peer_buffers;
	struct congestion_detector_config detector;
	struct congestion_control_config own = {.device = (uint32_t)sw->port[0].link.config.device,
		.seed = config->seed,
		.vcs = sw->vcs,
		.stage = config->stage,
		.up_ports = config->up_ports,
		.mode = config->mode,
		.afi = config->afi,
		.threshold_ppm = config->threshold_ppm,
		.flowlet_gap_ps = config->flowlet_gap_ps,
		.alternatives = sw->table_alternatives,
		.hosts = config->hosts > switch_table_hosts(sw) ? config->hosts
								: switch_table_hosts(sw),
		.usable = &sw->usable,
		.table = config->table,
		.head = head_of,
		.ctx = sw,
		.signal = &sw->signal};

	if (!is_valid(sw, config))
		return -EINVAL;
	peer_buffers = make_peer_buffers(sw, config->credits_each);
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
	sw->congestion->hosts = switch_table_hosts(sw);
	if (sw->congestion->detector != NULL)
		sw->report_above_blocks =
			congestion_detector_report_above(sw->congestion->detector);
	switch_congestion_note_plain(sw);
	return 0;
}

void switch_congestion_end(struct weft_switch *sw)
{
	congestion_control_destroy(sw->congestion);
	free(sw->peer_buffers);
	sw->congestion = NULL;
	sw->peer_buffers = NULL;
	sw->report_above_blocks = UINT32_MAX;
	switch_congestion_note_plain(sw);
}

void switch_set_fecn(struct weft_switch *sw, struct fecn *fecn)
{
	sw->fecn = fecn;
	switch_congestion_note_plain(sw);
}

void switch_set_pauses(struct weft_switch *sw, bool pauses)
{
	sw->signal.alert = pauses ? CONGESTION_PAUSES : 0;
	switch_congestion_note_plain(sw);
}

void switch_set_itbs(struct weft_switch *sw)
{
	sw->signal.alert |= CONGESTION_ITBS;
	switch_congestion_note_plain(sw);
}

void switch_congestion_note_plain(struct weft_switch *sw)
{
	const uint8_t driver = sw->signal.alert & CONGESTION_DRIVER;
	bool decides = sw->vc_rule != NULL || sw->fecn != NULL || sw->contention != NULL;
	uint8_t vcs = decides ? 0 : sw->vcs;

	sw->signal = (struct congestion_signal){.plain_vcs = vcs,
		.alert = driver,
		.departures = sw->contention != NULL ? CONGESTION_TIMED : 0};
	if (sw->congestion != NULL)
		congestion_control_set_calm(sw->congestion, vcs);
}

/* Checks that exactly the VOQs above HCDTh are recorded as such. */
static const char *check_crossing(const struct weft_switch *sw, unsigned output, unsigned input)
{
	const struct congestion_detector *detector = sw->congestion->detector;
	const struct congestion_detector_cross *cross =
		congestion_detector_cross(detector, output, input);
	const struct voq *queue = switch_queues(sw, output, input);
	uint32_t blocks = 0;

	for (unsigned vc = 0; vc < sw->vcs; vc++) {
		bool above = (cross->above >> vc & 1) != 0;

		blocks += queue[vc].blocks;
		if (detector->config.by_vc && above != congestion_detector_is_above(detector, input,
							       vc, queue[vc].blocks))
			return "the detector's view of a VOQ differs from its contents";
	}
	if (!detector->config.by_vc && blocks != cross->blocks)
		return "the detector's block count is wrong";
	return NULL;
}

const char *switch_congestion_check(const struct weft_switch *sw)
{
	const struct congestion_control *congestion = sw->congestion;
	const char *wrong;

	if (congestion == NULL)
		return (sw->signal.alert & ~CONGESTION_DRIVER) != 0 ||
				       sw->report_above_blocks != UINT32_MAX
			       ? "queues are reported, but there is no congestion control"
			       : NULL;
	wrong = congestion_control_check(congestion);
	if (congestion->detector == NULL)
		return wrong;
	for (unsigned output = 0; output < sw->ports; output++)
		for (unsigned input = 0; input < sw->ports && wrong == NULL; input++)
			wrong = check_crossing(sw, output, input);
	return wrong;
}

/* Replacement of a switch's tables, VC rule and SL-to-VC mapping. */

/* Returns true if all VCs are in range and no service level is mapped to the AFC. */
static bool vcs_fit(const struct weft_switch *sw, const uint8_t *sl_to_vc)
{
	bool afi = sw->congestion != NULL && sw->congestion->adaptive.afi;
	unsigned end = afi ? afi_channel(sw->vcs) : sw->vcs;

	for (unsigned sl = 0; sl < 16; sl++)
		if (sl_to_vc[sl] >= end)
			return false;
	return true;
}

static bool fits(const struct weft_switch *sw, const struct switch_routing *routing)
{
	const struct vc_rule *rule = routing->vc_rule;

	if (rule != NULL && (rule->classes > sw->vcs || routing->vc_rule_at >= rule->switches))
		return false;
	if (routing->port != NULL && routing->hosts > SWITCH_HOSTS_MAX)
		return false;
	if (routing->sl_to_vc != NULL && !vcs_fit(sw, routing->sl_to_vc))
		return false;
	if (sw->congestion == NULL)
		return true;
	return rule == NULL && (routing->port == NULL || routing->alternatives != NULL) &&
	       routing->hosts <= sw->congestion->hosts_max;
}

int switch_set_routing(struct weft_switch *sw, const struct switch_routing *routing)
{
	if (!fits(sw, routing))
		return -EINVAL;
	switch_set_table(sw, routing->port, NULL, routing->hosts);
	sw->table_alternatives = routing->alternatives;
	sw->vc_rule = routing->vc_rule;
	sw->vc_rule_at = routing->vc_rule_at;
	if (routing->sl_to_vc != NULL)
		memcpy(sw->sl_to_vc, routing->sl_to_vc, sizeof(sw->sl_to_vc));
	if (sw->congestion != NULL)
		congestion_control_set_tables(sw->congestion, sw->table_alternatives,
			switch_table_hosts(sw), routing->stage);
	switch_congestion_note_plain(sw);
	return 0;
}

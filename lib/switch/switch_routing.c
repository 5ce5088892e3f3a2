/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Exchanges a switch's tables, VC rule and SL-to-VC mapping. */

#include <errno.h>
#include <string.h>

#include "switch_congestion.h"

/* No service level may be mapped to the AFC. */
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

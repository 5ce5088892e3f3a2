/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "control_setup.h"

#include "wire/frame.h"

static uint64_t ns_of(weft_time time_ps)
{
	return time_ps / PS_PER_NS;
}

static void fill_iba(const struct run_config_iba_cc *from, struct iba_cc_config *to)
{
	*to = (struct iba_cc_config){.timer_ns = ns_of(from->timer_ps),
		.increase = (uint16_t)from->increase,
		.limit = (uint16_t)from->limit,
		.min = (uint16_t)from->min,
		.per_host = from->per == RUN_CC_PER_HOST,
		.table = from->table};
	if (from->table_kind != CC_TABLE_LIST)
		cc_table_fill(&to->table, from->table_kind);
}

static uint32_t share_of(uint64_t rate_bps, uint64_t link_bps)
{
	return rate_bps < link_bps ? (uint32_t)((unsigned __int128)rate_bps * DCQCN_ONE / link_bps)
				   : DCQCN_ONE;
}

static void fill_dcqcn(
	const struct run_config_dcqcn *from, uint64_t link_bps, struct dcqcn_config *to)
{
	*to = (struct dcqcn_config){.alpha_timer_ns = ns_of(from->alpha_timer_ps),
		.rate_timer_ns = ns_of(from->rate_timer_ps),
		.rate_bytes_ns = ns_of(from->rate_bytes * ps_per_byte(link_bps)) + 1,
		.gain = from->gain,
		.fast = from->fast,
		.additive = share_of(from->additive_bps, link_bps),
		.hyper = share_of(from->hyper_bps, link_bps),
		.min = share_of(from->min_bps, link_bps)};
}

static void fill_paths(const struct run_config_drb *from, struct metapath_rules *to)
{
	*to = (struct metapath_rules){.high = from->high,
		.low = from->low,
		.open_gap_ns = ns_of(from->open_gap_ps),
		.close_gap_ns = ns_of(from->close_gap_ps),
		.idle_ns = ns_of(from->idle_ps),
		.smoothing = from->smoothing,
		.mean = from->measure == RUN_DRB_MEASURE_MEAN,
		.new_zero = from->new_path == RUN_DRB_NEW_ZERO};
}

static void fill_predictive(
	const struct run_config_pr_drb *from, struct source_control_config *config)
{
	config->pr = (struct pr_drb_rules){
		.save_below = from->save == RUN_PR_DRB_BELOW, .improve = from->improve};
	config->solutions = (struct solutions_config){.entries = from->entries,
		.similarity_ppm = from->similarity_ppm,
		.of_union = from->similarity_of == RUN_SIMILARITY_UNION};
}

/* Zero-load times: a full frame on the host's link, and for each switch on the path its routing
 * delay and the next link; store-and-forward adds the frame's time at each. All links count as the
 * host's. */
static void fill_times(const struct run_config *run, const struct topology *topology, uint32_t host,
	struct source_control_config *config)
{
	uint64_t bytes = run->nic.mtu_bytes + FRAME_HEADER_BYTES + FRAME_WIRE_OVERHEAD;
	const struct topology_link *link;
	weft_time frame_ps;

	if (topology->host_link[host] < 0)
		return;
	link = &topology->link_at[topology->host_link[host]];
	if (source_control_measures(config->kind))
		bytes += FRAME_LATENCY_BYTES;
	frame_ps = bytes * ps_per_byte(link->rate_bps);
	config->frame_ns = ns_of(frame_ps + link->delay_ps);
	config->hop_ns = ns_of(link->delay_ps + run->sw.routing_delay_ps);
	if (run->sw.switching == RUN_SWITCHING_STORE_AND_FORWARD)
		config->hop_ns += ns_of(frame_ps);
}

static uint64_t link_rate(
	const struct run_config *run, const struct topology *topology, uint32_t host)
{
	int64_t link = topology->host_link[host];

	return link < 0 ? run->link.rate_bps : topology->link_at[link].rate_bps;
}

void control_setup_source(const struct run_config *run, const struct topology *topology,
	uint32_t host, struct source_control_config *config)
{
	*config = (struct source_control_config){.kind = run->nic.control,
		.host = (uint16_t)host,
		.hosts = topology->hosts,
		.seed = run->seed};
	fill_iba(&run->nic.iba_cc, &config->iba);
	if (run->nic.control == SOURCE_CONTROL_DCQCN) {
		config->iba.per_host = false;
		fill_dcqcn(&run->nic.dcqcn, link_rate(run, topology, host), &config->dcqcn);
	}
	fill_paths(&run->nic.drb, &config->paths);
	fill_predictive(&run->nic.pr_drb, config);
	fill_times(run, topology, host, config);
}

void control_setup_cn_generator(
	const struct run_config *run, uint32_t hosts, struct cn_generator_config *config)
{
	uint64_t threshold = ns_of(run->nic.drb.ack_threshold_ps);

	*config = (struct cn_generator_config){.all = source_control_measures(run->nic.control),
		.by_message = run->nic.drb.ack == RUN_DRB_ACK_MESSAGE,
		.threshold_ns = threshold < UINT32_MAX ? (uint32_t)threshold : UINT32_MAX,
		.hosts = hosts,
		.gap_ps = run->nic.control == SOURCE_CONTROL_DCQCN ? run->nic.dcqcn.cnp_gap_ps : 0};
}

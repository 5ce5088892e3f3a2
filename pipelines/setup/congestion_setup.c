/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

#include <errno.h>

#include "congestion_setup.h"
#include "wire/frame.h"

#define STREAM_RED  3    /* random stream for marking, per switch */
#define ARN_ENTRIES 8192 /* per switch; memory is touched only when needed */

static bool has_notifications(const struct run_config *run)
{
	return run->routing.adaptive->notified;
}

struct arn_policer_config congestion_setup_guard(
	const struct run_config *run, const struct topology *topology)
{
	struct arn_policer_config guard = {.rate = run->detector.arn_rate};

	if (topology == NULL)
		return guard;
	guard.switches = topology->switches;
	for (uint32_t i = 0; i < topology->switches; i++)
		if (topology->switch_at[i].ports > guard.ports)
			guard.ports = topology->switch_at[i].ports;
	return guard;
}

weft_time congestion_setup_mark_ps(const struct run_config *run)
{
	bool act = has_notifications(run) && run->routing.afi && run->detector.variants.hosts_act;

	return act ? run->detector.arn_ttl_ps : 0;
}

/* With notifications, packets keep their path until a notification arrives. */
static const struct adaptive_mode *find_mode(const struct run_config *run)
{
	return has_notifications(run) ? &adaptive_none : run->routing.adaptive;
}

static enum congestion_detector_retest find_retest(enum run_retest retest)
{
	switch (retest) {
	case RUN_RETEST_STARTS:
		return CONGESTION_RETEST_STARTS;
	case RUN_RETEST_HOLDS:
		return CONGESTION_RETEST_HOLDS;
	default:
		return CONGESTION_RETEST_NEVER;
	}
}

static struct congestion_detector_config find_detector(const struct run_config_detector *run)
{
	return (struct congestion_detector_config){
		.hcdth_ppm = run->hcdth_ppm,
		.lcdth_ppm = run->lcdth_ppm,
		.fcth_ppm = run->fcth_ppm,
		.crt_ps = run->crt_ps,
		.refresh_ps = run->arn_refresh_ps,
		.retest = find_retest(run->variants.retest),
		.by_vc = run->variants.occupancy == RUN_OCCUPANCY_VC,
		.all_voqs = run->variants.notifiers == RUN_NOTIFIERS_ALL,
		.afc = run->variants.watch_afc,
	};
}

static struct arn_table_config find_table(const struct run_config_detector *run)
{
	return (struct arn_table_config){
		.entries = ARN_ENTRIES,
		.ttl_ps = run->arn_ttl_ps,
		.refresh_ps = run->arn_refresh_ps,
		.adapted_notify = run->variants.adapted_notify,
		.adapted_roots = run->variants.adapted_roots,
		.waiting_first = run->variants.waiting_first,
		.down_roots_to_hosts = run->variants.down_roots == RUN_DOWN_ROOTS_HOSTS,
	};
}

/* Returns the ports whose peer is a switch of a higher stage. */
static port_set find_up_ports(const struct topology *topology, uint32_t at)
{
	port_set up = PORT_SET_NONE;

	for (uint8_t port = 0; port < topology->switch_at[at].ports; port++) {
		struct topology_port peer;

		if (topology_peer(
			    topology, (struct topology_port){DEVICE_SWITCH, at, port}, &peer) &&
			peer.kind == DEVICE_SWITCH &&
			topology->switch_at[peer.device].stage > topology->switch_at[at].stage)
			up |= port_set_of(port);
	}
	return up;
}

int congestion_setup_alone(struct weft_switch *sw, const struct topology *topology, uint32_t at,
	const struct run_config *run)
{
	const struct congestion_detector_config detector = find_detector(&run->detector);
	const struct arn_table_config table = find_table(&run->detector);
	const struct switch_congestion_config config = {
		.seed = run->seed,
		.mode = find_mode(run),
		.afi = run->routing.afi,
		.credits_each = run->sw.credits == RUN_CREDITS_EACH,
		.threshold_ppm = run->routing.threshold_ppm,
		.flowlet_gap_ps = run->routing.flowlet_gap_ps,
		.stage = topology != NULL ? topology->switch_at[at].stage : 1,
		.up_ports = topology != NULL ? find_up_ports(topology, at) : PORT_SET_NONE,
		.hosts = topology != NULL ? topology->hosts : 0,
		.detector = has_notifications(run) ? &detector : NULL,
		.table = has_notifications(run) ? &table : NULL,
	};

	return congestion_setup_is_needed(run) ? switch_congestion(sw, &config) : 0;
}

int congestion_setup_switch(struct weft_switch *sw, const struct topology *topology, uint32_t at,
	const struct run_config *run, struct error *error)
{
	int result = congestion_setup_alone(sw, topology, at, run);

	if (result == -ENOMEM)
		return error_set(error, ENOMEM, "not enough memory for the congestion tables of %s",
			topology->switch_at[at].name);
	return result == 0
		       ? 0
		       : error_set(error, -result,
				 "%s: switch %s does not support these values of routing.adaptive, "
				 "routing.afi and detector",
				 run->origin, topology->switch_at[at].name);
}

/* Returns the rate of the switch's slowest link, for which the threshold is computed. */
static uint64_t find_rate(const struct topology *topology, uint32_t at, uint64_t rate_bps)
{
	const struct topology_device *sw = &topology->switch_at[at];
	uint64_t slowest = UINT64_MAX;

	for (unsigned port = 0; port < sw->ports; port++) {
		const struct topology_link *link = topology_link_at(
			topology, (struct topology_port){DEVICE_SWITCH, at, (uint8_t)port});

		if (link != NULL && link->rate_bps < slowest)
			slowest = link->rate_bps;
	}
	return slowest != UINT64_MAX ? slowest : rate_bps;
}

/* With drb-cc, the last congested switch of a path records: congestion starts there. */
static bool records_last(const struct run_config *run)
{
	if (run->sw.recording == RUN_RECORDING_AUTO)
		return run->nic.control == SOURCE_CONTROL_DRB_CC;
	return run->sw.recording == RUN_RECORDING_LAST;
}

void congestion_setup_contention(struct weft_switch *sw, struct contention *contention,
	const struct topology *topology, uint32_t at, const struct run_config *run,
	const struct contention_config *driver)
{
	uint32_t frame_bytes = FRAME_HEADER_BYTES + FRAME_LATENCY_BYTES + run->nic.mtu_bytes;

	if (!source_control_measures(run->nic.control) && !run->measure.switches)
		return;
	*contention = (struct contention){.config = *driver};
	contention->config.flows = (uint8_t)run->sw.flows;
	contention->config.scope =
		run->sw.contending == RUN_CONTENDING_BUFFER ? CONTENTION_BUFFER : CONTENTION_OUTPUT;
	contention->config.last = records_last(run);
	contention->config.threshold_ps = run->sw.contention_ps;
	if (!source_control_wants_flows(run->nic.control))
		contention->config.threshold_ps = WEFT_TIME_NEVER;
	else if (run->sw.contention_ps == WEFT_TIME_NEVER)
		contention->config.threshold_ps = contention_threshold(
			frame_bytes, find_rate(topology, at, run->link.rate_bps));
	switch_set_contention(sw, contention);
}

void congestion_setup_marks(struct weft_switch *sw, struct fecn *fecn, const struct run_config *run)
{
	const struct run_config_ecn *ecn = &run->sw.ecn;

	if (!run_config_marks(run))
		return;
	fecn_init(fecn);
	fecn->red = (struct fecn_red){.min_blocks = (uint32_t)(ecn->kmin_bytes / FRAME_BLOCK_BYTES),
		.max_blocks = (uint32_t)(ecn->kmax_bytes / FRAME_BLOCK_BYTES),
		.max_ppm = ecn->pmax_ppm};
	rng_init(&fecn->rng, run->seed, sw->port[0].link.config.device, STREAM_RED);
	fecn_set_rules(fecn, &(struct fecn_rules){.marking_rate = (uint16_t)run->sw.marking_rate,
				     .packet_bytes = (uint16_t)run->sw.mark_bytes,
				     .victims = run->sw.victim_mask});
	for (unsigned port = 0; port < sw->ports; port++)
		for (unsigned vc = 0; vc < sw->vcs; vc++)
			fecn_set(
				fecn, port, vc, run->sw.fecn, sw->port[port].link.config.vc_blocks);
	switch_set_fecn(sw, fecn);
}

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
		.rate_bytes_ns = ns_of(bytes_ps(from->rate_bytes, byte_time_of(link_bps))) + 1,
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

/* Sets the zero-load times: a full frame on the host's link and, for each switch on the path, the
 * routing delay and the next link; with store-and-forward, also the frame time at each switch. All
 * links are assumed to equal the host's. */
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
	frame_ps = bytes_ps(bytes, byte_time_of(link->rate_bps));
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

	*config = (struct cn_generator_config){.all = source_control_measures(run->nic.control) ||
						      run->routing.adaptive->entropies,
		.by_message = run->nic.drb.ack == RUN_DRB_ACK_MESSAGE,
		.threshold_ns = threshold < UINT32_MAX ? (uint32_t)threshold : UINT32_MAX,
		.hosts = hosts,
		.gap_ps = run->nic.control == SOURCE_CONTROL_DCQCN ? run->nic.dcqcn.cnp_gap_ps : 0};
}

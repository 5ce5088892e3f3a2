/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "device_config.h"

#include <errno.h>
#include <string.h>

#include "congestion_setup.h"
#include "experiment/run/run_events.h"

/* Capacity of a switch output for waiting control frames. */
#define CONTROL_RESERVE 256
/* Maximum number of concurrent peers whose frames may be reordered. */
#define REORDER_WINDOWS_MAX 256
/* Messages in the FIFO of each VC of a host on the virtual clock; others wait in its sources. */
#define DATAGRAM_QUEUE 16
/* Messages in such a host's adapted-flow queue; a power of two. Memory is touched when needed. */
#define ADAPTED_QUEUE 4096
/* Frames that such a host holds because a host in transit discarded an earlier frame. */
#define DATAGRAM_HELD 2048

_Static_assert(ROUTE_CHOICE_ROUTES_MAX == ROUTE_ALTERNATIVES_MAX,
	"the rows of route_set_parts() are those of route_choice_options.sets");
_Static_assert(ROUTE_CHOICE_SETS_MAX == RUN_ALGORITHMS_MORE + 1, "as many sets as algorithms");

weft_time device_credit_refresh(weft_time hello_ps)
{
	return hello_ps / 4 < PS_PER_MS ? hello_ps / 4 : PS_PER_MS;
}

static weft_time hello_of(const struct device_config *from)
{
	return from->links_are_up ? WEFT_TIME_NEVER : from->run->hello_ps;
}

static uint32_t buffer_blocks(const struct run_config *run)
{
	return (uint32_t)(run->sw.buffer_bytes / FRAME_BLOCK_BYTES);
}

uint64_t device_config_identity(const struct topology_port *at)
{
	return at->kind == DEVICE_SWITCH ? at->device + UINT64_C(1)
					 : FRAME_HOST_DEVICE + at->device;
}

/* --- switches --- */

_Static_assert(ROUTE_BLOCK_HOSTS == SWITCH_TABLE_BLOCK, "a switch reads blocks of a table");

static void place_switch(
	const struct device_config *from, uint32_t number, struct switch_config *config)
{
	const struct route_table *table = from->routes->table;

	config->device = device_config_identity(&(struct topology_port){DEVICE_SWITCH, number, 0});
	config->ports = from->topology->switch_at[number].ports;
	for (unsigned port = 0; port < config->ports; port++) {
		const struct topology_port at = {DEVICE_SWITCH, number, (uint8_t)port};

		if (topology_link_at(from->topology, at) == NULL)
			config->absent_ports |= port_set_of(port);
	}
	config->vc_rule = fabric_routes_vc_rule(from->routes);
	config->vc_rule_at = number;
	config->detour.lengths = from->routes->lengths;
	config->detour.at = number;
	fabric_routes_map_sl(from->routes, config->sl_to_vc);
	if (table == NULL)
		return;
	if (from->routes->blocks != NULL) {
		config->table_port = from->routes->blocks->port;
		config->table_block = route_blocks_row(from->routes->blocks, number);
	} else {
		config->table_port = route_table_row(table, number);
	}
	config->table_alternatives = (const port_set *)route_table_alternatives(table, number);
	config->table_hosts = table->hosts;
}

void device_config_switch(
	const struct device_config *from, uint32_t number, struct switch_config *config)
{
	const struct run_config *run = from->run;

	*config = (struct switch_config){
		.session = from->session,
		.vcs = (uint8_t)run_config_vcs(run),
		.voq = run->sw.voq,
		.arbitration = run->sw.arbitration,
		.buffer_blocks = buffer_blocks(run),
		.hello_ps = hello_of(from),
		.credit_refresh_ps = device_credit_refresh(from->run->hello_ps),
		.credits_each = run->sw.credits == RUN_CREDITS_EACH,
		.watchdog_ps = run->watchdog_ps,
		.detour = {.seed = run->seed,
			.bias_blocks = run->routing.ugal_bias_bytes / FRAME_BLOCK_BYTES,
			.queues = (enum detour_queues)run->routing.ugal_queues},
		.control_reserve = from->links_are_up ? 1 : CONTROL_RESERVE,
	};
	if (from->topology != NULL) {
		place_switch(from, number, config);
		return;
	}
	for (unsigned sl = 0; sl < 16; sl++)
		config->sl_to_vc[sl] = (uint8_t)(sl % run->sw.vcs);
}

int device_config_refuse(const char *name, const struct switch_config *config, struct error *error)
{
	return error_set(error, EINVAL,
		"%s: a buffer of %u blocks of 64 bytes cannot be divided among %u VCs", name,
		config->buffer_blocks, config->vcs);
}

int device_use_tables(struct weft_switch *sw, const struct switch_tables *tables)
{
	uint8_t sl_to_vc[16];
	const struct switch_routing routing = {.port = tables->port,
		/* The mapper only supports switches of up to 64 ports. */
		.alternatives = PORT_SET_WORDS == 1 ? (const port_set *)tables->alternatives : NULL,
		.hosts = tables->hosts,
		.vc_rule = tables->vc_rule,
		.vc_rule_at = 0,
		.sl_to_vc = tables->queues != 0 ? sl_to_vc : NULL,
		.stage = tables->stage};
	int result;

	for (unsigned sl = 0; sl < 16; sl++)
		sl_to_vc[sl] = (uint8_t)(sl < tables->queues ? sl : 0);
	result = switch_set_routing(sw, &routing);
	/* The path lengths apply only to the previous tables. */
	if (result == 0)
		sw->detour.config.lengths = NULL;
	return result;
}

/* --- hosts --- */

static struct link_end_config host_link(
	const struct device_config *from, uint32_t host, uint32_t slots)
{
	uint32_t blocks = buffer_blocks(from->run), vcs = run_config_vcs(from->run);

	if (slots != 0 && slots < blocks)
		blocks = slots;
	return (struct link_end_config){
		.device = device_config_identity(&(struct topology_port){DEVICE_HOST, host, 0}),
		.device_kind = 1,
		.each = from->run->sw.credits == RUN_CREDITS_EACH,
		.vcs = (uint8_t)vcs,
		.vc_blocks = blocks / vcs,
		.session = from->session,
		.hello_ps = hello_of(from),
		.refresh_ps = device_credit_refresh(from->run->hello_ps),
	};
}

/* Counts the routes: the run file does not state the number of alternatives in a route file. */
static unsigned max_routes(const struct route_set *set, uint32_t host)
{
	unsigned max = 1;

	for (uint32_t to = 0; set != NULL && to < route_set_hosts(set); to++)
		if (route_set_count(set, host, to) > max)
			max = route_set_count(set, host, to);
	return max;
}

struct route_choice_options device_config_selection(
	const struct run_config *run, const struct route_set *set, uint32_t host, uint64_t rate_bps)
{
	const struct run_config_selection *selection = &run->nic.selection;

	return (struct route_choice_options){
		.rate_bps = rate_bps,
		.forget = selection->forget,
		.threshold = {selection->k, selection->k2},
		.short_bytes = selection->short_bytes,
		.first_set_ppm = selection->first_set_ppm,
		.routes = run->routing.file != NULL
				  ? max_routes(set, host)
				  : run->routing.alternatives * (run->routing.others + 1),
		.sets = set == NULL ? NULL : route_set_parts(set, host),
	};
}

static struct route_choice_options selection_of(const struct device_config *from, uint32_t host)
{
	int64_t link = from->topology->host_link[host];
	uint64_t rate_bps = link < 0 ? 0 : from->topology->link_at[link].rate_bps;

	return device_config_selection(from->run, from->routes->set, host, rate_bps);
}

void device_config_nic(const struct device_config *from, uint32_t host,
	const struct nic_routes *routes, uint32_t slots, struct nic_config *config)
{
	const struct run_config *run = from->run;
	uint16_t hosts =
		(uint16_t)(from->hosts_max > from->topology->hosts ? from->hosts_max
								   : from->topology->hosts);

	nic_config_default(config, (uint16_t)host, hosts);
	config->seed = run->seed;
	config->mtu_bytes = run->nic.mtu_bytes;
	config->routes = routes;
	config->choice = run->nic.selector;
	config->selection = selection_of(from, host);
	if (routes == NULL)
		config->selection.routes = 0; /* any number that a mapper may send */
	config->queuing = from->routes->queuing;
	fabric_routes_map_sl(from->routes, config->sl_to_vc);
	config->window_frames = run->nic.window_frames;
	config->retry_ps = run->nic.retry_ps;
	config->give_up_ps = run->nic.give_up_ps;
	config->mark_ps = congestion_setup_mark_ps(run);
	config->arn_policer = congestion_setup_guard(run, from->topology);
	control_setup_source(run, from->topology, host, &config->control);
	config->control.hosts = hosts;
	control_setup_cn_generator(run, hosts, &config->answers);
	/* With adaptive routing, multiple concurrent paths or changing mapped routes, frames of any
	 * peer may be reordered, not only frames of a few peers. */
	if (congestion_setup_is_needed(run) || control_setup_reorders(run) || routes == NULL)
		config->reorder_windows = hosts < REORDER_WINDOWS_MAX ? hosts : REORDER_WINDOWS_MAX;
	config->link = host_link(from, host, slots);
	config->data_key = from->data_key;
	if (from->secret != NULL)
		memcpy(config->secret, from->secret, sizeof(config->secret));
	config->itb = (struct itb_config){
		.pool_bytes = run->nic.itb.pool_bytes,
		.frame_bytes_min = DEVICE_TRANSIT_BYTES,
		.pause_ps = run->nic.itb.pause_ps,
	};
}

void device_config_datagram(const struct device_config *from, uint32_t host,
	struct datagram_config *config, struct itb_config *itb,
	struct source_control_config *control, struct link_end_config *link)
{
	const struct run_config *run = from->run;

	*config = (struct datagram_config){
		.host = (uint16_t)host,
		.hosts = from->topology->hosts,
		.seed = run->seed,
		.mtu_bytes = run->nic.mtu_bytes,
		.vcs = (uint8_t)run_config_vcs(run),
		.queue = DATAGRAM_QUEUE,
		.routes = from->routes->set,
		.choice = run->nic.selector,
		.selection = selection_of(from, host),
		.queuing = from->routes->queuing,
		.mark_ps = congestion_setup_mark_ps(run),
		.adapted_queue = ADAPTED_QUEUE,
	};
	fabric_routes_map_sl(from->routes, config->sl_to_vc);
	*link = host_link(from, host, 0);
	*itb = (struct itb_config){
		.pool_bytes = run->nic.itb.pool_bytes,
		.detection_ps = run->nic.itb.detection_ps,
		.programming_ps = run->nic.itb.programming_ps,
		.pause_ps = run->nic.itb.pause_ps,
	};
	if (from->routes->itbs) {
		config->itb = itb;
		config->held_max = DATAGRAM_HELD;
	}
	/* With adaptive routing or multipath messages, any sender's frames may arrive early. */
	if (congestion_setup_is_needed(run) || control_setup_reorders(run))
		config->held_max = UINT32_MAX;
	if (run_config_breaks(run)) {
		config->held_max = UINT32_MAX;
		config->lossy = true;
		config->last_wait_ps = run_config_is_ethernet(run) ? run->nic.retry_ps : 0;
		config->retry_ps = run->nic.retry_ps;
		config->give_up_ps = run->nic.give_up_ps;
		config->window_frames = run->nic.window_frames;
		config->go_back = run->nic.recovery == RUN_RECOVERY_GO_BACK;
	}
	config->reps = run->routing.adaptive->entropies;
	control_setup_source(run, from->topology, host, control);
	if (run->nic.control != SOURCE_CONTROL_NONE)
		config->control = control;
}

static bool has_faster_output(const struct topology *topology, uint32_t at, uint64_t rate_bps)
{
	for (unsigned port = 0; port < topology->switch_at[at].ports; port++) {
		const struct topology_port end = {DEVICE_SWITCH, at, (uint8_t)port};
		const struct topology_link *link = topology_link_at(topology, end);

		if (link != NULL && link->rate_bps > rate_bps)
			return true;
	}
	return false;
}

bool link_cuts_through(const struct topology *topology, enum run_switching switching,
	uint64_t rate_bps, struct topology_port to)
{
	return to.kind == DEVICE_SWITCH && switching == RUN_SWITCHING_CUT_THROUGH &&
	       !has_faster_output(topology, to.device, rate_bps);
}

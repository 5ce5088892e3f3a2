/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "run_config.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/quantity.h"
#include "link/arn_policer.h"
#include "nic/selectors/route_choice.h"
#include "queuing/vc_ladder.h"
#include "route/route_algorithm.h"
#include "run_config_fields.h"
#include "run_events.h"
#include "switch/adaptive_routing.h"
#include "topo/topology_file.h"
#include "wire/cn.h"
#include "wormhole/wormhole_net.h"

#define FORMAT            "run/1"
#define DILATION_EXPECTED "expected auto, or a whole number from 1 to 100000"

void run_write_topology(const void *member, FILE *out, unsigned indent)
{
	const struct run_config_topology *topology = member;

	if (topology->spec != NULL) {
		fputc(' ', out);
		yaml_tree_write_text(topology->spec, out);
		return;
	}
	/* The caller writes the last newline, as for every value. */
	fputs("\n", out);
	topology_write_keys(topology->in_place, out, indent);
}

const struct yaml_field run_file_fields[] = {
	{"weft", YAML_FIELD_CUSTOM, .read = run_read_later, .present = run_present_never,
		.form = FORMAT, .doc = "The format of the file."},
	{"topology", YAML_FIELD_CUSTOM, true, YAML_MEMBER(struct run_config, topology),
		.read = run_read_later, .write = run_write_topology, .form = "<text>",
		.map = topology_file_fields,
		.doc = "The network: a generator with its options, a topology file, or a topology in place."},
	{"clock", YAML_FIELD_CHOICE, YAML_MEMBER(struct run_config, clock),
		.choices = run_clock_choices,
		.doc = "`real`: poll loops move packets in real time. `virtual`: a simulation with virtual time."},
	RUN_SHARED_FIELDS(struct run_config, ),
	{"reconfigure", YAML_FIELD_SECTION, YAML_MEMBER(struct run_config, reconfigure),
		.fields = run_reconfigure_fields,
		.doc = "How new routes replace others after an event."},
	{"host", YAML_FIELD_SECTION, YAML_MEMBER(struct run_config, host),
		.fields = run_host_fields,
		.doc = "What ranks of schedules cost on their hosts, in addition to the network."},
	{"jobs", YAML_FIELD_CUSTOM, .offset = 0, .size = sizeof(struct run_config),
		.read = run_read_jobs, .write = run_write_jobs, .present = run_jobs_present,
		.fields = run_job_fields,
		.doc = "Schedules or traffic that run concurrently, each on its own hosts."},
	{NULL},
};

/* The values of the papers; where they give none, Weft's own. */
static const struct run_config config_default = {
	.clock = RUN_CLOCK_REAL,
	.dilation = 1,
	.seed = 1,
	.link = {TOPOLOGY_RATE_BPS, TOPOLOGY_DELAY_PS, .unset = true},
	.sw = {.buffer_bytes = 128 << 10,
		.mtu_bytes = 4096,
		.vcs = 1,
		.voq = true,
		.credits = RUN_CREDITS_UNSET,
		.victim_mask = true,
		.ecn = {.pmax_ppm = 10000},
		.contention_ps = WEFT_TIME_NEVER,
		.flows = CN_FLOWS_MAX,
		.stop_bytes = STOP_GO_STOP,
		.go_bytes = STOP_GO_GO},
	.queuing = &queuing_1q,
	.routing = {.algorithm = &route_up_down,
		.mode = RUN_ROUTING_UNSET,
		.adaptive = &adaptive_none,
		.steps = RUN_STEPS_UNSET,
		.ties = RUN_TIES_UNSET,
		.ugal_queues = RUN_UGAL_HYBRID,
		.flowlet_gap_ps = 5 * PS_PER_US,
		.threshold_ppm = 750000},
	.detector = {.hcdth_ppm = 810000,
		.lcdth_ppm = 630000,
		.fcth_ppm = 780000,
		.crt_ps = 5 * PS_PER_MS,
		.arn_ttl_ps = 10 * PS_PER_MS,
		.arn_refresh_ps = 100 * PS_PER_US,
		.arn_rate = ARN_GUARD_RATE_DEFAULT,
		.variants = {.watch_afc = true,
			.adapted_notify = true,
			.adapted_roots = true,
			.waiting_first = true,
			.hosts_act = true}},
	.nic = {.selection = {.forget = 100,
			.k = 1000,
			.k2 = 2000,
			.short_bytes = 64,
			.first_set_ppm = 500000},
		.mtu_bytes = 4096,
		.window_frames = 64,
		.retry_ps = 10 * PS_PER_MS,
		.give_up_ps = 10 * PS_PER_S,
		.hardware_stamps = true,
		.itb = {.pool_bytes = 512 << 10,
			.detection_ps = 275 * PS_PER_NS,
			.programming_ps = 200 * PS_PER_NS,
			.pause_ps = 50 * PS_PER_MS},
		.iba_cc = {.timer_ps = 150 * PS_PER_US, .increase = 1, .limit = 127},
		.dcqcn = {.cnp_gap_ps = 50 * PS_PER_US,
			.alpha_timer_ps = 55 * PS_PER_US,
			.rate_timer_ps = 55 * PS_PER_US,
			.rate_bytes = 10 << 20,
			.gain = 256,
			.fast = 5,
			.additive_bps = 40 * UINT64_C(1000000),
			.hyper_bps = 400 * UINT64_C(1000000),
			.min_bps = 40 * UINT64_C(1000000)},
		.drb = {.high = 3000, .low = 1500, .close_gap_ps = 200 * PS_PER_US, .smoothing = 1},
		.pr_drb = {.similarity_ppm = 800000, .entries = 64, .improve = true}},
	.hello_ps = 10 * PS_PER_MS,
	.watchdog_ps = 50 * PS_PER_MS,
	.mapper = {.routes = RUN_ROUTES_STATIC,
		.listen_ps = 20 * PS_PER_MS,
		.heartbeat_ps = 50 * PS_PER_MS,
		.takeover_ps = 400 * PS_PER_MS,
		.lease_ps = 300 * PS_PER_MS,
		.gather_ps = 5 * PS_PER_MS,
		.linger_ps = 500 * PS_PER_MS,
		.sweep_ps = PS_PER_S,
		.retry_ps = 20 * PS_PER_MS,
		.drain_ps = 200 * PS_PER_MS,
		.after_ps = WEFT_TIME_NEVER},
	.measure = {.duration_ps = PS_PER_S, .sample_ps = 10 * PS_PER_MS},
	.fidelity = {.late_ps = WEFT_TIME_NEVER, .share_ppm = 990000},
	.host = {.copy_rate_bps = (uint64_t)80 * 1000 * 1000 * 1000},
};

void run_config_default(struct run_config *config)
{
	*config = config_default;
}

void run_config_default_by_file(struct run_config *config, const struct yaml_tree_node *root)
{
	/* 0: run_config_complete() sets the default. */
	config->measure.duration_ps = config->measure.sample_ps = 0;
	if (!run_config_says(
		    root, "switch", "switching", run_switching_name(RUN_SWITCHING_WORMHOLE)))
		return;
	config->link = (struct topology_defaults){1280 * UINT64_C(1000000), 49200};
	config->sw.flow_control = RUN_FLOW_CONTROL_STOP_GO;
	config->sw.buffer_bytes = STOP_GO_SLACK;
	config->sw.voq = false;
	config->sw.routing_delay_ps = 150 * PS_PER_NS;
}

void run_config_fini(struct run_config *config)
{
	free(config->origin);
	free(config->routing.file);
	free(config->nic.iba_cc.opensm);
	free(config->topology.spec);
	topology_destroy(config->topology.in_place);
	free(config->edges.at);
	free(config->events.at);
	for (uint32_t i = 0; i < config->traffic.count; i++)
		run_traffic_fini(&config->traffic.at[i]);
	free(config->traffic.at);
	run_jobs_free(&config->jobs);
	free(config->mapper.hosts.name);
	free(config->mapper.key);
	free(config->mapper.expect);
	free(config->security.link_key.path);
}

void run_config_destroy(struct run_config *config)
{
	if (config == NULL)
		return;
	run_config_fini(config);
	free(config);
}

int run_config_read_topology(
	struct run_config *config, const struct yaml_tree_node *node, struct error *error)
{
	char spec[RUN_PATH_MAX];
	int result;

	config->topology.place = run_place_of(node);
	if (node->kind == YAML_TREE_MAP)
		return topology_read(node, &config->link, &config->topology.in_place, error);
	result = yaml_read_text(node, spec, sizeof(spec), error);
	if (result < 0)
		return result;
	if (!topology_is_generated(spec))
		return run_resolve_path(node, spec, &config->topology.spec, error);
	config->topology.spec = strdup(spec);
	return config->topology.spec == NULL ? run_refuse_memory(node, error) : 0;
}

enum run_credits run_credits_of_mode(const struct adaptive_mode *mode)
{
	return mode->compares ? RUN_CREDITS_EACH : RUN_CREDITS_COALESCED;
}

static enum run_credits credits_of_choice(const struct run_config *config)
{
	const struct vc_ladder *ladder = run_config_ladder(config);

	return ladder != NULL && ladder->choice >= VC_LADDER_QUEUES
		       ? RUN_CREDITS_EACH
		       : run_credits_of_mode(config->routing.adaptive);
}

bool run_routing_has_steps(const struct run_config_routing *routing)
{
	bool steps = routing->algorithm->steps;

	for (uint32_t i = 0; i < routing->others; i++)
		steps |= routing->other[i]->steps;
	return steps;
}

bool run_routing_has_ties(const struct run_config_routing *routing)
{
	bool ties = routing->algorithm->ties;

	for (uint32_t i = 0; i < routing->others; i++)
		ties |= routing->other[i]->ties;
	return ties;
}

/* Returns the time limit. Runs that usually end earlier have a generous one, but on the real clock
 * a schedule that never ends must not run for hours. */
static weft_time default_duration(const struct run_config *config)
{
	const struct run_config_measure *measure = &config->measure;
	weft_time samples = RUN_SAMPLES_MAX * measure->sample_ps;

	if (measure->until.interval_ppm > 0 && measure->max_ps > 0)
		return measure->max_ps;
	if (measure->messages > 0)
		return 1000 * PS_PER_S;
	if (run_config_has_schedule(config) && config->clock == RUN_CLOCK_VIRTUAL)
		return samples < 10000 * PS_PER_S ? samples : 10000 * PS_PER_S;
	return config_default.measure.duration_ps;
}

static void choose_times(struct run_config *config)
{
	struct run_config_measure *measure = &config->measure;
	weft_time sample = config_default.measure.sample_ps;
	bool chosen = measure->sample_ps == 0;

	if (chosen)
		measure->sample_ps = sample;
	if (measure->duration_ps == 0)
		measure->duration_ps = default_duration(config);
	/* A run shorter than the default sample has ten samples, of at least 1 us each. */
	if (chosen && measure->duration_ps < sample)
		measure->sample_ps = measure->duration_ps > 10 * PS_PER_US
					     ? measure->duration_ps / 10
					     : PS_PER_US;
}

void run_config_complete(struct run_config *config)
{
	uint32_t vc_blocks = run_config_vc_blocks(config);
	bool computed = config->routing.file == NULL;
	const struct route_algorithm *algorithm =
		computed ? config->routing.algorithm : config->routing.file_algorithm;

	choose_times(config);
	if (config->sw.credits == RUN_CREDITS_UNSET)
		config->sw.credits = credits_of_choice(config);
	/* An empty VC may withhold up to a quarter of its credits, but must leave enough for the
	 * longest frame. If routes may deadlock, withheld credits would keep a cycle open, and the
	 * deadlock search would not find it. */
	if (vc_blocks - vc_blocks / 4 < run_config_frame_blocks(config) ||
		config->routing.may_deadlock)
		config->sw.credits = RUN_CREDITS_EACH;
	if (config->routing.mode == RUN_ROUTING_UNSET)
		config->routing.mode =
			run_config_is_adaptive(config) || (computed && algorithm->routes == NULL)
				? RUN_ROUTING_TABLE
				: RUN_ROUTING_SOURCE;
	if (config->routing.alternatives == 0 && computed)
		config->routing.alternatives = algorithm->alternatives;
	if (config->routing.alternatives == 0 && computed)
		config->routing.alternatives = 1;
	if (config->routing.radius == 0 && computed && run_routing_has_steps(&config->routing))
		config->routing.radius = 1;
	if (config->routing.ties == RUN_TIES_UNSET && computed &&
		run_routing_has_ties(&config->routing))
		config->routing.ties = RUN_TIES_PORT;
	if (config->nic.selector == NULL && algorithm != NULL && algorithm->selector != NULL)
		config->nic.selector = route_choice_find(algorithm->selector);
	if (config->nic.selector == NULL)
		config->nic.selector = &route_choice_first;
}

static int read_root(
	struct run_config *config, const struct yaml_tree_node *root, struct error *error)
{
	int result = yaml_tree_expect_format(root, FORMAT, error);

	run_config_default_by_file(config, root);
	if (result == 0)
		result = yaml_fields_read(run_file_fields, root, config, error);
	if (result == 0)
		result = run_config_read_topology(config, yaml_tree_get(root, "topology"), error);
	if (result == 0)
		result = run_jobs_complete(config, error);
	if (result == 0)
		result = run_config_choose_routes(config, root, error);
	if (result == 0)
		result = run_config_take_opensm(config, root, error);
	if (result < 0)
		return result;
	run_config_complete(config);
	return run_config_check(config, root, error);
}

static int override(
	struct yaml_tree *tree, const struct run_config_overrides *overrides, struct error *error)
{
	int result = 0;

	for (unsigned i = 0; i < overrides->sets && result == 0; i++)
		result = yaml_tree_set(tree, overrides->option, overrides->set[i], error);
	return result;
}

/* Takes ownership of the tree, which may be NULL with errno set. */
static struct run_config *read_tree(struct yaml_tree *tree,
	const struct run_config_overrides *overrides, unsigned count, struct error *error)
{
	struct run_config *config;
	int result = 0;

	if (tree == NULL)
		return NULL;
	config = malloc(sizeof(*config));
	if (config != NULL) {
		run_config_default(config);
		config->clock = RUN_CLOCK_VIRTUAL; /* labs use the real clock */
	}
	if (config == NULL || (config->origin = strdup(yaml_tree_origin(tree))) == NULL)
		result = error_set(error, ENOMEM, "%s: out of memory", yaml_tree_origin(tree));
	for (unsigned i = 0; i < count && result == 0; i++)
		result = override(tree, &overrides[i], error);
	if (result == 0)
		result = read_root(config, yaml_tree_root(tree), error);
	yaml_tree_destroy(tree);
	if (result == 0)
		return config;
	run_config_destroy(config);
	errno = -result;
	return NULL;
}

struct run_config *run_config_load(
	const char *path, const char *const *set, unsigned sets, struct error *error)
{
	return run_config_load_with(
		path, &(struct run_config_overrides){"--set", set, sets}, 1, error);
}

struct run_config *run_config_load_with(const char *path,
	const struct run_config_overrides *overrides, unsigned count, struct error *error)
{
	return read_tree(yaml_tree_load(path, error), overrides, count, error);
}

struct run_config *run_config_parse(const char *text, size_t length, const char *origin,
	const char *const *set, unsigned sets, struct error *error)
{
	return read_tree(yaml_tree_parse(text, length, origin, error),
		&(struct run_config_overrides){"--set", set, sets}, 1, error);
}

/* Adds the position of 'topology' to an error, unless the error is about the contents of a file. */
static struct topology *open_spec(const struct run_config *config, struct error *error)
{
	struct topology *topology;
	struct error why;

	topology = topology_open_with(config->topology.spec, &config->link, &why);
	if (topology == NULL && (errno == ENOENT || topology_is_generated(config->topology.spec)))
		run_config_refuse(config, &config->topology.place, error, "topology: %s", why.text);
	else if (topology == NULL)
		*error = why;
	return topology;
}

#define EXACT_RATE_MAX_BPS ((uint64_t)1000 * 1000 * 1000 * 1000)

/* Checks link rates. A flit takes an integral number of picoseconds, which above 1 Tbps may change
 * the rate by more than 1 %. */
static int check_rates(const struct topology *topology, const char *origin, struct error *error)
{
	char rate[QUANTITY_TEXT], nearest[QUANTITY_TEXT];

	for (uint32_t i = 0; i < topology->links; i++) {
		const struct topology_link *link = &topology->link_at[i];
		uint64_t counted = rate_of_time(ps_per_byte(link->rate_bps) << BYTE_TIME_SHIFT);

		if (link->rate_bps <= EXACT_RATE_MAX_BPS ||
			link->rate_bps - counted <= link->rate_bps / 100)
			continue;
		quantity_format(QUANTITY_RATE, link->rate_bps, rate);
		quantity_format(QUANTITY_RATE, counted, nearest);
		return error_at(error, origin, link->line, 0,
			"the link from %s to %s has %s; wormhole switching requires whole "
			"picoseconds per byte, and the nearest such rate is %s",
			topology_device_name(topology, link->a),
			topology_device_name(topology, link->b), rate, nearest);
	}
	return 0;
}

struct topology *run_config_open_topology(const struct run_config *config, struct error *error)
{
	struct topology *topology;
	const char *origin = config->topology.spec;

	if (origin != NULL) {
		topology = open_spec(config, error);
	} else {
		origin = config->topology.place.option[0] != '\0' ? config->topology.place.option
								  : config->origin;
		topology = topology_copy(config->topology.in_place);
		if (topology == NULL)
			error_set(error, errno = ENOMEM, "%s: out of memory", origin);
	}
	if (topology != NULL &&
		(topology_check_connected(topology, origin, error) < 0 ||
			(config->sw.switching == RUN_SWITCHING_WORMHOLE &&
				check_rates(topology, origin, error) < 0) ||
			run_config_check_mapper_hosts(config, topology, error) < 0 ||
			run_events_check(config, topology, error) < 0)) {
		topology_destroy(topology);
		errno = EINVAL;
		return NULL;
	}
	return topology;
}

int run_config_set_clock(struct run_config *config, const char *name, struct error *error)
{
	for (unsigned i = RUN_CLOCK_VIRTUAL; i <= RUN_CLOCK_REAL; i++)
		if (strcmp(name, run_clock_name((enum run_clock)i)) == 0) {
			bool as_default = config->measure.duration_ps == default_duration(config);

			config->clock = (enum run_clock)i;
			if (as_default)
				config->measure.duration_ps = default_duration(config);
			return 0;
		}
	return error_set(error, EINVAL, "--clock %s: expected virtual or real", name);
}

/* Parses "auto" or a number. */
static bool parse_dilation(const char *text, uint32_t *dilation)
{
	uint64_t value = RUN_DILATION_AUTO;

	if (strcmp(text, "auto") != 0 && !quantity_number(text, 1, RUN_DILATION_MAX, &value))
		return false;
	*dilation = (uint32_t)value;
	return true;
}

int run_config_set_dilation(struct run_config *config, const char *text, struct error *error)
{
	return parse_dilation(text, &config->dilation)
		       ? 0
		       : error_set(error, EINVAL, "--dilation %s: " DILATION_EXPECTED, text);
}

int run_read_dilation(const struct yaml_tree_node *node, void *member, struct error *error)
{
	int result = yaml_tree_expect(node, YAML_TREE_SCALAR, error);

	if (result < 0 || parse_dilation(node->text, member))
		return result;
	return yaml_tree_refuse(node, error, "'dilation: %s': " DILATION_EXPECTED, node->text);
}

void run_write_dilation(const void *member, FILE *out, unsigned indent)
{
	const uint32_t *dilation = member;

	if (*dilation == RUN_DILATION_AUTO)
		fputs(" auto", out);
	else
		fprintf(out, " %" PRIu32, *dilation);
}

int run_config_explain(const struct run_config *config, FILE *out)
{
	fputs("weft: " FORMAT "\n", out);
	yaml_fields_write(run_file_fields, config, out, 0);
	return fflush(out) == 0 && !ferror(out) ? 0 : -EIO;
}

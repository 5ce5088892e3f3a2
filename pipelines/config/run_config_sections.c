/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Keys, units, ranges and choices of the sections. */

#include "adaptive_routing.h"
#include "cn.h"
#include "frame.h"
#include "route_algorithm.h"
#include "route_choice.h"
#include "run_config_private.h"
#include "topology_file.h"
#include "traffic_pattern.h"

#define X(id, text) text,
const char *const run_clock_choices[] = {RUN_CLOCKS(X) NULL};
static const char *const switching_choices[] = {RUN_SWITCHINGS(X) NULL};
static const char *const until_choices[] = {RUN_UNTILS(X) NULL};
static const char *const flow_control_choices[] = {RUN_FLOW_CONTROLS(X) NULL};
static const char *const credits_choices[] = {RUN_CREDITS(X) NULL};
static const char *const routing_start_choices[] = {RUN_ROUTING_STARTS(X) NULL};
static const char *const contending_choices[] = {RUN_CONTENDINGS(X) NULL};
static const char *const recording_choices[] = {RUN_RECORDINGS(X) NULL};
static const char *const mode_choices[] = {RUN_ROUTING_MODES(X) NULL};
static const char *const steps_choices[] = {RUN_STEPS(X) NULL};
static const char *const ties_choices[] = {RUN_TIES(X) NULL};
static const char *const granularity_choices[] = {RUN_GRANULARITIES(X) NULL};
static const char *const retest_choices[] = {RUN_RETESTS(X) NULL};
static const char *const occupancy_choices[] = {RUN_OCCUPANCIES(X) NULL};
static const char *const speakers_choices[] = {RUN_SPEAKERS(X) NULL};
static const char *const down_roots_choices[] = {RUN_DOWN_ROOTS(X) NULL};
#undef X

const struct run_words run_words[] = {
	{"routing.algorithm", &route_algorithms},
	{"routing.adaptive", &adaptive_modes},
	{"nic.selector", &route_choices},
	{"queuing", &queuing_schemes},
	{"traffic[0].pattern", &traffic_patterns},
	{NULL, NULL},
};

const char *run_clock_name(enum run_clock clock)
{
	return run_clock_choices[clock];
}

const char *run_until_value_name(enum run_until_value value)
{
	return until_choices[value];
}

const char *run_switching_name(enum run_switching switching)
{
	return switching_choices[switching];
}

#define SHARE_FIELD(key, type, member)                                                      \
	{                                                                                   \
		key, YAML_FIELD_SHARE, YAML_MEMBER(type, member), .max = QUANTITY_WHOLE_PPM \
	}

const struct yaml_field run_link_fields[] = {
	{"rate", YAML_FIELD_RATE, YAML_MEMBER(struct topology_defaults, rate_bps),
		.min = TOPOLOGY_RATE_MIN_BPS, .max = TOPOLOGY_RATE_MAX_BPS},
	{"delay", YAML_FIELD_TIME, YAML_MEMBER(struct topology_defaults, delay_ps),
		.max = TOPOLOGY_DELAY_MAX_PS},
	{NULL},
};

static int read_contention(const struct yaml_tree_node *node, void *member, struct fault *fault)
{
	return run_read_time_or("auto", node, member, fault);
}

static void write_contention(const void *member, FILE *out, unsigned indent)
{
	run_write_time_or("auto", member, out);
}

#define S struct run_config_switch
const struct yaml_field run_switch_fields[] = {
	{"switching", YAML_FIELD_CHOICE, YAML_MEMBER(S, switching), .choices = switching_choices},
	{"buffer", YAML_FIELD_BYTES, YAML_MEMBER(S, buffer_bytes), .min = 16,
		.max = (uint64_t)256 << 20},
	{"stop", YAML_FIELD_BYTES, YAML_MEMBER(S, stop_bytes), .min = 1, .max = 65536},
	{"go", YAML_FIELD_BYTES, YAML_MEMBER(S, go_bytes), .min = 1, .max = 65536},
	{"mtu", YAML_FIELD_BYTES, YAML_MEMBER(S, mtu_bytes), .min = 64, .max = FRAME_PAYLOAD_MAX},
	{"vcs", YAML_FIELD_NUMBER, YAML_MEMBER(S, vcs), .min = 1, .max = FRAME_VCS_MAX},
	{"voq", YAML_FIELD_BOOL, YAML_MEMBER(S, voq)},
	{"flow-control", YAML_FIELD_CHOICE, YAML_MEMBER(S, flow_control),
		.choices = flow_control_choices},
	{"credits", YAML_FIELD_CHOICE, YAML_MEMBER(S, credits), .choices = credits_choices},
	{"fecn", YAML_FIELD_NUMBER, YAML_MEMBER(S, fecn), .max = 15},
	{"marking-rate", YAML_FIELD_NUMBER, YAML_MEMBER(S, marking_rate), .max = UINT16_MAX},
	{"packet-size", YAML_FIELD_BYTES, YAML_MEMBER(S, mark_bytes), .max = FRAME_BYTES_MAX},
	{"victim-mask", YAML_FIELD_BOOL, YAML_MEMBER(S, victim_mask)},
	{"contention", YAML_FIELD_CUSTOM, YAML_MEMBER(S, contention_ps), .read = read_contention,
		.write = write_contention},
	{"flows", YAML_FIELD_NUMBER, YAML_MEMBER(S, flows), .max = CN_FLOWS_MAX},
	{"contending", YAML_FIELD_CHOICE, YAML_MEMBER(S, contending),
		.choices = contending_choices},
	{"recording", YAML_FIELD_CHOICE, YAML_MEMBER(S, recording), .choices = recording_choices},
	{"routing-delay", YAML_FIELD_TIME, YAML_MEMBER(S, routing_delay_ps), .max = PS_PER_MS},
	{"routing-start", YAML_FIELD_CHOICE, YAML_MEMBER(S, routing_start),
		.choices = routing_start_choices},
	{NULL},
};
#undef S

/* A route file has its own; only msp has a radius. */
static bool number_present(const void *member)
{
	return *(const uint32_t *)member != 0;
}

static bool granularity_present(const void *member)
{
	return *(const enum run_granularity *)member != RUN_GRANULARITY_UNSET;
}

static bool root_present(const void *member)
{
	return *(const char *)member != '\0';
}

static bool steps_present(const void *member)
{
	return *(const enum run_steps *)member != RUN_STEPS_UNSET;
}

static bool ties_present(const void *member)
{
	return *(const enum run_ties *)member != RUN_TIES_UNSET;
}

#define S struct run_config_routing
const struct yaml_field run_routing_fields[] = {
	{"file", YAML_FIELD_CUSTOM, YAML_MEMBER(S, file), .read = run_read_path,
		.write = run_write_path, .present = run_path_present},
	{"algorithm", YAML_FIELD_CUSTOM, .offset = 0, .size = sizeof(S), .words = &route_algorithms,
		.read = run_read_algorithms, .write = run_write_algorithms,
		.present = run_algorithms_present},
	{"mode", YAML_FIELD_CHOICE, YAML_MEMBER(S, mode), .choices = mode_choices},
	{"alternatives", YAML_FIELD_NUMBER, YAML_MEMBER(S, alternatives), .min = 1, .max = 10,
		.present = number_present},
	{"granularity", YAML_FIELD_CHOICE, YAML_MEMBER(S, granularity),
		.choices = granularity_choices, .present = granularity_present},
	{"root", YAML_FIELD_TEXT, YAML_MEMBER(S, root), .present = root_present},
	{"radius", YAML_FIELD_NUMBER, YAML_MEMBER(S, radius), .min = 1, .max = ROUTE_RADIUS_MAX,
		.present = number_present},
	{"steps", YAML_FIELD_CHOICE, YAML_MEMBER(S, steps), .choices = steps_choices,
		.present = steps_present},
	{"ties", YAML_FIELD_CHOICE, YAML_MEMBER(S, ties), .choices = ties_choices,
		.present = ties_present},
	{"adaptive", YAML_FIELD_WORD, YAML_MEMBER(S, adaptive), .words = &adaptive_modes},
	{"afi", YAML_FIELD_BOOL, YAML_MEMBER(S, afi)},
	{"may-deadlock", YAML_FIELD_BOOL, YAML_MEMBER(S, may_deadlock)},
	SHARE_FIELD("threshold", S, threshold_ppm),
	{NULL},
};
#undef S

#define S struct run_config_readings
static const struct yaml_field readings_fields[] = {
	{"retest", YAML_FIELD_CHOICE, YAML_MEMBER(S, retest), .choices = retest_choices},
	{"occupancy", YAML_FIELD_CHOICE, YAML_MEMBER(S, occupancy), .choices = occupancy_choices},
	{"speakers", YAML_FIELD_CHOICE, YAML_MEMBER(S, speakers), .choices = speakers_choices},
	{"down-roots", YAML_FIELD_CHOICE, YAML_MEMBER(S, down_roots),
		.choices = down_roots_choices},
	{"watch-afc", YAML_FIELD_BOOL, YAML_MEMBER(S, watch_afc)},
	{"adapted-notify", YAML_FIELD_BOOL, YAML_MEMBER(S, adapted_notify)},
	{"adapted-roots", YAML_FIELD_BOOL, YAML_MEMBER(S, adapted_roots)},
	{"waiting-first", YAML_FIELD_BOOL, YAML_MEMBER(S, waiting_first)},
	{"hosts-act", YAML_FIELD_BOOL, YAML_MEMBER(S, hosts_act)},
	{NULL},
};
#undef S

#define S struct run_config_detector
const struct yaml_field run_detector_fields[] = {
	SHARE_FIELD("hcdth", S, hcdth_ppm),
	SHARE_FIELD("lcdth", S, lcdth_ppm),
	SHARE_FIELD("fcth", S, fcth_ppm),
	{"crt", YAML_FIELD_TIME, YAML_MEMBER(S, crt_ps), .max = 10 * PS_PER_S},
	{"arn-ttl", YAML_FIELD_TIME, YAML_MEMBER(S, arn_ttl_ps), .max = 10 * PS_PER_S},
	{"arn-refresh", YAML_FIELD_TIME, YAML_MEMBER(S, arn_refresh_ps), .min = PS_PER_US,
		.max = 10 * PS_PER_S},
	{"arn-rate", YAML_FIELD_NUMBER, YAML_MEMBER(S, arn_rate), .max = 1000000},
	{"readings", YAML_FIELD_SECTION, YAML_MEMBER(S, readings), .fields = readings_fields},
	{NULL},
};
#undef S

#define S struct run_config_itb
static const struct yaml_field run_itb_fields[] = {
	{"pool", YAML_FIELD_BYTES, YAML_MEMBER(S, pool_bytes), .min = 128,
		.max = (uint64_t)256 << 20},
	{"detection", YAML_FIELD_TIME, YAML_MEMBER(S, detection_ps), .max = PS_PER_MS},
	{"programming", YAML_FIELD_TIME, YAML_MEMBER(S, programming_ps), .max = PS_PER_MS},
	{"pause", YAML_FIELD_TIME, YAML_MEMBER(S, pause_ps), .min = PS_PER_US,
		.max = 3600 * PS_PER_S},
	{NULL},
};
#undef S

#define S struct run_config_nic
const struct yaml_field run_nic_fields[] = {
	{"selector", YAML_FIELD_WORD, YAML_MEMBER(S, selector), .words = &route_choices},
	{"selection", YAML_FIELD_SECTION, YAML_MEMBER(S, selection),
		.fields = run_selection_fields},
	{"mtu", YAML_FIELD_BYTES, YAML_MEMBER(S, mtu_bytes), .min = 64, .max = FRAME_PAYLOAD_MAX},
	{"window", YAML_FIELD_NUMBER, YAML_MEMBER(S, window_frames), .min = 1, .max = 4096},
	{"retry", YAML_FIELD_TIME, YAML_MEMBER(S, retry_ps), .min = 10 * PS_PER_US,
		.max = 10 * PS_PER_S},
	{"give-up", YAML_FIELD_TIME, YAML_MEMBER(S, give_up_ps), .min = PS_PER_MS,
		.max = 3600 * PS_PER_S},
	{"hardware-stamps", YAML_FIELD_BOOL, YAML_MEMBER(S, hardware_stamps)},
	{"itb", YAML_FIELD_SECTION, YAML_MEMBER(S, itb), .fields = run_itb_fields},
	{"control", YAML_FIELD_CHOICE, YAML_MEMBER(S, control), .choices = run_control_choices},
	{"iba-cc", YAML_FIELD_SECTION, YAML_MEMBER(S, iba_cc), .fields = run_iba_cc_fields},
	{"drb", YAML_FIELD_SECTION, YAML_MEMBER(S, drb), .fields = run_drb_fields},
	{"pr-drb", YAML_FIELD_SECTION, YAML_MEMBER(S, pr_drb), .fields = run_pr_drb_fields},
	{NULL},
};
#undef S

const struct yaml_field run_faults_fields[] = {
	SHARE_FIELD("credit-loss", struct run_config_faults, credit_loss_ppm),
	SHARE_FIELD("corrupt", struct run_config_faults, corrupt_ppm),
	{NULL},
};

const struct yaml_field run_fidelity_fields[] = {
	{"late", YAML_FIELD_CUSTOM, YAML_MEMBER(struct run_config_fidelity, late_ps),
		.read = run_read_time_or_off, .write = run_write_time_or_off},
	SHARE_FIELD("share", struct run_config_fidelity, share_ppm),
	{NULL},
};

const struct yaml_field run_host_fields[] = {
	{"copy-rate", YAML_FIELD_RATE, YAML_MEMBER(struct run_config_host, copy_rate_bps),
		.min = TOPOLOGY_RATE_MIN_BPS, .max = TOPOLOGY_RATE_MAX_BPS},
	{NULL},
};

static const struct yaml_field until_fields[] = {
	{"interval", YAML_FIELD_SHARE, YAML_MEMBER(struct run_config_until, interval_ppm),
		.max = QUANTITY_WHOLE_PPM / 2},
	{"of", YAML_FIELD_CHOICE, YAML_MEMBER(struct run_config_until, of),
		.choices = until_choices},
	{NULL},
};

#define S struct run_config_measure
const struct yaml_field run_measure_fields[] = {
	{"warmup", YAML_FIELD_TIME, YAML_MEMBER(S, warmup_ps), .max = 24 * 3600 * PS_PER_S},
	{"duration", YAML_FIELD_TIME, YAML_MEMBER(S, duration_ps), .min = PS_PER_US,
		.max = 30 * 24 * 3600 * PS_PER_S},
	{"sample", YAML_FIELD_TIME, YAML_MEMBER(S, sample_ps), .min = PS_PER_US,
		.max = 24 * 3600 * PS_PER_S},
	{"until", YAML_FIELD_SECTION, YAML_MEMBER(S, until), .fields = until_fields},
	{"at-most", YAML_FIELD_TIME, YAML_MEMBER(S, at_most_ps), .max = 30 * 24 * 3600 * PS_PER_S},
	{"warmup-messages", YAML_FIELD_NUMBER, YAML_MEMBER(S, warmup_messages), .max = UINT32_MAX},
	{"messages", YAML_FIELD_NUMBER, YAML_MEMBER(S, messages), .max = UINT32_MAX},
	{"links", YAML_FIELD_BOOL, YAML_MEMBER(S, links)},
	{"link-series", YAML_FIELD_BOOL, YAML_MEMBER(S, link_series)},
	{"switches", YAML_FIELD_BOOL, YAML_MEMBER(S, switches)},
	{"hosts", YAML_FIELD_BOOL, YAML_MEMBER(S, hosts)},
	{"latencies", YAML_FIELD_BOOL, YAML_MEMBER(S, latencies)},
	{NULL},
};
#undef S

static void print_keys(
	const char *file, const char *before, const struct yaml_field *fields, FILE *out)
{
	for (const struct yaml_field *field = fields; field->key != NULL; field++) {
		char key[256];

		snprintf(key, sizeof(key), "%s%s", before, field->key);
		fprintf(out, "%s %s", file, key);
		for (unsigned i = 0; field->choices != NULL && field->choices[i] != NULL; i++)
			fprintf(out, " %s", field->choices[i]);
		for (unsigned i = 0; field->words != NULL && i < field->words->count; i++)
			fprintf(out, " %s", word_list_name(field->words->entry[i]));
		fputc('\n', out);
		if (field->fields == NULL)
			continue;
		snprintf(key, sizeof(key), "%s%s%s", before, field->key,
			field->type == YAML_FIELD_CUSTOM ? "[]." : ".");
		print_keys(file, key, field->fields, out);
	}
}

void config_keys_print(FILE *out)
{
	print_keys("run", "", run_file_fields, out);
	print_keys("lab", "", lab_file_fields, out);
	print_keys("run", "edges.", run_edge_network_fields, out);
	print_keys("lab", "edges.", run_edge_network_fields, out);
	print_keys("topology", "", topology_file_fields, out);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The sections common to run and lab files. */

#include "queuing/queuing.h"
#include "run_config.h"
#include "yaml/yaml_fields.h"

extern const struct yaml_field run_link_fields[], run_switch_fields[], run_routing_fields[],
	run_detector_fields[], run_nic_fields[], run_selection_fields[], run_iba_cc_fields[],
	run_dcqcn_fields[], run_drb_fields[], run_pr_drb_fields[], run_faults_fields[],
	run_event_fields[], run_reconfigure_fields[], run_mapper_fields[], run_measure_fields[],
	run_fidelity_fields[], run_host_fields[], run_edge_fields[], run_traffic_fields[],
	run_job_fields[];
/* The short form of 'edges', used instead of a list. */
extern const struct yaml_field run_edge_network_fields[];
/* Top-level keys of each kind of file. */
extern const struct yaml_field run_file_fields[], lab_file_fields[];
extern const char *const run_clock_choices[];

/* Custom readers and writers (yaml_fields.h). */
int run_read_later(const struct yaml_tree_node *node, void *member, struct error *error);
bool run_present_never(const void *member);
int run_read_algorithms(const struct yaml_tree_node *node, void *member, struct error *error);
void run_write_algorithms(const void *member, FILE *out, unsigned indent);
bool run_algorithms_present(const void *member);
int run_read_edges(const struct yaml_tree_node *node, void *member, struct error *error);
void run_write_edges(const void *member, FILE *out, unsigned indent);
int run_read_traffic(const struct yaml_tree_node *node, void *member, struct error *error);
void run_write_traffic(const void *member, FILE *out, unsigned indent);
/* Reads one entry into 'traffic', which is overwritten. */
int run_read_traffic_row(
	const struct yaml_tree_node *row, struct run_config_traffic *traffic, struct error *error);
extern const struct run_config_traffic run_traffic_default;
void run_traffic_fini(struct run_config_traffic *traffic);
/* Returns the first entry, or NULL. */
const void *run_traffic_row(const void *member);
int run_read_time_or_off(const struct yaml_tree_node *node, void *member, struct error *error);
void run_write_time_or_off(const void *member, FILE *out, unsigned indent);
int run_read_path(const struct yaml_tree_node *node, void *member, struct error *error);
void run_write_path(const void *member, FILE *out, unsigned indent);
/* A char *, NULL if the key is absent. */
#define RUN_PATH .read = run_read_path, .write = run_write_path, .optional = true, .form = "<path>"
/* For these functions, 'member' is the whole run_config. */
int run_read_jobs(const struct yaml_tree_node *node, void *member, struct error *error);
void run_write_jobs(const void *member, FILE *out, unsigned indent);
bool run_jobs_present(const void *member);
extern const char *const run_control_choices[];
/* Numbers stored in thousandths, such as "1.5". */
int run_read_factor(const struct yaml_tree_node *node, void *member, struct error *error);
void run_write_factor(const void *member, FILE *out, unsigned indent);
int run_read_events(const struct yaml_tree_node *node, void *member, struct error *error);
void run_write_events(const void *member, FILE *out, unsigned indent);
bool run_events_present(const void *member);
int run_read_dilation(const struct yaml_tree_node *node, void *member, struct error *error);
void run_write_dilation(const void *member, FILE *out, unsigned indent);
void run_write_topology(const void *member, FILE *out, unsigned indent);

/* Helpers for custom readers.
 * Reads a list of at most 'max' rows, and allocates 'size' bytes for each. */
int run_read_rows(const struct yaml_tree_node *node, uint32_t max, size_t size, void **rows,
	struct error *error);
/* Writes a list of rows with these fields. */
void run_write_rows(const struct yaml_field *fields, const void *rows, size_t size, uint32_t count,
	FILE *out, unsigned indent);
/* Reads a time, or the word 'never', which means WEFT_TIME_NEVER. */
int run_read_time_or(
	const char *never, const struct yaml_tree_node *node, void *member, struct error *error);
void run_write_time_or(const char *never, const void *member, FILE *out);
int run_refuse_memory(const struct yaml_tree_node *node, struct error *error);
/* Reads the name of a host or of one of its ports, such as h0:1. */
int run_read_host(const struct yaml_tree_node *node, char *name, size_t size, struct error *error);
/* Reads at least one name. The caller has checked their number, and frees the list. */
int run_read_names(const struct yaml_tree_node *node, char (**names)[TOPOLOGY_NAME_MAX],
	uint32_t *count, struct error *error);
/* Writes "[h1, h2]". */
void run_write_names(char (*const names)[TOPOLOGY_NAME_MAX], uint32_t count, FILE *out);
struct run_config_place run_place_of(const struct yaml_tree_node *node);
/* Returns "line 12", or the option. */
const char *run_place_text(const struct run_config_place *place, char text[RUN_OPTION_MAX]);

/* Makes a path absolute; in a file, it is relative to the file's directory. The caller frees
 * '*path'. Returns 0, -ENOMEM, or -EINVAL if the path is too long to be read back. */
int run_resolve_path(
	const struct yaml_tree_node *node, const char *text, char **path, struct error *error);

/* Keys of the struct 'type', whose run_config is at 'in' ("run." or nothing). The topology is read
 * last because its links use the defaults of 'link'. */
#define RUN_SHARED_FIELDS(type, in)                                                                                              \
	{"dilation", YAML_FIELD_CUSTOM, YAML_MEMBER(type, in dilation), .read = run_read_dilation,                               \
		.write = run_write_dilation, .form = "auto|<number>", .min = 1,                                                  \
		.max = RUN_DILATION_MAX,                                                                                         \
		.doc = "Real seconds per second of the fabric, on the real clock. `auto` measures what `fidelity` needs."},      \
		{"seed", YAML_FIELD_NUMBER, YAML_MEMBER(type, in seed), .max = INT64_MAX,                                        \
			.doc = "Seed of all random choices."},                                                                   \
		{"link", YAML_FIELD_SECTION, YAML_MEMBER(type, in link),                                                         \
			.fields = run_link_fields,                                                                               \
			.doc = "Rate and delay of links for which the topology sets none."},                                     \
		{"switch", YAML_FIELD_SECTION, YAML_MEMBER(type, in sw),                                                         \
			.fields = run_switch_fields,                                                                             \
			.doc = "Buffers, flow control and congestion marks of all switches."},                                   \
		{"queuing", YAML_FIELD_WORD, YAML_MEMBER(type, in queuing),                                                      \
			.words = &queuing_schemes,                                                                               \
			.doc = "Chooses the virtual channel of each message."},                                                  \
		{"routing", YAML_FIELD_SECTION, YAML_MEMBER(type, in routing),                                                   \
			.fields = run_routing_fields,                                                                            \
			.doc = "How routes are computed, or the file that contains them."},                                      \
		{"detector", YAML_FIELD_SECTION, YAML_MEMBER(type, in detector),                                                 \
			.fields = run_detector_fields,                                                                           \
			.doc = "The congestion detector of `routing.adaptive: arn`."},                                           \
		{"nic", YAML_FIELD_SECTION, YAML_MEMBER(type, in nic), .fields = run_nic_fields,                                 \
			.doc = "The interface of each host."},                                                                   \
		{"hello", YAML_FIELD_TIME, YAML_MEMBER(type, in hello_ps), .min = 100 * PS_PER_US,                               \
			.max = 10 * PS_PER_S,                                                                                    \
			.doc = "Interval of hello frames on each link. Three missed hellos take the link down."},                \
		{"watchdog", YAML_FIELD_CUSTOM, YAML_MEMBER(type, in watchdog_ps),                                               \
			.read = run_read_time_or_off, .write = run_write_time_or_off,                                            \
			.form = "<time>|off",                                                                                    \
			.doc = "A frame that waits this long at the head of a buffer is reported as a possible deadlock."},      \
		{"mapper", YAML_FIELD_SECTION, YAML_MEMBER(type, in mapper),                                                     \
			.fields = run_mapper_fields,                                                                             \
			.doc = "Where routes come from, and the times of the mapper."},                                          \
		{"measure", YAML_FIELD_SECTION, YAML_MEMBER(type, in measure),                                                   \
			.fields = run_measure_fields,                                                                            \
			.doc = "What is measured, and for how long."},                                                           \
		{"fidelity", YAML_FIELD_SECTION, YAML_MEMBER(type, in fidelity),                                                 \
			.fields = run_fidelity_fields,                                                                           \
			.doc = "Requires frames to be on time on the real clock. A run that fails this ends with exit code 1."}, \
		{"edges", YAML_FIELD_CUSTOM, YAML_MEMBER(type, in edges), .read = run_read_edges,                                \
			.write = run_write_edges, .fields = run_edge_fields,                                                     \
			.map = run_edge_network_fields,                                                                          \
			.doc = "Hosts with a Linux TAP interface for programs."},                                                \
		{"faults", YAML_FIELD_SECTION, YAML_MEMBER(type, in faults),                                                     \
			.fields = run_faults_fields, .doc = "Random damage on all links."},                                      \
		{"events", YAML_FIELD_CUSTOM, YAML_MEMBER(type, in events),                                                      \
			.read = run_read_events, .write = run_write_events,                                                      \
			.fields = run_event_fields, .present = run_events_present,                                               \
			.doc = "What happens during the run: failures and changes of links."},                                   \
	{                                                                                                                        \
		"traffic", YAML_FIELD_CUSTOM, YAML_MEMBER(type, in traffic),                                                     \
			.read = run_read_traffic, .write = run_write_traffic,                                                    \
			.fields = run_traffic_fields, .row = run_traffic_row,                                                    \
			.doc = "What hosts send."                                                                                \
	}

/* Decides between 'routing.file' and the keys of computed routes. A key on the command line
 * replaces the other kind in the file; otherwise setting both is an error. The header of a route
 * file determines mode and default selector. Used by run_config_complete(). Returns 0 or -errno. */
int run_config_choose_routes(
	struct run_config *config, const struct yaml_tree_node *root, struct error *error);
/* Copies settings from the file 'nic.iba-cc.opensm' to keys that are not set. If the command line
 * names the file, its settings also replace keys of the run file. Returns 0 or -errno. */
int run_config_take_opensm(
	struct run_config *config, const struct yaml_tree_node *root, struct error *error);
/* Sets missing keys whose defaults depend on other keys: alternatives and selector depend on the
 * routing algorithm, the mode on adaptive routing. */
void run_config_complete(struct run_config *config);
/* Sets the defaults of the thesis' Myrinet (004, section 4.3) and of runs that do not end after a
 * given time. Call before the file's values are read. */
void run_config_default_by_file(struct run_config *config, const struct yaml_tree_node *root);
/* Reads 'topology' after all other keys; 'node' is its value. Returns 0 or -errno. */
int run_config_read_topology(
	struct run_config *config, const struct yaml_tree_node *node, struct error *error);
/* Checks for keys that contradict each other; 'root' provides their positions. */
int run_config_check(
	const struct run_config *config, const struct yaml_tree_node *root, struct error *error);
/* Checks the keys of source control, adaptive routing and the detector. */
int run_config_check_control(
	const struct run_config *config, const struct yaml_tree_node *root, struct error *error);
int run_config_check_adaptive(
	const struct run_config *config, const struct yaml_tree_node *root, struct error *error);
/* Checks for bursts that are too short for the interval between messages. */
int run_config_check_bursts(const struct run_config *config, struct error *error);
/* Checks the mapper's times. */
int run_config_check_mapper(
	const struct run_config *config, const struct yaml_tree_node *root, struct error *error);
/* Returns -EINVAL if 'mapper.hosts' names a host that is not in the topology. */
int run_config_check_mapper_hosts(
	const struct run_config *config, const struct topology *topology, struct error *error);
/* Returns true if the tree has section.key, and its value is 'value' (NULL: any). */
bool run_config_says(
	const struct yaml_tree_node *root, const char *section, const char *key, const char *value);
/* Returns the node of section.key, or else of the section, or else the root. */
const struct yaml_tree_node *run_config_nearest(
	const struct yaml_tree_node *root, const char *section, const char *key);
/* Frees the members, not the struct. */
void run_config_fini(struct run_config *config);

/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* The mapper section of run and lab files: source of routes, candidate hosts, key, expected
 * topology, and times. */

#include <errno.h>
#include <string.h>

#include "base/name_table.h"
#include "run_config_fields.h"
#include "topo/generator.h"

static const char *const mode_choices[] = {RUN_MAPPER_MODES(WORD_TEXT) NULL};

int run_mapper_mode_find(const char *name, enum run_mapper_mode *mode)
{
	for (unsigned i = 0; mode_choices[i] != NULL; i++)
		if (strcmp(name, mode_choices[i]) == 0) {
			*mode = (enum run_mapper_mode)i;
			return 0;
		}
	return -EINVAL;
}

/* Reads 'all' or [h0, h1]. */
static int read_hosts(const struct yaml_tree_node *node, void *member, struct error *error)
{
	struct run_config_mapper_hosts *hosts = member;

	hosts->place = run_place_of(node);
	if (node->kind == YAML_TREE_SCALAR && strcmp(node->text, "all") == 0)
		return 0;
	if (node->kind != YAML_TREE_SEQUENCE || node->count == 0 || node->count > RUN_NAMES_MAX)
		return yaml_tree_refuse(
			node, error, "'hosts': expected all, or a list of hosts such as [h0, h4]");
	return run_read_names(node, &hosts->name, &hosts->count, error);
}

static void write_hosts(const void *member, FILE *out, unsigned indent)
{
	const struct run_config_mapper_hosts *hosts = member;

	fputs(hosts->count == 0 ? " all" : " ", out);
	if (hosts->count > 0)
		run_write_names(hosts->name, hosts->count, out);
}

/* Stores generator text unchanged; a path is relative to the file's directory. */
static int read_expect(const struct yaml_tree_node *node, void *member, struct error *error)
{
	char text[RUN_PATH_MAX];
	int result = yaml_read_text(node, text, sizeof(text), error);

	if (result < 0)
		return result;
	if (!topology_is_generated(text))
		return run_read_path(node, member, error);
	*(char **)member = strdup(text);
	return *(char **)member == NULL ? run_refuse_memory(node, error) : 0;
}

static int read_after(const struct yaml_tree_node *node, void *member, struct error *error)
{
	if (node->kind != YAML_TREE_SCALAR || strcmp(node->text, "mapper") != 0)
		return run_read_time_or_off(node, member, error);
	*(weft_time *)member = RUN_AFTER_MAPPER;
	return 0;
}

static void write_after(const void *member, FILE *out, unsigned indent)
{
	if (*(const weft_time *)member == RUN_AFTER_MAPPER)
		fputs(" mapper", out);
	else
		run_write_time_or_off(member, out, indent);
}

#define TIME_FIELD(key, member, lowest, text)                                          \
	{                                                                              \
		key, YAML_FIELD_TIME, YAML_MEMBER(struct run_config_mapper, member),   \
			.min = (lowest)*PS_PER_US, .max = 3600 * PS_PER_S, .doc = text \
	}

#define S struct run_config_mapper
const struct yaml_field run_mapper_fields[] = {
	{"routes", YAML_FIELD_CHOICE, YAML_MEMBER(S, routes),
		.choices = YAML_CHOICES(RUN_MAPPER_ROUTES),
		.doc = "Who computes the routes: every process, or the mapper. Run files default to `static`, lab files to `mapper`."},
	{"mode", YAML_FIELD_CHOICE, YAML_MEMBER(S, mode), .choices = mode_choices,
		.doc = "Which hosts may be the mapper. `auto`: only those in `hosts`; `always`: those in `hosts` first; `never`: all others."},
	{"hosts", YAML_FIELD_CUSTOM, YAML_MEMBER(S, hosts), .read = read_hosts,
		.write = write_hosts, .form = "all|<names>",
		.doc = "The hosts that `mode` refers to."},
	{"key", YAML_FIELD_CUSTOM, YAML_MEMBER(S, key), RUN_PATH,
		.doc = "File with the fabric key. Without it, nothing is authenticated, and a lab prints a warning."},
	{"expect", YAML_FIELD_CUSTOM, YAML_MEMBER(S, expect), .read = read_expect,
		.write = run_write_path, .optional = true, .form = "<text>",
		.doc = "The topology with which the discovered one is compared. The default is the file's own."},
	TIME_FIELD("listen", listen_ps, 0,
		"A candidate listens for 1 to 1.5 times this time before it leads."),
	TIME_FIELD("heartbeat", heartbeat_ps, 1000,
		"Interval at which the mapper reports that it is alive."),
	TIME_FIELD("takeover", takeover_ps, 1000,
		"Without heartbeats for this time, the first standby leads. Must be longer than `lease`."),
	TIME_FIELD("lease", lease_ps, 1000,
		"Without heartbeats for this time, devices follow another mapper. Must be longer than `heartbeat`."),
	TIME_FIELD("gather", gather_ps, 0,
		"After a report, the mapper waits this long for others before it computes routes. A flapping link is unused for at least this time."),
	TIME_FIELD("linger", linger_ps, 0,
		"Maximum time that a packet stays in the fabric. The mapper includes old routes for this time when it checks a change."),
	TIME_FIELD("sweep", sweep_ps, 1000,
		"Interval at which the mapper queries one device, and ports that should answer but do not."),
	TIME_FIELD("retry", retry_ps, 100,
		"Unanswered requests are repeated after this time, at least ten times and for nine `hello`."),
	TIME_FIELD("drain", drain_ps, 1000,
		"Time for a paused fabric to drain before switches discard their packets."),
	{"after", YAML_FIELD_CUSTOM, YAML_MEMBER(S, after_ps), .read = read_after,
		.write = write_after, .form = "<time>|off|mapper",
		.doc = "With `routes: static`: time from an event until new routes avoid failed links and devices. `off`: only alternatives avoid them. `mapper`: a mapper finds the new routes."},
	{NULL},
};
#undef S

int run_config_check_mapper(
	const struct run_config *config, const struct yaml_tree_node *root, struct error *error)
{
	const struct run_config_mapper *mapper = &config->mapper;

	if (mapper->lease_ps <= mapper->heartbeat_ps)
		return yaml_tree_refuse(run_config_nearest(root, "mapper", "lease"), error,
			"mapper.lease must be longer than mapper.heartbeat, or the leader's "
			"lease would expire between heartbeats");
	if (mapper->takeover_ps <= mapper->lease_ps)
		return yaml_tree_refuse(run_config_nearest(root, "mapper", "takeover"), error,
			"mapper.takeover must be longer than mapper.lease, or devices would "
			"still follow the previous mapper");
	return 0;
}

static bool named(const struct run_config_mapper_hosts *hosts, const char *host)
{
	for (uint32_t i = 0; i < hosts->count; i++)
		if (strcmp(hosts->name[i], host) == 0)
			return true;
	return hosts->count == 0;
}

enum run_mapper_mode run_config_mapper_mode(const struct run_config *config, const char *host)
{
	enum run_mapper_mode mode = config->mapper.mode;

	if (named(&config->mapper.hosts, host))
		return mode;
	return mode == RUN_MAPPER_AUTO ? RUN_MAPPER_NEVER : RUN_MAPPER_AUTO;
}

static int refuse_host(const struct run_config *config, const struct topology *topology,
	const char *name, struct error *error)
{
	struct did_you_mean nearest;

	did_you_mean_init(&nearest, name);
	for (uint32_t i = 0; i < topology->hosts; i++)
		did_you_mean_offer(&nearest, topology->host_at[i].name);
	return run_config_refuse(config, &config->mapper.hosts.place, error,
		"mapper.hosts: topology %s has no host '%s'%s%s%s", topology->name, name,
		nearest.best != NULL ? ", nearest is '" : "",
		nearest.best != NULL ? nearest.best : "", nearest.best != NULL ? "'" : "");
}

int run_config_check_mapper_hosts(
	const struct run_config *config, const struct topology *topology, struct error *error)
{
	const struct run_config_mapper_hosts *hosts = &config->mapper.hosts;

	for (uint32_t i = 0; i < hosts->count; i++)
		if (topology_find_host(topology, hosts->name[i]) < 0)
			return refuse_host(config, topology, hosts->name[i], error);
	return 0;
}

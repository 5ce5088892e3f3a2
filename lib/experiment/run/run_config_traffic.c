/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* The traffic section of a run file. */

#include <stdlib.h>
#include <string.h>

#include "run_config_fields.h"
#include "traffic/arrivals.h"
#include "traffic/traffic_pattern.h"

static const char *const host_set_texts[] = {RUN_HOST_SETS(WORD_TEXT) NULL};

/* Reads 'all', 'rest', 10% or [h1, h2]. */

static int read_hosts(const struct yaml_tree_node *node, void *member, struct error *error)
{
	struct run_config_hosts *hosts = member;
	uint64_t share;

	hosts->place = run_place_of(node);
	if (node->kind == YAML_TREE_SEQUENCE) {
		if (node->count == 0 || node->count > RUN_NAMES_MAX)
			return yaml_tree_refuse(node, error, "'%s': expected 1 to %u hosts",
				node->key, RUN_NAMES_MAX);
		hosts->kind = RUN_HOSTS_LIST;
		return run_read_names(node, &hosts->name, &hosts->count, error);
	}
	if (node->kind == YAML_TREE_SCALAR && strcmp(node->text, "all") == 0)
		hosts->kind = RUN_HOSTS_ALL;
	else if (node->kind == YAML_TREE_SCALAR && strcmp(node->text, "rest") == 0)
		hosts->kind = RUN_HOSTS_REST;
	else if (node->kind == YAML_TREE_SCALAR &&
		 quantity_parse(QUANTITY_SHARE, node->text, &share) == 0 && share > 0 &&
		 share <= QUANTITY_WHOLE_PPM) {
		hosts->kind = RUN_HOSTS_SHARE;
		hosts->share_ppm = (uint32_t)share;
	} else
		return yaml_tree_refuse(node, error,
			"'%s: %s': expected all, rest, a percentage such as 10%% or a list of "
			"hosts such as [h4]",
			node->key, node->kind == YAML_TREE_SCALAR ? node->text : "{...}");
	return 0;
}

static void write_hosts(const void *member, FILE *out, unsigned indent)
{
	const struct run_config_hosts *hosts = member;
	char share[QUANTITY_TEXT];

	fputc(' ', out);
	if (hosts->kind == RUN_HOSTS_SHARE) {
		quantity_format(QUANTITY_SHARE, hosts->share_ppm, share);
		fputs(share, out);
	} else if (hosts->kind == RUN_HOSTS_LIST) {
		run_write_names(hosts->name, hosts->count, out);
	} else {
		fputs(host_set_texts[hosts->kind], out);
	}
}

static bool hosts_present(const void *member)
{
	return ((const struct run_config_hosts *)member)->kind != RUN_HOSTS_UNSET;
}

static int read_stop(const struct yaml_tree_node *node, void *member, struct error *error)
{
	return run_read_time_or("end", node, member, error);
}

static void write_stop(const void *member, FILE *out, unsigned indent)
{
	run_write_time_or("end", member, out);
}

/* Reads web-search, hadoop or cdf:FILE. */

static int read_sizes(const struct yaml_tree_node *node, void *member, struct error *error)
{
	struct run_config_sizes *sizes = member;
	char text[RUN_PATH_MAX], hint[WORD_LIST_HINT];
	int result = yaml_read_text(node, text, sizeof(text), error);

	if (result < 0)
		return result;
	if (strncmp(text, "cdf:", 4) == 0)
		return run_resolve_path(node, text + 4, &sizes->file, error);
	sizes->known = name_table_find(&flow_sizes_known, text);
	if (sizes->known != NULL)
		return 0;
	name_table_hint(&flow_sizes_known, text, hint);
	return yaml_tree_refuse(
		node, error, "'sizes: %s': expected cdf:FILE or one of %s", text, hint);
}

static void write_sizes(const void *member, FILE *out, unsigned indent)
{
	const struct run_config_sizes *sizes = member;
	char text[RUN_PATH_MAX + 4];

	if (sizes->known != NULL)
		snprintf(text, sizeof(text), "%s", sizes->known->name);
	else
		snprintf(text, sizeof(text), "cdf:%s", sizes->file);
	fputc(' ', out);
	yaml_tree_write_text(text, out);
}

/* Reads 'round-robin' or a file of addresses. */

#define ROUND_ROBIN "round-robin"

static int read_by(const struct yaml_tree_node *node, void *member, struct error *error)
{
	char text[RUN_PATH_MAX];
	int result = yaml_read_text(node, text, sizeof(text), error);

	if (result < 0 || strcmp(text, ROUND_ROBIN) == 0)
		return result;
	return run_resolve_path(node, text, member, error);
}

#define HOSTS_FORM "all|rest|<share>|<names>"
#define S          struct run_config_traffic
const struct yaml_field run_traffic_fields[] = {
	{"pattern", YAML_FIELD_WORD, true, YAML_MEMBER(S, pattern), .words = &traffic_patterns,
		.doc = "The destination of each message."},
	{"from", YAML_FIELD_CUSTOM, YAML_MEMBER(S, from), .read = read_hosts, .write = write_hosts,
		.present = hosts_present, .form = HOSTS_FORM, .tag = TRAFFIC_FROM,
		.doc = "The hosts that send."},
	{"to", YAML_FIELD_CUSTOM, YAML_MEMBER(S, to), .read = read_hosts, .write = write_hosts,
		.present = hosts_present, .form = HOSTS_FORM, .tag = TRAFFIC_TO,
		.doc = "The destination hosts. Required for a hot spot. With `pcap`: hosts from which destinations are drawn for packets to addresses without a host."},
	{"rail", YAML_FIELD_CHOICE, YAML_MEMBER(S, rail), .choices = YAML_CHOICES(RAIL_RULES),
		.optional = true, .unset = RAIL_UNSET,
		.tag = TRAFFIC_RATE | TRAFFIC_SIZES | TRAFFIC_FILE,
		.doc = "The ports that messages use between hosts with several ports. Default: `same-rail`."},
	{"share", YAML_FIELD_SHARE, YAML_MEMBER(S, value.share_ppm), .min = 1,
		.max = QUANTITY_WHOLE_PPM, .optional = true, .initial = QUANTITY_WHOLE_PPM,
		.tag = TRAFFIC_SHARE,
		.doc = "Share of the messages that go to the hot spot. The others go to any host."},
	{"switches", YAML_FIELD_NUMBER, YAML_MEMBER(S, value.switches),
		.max = TOPOLOGY_SWITCHES_MAX, .optional = true, .unset = UINT32_MAX, .initial = 3,
		.tag = TRAFFIC_SWITCHES,
		.doc = "Maximum distance of `local` messages, in links between switches."},
	{"file", YAML_FIELD_CUSTOM, YAML_MEMBER(S, file), RUN_PATH, .tag = TRAFFIC_FILE,
		.doc = "A schedule, a list of flows, the pairs of a permutation, or a capture (pcap, pcapng)."},
	{"ranks", YAML_FIELD_CUSTOM, YAML_MEMBER(S, ranks), RUN_PATH, .tag = TRAFFIC_RANKS,
		.doc = "A file that assigns the ranks of a schedule to hosts."},
	{"ranks-per-host", YAML_FIELD_NUMBER, YAML_MEMBER(S, ranks_per_host), .min = 1,
		.max = TOPOLOGY_HOSTS_MAX, .optional = true, .tag = TRAFFIC_RANKS,
		.doc = "Assigns this many ranks of a schedule to each host."},
	{"sizes", YAML_FIELD_CUSTOM, YAML_MEMBER(S, sizes), .words = &flow_sizes_known,
		.read = read_sizes, .write = write_sizes, .optional = true, .form = "<word>|^cdf:.",
		.tag = TRAFFIC_SIZES,
		.doc = "Draws flows with a published distribution of sizes, or with one of a file (`cdf:FILE`)."},
	{"matrix", YAML_FIELD_CUSTOM, YAML_MEMBER(S, matrix), RUN_PATH, .tag = TRAFFIC_SIZES,
		.doc = "A file with the weights of host pairs, for drawn flows."},
	{"host", YAML_FIELD_NAME, YAML_MEMBER(S, packets.host), .tag = TRAFFIC_PACKETS,
		.doc = "The host that sends all packets of a capture."},
	{"by", YAML_FIELD_CUSTOM, YAML_MEMBER(S, packets.by), .read = read_by,
		.write = run_write_path, .optional = true, .form = ROUND_ROBIN "|<path>",
		.tag = TRAFFIC_PACKETS,
		.doc = "A file that maps a capture's addresses to hosts, or round robin, the default."},
	{"speed", YAML_FIELD_CUSTOM, YAML_MEMBER(S, packets.speed), .read = run_read_factor,
		.write = run_write_factor, .optional = true, .form = "<factor>",
		.tag = TRAFFIC_PACKETS,
		.doc = "Replay speed of a capture, as a multiple of the original speed. The default is 1 without `load`."},
	{"loop", YAML_FIELD_NUMBER, YAML_MEMBER(S, packets.loops), .min = 1, .max = RUN_LOOPS_MAX,
		.optional = true, .initial = 1, .tag = TRAFFIC_PACKETS,
		.doc = "How many times a capture is sent."},
	{"class", YAML_FIELD_NUMBER, YAML_MEMBER(S, class), .max = 15,
		.doc = "Service level of the messages, which `switch.sl-to-vc` maps to a VC. Requires `queuing: 1q`."},
	{"load", YAML_FIELD_SHARE, YAML_MEMBER(S, value.load_ppm), .min = 1,
		.max = QUANTITY_WHOLE_PPM, .optional = true,
		.tag = TRAFFIC_RATE | TRAFFIC_SIZES | TRAFFIC_PACKETS,
		.doc = "Mean load as a share of the host's link rate, including the overhead of frames."},
	{"message", YAML_FIELD_BYTES, YAML_MEMBER(S, value.message_bytes), .min = RUN_MESSAGE_MIN,
		.max = RUN_MESSAGE_MAX, .optional = true, .initial = 4096, .tag = TRAFFIC_RATE,
		.doc = "Length of a message."},
	{"message-max", YAML_FIELD_BYTES, YAML_MEMBER(S, value.message_max_bytes),
		.min = RUN_MESSAGE_MIN, .max = RUN_MESSAGE_MAX, .optional = true,
		.tag = TRAFFIC_RATE, .doc = "Draws lengths from `message` to this one."},
	{"other-message", YAML_FIELD_BYTES, YAML_MEMBER(S, value.other_message_bytes),
		.min = RUN_MESSAGE_MIN, .max = RUN_MESSAGE_MAX, .optional = true,
		.tag = TRAFFIC_RATE, .doc = "A second length of messages."},
	{"other-message-max", YAML_FIELD_BYTES, YAML_MEMBER(S, value.other_message_max_bytes),
		.min = RUN_MESSAGE_MIN, .max = RUN_MESSAGE_MAX, .optional = true,
		.tag = TRAFFIC_RATE, .doc = "Draws lengths from `other-message` to this one."},
	{"other-share", YAML_FIELD_SHARE, YAML_MEMBER(S, value.other_share_ppm), .min = 1,
		.max = QUANTITY_WHOLE_PPM, .optional = true, .tag = TRAFFIC_RATE,
		.doc = "Share of the messages that have the second length."},
	{"arrivals", YAML_FIELD_CHOICE, YAML_MEMBER(S, value.arrivals),
		.choices = YAML_CHOICES(ARRIVALS_KINDS), .optional = true, .unset = ARRIVALS_UNSET,
		.tag = TRAFFIC_RATE,
		.doc = "The intervals between messages. `uniform` is from 0 to twice the mean. Latencies are shortest with `constant`."},
	{"on", YAML_FIELD_TIME, YAML_MEMBER(S, value.on_ps), .min = RUN_BURST_MIN,
		.max = RUN_BURST_MAX, .optional = true, .tag = TRAFFIC_RATE,
		.doc = "Mean time of a burst, with `arrivals: bursty`."},
	{"off", YAML_FIELD_TIME, YAML_MEMBER(S, value.off_ps), .min = RUN_BURST_MIN,
		.max = RUN_BURST_MAX, .optional = true, .tag = TRAFFIC_RATE,
		.doc = "Mean time between bursts, with `arrivals: bursty`."},
	{"start", YAML_FIELD_TIME, YAML_MEMBER(S, start_ps),
		.doc = "Time of the first message, from the start of the traffic."},
	{"stop", YAML_FIELD_CUSTOM, YAML_MEMBER(S, stop_ps), .read = read_stop, .write = write_stop,
		.form = "<time>|end",
		.doc = "Time of the last message. `end` is the end of the run."},
	{NULL},
};
#undef S

/* Returns the keys of the entry: a file of flows is complete, and drawn flows have no file. */
static unsigned keys_of(const struct run_config_traffic *traffic)
{
	unsigned keys = traffic->pattern->keys;

	if ((keys & TRAFFIC_SIZES) == 0)
		return keys;
	return traffic->file != NULL ? TRAFFIC_FILE : keys & ~TRAFFIC_FILE;
}

/* Returns the name of the pattern if only one has these keys, or NULL. */
static const char *only_pattern(unsigned keys)
{
	const char *name = NULL;

	for (unsigned i = 0; name_table_at(&traffic_patterns, i) != NULL; i++) {
		const struct traffic_pattern *pattern = name_table_at(&traffic_patterns, i);

		if ((pattern->keys & keys) != 0 && name != NULL)
			return NULL;
		if ((pattern->keys & keys) != 0)
			name = pattern->name;
	}
	return name;
}

static int check_keys(const struct run_config_traffic *traffic, const struct yaml_tree_node *node,
	struct error *error)
{
	const struct traffic_pattern *pattern = traffic->pattern;
	const char *other;

	if (pattern->pairs && (hosts_present(&traffic->from) || hosts_present(&traffic->to)))
		return yaml_tree_refuse(node, error,
			"pattern %s: 'file' or the seed defines the pairs of hosts, so 'from' and 'to' are not allowed",
			pattern->name);
	for (const struct yaml_field *field = run_traffic_fields; field->key != NULL; field++)
		if (field->tag != 0 && (keys_of(traffic) & field->tag) == 0 &&
			(yaml_field_is_present(field, traffic) ||
				yaml_tree_get(node, field->key) != NULL)) {
			other = (pattern->keys & field->tag) == 0 ? only_pattern(field->tag) : NULL;
			return yaml_tree_refuse(node, error, "pattern %s%s has no '%s'%s%s",
				pattern->name,
				(pattern->keys & TRAFFIC_SIZES) == 0 ? ""
				: traffic->file != NULL              ? " with a file"
								     : " with sizes",
				field->key, other != NULL ? "; use pattern " : "",
				other != NULL ? other : "");
		}
	return 0;
}

static void complete_peers(struct run_config_traffic *traffic, unsigned keys)
{
	if (traffic->from.kind == RUN_HOSTS_UNSET && (keys & TRAFFIC_FROM) != 0)
		traffic->from.kind = RUN_HOSTS_REST;
	if (traffic->to.kind == RUN_HOSTS_UNSET && (keys & TRAFFIC_TO) != 0)
		traffic->to.kind = RUN_HOSTS_ALL;
}

static int complete_bursts(const struct run_config_traffic *traffic,
	const struct yaml_tree_node *node, struct error *error)
{
	bool bursty = traffic->value.arrivals == ARRIVALS_BURSTY;
	double cycle = (double)traffic->value.on_ps + (double)traffic->value.off_ps;

	if (!bursty && traffic->pattern->bursty)
		return yaml_tree_refuse(node, error, "pattern %s: 'arrivals' can only be bursty",
			traffic->pattern->name);
	if (!bursty && (traffic->value.on_ps != 0 || traffic->value.off_ps != 0))
		return yaml_tree_refuse(node, error, "'on' and 'off' require 'arrivals: bursty'");
	if (bursty && (traffic->value.on_ps == 0 || traffic->value.off_ps == 0))
		return yaml_tree_refuse(node, error,
			"bursty arrivals: '%s', a mean time such as 10us, is missing",
			traffic->value.on_ps == 0 ? "on" : "off");
	if (bursty && traffic->value.load_ppm * cycle > 1e6 * (double)traffic->value.on_ps)
		return yaml_tree_refuse(node, error,
			"'load' must be at most %.4g%% with these 'on' and 'off', because it is "
			"a mean and would be above 100%% within bursts",
			100 * (double)traffic->value.on_ps / cycle);
	return 0;
}

static int check_length(const char *key, uint64_t min, uint64_t max,
	const struct yaml_tree_node *node, struct error *error)
{
	char expected[QUANTITY_TEXT], found[QUANTITY_TEXT];

	if (max == 0 || (min != 0 && max >= min))
		return 0;
	if (min == 0)
		return yaml_tree_refuse(
			node, error, "'%s-max' requires '%s', the minimum length", key, key);
	quantity_format(QUANTITY_SIZE, min, expected);
	quantity_format(QUANTITY_SIZE, max, found);
	return yaml_tree_refuse(node, error, "'%s-max' must be at least '%s', %s, but is %s", key,
		key, expected, found);
}

static int check_lengths(const struct run_config_traffic *traffic,
	const struct yaml_tree_node *node, struct error *error)
{
	int result = check_length("message", traffic->value.message_bytes,
		traffic->value.message_max_bytes, node, error);

	return result < 0 ? result
			  : check_length("other-message", traffic->value.other_message_bytes,
				    traffic->value.other_message_max_bytes, node, error);
}

static int complete_rate(
	struct run_config_traffic *traffic, const struct yaml_tree_node *node, struct error *error)
{
	if (traffic->value.load_ppm == 0)
		traffic->value.load_ppm = QUANTITY_WHOLE_PPM;
	if ((traffic->value.other_message_bytes != 0) != (traffic->value.other_share_ppm != 0))
		return yaml_tree_refuse(node, error,
			"'other-message' and 'other-share' must be used together; one is missing");
	if (check_lengths(traffic, node, error) < 0)
		return -EINVAL;
	if (traffic->value.arrivals == ARRIVALS_UNSET)
		traffic->value.arrivals =
			traffic->pattern->bursty ? ARRIVALS_BURSTY : ARRIVALS_CONSTANT;
	return complete_bursts(traffic, node, error);
}

/* Completes an entry with drawn flows. */
static int complete_sizes(
	struct run_config_traffic *traffic, const struct yaml_tree_node *node, struct error *error)
{
	if (traffic->value.load_ppm == 0)
		return yaml_tree_refuse(node, error,
			"pattern %s with sizes: 'load', such as 50%%, is missing",
			traffic->pattern->name);
	if (traffic->stop_ps == WEFT_TIME_NEVER)
		return yaml_tree_refuse(node, error,
			"pattern %s with sizes: 'stop', the time of the last flow such as 10ms, is missing",
			traffic->pattern->name);
	if (traffic->matrix == NULL)
		complete_peers(traffic, TRAFFIC_FROM | TRAFFIC_TO);
	else if (traffic->from.kind != RUN_HOSTS_UNSET || traffic->to.kind != RUN_HOSTS_UNSET)
		return yaml_tree_refuse(node, error,
			"'matrix' defines the pairs of hosts, so 'from' and 'to' are not allowed");
	return 0;
}

static int complete_packets(
	struct run_config_traffic *traffic, const struct yaml_tree_node *node, struct error *error)
{
	struct run_config_packets *packets = &traffic->packets;

	if (traffic->file == NULL)
		return yaml_tree_refuse(node, error,
			"pattern pcap: 'file', a capture (pcap or pcapng), is missing");
	if (packets->host[0] != '\0' && yaml_tree_get(node, "by") != NULL)
		return yaml_tree_refuse(
			node, error, "'host' sends all packets, so 'by' is not allowed");
	if (yaml_tree_get(node, "speed") != NULL && traffic->value.load_ppm != 0)
		return yaml_tree_refuse(node, error,
			"'speed' and 'load' both set the pace; use only one of "
			"them");
	if (yaml_tree_get(node, "speed") != NULL && packets->speed == 0)
		return yaml_tree_refuse(
			node, error, "'speed: 0': the speed must be above 0, such as 0.5");
	if (traffic->value.load_ppm == 0 && packets->speed == 0)
		packets->speed = 1000;
	if (packets->host[0] != '\0' && traffic->to.kind == RUN_HOSTS_UNSET)
		traffic->to.kind = RUN_HOSTS_ALL;
	return 0;
}

static int complete_traffic(
	struct run_config_traffic *traffic, const struct yaml_tree_node *node, struct error *error)
{
	const struct traffic_pattern *pattern = traffic->pattern;
	int result = check_keys(traffic, node, error);

	if (result < 0)
		return result;
	yaml_fields_complete(run_traffic_fields, keys_of(traffic), traffic);
	if (traffic->stop_ps <= traffic->start_ps)
		return yaml_tree_refuse(node, error, "'stop' must be after 'start'");
	if (traffic->to.kind == RUN_HOSTS_UNSET && pattern->spots)
		return yaml_tree_refuse(
			node, error, "pattern %s: 'to', such as [h4], is missing", pattern->name);
	if (pattern->packets)
		return complete_packets(traffic, node, error);
	if (traffic->sizes.known != NULL || traffic->sizes.file != NULL)
		return complete_sizes(traffic, node, error);
	if (traffic->file == NULL && (pattern->keys & TRAFFIC_SIZES) != 0)
		return yaml_tree_refuse(node, error,
			"pattern %s requires 'file', a list of flows, or 'sizes', such as "
			"web-search",
			pattern->name);
	if (traffic->file == NULL && pattern->schedule)
		return yaml_tree_refuse(node, error,
			"pattern %s: 'file', the schedule, is missing ('weft goal gen' generates schedules)",
			pattern->name);
	if (traffic->stop_ps != WEFT_TIME_NEVER && pattern->schedule)
		return yaml_tree_refuse(node, error,
			"pattern %s has no 'stop', because it ends with its schedule",
			pattern->name);
	if (traffic->rail != RAIL_UNSET && (pattern->keys & TRAFFIC_RANKS) != 0)
		return yaml_tree_refuse(node, error,
			"pattern %s has no 'rail', because a rank sends from its own port",
			pattern->name);
	if (traffic->ranks != NULL && traffic->ranks_per_host != 0)
		return yaml_tree_refuse(node, error,
			"'ranks' assigns a host to each rank, so 'ranks-per-host' is not allowed");
	complete_peers(traffic, keys_of(traffic));
	return (pattern->keys & TRAFFIC_RATE) != 0 ? complete_rate(traffic, node, error) : 0;
}

const struct run_config_traffic run_traffic_default = {
	.value = {.switches = UINT32_MAX, .arrivals = ARRIVALS_UNSET},
	.rail = RAIL_UNSET,
	.stop_ps = WEFT_TIME_NEVER,
};

void run_traffic_fini(struct run_config_traffic *traffic)
{
	free(traffic->from.name);
	free(traffic->to.name);
	free(traffic->file);
	free(traffic->ranks);
	free(traffic->sizes.file);
	free(traffic->matrix);
	free(traffic->packets.by);
}

int run_read_traffic_row(
	const struct yaml_tree_node *row, struct run_config_traffic *traffic, struct error *error)
{
	int result;

	*traffic = run_traffic_default;
	traffic->place = run_place_of(row);
	traffic->from.place = traffic->to.place = traffic->place;
	result = yaml_fields_read(run_traffic_fields, row, traffic, error);
	return result == 0 ? complete_traffic(traffic, row, error) : result;
}

int run_read_traffic(const struct yaml_tree_node *node, void *member, struct error *error)
{
	struct run_config_traffic_list *list = member;
	void *rows;
	int result = run_read_rows(node, RUN_TRAFFIC_MAX, sizeof(*list->at), &rows, error);

	if (result < 0)
		return result;
	list->at = rows;
	for (const struct yaml_tree_node *row = node->first; row != NULL && result == 0;
		row = row->next)
		result = run_read_traffic_row(row, &list->at[list->count++], error);
	return result;
}

static double mean_of(uint64_t min, uint64_t max)
{
	return max == 0 ? (double)min : ((double)min + (double)max) / 2;
}

bool run_config_has_schedule(const struct run_config *config)
{
	for (uint32_t i = 0; i < config->traffic.count; i++)
		if (config->traffic.at[i].pattern->schedule)
			return true;
	return false;
}

double run_config_mean_bytes(const struct run_config_traffic *traffic)
{
	double other = traffic->value.other_share_ppm / 1e6;

	return (1 - other) *
		       mean_of(traffic->value.message_bytes, traffic->value.message_max_bytes) +
	       other * mean_of(traffic->value.other_message_bytes,
			       traffic->value.other_message_max_bytes);
}

/* Returns the mean number of bursts per message on links with the default rate. */
static double bursts_per_message(
	const struct run_config_traffic *traffic, const struct topology_defaults *link)
{
	double bytes = run_config_mean_bytes(traffic);
	double distance_ps = bytes * 8e12 / (double)link->rate_bps * 1e6 / traffic->value.load_ppm;

	return distance_ps / ((double)traffic->value.on_ps + (double)traffic->value.off_ps);
}

int run_config_check_bursts(const struct run_config *config, struct error *error)
{
	for (uint32_t i = 0; i < config->traffic.count; i++) {
		const struct run_config_traffic *traffic = &config->traffic.at[i];
		double bursts = traffic->value.arrivals == ARRIVALS_BURSTY
					? bursts_per_message(traffic, &config->link)
					: 0;

		if (bursts > RUN_BURSTS_MAX)
			return run_config_refuse(config, &traffic->place, error,
				"bursty arrivals: with this 'load' there is only one message in "
				"%.0f bursts, and at least one in %u is required; use a longer "
				"'on' or 'off'",
				bursts, RUN_BURSTS_MAX);
	}
	return 0;
}

const void *run_traffic_row(const void *member)
{
	const struct run_config_traffic_list *list = member;

	return list->count > 0 ? list->at : NULL;
}

void run_write_traffic(const void *member, FILE *out, unsigned indent)
{
	const struct run_config_traffic_list *list = member;
	uint32_t count = list->count;

	while (count > 0 && list->at[count - 1].job != 0)
		count--;
	run_write_rows(run_traffic_fields, list->at, sizeof(*list->at), count, out, indent);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Translates the entries of a run file into the traffic that hosts send. */

#include "experiment/workload/run_source.h"
#include "traffic/traffic_pattern.h"

#include "unit.h"

struct run {
	struct run_config *config;
	struct topology *topology;
	struct run_hosts *hosts;
	struct error error;
};

static void close_run(struct run *run)
{
	run_hosts_destroy(run->hosts);
	topology_destroy(run->topology);
	run_config_destroy(run->config);
}
#define run_out_of_scope close_run

/* Returns false if this topology or file does not support such rows. Nothing must be closed
 * then. */
static bool try_run_of(struct run *run, const char *topology, const char *rows)
{
	char text[1024];

	snprintf(text, sizeof(text), "weft: run/1\ntopology: \"%s\"\nclock: virtual\n%s", topology,
		rows);
	run->error.text[0] = '\0';
	run->config = run_config_parse(text, strlen(text), "r.yaml", NULL, 0, &run->error);
	assert_string_equal(run->error.text, "");
	assert_int_equal(run_config_supported(run->config, &run->error), 0);
	run->topology = run_config_open_topology(run->config, &run->error);
	run->hosts = run_config_resolve(run->config, run->topology, &run->error);
	if (run->hosts != NULL && run_source_check(run->config, run->hosts, &run->error) == 0)
		return true;
	close_run(run);
	*run = (struct run){0};
	return false;
}

static void open_run_of(struct run *run, const char *topology, const char *rows)
{
	assert_true(try_run_of(run, topology, rows));
}

/* 16 hosts on 8 switches in a ring. */
static void open_run(struct run *run, const char *rows)
{
	open_run_of(run, "ring:switches=8,hosts=2", rows);
}

struct source {
	struct traffic_config config;
	uint16_t *list;
};

static struct source source_of(const struct run *run, uint32_t which, uint16_t host)
{
	const struct run_source_place place = {.host = host,
		.hosts = run->topology->hosts,
		.from_ps = PS_PER_MS,
		.until_ps = 10 * PS_PER_MS};
	struct source source;

	assert_int_equal(run_source_config(run->config, run->hosts, which, &place, &source.config,
				 &source.list),
		0);
	return source;
}

UNIT_TEST(local_gets_the_hosts_within_its_switches_and_in_to)
{
	static const uint16_t around[] = {0, 1, 2, 3, 14, 15};
	struct source source;
	OWNED(run) run;

	open_run(&run, "traffic: [{pattern: local, switches: 1}, {pattern: local, switches: 1, to: "
		       "[h2, h9, h15]}]\n");
	source = source_of(&run, 0, 1);
	assert_int_equal(source.config.near_count, 6);
	assert_memory_equal(source.config.near, around, sizeof(around));
	free(source.list);
	source = source_of(&run, 1, 1);
	assert_int_equal(source.config.near_count, 2);
	assert_int_equal(source.config.near[0], 2);
	assert_int_equal(source.config.near[1], 15);
	free(source.list);
}

UNIT_TEST(lists_of_all_65536_hosts_arrive_whole)
{
	OWNED(run) run;

	open_run_of(&run, "ring:switches=2048,hosts=32",
		"traffic: [{pattern: local, switches: 1024}, {pattern: hotspot, to: all}]\n");
	for (uint32_t entry = 0; entry < 2; entry++) {
		struct source source = source_of(&run, entry, 1);
		const struct traffic_config *config = &source.config;

		assert_int_equal(entry == 0 ? config->near_count : config->targets_count, 65536);
		free(source.list);
	}
}

UNIT_TEST(every_key_arrives_at_the_source)
{
	struct source source;
	OWNED(run) run;

	open_run(&run,
		"seed: 77\ntraffic: [{pattern: combined, to: [h3, h4], share: 10%, switches: 2, "
		"load: 20%, message: 32B, other-message: 512B, other-share: 30%, arrivals: bursty, "
		"on: 10us, off: 40us, start: 2ms, stop: 5ms}]\n");
	source = source_of(&run, 0, 6);
	assert_ptr_equal(source.config.pattern, &traffic_combined);
	assert_int_equal(source.config.host, 6);
	assert_int_equal(source.config.hosts, 16);
	assert_int_equal(source.config.seed, 77);
	assert_int_equal(source.config.value.load_ppm, 200000);
	assert_int_equal(source.config.value.message_bytes, 32);
	assert_int_equal(source.config.value.other_message_bytes, 512);
	assert_int_equal(source.config.value.other_share_ppm, 300000);
	assert_int_equal(source.config.value.arrivals, ARRIVALS_BURSTY);
	assert_int_equal(source.config.value.on_ps, 10 * PS_PER_US);
	assert_int_equal(source.config.value.off_ps, 40 * PS_PER_US);
	assert_int_equal(source.config.start_ps, 3 * PS_PER_MS);
	assert_int_equal(source.config.stop_ps, 6 * PS_PER_MS);
	assert_int_equal(source.config.targets_count, 2);
	assert_int_equal(source.config.targets[1], 4);
	assert_int_equal(source.config.value.share_ppm, 100000);
	assert_int_equal(source.config.near_count, 10);
	free(source.list);
}

#define DRAWN_NETWORKS 200

/* Some hosts, "[h3, h5]", or a word for all or the remaining ones. */
static void draw_hosts(struct rng *rng, uint32_t hosts, char *out, size_t size)
{
	size_t length = 0;

	snprintf(out, size, "%s", rng_below(rng, 2) == 0 ? "all" : "rest");
	if (rng_below(rng, 2) == 0)
		return;
	for (uint32_t host = 0; host < hosts; host++)
		if (rng_below(rng, 3) == 0 || (length == 0 && host + 1 == hosts))
			length += (size_t)snprintf(out + length, size - length, "%sh%u",
				length == 0 ? "[" : ", ", host);
	snprintf(out + length, size - length, "]");
}

/* An entry with the n-th pattern and the keys of that pattern. */
static void draw_entry(struct rng *rng, unsigned n, uint32_t hosts, char *out, size_t size)
{
	const struct traffic_pattern *pattern = name_table_at(&traffic_patterns, n);
	size_t length = (size_t)snprintf(out, size, "traffic: [{pattern: %s", pattern->name);
	char names[256];

	for (unsigned side = TRAFFIC_FROM; side <= TRAFFIC_TO; side *= 2) {
		draw_hosts(rng, hosts, names, sizeof(names));
		if ((pattern->keys & side) != 0)
			length += (size_t)snprintf(out + length, size - length, ", %s: %s",
				side == TRAFFIC_FROM ? "from" : "to", names);
	}
	if ((pattern->keys & TRAFFIC_SWITCHES) != 0)
		length += (size_t)snprintf(
			out + length, size - length, ", switches: %u", (unsigned)rng_below(rng, 2));
	snprintf(out + length, size - length, "%s}]\n",
		pattern->bursty ? ", on: 9us, off: 9us, load: 9%" : "");
}

static bool sends_messages(const struct run *run, uint16_t host)
{
	struct source source = source_of(run, 0, host);
	struct traffic_message message;
	struct traffic *traffic;
	bool sends;

	source.config.frame_bytes = 2048;
	source.config.rate_bps = 10000000000;
	traffic = traffic_create(&source.config, NULL);
	assert_non_null(traffic);
	sends = traffic_poll(traffic, 10 * PS_PER_MS - 1, &message);
	traffic_destroy(traffic);
	free(source.list);
	return sends;
}

static bool is_asked(const struct run *run, uint16_t host)
{
	const struct run_config_hosts *from = &run->config->traffic.at[0].from;

	for (uint32_t i = 0; from->kind == RUN_HOSTS_LIST && i < from->count; i++)
		if (topology_find_host(run->topology, from->name[i]) == host)
			return true;
	return from->kind != RUN_HOSTS_LIST;
}

/* For every pattern, the senders of an entry are exactly the hosts that send. */
UNIT_TEST(the_senders_of_an_entry_are_those_that_send)
{
	unsigned silent = 0, drawn = 0;
	struct rng rng;

	rng_init(&rng, 1, 0, 0);
	for (unsigned i = 0; i < DRAWN_NETWORKS; i++) {
		unsigned switches = 1u << (1 + rng_below(&rng, 3)), each = 1u << rng_below(&rng, 2);
		unsigned n = i % traffic_patterns.count;
		char topology[64], row[1024];
		OWNED(run) run = {0};

		if ((((const struct traffic_pattern *)name_table_at(&traffic_patterns, n))->keys &
			    TRAFFIC_FILE) != 0)
			continue;
		snprintf(topology, sizeof(topology), "ring:switches=%u,hosts=%u", switches, each);
		draw_entry(&rng, n, switches * each, row, sizeof(row));
		if (!try_run_of(&run, topology, row))
			continue;
		drawn++;
		for (uint16_t host = 0; host < run.topology->hosts; host++) {
			bool sends = is_asked(&run, host) && sends_messages(&run, host);

			assert_int_equal(run_source_sends(&run.hosts->entry[0], host), sends);
			silent += !sends;
		}
	}
	assert_true(drawn > 100 && silent > 100);
}

static bool is_odd(const void *state, const struct traffic_config *config)
{
	return config->host % 2 != 0;
}

static uint16_t to_the_first(void *state, const struct traffic_config *config, struct rng *rng)
{
	return 0;
}

UNIT_TEST(a_pattern_with_targets_and_no_state_decides_which_hosts_send)
{
	static const struct traffic_pattern odd = {
		.name = "odd", .keys = TRAFFIC_PEERS, .sends = is_odd, .destination = to_the_first};
	OWNED(run) run;

	open_run(&run, "traffic: [{pattern: uniform}]\n");
	run.config->traffic.at[0].pattern = &odd;
	run_hosts_destroy(run.hosts);
	run.hosts = run_config_resolve(run.config, run.topology, NULL);
	assert_non_null(run.hosts);
	for (uint16_t host = 0; host < 16; host++)
		assert_int_equal(run_source_sends(&run.hosts->entry[0], host), host % 2 != 0);
	assert_false(sends_messages(&run, 2));
	assert_true(sends_messages(&run, 3));
}

UNIT_TEST(the_end_of_the_run_ends_every_source)
{
	struct source source;
	OWNED(run) run;

	open_run(&run, "traffic: [{pattern: uniform, stop: 50ms}]\n");
	source = source_of(&run, 0, 0);
	assert_int_equal(source.config.stop_ps, 10 * PS_PER_MS);
	free(source.list);
}

UNIT_TEST(words_of_run_files_become_patterns_of_sources)
{
	static const struct {
		const char *row;
		const struct traffic_pattern *pattern;
		enum arrivals_kind arrivals;
		unsigned targets;
	} rows[] = {
		{"pattern: bursty, on: 1us, off: 1us, load: 10%", &traffic_bursty, ARRIVALS_BURSTY,
			0},
		{"pattern: uniform, arrivals: poisson", &traffic_uniform, ARRIVALS_POISSON, 0},
		{"pattern: uniform, arrivals: uniform", &traffic_uniform, ARRIVALS_UNIFORM, 0},
		{"pattern: uniform, to: [h1, h2]", &traffic_uniform, ARRIVALS_CONSTANT, 2},
		{"pattern: all-to-all", &traffic_all_to_all, ARRIVALS_CONSTANT, 0},
		{"pattern: transpose", &traffic_transpose, ARRIVALS_CONSTANT, 0},
	};

	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct source source;
		char text[256];
		OWNED(run) run;

		snprintf(text, sizeof(text), "traffic: [{%s}]\n", rows[i].row);
		open_run(&run, text);
		source = source_of(&run, 0, 5);
		assert_ptr_equal(source.config.pattern, rows[i].pattern);
		assert_int_equal(source.config.value.arrivals, rows[i].arrivals);
		assert_int_equal(source.config.targets_count, rows[i].targets);
		free(source.list);
	}
}

UNIT_TEST(only_hosts_of_from_send)
{
	OWNED(run) run;

	open_run(&run, "traffic: [{pattern: bit-reversal, from: [h1, h7]}, {pattern: hotspot, "
		       "to: [h3], share: 50%}, {pattern: hotspot, to: [h3]}]\n");
	for (uint32_t host = 0; host < 16; host++) {
		assert_int_equal(
			run_source_sends(&run.hosts->entry[0], host), host == 1 || host == 7);
		/* With a share, the hot spot also sends, to other hosts. */
		assert_int_equal(
			run_source_sends(&run.hosts->entry[1], host), host != 1 && host != 7);
		assert_int_equal(run_source_sends(&run.hosts->entry[2], host),
			host != 1 && host != 7 && host != 3);
	}
}

UNIT_TEST(what_the_topology_cannot_have_is_refused_with_its_place)
{
	OWNED(run_config) *config;
	OWNED(topology) *topology;
	OWNED(run_hosts) *hosts;
	struct error error = {""};
	static const char text[] = "weft: run/1\ntopology: \"ring:switches=6,hosts=2\"\n"
				   "clock: real\ntraffic:\n  - {pattern: uniform}\n"
				   "  - {pattern: shuffle, from: all}\n";

	config = run_config_parse(text, strlen(text), "r.yaml", NULL, 0, &error);
	assert_non_null(config);
	topology = run_config_open_topology(config, &error);
	hosts = run_config_resolve(config, topology, &error);
	assert_int_equal(run_source_check(config, hosts, &error), -EINVAL);
	assert_string_equal(error.text,
		"r.yaml:6:5: shuffle traffic permutes the bits of host numbers, so the number "
		"of hosts must be a power of two, not 12");
}

UNIT_TEST(entries_that_a_host_has_no_room_for_are_refused_with_their_place)
{
	OWNED(run) run;

	open_run(&run,
		"traffic:\n  - {pattern: uniform, from: all}\n  - {pattern: uniform, from: [h3]}\n"
		"  - {pattern: uniform, from: [h1, h3]}\n");
	assert_int_equal(run_source_check_room(run.config, run.hosts, 2, 6, &run.error), 0);
	assert_int_equal(run_source_check_room(run.config, run.hosts, 2, 5, &run.error), -EINVAL);
	assert_string_equal(run.error.text,
		"r.yaml:7:5: h3 sends for 3 traffic entries with 2 sources each, but a host has at most 5 sources; use at most 2 such entries");
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

#include <errno.h>

#include "experiment/lab/config_keys.h"
#include "experiment/run/run_config.h"
#include "experiment/run/run_config_fields.h"
#include "experiment/workload/run_hosts.h"
#include "experiment/workload/run_source.h"
#include "message_expect.h"
#include "nic/selectors/route_choice.h"
#include "queuing/queuing.h"
#include "route/route_algorithm.h"
#include "switch/adaptive_routing.h"
#include "topo/topology_file.h"
#include "traffic/traffic_pattern.h"

#define HEAD "weft: run/1\ntopology: \"rlft:ports=4,stages=2\"\nclock: real\n"

static struct run_config *parse_set(const char *text, const char *set, struct error *error)
{
	return run_config_parse(text, strlen(text), "r.yaml", &set, set != NULL, error);
}

static struct run_config *parse(const char *text)
{
	struct error error = {""};
	struct run_config *config = parse_set(text, NULL, &error);

	assert_string_equal(error.text, "");
	assert_non_null(config);
	return config;
}

static void assert_refused(const char *text, const char *set, const char *message)
{
	struct error error = {""};
	struct run_config *config = parse_set(text, set, &error);

	assert_null(config);
	assert_int_equal(errno, EINVAL);
	assert_message(error.text, message);
	assert_null(strchr(error.text, '\n'));
}

/* Together with its folder, it would be too long to be read back from the output of 'weft run
 * --explain'. */
UNIT_TEST(a_path_too_long_with_its_folder_is_refused)
{
	char text[RUN_PATH_MAX + 64];
	struct error error = {""};

	snprintf(text, sizeof(text), "weft: run/1\nclock: virtual\ntopology: %0*d\n",
		RUN_PATH_MAX - 1, 0);
	assert_null(parse_set(text, NULL, &error));
	assert_non_null(
		strstr(error.text, "r.yaml:3:11: 'topology': with its folder the path has "));
	assert_non_null(strstr(error.text, "at most 1023 are allowed"));
}

/* Keys of every section. */
static const char full[] =
	"weft: run/1\n"
	"topology: \"rlft:ports=12,stages=3\"\n"
	"clock: virtual\n"
	"seed: 7\n"
	"link: {rate: 100Gbps, delay: 6ns}\n"
	"switch: {switching: wormhole, buffer: 344KiB, mtu: 2KiB, vcs: 2, voq: false, "
	"flow-control: stop-go, fecn: 7, marking-rate: 3, packet-size: "
	"256B, victim-mask: false, contention: 20us, flows: 4, contending: buffer, "
	"routing-delay: 150ns, routing-start: header}\n"
	"queuing: vftree\n"
	"routing: {algorithm: dmodk, adaptive: adaptive-th, afi: true, threshold: 70%, mode: "
	"table, "
	"alternatives: 4, granularity: switch}\n"
	"detector: {hcdth: 80%, lcdth: 60%, fcth: 77%, crt: 6ms, arn-ttl: 9ms, arn-refresh: 200us, arn-rate: 50, "
	"variants: {retest: never, occupancy: buffer, notifiers: first, down-roots: stage, "
	"watch-afc: false, adapted-notify: false, adapted-roots: false, waiting-first: false, "
	"hosts-act: false}}\n"
	"nic: {selector: random, selection: {forget: 0.2, k: 1.5, k2: 12.125, short: 100B, "
	"first-set: 30%}, mtu: 1KiB, window: 128, retry: 20ms, give-up: 5s, "
	"hardware-stamps: false}\n"
	"hello: 5ms\n"
	"watchdog: off\n"
	"mapper: {routes: mapper, mode: always, hosts: [h1, h3], key: /k.key, expect: "
	"\"torus:dims=2x2\", listen: 1ms, heartbeat: 2ms, takeover: 9ms, lease: 8ms, gather: 3ms, "
	"linger: 4ms, sweep: 5ms, retry: 6ms, drain: 7ms}\n"
	"faults: {credit-loss: 1%, corrupt: 0.1%}\n"
	"edges:\n"
	"  - {host: h0, tap: weft0, namespace: weft-a, address: 10.87.0.1/24}\n"
	"  - {host: h6, tap: weft6}\n"
	"traffic:\n"
	"  - {pattern: uniform, from: rest, load: 100%, message: 4KiB}\n"
	"  - {pattern: hotspot, from: 10%, to: [h4, h120], load: 99.5%, message: 512B, start: 3ms, "
	"stop: 93ms}\n"
	"  - {pattern: permutation, file: /p.txt, load: 1%}\n"
	"  - {pattern: combined, to: [h4], share: 10%, switches: 5, load: 20%, message: 32B, "
	"other-message: 512B, other-share: 30%, arrivals: bursty, on: 10us, off: 40us}\n"
	"  - {pattern: goal, file: /g.goal, ranks: /r.txt, start: 1ms}\n"
	"  - {pattern: goal, file: /g.goal, ranks-per-host: 4}\n"
	"host: {copy-rate: 40Gbps, overhead: 300ns, gap: 20ns}\n"
	"measure: {warmup: 1ms, duration: 120ms, sample: 2ms, links: true}\n"
	"fidelity: {late: 100us, share: 99.5%}\n";

UNIT_TEST(a_file_without_a_clock_is_for_the_virtual_one)
{
	OWNED(run_config) *config = parse("weft: run/1\ntopology: ring:switches=3\n");

	assert_int_equal(config->clock, RUN_CLOCK_VIRTUAL);
}

UNIT_TEST(a_key_is_read_under_its_former_name)
{
	struct run_config *config =
		parse(HEAD "detector: {readings: {speakers: first, down-roots: stage}}\n");

	assert_int_equal(config->detector.variants.notifiers, RUN_NOTIFIERS_FIRST);
	assert_int_equal(config->detector.variants.down_roots, RUN_DOWN_ROOTS_STAGE);
	run_config_destroy(config);
	assert_refused(HEAD "detector: {variants: {}, readings: {retest: holds}}\n", NULL,
		"r.yaml:4:36: key 'readings' is the former name of 'variants', which is also set");
}

UNIT_TEST(lists_of_a_file_are_read)
{
	OWNED(run_config) *config = parse(full);
	const struct run_config_traffic *hot = &config->traffic.at[1];
	const struct run_config_traffic *mixed = &config->traffic.at[3];

	assert_int_equal(config->mapper.hosts.count, 2);
	assert_string_equal(config->mapper.hosts.name[1], "h3");
	assert_int_equal(config->edges.count, 2);
	assert_string_equal(config->edges.at[0].netns, "weft-a");
	assert_string_equal(config->edges.at[0].address, "10.87.0.1/24");
	assert_string_equal(config->edges.at[1].netns, "");
	assert_int_equal(config->traffic.count, 6);
	assert_int_equal(config->traffic.at[0].to.kind, RUN_HOSTS_ALL);
	assert_int_equal(config->traffic.at[0].stop_ps, WEFT_TIME_NEVER);
	assert_int_equal(hot->from.kind, RUN_HOSTS_SHARE);
	assert_int_equal(hot->from.share_ppm, 100000);
	assert_int_equal(hot->to.count, 2);
	assert_string_equal(hot->to.name[1], "h120");
	assert_int_equal(hot->value.load_ppm, 995000);
	assert_int_equal(hot->value.message_bytes, 512);
	assert_int_equal(hot->stop_ps, 93 * PS_PER_MS);
	assert_string_equal(config->traffic.at[2].file, "/p.txt");
	assert_int_equal(config->traffic.at[2].value.arrivals, ARRIVALS_CONSTANT);
	assert_int_equal(mixed->value.share_ppm, 100000);
	assert_int_equal(mixed->value.switches, 5);
	assert_int_equal(mixed->value.message_bytes, 32);
	assert_int_equal(mixed->value.other_message_bytes, 512);
	assert_int_equal(mixed->value.other_share_ppm, 300000);
	assert_int_equal(mixed->value.arrivals, ARRIVALS_BURSTY);
	assert_int_equal(mixed->value.on_ps, 10 * PS_PER_US);
	assert_int_equal(mixed->value.off_ps, 40 * PS_PER_US);
	assert_string_equal(config->traffic.at[4].file, "/g.goal");
	assert_string_equal(config->traffic.at[4].ranks, "/r.txt");
	assert_int_equal(config->traffic.at[5].ranks_per_host, 4);
}

static char *explain(const struct run_config *config)
{
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	assert_int_equal(run_config_explain(config, out), 0);
	fclose(out);
	return text;
}

static void assert_explanation_reads_back(const char *text)
{
	OWNED(run_config) *config = parse(text), *again;
	char *first = explain(config), *second;

	again = parse(first);
	second = explain(again);
	assert_string_equal(first, second);
	free(first);
	free(second);
}

UNIT_TEST(an_explanation_is_a_run_file_that_says_the_same)
{
	assert_explanation_reads_back(full);
	assert_explanation_reads_back(HEAD);
	assert_explanation_reads_back(
		"weft: run/1\nclock: real\nlink: {rate: 2Gbps}\n"
		"topology:\n  switches: [{name: a, ports: 2}]\n  hosts: [{name: x}, {name: y}]\n"
		"  links: [{a: a:0, b: x:0, rate: 1Gbps}, {a: y:0, b: a:1}]\n");
}

UNIT_TEST(an_explanation_has_every_section)
{
	static const char *const keys[] = {"topology", "clock", "seed", "link", "switch", "queuing",
		"routing", "detector", "nic", "hello", "watchdog", "mapper", "measure", "fidelity",
		"edges", "traffic", "faults", "host"};
	OWNED(run_config) *config = parse(HEAD);
	char *text = explain(config), key[32];

	for (unsigned i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		snprintf(key, sizeof(key), "\n%s:", keys[i]);
		assert_non_null(strstr(text, key));
	}
	free(text);
}

UNIT_TEST(what_is_wrong_is_said_in_one_line_with_its_place)
{
	static const struct {
		const char *text, *message;
	} bad[] = {
		{"weft: run/1\nclock: real\n", "r.yaml:1:1: key 'topology' is missing"},
		{HEAD "clok: real\n",
			"r.yaml:4:1: unknown key 'clok', nearest is clock; known keys: weft, …"},
		{HEAD "switch: {bufer: 1KiB}\n",
			"r.yaml:4:10: unknown key 'bufer' in 'switch', nearest is buffer; known keys: …"},
		{HEAD "switch: {buffer: 128}\n",
			"r.yaml:4:18: 'buffer: 128': expected a size with its unit, such as 128KiB (B, KiB, MiB, GiB, TiB)"},
		{HEAD "switch: {voq: yes}\n",
			"r.yaml:4:15: 'voq: yes': expected one of false, true"},
		{HEAD "switch: {routing-start: tail}\n",
			"r.yaml:4:25: 'routing-start: tail': expected one of grant, header"},
		{HEAD "switch: {vcs: 17}\n",
			"r.yaml:4:15: 'vcs: 17': expected a whole number from 1 to 16"},
		{HEAD "switch: {vcs: 2, buffer: 8KiB}\n",
			"r.yaml:4:26: switch.buffer: each of 2 VCs must hold a frame of switch.mtu, so the buffer must be 8448B or more"},
		{HEAD "switch: 4\n",
			"r.yaml:4:9: 'switch': expected a map {key: value}, found a value"},
		{HEAD "nic: {mtu: 8KiB}\n",
			"r.yaml:4:12: nic.mtu, 8192 bytes, must be at most switch.mtu, 4096 bytes"},
		{HEAD "switch: {mtu: 256B}\n",
			"r.yaml:4:15: nic.mtu, 4096 bytes, must be at most switch.mtu, 256 bytes"},
		{HEAD "nic: {window: 100}\n", "r.yaml:4:15: nic.window must be a power of two"},
		{HEAD "nic: {give-up: 5ms}\n",
			"r.yaml:4:16: nic.give-up must be longer than nic.retry"},
		{HEAD "detector: {lcdth: 90%}\n",
			"r.yaml:4:19: detector.lcdth must be less than detector.hcdth"},
		{HEAD "detector: {arn-ttl: 100us}\n",
			"r.yaml:4:21: detector.arn-ttl must be longer than detector.arn-refresh, or entries would expire before they are refreshed"},
		{HEAD "detector: {crt: 5}\n",
			"r.yaml:4:17: 'crt: 5': expected a time with its unit, such as 30ns (ps, ns, us, ms, s)"},
		{HEAD "detector: {hcdth: 101%}\n",
			"r.yaml:4:19: 'hcdth: 101%': the value must be from 0% to 100%"},
		{HEAD "detector: {variants: {retest: allways}}\n",
			"r.yaml:4:31: 'retest: allways': expected one of starts, holds, never"},
		{HEAD "measure: {duration: 1us, sample: 1ms}\n",
			"r.yaml:4:34: measure.sample, 1ms, must be at most measure.duration, 1us"},
		{HEAD "measure: {duration: 1000001us, sample: 1us}\n",
			"r.yaml:4:40: measure.sample: 1us gives 1000001 samples in a run of 1.000001s; at most 1000000 are allowed, so use 1001ns or more"},
		{HEAD "measure: {duration: 1s, warmup: 1s}\n",
			"r.yaml:4:33: measure.warmup must be shorter than measure.duration, which includes it"},
		{HEAD "mapper: {routes: maper}\n",
			"r.yaml:4:18: 'routes: maper': expected one of mapper, static; nearest is 'mapper'"},
		{HEAD "mapper: {hosts: h1}\n",
			"r.yaml:4:17: 'hosts': expected all, or a list of hosts such as [h0, h4]"},
		{HEAD "mapper: {hosts: []}\n",
			"r.yaml:4:17: 'hosts': expected all, or a list of hosts such as [h0, h4]"},
		{HEAD "mapper: {listen: 5}\n",
			"r.yaml:4:18: 'listen: 5': expected a time with its unit, such as 30ns (ps, ns, us, ms, s)"},
		{HEAD "mapper: {heartbeat: 300ms}\n",
			"r.yaml:4:9: mapper.lease must be longer than mapper.heartbeat, or the leader's lease would expire between heartbeats"},
		{HEAD "mapper: {takeover: 300ms}\n",
			"r.yaml:4:20: mapper.takeover must be longer than mapper.lease, or devices would still follow the previous mapper"},
		{HEAD "queuing: vftre\n",
			"r.yaml:4:10: 'queuing: vftre': expected one of 1q, …; nearest is 'vftree'"},
		{HEAD "queuing: dbbm\n",
			"r.yaml:4:10: queuing: dbbm spreads messages over VCs, so switch.vcs must be 2 or more"},
		{HEAD "seed: -1\n",
			"r.yaml:4:7: 'seed: -1': expected a whole number from 0 to 9223372036854775807"},
		{HEAD "seed: 9223372036854775808\n",
			"r.yaml:4:7: 'seed: 9223372036854775808': expected a whole number from 0 to 9223372036854775807"},
		{HEAD "seed:\n", "r.yaml:4:6: 'seed' has no value"},
		{HEAD "faults: {corrupt: 101%}\n",
			"r.yaml:4:19: 'corrupt: 101%': the value must be from 0% to 100%"},
		{HEAD "traffic: {}\n",
			"r.yaml:4:10: 'traffic': expected a list [...], found a map {key: value}"},
		{HEAD "traffic: [all]\n",
			"r.yaml:4:11: expected a map {key: value}, found a value"},
		{HEAD "traffic: [{pattern: uniform, stop: ende}]\n",
			"r.yaml:4:36: 'stop: ende': expected a time with its unit, such as 30ns (ps, ns, us, ms, s), or end"},
		{HEAD "watchdog: never\n",
			"r.yaml:4:11: 'watchdog: never': expected a time with its unit, such as 30ns (ps, ns, us, ms, s), or off"},
		{HEAD "nic: {selection: {forget: x}}\n",
			"r.yaml:4:27: 'forget: x': expected a number from 0 to 1000, such as 0.1 (at most three digits after the point)"},
		{HEAD "traffic: [{from: all}]\n", "r.yaml:4:11: key 'pattern' is missing"},
		{HEAD "traffic: [{pattern: hotspot}]\n",
			"r.yaml:4:11: pattern hotspot: 'to', such as [h4], is missing"},
		{HEAD "traffic: [{pattern: uniform, file: x}]\n",
			"r.yaml:4:11: pattern uniform has no 'file'"},
		{HEAD "traffic: [{pattern: permutation, file: x, to: all}]\n",
			"r.yaml:4:11: pattern permutation: 'file' or the seed defines the pairs of hosts, so 'from' and 'to' are not allowed"},
		{HEAD "traffic: [{pattern: uniform, from: h1}]\n",
			"r.yaml:4:36: 'from: h1': expected all, rest, a percentage such as 10% or a list of hosts such as [h4]"},
		{HEAD "traffic: [{pattern: uniform, from: 0%}]\n",
			"r.yaml:4:36: 'from: 0%': expected all, rest, a percentage such as 10% or a list of hosts such as [h4]"},
		{HEAD "traffic: [{pattern: uniform, from: []}]\n",
			"r.yaml:4:36: 'from': expected 1 to 65536 hosts"},
		{HEAD "traffic: [{pattern: uniform, start: 2ms, stop: 1ms}]\n",
			"r.yaml:4:11: 'stop' must be after 'start'"},
		{HEAD "traffic: [{pattern: uniform, message: 15B}]\n",
			"r.yaml:4:39: 'message: 15B': the value must be from 16B to 64MiB"},
		{HEAD "traffic: [{pattern: transpose, to: [h1]}]\n",
			"r.yaml:4:11: pattern transpose has no 'to'"},
		{HEAD "traffic: [{pattern: uniform, share: 10%}]\n",
			"r.yaml:4:11: pattern uniform has no 'share'"},
		{HEAD "traffic: [{pattern: hotspot, to: [h1], switches: 3}]\n",
			"r.yaml:4:11: pattern hotspot has no 'switches'"},
		{HEAD "traffic: [{pattern: local, ranks: x}]\n",
			"r.yaml:4:11: pattern local has no 'ranks'; use pattern goal"},
		{HEAD "traffic: [{pattern: combined}]\n",
			"r.yaml:4:11: pattern combined: 'to', such as [h4], is missing"},
		{HEAD "traffic: [{pattern: shufle}]\n",
			"r.yaml:4:21: 'pattern: shufle': expected one of uniform, …; nearest is 'shuffle'"},
		{HEAD "traffic: [{pattern: uniform, arivals: poisson}]\n",
			"r.yaml:4:30: unknown key 'arivals', nearest is arrivals; known keys: pattern, …"},
		{HEAD "traffic: [{pattern: uniform, arrivals: bursty, off: 1us}]\n",
			"r.yaml:4:11: bursty arrivals: 'on', a mean time such as 10us, is missing"},
		{HEAD "traffic: [{pattern: bursty, on: 9999ps, off: 1us}]\n",
			"r.yaml:4:33: 'on: 9999ps': the value must be from 10ns to 1000s"},
		{HEAD "traffic: [{pattern: bursty, on: 1us, off: 1ps}]\n",
			"r.yaml:4:43: 'off: 1ps': the value must be from 10ns to 1000s"},
		/* 4 KiB at 10 Gbps take 3.3 us, and are sent every 3.3 s. */
		{HEAD "traffic: [{pattern: bursty, on: 10us, off: 10us, load: 0.0001%}]\n",
			"r.yaml:4:11: bursty arrivals: with this 'load' there is only one message in 163840 bursts, and at least one in 100000 is required; use a longer 'on' or 'off'"},
		{HEAD "traffic: [{pattern: uniform, on: 1us}]\n",
			"r.yaml:4:11: 'on' and 'off' require 'arrivals: bursty'"},
		{HEAD "traffic: [{pattern: bursty, arrivals: poisson}]\n",
			"r.yaml:4:11: pattern bursty: 'arrivals' can only be bursty"},
		{HEAD "traffic: [{pattern: bursty, on: 1us, off: 3us, load: 26%}]\n",
			"r.yaml:4:11: 'load' must be at most 25% with these 'on' and 'off', because it is a mean and would be above 100% within bursts"},
		{HEAD "traffic: [{pattern: uniform, other-message: 512B}]\n",
			"r.yaml:4:11: 'other-message' and 'other-share' must be used together; one is missing"},
		{HEAD "traffic: [{pattern: uniform, message: 64B, message-max: 32B}]\n",
			"r.yaml:4:11: 'message-max' must be at least 'message', 64B, but is 32B"},
		{HEAD "traffic: [{pattern: uniform, other-message-max: 1KiB}]\n",
			"r.yaml:4:11: 'other-message-max' requires 'other-message', the minimum length"},
		{HEAD "traffic: [{pattern: uniform, message-max: 15B}]\n",
			"r.yaml:4:43: 'message-max: 15B': the value must be from 16B to 64MiB"},
		{HEAD "watchdog: 999ns\n",
			"r.yaml:4:11: 'watchdog: 999ns': expected off, or 1us or more"},
		{HEAD "fidelity: {late: 10ns}\n",
			"r.yaml:4:18: 'late: 10ns': expected off, or 1us or more"},
		{HEAD "fidelity: {share: 99%}\n",
			"r.yaml:4:19: fidelity.share requires fidelity.late"},
		{HEAD "traffic: [{pattern: goal}]\n",
			"r.yaml:4:11: pattern goal: 'file', the schedule, is missing ('weft goal gen' generates schedules)"},
		{HEAD "traffic: [{pattern: goal, file: x, load: 1%}]\n",
			"r.yaml:4:11: pattern goal has no 'load'"},
		{HEAD "traffic: [{pattern: flows}]\n",
			"r.yaml:4:11: pattern flows requires 'file', a list of flows, or "
			"'sizes', such as web-search"},
		{HEAD "traffic: [{pattern: flows, file: f, load: 10%}]\n",
			"r.yaml:4:11: pattern flows with a file has no 'load'"},
		{HEAD "traffic: [{pattern: flows, file: f, sizes: hadoop}]\n",
			"r.yaml:4:11: pattern flows with a file has no 'sizes'"},
		{HEAD "traffic: [{pattern: flows, sizes: hadoop, message: 1KiB}]\n",
			"r.yaml:4:11: pattern flows with sizes has no 'message'"},
		{HEAD "traffic: [{pattern: flows, sizes: hadop}]\n",
			"r.yaml:4:35: 'sizes: hadop': expected cdf:FILE or one of web-search, "
			"hadoop; nearest is 'hadoop'"},
		{HEAD "traffic: [{pattern: flows, sizes: hadoop, stop: 1ms}]\n",
			"r.yaml:4:11: pattern flows with sizes: 'load', such as 50%, is missing"},
		{HEAD "traffic: [{pattern: flows, sizes: hadoop, load: 50%}]\n",
			"r.yaml:4:11: pattern flows with sizes: 'stop', the time of the last flow such as 10ms, is missing"},
		{HEAD "traffic: [{pattern: flows, sizes: hadoop, load: 50%, stop: 1ms, matrix: m, "
		      "from: [h0]}]\n",
			"r.yaml:4:11: 'matrix' defines the pairs of hosts, so 'from' and 'to' are not allowed"},
		{HEAD "edges: [{host: h0, tap: a-name-too-long-for-linux}]\n",
			"r.yaml:4:25: 'tap' is 25 characters long; at most 15 are allowed"},
		{HEAD "edges: [{host: h0, tap: t0, address: 10.0.0.1}]\n",
			"r.yaml:4:38: 'address: 10.0.0.1': expected an IPv4 address with its prefix, such as 10.87.0.1/24"},
		{HEAD "edges: [{host: h0, tap: t0, address: 10.0.0.1/33}]\n",
			"r.yaml:4:38: 'address: 10.0.0.1/33': expected an IPv4 address with its prefix, such as 10.87.0.1/24"},
		{HEAD "edges: [{host: h0, tap: t0}, {host: h0, tap: t1}]\n",
			"r.yaml:4:30: duplicate edge of host h0; the first one is in line 4"},
		{HEAD "edges: [{host: h0, tap: t0}, {host: h1, tap: t0}]\n",
			"r.yaml:4:30: duplicate interface t0 in the same namespace; the first one is in line 4"},
		{HEAD "edges: [{host: h0, tap: t0, address: 10.0.0.1/24}, {host: h1, tap: t1, "
		      "address: 10.0.0.1/16}]\n",
			"r.yaml:4:52: the edge in line 4 already has address 10.0.0.1/16"},
		{"weft: run/1\nclock: real\ntopology: {switches: [], hosts: []}\n",
			"r.yaml:3:11: key 'links' is missing in 'topology'"},
	};

	for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_refused(bad[i].text, NULL, bad[i].message);
}

/* Also with the default as the value, such as 'by: round-robin'. */
UNIT_TEST(a_traffic_key_without_effect_is_refused_with_each_pattern)
{
	static const struct {
		unsigned keys;
		const char *text;
	} key[] = {{TRAFFIC_TO, "to: [h1]"}, {TRAFFIC_SHARE, "share: 100%"},
		{TRAFFIC_SWITCHES, "switches: 3"}, {TRAFFIC_FILE, "file: x"},
		{TRAFFIC_RANKS, "ranks: x"}, {TRAFFIC_RANKS, "ranks-per-host: 1"},
		{TRAFFIC_SIZES, "sizes: hadoop"}, {TRAFFIC_SIZES, "matrix: x"},
		{TRAFFIC_PACKETS, "host: h1"}, {TRAFFIC_PACKETS, "by: round-robin"},
		{TRAFFIC_PACKETS, "speed: 1"}, {TRAFFIC_PACKETS, "loop: 1"},
		{TRAFFIC_RATE, "message: 4KiB"}, {TRAFFIC_RATE, "arrivals: constant"}};

	for (unsigned i = 0; name_table_at(&traffic_patterns, i) != NULL; i++) {
		const struct traffic_pattern *pattern = name_table_at(&traffic_patterns, i);

		for (unsigned k = 0; k < sizeof(key) / sizeof(key[0]); k++) {
			char text[300], message[200];
			struct error error = {""};

			if ((pattern->keys & key[k].keys) != 0 ||
				(pattern->pairs && key[k].keys == TRAFFIC_TO))
				continue;
			snprintf(text, sizeof(text), HEAD "traffic: [{pattern: %s, %s}]\n",
				pattern->name, key[k].text);
			snprintf(message, sizeof(message), " has no '%.*s'",
				(int)strcspn(key[k].text, ":"), key[k].text);
			assert_null(
				run_config_parse(text, strlen(text), "r.yaml", NULL, 0, &error));
			if (strstr(error.text, message) == NULL)
				fail_msg("%s: %s", text, error.text);
		}
	}
}

UNIT_TEST(an_override_changes_one_key)
{
	static const char *const set[] = {"switch.buffer=64KiB", "traffic[0].load=40%",
		"traffic[1].to=[h7]", "clock=real", "nic.selector=random"};
	struct error error = {""};
	OWNED(run_config) *config = run_config_parse(full, strlen(full), "r.yaml", set, 5, &error);

	assert_string_equal(error.text, "");
	assert_int_equal(config->sw.buffer_bytes, 65536);
	assert_int_equal(config->sw.mtu_bytes, 2048);
	assert_int_equal(config->traffic.at[0].value.load_ppm, 400000);
	assert_string_equal(config->traffic.at[1].to.name[0], "h7");
	assert_int_equal(config->traffic.at[1].to.count, 1);
	assert_int_equal(config->clock, RUN_CLOCK_REAL);
}

UNIT_TEST(an_override_is_checked_like_the_file)
{
	assert_refused(HEAD, "switch.bufer=64KiB",
		"--set switch.bufer: unknown key 'bufer' in 'switch', nearest is buffer; known keys: …");
	assert_refused(HEAD, "switch.buffer=64",
		"--set switch.buffer: 'buffer: 64': expected a size with its unit, such as "
		"128KiB (B, KiB, MiB, GiB, TiB)");
	assert_refused(HEAD, "switch.buffer=1KiB",
		"--set switch.buffer: switch.buffer: each of 1 VCs must hold a frame of "
		"switch.mtu, so the buffer must be 4224B or more");
	assert_refused(
		HEAD, "traffic[1].load=1%", "--set traffic[1].load: the list has no such element");
}

/* Converts "run traffic[].load WORD…" to "traffic.0.load". Returns false if this is not a key of
 * run files. */
static bool run_key(const char *line, char key[128])
{
	char *list;

	if (sscanf(line, "run %127s", key) != 1)
		return false;
	while ((list = strstr(key, "[]")) != NULL)
		memcpy(list, ".0", 2);
	return true;
}

UNIT_TEST(the_place_of_any_key_is_the_option_and_the_key)
{
	static const char text[] = HEAD "traffic: [{pattern: uniform}]\n"
					"edges: [{host: h0, tap: t0}]\n";
	char *keys, *left, key[128], set[160], place[160];
	unsigned checked = 0;
	size_t size;
	FILE *out = open_memstream(&keys, &size);

	config_keys_print(out);
	fclose(out);
	left = keys;
	for (char *line; (line = strsep(&left, "\n")) != NULL;) {
		struct error error = {""};

		if (!run_key(line, key))
			continue;
		/* No key accepts such a value. */
		snprintf(set, sizeof(set), "%s={no-such-key: [1]}", key);
		snprintf(place, sizeof(place), "--set %s: ", key);
		assert_null(parse_set(text, set, &error));
		if (strncmp(error.text, place, strlen(place)) != 0)
			fail_msg("%s: %s", set, error.text);
		checked++;
	}
	free(keys);
	assert_true(checked > 150);
}

static void check_docs(const struct yaml_field *fields, const char *before)
{
	for (; fields != NULL && fields->key != NULL; fields++) {
		size_t length = fields->doc != NULL ? strlen(fields->doc) : 0;
		char key[160];

		snprintf(key, sizeof(key), "%s.%s", before, fields->key);
		if (length == 0 || fields->doc[length - 1] != '.' ||
			strpbrk(fields->doc, "|\n") != NULL)
			fail_msg("%s: expected a line in .doc that ends with a full stop", key);
		if (fields->type == YAML_FIELD_CUSTOM && fields->form == NULL &&
			fields->fields == NULL && fields->map == NULL)
			fail_msg("%s: expected .form, or .fields, or .map", key);
		check_docs(fields->fields, key);
		check_docs(fields->map, key);
	}
}

UNIT_TEST(every_key_has_its_line_of_the_page)
{
	check_docs(run_file_fields, "run");
	check_docs(lab_file_fields, "lab");
	check_docs(topology_file_fields, "topology");
}

/* --- every key of the tables --- */

#define ONE HEAD "edges: [{host: h0, tap: t0}]\ntraffic: [{pattern: uniform}]\n"

/* The struct of a table: in the configuration, or in the first row of a list. */
struct place {
	const struct yaml_field *fields;
	size_t offset;
	bool edge, traffic;
};

static void *object_of(struct run_config *config, const struct place *place)
{
	void *base = place->edge      ? (void *)config->edges.at
		     : place->traffic ? (void *)config->traffic.at
				      : (void *)config;

	return (char *)base + place->offset;
}

static char *written(const struct yaml_field *fields, const void *object)
{
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	yaml_fields_write(fields, object, out, 0);
	fclose(out);
	return text;
}

/* Writes a value that the key accepts, a different one for each 'number'. */
static void draw_value(const struct yaml_field *field, unsigned number, char text[QUANTITY_TEXT])
{
	static const char *const forms[][3] = {{"<path>", "/a", "/b"}, {"<factor>", "1.25", "2.5"},
		{"<time>", "37us", "41us"}, {"auto|<number>", "auto", "3"},
		{"all|<names>", "all", "[h1]"}, {"all|rest|", "10%", "[h1]"},
		{"round-robin|<path>", "/a", "/b"}, {"<text>", "\"3:1\"", "\"2:5\""},
		{"<host>", "h1", "h1:1"}, {"<list>", "[1]", "[2]"},
		{"^", "10.0.0.1/24", "10.1.0.1/24"}};
	static const enum quantity_kind kinds[] = {[YAML_FIELD_RATE] = QUANTITY_RATE,
		[YAML_FIELD_TIME] = QUANTITY_TIME,
		[YAML_FIELD_BYTES] = QUANTITY_SIZE,
		[YAML_FIELD_SHARE] = QUANTITY_SHARE};

	if (field->words != NULL)
		snprintf(text, QUANTITY_TEXT, "%s", name_table_name(field->words->entry[number]));
	else if (field->choices != NULL)
		snprintf(text, QUANTITY_TEXT, "%s", field->choices[number]);
	else if (field->type == YAML_FIELD_BOOL)
		snprintf(text, QUANTITY_TEXT, "%s", number == 0 ? "true" : "false");
	else if (field->type == YAML_FIELD_NUMBER)
		snprintf(text, QUANTITY_TEXT, "%u", (unsigned)field->min + number);
	else if (field->type == YAML_FIELD_TEXT || field->type == YAML_FIELD_NAME)
		snprintf(text, QUANTITY_TEXT, "%s", number == 0 ? "a" : "b");
	else if (field->type != YAML_FIELD_CUSTOM)
		quantity_format(kinds[field->type], field->min + number, text);
	for (unsigned i = 0; field->type == YAML_FIELD_CUSTOM && field->words == NULL; i++) {
		assert_true(i < sizeof(forms) / sizeof(forms[0]));
		snprintf(text, QUANTITY_TEXT, "%s", forms[i][1 + number]);
		if (strncmp(field->form, forms[i][0], strlen(forms[i][0])) == 0)
			break;
	}
}

/* Sets the key in a separate configuration, and returns the text that the table then writes. */
static char *with_value(
	const struct place *place, const struct yaml_field *field, const char *value)
{
	const struct yaml_field one[] = {*field, {NULL}};
	OWNED(run_config) *config = parse(ONE);
	void *object = object_of(config, place);
	struct error error = {""};
	OWNED(yaml_tree) *tree;
	char text[160], *after;

	snprintf(text, sizeof(text), "%s: %s\n", field->key, value);
	tree = yaml_tree_parse(text, strlen(text), "a.yaml", &error);
	if (tree == NULL || yaml_fields_read(one, yaml_tree_root(tree), object, &error) < 0)
		fail_msg("%s: %s", text, error.text);
	after = written(place->fields, object);
	return after;
}

/* All lines except the key's line. */
static void cut_line(char *text, const char *key)
{
	size_t length = strlen(key);

	for (char *line = text; *line != '\0';) {
		char *next = line + strcspn(line, "\n");

		next += *next == '\n';
		if (strncmp(line, key, length) == 0 && line[length] == ':') {
			memmove(line, next, strlen(next) + 1);
			return;
		}
		line = next;
	}
}

/* Two values give two texts that differ only in the key's line. No key is therefore bound to
 * another key's member, or read differently from how it is written. */
static void check_key(const struct place *place, const struct yaml_field *field)
{
	char value[2][QUANTITY_TEXT], *text[2];

	for (unsigned i = 0; i < 2; i++) {
		draw_value(field, i, value[i]);
		text[i] = with_value(place, field, value[i]);
	}
	if (strcmp(text[0], text[1]) == 0)
		fail_msg("%s: %s and %s give the same", field->key, value[0], value[1]);
	for (unsigned i = 0; i < 2; i++)
		cut_line(text[i], field->key);
	assert_string_equal(text[0], text[1]);
	free(text[0]);
	free(text[1]);
}

static unsigned check_table(const struct place *place)
{
	unsigned checked = 0;

	for (const struct yaml_field *field = place->fields; field->key != NULL; field++) {
		struct place below = {field->fields, place->offset + field->offset};

		/* Lists have separate tests. Members that are not written cannot be compared. */
		if (field->type == YAML_FIELD_CUSTOM &&
			(field->write == NULL || field->fields != NULL || field->map != NULL))
			continue;
		if (field->type == YAML_FIELD_SECTION) {
			checked += check_table(&below);
		} else {
			check_key(place, field);
			checked++;
		}
	}
	return checked;
}

UNIT_TEST(every_key_is_read_and_written_and_no_other)
{
	const struct place places[] = {{run_file_fields}, {run_edge_fields, .edge = true},
		{run_traffic_fields, .traffic = true}};
	unsigned checked = 0;

	for (unsigned i = 0; i < sizeof(places) / sizeof(places[0]); i++)
		checked += check_table(&places[i]);
	assert_true(checked > 140);
}

UNIT_TEST(a_number_of_a_pattern_has_an_initial_value_or_may_be_absent)
{
	static const char *const absent[] = {"load", "message-max", "other-message",
		"other-message-max", "other-share", "on", "off", "ranks-per-host"};

	for (const struct yaml_field *field = run_traffic_fields; field->key != NULL; field++) {
		bool known = field->tag == 0 || field->type < YAML_FIELD_NUMBER ||
			     field->type > YAML_FIELD_SHARE || field->initial != 0;

		for (unsigned i = 0; i < sizeof(absent) / sizeof(absent[0]); i++)
			known |= strcmp(field->key, absent[i]) == 0;
		if (!known)
			fail_msg("'%s': expected '.initial' in its row, or the key in this list",
				field->key);
	}
}

/* Checks everything up to the traffic sources. 'error' stays "" if the configuration is valid. */
static void check_all(const char *text, const char *set, struct error *error)
{
	OWNED(run_config) *config = parse_set(text, set, error);
	OWNED(topology) *topology = NULL;
	OWNED(run_hosts) *hosts = NULL;

	if (config != NULL && run_config_supported(config, error) == 0)
		topology = run_config_open_topology(config, error);
	if (topology != NULL && run_config_name_edges(config, topology, NULL, error) == 0)
		hosts = run_config_resolve(config, topology, error);
	if (hosts != NULL)
		run_source_check(config, hosts, error);
}

UNIT_TEST(what_is_found_late_has_the_same_place)
{
	static const char *const bad[] = {"edges=[{host: h1, tap: t}, {host: h1, tap: u}]",
		"edges=[{host: h1, tap: t}, {host: h2, tap: t}]", "edges=[{host: h9, tap: t}]",
		"edges={hosts: [h9], network: 10.1.0.0/24}",
		"edges=[{host: h1, tap: t, address: 10.1.0.1/24}, "
		"{host: h2, tap: u, address: 10.1.9.1/16}]",
		"edges=[{host: h1, tap: t, address: 10.1.0.1/24}, "
		"{host: h2, tap: u, address: 10.1.0.2/0}]",
		"traffic.0.to=[h9]", "traffic.0.from=[h1, h1]", "traffic.0.from=1%",
		"traffic.0={pattern: goal, file: /x}", "traffic.1={pattern: goal, file: /x}",
		"traffic.0={pattern: transpose}",
		"traffic.0={pattern: hotspot, from: [h1], to: [h1]}", "topology=/nonexist/net.yaml",
		"topology=torus:dims=x",
		"topology={switches: [{name: a, ports: 2}, {name: a, ports: 2}], hosts: [], links: []}",
		"topology={switches: [{name: a, ports: 2}], hosts: [{name: x}, {name: y}], "
		"links: [[a:0, x:0]]}",
		"mapper={hosts: [h9]}", "seed={a: 1, a: 2}"};
	static const char text[] = HEAD "traffic: [{pattern: uniform}, {pattern: uniform}]\n";

	for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct error error = {""};
		char place[160];

		snprintf(place, sizeof(place), "--set %.*s: ", (int)strcspn(bad[i], "="), bad[i]);
		check_all(text, bad[i], &error);
		if (strncmp(error.text, place, strlen(place)) != 0 ||
			strstr(error.text, "line 0") != NULL || strstr(error.text, ":0:") != NULL)
			fail_msg("%s: %s", bad[i], error.text);
	}
}

UNIT_TEST(what_is_not_built_is_refused_by_name)
{
	static const struct {
		const char *set, *message;
	} unbuilt[] = {
		{"switch.switching=wormhole",
			"r.yaml: switch.switching: wormhole requires 'clock: virtual'"},
		{"switch.flow-control=stop-go",
			"r.yaml: switch.flow-control: stop-go requires 'switching: wormhole'"},
		{"measure.messages=10",
			"r.yaml: measure.messages requires 'switching: wormhole'; use "
			"measure.duration"},
		{"switch.routing-start=header",
			"r.yaml: switch.routing-start: header requires 'switching: wormhole'"},
		{"switch.routing-delay=1ns",
			"r.yaml: switch.routing-delay is not supported on the real clock; use 0ns"},
		{"routing.algorithm=df-ugal-g",
			"r.yaml: routing.algorithm df-ugal-g reads the queues of other switches, which is not supported on the real clock; use df-ugal-l"},
		{"nic.selector=detect", "r.yaml: nic.selector detect chooses between 2 route sets; "
					"use 'routing.algorithm: ud+ud-itb'"},
	};
	static const char text[] = HEAD "traffic: [{pattern: uniform}]\n";
	struct error error;
	struct run_config *beside =
		parse(HEAD "traffic: [{pattern: uniform}, {pattern: goal, file: /x}]\n");

	assert_int_equal(run_config_supported(beside, &error), -EINVAL);
	assert_string_equal(error.text,
		"r.yaml:4:31: pattern goal alongside other traffic is not supported on the real clock; use it alone");
	run_config_destroy(beside);
	beside = parse("weft: run/1\ntopology: \"rlft:ports=4,stages=2\"\nclock: virtual\n"
		       "nic: {selector: random}\nrouting: {algorithm: ud, alternatives: 2}\n"
		       "traffic: [{pattern: goal, file: /x}]\n");
	assert_int_equal(run_config_supported(beside, &error), -EINVAL);
	assert_string_equal(error.text,
		"r.yaml:6:11: pattern goal on the virtual clock requires messages in order; "
		"use 'nic.selector: first'");
	run_config_destroy(beside);
	for (unsigned i = 0; i < sizeof(unbuilt) / sizeof(unbuilt[0]); i++) {
		OWNED(run_config) *config = parse_set(text, unbuilt[i].set, &error);

		assert_non_null(config);
		assert_int_equal(run_config_supported(config, &error), -EINVAL);
		assert_string_equal(error.text, unbuilt[i].message);
	}
}

UNIT_TEST(adaptive_routing_brings_what_it_needs_or_says_what_is_missing)
{
	static const struct {
		const char *routing, *message;
	} bad[] = {
		{"routing: {afi: true}\n",
			"r.yaml:4:16: routing.afi requires adaptive routing; set 'adaptive' to a value other than 'none'"},
		{"routing: {adaptive: oblivious, mode: source}\n",
			"r.yaml:4:38: routing.mode: must be 'table' with 'adaptive: oblivious', because source routes leave switches no choice"},
		{"routing: {algorithm: dor, adaptive: oblivious}\n",
			"r.yaml:4:22: routing.algorithm: dor's VC classes only work with its own paths; use a different algorithm with 'adaptive: oblivious'"},
		{"routing: {adaptive: arn}\nswitch: {voq: false}\n",
			"r.yaml:5:15: switch.voq: must be 'true' with 'adaptive: arn', because the detector uses VOQs"},
		{"routing: {adaptive: arn, afi: true}\nswitch: {vcs: 16, buffer: 1MiB}\n",
			"r.yaml:5:15: switch.vcs: with the adapted-flow channel of routing.afi there would be 17 VCs; set at most 15"},
		{"routing: {adaptive: arn, afi: true}\nswitch: {buffer: 8KiB}\n",
			"r.yaml:5:18: switch.buffer: each of 2 VCs must hold a frame of switch.mtu, so the buffer must be 8448B or more"},
	};
	struct run_config *config = parse(HEAD "routing: {adaptive: arn, afi: true}\n");

	assert_int_equal(config->routing.mode, RUN_ROUTING_TABLE);
	assert_int_equal(run_config_vcs(config), 2);
	run_config_destroy(config);
	config = parse(HEAD "routing: {adaptive: adaptive-th}\nswitch: {vcs: 3, voq: false}\n");
	assert_int_equal(run_config_vcs(config), 3);
	run_config_destroy(config);
	for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		char text[512];

		snprintf(text, sizeof(text), "%s%s", HEAD, bad[i].routing);
		assert_refused(text, NULL, bad[i].message);
	}
}

static enum run_mapper_mode mode_of(const char *mapper, const char *host)
{
	char text[256];
	OWNED(run_config) *config;
	enum run_mapper_mode mode;

	snprintf(text, sizeof(text), HEAD "mapper: %s\n", mapper);
	config = parse(text);
	mode = run_config_mapper_mode(config, host);
	return mode;
}

UNIT_TEST(hosts_say_who_may_be_the_mapper)
{
	assert_int_equal(mode_of("{}", "h1"), RUN_MAPPER_AUTO);
	assert_int_equal(mode_of("{mode: always}", "h1"), RUN_MAPPER_ALWAYS);
	assert_int_equal(mode_of("{mode: never, hosts: all}", "h1"), RUN_MAPPER_NEVER);
	assert_int_equal(mode_of("{hosts: [h0, h1]}", "h1"), RUN_MAPPER_AUTO);
	assert_int_equal(mode_of("{hosts: [h0, h1]}", "h2"), RUN_MAPPER_NEVER);
	assert_int_equal(mode_of("{mode: always, hosts: [h1]}", "h1"), RUN_MAPPER_ALWAYS);
	assert_int_equal(mode_of("{mode: always, hosts: [h1]}", "h2"), RUN_MAPPER_AUTO);
	assert_int_equal(mode_of("{mode: never, hosts: [h1]}", "h1"), RUN_MAPPER_NEVER);
	assert_int_equal(mode_of("{mode: never, hosts: [h1]}", "h2"), RUN_MAPPER_AUTO);
}

UNIT_TEST(a_mapper_host_that_is_not_there_is_refused_with_its_place)
{
	OWNED(run_config) *config = parse(HEAD "mapper: {hosts: [h0, h77]}\n");
	struct error error = {""};

	assert_null(run_config_open_topology(config, &error));
	assert_int_equal(errno, EINVAL);
	assert_string_equal(error.text, "r.yaml:4:17: mapper.hosts: topology rlft-4-2 has no host "
					"'h77', nearest is 'h7'");
}

UNIT_TEST(what_a_mapper_cannot_do_is_refused)
{
	static const struct {
		const char *text, *message;
	} bad[] = {
		{"clock: virtual\n",
			"requires 'clock: real'; with 'static' the file's routes are used"},
		{"clock: real\nrouting: {algorithm: minhop}\n",
			"does not use routes that may deadlock; use another routing.algorithm, or routing.may-deadlock: true"},
		{"clock: real\nrouting: {algorithm: ud+minhop}\n",
			"does not use routes that may deadlock; use another routing.algorithm, or routing.may-deadlock: true"},
	};

	for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct error error = {""};
		OWNED(run_config) *config;
		char text[256];

		snprintf(text, sizeof(text),
			"weft: run/1\ntopology: \"ring:switches=3\"\nmapper: {routes: mapper}\n%s",
			bad[i].text);
		config = parse(text);
		assert_int_equal(run_config_supported(config, &error), -EINVAL);
		snprintf(text, sizeof(text), "r.yaml: mapper.routes: mapper %s", bad[i].message);
		assert_string_equal(error.text, text);
	}
}

#define UNTIL "weft: run/1\ntopology: \"ring:switches=3\"\nclock: virtual\nmeasure: "

UNIT_TEST(a_run_until_a_value_is_known_has_a_longest_duration)
{
	static const struct {
		const char *text, *message;
	} bad[] = {
		{UNTIL "{until: {interval: 2%}}\n", "measure.until: requires measure.at-most"},
		{UNTIL "{until: {interval: 0%}, at-most: 5ms}\n",
			"measure.at-most requires measure.until"},
		{UNTIL "{at-most: 5ms}\n", "measure.at-most requires measure.until"},
		{UNTIL "{until: {interval: 2%}, at-most: 50ms, duration: 40ms}\n",
			"measure.until: cannot be combined with measure.duration"},
		{UNTIL "{until: {interval: 2%}, at-most: 50ms}\n"
		       "traffic: [{pattern: uniform, stop: 1ms}]\n",
			"measure.until: requires traffic without start and stop"},
	};
	struct run_config *config = parse(HEAD "measure: {until: {interval: 2%}, at-most: 50ms}\n");
	struct error error = {""};

	assert_int_equal(run_config_supported(config, &error), 0);
	run_config_destroy(config);
	config = parse(UNTIL "{until: {interval: 2%, of: accepted}, at-most: 50ms}\n");
	assert_int_equal(run_config_supported(config, &error), 0);
	assert_true(config->measure.duration_ps == 50 * PS_PER_MS);
	assert_int_equal(config->measure.until.interval_ppm, 20000);
	assert_int_equal(config->measure.until.of, RUN_UNTIL_ACCEPTED);
	run_config_destroy(config);
	for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		config = parse(bad[i].text);
		assert_int_equal(run_config_supported(config, &error), -EINVAL);
		assert_non_null(strstr(error.text, bad[i].message));
		run_config_destroy(config);
	}
	assert_refused(UNTIL "{until: {of: accepted}, at-most: 5ms}\n", NULL,
		"r.yaml:4:18: measure.until.interval is missing; set a share such as 2%");
	/* A written configuration contains the section even if the run has none. */
	config = parse(UNTIL "{until: {interval: 0%, of: accepted}}\n");
	assert_true(config->measure.duration_ps == PS_PER_S);
	run_config_destroy(config);
	config = parse(UNTIL "{until: {interval: 0%, of: accepted}, messages: 5}\n");
	assert_true(config->measure.duration_ps == 1000 * PS_PER_S);
	run_config_destroy(config);
}

UNIT_TEST(a_run_of_any_duration_has_a_default_for_the_time_of_a_sample)
{
	char text[256];

	for (unsigned us = 1; us < 100000000; us = us / 5 * 7 + us % 5 + 1) {
		OWNED(run_config) *config;

		snprintf(text, sizeof(text), HEAD "measure: {duration: %uus}\n", us);
		config = parse(text);
		assert_true(config->measure.sample_ps <= config->measure.duration_ps);
		assert_true(us < 10000 || config->measure.sample_ps == 10 * PS_PER_MS);
	}
}

UNIT_TEST(a_radius_goes_with_multi_step_paths_alone)
{
	struct run_config *config = parse(HEAD "routing: {algorithm: msp}\n");
	struct error error;

	assert_int_equal(config->routing.radius, 1);
	assert_int_equal(config->routing.alternatives, 4);
	assert_int_equal(run_config_supported(config, &error), 0);
	run_config_destroy(config);
	config = parse(HEAD "routing: {algorithm: dor}\n");
	assert_int_equal(config->routing.radius, 0);
	run_config_destroy(config);
	config = parse(HEAD "routing: {algorithm: dor, radius: 2}\n");
	assert_int_equal(run_config_supported(config, &error), -EINVAL);
	assert_non_null(strstr(error.text, "routing.radius requires 'routing.algorithm: msp'"));
	run_config_destroy(config);
	config = parse(HEAD "routing: {algorithm: dor, steps: itb}\n");
	assert_int_equal(run_config_supported(config, &error), -EINVAL);
	assert_non_null(strstr(error.text, "routing.steps requires 'routing.algorithm: msp'"));
	run_config_destroy(config);
	assert_null(parse_set(HEAD, "routing.steps=host", &error));
	assert_null(parse_set(HEAD, "routing.radius=5", &error));
	assert_null(parse_set(HEAD, "routing.radius=0", &error));
}

UNIT_TEST(control_that_spreads_needs_two_routes)
{
	static const char *const refused[][2] = {
		{"nic: {control: drb}\n",
			"r.yaml:4:16: nic.control: drb has nothing to choose from, because "
			"routing.algorithm ud has one route per pair; set routing.alternatives "
			"to 2 or more, or use another algorithm such as msp or disjoint"},
		{"nic: {mtu: 1KiB, control: pr-drb}\nrouting: {algorithm: msp, alternatives: 1}\n",
			"r.yaml:4:27: nic.control: pr-drb has nothing to choose from, because "
			"routing.algorithm msp has one route per pair; set routing.alternatives "
			"to 2 or more, or use another algorithm such as msp or disjoint"},
	};
	static const char *const accepted[] = {"nic: {control: drb}\nrouting: {algorithm: msp}\n",
		"nic: {control: drb}\nrouting: {algorithm: ud, alternatives: 2}\n",
		"nic: {control: iba-cc}\nswitch: {fecn: 8}\n", "nic: {selector: random}\n"};
	static const char head[] = "weft: run/1\ntopology: \"torus:dims=4x4\"\nclock: virtual\n";
	char text[400];
	struct error error;

	for (unsigned i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		snprintf(text, sizeof(text), "%s%s", head, refused[i][0]);
		assert_null(run_config_parse(text, strlen(text), "r.yaml", NULL, 0, &error));
		assert_string_equal(error.text, refused[i][1]);
	}
	for (unsigned i = 0; i < sizeof(accepted) / sizeof(accepted[0]); i++) {
		OWNED(run_config) *config;

		snprintf(text, sizeof(text), "%s%s", head, accepted[i]);
		config = run_config_parse(text, strlen(text), "r.yaml", NULL, 0, &error);
		if (config == NULL)
			fail_msg("%s: %s", accepted[i], error.text);
	}
}

UNIT_TEST(ties_are_for_grids_alone)
{
	struct run_config *config = parse(HEAD "routing: {algorithm: ud+msp}\n");
	struct error error;

	assert_int_equal(config->routing.ties, RUN_TIES_PORT);
	run_config_destroy(config);
	config = parse(HEAD "routing: {algorithm: dor, ties: seed}\n");
	assert_int_equal(config->routing.ties, RUN_TIES_SEED);
	assert_int_equal(run_config_supported(config, &error), 0);
	run_config_destroy(config);
	config = parse(HEAD "routing: {algorithm: dmodk, ties: port}\n");
	assert_int_equal(run_config_supported(config, &error), -EINVAL);
	assert_non_null(
		strstr(error.text, "routing.ties requires 'routing.algorithm: dor' or 'msp'"));
	run_config_destroy(config);
	assert_null(parse_set(HEAD, "routing.ties=random", &error));
}

UNIT_TEST(keys_that_nothing_reads_are_refused)
{
	static const char ugal[] =
		"requires a routing.algorithm that compares queues, such as 'df-ugal-l'";
	/* A key, a setting that reads it, one that does not, and the refusal. */
	static const char *const row[][4] = {
		{"routing.ugal-queues=vc", "routing.algorithm=df-par",
			"routing.algorithm=df-ugal-g", ugal},
		{"routing.ugal-bias=1KiB", "routing.algorithm=omni-war",
			"routing.algorithm=df-valiant", ugal},
		{"routing.ugal-bias=1KiB", "routing.algorithm=df-ugal-g",
			"routing.algorithm=df-min", ugal},
		{"routing.flowlet-gap=1us", "routing.adaptive=flowlet", "routing.adaptive=ecmp",
			"routing.flowlet-gap requires 'routing.adaptive: flowlet'"},
		{"routing.threshold=70%", "routing.adaptive=adaptive-th",
			"routing.adaptive=adaptive",
			"routing.threshold requires 'routing.adaptive: adaptive-th'"},
		{"switch.pfc.xoff=20KiB", "switch.flow-control=pfc", "switch.flow-control=lossy",
			"switch.pfc requires 'switch.flow-control: pfc'"},
		{"switch.pfc.xon=20KiB", "switch.flow-control=pfc", "switch.flow-control=credit",
			"switch.pfc requires 'switch.flow-control: pfc'"},
		{"switch.ecn.pmax=20%", "switch.ecn.kmax=20KiB", "switch.ecn.kmax=0B",
			"switch.ecn.pmax requires switch.ecn.kmax"},
		{"switch.vc-weights=[2]", "switch.vc-service=weighted", "switch.vc-service=strict",
			"switch.vc-weights requires 'switch.vc-service: weighted'"},
	};

	for (unsigned i = 0; i < sizeof(row) / sizeof(row[0]); i++)
		for (unsigned reads = 0; reads < 2; reads++) {
			const char *const set[] = {"clock=virtual", "routing.algorithm=dmodk",
				"switch.vcs=4", row[i][0], row[i][reads ? 1 : 2]};
			struct error error = {""};
			OWNED(run_config) *config =
				run_config_parse(HEAD, strlen(HEAD), "r.yaml", set, 5, &error);

			assert_string_equal(error.text, "");
			assert_int_equal(run_config_supported(config, &error), reads ? 0 : -EINVAL);
			if (!reads)
				assert_non_null(strstr(error.text, row[i][3]));
		}
}

UNIT_TEST(sets_of_routes_are_named_with_plus)
{
	struct run_config *config = parse(
		HEAD "routing: {algorithm: ud+ud-mitb+ud-itb}\nnic: {selector: three-sets}\n");
	char name[RUN_ROUTING_NAME];
	struct error error;

	assert_ptr_equal(config->routing.algorithm, &route_up_down);
	assert_int_equal(config->routing.others, 2);
	assert_ptr_equal(config->routing.other[0], &route_ud_mitb);
	assert_ptr_equal(config->routing.other[1], &route_ud_itb);
	run_routing_name(&config->routing, name);
	assert_string_equal(name, "ud+ud-mitb+ud-itb");
	assert_int_equal(run_config_supported(config, &error), 0);
	run_config_destroy(config);
	assert_null(parse_set(HEAD, "routing.algorithm=ud+ud-itv", &error));
	assert_non_null(strstr(error.text, "ud-itb"));
	assert_null(parse_set(HEAD, "routing.algorithm=ud+ud+ud+ud+ud", &error));
	assert_null(parse_set(HEAD, "routing.algorithm=ud+", &error));
}

UNIT_TEST(a_second_schedule_is_refused)
{
	OWNED(run_config) *config = parse("weft: run/1\ntopology: \"rlft:ports=4,stages=2\"\n"
					  "clock: virtual\nnic: {selector: first}\ntraffic:\n"
					  "  - {pattern: goal, file: /x}\n"
					  "  - {pattern: uniform}\n"
					  "  - {pattern: goal, file: /y}\n");
	struct error error;

	assert_int_equal(run_config_supported(config, &error), -EINVAL);
	assert_string_equal(error.text,
		"r.yaml:8:5: pattern goal: only one schedule is allowed, and the first one is in line 6; use 'jobs' for several");
}

UNIT_TEST(several_sets_of_tables_are_refused)
{
	OWNED(run_config) *config = parse(HEAD "routing: {algorithm: ud+dmodk, mode: table}\n");
	struct error error;

	assert_int_equal(run_config_supported(config, &error), -EINVAL);
	assert_string_equal(error.text,
		"r.yaml: routing.algorithm: multiple route sets require 'mode: source'");
}

UNIT_TEST(what_selectors_are_told_has_three_digits_after_the_point)
{
	static const struct {
		const char *set;
		uint32_t k;
	} cases[] = {{"nic.selection.k=0", 0}, {"nic.selection.k=0.001", 1},
		{"nic.selection.k=2.50", 2500}, {"nic.selection.k=1000", 1000000}};
	static const char *const bad[] = {"nic.selection.k=-1", "nic.selection.k=1.0001",
		"nic.selection.k=1001", "nic.selection.k=.5", "nic.selection.k=1.",
		"nic.selection.k=1e3", "nic.selection.k=1.2.3"};
	struct error error;

	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		OWNED(run_config) *config = parse_set(HEAD, cases[i].set, &error);

		assert_non_null(config);
		assert_int_equal(config->nic.selection.k, cases[i].k);
	}
	for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_null(parse_set(HEAD, bad[i], &error));
}

/* Modes that compare ports by their credits need exact credits, on both clocks. */
UNIT_TEST(credits_are_by_default_as_exact_as_the_mode_needs)
{
	static const struct {
		const char *clock, *mode;
		enum run_credits credits;
	} cases[] = {
		{"virtual", "none", RUN_CREDITS_COALESCED},
		{"virtual", "oblivious", RUN_CREDITS_COALESCED},
		{"virtual", "arn", RUN_CREDITS_COALESCED},
		{"virtual", "adaptive", RUN_CREDITS_EACH},
		{"virtual", "adaptive-th", RUN_CREDITS_EACH},
		{"real", "arn", RUN_CREDITS_COALESCED},
		{"real", "adaptive", RUN_CREDITS_EACH},
		{"real", "adaptive-th", RUN_CREDITS_EACH},
		{"real", "adaptive, credits: coalesced", RUN_CREDITS_COALESCED},
		{"virtual", "adaptive, credits: coalesced", RUN_CREDITS_COALESCED},
	};

	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *own = strstr(cases[i].mode, ", credits: ");
		OWNED(run_config) *config;
		char text[512];

		snprintf(text, sizeof(text),
			"weft: run/1\ntopology: \"rlft:ports=4,stages=2\"\nclock: %s\n"
			"switch: {vcs: 1%s}\n"
			"routing: {algorithm: dmodk, adaptive: %.*s}\n"
			"traffic: [{pattern: uniform}]\n",
			cases[i].clock, own != NULL ? own : "",
			(int)(own != NULL ? (size_t)(own - cases[i].mode) : strlen(cases[i].mode)),
			cases[i].mode);
		config = parse(text);
		assert_int_equal(config->sw.credits, cases[i].credits);
	}
}

UNIT_TEST(routes_that_may_deadlock_have_exact_credits)
{
	static const char text[] = HEAD "traffic: [{pattern: uniform}]\n";
	static const char *const set[][2] = {
		{"routing.may-deadlock=true", "switch.credits=coalesced"},
		{"routing.may-deadlock=true", "switch.credits=each"},
		{"routing.may-deadlock=true", "seed=2"},
		{"routing.may-deadlock=false", "seed=2"},
	};

	for (unsigned i = 0; i < sizeof(set) / sizeof(set[0]); i++) {
		struct error error = {""};
		struct run_config *config =
			run_config_parse(text, sizeof(text) - 1, "test.yaml", set[i], 2, &error);

		assert_non_null(config);
		assert_int_equal(
			config->sw.credits, i < 3 ? RUN_CREDITS_EACH : RUN_CREDITS_COALESCED);
		run_config_destroy(config);
	}
}

UNIT_TEST(a_credit_frame_for_each_packet_is_supported_on_both_clocks)
{
	static const char text[] = HEAD "traffic: [{pattern: uniform}]\n";
	struct error error = {""};

	for (unsigned i = 0; i < 2; i++) {
		OWNED(run_config) *config = parse_set(text, "switch.credits=each", &error);

		assert_non_null(config);
		assert_int_equal(
			run_config_set_clock(config, i == 0 ? "real" : "virtual", &error), 0);
		assert_int_equal(config->sw.credits, RUN_CREDITS_EACH);
		assert_int_equal(run_config_supported(config, &error), 0);
	}
}

UNIT_TEST(a_dilation_is_auto_or_a_number_of_the_real_clock)
{
	static const char text[] = HEAD "traffic: [{pattern: uniform}]\n";
	static const char *const wrong[] = {"dilation=0", "dilation=100001", "dilation=1.5",
		"dilation=-1", "dilation=10x", "dilation=fast"};
	struct run_config *config = parse_set(text, "dilation=100000", NULL);
	struct error error = {""};

	assert_non_null(config);
	assert_int_equal(config->dilation, RUN_DILATION_MAX);
	assert_int_equal(run_config_set_clock(config, "real", &error), 0);
	assert_int_equal(run_config_supported(config, &error), 0);
	assert_int_equal(run_config_set_dilation(config, "auto", &error), 0);
	assert_int_equal(config->dilation, RUN_DILATION_AUTO);
	assert_int_equal(run_config_set_dilation(config, "0", &error), -EINVAL);
	assert_string_equal(
		error.text, "--dilation 0: expected auto, or a whole number from 1 to 100000");
	assert_int_equal(run_config_set_dilation(config, "2", &error), 0);
	assert_int_equal(run_config_set_clock(config, "virtual", &error), 0);
	assert_int_equal(run_config_supported(config, &error), -EINVAL);
	assert_non_null(strstr(error.text, "use dilation: 1"));
	run_config_destroy(config);
	for (unsigned i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		assert_null(parse_set(text, wrong[i], &error));
		assert_non_null(strstr(error.text, "expected auto, or a whole number"));
	}
}

UNIT_TEST(the_defaults_are_supported)
{
	OWNED(run_config) *config = parse(HEAD "traffic: [{pattern: uniform}]\n");
	struct error error = {""};

	assert_int_equal(run_config_supported(config, &error), 0);
	assert_string_equal(error.text, "");
}

UNIT_TEST(every_built_algorithm_can_be_asked_for)
{
	struct error error = {""};
	char set[128];

	for (unsigned i = 0; route_algorithm_at(i) != NULL; i++) {
		OWNED(run_config) *config;

		snprintf(set, sizeof(set), "routing.algorithm=%s", route_algorithm_at(i)->name);
		config = parse_set(HEAD, set, &error);
		assert_non_null(config);
		assert_ptr_equal(config->routing.algorithm, route_algorithm_at(i));
		assert_non_null(config->nic.selector);
		assert_in_range(config->routing.alternatives, 1, ROUTE_ALTERNATIVES_MAX);
	}
}

UNIT_TEST(alternatives_and_selector_are_the_algorithms_own_unless_named)
{
	static const struct {
		const char *routing;
		unsigned alternatives;
		const struct route_choice_ops *selector;
	} cases[] = {
		{"routing: {algorithm: ud}\n", 1, &route_choice_first},
		{"routing: {algorithm: dmodk}\n", 1, &route_choice_first},
		{"routing: {algorithm: ud-random}\n", 10, &route_choice_random},
		{"routing: {algorithm: ud-rr}\n", 10, &route_choice_round_robin},
		{"routing: {algorithm: ud-det}\n", 10, &route_choice_contention},
		{"routing: {algorithm: ud-rr, alternatives: 1}\n", 1, &route_choice_round_robin},
		{"routing: {algorithm: ud-rr}\nnic: {selector: first}\n", 10, &route_choice_first},
	};

	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		OWNED(run_config) *config;
		char text[256];

		snprintf(text, sizeof(text), HEAD "%s", cases[i].routing);
		config = parse(text);
		assert_int_equal(config->routing.alternatives, cases[i].alternatives);
		assert_ptr_equal(config->nic.selector, cases[i].selector);
	}
}

UNIT_TEST(the_link_section_holds_where_the_topology_says_nothing)
{
	OWNED(run_config) *config =
		parse("weft: run/1\nclock: real\ntopology: \"ring:switches=3,delay=9ns\"\n"
		      "link: {rate: 3Gbps, delay: 1ns}\n");
	struct error error;
	OWNED(topology) *topology = run_config_open_topology(config, &error);

	assert_int_equal(topology->link_at[0].rate_bps, 3000000000);
	assert_int_equal(topology->link_at[0].delay_ps, 9000);
}

UNIT_TEST(unreachable_hosts_are_refused_with_their_line)
{
	OWNED(run_config) *config = parse("weft: run/1\nclock: real\ntopology:\n"
					  "  switches: [{name: a, ports: 2}, {name: b, ports: 2}]\n"
					  "  hosts: [{name: x}, {name: y}]\n"
					  "  links: [{a: a:0, b: x:0}, {a: y:0, b: b:1}]\n");
	struct error error;

	assert_null(run_config_open_topology(config, &error));
	assert_int_equal(errno, EINVAL);
	assert_string_equal(error.text,
		"r.yaml:5: host y cannot be reached from host x in line 5: no links lead from "
		"switch b to switch a");
}

UNIT_TEST(wormhole_switching_refuses_rates_that_it_would_change)
{
	static const struct {
		const char *rate, *switching, *message;
	} cases[] = {
		{"900Gbps", "wormhole", NULL},
		{"1600Gbps", "wormhole", NULL},
		{"8000Gbps", "wormhole", NULL},
		{"2880Gbps", "wormhole",
			"ring:switches=3,rate=2880Gbps: the link from h0 to s0 has 2880Gbps; "
			"wormhole switching requires whole picoseconds per byte, and the "
			"nearest such rate is 2666666666667bps"},
		{"100000Gbps", "cut-through", NULL},
	};

	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct error error = {""};
		OWNED(topology) *topology;
		OWNED(run_config) *config;
		char text[256];

		snprintf(text, sizeof(text),
			"weft: run/1\nclock: virtual\ntopology: \"ring:switches=3,rate=%s\"\n"
			"switch: {switching: %s}\ntraffic: [{pattern: uniform, load: 10%%}]\n",
			cases[i].rate, cases[i].switching);
		config = parse(text);
		topology = run_config_open_topology(config, &error);
		assert_string_equal(error.text, cases[i].message != NULL ? cases[i].message : "");
	}
}

UNIT_TEST(a_topology_that_is_not_there_is_named_with_its_run_file)
{
	OWNED(run_config) *config =
		parse("weft: run/1\nclock: real\ntopology: /nonexist/net.yaml\n");
	struct error error;

	assert_null(run_config_open_topology(config, &error));
	assert_int_equal(errno, ENOENT);
	assert_string_equal(
		error.text, "r.yaml:3:11: topology: /nonexist/net.yaml: No such file or directory");
}

UNIT_TEST(the_quick_start_is_supported)
{
	struct error error = {""};
	OWNED(run_config) *config =
		run_config_load(SOURCE_ROOT "/topo/quickstart.yaml", NULL, 0, &error);
	OWNED(topology) *topology;
	OWNED(run_hosts) *hosts;

	assert_string_equal(error.text, "");
	assert_int_equal(run_config_supported(config, &error), 0);
	topology = run_config_open_topology(config, &error);
	hosts = run_config_resolve(config, topology, &error);
	assert_non_null(hosts);
	assert_int_equal(hosts->edge[0], 0);
	assert_int_equal(hosts->edge[1], 6);
}

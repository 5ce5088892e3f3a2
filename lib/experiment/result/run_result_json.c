/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Writes a run's result as JSON and its samples as CSV. */

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>

#include "base/file_text.h"
#include "base/quantity.h"
#include "run_fidelity.h"
#include "run_result.h"
#include "run_result_jobs.h"
#include "run_result_private.h"
#include "yaml/yaml_tree.h"

#define FORMAT "result/1"

static json_t *traffic_json(const struct run_traffic *traffic)
{
	return json_pack("{s:I,s:I,s:I,s:I,s:I,s:I}", "generated", (json_int_t)traffic->generated,
		"injected", (json_int_t)traffic->injected, "delivered",
		(json_int_t)traffic->delivered, "dropped", (json_int_t)traffic->dropped,
		"retransmitted", (json_int_t)traffic->retransmitted, "pending",
		(json_int_t)traffic->pending);
}

json_t *run_number_json(double value)
{
	return isnan(value) ? json_null() : json_real(value);
}

json_t *run_text_json(const char *text)
{
	return text[0] != '\0' ? json_string(text) : json_null();
}

/* Returns [ns, count] for each non-empty bucket. 'ns' is its upper bound, at most the maximum. */
static json_t *histogram_json(const struct histogram *histogram)
{
	json_t *steps = json_array();

	for (unsigned i = 0; i < HISTOGRAM_BUCKETS; i++) {
		uint64_t upper = histogram_upper(i);

		if (histogram->bucket[i] != 0)
			json_array_append_new(steps,
				json_pack("[I,I]",
					(json_int_t)(upper < histogram->max ? upper
									    : histogram->max),
					(json_int_t)histogram->bucket[i]));
	}
	return steps;
}

static json_t *latency_json(const struct histogram *histogram, double mean)
{
	if (histogram->count == 0) /* nothing was measured */
		return json_pack(
			"{s:n,s:n,s:n,s:n,s:n,s:n}", "mean", "stddev", "p50", "p99", "p999", "max");
	return json_pack("{s:f,s:f,s:I,s:I,s:I,s:I}", "mean",
		mean > 0 ? mean : histogram_mean(histogram), "stddev", histogram_stddev(histogram),
		"p50", (json_int_t)histogram_quantile(histogram, 0.5), "p99",
		(json_int_t)histogram_quantile(histogram, 0.99), "p999",
		(json_int_t)histogram_quantile(histogram, 0.999), "max",
		(json_int_t)histogram->max);
}

/* Returns the value, or null if nothing was measured. */
static json_t *measured_json(const struct histogram *histogram, uint64_t value)
{
	return histogram->count > 0 ? json_integer((json_int_t)value) : json_null();
}

json_t *run_result_latencies_json(const struct run_latencies *latencies, bool histograms)
{
	json_t *network = latency_json(latencies->network_ns, latencies->network_mean_ns);
	json_t *total = latency_json(latencies->total_ns, latencies->total_mean_ns);

	if (histograms) {
		json_object_set_new(network, "histogram", histogram_json(latencies->network_ns));
		json_object_set_new(total, "histogram", histogram_json(latencies->total_ns));
	}
	return json_pack("{s:o,s:o}", "network", network, "total", total);
}

/* Adds the latencies until release, the waits for release, and the latencies of edges. */
static void add_released(json_t *latencies, const struct run_result *result,
	const struct run_latencies *arrived, bool histograms)
{
	const struct order_wait *waited = &result->waited;
	const struct histogram *wait = &waited->waited_ns;
	bool some = waited->network_arrived_ns.count > 0 || wait->count > 0;
	struct histogram network, total;
	json_t *released;

	order_wait_release(&result->network_ns, &waited->network_arrived_ns,
		&waited->network_released_ns, &network);
	order_wait_release(
		&result->total_ns, &waited->total_arrived_ns, &waited->total_released_ns, &total);
	released = run_result_latencies_json(
		&(struct run_latencies){&network, &total, some ? 0 : arrived->network_mean_ns,
			some ? 0 : arrived->total_mean_ns},
		histograms);
	json_object_set(latencies, "network_released", json_object_get(released, "network"));
	json_object_set(latencies, "total_released", json_object_get(released, "total"));
	json_decref(released);
	json_object_set_new(latencies, "resequencer",
		json_pack("{s:I,s:o,s:o,s:o}", "frames", (json_int_t)wait->count, "mean",
			wait->count > 0 ? json_real(histogram_mean(wait)) : json_null(), "p99",
			measured_json(wait, histogram_quantile(wait, 0.99)), "max",
			measured_json(wait, wait->max)));
	if (result->edges.count > 0)
		json_object_set_new(latencies, "edges", latency_json(&result->edges.network_ns, 0));
}

static json_t *throughput_json(const struct run_result *result)
{
	const struct run_edges *edges = &result->edges;
	bool nothing = result->nothing[0] != '\0';
	json_t *json = json_pack("{s:f,s:o,s:o,s:o}", "offered", result->offered, "accepted",
		nothing ? json_null() : json_real(result->accepted), "released",
		nothing ? json_null() : json_real(result->released), "flits_per_ns_per_switch",
		nothing ? json_null() : json_real(result->flits_per_ns_per_switch));

	if (edges->count > 0)
		json_object_set_new(json, "edges",
			json_pack("{s:f,s:f,s:I,s:I}", "offered", edges->offered, "accepted",
				edges->accepted, "bytes_sent",
				(json_int_t)run_result_counter(result, "tap_bytes_sent"),
				"bytes_received",
				(json_int_t)run_result_counter(result, "tap_bytes_delivered")));
	return json;
}

json_t *run_sample_json(const struct run_sample *sample, bool controlled, bool untimed)
{
	json_t *latency = untimed ? json_null() : run_number_json(sample->latency_ns);
	json_t *entry =
		json_pack("{s:I,s:f,s:f,s:f,s:o,s:o,s:I,s:I,s:I}", "t_ns", (json_int_t)sample->t_ns,
			"accepted", sample->accepted, "released", sample->released, "edges",
			sample->edges, "latency_ns", latency, "released_latency_ns",
			untimed ? json_null() : run_number_json(sample->released_latency_ns),
			"adapted", (json_int_t)sample->adapted, "arn", (json_int_t)sample->arn,
			"itb", (json_int_t)sample->itb);

	if (controlled)
		json_object_update_new(
			entry, json_pack("{s:f,s:f,s:f}", "paths", sample->paths, "waiting_ns",
				       sample->waiting_ns, "ccti", sample->ccti));
	return entry;
}

static json_t *series_json(const struct run_result *result)
{
	bool untimed = result->clocks_differ && result->clocks.untimed > 0;
	json_t *series = json_array();

	for (unsigned i = 0; i < result->samples && !run_result_is_stopped(result); i++)
		json_array_append_new(
			series, run_sample_json(&result->sample[i], result->controlled, untimed));
	return series;
}

static json_t *switches_json(const struct run_result *result)
{
	json_t *switches = json_array();

	for (unsigned i = 0; i < result->switch_count; i++)
		json_array_append_new(
			switches, json_pack("{s:s,s:f,s:I}", "switch", result->sw[i].name,
					  "waiting_ns", result->sw[i].waiting_ns, "packets",
					  (json_int_t)result->sw[i].packets));
	return switches;
}

static json_t *links_json(const struct run_result *result)
{
	json_t *links = json_array();

	for (unsigned i = 0; i < result->links && !run_result_is_stopped(result); i++) {
		const struct run_link *link = &result->link[i];
		json_t *entry = json_pack("{s:s,s:s,s:f,s:f,s:I}", "from", link->from, "to",
			link->to, "utilisation", link->utilisation, "blocked", link->blocked,
			"stalls", (json_int_t)link->stalls);

		if (!result->fingerprinted)
			json_object_set_new(entry, "late_ns", run_fidelity_late_json(&link->late));
		if (result->link_series.ways > 0)
			json_object_set_new(entry, "series",
				run_link_series_json(&result->link_series, link->way));
		json_array_append_new(links, entry);
	}
	return links;
}

static json_t *hosts_json(const struct run_result *result)
{
	json_t *hosts = json_array();

	for (unsigned i = 0; i < result->host_count; i++) {
		const struct run_host *host = &result->host[i];

		json_array_append_new(hosts,
			json_pack("{s:s,s:I,s:I,s:I,s:I,s:I,s:I}", "host", host->name, "injected",
				(json_int_t)host->injected, "waiting", (json_int_t)host->waiting,
				"itb_absorbed", (json_int_t)host->absorbed, "itb_discarded",
				(json_int_t)host->discarded, "itb_waiting",
				(json_int_t)host->in_transit, "itb_pool_peak_bytes",
				(json_int_t)host->pool_peak_bytes));
	}
	return hosts;
}

json_t *run_result_counters_json(const struct run_result *result)
{
	json_t *counters = json_object();

	for (unsigned i = 0; i < result->counters; i++)
		json_object_set_new(counters, result->counter[i].name,
			json_integer((json_int_t)result->counter[i].value));
	return counters;
}

static json_t *checks_json(const struct run_result *result)
{
	json_t *cycle = json_array();
	json_t *checks = json_pack("{s:I,s:I,s:I,s:b}", "lost", (json_int_t)result->lost,
		"duplicated", (json_int_t)result->duplicated, "out_of_order",
		(json_int_t)result->out_of_order, "deadlock", result->deadlock);

	for (unsigned i = 0; i < result->cycles; i++)
		json_array_append_new(cycle, json_string(result->cycle[i].from));
	if (result->cycles > 0) {
		json_object_set(checks, "cycle", cycle);
		json_object_set_new(checks, "cycle_channels", json_integer(result->channels));
	}
	json_decref(cycle);
	return checks;
}

static json_t *workers_json(const struct run_result *result)
{
	json_t *workers = json_array();

	for (unsigned i = 0; i < result->wall.workers; i++) {
		const struct run_worker *worker = &result->wall.worker[i];
		double seconds = result->wall.seconds;

		json_array_append_new(workers,
			json_pack("{s:i,s:I,s:I,s:I,s:I,s:f}", "thread", (int)worker->thread,
				"events", (json_int_t)worker->events, "rounds",
				(json_int_t)worker->rounds, "helped", (json_int_t)worker->helped,
				"crossed", (json_int_t)worker->crossed, "waiting",
				seconds > 0 ? worker->waiting / seconds : 0));
	}
	return workers;
}

#define COMMAND_MAX (1u << 20)

/* Returns the words of this process's command line, each of which ends with a zero byte. Words that
 * are not UTF-8 are omitted, because JSON cannot contain them. */
static json_t *command_json(void)
{
	json_t *words = json_array();
	size_t length = 0;
	char *text = file_text_read("/proc/self/cmdline", COMMAND_MAX, &length, NULL);

	for (size_t at = 0; text != NULL && at < length; at += strlen(text + at) + 1)
		json_array_append_new(words, json_string(text + at));
	free(text);
	return words;
}

static json_t *time_json(time_t written)
{
	struct tm utc;
	char text[32];

	if (written == 0 || gmtime_r(&written, &utc) == NULL ||
		strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &utc) == 0)
		return json_null();
	return json_string(text);
}

/* Adds the origin of a result to an object: "version" of Weft, "command" (the words with which this
 * process was started; empty if unknown), "host" (the name of the machine), and "written" (a UTC
 * time, ISO 8601). All of these may differ between runs with equal results. */
static void provenance_add(json_t *object, time_t written)
{
	struct utsname system;

	json_object_set_new(object, "version", json_string(WEFT_VERSION));
	json_object_set_new(object, "command", command_json());
	json_object_set_new(
		object, "host", uname(&system) == 0 ? json_string(system.nodename) : json_null());
	json_object_set_new(object, "written", time_json(written));
}

static json_t *wall_json(const struct run_result *result)
{
	json_t *wall = json_pack("{s:f,s:I,s:f,s:I}", "seconds", result->wall.seconds,
		"packet_hops", (json_int_t)result->wall.packet_hops, "packet_hops_per_second",
		result->wall.packet_hops_per_second, "peak_rss_bytes",
		(json_int_t)result->wall.peak_rss_bytes);

	if (wall != NULL && !result->fingerprinted)
		run_fidelity_add(wall, result);
	if (wall != NULL && result->wall.workers > 0) {
		json_object_set_new(wall, "workers", workers_json(result));
		json_object_set_new(wall, "threads", json_integer(result->wall.threads));
		json_object_set_new(wall, "critical_events",
			json_integer((json_int_t)result->wall.critical_events));
	}
	if (wall != NULL)
		provenance_add(wall, result->wall.written);
	return wall;
}

static json_t *clocks_json(const struct run_result *result)
{
	const struct run_clocks *clocks = &result->clocks;
	json_t *json =
		json_pack("{s:n,s:n,s:I,s:I,s:I}", "bound_ns", "mean_bound_ns", "frames_timed",
			(json_int_t)clocks->timed, "frames_untimed", (json_int_t)clocks->untimed,
			"steps", (json_int_t)run_result_counter(result, "host_clock_steps"));

	if (json == NULL || clocks->timed == 0)
		return json;
	json_object_set_new(json, "bound_ns", json_integer((json_int_t)clocks->bound_ns));
	json_object_set_new(json, "mean_bound_ns",
		json_real((double)clocks->bounds_ns / (double)clocks->timed));
	return json;
}

static json_t *warnings_json(const struct run_result *result)
{
	json_t *warnings = json_array();

	for (unsigned i = 0; i < result->warnings; i++)
		json_array_append_new(warnings, json_string(result->warning[i].text));
	return warnings;
}

static json_t *until_json(const struct run_result *result)
{
	struct run_until until = run_result_until(result);

	return json_pack("{s:s,s:f,s:o,s:b}", "of", run_until_value_name(result->until.of), "asked",
		(double)result->until.interval_ppm / QUANTITY_WHOLE_PPM, "interval",
		run_number_json(until.interval), "reached", until.reached);
}

static void add_rest(json_t *root, const struct run_result *result, bool histograms)
{
	struct run_verdict saturated = run_result_is_saturated(result);
	struct run_verdict steady = run_result_is_steady(result);
	char fingerprint[32];

	snprintf(fingerprint, sizeof(fingerprint), "%016" PRIx64, result->fingerprint);
	json_object_set_new(root, "measured_ns",
		json_pack("{s:I,s:I}", "from", (json_int_t)result->from_ns, "to",
			(json_int_t)result->to_ns));
	json_object_set_new(root, "buffer",
		json_pack("{s:i,s:i}", "vcs", (int)result->vcs, "frames_per_vc",
			(int)result->vc_frames));
	if (result->clocks_differ)
		json_object_set_new(root, "clocks", clocks_json(result));
	if (!result->fingerprinted)
		json_object_set_new(root, "fidelity", run_fidelity_json(result));
	json_object_set_new(root, "traffic", run_result_entries_json(result, histograms));
	json_object_set_new(
		root, "measured_messages", json_integer((json_int_t)result->total_ns.count));
	json_object_set_new(root, "nothing_measured", run_text_json(result->nothing));
	json_object_set_new(root, "saturated", run_verdict_json(saturated));
	json_object_set_new(root, "saturated_needs", run_verdict_needs_json(saturated));
	json_object_set_new(root, "steady", run_verdict_json(steady));
	json_object_set_new(root, "steady_needs", run_verdict_needs_json(steady));
	if (result->until.interval_ppm > 0)
		json_object_set_new(root, "until", until_json(result));
	if (result->links > 0)
		json_object_set_new(root, "links", links_json(result));
	if (result->switch_count > 0)
		json_object_set_new(root, "switches", switches_json(result));
	if (result->host_count > 0)
		json_object_set_new(root, "hosts", hosts_json(result));
	if (result->events > 0)
		json_object_set_new(root, "events", run_result_events_json(result));
	if (result->flows > 0)
		json_object_set_new(root, "flows", run_result_flows_json(result));
	if (result->ranks != NULL)
		json_object_set_new(root, "schedule", run_result_ranks_json(result));
	if (result->jobs != NULL)
		json_object_set_new(root, "jobs", run_result_jobs_json(result));
	json_object_set_new(root, "checks", checks_json(result));
	json_object_set_new(root, "starved", run_result_starved_json(result));
	if (result->pools > 0)
		json_object_set_new(root, "filling", run_result_pools_json(result));
	json_object_set_new(root, "counters", run_result_counters_json(result));
	json_object_set_new(root, "fingerprint",
		result->fingerprinted ? json_string(fingerprint) : json_null());
	json_object_set_new(root, "incomplete", json_boolean(result->incomplete));
	json_object_set_new(root, "incomplete_reasons", run_result_reasons_json(result));
	json_object_set_new(root, "warnings", warnings_json(result));
	json_object_set_new(root, "wall", wall_json(result));
}

/* On the virtual clock, every arrival is observed exactly when it is due. */
static json_t *due_json(const struct run_result *result, const struct run_latencies *observed)
{
	const struct run_latencies due = {
		.network_ns = &result->network_due_ns, .total_ns = &result->total_due_ns};
	bool all = result->network_due_ns.count == 0;

	return run_result_latencies_json(all ? observed : &due, false);
}

json_t *run_result_json(const struct run_result *result, json_t *config)
{
	const struct run_latencies latencies = {.network_ns = &result->network_ns,
		.total_ns = &result->total_ns,
		.network_mean_ns = result->network_mean_ns,
		.total_mean_ns = result->total_mean_ns};
	bool histograms =
		json_is_true(json_object_get(json_object_get(config, "measure"), "latencies"));
	json_t *times = run_result_latencies_json(&latencies, histograms);
	json_t *root = json_pack("{s:s,s:o,s:I,s:{s:s,s:I,s:I},s:o,s:o,s:o,s:o,s:o,s:o}", "weft",
		FORMAT, "config", config != NULL ? config : json_object(), "seed",
		(json_int_t)result->seed, "topology", "name", result->topology, "hosts",
		(json_int_t)result->hosts, "switches", (json_int_t)result->switches, "packets",
		traffic_json(&result->packets), "messages", traffic_json(&result->messages),
		"throughput", throughput_json(result), "latency_ns", times, "latency_due_ns",
		due_json(result, &latencies), "series", series_json(result));

	if (root != NULL && result->host_ports != result->hosts)
		json_object_set_new(json_object_get(root, "topology"), "host_ports",
			json_integer(result->host_ports));
	if (root != NULL) {
		json_object_set(root, "dilation", json_object_get(config, "dilation"));
		add_released(times, result, &latencies, histograms);
		add_rest(root, result, histograms);
	}
	if (!run_result_is_stopped(result))
		return root;
	json_decref(root);
	return NULL;
}

struct dump {
	const struct run_result *result;
	FILE *out;
	size_t used;
	char text[16384];
};

static int flush(struct dump *dump)
{
	size_t used = dump->used;

	dump->used = 0;
	if (run_result_is_stopped(dump->result))
		return -1;
	return fwrite(dump->text, 1, used, dump->out) == used ? 0 : -1;
}

/* Buffers the output: jansson writes pieces of a few bytes, each of which would lock the stream. */
static int dump_piece(const char *text, size_t bytes, void *ctx)
{
	struct dump *dump = ctx;

	while (bytes > sizeof(dump->text) - dump->used) {
		size_t part = sizeof(dump->text) - dump->used;

		memcpy(dump->text + dump->used, text, part);
		dump->used += part;
		text += part;
		bytes -= part;
		if (flush(dump) < 0)
			return -1;
	}
	memcpy(dump->text + dump->used, text, bytes);
	dump->used += bytes;
	return 0;
}

int run_result_dump(const struct run_result *result, const json_t *document, FILE *out)
{
	struct dump dump = {.result = result, .out = out};

	if (json_dump_callback(document, dump_piece, &dump, JSON_INDENT(2)) == 0 &&
		flush(&dump) == 0 && fputc('\n', out) != EOF)
		return 0;
	return run_result_is_stopped(result) ? -EINTR : -EIO;
}

/* Prints nothing for NAN. */
static void print_number(double value, FILE *out)
{
	if (!isnan(value))
		fprintf(out, "%.1f", value);
}

void run_result_write_csv(const struct run_result *result, FILE *out)
{
	fprintf(out,
		"t_ns,accepted,latency_ns,adapted,arn,itb,released,released_latency_ns,edges%s\n",
		result->controlled ? ",paths,waiting_ns,ccti" : "");
	for (unsigned i = 0; i < result->samples && !run_result_is_stopped(result); i++) {
		const struct run_sample *sample = &result->sample[i];

		fprintf(out, "%" PRIu64 ",%.6f,", sample->t_ns, sample->accepted);
		print_number(sample->latency_ns, out);
		fprintf(out, ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%.6f,", sample->adapted,
			sample->arn, sample->itb, sample->released);
		print_number(sample->released_latency_ns, out);
		fprintf(out, ",%.6f", sample->edges);
		if (result->controlled)
			fprintf(out, ",%.3f,%.1f,%.3f", sample->paths, sample->waiting_ns,
				sample->ccti);
		fputc('\n', out);
	}
}

static json_t *scalar_json(const char *text)
{
	char *end;
	long long value;

	if (strcmp(text, "true") == 0 || strcmp(text, "false") == 0)
		return json_boolean(text[0] == 't');
	errno = 0;
	value = strtoll(text, &end, 10);
	if (*text != '\0' && *end == '\0' && errno == 0)
		return json_integer(value);
	return json_string(text);
}

static json_t *node_json(const struct yaml_tree_node *node)
{
	json_t *json;

	if (node->kind == YAML_TREE_SCALAR)
		return scalar_json(node->text);
	json = node->kind == YAML_TREE_MAP ? json_object() : json_array();
	for (const struct yaml_tree_node *child = node->first; child != NULL; child = child->next) {
		if (node->kind == YAML_TREE_MAP)
			json_object_set_new(json, child->key, node_json(child));
		else
			json_array_append_new(json, node_json(child));
	}
	return json;
}

json_t *run_config_json(const struct run_config *config)
{
	struct yaml_tree *tree = NULL;
	json_t *json = NULL;
	size_t length = 0;
	char *text = NULL;
	FILE *out = open_memstream(&text, &length);

	if (out == NULL)
		return NULL;
	run_config_explain(config, out);
	if (fclose(out) == 0)
		tree = yaml_tree_parse(text, length, "the configuration", NULL);
	if (tree != NULL)
		json = node_json(yaml_tree_root(tree));
	yaml_tree_destroy(tree);
	free(text);
	return json;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "trial.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "saturation.h"
#include "topology.h"

/* A search with at least this many messages per run begins with runs of a tenth of them: most
 * points are far from its end, and a short run is exact enough for those. */
#define SCOUTED_FROM 100000u
#define SCOUT_SHARE  10u
#define NS_PER_MS    1e6
#define NS_PER_US    1e3
/* Of a run whose mean is to settle: 100 messages each, as in the thesis, of 200,000. */
#define SETTLING_SAMPLES 2000u
#define PPM              1e6

/* Loads of a curve, in steps of the search below saturation, and one above it. */
static const int curve_steps[] = {-90, -60, -42, -30, -22, -15, -10, -6, -3, 2};
#define CURVE_STEPS (sizeof(curve_steps) / sizeof(curve_steps[0]))

static const struct experiment_choice *case_of(const struct trial *trial)
{
	return &trial->experiment->cases.at[trial->case_at];
}

static const struct experiment_choice *network_of(const struct trial *trial)
{
	return &trial->experiment->networks.at[trial->network];
}

static const struct experiment_choice *algorithm_of(const struct trial *trial)
{
	return &trial->experiment->algorithms.at[trial->algorithm];
}

static int add_choice(
	struct run_sets *sets, const struct experiment_choice *choice, unsigned instance)
{
	int result = 0;

	for (unsigned i = 0; i < choice->sets && result == 0; i++)
		result = run_sets_own(sets, experiment_expand(choice->set[i], instance));
	return result;
}

/* Time in which the hosts generate so many messages, in ns. */
static double time_of(const struct trial *trial, uint64_t messages)
{
	double per_s = trial->hosts * trial->load * trial->bytes_per_s / trial->message_bytes;

	return ceil(1e9 * (double)messages / per_s);
}

static int add_time(struct run_sets *sets, const char *key, double ns)
{
	return run_sets_add(sets, "%s=%.0fns", key, ns);
}

static int add_load(struct run_sets *sets, unsigned entry, double load)
{
	return run_sets_add(sets, "traffic.%u.load=%.4f%%", entry, 100 * load);
}

/* Sets this load for all sources, for as long as the run file says. */
static int add_loads(struct run_sets *sets, const struct trial *trial)
{
	int result = 0;

	for (unsigned i = 0; i < trial->entries && result == 0; i++)
		result = add_load(sets, i, trial->load);
	return result;
}

static int add_schedule(struct run_sets *sets, const struct trial *trial)
{
	const char *path = trial->experiment->schedule.path;

	return path[0] == '\0' ? 0 : run_sets_add(sets, "traffic.0.file=%s", path);
}

/* A load, and as much time as so many messages take. */
static int add_messages(struct run_sets *sets, const struct trial *trial)
{
	unsigned share = trial->scouting ? SCOUT_SHARE : 1;
	unsigned samples = trial->experiment->measure == EXPERIMENT_SETTLING ? SETTLING_SAMPLES : 1;
	double warmup = time_of(trial, trial->experiment->warmup_messages / share);
	double duration = warmup + fmax(time_of(trial, trial->experiment->messages / share), 1000);
	int result = add_load(sets, 0, trial->load);

	if (result == 0)
		result = add_time(sets, "measure.warmup", warmup);
	if (result == 0)
		result = add_time(sets, "measure.duration", duration);
	return result == 0 ? add_time(sets, "measure.sample", fmax(ceil(duration / samples), 1000))
			   : result;
}

static int add_point(struct run_sets *sets, const struct trial *trial)
{
	switch (trial->experiment->measure) {
	case EXPERIMENT_EFFICIENCY:
		return 0;
	case EXPERIMENT_THROUGHPUT:
		return add_loads(sets, trial);
	default:
		return experiment_measures_run(trial->experiment->measure)
			       ? add_schedule(sets, trial)
			       : add_messages(sets, trial);
	}
}

static int add_choices(struct run_sets *sets, const struct trial *trial)
{
	unsigned instance = trial->copy + 1;
	int result = add_choice(sets, network_of(trial), instance);

	if (result == 0)
		result = add_choice(sets, case_of(trial), instance);
	if (result == 0)
		result = add_choice(sets, algorithm_of(trial), instance);
	if (result == 0 && trial->experiment->reduced)
		result = add_choice(sets, &trial->experiment->quick.also, instance);
	return result;
}

int trial_sets_init(struct run_sets *sets, const struct trial *trial)
{
	int result;

	memset(sets, 0, sizeof(*sets));
	result = add_choices(sets, trial);
	return result == 0 ? add_point(sets, trial) : result;
}

static int check_entries(
	const struct trial *trial, const struct run_config *config, struct fault *fault)
{
	if (experiment_measures_run(trial->experiment->measure) ||
		(trial->entries > 0 && trial->entries <= TRIAL_ENTRIES_MAX))
		return 0;
	return fault_set(fault, EINVAL, "%s: expected 1 to %u entries of traffic", config->origin,
		TRIAL_ENTRIES_MAX);
}

/* Reads the network and its traffic from the run file. */
static int read_network(struct trial *trial, const struct run_config *config, struct fault *fault)
{
	struct topology *topology = run_config_open_topology(config, fault);
	int result = 0;

	if (topology == NULL)
		return -EINVAL;
	if (trial->experiment->measure == EXPERIMENT_EFFICIENCY)
		result = transient_begin(&trial->transient, config, topology, fault);
	trial->hosts = topology->hosts;
	trial->switches = topology->switches;
	trial->bytes_per_s = (double)topology->link_at[topology->host_link[0]].rate_bps / 8;
	topology_destroy(topology);
	trial->entries = config->traffic.count;
	if (experiment_wants_all(trial->experiment))
		return result == 0 ? check_entries(trial, config, fault) : result;
	if (config->traffic.count != 1)
		return fault_set(
			fault, EINVAL, "%s: expected one entry of traffic", config->origin);
	trial->message_bytes = run_config_mean_bytes(&config->traffic.at[0]);
	return 0;
}

/* The load of the first point. */
static double first_load(const struct trial *trial)
{
	const struct experiment_choice *chosen = case_of(trial);

	if (trial->experiment->measure == EXPERIMENT_THROUGHPUT)
		return 1.0 / trial->experiment->loads;
	if (chosen->traffic > 0)
		return chosen->traffic * trial->switches /
		       (trial->hosts * trial->bytes_per_s / 1e9);
	if (chosen->load_ppm != 0)
		return chosen->load_ppm / PPM;
	return (network_of(trial)->load_ppm != 0 ? network_of(trial)->load_ppm
						 : trial->experiment->load_ppm) /
	       PPM;
}

int trial_init(struct trial *trial, const struct experiment *experiment, unsigned case_at,
	unsigned network, unsigned copy, unsigned algorithm, struct fault *fault)
{
	struct run_config *config = NULL;
	struct run_sets sets;
	int result;

	*trial = (struct trial){.experiment = experiment,
		.case_at = case_at,
		.network = network,
		.copy = copy,
		.algorithm = algorithm,
		.value = NAN};
	memset(&sets, 0, sizeof(sets));
	result = add_choices(&sets, trial);
	if (result == 0)
		config = run_config_load(experiment->run_file, sets.set, sets.count, fault);
	else
		fault_set(fault, ENOMEM, "no memory");
	if (config != NULL)
		result = run_config_supported(config, fault);
	else if (result == 0)
		result = -EINVAL;
	if (result == 0)
		result = read_network(trial, config, fault);
	run_config_destroy(config);
	run_sets_fini(&sets);
	if (result < 0)
		return result;
	trial->scouting = experiment->measure == EXPERIMENT_SATURATION &&
			  experiment->messages >= SCOUTED_FROM;
	saturation_begin(&trial->search, first_load(trial),
		experiment->messages / (trial->scouting ? SCOUT_SHARE : 1));
	trial->load = experiment->measure == EXPERIMENT_SATURATION
			      ? saturation_load(trial->search.at)
			      : first_load(trial);
	return 0;
}

void trial_fini(struct trial *trial)
{
	free(trial->point);
	json_decref(trial->links);
	json_decref(trial->result);
	transient_fini(&trial->transient);
	settling_fini(&trial->settling);
	trial->point = NULL;
	trial->links = NULL;
	trial->result = NULL;
}

void trial_label(const struct trial *trial, char out[EXPERIMENT_TEXT])
{
	int used = snprintf(
		out, EXPERIMENT_TEXT, "%s, %s", algorithm_of(trial)->name, network_of(trial)->name);

	if (network_of(trial)->copies > 1)
		used += snprintf(
			out + used, EXPERIMENT_TEXT - (size_t)used, " %u", trial->copy + 1);
	if (case_of(trial)->name[0] != '\0')
		snprintf(out + used, EXPERIMENT_TEXT - (size_t)used, ", %s", case_of(trial)->name);
}

/* Continues a hash by a file's contents, its name between them and the last one's. */
static int hash_file(void *ctx, const char *path, struct fault *fault)
{
	uint64_t *hash = ctx;
	int result;

	*hash = content_hash(*hash, path, strlen(path) + 1);
	result = content_hash_file(hash, path);
	return result == 0 ? 0 : fault_set(fault, -result, "%s: %s", path, strerror(-result));
}

/* Continues a hash by the text of a configuration. */
static int hash_config(uint64_t *hash, const struct run_config *config, struct fault *fault)
{
	char *text = NULL;
	size_t length = 0;
	FILE *out = open_memstream(&text, &length);
	int result = -ENOMEM;

	if (out != NULL) {
		run_config_explain(config, out);
		result = fclose(out) == 0 ? 0 : -ENOMEM;
	}
	if (result == 0)
		*hash = content_hash(*hash, text, length);
	else
		fault_set(fault, ENOMEM, "no memory");
	free(text);
	return result;
}

uint64_t trial_key(const struct trial *trial, const struct run_sets *sets, uint64_t program,
	struct fault *fault)
{
	struct run_config *config =
		run_config_load(trial->experiment->run_file, sets->set, sets->count, fault);
	uint64_t key = content_hash(CONTENT_HASH_START, &program, sizeof(program));
	int result;

	if (config == NULL)
		return 0;
	result = hash_config(&key, config, fault);
	if (result == 0)
		result = run_files_each(config, hash_file, &key, fault);
	run_config_destroy(config);
	return result == 0 ? key : 0;
}

/* Of a schedule; NAN: it did not end. */
static double completion_ms(const json_t *counters)
{
	if (json_integer_value(json_object_get(counters, "goal_unfinished")) != 0)
		return NAN;
	return json_number_value(json_object_get(counters, "goal_completion_ns")) / NS_PER_MS;
}

/* The maximum of 'key' in a list of switches or of links between them; NAN: the run has none. */
static double max_in(const json_t *list, const char *key, bool links)
{
	double max = NAN;
	const json_t *entry;
	size_t i;

	json_array_foreach((json_t *)list, i, entry)
	{
		double value = json_number_value(json_object_get(entry, key));

		if (links && !trial_link_counts(entry))
			continue;
		if (isnan(max) || value > max)
			max = value;
	}
	return max;
}

/* Bursts and the pauses between them take a sample each, a burst the first. */
static double burst_latency_us(const json_t *series, bool first)
{
	double sum = 0;
	unsigned bursts = 0;

	for (size_t i = first ? 0 : 2; i < (first ? 1 : json_array_size(series)); i += 2) {
		const json_t *sample = json_array_get(series, i);

		sum += json_number_value(json_object_get(sample, "released_latency_ns"));
		bursts++;
	}
	return bursts > 0 ? sum / bursts / NS_PER_US : NAN;
}

/* The figure of a measure that is in lists of the result. */
static double figure_of(enum experiment_measure measure, const json_t *result)
{
	switch (measure) {
	case EXPERIMENT_WORST_SWITCH:
		return max_in(json_object_get(result, "switches"), "waiting_ns", false) / NS_PER_US;
	case EXPERIMENT_WORST_LINK:
		return max_in(json_object_get(result, "links"), "utilisation", true);
	case EXPERIMENT_FIRST_BURST:
	case EXPERIMENT_LATER_BURSTS:
		return burst_latency_us(
			json_object_get(result, "series"), measure == EXPERIMENT_FIRST_BURST);
	default:
		return NAN;
	}
}

/* Frames count when they are released in order, as in the published tables. */
static int read_point(struct trial_point *point, const json_t *result)
{
	const json_t *counters = json_object_get(result, "counters");
	json_int_t dropped = 0, discarded = 0, waiting = 0;
	int deadlock = 0, incomplete = 0;
	json_t *accepted, *traffic, *network, *total;

	/* jansson reads it without changing it and has no const for that. */
	if (json_unpack((json_t *)result,
		    "{s:{s:F,s:o,s:o},s:{s:{s:o},s:{s:o}},s:{s:I},s?{s?I,s?I},s:{s:b},s:b}",
		    "throughput", "offered", &point->offered, "released", &accepted,
		    "flits_per_ns_per_switch", &traffic, "latency_ns", "network_released", "mean",
		    &network, "total_released", "mean", &total, "messages", "dropped", &dropped,
		    "counters", "itb_discarded", &discarded, "host_messages_waiting_most", &waiting,
		    "checks", "deadlock", &deadlock, "incomplete", &incomplete) != 0)
		return -EINVAL;
	/* null (not measured) counts as 0. */
	point->accepted = json_number_value(accepted);
	point->traffic = json_number_value(traffic);
	point->network_ns = json_number_value(network);
	point->total_ns = json_number_value(total);
	point->completion_ms = completion_ms(counters);
	point->dropped = (uint64_t)(dropped + discarded);
	point->waiting = (uint64_t)waiting;
	point->deadlock = deadlock != 0;
	point->ended_early = incomplete != 0;
	if (point->ended_early)
		point->accepted = point->traffic = 0;
	return 0;
}

/* Starts the next point of the curve, if one is to be drawn; only of the first instance. */
static void continue_curve(struct trial *trial)
{
	trial->stage = TRIAL_DONE;
	while (trial->experiment->curves && trial->copy == 0 && trial->search.low >= 0 &&
		trial->curve_step < CURVE_STEPS) {
		int step = trial->search.low + curve_steps[trial->curve_step++];

		if (step < 0 || step > trial->search.last)
			continue;
		trial->load = saturation_load(step);
		trial->stage = TRIAL_CURVE;
		return;
	}
}

/* The latency of the messages that arrive is too great, or none arrive. */
static bool is_slow(const struct experiment *experiment, const struct trial_point *point)
{
	return point->deadlock ||
	       (experiment->latency_limit_ps > 0 &&
		       point->network_ns * PS_PER_NS > (double)experiment->latency_limit_ps);
}

bool trial_point_accepts_less(const struct trial *trial, const struct trial_point *point)
{
	return is_slow(trial->experiment, point) ||
	       accepts_less(point->offered, point->accepted, trial->experiment->messages);
}

static void search(struct trial *trial, const struct trial_point *point)
{
	saturation_take(&trial->search, point->offered,
		is_slow(trial->experiment, point) ? 0 : point->accepted, point->traffic);
	if (trial->search.done && trial->scouting) {
		saturation_verify(&trial->search, trial->experiment->messages);
		trial->scouting = false;
		trial->points = 0;
	}
	trial->load = saturation_load(trial->search.at);
	if (!trial->search.done)
		return;
	if (trial->search.low >= 0)
		trial->value = trial->search.traffic;
	continue_curve(trial);
}

/* The value of a measure of one point; NAN or 0 if a deadlock has ended the run. */
static double measured(enum experiment_measure measure, const struct trial_point *point)
{
	if (point->ended_early && measure != EXPERIMENT_EFFICIENCY &&
		measure != EXPERIMENT_THROUGHPUT)
		return NAN;
	switch (measure) {
	case EXPERIMENT_LATENCY:
	case EXPERIMENT_SETTLING:
		return point->network_ns > 0 ? point->network_ns : NAN; /* 0: none arrived */
	case EXPERIMENT_WAITING:
		return (double)point->waiting;
	case EXPERIMENT_COMPLETION:
		return point->completion_ms;
	case EXPERIMENT_TOTAL_LATENCY:
		return point->total_ns > 0 ? point->total_ns / NS_PER_US : NAN;
	case EXPERIMENT_LATENCY_TIME:
		return point->network_ns > 0 ? point->network_ns / NS_PER_US : NAN;
	case EXPERIMENT_WORST_SWITCH:
	case EXPERIMENT_WORST_LINK:
	case EXPERIMENT_FIRST_BURST:
	case EXPERIMENT_LATER_BURSTS:
		return point->figure;
	case EXPERIMENT_EFFICIENCY:
	case EXPERIMENT_THROUGHPUT:
	case EXPERIMENT_ACCEPTED:
		return point->accepted;
	default:
		return point->traffic;
	}
}

/* Whether there is another load. */
static bool go_on_with_loads(struct trial *trial)
{
	unsigned loads = trial->experiment->loads;

	if (trial->experiment->measure != EXPERIMENT_THROUGHPUT || trial->points >= loads)
		return false;
	trial->load = (trial->points + 1.0) / loads;
	return true;
}

int trial_take(struct trial *trial, const json_t *result)
{
	struct trial_point point = {.load = trial->load};
	struct trial_point *more;
	int answer = read_point(&point, result);

	point.figure = figure_of(trial->experiment->measure, result);
	if (answer == 0 && trial->experiment->measure == EXPERIMENT_SETTLING)
		answer = settling_take(&trial->settling, result);
	if (answer == 0 && trial->experiment->measure == EXPERIMENT_EFFICIENCY)
		answer = transient_take(&trial->transient, result);
	if (answer < 0)
		return answer;
	more = realloc(trial->point, (trial->points + 1) * sizeof(point));
	if (more == NULL)
		return -ENOMEM;
	trial->point = more;
	trial->point[trial->points++] = point;
	if (trial->stage == TRIAL_CURVE) {
		continue_curve(trial);
		return 0;
	}
	if (trial->experiment->measure == EXPERIMENT_SATURATION) {
		search(trial, &point);
		return 0;
	}
	trial->value = measured(trial->experiment->measure, &point);
	if (go_on_with_loads(trial))
		return 0;
	if (experiment_measures_links(trial->experiment->measure) && !point.ended_early)
		trial->links = json_deep_copy(json_object_get(result, "links"));
	if (experiment_measures_run(trial->experiment->measure) && trial->result == NULL)
		trial->result = json_deep_copy(result);
	trial->stage = TRIAL_DONE;
	return 0;
}

bool trial_link_counts(const json_t *link)
{
	const char *from = json_string_value(json_object_get(link, "from"));
	const char *to = json_string_value(json_object_get(link, "to"));

	return from != NULL && to != NULL && from[0] == 's' && to[0] == 's';
}

double trial_link_value(const struct trial *trial, const json_t *link)
{
	bool blocked = trial->experiment->measure == EXPERIMENT_BLOCKED;

	return json_number_value(json_object_get(link, blocked ? "blocked" : "utilisation"));
}

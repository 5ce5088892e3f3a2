/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "wormhole_fabric.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/quantity.h"
#include "experiment/workload/run_source.h"
#include "wormhole_fabric_private.h"

/* Intervals in cycles: deadlock checks and progress reports; checks of the stop flag. */
#define CHECK_EACH (1u << 16)
#define STOP_EACH  (1u << 11)

struct run_loop {
	struct wormhole_fabric *fabric;
	const atomic_bool *stop;
	wormhole_progress_fn progress;
	void *ctx;
	bool stopped;
	uint64_t sample_cycles, sample_at; /* next sample; 0: measuring has not started */
};

static uint32_t cycles_of(weft_time time_ps, weft_time cycle_ps)
{
	return (uint32_t)((time_ps + cycle_ps - 1) / cycle_ps);
}

/* Derives the parameters from the rate shared by all links. */
static struct wormhole_parameters parameters_of(
	const struct topology *topology, const struct run_config *run)
{
	struct wormhole_parameters parameters = WORMHOLE_PARAMETERS_DEFAULT;
	weft_time cycle_ps = ps_per_byte(topology->links > 0 ? topology->link_at[0].rate_bps : 0);

	if (cycle_ps == 0)
		return parameters;
	parameters.cycle_ps = cycle_ps;
	parameters.routing_cycles = cycles_of(run->sw.routing_delay_ps, cycle_ps);
	parameters.routed_before_grant = run->sw.routing_start == RUN_ROUTING_STARTS_HEADER;
	parameters.detection_cycles = cycles_of(run->nic.itb.detection_ps, cycle_ps);
	parameters.programming_cycles = cycles_of(run->nic.itb.programming_ps, cycle_ps);
	parameters.itb_pool_bytes = run->nic.itb.pool_bytes;
	parameters.marks = (struct stop_go_marks){
		.slack = (uint32_t)run->sw.buffer_bytes,
		.stop = run->sw.stop_bytes,
		.go = run->sw.go_bytes,
	};
	return parameters;
}

/* Checks all routes, which may come from a file: the network itself does not check them. */
static int check_routes(const struct wormhole_fabric *fabric, struct error *error)
{
	const struct route_set *set = fabric->routes.set;
	uint32_t hosts = fabric->topology->hosts;
	const uint8_t *route;
	unsigned length;

	for (uint32_t from = 0; from < hosts; from++)
		for (uint32_t to = 0; to < hosts; to++)
			for (unsigned i = 0; from != to && (route = route_set_get(set, from, to, i,
								    &length)) != NULL;
				i++)
				if (wormhole_net_check_route(
					    fabric->net, from, to, route, length, error) < 0)
					return -EINVAL;
	return 0;
}

static int refuse_sample(const struct wormhole_fabric *fabric, struct error *error)
{
	char sample[QUANTITY_TEXT], cycle[QUANTITY_TEXT];

	quantity_format(QUANTITY_TIME, fabric->run->measure.sample_ps, sample);
	quantity_format(QUANTITY_TIME, fabric->cycle_ps, cycle);
	return error_set(error, EINVAL,
		"%s: measure.sample: %s is less than a cycle; use %s or more, the time of a byte "
		"on a link",
		fabric->run->origin, sample, cycle);
}

/* Refuses rates and delays from a topology file: they replace the defaults of wormhole switching,
 * for which the buffer thresholds were chosen. */
static int refuse_links(const struct wormhole_fabric *fabric, struct error *error)
{
	const struct topology_link *link = &fabric->topology->link_at[0];
	const struct topology_defaults *own = &fabric->run->link;
	char rate[QUANTITY_TEXT], delay[QUANTITY_TEXT];
	const struct error why = *error;

	if (fabric->topology->links == 0 || strncmp(why.text, "link ", 5) != 0 ||
		(link->rate_bps == own->rate_bps && link->delay_ps == own->delay_ps))
		return -EINVAL;
	quantity_format(QUANTITY_RATE, own->rate_bps, rate);
	quantity_format(QUANTITY_TIME, own->delay_ps, delay);
	return run_config_refuse(fabric->run, &fabric->run->topology.place, error,
		"topology: sets rates or delays, which replace those in 'link', %s and %s: %s",
		rate, delay, why.text);
}

static int open_entries(struct wormhole_fabric *fabric, struct error *error)
{
	fabric->entry = calloc((size_t)fabric->traffic->entries + 1, sizeof(*fabric->entry));
	if (fabric->entry == NULL ||
		measure_links_open(&fabric->window.links, fabric->topology, fabric->run,
			wormhole_read_link, fabric) < 0 ||
		measure_window_add_entries(
			&fabric->window, fabric->topology, fabric->run, fabric->traffic, NULL) < 0)
		return error_set(error, ENOMEM, "not enough memory for measurements");
	return 0;
}

static int build(struct wormhole_fabric *fabric, struct error *error)
{
	const struct wormhole_parameters parameters = parameters_of(fabric->topology, fabric->run);
	size_t hosts = fabric->topology->hosts;
	int result;

	if (wormhole_net_check_links(fabric->topology, &parameters, error) < 0)
		return refuse_links(fabric, error);
	fabric->cycle_ps = parameters.cycle_ps;
	measure_window_open(&fabric->window, fabric->topology, fabric->cycle_ps);
	if (fabric->run->measure.sample_ps < fabric->cycle_ps)
		return refuse_sample(fabric, error);
	fabric->traffic = run_config_resolve(fabric->run, fabric->topology, error);
	if (fabric->traffic == NULL)
		return -EINVAL;
	result = open_entries(fabric, error);
	if (result == 0)
		result = run_source_check(fabric->run, fabric->traffic, error);
	if (result == 0)
		result = fabric_routes_compute(
			&fabric->routes, fabric->topology, fabric->run, error);
	if (result == 0)
		result = wormhole_create_sources(fabric, error);
	if (result < 0)
		return result;
	fabric->net = wormhole_net_create(
		fabric->topology, &parameters, &wormhole_fabric_ops, fabric, error);
	if (fabric->net == NULL)
		return -errno;
	fabric->newest = calloc(hosts * hosts + 1, sizeof(*fabric->newest));
	if (fabric->newest == NULL)
		return error_set(error, ENOMEM, "not enough memory for a wormhole fabric");
	return check_routes(fabric, error);
}

struct wormhole_fabric *wormhole_fabric_create(
	const struct topology *topology, const struct run_config *run, struct error *error)
{
	struct wormhole_fabric *fabric = calloc(1, sizeof(*fabric));
	int result;

	if (fabric == NULL) {
		error_set(error, ENOMEM, "not enough memory for a fabric");
		errno = ENOMEM;
		return NULL;
	}
	fabric->topology = topology;
	fabric->run = run;
	result = build(fabric, error);
	if (result == 0)
		return fabric;
	wormhole_fabric_destroy(fabric);
	errno = -result;
	return NULL;
}

void wormhole_fabric_destroy(struct wormhole_fabric *fabric)
{
	if (fabric == NULL)
		return;
	wormhole_net_destroy(fabric->net);
	wormhole_destroy_sources(fabric);
	fabric_routes_free(&fabric->routes);
	run_hosts_destroy(fabric->traffic);
	measure_window_close(&fabric->window);
	free(fabric->entry);
	free(fabric->newest);
	free(fabric);
}

void wormhole_fabric_stream(struct wormhole_fabric *fabric, struct run_stream *stream)
{
	fabric->window.stream = stream;
}

const struct wormhole_net *wormhole_fabric_net(const struct wormhole_fabric *fabric)
{
	return fabric->net;
}

static bool enough(const struct wormhole_fabric *fabric)
{
	const struct run_config_measure *measure = &fabric->run->measure;

	return fabric->known ||
	       (measure->messages > 0 &&
		       fabric->now.messages >= measure->warmup_messages + measure->messages);
}

static void report_progress(const struct run_loop *loop)
{
	const struct wormhole_fabric *fabric = loop->fabric;
	const struct run_config_measure *measure = &fabric->run->measure;
	uint64_t passed = wormhole_net_counters(fabric->net).channels_passed;

	if (loop->progress == NULL)
		return;
	if (measure->messages > 0)
		loop->progress(loop->ctx, fabric->now.messages,
			measure->warmup_messages + measure->messages, passed);
	else
		loop->progress(loop->ctx, wormhole_net_now(fabric->net) * fabric->cycle_ps,
			measure->duration_ps, passed);
}

static bool is_stopped(const struct run_loop *loop)
{
	return loop->stop != NULL && atomic_load_explicit(loop->stop, memory_order_relaxed);
}

/* Detects deadlock: without further events, messages in flight wait for each other. Part of the
 * network may also be stuck while the rest is moving. */
static void check_loop(struct run_loop *loop, bool alive)
{
	struct wormhole_fabric *fabric = loop->fabric;
	struct wormhole_counters count = wormhole_net_counters(fabric->net);

	loop->stopped = is_stopped(loop);
	if (wormhole_net_failed(fabric->net))
		fabric->failed = true;
	else if (!alive && wormhole_net_under_way(fabric->net) > 0)
		fabric->deadlock = true;
	else if (count.stops > count.goes)
		fabric->deadlock = wormhole_net_deadlock(fabric->net, NULL, 0) > 0;
	report_progress(loop);
}

/* Takes due samples. The first one ends one sample interval after measuring starts. */
static void take_samples(struct run_loop *loop, uint64_t now)
{
	struct wormhole_fabric *fabric = loop->fabric;

	if (!fabric->measuring || fabric->warming)
		return;
	if (loop->sample_at == 0)
		loop->sample_at =
			fabric->window.from.at_ps / fabric->cycle_ps + loop->sample_cycles;
	if (now < loop->sample_at || enough(fabric))
		return;
	wormhole_take_sample(fabric, now);
	loop->sample_at += loop->sample_cycles;
}

/* Returns the cycle of the next sample. A message may start measuring in the middle of a step,
 * which must then not extend beyond the first sample. */
static uint64_t next_sample(const struct run_loop *loop, uint64_t now)
{
	return loop->sample_at != 0 ? loop->sample_at : now + loop->sample_cycles;
}

/* Returns the cycle at which the current batch ends. */
static uint64_t next_batch(const struct wormhole_fabric *fabric)
{
	weft_time end = measure_window_batch_end(&fabric->window);

	return (end + fabric->cycle_ps - 1) / fabric->cycle_ps;
}

/* Runs to '*until' or until enough messages arrive; a signal lowers '*until'. Returns false if no
 * event is left. */
static bool run_on(struct run_loop *loop, uint64_t now, uint64_t *until)
{
	bool alive = true;

	while (now < *until && !enough(loop->fabric)) {
		now = weft_time_min(*until, now + STOP_EACH);
		alive = wormhole_net_run(loop->fabric->net, now);
		if (is_stopped(loop))
			*until = now;
	}
	return alive;
}

/* Runs until the configured end, or until enough messages are delivered. */
static void run_all(struct run_loop *loop)
{
	struct wormhole_fabric *fabric = loop->fabric;
	const struct run_config_measure *measure = &fabric->run->measure;
	uint64_t end = measure->duration_ps / fabric->cycle_ps, now = 0;
	uint64_t warmup =
		measure->messages > 0 ? WORMHOLE_NEVER : measure->warmup_ps / fabric->cycle_ps;

	fabric->warming = measure->until.interval_ppm > 0;
	if (measure->messages == 0 && end > warmup && !fabric->warming)
		fabric->window.length_ps = (end - warmup) * fabric->cycle_ps;
	loop->sample_cycles = measure->sample_ps / fabric->cycle_ps;
	take_samples(loop, 0);
	while (now < end && !enough(fabric) && !loop->stopped && !fabric->failed &&
		!fabric->deadlock) {
		uint64_t next =
			weft_time_min(weft_time_min(end, next_sample(loop, now)), now + CHECK_EACH);
		bool alive;

		if (warmup > now)
			next = weft_time_min(next, warmup);
		else if (fabric->measuring)
			next = weft_time_min(next, next_batch(fabric));
		alive = run_on(loop, now, &next);
		now = next;
		if (now == warmup)
			wormhole_measure_begin(fabric, now);
		if (fabric->measuring && now >= next_batch(fabric) && !enough(fabric))
			wormhole_take_batch(fabric, now);
		/* The warm-up ends at the latest halfway through the run. */
		if (fabric->warming && now >= end / 2)
			wormhole_measure_again(fabric, now);
		take_samples(loop, now);
		check_loop(loop, alive);
		/* No events are left: the sources have ended. */
		if (!alive && measure->messages > 0)
			break;
	}
}

int wormhole_fabric_run(struct wormhole_fabric *fabric, const atomic_bool *stop,
	wormhole_progress_fn progress, void *ctx, struct error *error)
{
	const struct run_config_measure *measure = &fabric->run->measure;
	struct run_loop loop = {.fabric = fabric, .stop = stop, .progress = progress, .ctx = ctx};
	double start = measure_wall_seconds();

	for (uint32_t i = 0; i < fabric->topology->hosts; i++)
		for (uint32_t k = 0; k < fabric->host[i].sources; k++)
			measure_window_source(&fabric->window, fabric->host[i].source[k], 0);
	if (measure->messages > 0 ? measure->warmup_messages == 0 : measure->warmup_ps == 0)
		wormhole_measure_begin(fabric, 0);
	run_all(&loop);
	wormhole_measure_end(fabric);
	fabric->stopped = loop.stopped;
	fabric->wanting = measure->messages > 0 && !enough(fabric);
	fabric->wall_seconds = measure_wall_seconds() - start;
	return fabric->failed
		       ? error_set(error, ENOMEM, "not enough memory for more messages or events")
		       : 0;
}

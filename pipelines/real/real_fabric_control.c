/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "real_private.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <rte_lcore.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "mapping/control_plane.h"
#include "os/terminal.h"
#include "real_fabric_idle.h"
#include "setup/device_config.h"

/* Maximum sleep of the control thread, in real time: during changes and with pending commands; with
 * a slow reader of the output; otherwise, since loops signal new frames. */
#define SLEEP_BUSY_PS   (100 * PS_PER_US)
#define SLEEP_OUTPUT_PS PS_PER_MS
#define SLEEP_PS        (50 * PS_PER_MS)
/* Maximum step of the control plane's time beyond the intended sleep. A thread that was computing
 * routes, or had no CPU, received nothing during that time. This does not mean that others were
 * silent, and mappers of this process must not take over from each other. */
#define STEP_MAX_PS (10 * PS_PER_MS)

struct real_control {
	struct real_fabric *fabric;
	struct control_plane *plane;
	struct control_plane_device *device;
	unsigned devices;
	struct fabric_key key;
	struct topology *expect; /* NULL: the fabric's own topology */
	struct text_output output;
	pthread_t thread;
	int bell; /* eventfd that ends the thread's sleep */
	atomic_bool rung;
	bool running;
	atomic_bool halt;
};

static void add_device(struct real_control *control, enum device_kind kind, uint32_t number)
{
	const struct real_fabric_options *options = &control->fabric->options;
	uint16_t priority = kind == DEVICE_HOST
				    ? mapper_setup_priority(options->run, options->topology, number)
				    : 0;

	control->device[control->devices++] = (struct control_plane_device){
		.kind = kind,
		.number = number,
		.candidate = priority != 0,
		.priority = priority,
	};
}

static int list_devices(struct real_control *control, struct error *error)
{
	const struct real_fabric_options *options = &control->fabric->options;
	const struct topology *topology = options->topology;

	control->device =
		calloc(topology->switches + topology->hosts + 1u, sizeof(*control->device));
	if (control->device == NULL)
		return error_set(error, ENOMEM, "not enough memory for a control plane");
	for (uint32_t i = 0; i < topology->switches; i++)
		if (options->switch_here == NULL || options->switch_here[i])
			add_device(control, DEVICE_SWITCH, i);
	for (uint32_t i = 0; i < topology->hosts; i++)
		if (options->host_here == NULL || options->host_here[i])
			add_device(control, DEVICE_HOST, i);
	return 0;
}

/* Reads the files named in the run file; without a file, 'key' or '*expect' is unchanged. */
static int open_files(const struct run_config_mapper *mapper, struct fabric_key *key,
	struct topology **expect, struct error *error)
{
	int result = mapper->key == NULL ? 0 : fabric_key_load(key, mapper->key, error);

	if (result < 0 || mapper->expect == NULL)
		return result;
	*expect = topology_open(mapper->expect, error);
	return *expect == NULL ? -EINVAL : 0;
}

int real_fabric_check(const struct run_config *run, struct error *error)
{
	struct topology *expect = NULL;
	struct fabric_key key;
	int result;

	if (run->mapper.routes != RUN_ROUTES_MAPPER)
		return 0;
	result = open_files(&run->mapper, &key, &expect, error);
	fabric_key_wipe(&key);
	topology_destroy(expect);
	return result;
}

/* Returns a number that exceeds all numbers of earlier runs of these devices. */
static uint64_t counter_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Tells the thread that it has work. Further calls make no system call until the thread polls. The
 * exchange orders the work before the test of 'rung': a plain load could return the value from
 * before the thread's last poll, which then missed the work. */
static void ring(void *ctx)
{
	struct real_control *control = ctx;

	if (!atomic_exchange(&control->rung, true))
		eventfd_write(control->bell, 1);
}

static int create_plane(struct real_control *control, struct error *error)
{
	const struct real_fabric_options *options = &control->fabric->options;
	const struct run_config *run = options->run;
	struct control_plane_config config = {
		.topology = options->topology,
		.device = control->device,
		.devices = control->devices,
		.fabric = options->fabric,
		.session = options->session,
		.version = crc32c(WEFT_VERSION, sizeof(WEFT_VERSION) - 1) + WEFT_FORMATS,
		.counter = counter_now(),
		.key = run->mapper.key != NULL ? &control->key : NULL,
		.lease_ps = run->mapper.lease_ps,
		.report_retry_ps = run->mapper.retry_ps,
		.frame_bytes = FRAME_HEADER_BYTES + FRAME_ROUTE_USUAL + mapper_setup_payload(run),
		.adaptive = run_config_is_adaptive(run),
		.hosts_max = options->hosts_max,
		.expect = control->expect != NULL ? control->expect : options->topology,
		.announce = control->expect != NULL ? "mapper" : NULL,
		.ring = ring,
		.ring_ctx = control,
	};
	int result = mapper_setup(run, options->topology, &config.mapper, error);

	if (result < 0)
		return result;
	control->plane = control_plane_create(&config, 0);
	return control->plane != NULL
		       ? 0
		       : error_set(error, ENOMEM, "not enough memory for a control plane");
}

int real_control_create(struct real_fabric *fabric, struct error *error)
{
	struct real_control *control;
	int result;

	if (fabric->options.run->mapper.routes != RUN_ROUTES_MAPPER)
		return 0;
	control = fabric->control = calloc(1, sizeof(*control));
	if (control == NULL)
		return error_set(error, ENOMEM, "not enough memory for a control plane");
	control->fabric = fabric;
	control->bell = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	if (control->bell < 0)
		return error_set(error, errno, "cannot create an eventfd for the control plane: %s",
			strerror(errno));
	result = list_devices(control, error);
	if (result == 0)
		result = open_files(
			&fabric->options.run->mapper, &control->key, &control->expect, error);
	return result == 0 ? create_plane(control, error) : result;
}

void real_control_destroy(struct real_fabric *fabric)
{
	struct real_control *control = fabric->control;

	if (control == NULL)
		return;
	control_plane_destroy(control->plane);
	text_output_end(&control->output);
	topology_destroy(control->expect);
	fabric_key_wipe(&control->key);
	if (control->bell >= 0)
		close(control->bell);
	free(control->device);
	free(control);
	fabric->control = NULL;
}

struct device_control *real_control_of(
	const struct real_fabric *fabric, enum device_kind kind, uint32_t number)
{
	return fabric->control == NULL
		       ? NULL
		       : control_plane_control(fabric->control->plane, kind, number);
}

bool real_is_routed(const struct real_fabric *fabric)
{
	return fabric->control == NULL || control_plane_is_routed(fabric->control->plane);
}

static bool has_candidate(const struct real_control *control)
{
	for (unsigned i = 0; i < control->devices; i++)
		if (control->device[i].candidate)
			return true;
	return false;
}

bool real_may_be_routed(const struct real_fabric *fabric)
{
	return fabric->control == NULL ||
	       (fabric->control->running && has_candidate(fabric->control));
}

void real_control_why(const struct real_fabric *fabric, struct error *error)
{
	const char *why = control_plane_why(fabric->control->plane);

	if (!has_candidate(fabric->control))
		why = "no host of this process may be the mapper (mapper.mode, mapper.hosts)";
	if (!fabric->control->running)
		why = "no control thread could be started";
	error_set(error, EINVAL, "traffic started without mapped routes from and to all hosts: %s",
		why != NULL ? why : "no mapper provided all of them in time");
}

void real_control_renew(struct real_fabric *fabric)
{
	if (fabric->control == NULL)
		return;
	control_plane_renew(fabric->control->plane, fabric->options.topology);
	ring(fabric->control);
}

bool real_control_ask(struct real_fabric *fabric, const char *request)
{
	if (fabric->control == NULL || !control_plane_ask(fabric->control->plane, request))
		return false;
	ring(fabric->control);
	return true;
}

/* --- the thread --- */

/* Sleeps for this real time, or until ring(). */
static void sleep_for(struct real_control *control, weft_time time)
{
	struct pollfd bell = {.fd = control->bell, .events = POLLIN};
	const struct timespec span = {.tv_sec = (time_t)(time / PS_PER_S),
		.tv_nsec = (long)(time % PS_PER_S / PS_PER_NS)};
	eventfd_t value;

	if (ppoll(&bell, 1, &span, NULL) > 0)
		eventfd_read(control->bell, &value);
}

/* Neither the loops nor this thread, on which all local agents depend, may wait for a slow reader
 * of the output. Returns false if it must be called again. */
static bool print_messages(struct real_control *control)
{
	bool warning;
	char *text;

	while (text_output_write(&control->output)) {
		if ((text = control_plane_message(control->plane, &warning)) == NULL)
			return true;
		text_output_begin(&control->output, warning ? STDERR_FILENO : STDOUT_FILENO, text);
	}
	return false;
}

/* Returns how long the thread may sleep unless ring() wakes it. */
static weft_time longest_sleep(struct real_control *control)
{
	bool printed = print_messages(control);

	if (control_plane_waits(control->plane)) {
		real_idle_wake(control->fabric);
		return SLEEP_BUSY_PS;
	}
	if (control_plane_is_busy(control->plane))
		return SLEEP_BUSY_PS;
	return printed ? SLEEP_PS : SLEEP_OUTPUT_PS;
}

static void *run_plane(void *ctx)
{
	struct real_control *control = ctx;
	const struct clock *clock = &control->fabric->clock;
	weft_time now = 0, before = clock_now(clock), left = before, asleep = 0;

	while (true) {
		weft_time wall, due;

		/* The work of earlier ring() calls, or the halt, is visible to what follows. */
		atomic_exchange(&control->rung, false);
		if (atomic_load_explicit(&control->halt, memory_order_relaxed))
			return NULL;
		wall = clock_now(clock);
		now += RTE_MIN(wall - before, asleep + STEP_MAX_PS);
		before = wall;
		/* The plane's own work, such as computing routes, does not count as a stall. */
		control_plane_absent(control->plane, wall - left, now);
		due = control_plane_poll(control->plane, now, wall);
		left = clock_now(clock);
		asleep = RTE_MIN(due - now, clock_share(clock, longest_sleep(control)));
		if (asleep > 0)
			sleep_for(control, clock_span(clock, asleep));
		else
			sched_yield();
	}
}

/* Starts a control thread of EAL, on a CPU without a pinned loop. If this fails, nothing computes
 * routes, and real_control_why() reports it. */
void real_control_start(struct real_fabric *fabric)
{
	struct real_control *control = fabric->control;

	if (control == NULL)
		return;
	atomic_store(&control->halt, false);
	control->running = rte_ctrl_thread_create(
				   &control->thread, "weft-control", NULL, run_plane, control) == 0;
}

void real_control_stop(struct real_fabric *fabric)
{
	struct real_control *control = fabric->control;

	if (control == NULL || !control->running)
		return;
	atomic_store(&control->halt, true);
	ring(control);
	pthread_join(control->thread, NULL);
}

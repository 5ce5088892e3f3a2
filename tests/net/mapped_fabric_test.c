/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* A whole fabric on the real clock with routes from a mapper, under traffic, while cables are cut
 * and joined. A second thread gives the orders and reads the status, like 'weft lab'. */

#include <jansson.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <time.h>

#include "eal_tests.h"
#include "experiment/result/run_result.h"
#include "os/telemetry_client.h"
#include "real/real_fabric.h"

#define HANG_SECONDS 240
#define MESSAGES     400u /* with each state of the cables */
#define DELIVERED    "\"messages_delivered\":"

/* 4 fully connected switches with 8 hosts. The clock is slow: a link goes down only if this test
 * cuts it, or if the process does not run for 3 s. */
#define NETWORK "full:switches=4,hosts=2"
#define HOSTS   8u

static const char run_text[] =
	"weft: run/1\n"
	"topology: \"" NETWORK "\"\n"
	"clock: real\n"
	"seed: 7\n"
	"dilation: 20\n"
	"link: {rate: 1Gbps, delay: 1us}\n"
	"switch: {buffer: 64KiB, mtu: 2KiB}\n"
	"nic: {retry: 2ms, mtu: 2KiB}\n"
	"hello: 50ms\n"
	"routing: {algorithm: ud, mode: source, alternatives: 1}\n"
	"mapper: {routes: mapper, listen: 2ms, heartbeat: 5ms, lease: 30ms, takeover: 40ms, "
	"linger: 50ms, sweep: 100ms, retry: 5ms, drain: 20ms}\n"
	"traffic:\n"
	"  - {pattern: uniform, from: all, load: 2%, message: 3KiB}\n"
	"measure: {duration: 60s}\n";

struct attendant {
	int client;
	char path[64];
	time_t end;       /* the fabric counts as hung after this time */
	atomic_bool stop; /* the run must end */
	/* Results, asserted when both threads have ended. */
	const char *failed;
	uint64_t generation, hosts, cables, miscabled;
};

/* Leaves the CPU to the fabric before the next query. Returns false, with 'failed' set, if it
 * hangs. */
static bool again(struct attendant *attendant, const char *failed)
{
	sched_yield();
	if (attendant->failed == NULL && time(NULL) > attendant->end)
		attendant->failed = failed;
	return attendant->failed == NULL;
}

static void ask(struct attendant *attendant, const char *command, char *reply, size_t size)
{
	do {
		if (telemetry_client_call(attendant->client, command, reply, size,
			    HANG_SECONDS * 1000, NULL) > 0 &&
			strstr(reply, "error: ") == NULL)
			return;
	} while (again(attendant, "an order was not taken"));
}

/* The program's loop takes one order at a time. */
static void order(struct attendant *attendant, const char *text)
{
	char command[160], reply[1024];

	snprintf(command, sizeof(command), "/weft/control,%s", text);
	ask(attendant, command, reply, sizeof(reply));
}

static json_t *read_status(struct attendant *attendant)
{
	char text[96];
	json_t *all = NULL;

	snprintf(text, sizeof(text), "mapper status %s", attendant->path);
	order(attendant, text);
	while ((all = json_load_file(attendant->path, 0, NULL)) == NULL &&
		again(attendant, "there is no status"))
		;
	remove(attendant->path);
	return all;
}

static uint64_t number_of(const json_t *object, const char *key)
{
	return (uint64_t)json_integer_value(json_object_get(object, key));
}

/* Returns the mapper that leads if its tables are in use everywhere, else false. */
static bool look(struct attendant *attendant)
{
	json_t *all = read_status(attendant);
	const json_t *mapper, *agent;
	bool leads = false, paused = false;
	size_t i;

	json_array_foreach(json_object_get(all, "mappers"), i, mapper)
	{
		const char *state = json_string_value(json_object_get(mapper, "state"));

		if (state == NULL || strcmp(state, "leading") != 0)
			continue;
		leads = !json_is_true(json_object_get(mapper, "changing"));
		attendant->generation = number_of(mapper, "generation");
		attendant->hosts = number_of(mapper, "hosts");
		attendant->cables = number_of(mapper, "cables");
		attendant->miscabled = json_array_size(json_object_get(mapper, "miscabled"));
	}
	json_array_foreach(json_object_get(all, "agents"), i, agent) paused |=
		json_is_true(json_object_get(agent, "paused"));
	json_decref(all);
	return leads && !paused;
}

/* Waits until the map has this many cables and its tables are in use. */
static void wait_for(struct attendant *attendant, uint64_t cables)
{
	do {
		if (look(attendant) && attendant->cables == cables && attendant->hosts == HOSTS &&
			attendant->generation > 0)
			return;
	} while (again(attendant, "the mapper does not find what is there"));
}

static uint64_t delivered(struct attendant *attendant)
{
	char command[64], reply[TELEMETRY_REPLY_MAX];
	uint64_t sum = 0;

	for (unsigned host = 0; host < HOSTS; host++) {
		const char *found;

		snprintf(command, sizeof(command), "/weft/nic/stats,h%u", host);
		ask(attendant, command, reply, sizeof(reply));
		found = strstr(reply, DELIVERED);
		sum += found != NULL ? strtoull(found + strlen(DELIVERED), NULL, 10) : 0;
	}
	return sum;
}

static void wait_traffic(struct attendant *attendant)
{
	uint64_t before = delivered(attendant);

	while (delivered(attendant) < before + MESSAGES && again(attendant, "no messages arrive"))
		;
}

#define CABLES (6 + HOSTS)

static void *operate(void *ctx)
{
	static const char *const cable[][2] = {
		{"s0:0", "s1:0"}, {"s0:1", "s2:0"}, {"s2:2", "s3:2"}};
	struct attendant *attendant = ctx;
	char text[64];

	wait_for(attendant, CABLES);
	for (unsigned i = 0; i < 3; i++)
		for (unsigned joined = 0; joined < 2; joined++) {
			for (unsigned end = 0; end < 2; end++) {
				snprintf(text, sizeof(text), "link %s %s", cable[i][end],
					joined ? "up" : "down");
				order(attendant, text);
			}
			wait_for(attendant, CABLES - 1 + joined);
			wait_traffic(attendant);
		}
	atomic_store(&attendant->stop, true);
	return NULL;
}

UNIT_TEST(a_cut_cable_loses_repeats_and_reorders_nothing)
{
	struct attendant attendant = {.end = time(NULL) + HANG_SECONDS};
	struct error error = {""};
	OWNED(run_config) *config =
		run_config_parse(run_text, strlen(run_text), "test", NULL, 0, &error);
	OWNED(topology) *topology = topology_generate(NETWORK, &error);
	struct real_fabric_options options = {
		.topology = topology, .run = config, .name = "test", .session = 1};
	struct run_result *result = calloc(1, sizeof(*result));
	struct real_fabric *fabric;
	pthread_t thread;

	if (config == NULL)
		fail_msg("%s", error.text);
	fabric = real_fabric_create(&options, &error);
	if (fabric == NULL)
		fail_msg("%s", error.text);
	snprintf(attendant.path, sizeof(attendant.path), "/tmp/weft-mapped-%d", (int)getpid());
	attendant.client = telemetry_client_open(eal_prefix(), HANG_SECONDS * 1000, &error);
	assert_true(attendant.client >= 0);
	assert_int_equal(pthread_create(&thread, NULL, operate, &attendant), 0);
	real_fabric_run(fabric, WEFT_TIME_NEVER, &attendant.stop);
	pthread_join(thread, NULL);
	telemetry_client_close(attendant.client);
	if (attendant.failed != NULL)
		fail_msg("%s: %u cables, %u hosts", attendant.failed, (unsigned)attendant.cables,
			(unsigned)attendant.hosts);
	assert_int_equal(attendant.miscabled, 0);
	assert_int_equal(real_fabric_result(fabric, result, &error), 0);
	assert_int_equal(real_fabric_check_complete(fabric, &error), 0);
	assert_true(result->messages.delivered > 1000);
	assert_int_equal(result->messages.delivered, result->messages.injected);
	/* All hosts can be reached at any time, so none may be without a route for a while. */
	assert_int_equal(result->messages.dropped, 0);
	assert_int_equal(result->lost, 0);
	assert_int_equal(result->duplicated, 0);
	assert_int_equal(result->out_of_order, 0);
	run_result_free(result);
	free(result);
	real_fabric_destroy(fabric);
}

int main(void)
{
	char name[] = "mapped";

	return run_fabrics_with_eal(name, 1, 512);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Answers and commands of a program's telemetry socket, requested in the same way as by 'weft
 * lab'. */

#include "unit.h"

#include <dlfcn.h>
#include <pthread.h>
#include <unistd.h>

#include "os/telemetry_client.h"
#include "port/eal.h"
#include "telemetry/telemetry.h"

#define TIMEOUT_MS 5000
#define LINKS      60u
#define CLOCKS     1000u
#define ASKERS     4u
#define REQUESTS   20000u

static const char *const counter_names[] = {"rx_frames", "drop_vc"};

struct bench {
	struct capture_manager *captures;
	struct telemetry *telemetry;
	struct port port;
	char reply[TELEMETRY_REPLY_MAX];
	int client;
};

static void snapshot(const void *ctx, uint64_t *values)
{
	values[0] = *(const uint64_t *)ctx;
	values[1] = UINT64_MAX;
}

static bool link_at(const void *ctx, unsigned index, struct telemetry_link *link)
{
	(void)ctx;
	if (index >= LINKS)
		return false;
	snprintf(link->port, sizeof(link->port), "s0:%u", index);
	snprintf(link->peer, sizeof(link->peer), "s1:%u", index);
	link->state = "up";
	link->counter = counter_names;
	link->counters = 2;
	link->value[0] = index;
	return true;
}

/* Clock i has number 3 * i, and is known if i is odd. */
static bool clock_at(const void *ctx, uint64_t *at, struct telemetry_clock *clock)
{
	uint64_t i = (*at + 2) / 3;

	(void)ctx;
	if (i >= CLOCKS)
		return false;
	*at = 3 * i;
	*clock = (struct telemetry_clock){
		.at = i == 7 ? "h7" : "h0", .of = "far", .known = i % 2 == 1, .steps = 2};
	if (clock->known)
		clock->bound_ns = i == 7 ? 5000 : i;
	return true;
}

static int setup(void **state)
{
	static const uint64_t first = 11, second = 22;
	const struct capture_options options = {.slots = 16};
	struct bench *bench = calloc(1, sizeof(*bench));
	struct telemetry_device device = {.class = TELEMETRY_SWITCH,
		.name = "s0",
		.counter = counter_names,
		.counters = 2,
		.snapshot = snapshot,
		.ctx = &first};

	*state = bench;
	strcpy(bench->port.name, "s0:1");
	bench->captures = capture_manager_create(&options, NULL);
	capture_manager_add_port(bench->captures, &bench->port);
	bench->telemetry = telemetry_create(bench->captures, NULL);
	assert_non_null(bench->telemetry);
	assert_int_equal(telemetry_add_device(bench->telemetry, &device, NULL), 0);
	device.class = TELEMETRY_NIC;
	device.name = "h3";
	device.ctx = &second;
	assert_int_equal(telemetry_add_device(bench->telemetry, &device, NULL), 0);
	telemetry_set_links(bench->telemetry, link_at, NULL);
	telemetry_set_clocks(bench->telemetry, clock_at, NULL);
	bench->client = telemetry_client_open(eal_prefix(), TIMEOUT_MS, NULL);
	return bench->client < 0;
}

static int teardown(void **state)
{
	struct bench *bench = *state;

	telemetry_client_close(bench->client);
	telemetry_destroy(bench->telemetry);
	capture_manager_destroy(bench->captures);
	free(bench);
	return 0;
}

static const char *ask(struct bench *bench, const char *command)
{
	struct error error = {""};

	if (telemetry_client_call(bench->client, command, bench->reply, sizeof(bench->reply),
		    TIMEOUT_MS, &error) < 0)
		fail_msg("%s", error.text);
	return bench->reply;
}

UNIT_WITH(devices_are_listed_by_class, setup, teardown)
{
	assert_string_equal(ask(*state, "/weft/switch/list"), "{\"/weft/switch/list\":[\"s0\"]}");
	assert_string_equal(ask(*state, "/weft/nic/list"), "{\"/weft/nic/list\":[\"h3\"]}");
	assert_string_equal(ask(*state, "/weft/port/list"), "{\"/weft/port/list\":[]}");
}

UNIT_WITH(stats_are_the_counters_of_the_device_in_full_width, setup, teardown)
{
	assert_string_equal(ask(*state, "/weft/switch/stats,s0"),
		"{\"/weft/switch/stats\":{\"rx_frames\":11,\"drop_vc\":18446744073709551615}}");
	assert_string_equal(ask(*state, "/weft/nic/stats,h3"),
		"{\"/weft/nic/stats\":{\"rx_frames\":22,\"drop_vc\":18446744073709551615}}");
}

UNIT_WITH(lists_come_in_pages, setup, teardown)
{
	static char name[TELEMETRY_LIST_MAX + 1][8];
	static const uint64_t value = 1;
	struct telemetry_device device = {.class = TELEMETRY_PORT,
		.counter = counter_names,
		.counters = 2,
		.snapshot = snapshot,
		.ctx = &value};
	struct bench *bench = *state;

	for (unsigned i = 0; i <= TELEMETRY_LIST_MAX; i++) {
		snprintf(name[i], sizeof(name[i]), "p%u", i);
		device.name = name[i];
		assert_int_equal(telemetry_add_device(bench->telemetry, &device, NULL), 0);
	}
	assert_non_null(strstr(ask(bench, "/weft/port/list"), "\"p499\"]}"));
	assert_string_equal(ask(bench, "/weft/port/list,500"), "{\"/weft/port/list\":[\"p500\"]}");
}

UNIT_WITH(unknown_device_has_no_stats, setup, teardown)
{
	assert_string_equal(ask(*state, "/weft/switch/stats,h3"), "{\"/weft/switch/stats\":null}");
	assert_string_equal(ask(*state, "/weft/switch/stats"), "{\"/weft/switch/stats\":null}");
}

UNIT_WITH(links_come_in_pages_until_one_is_empty, setup, teardown)
{
	char command[64], name[32];
	unsigned seen = 0;

	for (;;) {
		const char *reply;
		unsigned before = seen;

		snprintf(command, sizeof(command), "/weft/links,%u", seen);
		reply = ask(*state, command);
		for (;;) {
			snprintf(name, sizeof(name), "\"s0:%u\"", seen);
			if (strstr(reply, name) == NULL)
				break;
			seen++;
		}
		if (seen == before)
			break;
	}
	assert_int_equal(seen, LINKS);
	assert_string_equal(ask(*state, "/weft/links,60"), "{\"/weft/links\":{}}");
	assert_non_null(strstr(ask(*state, "/weft/links"),
		"\"0\":{\"port\":\"s0:0\",\"peer\":\"s1:0\",\"state\":\"up\",\"rx_frames\":0"));
}

UNIT_WITH(clocks_come_in_pages_until_one_is_empty, setup, teardown)
{
	char command[64];

	assert_non_null(strstr(ask(*state, "/weft/clocks"), "\"117\":{\"at\":\"h0\""));
	assert_null(strstr(ask(*state, "/weft/clocks"), "\"120\""));
	snprintf(command, sizeof(command), "/weft/clocks,%u", 3 * (CLOCKS - 1));
	assert_non_null(strstr(ask(*state, command), "\"2997\":{"));
	assert_string_equal(ask(*state, "/weft/clocks,2998"), "{\"/weft/clocks\":{}}");
}

UNIT_WITH(the_total_of_clocks_names_the_one_known_least_well, setup, teardown)
{
	assert_string_equal(ask(*state, "/weft/clocks/total"),
		"{\"/weft/clocks/total\":{\"pairs\":1000,\"known\":500,\"steps\":2000,"
		"\"bound_ns\":5000,\"at\":\"h7\",\"of\":\"far\"}}");
}

UNIT_WITH(capture_is_started_and_stopped_from_outside, setup, teardown)
{
	char path[] = "/tmp/weft-telemetry-XXXXXX", command[128];
	struct bench *bench = *state;

	close(mkstemp(path));
	snprintf(command, sizeof(command), "/weft/capture/start,s0:1,%s", path);
	assert_string_equal(ask(bench, command), "{\"/weft/capture/start\":\"ok\"}");
	assert_non_null(capture_of(&bench->port));
	assert_string_equal(ask(bench, "/weft/capture/stop,s0:1"),
		"{\"/weft/capture/stop\":\"ok offered 0 dropped 0\"}");
	assert_null(capture_of(&bench->port));
	unlink(path);
}

UNIT_WITH(wrong_capture_is_told_why, setup, teardown)
{
	assert_non_null(strstr(ask(*state, "/weft/capture/start,s9:9,/tmp/x"), "error: s9:9"));
	assert_non_null(strstr(ask(*state, "/weft/capture/start,s0:1"), "error: expected PORT"));
	assert_non_null(strstr(ask(*state, "/weft/capture/start,s0:1,x"), "absolute path"));
	assert_non_null(strstr(ask(*state, "/weft/capture/stop,s0:1"), "is not being captured"));
	assert_non_null(strstr(ask(*state, "/weft/capture/stop"), "error: expected PORT"));
}

UNIT_WITH(command_waits_for_the_loop_and_is_taken_once, setup, teardown)
{
	char text[TELEMETRY_CONTROL_MAX] = "";
	struct bench *bench = *state;

	assert_false(telemetry_control_poll(bench->telemetry, text));
	assert_string_equal(
		ask(bench, "/weft/control,traffic stop,now"), "{\"/weft/control\":\"ok\"}");
	assert_non_null(strstr(ask(bench, "/weft/control,again"), "error: the previous command"));
	assert_true(telemetry_control_poll(bench->telemetry, text));
	assert_string_equal(text, "traffic stop,now");
	assert_false(telemetry_control_poll(bench->telemetry, text));
	assert_string_equal(ask(bench, "/weft/control,again"), "{\"/weft/control\":\"ok\"}");
}

static void count_call(void *ctx)
{
	++*(unsigned *)ctx;
}

UNIT_WITH(a_command_calls_who_sleeps_until_one_comes, setup, teardown)
{
	struct bench *bench = *state;
	unsigned calls = 0;

	telemetry_set_wake(bench->telemetry, count_call, &calls);
	ask(bench, "/weft/control,one");
	assert_int_equal(calls, 1);
	/* A refused capture does not count as one. */
	ask(bench, "/weft/control,two");
	telemetry_set_wake(bench->telemetry, NULL, NULL);
	assert_int_equal(calls, 1);
}

UNIT_WITH(second_device_of_a_name_is_refused, setup, teardown)
{
	struct bench *bench = *state;
	struct telemetry_device device = {.class = TELEMETRY_SWITCH, .name = "s0"};

	assert_int_equal(telemetry_add_device(bench->telemetry, &device, NULL), -EEXIST);
	device.name = "s1";
	device.counters = TELEMETRY_COUNTERS_MAX + 1;
	assert_int_equal(telemetry_add_device(bench->telemetry, &device, NULL), -EINVAL);
}

UNIT_WITH(there_is_one_in_a_process, setup, teardown)
{
	struct error error;

	assert_null(telemetry_create(NULL, &error));
	assert_non_null(strstr(error.text, "already running"));
}

UNIT_WITH(nothing_is_told_after_its_end, setup, teardown)
{
	struct bench *bench = *state;

	telemetry_destroy(bench->telemetry);
	bench->telemetry = NULL;
	assert_string_equal(ask(bench, "/weft/switch/list"), "{\"/weft/switch/list\":null}");
}

/* DPDK's telemetry splits its requests with it, in a thread for each client. */
static void *split_another_text(void *strtok_of_dpdk)
{
	static char text[] = "b,other";
	char *(*split)(char *, const char *) = NULL;

	memcpy(&split, strtok_of_dpdk, sizeof(split));
	return split(text, ",");
}

UNIT_WITH(a_thread_splits_its_own_text_while_others_split_theirs, setup, teardown)
{
	char text[] = "a,own", *(*split)(char *, const char *) = NULL;
	void *found = dlsym(RTLD_DEFAULT, "strtok");
	pthread_t thread;

	memcpy(&split, &found, sizeof(split));
	assert_string_equal(split(text, ","), "a");
	assert_int_equal(pthread_create(&thread, NULL, split_another_text, &found), 0);
	pthread_join(thread, NULL);
	assert_string_equal(split(NULL, ""), "own");
}

struct asker {
	pthread_t thread;
	unsigned at, wrong; /* requests whose answer is not about this asker's port */
};

static void *ask_often(void *arg)
{
	struct asker *asker = arg;
	int client = telemetry_client_open(eal_prefix(), TIMEOUT_MS, NULL);
	char command[64], expected[32], reply[TELEMETRY_REPLY_MAX];

	snprintf(command, sizeof(command), "/weft/capture/stop,none%u", asker->at);
	snprintf(expected, sizeof(expected), "error: none%u", asker->at);
	for (unsigned i = 0; i < REQUESTS; i++)
		if (telemetry_client_call(client, command, reply, sizeof(reply), TIMEOUT_MS, NULL) <
				0 ||
			strstr(reply, expected) == NULL)
			asker->wrong++;
	telemetry_client_close(client);
	return NULL;
}

UNIT_WITH(clients_at_one_time_are_answered_each_about_its_own, setup, teardown)
{
	struct asker asker[ASKERS] = {0};

	for (unsigned i = 0; i < ASKERS; i++) {
		asker[i].at = i;
		assert_int_equal(pthread_create(&asker[i].thread, NULL, ask_often, &asker[i]), 0);
	}
	for (unsigned i = 0; i < ASKERS; i++)
		pthread_join(asker[i].thread, NULL);
	for (unsigned i = 0; i < ASKERS; i++)
		assert_int_equal(asker[i].wrong, 0);
}

UNIT_WITH(reply_that_does_not_fit_is_an_error, setup, teardown)
{
	struct bench *bench = *state;
	struct error error;

	assert_int_equal(telemetry_client_call(bench->client, "/weft/links", bench->reply, 100,
				 TIMEOUT_MS, &error),
		-EMSGSIZE);
}

int main(void)
{
	char *argv[] = {(char *)"telemetry_test", NULL};
	const struct eal_options options = {.memory_mib = 16};
	struct error error;
	int failed;

	if (eal_start(1, argv, &options, &error) < 0) {
		fprintf(stderr, "%s\n", error.text);
		return 1;
	}
	failed = unit_run(NULL, NULL);
	eal_stop();
	return failed;
}

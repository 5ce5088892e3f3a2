/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Requests of 'weft lab status' about clocks, to processes that a thread simulates. */

#include "lab/lab_query.h"

#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

#include "unit.h"

#define PAGE 40

/* Pairs have even numbers, and the bound of each is its number. */
struct process {
	struct lab_connection connection;
	pthread_t thread;
	int fd;
	unsigned pairs, requests;
	const char *at;
};

static void answer_page(const struct process *process, unsigned from, char *out, size_t size)
{
	unsigned first = (from + 1) / 2;
	size_t length = (size_t)snprintf(out, size, "{\"/weft/clocks\":{");

	for (unsigned i = first; i < first + PAGE && i < process->pairs; i++)
		length += (size_t)snprintf(out + length, size - length,
			"%s\"%u\":{\"at\":\"%s\",\"of\":\"far\",\"bound_ns\":%u}",
			i > first ? "," : "", 2 * i, process->at, 2 * i);
	snprintf(out + length, size - length, "}}");
}

static void answer_total(const struct process *process, char *out, size_t size)
{
	snprintf(out, size,
		"{\"/weft/clocks/total\":{\"pairs\":%u,\"known\":%u,\"steps\":3,\"bound_ns\":%u,"
		"\"at\":\"%s\",\"of\":\"%s\"}}",
		process->pairs, process->pairs, process->pairs > 0 ? 2 * (process->pairs - 1) : 0,
		process->pairs > 0 ? process->at : "", process->pairs > 0 ? "far" : "");
}

static void *serve(void *ctx)
{
	struct process *process = ctx;
	char command[128], reply[16384];
	ssize_t length;

	while ((length = recv(process->fd, command, sizeof(command) - 1, 0)) > 0) {
		command[length] = '\0';
		process->requests++;
		if (strcmp(command, "/weft/clocks/total") == 0)
			answer_total(process, reply, sizeof(reply));
		else
			answer_page(process, (unsigned)strtoul(strchr(command, ',') + 1, NULL, 10),
				reply, sizeof(reply));
		if (send(process->fd, reply, strlen(reply), 0) < 0)
			break;
	}
	close(process->fd);
	return NULL;
}

static void begin(struct process *process, const char *at, unsigned pairs)
{
	int ends[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends), 0);
	*process = (struct process){.connection = {at, ends[0], LAB_FOLLOW_MS, NULL},
		.fd = ends[1],
		.at = at,
		.pairs = pairs};
	assert_int_equal(pthread_create(&process->thread, NULL, serve, process), 0);
}

static void end(struct process *process)
{
	lab_disconnect(&process->connection);
	pthread_join(process->thread, NULL);
}

/* The document of a lab with such processes, and the number of requests. */
static json_t *ask(const unsigned *pairs, unsigned processes, bool listed, unsigned *requests)
{
	static const char *const name[] = {"h0", "h1", "h2"};
	json_t *all = json_pack("{s:o}", "clocks_total", lab_clocks_create());

	if (listed)
		json_object_set_new(all, "clocks", json_array());
	*requests = 0;
	for (unsigned i = 0; i < processes; i++) {
		struct error error = {""};
		struct process process;

		begin(&process, name[i], pairs[i]);
		assert_int_equal(lab_clocks_add(all, &process.connection, &error), 0);
		end(&process);
		*requests += process.requests;
	}
	return all;
}

static json_int_t total_of(const json_t *all, const char *name)
{
	return json_integer_value(json_object_get(json_object_get(all, "clocks_total"), name));
}

static const char *word_of(const json_t *all, const char *name)
{
	return json_string_value(json_object_get(json_object_get(all, "clocks_total"), name));
}

static bool is_cut(const json_t *all)
{
	return json_is_true(json_object_get(json_object_get(all, "clocks_total"), "cut"));
}

UNIT_TEST(a_total_takes_one_request_of_each_process)
{
	const unsigned pairs[] = {262144, 100, 0};
	unsigned requests;
	json_t *all = ask(pairs, 3, false, &requests);

	assert_int_equal(requests, 3);
	assert_int_equal(total_of(all, "pairs"), 262244);
	assert_int_equal(total_of(all, "known"), 262244);
	assert_int_equal(total_of(all, "steps"), 9);
	assert_false(is_cut(all));
	assert_null(json_object_get(all, "clocks"));
	json_decref(all);
}

UNIT_TEST(the_pair_that_is_known_least_well_is_named)
{
	const unsigned pairs[] = {10, 100, 50};
	unsigned requests;
	json_t *all = ask(pairs, 3, false, &requests);

	assert_int_equal(total_of(all, "bound_ns"), 198);
	assert_string_equal(word_of(all, "at"), "h1");
	assert_string_equal(word_of(all, "of"), "far");
	json_decref(all);
}

UNIT_TEST(the_list_has_all_pairs_of_a_small_lab)
{
	const unsigned pairs[] = {100, 0, 7};
	unsigned requests;
	json_t *all = ask(pairs, 3, true, &requests);
	json_t *clocks = json_object_get(all, "clocks");

	assert_int_equal(json_array_size(clocks), 107);
	for (size_t i = 0; i < 100; i++)
		assert_int_equal(
			json_integer_value(json_object_get(json_array_get(clocks, i), "bound_ns")),
			2 * i);
	assert_false(is_cut(all));
	json_decref(all);
}

/* 512 hosts that know 512 others needed 6,554 requests. */
UNIT_TEST(the_list_of_a_large_lab_is_cut_and_says_so)
{
	const unsigned pairs[] = {262144, 262144};
	unsigned requests;
	json_t *all = ask(pairs, 2, true, &requests);

	assert_in_range(requests, 1, LAB_CLOCKS_MOST / PAGE + 2);
	assert_int_equal(json_array_size(json_object_get(all, "clocks")), LAB_CLOCKS_MOST);
	assert_int_equal(total_of(all, "pairs"), 2 * 262144);
	assert_true(is_cut(all));
	json_decref(all);
}

UNIT_TEST(machines_are_added_up)
{
	const unsigned few[] = {10}, many[] = {LAB_CLOCKS_MOST + 1};
	unsigned requests;
	json_t *all = ask(few, 1, true, &requests), *part = ask(many, 1, true, &requests);

	lab_clocks_merge(all, part);
	assert_int_equal(total_of(all, "pairs"), LAB_CLOCKS_MOST + 11);
	assert_int_equal(total_of(all, "bound_ns"), 2 * LAB_CLOCKS_MOST);
	assert_int_equal(json_array_size(json_object_get(all, "clocks")), LAB_CLOCKS_MOST + 10);
	assert_true(is_cut(all));
	/* A machine that does not answer. */
	lab_clocks_merge(all, NULL);
	assert_int_equal(total_of(all, "pairs"), LAB_CLOCKS_MOST + 11);
	json_decref(part);
	json_decref(all);
}

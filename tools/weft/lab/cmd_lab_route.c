/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* weft lab route: prints the paths between two hosts, as distributed by the mapper. */

#include "cmd_lab.h"

#include <stdio.h>
#include <string.h>

#include "lab_mapping.h"
#include "lab_query.h"

#define COMMAND "lab route"

struct question {
	struct lab lab;
	struct lab_state state;
	const char *from, *to;
	json_t *mapping; /* answers of all processes */
};

static int check_host(const struct question *question, const char *host, struct error *error)
{
	if (topology_find_host(question->lab.topology, host) >= 0)
		return 0;
	return error_set(error, EINVAL, "%s: no such host in %s", host, question->lab.path);
}

static int check(const struct question *question, struct error *error)
{
	int result = check_host(question, question->from, error);

	if (result == 0)
		result = check_host(question, question->to, error);
	if (result == 0 && strcmp(question->from, question->to) == 0)
		return error_set(error, EINVAL, "the hosts must be different");
	if (result == 0 && question->lab.config->run.mapper.routes != RUN_ROUTES_MAPPER)
		return error_set(error, EINVAL,
			"lab %s has static routes; use 'weft route compute' and 'weft route show'",
			question->lab.plan->lab);
	return result;
}

static int ask_all(struct question *question, struct error *error)
{
	int result = 0;

	question->mapping = lab_mapping_create();
	for (unsigned i = 0; i < question->state.processes && result == 0; i++)
		if (lab_record_alive(&question->state.process[i]))
			result = lab_mapping_add(question->mapping, &question->state.process[i],
				question->state.dir, error);
	return result;
}

/* Returns the leading mapper's answer, the caller's reference; NULL with error set on failure. */
static json_t *ask_leader(const struct question *question, struct error *error)
{
	json_t *leader = lab_mapping_leader_of(question->mapping, question->from), *answer;
	const struct lab_record *record;
	struct lab_connection connection;
	char text[256];

	if (leader == NULL) {
		error_set(error, EAGAIN,
			"no mapper leads on this machine, and only the leading mapper has the routes");
		return NULL;
	}
	record = lab_record_of(&question->lab, &question->state, lab_text(leader, "host"));
	if (record == NULL || lab_connect(&connection, record, error) < 0)
		return NULL;
	snprintf(text, sizeof(text), "mapper routes %s %s %s", lab_text(leader, "host"),
		question->from, question->to);
	answer = lab_control_json(&connection, record, question->state.dir, text, error);
	lab_disconnect(&connection);
	if (answer == NULL || json_is_object(answer)) {
		if (answer != NULL)
			json_object_set(answer, "mapper", json_object_get(leader, "host"));
		return answer;
	}
	json_decref(answer);
	error_set(error, EAGAIN, "the current map of mapper %s does not contain both hosts",
		lab_text(leader, "host"));
	return NULL;
}

/* Returns the epoch of the tables that the sender uses, as reported by its agent; -1: unknown. */
static json_int_t epoch_in_use(const struct question *question)
{
	const json_t *agent =
		lab_row(json_object_get(question->mapping, "agents"), "device", question->from);

	return agent != NULL ? json_integer_value(json_object_get(agent, "epoch")) : -1;
}

static void print_way(size_t number, const json_t *way)
{
	unsigned itbs = 0;
	json_t *hop;

	printf("%2zu ", number);
	for (size_t i = 0; (hop = json_array_get(way, i)) != NULL; i++) {
		itbs += strncmp(json_string_value(hop), "itb ", 4) == 0;
		printf(" %s", json_string_value(hop));
	}
	printf("  (%u ITBs)\n", itbs);
}

static void print_answer(const struct question *question, const json_t *answer)
{
	json_t *ways = json_object_get(answer, "ways"), *way;

	printf("%s to %s: mapper %s, epoch %lld, %zu %s%s\n", question->from, question->to,
		lab_text(answer, "mapper"),
		(long long)json_integer_value(json_object_get(answer, "epoch")),
		json_array_size(ways), json_array_size(ways) == 1 ? "path" : "paths",
		json_flag_of(answer, "in_force") ? "" : " (not in use there yet)");
	for (size_t index = 0; (way = json_array_get(ways, index)) != NULL; index++)
		print_way(index + 1, way);
}

static enum weft_exit show(struct question *question, bool json)
{
	struct error error = {""};
	json_t *answer;
	int result = check(question, &error);
	json_int_t given;
	bool reached;

	if (result == 0)
		result = ask_all(question, &error);
	if (result < 0)
		return command_error(COMMAND, result, &error);
	answer = ask_leader(question, &error);
	if (answer == NULL)
		return command_fail(COMMAND, EXIT_BAD_ANSWER, "%s", error.text);
	json_object_set_new(answer, "from", json_string(question->from));
	json_object_set_new(answer, "to", json_string(question->to));
	/* Tables that do not change in a new epoch keep their previous epoch. */
	given = json_integer_value(json_object_get(answer, "source_epoch"));
	json_object_del(answer, "source_epoch");
	json_object_set_new(
		answer, "in_force", json_boolean(given > 0 && epoch_in_use(question) == given));
	reached = json_array_size(json_object_get(answer, "ways")) > 0;
	if (json)
		command_print_json(json_incref(answer), 0);
	else
		print_answer(question, answer);
	json_decref(answer);
	return reached ? EXIT_DONE : EXIT_BAD_ANSWER;
}

enum weft_exit cmd_lab_route(const struct lab_arguments *arguments)
{
	struct question question = {.from = arguments->word[0], .to = arguments->word[1]};
	enum weft_exit code = lab_open_running(arguments, COMMAND, &question.lab, &question.state);

	if (code != EXIT_DONE)
		return code;
	code = show(&question, arguments->json);
	json_decref(question.mapping);
	lab_state_free(&question.state);
	lab_close(&question.lab);
	return code;
}

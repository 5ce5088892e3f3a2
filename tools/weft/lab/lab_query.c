/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "lab_query.h"

#include <stdio.h>
#include <string.h>

#include "telemetry_client.h"

#define TIMEOUT_MS 3000 /* of a process that shares its core with many */

int lab_connect(struct lab_connection *connection, const char *prefix, struct fault *fault)
{
	connection->prefix = prefix;
	connection->fd = telemetry_client_open(prefix, TIMEOUT_MS, fault);
	return connection->fd < 0 ? connection->fd : 0;
}

void lab_disconnect(struct lab_connection *connection)
{
	telemetry_client_close(connection->fd);
	connection->fd = -1;
}

json_t *lab_ask(struct lab_connection *connection, const char *command, struct fault *fault)
{
	static char reply[TELEMETRY_REPLY_MAX];
	json_t *document, *value;
	json_error_t error;

	if (telemetry_client_call(
		    connection->fd, command, reply, sizeof(reply), TIMEOUT_MS, fault) < 0)
		return NULL;
	document = json_loads(reply, 0, &error);
	if (document == NULL) {
		fault_set(fault, EPROTO, "%s: %s: the answer is no JSON: %s", connection->prefix,
			command, error.text);
		return NULL;
	}
	/* {"/weft/…": VALUE} */
	value = json_incref(json_object_iter_value(json_object_iter(document)));
	json_decref(document);
	if (value == NULL || json_is_null(value)) {
		json_decref(value);
		fault_set(fault, EPROTO, "%s: does not answer %s", connection->prefix, command);
		return NULL;
	}
	return value;
}

int lab_order(struct lab_connection *connection, const char *command, char *answer, size_t size,
	struct fault *fault)
{
	json_t *value = lab_ask(connection, command, fault);
	const char *text = json_string_value(value);
	int result = 0;

	if (value == NULL)
		return -EPROTO;
	if (text == NULL || strncmp(text, "ok", 2) != 0)
		result = fault_set(fault, EINVAL, "%s: %s", connection->prefix,
			text != NULL ? text : "an answer that is no text");
	else if (answer != NULL)
		snprintf(answer, size, "%s", text[2] == ' ' ? text + 3 : "");
	json_decref(value);
	return result;
}

int lab_ask_class(
	struct lab_connection *connection, const char *class, json_t *into, struct fault *fault)
{
	char command[160];
	json_t *names, *name;
	size_t index;

	snprintf(command, sizeof(command), "/weft/%s/list", class);
	names = lab_ask(connection, command, fault);
	if (names == NULL)
		return -EPROTO;
	json_array_foreach(names, index, name)
	{
		json_t *stats;

		snprintf(command, sizeof(command), "/weft/%s/stats,%s", class,
			json_string_value(name));
		stats = lab_ask(connection, command, fault);
		if (stats == NULL) {
			json_decref(names);
			return -EPROTO;
		}
		json_object_set_new(into, json_string_value(name), stats);
	}
	json_decref(names);
	return 0;
}

/* DPDK 22.11 writes an array of objects as {"0": {…}, "1": {…}}. */
static size_t append_all(json_t *into, json_t *page)
{
	size_t before = json_array_size(into);
	const char *key;
	json_t *value;

	json_array_extend(into, page);
	json_object_foreach(page, key, value) json_array_append(into, value);
	return json_array_size(into) - before;
}

json_t *lab_ask_links(struct lab_connection *connection, struct fault *fault)
{
	json_t *links = json_array(), *page;
	char command[64];
	size_t count;

	do {
		snprintf(command, sizeof(command), "/weft/links,%zu", json_array_size(links));
		page = lab_ask(connection, command, fault);
		if (page == NULL) {
			json_decref(links);
			return NULL;
		}
		count = append_all(links, page);
		json_decref(page);
	} while (count > 0);
	return links;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

#include <errno.h>
#include <jansson.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/file_text.h"
#include "base/quantity.h"
#include "cmd_web.h"
#include "common/child_process.h"
#include "common/commands.h"
#include "lab/lab_query.h"
#include "web_files.h"
#include "web_server.h"

/* Its Content-Type. */
static const char *web_page_type(const struct web_page *page)
{
	static const char *const types[][2] = {{".html", "text/html; charset=utf-8"},
		{".css", "text/css; charset=utf-8"}, {".js", "text/javascript; charset=utf-8"},
		{".svg", "image/svg+xml"}};
	const char *ending = strrchr(page->name, '.');

	for (unsigned i = 0; i < sizeof(types) / sizeof(types[0]) && ending != NULL; i++)
		if (strcmp(ending, types[i][0]) == 0)
			return types[i][1];
	return "application/octet-stream";
}

#define PAGE(name, bytes) {name, bytes, sizeof(bytes)},

static const struct web_page *web_page_find(const char *path)
{
	static const struct web_page pages[] = {WEB_FILES(PAGE)};
	const char *name = strcmp(path, "/") == 0 ? "page.html" : path + 1;

	for (size_t i = 0; i < sizeof(pages) / sizeof(pages[0]); i++)
		if (strcmp(pages[i].name, name) == 0)
			return &pages[i];
	return NULL;
}

/* State of a request for the second and later calls. */
struct request {
	bool ordered;
	struct web_order order;
};

static enum MHD_Result answer_page(struct MHD_Connection *connection, const struct web_page *page)
{
	struct MHD_Response *response = MHD_create_response_from_buffer(
		page->bytes, (void *)(uintptr_t)page->text, MHD_RESPMEM_PERSISTENT);

	return http_answer(connection, MHD_HTTP_OK, web_page_type(page), response);
}

static enum MHD_Result refuse_path(struct MHD_Connection *connection)
{
	return http_refuse(connection, MHD_HTTP_NOT_FOUND, "There is no such page.\n");
}

static bool take_number(struct MHD_Connection *connection, const char *name, uint64_t *number)
{
	const char *text = MHD_lookup_connection_value(connection, MHD_GET_ARGUMENT_KIND, name);

	*number = 0;
	return text == NULL || quantity_number(text, 0, UINT32_MAX, number);
}

#define WHY_BYTES_MAX ((size_t)64 << 20)

int web_why_read(const char *path, char **text, struct error *error)
{
	size_t length;
	char *read = file_text_read(path, WHY_BYTES_MAX, &length, error);
	json_t *why;
	bool good;

	if (read == NULL)
		return -errno;
	why = json_loadb(read, length, 0, NULL);
	good = json_is_array(json_object_get(why, "packets")) &&
	       json_is_array(json_object_get(why, "causes"));
	*text = good ? json_dumps(why, JSON_COMPACT) : NULL;
	json_decref(why);
	free(read);
	if (good && *text == NULL)
		return error_set(error, ENOMEM, "out of memory");
	return good ? 0 : error_set(error, EINVAL, "%s: not a document of 'weft why --json'", path);
}

static enum MHD_Result get_document(
	const struct web_setup *setup, struct MHD_Connection *connection, const char *path)
{
	uint64_t number, from;
	char *text;

	if (setup->document == NULL || !take_number(connection, "number", &number) ||
		!take_number(connection, "from", &from))
		return refuse_path(connection);
	text = setup->document(setup->ctx, path, number, from);
	if (text == NULL)
		return refuse_path(connection);
	return http_answer_own(connection, MHD_HTTP_OK, "application/json", text, strlen(text));
}

static enum MHD_Result get(
	void *ctx, struct MHD_Connection *connection, const char *path, void *request)
{
	const struct web_setup *setup = ctx;
	const struct web_page *page = web_page_find(path);

	if (strcmp(path, "/topology") == 0 && setup->topology != NULL)
		return http_answer_text(
			connection, MHD_HTTP_OK, "application/json", setup->topology);
	if (strcmp(path, "/why") == 0)
		return http_answer_text(connection, MHD_HTTP_OK, "application/json",
			setup->why != NULL ? setup->why : "null");
	if (strcmp(path, "/events") == 0) {
		http_endless(connection);
		return http_answer(connection, MHD_HTTP_OK, "text/event-stream",
			web_events_answer(setup->events, connection));
	}
	if (page != NULL)
		return answer_page(connection, page);
	return get_document(setup, connection, path);
}

/* Call when the order has been executed. */
static enum MHD_Result answer_order(
	struct MHD_Connection *connection, const struct web_order *order)
{
	json_t *document;
	char *text;

	if (order->result == -EINVAL)
		return http_refuse(connection, MHD_HTTP_BAD_REQUEST, order->error.text);
	if (order->result < 0)
		return http_refuse(connection, MHD_HTTP_SERVICE_UNAVAILABLE, order->error.text);
	document = json_pack("{s:s,s:s}", "port", order->port, "state", order->cut ? "cut" : "up");
	text = json_dumps(document, JSON_COMPACT);
	json_decref(document);
	if (text == NULL)
		return MHD_NO;
	return http_answer_own(connection, MHD_HTTP_OK, "application/json", text, strlen(text));
}

/* Compares in constant time. */
static bool token_is_right(const char *token, const char *right)
{
	unsigned differences = 0;

	if (token == NULL || strlen(token) != WEB_TOKEN_DIGITS)
		return false;
	for (unsigned i = 0; i < WEB_TOKEN_DIGITS; i++)
		differences |= (unsigned)(token[i] ^ right[i]);
	return differences == 0;
}

static enum MHD_Result post(
	void *ctx, struct MHD_Connection *connection, const char *path, void *memory)
{
	const struct web_setup *setup = ctx;
	struct request *request = memory;
	struct web_order *order = &request->order;
	const char *token = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Weft-Token");
	const char *port = MHD_lookup_connection_value(connection, MHD_GET_ARGUMENT_KIND, "port");
	const char *state = MHD_lookup_connection_value(connection, MHD_GET_ARGUMENT_KIND, "state");

	if (request->ordered)
		return answer_order(connection, order);
	if (strcmp(path, "/cable") != 0 || setup->orders == NULL)
		return refuse_path(connection);
	if (!token_is_right(token, setup->token))
		return http_refuse(connection, MHD_HTTP_FORBIDDEN,
			"A change requires the token that 'weft lab web' printed.\n");
	if (port == NULL || strlen(port) >= sizeof(order->port) || state == NULL ||
		(strcmp(state, "down") != 0 && strcmp(state, "up") != 0))
		return http_refuse(connection, MHD_HTTP_BAD_REQUEST,
			"Expected /cable?port=PORT&state=down or state=up.\n");
	snprintf(order->port, sizeof(order->port), "%s", port);
	order->cut = strcmp(state, "down") == 0;
	order->connection = connection;
	request->ordered = true;
	/* An accepted order may already be done; the next call answers it. */
	return web_orders_add(setup->orders, order) ? MHD_YES : answer_order(connection, order);
}

int web_server_start(struct http_server *server, const struct web_setup *setup, uint64_t now_ms,
	struct error *error)
{
	const struct http_calls calls = {.get = get,
		.post = post,
		.request_bytes = sizeof(struct request),
		.ctx = (void *)(uintptr_t)setup};

	return http_server_start(server, &calls, now_ms, error);
}

struct web_orders {
	pthread_mutex_t lock; /* guards everything */
	bool ended;
	struct web_order *first, **last;
};

struct web_orders *web_orders_create(void)
{
	struct web_orders *orders = calloc(1, sizeof(*orders));

	if (orders == NULL)
		return NULL;
	pthread_mutex_init(&orders->lock, NULL);
	orders->last = &orders->first;
	return orders;
}

void web_orders_destroy(struct web_orders *orders)
{
	if (orders == NULL)
		return;
	pthread_mutex_destroy(&orders->lock);
	free(orders);
}

static void refuse(struct web_order *order)
{
	order->result = error_set(&order->error, ECANCELED, "the server is shutting down");
}

bool web_orders_add(struct web_orders *orders, struct web_order *order)
{
	bool accepted;

	pthread_mutex_lock(&orders->lock);
	accepted = !orders->ended;
	order->next = NULL;
	if (!accepted) {
		refuse(order);
	} else {
		*orders->last = order;
		orders->last = &order->next;
		MHD_suspend_connection(order->connection);
	}
	pthread_mutex_unlock(&orders->lock);
	return accepted;
}

struct web_order *web_orders_take(struct web_orders *orders)
{
	struct web_order *order;

	pthread_mutex_lock(&orders->lock);
	order = orders->first;
	if (order != NULL) {
		orders->first = order->next;
		if (orders->first == NULL)
			orders->last = &orders->first;
	}
	pthread_mutex_unlock(&orders->lock);
	return order;
}

void web_orders_finish(struct web_order *order)
{
	MHD_resume_connection(order->connection);
}

void web_orders_end(struct web_orders *orders)
{
	struct web_order *order;

	pthread_mutex_lock(&orders->lock);
	orders->ended = true;
	pthread_mutex_unlock(&orders->lock);
	while ((order = web_orders_take(orders)) != NULL) {
		refuse(order);
		web_orders_finish(order);
	}
}

/* The server for the page of a run. */

#define STEP_NS 100000000 /* interval between two checks of the run */
#define EACH_S  1         /* a viewer receives data from the server at least this often, in s */

enum weft_exit web_show_open(
	struct web_show *show, const char *command, const char *option, const char *listen)
{
	struct error error = {""};

	*show = (struct web_show){.command = command};
	child_signals_block(&show->signals, &show->before);
	show->server =
		http_server_open(option, listen != NULL ? listen : WEB_RUN_LISTEN, true, &error);
	if (show->server != NULL)
		return EXIT_DONE;
	return command_fail(command, error_exit_code(-errno), "%s", error.text);
}

enum weft_exit web_show_start(struct web_show *show, struct web_run *run, const char *why)
{
	struct error error = {"out of memory"};

	show->run = run;
	show->setup = (struct web_setup){.events = web_events_create(),
		.why = why,
		.document = web_run_document,
		.ctx = run};
	show->started = show->setup.events != NULL &&
			web_server_start(show->server, &show->setup, lab_now_ms(), &error) == 0;
	if (!show->started)
		return command_fail(show->command, EXIT_NOT_ABLE, "%s", error.text);
	if (isatty(STDERR_FILENO))
		fputs("\r\033[K", stderr); /* removes the run's progress line */
	printf("http://%s/\n", http_server_address(show->server));
	if (fflush(stdout) == 0)
		return EXIT_DONE;
	return command_fail(show->command, EXIT_NOT_ABLE, "standard output: cannot be written: %s",
		strerror(errno));
}

int web_show_wait(struct web_show *show)
{
	const struct timespec step = {.tv_nsec = STEP_NS};
	int number = sigtimedwait(&show->signals, NULL, &step);
	uint64_t version;

	if (!show->started)
		return number > 0 ? number : 0;
	http_server_check(show->server, lab_now_ms());
	if (web_events_viewers(show->setup.events) > 0) {
		version = web_run_version(show->run);
		if (version != show->told || child_clock() - show->told_at >= EACH_S) {
			web_events_push(show->setup.events, web_run_event(show->run));
			show->told = version;
			show->told_at = child_clock();
		}
	}
	return number > 0 ? number : 0;
}

void web_show_close(struct web_show *show)
{
	if (show->started)
		web_events_end(show->setup.events);
	http_server_stop(show->server);
	web_events_destroy(show->setup.events);
	sigprocmask(SIG_SETMASK, &show->before, NULL);
}

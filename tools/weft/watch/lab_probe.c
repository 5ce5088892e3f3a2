/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "lab/lab_lock.h"
#include "lab/lab_query.h"
#include "lab/lab_remotes.h"
#include "lab_collect.h"
#include "wire/frame.h"

/* Each end pads at most one of three hellos, so that links stay up even if padded ones are lost. */
#define ROUNDS         3
#define ROUND_HELLOS   3
#define ROUND_SPARE_MS 1000 /* for the machine */
#define STEP_MS        50

/* Updates {port: end} from the processes that answer. 'order': then requests them to pad their next
 * hellos. */
static void look(const struct lab_state *state, bool order, json_t *ends)
{
	json_t *links, *link;
	struct lab_connection connection;
	struct error ignored;

	for (unsigned i = 0; i < state->processes; i++) {
		if (lab_connect(&connection, &state->process[i], &ignored) < 0)
			continue;
		links = lab_ask_links(&connection, &ignored);
		for (size_t index = 0; (link = json_array_get(links, index)) != NULL; index++) {
			json_object_set(ends, lab_text(link, "port"), link);
		}
		json_decref(links);
		if (order)
			lab_control(&connection, "pad", &ignored);
		lab_disconnect(&connection);
	}
}

static bool has_grown(const json_t *before, const json_t *now, const char *port, const char *name)
{
	const json_t *old = json_object_get(before, port), *end = json_object_get(now, port);

	return json_integer_value(json_object_get(end, name)) >
	       json_integer_value(json_object_get(old, name));
}

/* Returns true if no frame passes the link, whatever its length. */
static bool is_dark(const json_t *end)
{
	const char *state = lab_text(end, "state");

	return strcmp(state, "cut") == 0 || strcmp(state, "no carrier") == 0;
}

static json_t *judge(const json_t *before, const json_t *now, bool *done)
{
	json_t *list = json_array(), *end;
	const char *port;

	*done = true;
	json_object_foreach((json_t *)before, port, end) {
		const char *peer = lab_text(end, "peer");
		/* If the peer's process is not queried here, its padded hellos are the answer. */
		bool here = json_object_get(now, peer) != NULL;
		bool passes = has_grown(before, now, here ? peer : port, "full_frames_received");
		bool dark =
			is_dark(json_object_get(now, port)) || is_dark(json_object_get(now, peer));
		bool known = passes || (!dark && has_grown(before, now, port, "full_frames_sent"));

		*done = *done && (passes || dark);
		json_array_append_new(
			list, json_pack("{s:s,s:s,s:b,s:o}", "port", port, "peer", peer, "dark",
				      dark, "passes", known ? json_boolean(passes) : json_null()));
	}
	return list;
}

json_t *lab_probe(const struct lab *lab, const struct lab_state *state)
{
	uint64_t round_ms =
		ROUND_SPARE_MS + lab_real_ms(lab, ROUND_HELLOS * lab->config->run.hello_ps);
	json_t *before = json_object(), *now = json_object(), *list = NULL;
	bool done = false;

	look(state, false, before);
	for (unsigned round = 0; round < ROUNDS && !done && !lab_interrupted(); round++) {
		uint64_t until = lab_now_ms() + round_ms;

		look(state, true, now);
		while (!done && lab_now_ms() < until && !lab_interrupted()) {
			look(state, false, now);
			json_decref(list);
			list = judge(before, now, &done);
			if (!done)
				lab_sleep_ms(STEP_MS);
		}
	}
	json_decref(before);
	json_decref(now);
	return list;
}

int lab_probe_judge(const struct lab *lab, const json_t *entry, struct error *error)
{
	unsigned bytes = frame_longest(run_config_frame_payload(&lab->config->run));
	const json_t *passes = json_object_get(entry, "passes");

	if (json_is_null(passes))
		return error_set(error, ENODATA, "%s",
			json_is_true(json_object_get(entry, "dark"))
				? "the link is cut or has no carrier, so no frames pass"
				: "this end sends no hellos");
	if (json_is_true(passes)) {
		snprintf(error->text, sizeof(error->text), "frames of %u bytes reach %s", bytes,
			lab_text(entry, "peer"));
		return 0;
	}
	return error_set(error, EMSGSIZE, "frames of %u bytes do not reach %s", bytes,
		lab_text(entry, "peer"));
}

/* Identifies the kept file; 0 and 0: there is none. */
static void identify(const struct lab_watch *watch, uint64_t *inode, uint64_t *ns)
{
	char path[PATH_MAX];
	struct stat status = {.st_ino = 0};

	snprintf(path, sizeof(path), "%s/" LAB_KEPT_FILE, watch->lab.plan->run_dir);
	if (stat(path, &status) < 0)
		status = (struct stat){.st_ino = 0};
	*inode = status.st_ino;
	*ns = (uint64_t)status.st_mtim.tv_sec * 1000000000u + (uint64_t)status.st_mtim.tv_nsec;
}

enum weft_exit lab_watch_open(
	struct lab_watch *watch, const struct lab_arguments *arguments, const char *command)
{
	enum weft_exit code = lab_open_running(arguments, command, &watch->lab, &watch->state);

	if (code == EXIT_DONE)
		identify(watch, &watch->kept_inode, &watch->kept_ns);
	return code;
}

void lab_watch_close(struct lab_watch *watch)
{
	lab_state_free(&watch->state);
	lab_close(&watch->lab);
}

json_t *lab_watch_ask(struct lab_watch *watch, int *result, struct error *error)
{
	struct lab_state state;

	*result = 0;
	if (watch->state.remotes > 0) {
		lab_remotes_refresh(&watch->state);
		return lab_collect(&watch->lab, &watch->state, false);
	}
	*result = lab_watch_is_up(watch) ? lab_state_load(&state, watch->lab.plan->run_dir, error)
					 : -ENOENT;
	if (*result == -ENOENT)
		error_set(error, ENOENT, "lab %s is no longer up", watch->lab.plan->lab);
	if (*result < 0)
		return NULL;
	lab_state_free(&watch->state);
	watch->state = state;
	return lab_collect(&watch->lab, &watch->state, false);
}

bool lab_watch_is_up(const struct lab_watch *watch)
{
	uint64_t inode, ns;

	if (watch->state.remotes > 0)
		return true;
	identify(watch, &inode, &ns);
	return access(watch->lab.plan->run_dir, F_OK) == 0 && inode == watch->kept_inode &&
	       ns == watch->kept_ns;
}

uint64_t lab_watch_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "lab_ready.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "lab_query.h"

static bool leads_away(const json_t *link, const json_t *elsewhere)
{
	const char *peer = lab_text(link, "peer");
	char device[TOPOLOGY_NAME_MAX];

	snprintf(device, sizeof(device), "%.*s", (int)strcspn(peer, ":"), peer);
	return lab_elsewhere_has(elsewhere, device) || lab_elsewhere_has(elsewhere, peer);
}

/* Writes, for example, "nothing was received from spine, which runs on another machine: …". */
static void describe_unheard(const json_t *link, const json_t *elsewhere, char *out, size_t size)
{
	const char *peer = lab_text(link, "peer");
	int length = (int)strcspn(peer, ":");

	if (leads_away(link, elsewhere))
		snprintf(out, size,
			"nothing was received from %.*s, which runs on another machine; is its part of the lab up there, and does the cable connect these two ports?",
			length, peer);
	else
		snprintf(out, size, "nothing was received from the other end");
}

bool lab_ready_stranger(const json_t *link, char *out, size_t size)
{
	const char *state = lab_text(link, "state"), *there = lab_text(link, "neighbour");

	if (strcmp(state, "wrong port") == 0) {
		snprintf(out, size, "%s receives hellos of %s instead of %s",
			lab_text(link, "port"), there[0] != '\0' ? there : "an unknown port",
			lab_text(link, "peer"));
		return true;
	}
	if (strcmp(state, "other fabric") != 0)
		return false;
	snprintf(out, size, "%s is cabled to another fabric (number 0x%04x)",
		lab_text(link, "port"),
		(unsigned)json_integer_value(json_object_get(link, "neighbour_fabric")));
	return true;
}

/* A link is up once it has received hellos from the other end, and goes down after three missing
 * hellos, even if it was never up. */
static void explain(const json_t *link, const json_t *elsewhere, char why[LAB_READY_TEXT])
{
	const char *port = lab_text(link, "port"), *peer = lab_text(link, "peer");
	const char *state = lab_text(link, "state");
	char reason[200] = "the other end stopped sending";

	if (strcmp(state, "cut") == 0)
		snprintf(reason, sizeof(reason), "'weft lab link' restores it");
	else if (lab_ready_stranger(link, reason, sizeof(reason))) {
		snprintf(why, LAB_READY_TEXT, "%s: %s", reason,
			strcmp(state, "other fabric") == 0
				? "the lab there has a different name, key or lab file; these must agree on both machines (topology, switch, nic, routing, ...: "
				  "docs/how-to/run-a-lab.md)"
				: "is the cable in the ports that the topology names?");
		return;
	} else if (strcmp(state, "no carrier") == 0) {
		state = "without carrier";
		snprintf(reason, sizeof(reason),
			"is the cable plugged in, and is the other end on? (A kernel interface also has to be up: 'ip "
			"link set NAME up')");
	} else if (json_count_of(link, "sessions_seen") == 0 &&
		   json_integer_value(json_object_get(link, "bad_tag")) > 0) {
		state = "waiting";
		snprintf(reason, sizeof(reason),
			"frames arrive with wrong tags; is security.link-key the same at the "
			"other end?");
	} else if (json_count_of(link, "sessions_seen") == 0) {
		state = "waiting";
		describe_unheard(link, elsewhere, reason, sizeof(reason));
	}
	snprintf(why, LAB_READY_TEXT, "link %s - %s is %s: %s", port, peer, state, reason);
}

void lab_ready_read(json_t *links, const json_t *elsewhere, struct lab_ready *ready)
{
	json_t *link;

	*ready = (struct lab_ready){.answers = true, .links = json_array_size(links)};
	for (size_t i = 0; (link = json_array_get(links, i)) != NULL; i++) {
		if (strcmp(lab_text(link, "state"), "up") == 0) {
			ready->up++;
			continue;
		}
		ready->away += leads_away(link, elsewhere);
		if (ready->why[0] == '\0')
			explain(link, elsewhere, ready->why);
	}
}

void lab_ready_ask(
	const struct lab_record *record, const json_t *elsewhere, struct lab_ready *ready)
{
	struct lab_connection connection;
	struct error error;
	json_t *links;

	*ready = (struct lab_ready){.answers = false};
	if (lab_connect(&connection, record, &error) < 0)
		return;
	ready->answers = true;
	links = lab_ask_links(&connection, &error);
	if (links != NULL)
		lab_ready_read(links, elsewhere, ready);
	json_decref(links);
	lab_disconnect(&connection);
}

static const struct {
	const char *counter;
	const char *what[2], *pool[2]; /* at a switch, at a host */
} known[] = {
	{"no_mbuf", {"no buffer for control frames", "no buffer for sending"},
		{"the pool of control frames", "a pool of this process"}},
	{"pool_empty", {"no buffer", "no buffer"},
		{"a pool of this process", "a pool of this process"}},
};

/* Returns the number of non-zero counters of this device. 'what' describes the first one of all
 * devices. */
static unsigned check_device(
	const char *device, const json_t *counters, bool host, char what[ERROR_TEXT])
{
	unsigned found = 0;

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		json_int_t times = json_integer_value(json_object_get(counters, known[i].counter));

		if (times == 0)
			continue;
		found++;
		if (what[0] != '\0')
			continue;
		snprintf(what, ERROR_TEXT, "%s: %s, %" PRIu64 " times: %s is exhausted", device,
			known[i].what[host], (uint64_t)times, known[i].pool[host]);
	}
	return found;
}

int lab_pools_check_counters(json_t *devices, bool hosts, struct error *error)
{
	const char *device;
	json_t *counters;
	char what[ERROR_TEXT] = "";
	unsigned found = 0;

	json_object_foreach(devices, device, counters)
		found += check_device(device, counters, hosts, what);
	if (found == 0)
		return 0;
	if (found == 1)
		return error_set(error, ENOBUFS, "%s", what);
	return error_set(error, ENOBUFS, "%s (%u more counters also show this)", what, found - 1);
}

/* The counters of a switch are sums over its ports, so ports are queried only if a sum is not
 * zero. */
static int ask(struct lab_connection *connection, struct error *error)
{
	json_t *switches = json_object(), *ports = json_object(), *hosts = json_object();
	int result = lab_ask_class(connection, "switch", switches, error);

	if (result == 0)
		result = lab_ask_class(connection, "nic", hosts, error);
	if (result == 0)
		result = lab_pools_check_counters(switches, false, error);
	if (result == -ENOBUFS && lab_ask_class(connection, "port", ports, NULL) == 0)
		lab_pools_check_counters(ports, false, error);
	if (result == 0)
		result = lab_pools_check_counters(hosts, true, error);
	json_decref(switches);
	json_decref(ports);
	json_decref(hosts);
	return result;
}

int lab_pools_check(const struct lab_record *record, struct error *error)
{
	struct lab_connection connection;
	int result = lab_connect(&connection, record, error);

	if (result < 0)
		return result;
	result = ask(&connection, error);
	lab_disconnect(&connection);
	return result;
}

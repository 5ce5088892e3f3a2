/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "ib_counters.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/arrays.h"
#include "listing_reader.h"

#define ALL_PORTS 255

/* --- addresses --- */

static int compare_addresses(const void *a, const void *b)
{
	const struct ib_address *x = a, *y = b;

	if (x->port != y->port)
		return x->port < y->port ? -1 : 1;
	if (x->guid != y->guid)
		return x->guid < y->guid ? -1 : 1;
	return (x->lid > y->lid) - (x->lid < y->lid);
}

void ib_addresses_sort(struct ib_addresses *addresses)
{
	if (addresses->count > 0)
		qsort(addresses->at, addresses->count, sizeof(*addresses->at), compare_addresses);
}

/* Returns the index of the first address that does not sort before this port number and GUID. LIDs
 * are then searched linearly. */
static uint32_t first_of(const struct ib_addresses *addresses, uint32_t port, uint64_t guid)
{
	struct ib_address wanted = {.guid = guid, .port = port};
	uint32_t low = 0, high = addresses->count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (compare_addresses(&addresses->at[middle], &wanted) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

const struct ib_address *ib_address_find(
	const struct ib_addresses *addresses, uint64_t guid, uint32_t lid, uint32_t port)
{
	uint32_t i = first_of(addresses, port, guid);

	if (guid != 0 && i < addresses->count && addresses->at[i].port == port &&
		addresses->at[i].guid == guid)
		return &addresses->at[i];
	for (i = first_of(addresses, port, 0);
		lid != 0 && i < addresses->count && addresses->at[i].port == port; i++)
		if (addresses->at[i].lid == lid)
			return &addresses->at[i];
	return NULL;
}

/* --- counters --- */

struct reading {
	struct ib_counters *counters;
	bool open; /* counters on the next lines belong to the last port */
	uint32_t data;
};

static struct ib_counter *last_of(const struct reading *reading)
{
	return &reading->counters->at[reading->counters->count - 1];
}

static int add_port(struct listing_reader *reader, struct ib_counter counter)
{
	struct reading *reading = reader->context;
	struct ib_counters *counters = reading->counters;

	if (counter.port == ALL_PORTS)
		return 0;
	counter.line = reader->number;
	if (!array_reserve(
		    &counters->at, &counters->room, counters->count + 1u, sizeof(*counters->at)))
		return -ENOMEM;
	counters->at[counters->count++] = counter;
	reading->open = true;
	return 0;
}

/* # Port extended counters: Lid 3 port 1 (CapMask: 0x5A00 CapMask2: 0x0000000) */
static int read_perfquery_head(struct listing_reader *reader)
{
	struct ib_counter counter = {0};
	struct ib_text ignored;
	int result = listing_until(reader, "Lid ", &ignored);

	if (result == 0)
		result = listing_number(reader, listing_word(reader), 10, UINT16_MAX, &counter.lid);
	if (result == 0)
		result = listing_until(reader, "port ", &ignored);
	if (result == 0)
		result = listing_number(reader, listing_word(reader), 10, ALL_PORTS, &counter.port);
	return result == 0 ? add_port(reader, counter) : result;
}

static int expect_number(struct listing_reader *reader, struct ib_text text, uint64_t *value)
{
	bool hex = text.length > 1 && text.start[0] == '0' && text.start[1] == 'x';

	if (ib_number(text, hex ? 16 : 10, UINT64_MAX, value))
		return 0;
	reader->at = text.start;
	return listing_refuse(
		reader, "expected a number, found '%.*s'", ib_shown(text), text.start);
}

/* Port=1 Lid=0x0003 GUID=0x0002c90200404780 Device=51000 Port Name=leaf 1/P1 */
static int read_pm_head(struct listing_reader *reader)
{
	struct ib_counter counter = {0};
	struct ib_text ignored;
	uint64_t lid = 0;
	int result = listing_number(reader, listing_word(reader), 10, ALL_PORTS, &counter.port);

	if (result == 0)
		result = listing_until(reader, "Lid=", &ignored);
	if (result == 0)
		result = expect_number(reader, listing_word(reader), &lid);
	if (result == 0)
		result = listing_until(reader, "GUID=", &ignored);
	if (result == 0)
		result = expect_number(reader, listing_word(reader), &counter.guid);
	counter.lid = lid <= UINT16_MAX ? (uint32_t)lid : 0;
	return result == 0 ? add_port(reader, counter) : result;
}

static void set_data(struct reading *reading, uint64_t words)
{
	last_of(reading)->known = true;
	last_of(reading)->words = words;
	reading->data++;
}

/* Reads [PortXmitData == 19892634015130 (4.2TB)] if the line has it. */
static int read_bracket(
	struct listing_reader *reader, const char *name, uint64_t *value, bool *found)
{
	const char *start = reader->at;
	struct ib_text ignored, text;
	int result;

	*found = listing_until(reader, name, &ignored) == 0;
	if (*found) {
		text.start = reader->at;
		for (text.length = 0; text.start + text.length < reader->end &&
				      text.start[text.length] >= '0' &&
				      text.start[text.length] <= '9';)
			text.length++;
		result = expect_number(reader, text, value);
	} else {
		result = 0;
	}
	if (result == 0)
		reader->at = start;
	return result;
}

/* GUID 0x2c90200404780 port 1: [PortXmitWait == 12] [PortXmitData == 345 (1.348KB)] */
static int read_errors_line(struct listing_reader *reader)
{
	struct reading *reading = reader->context;
	struct ib_counter counter = {0};
	struct ib_text port;
	uint64_t words;
	bool found;
	int result = expect_number(reader, listing_word(reader), &counter.guid);

	if (result == 0 && !listing_take(reader, "port"))
		return listing_refuse(reader, "expected 'port' after the GUID");
	if (result == 0)
		result = listing_until(reader, ":", &port);
	while (result == 0 && port.length > 0 && *port.start == ' ') {
		port.start++;
		port.length--;
	}
	if (result < 0 || listing_is(port, "ALL"))
		return result;
	result = listing_number(reader, port, 10, ALL_PORTS, &counter.port);
	if (result == 0)
		result = read_bracket(reader, "[PortXmitWait == ", &counter.wait, &found);
	if (result == 0)
		result = read_bracket(reader, "[PortXmitData == ", &words, &found);
	if (result == 0)
		result = add_port(reader, counter);
	if (result == 0 && found && reading->open)
		set_data(reading, words);
	reading->open = false;
	return result;
}

/* PortXmitData:....................9049592493976, or port_xmit_data=0x0000000000000012 */
static int read_counter(struct listing_reader *reader)
{
	static const struct {
		const char *name;
		bool wait;
	} names[] = {{"PortXmitData:", false}, {"XmtData:", false}, {"PortXmitWait:", true},
		{"XmtWait:", true}, {"port_xmit_data=", false}, {"port_xmit_data_extended=", false},
		{"port_xmit_wait=", true}, {"port_xmit_wait_extended=", true}};
	struct reading *reading = reader->context;
	struct ib_text word;
	uint64_t value;
	unsigned i = 0;
	int result;

	while (i < sizeof(names) / sizeof(names[0]) && !listing_take(reader, names[i].name))
		i++;
	if (i == sizeof(names) / sizeof(names[0]) || !reading->open)
		return 0;
	while (reader->at < reader->end && *reader->at == '.')
		reader->at++;
	word = listing_word(reader);
	if (listing_is(word, "NA"))
		return 0;
	result = expect_number(reader, word, &value);
	if (result == 0 && names[i].wait)
		last_of(reading)->wait = value;
	else if (result == 0)
		set_data(reading, value);
	return result;
}

static int read_line(struct listing_reader *reader)
{
	struct reading *reading = reader->context;
	int (*head)(struct listing_reader *) = NULL;

	if (listing_take(reader, "# Port "))
		head = read_perfquery_head;
	else if (listing_take(reader, "Port="))
		head = read_pm_head;
	else if (listing_take(reader, "GUID "))
		head = read_errors_line;
	if (head == NULL)
		return read_counter(reader);
	reading->open = false;
	return head(reader);
}

/* 32-bit counters stop at their maximum, so a value that equals it is not reliable. */
static int check_ends(const struct ib_counters *counters, uint32_t first, const char *origin,
	struct topology_import *import, struct error *error)
{
	int result = 0;

	for (uint32_t i = first; i < counters->count && result == 0; i++) {
		struct ib_counter *counter = &counters->at[i];
		struct error odd;

		if (!counter->known ||
			(counter->words != UINT32_MAX && counter->words != UINT64_MAX))
			continue;
		counter->known = false;
		error_at(&odd, origin, counter->line, 1,
			"PortXmitData of port %u is %" PRIu64
			", the counter's maximum; perfquery -x reads 64 bits",
			counter->port, counter->words);
		result = topology_import_odd(import, &odd, "the port is left out", error);
	}
	return result;
}

int ib_counters_read(struct ib_counters *counters, const char *text, size_t length,
	const char *origin, struct topology_import *import, struct error *error)
{
	struct reading reading = {.counters = counters};
	struct listing_reader reader = {.line = read_line,
		.context = &reading,
		.comments = true,
		.origin = origin,
		.import = import};
	uint32_t first = counters->count;
	int result = listing_reader_lines(&reader, text, length, error);

	if (result == 0 && reading.data == 0)
		return error_set(error, EINVAL,
			"%s: no port has PortXmitData; use the output of perfquery -x, "
			"ibqueryerrors --data or ibdiagnet (ibdiagnet2.pm)",
			origin);
	return result == 0 ? check_ends(counters, first, origin, import, error) : result;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "lab_query.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

json_t *lab_clocks_create(void)
{
	return json_pack("{s:i,s:i,s:i,s:i,s:s,s:s,s:b}", "pairs", 0, "known", 0, "steps", 0,
		"bound_ns", 0, "at", "", "of", "", "cut", 0);
}

/* Adds up the sums, and keeps the pair with the largest bound. */
static void add_total(json_t *total, const json_t *more)
{
	static const char *const sums[] = {"pairs", "known", "steps"};
	static const char *const worst[] = {"bound_ns", "at", "of"};

	for (unsigned i = 0; i < sizeof(sums) / sizeof(sums[0]); i++)
		json_object_set_new(total, sums[i],
			json_integer(json_count_of(total, sums[i]) + json_count_of(more, sums[i])));
	if (json_count_of(more, "known") == 0 ||
		json_count_of(more, "bound_ns") < json_count_of(total, "bound_ns"))
		return;
	for (unsigned i = 0; i < sizeof(worst) / sizeof(worst[0]); i++)
		json_object_set(total, worst[i], json_object_get(more, worst[i]));
}

/* Returns the number after the last one on the page. */
static unsigned long long behind_page(const json_t *page)
{
	unsigned long long next = 0;
	const char *key;
	json_t *value;

	json_object_foreach((json_t *)page, key, value) {
		unsigned long long number = strtoull(key, NULL, 10);

		next = number >= next ? number + 1 : next;
	}
	return next;
}

/* Reads pages from the process until a page is empty or the list is full. */
static int add_pairs(json_t *clocks, struct lab_connection *connection, struct error *error)
{
	unsigned long long next = 0;
	char command[64];
	size_t count = 1;

	while (count > 0 && json_array_size(clocks) < LAB_CLOCKS_MOST) {
		json_t *page;

		snprintf(command, sizeof(command), "/weft/clocks,%llu", next);
		page = lab_ask(connection, command, error);
		if (page == NULL)
			return -EPROTO;
		next = behind_page(page);
		count = lab_append_page(clocks, page);
		json_decref(page);
	}
	while (json_array_size(clocks) > LAB_CLOCKS_MOST)
		json_array_remove(clocks, json_array_size(clocks) - 1);
	return 0;
}

int lab_clocks_add(json_t *all, struct lab_connection *connection, struct error *error)
{
	json_t *total = json_object_get(all, "clocks_total"), *clocks;
	json_t *more = lab_ask(connection, "/weft/clocks/total", error);
	int result = 0;

	if (more == NULL)
		return -EPROTO;
	add_total(total, more);
	clocks = json_object_get(all, "clocks");
	if (clocks != NULL && json_count_of(more, "pairs") > 0)
		result = add_pairs(clocks, connection, error);
	json_decref(more);
	if (clocks != NULL && json_array_size(clocks) < json_count_of(total, "pairs"))
		json_object_set_new(total, "cut", json_true());
	return result;
}

void lab_clocks_merge(json_t *all, const json_t *part)
{
	json_t *total = json_object_get(all, "clocks_total");
	const json_t *more = json_object_get(part, "clocks_total");

	add_total(total, more);
	if (json_flag_of(more, "cut"))
		json_object_set_new(total, "cut", json_true());
	json_array_extend(json_object_get(all, "clocks"), json_object_get(part, "clocks"));
}

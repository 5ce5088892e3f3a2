/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Run and lab files and the pages of docs/ contain every entry of the lists in lib. */

#include "unit.h"

#include "experiment/lab/lab_config.h"
#include "nic/selectors/route_choice.h"
#include "queuing/queuing.h"
#include "route/route_algorithm.h"
#include "switch/adaptive_routing.h"
#include "topo/generator.h"
#include "traffic/traffic_pattern.h"

#define BODY "topology: \"rlft:ports=4,stages=2\"\nswitch: {vcs: 4}\n"

/* The other keys that an entry of 'traffic' with this pattern needs. */
static const char *needs_of(const struct traffic_pattern *pattern)
{
	if (pattern->schedule || pattern->packets)
		return ", file: schedule-or-capture";
	if (pattern->bursty)
		return ", on: 10us, off: 10us, load: 10%";
	return (pattern->keys & TRAFFIC_SHARE) != 0 ? ", to: [h1]" : "";
}

/* The part of a file with one key of run_words[]. */
static void write_key(char *text, size_t size, const struct run_words *key, const char *word)
{
	const struct traffic_pattern *pattern = name_table_find(&traffic_patterns, word);
	const char *dot = strchr(key->key, '.');

	if (key->list == &traffic_patterns)
		snprintf(text, size, "traffic: [{pattern: %s%s}]\n", word,
			pattern != NULL ? needs_of(pattern) : "");
	else if (dot == NULL)
		snprintf(text, size, "%s: %s\n", key->key, word);
	else
		snprintf(text, size, "%.*s: {%s: %s}\n", (int)(dot - key->key), key->key, dot + 1,
			word);
}

static void check_run(const struct run_words *key, const char *word)
{
	char text[512] = "weft: run/1\nclock: virtual\n" BODY, printed[128], *explained = NULL;
	struct error error = {""};
	OWNED(run_config) *config;
	size_t length;
	FILE *out = open_memstream(&explained, &length);

	write_key(text + strlen(text), sizeof(text) - strlen(text), key, word);
	config = run_config_parse(text, strlen(text), "run", NULL, 0, &error);
	assert_string_equal(error.text, "");
	run_config_explain(config, out);
	fclose(out);
	snprintf(printed, sizeof(printed), "%s: %s",
		key->list == &traffic_patterns  ? "pattern"
		: strchr(key->key, '.') != NULL ? strchr(key->key, '.') + 1
						: key->key,
		word);
	assert_non_null(strstr(explained, printed));
	free(explained);
}

static void check_lab(const struct run_words *key, const char *word)
{
	char text[512] = "weft: lab/1\n" BODY;
	struct error error = {""};
	OWNED(lab_config) *config;

	write_key(text + strlen(text), sizeof(text) - strlen(text), key, word);
	config = lab_config_parse(text, strlen(text), "lab", NULL, 0, &error);
	/* The value is read. A later check decides whether a lab accepts it. */
	if (config == NULL)
		assert_null(strstr(error.text, "one of"));
}

UNIT_TEST(files_accept_every_word_and_write_it_back)
{
	for (const struct run_words *key = run_words; key->key != NULL; key++)
		for (unsigned i = 0; i < key->list->count; i++) {
			const char *word = name_table_name(key->list->entry[i]);

			check_run(key, word);
			check_lab(key, word);
		}
}

UNIT_TEST(a_message_about_an_unknown_word_names_all)
{
	for (const struct run_words *key = run_words; key->key != NULL; key++) {
		char text[512] = "weft: run/1\nclock: virtual\n" BODY, all[WORD_LIST_HINT];
		struct error error = {""};

		write_key(text + strlen(text), sizeof(text) - strlen(text), key, "xyzzyxyzzy");
		assert_null(run_config_parse(text, strlen(text), "run", NULL, 0, &error));
		name_table_hint(key->list, NULL, all);
		assert_true(strlen(all) < WORD_LIST_HINT - 1);
		assert_non_null(strstr(error.text, all));
	}
}

static char *read_pages(const char *const *names)
{
	char *text = calloc(1, 1 << 18);
	size_t used = 0;

	assert_non_null(text);
	for (; *names != NULL; names++) {
		char path[256];
		FILE *in;

		snprintf(path, sizeof(path), SOURCE_ROOT "/docs/%s", *names);
		in = fopen(path, "r");
		assert_non_null(in);
		used += fread(text + used, 1, (1 << 18) - 1 - used, in);
		fclose(in);
	}
	return text;
}

static void expect_in_pages(
	const struct name_table *list, const char *const *pages, const char *what)
{
	char *text = read_pages(pages), word[80];

	for (unsigned i = 0; i < list->count; i++) {
		snprintf(word, sizeof(word), "`%s`", name_table_name(list->entry[i]));
		if (strstr(text, word) == NULL)
			fail_msg("%s %s: docs/%s do not have it", what, word, pages[0]);
	}
	free(text);
}

/* The first column of a table of a page: "| `word`". */
static void expect_in_table(const struct name_table *list, const char *page, const char *head)
{
	const char *const pages[] = {page, NULL};
	char *text = read_pages(pages), *table = strstr(text, head), *end, row[80];

	assert_non_null(table);
	end = strstr(table, "\n\n");
	assert_non_null(end);
	*end = '\0';
	for (unsigned i = 0; i < list->count; i++) {
		snprintf(row, sizeof(row), "`%s`", name_table_name(list->entry[i]));
		if (strstr(table, row) == NULL)
			fail_msg("docs/%s: the table '%s' has no %s", page, head, row);
	}
	free(text);
}

UNIT_TEST(every_word_has_a_summary)
{
	for (const struct run_words *key = run_words; key->key != NULL; key++)
		for (unsigned i = 0; i < key->list->count; i++) {
			const char *summary = name_table_summary(key->list->entry[i]);

			if (summary == NULL || summary[0] == '\0')
				fail_msg("%s %s: expected a summary", key->key,
					name_table_name(key->list->entry[i]));
		}
}

UNIT_TEST(the_table_of_topologies_has_every_kind)
{
	expect_in_table(&generators, "reference/topology-file.md",
		"| Kind (options) | Ports of a switch |");
}

UNIT_TEST(the_routing_pages_have_every_algorithm)
{
	static const char *const pages[] = {"explanation/routing-and-itbs.md", NULL};

	expect_in_pages(&route_algorithms, pages, "algorithm");
}

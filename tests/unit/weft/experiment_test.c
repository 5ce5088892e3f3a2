/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Definitions of experiments and the published numbers beside them. */

#include "unit.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "published.h"
#include "trial.h"

#define FOLDER SOURCE_ROOT "/topo/reproduce"

#define HEAD                                                                 \
	"weft: reproduce/1\npaper: P\nplace: table 1\ntitle: T\ntime: 1 s\n" \
	"measure: productivity\nrun: run.yaml\npublished: rows.csv\n"        \
	"networks: [{name: A, n: 10}, {name: B, n: 3}]\nalgorithms: [{name: X}, {name: Y}]\n"

static char folder[64];

static int make_folder(void **state)
{
	strcpy(folder, "/tmp/weft-experiment-XXXXXX");
	return mkdtemp(folder) == NULL;
}

static char *path_of(const char *name)
{
	static char path[128];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return path;
}

static int remove_folder(void **state)
{
	unlink(path_of("e.yaml"));
	unlink(path_of("rows.csv"));
	return rmdir(folder);
}

static void write_file(const char *name, const char *text)
{
	FILE *out = fopen(path_of(name), "w");

	assert_non_null(out);
	fputs(text, out);
	fclose(out);
}

static struct experiment *load(const char *text)
{
	struct fault fault = {""};
	struct experiment *experiment;

	write_file("e.yaml", text);
	experiment = experiment_load(path_of("e.yaml"), &fault);
	assert_string_equal(fault.text, "");
	return experiment;
}

UNIT_TEST(a_definition_is_named_after_its_file_and_has_the_thesis_methods)
{
	struct experiment *experiment = load(HEAD);

	assert_string_equal(experiment->name, "e");
	assert_string_equal(experiment->run_file, path_of("run.yaml"));
	assert_string_equal(experiment->published, path_of("rows.csv"));
	assert_int_equal(experiment->warmup_messages, 200000);
	assert_int_equal(experiment->messages, 200000);
	assert_int_equal(experiment->networks.at[0].copies, 10);
	assert_int_equal(experiment->cases.count, 1);
	experiment_destroy(experiment);
}

UNIT_TEST(wrong_definitions_are_refused_with_their_place)
{
	static const struct {
		const char *text, *message;
	} cases[] = {
		{HEAD "cases: [{name: C, set: [load]}]\n", "e.yaml:11:25: expected KEY=VALUE"},
		{HEAD "cases: [{name: C, traffic: 0}]\n",
			"e.yaml:11:28: expected flits/ns/switch, such as 0.015"},
		{HEAD "nothing: 1\n", "nothing"},
		{"weft: run/1\n", "reproduce/1"},
	};

	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct fault fault = {""};

		write_file("e.yaml", cases[i].text);
		assert_null(experiment_load(path_of("e.yaml"), &fault));
		assert_non_null(strstr(fault.text, cases[i].message));
	}
}

UNIT_TEST(quick_leaves_what_it_names)
{
	struct experiment *experiment = load(
		HEAD "quick: {networks: B, algorithms: \"Y,X\", n: 2, warmup: 7, messages: 8}\n");
	struct fault fault;

	assert_int_equal(experiment_reduce(experiment, &fault), 0);
	assert_int_equal(experiment->networks.count, 1);
	assert_string_equal(experiment->networks.at[0].name, "B");
	assert_int_equal(experiment->networks.at[0].copies, 2);
	assert_int_equal(experiment->algorithms.count, 2);
	assert_int_equal(experiment->warmup_messages, 7);
	assert_int_equal(experiment->messages, 8);
	experiment_destroy(experiment);
	experiment = load(HEAD "quick: {networks: C}\n");
	assert_int_equal(experiment_reduce(experiment, &fault), -EINVAL);
	experiment_destroy(experiment);
}

UNIT_TEST(the_number_of_the_instance_stands_where_n_does)
{
	static const char *const cases[][2] = {{"seed={n}", "seed=12"},
		{"a={n}{n},b=[h{n*47}]", "a=1212,b=[h564]"}, {"{m}{", "{m}{"}, {"", ""},
		{"{n*}", "{n*}"}};

	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *text = experiment_expand(cases[i][0], 12);

		assert_string_equal(text, cases[i][1]);
		free(text);
	}
}

UNIT_TEST(published_rows_are_those_of_what_is_there)
{
	struct experiment *experiment = load(HEAD);
	struct published published;
	struct fault fault = {""};

	write_file("rows.csv", "# a paper\nquantity,case,network,algorithm,over,min,max,mean\n"
			       "factor,,B,Y,X,0.9,1.1,1.05\nvalue,,A,X,,,,0.2\nfactor,,C,Y,X,,,3\n"
			       "below-10,,A,Y,,,,64\npercent,,A,Y,X,,,\n");
	assert_int_equal(published_load(&published, experiment, &fault), 0);
	assert_int_equal(published.rows, 4);
	assert_int_equal(published.row[0].network, 1);
	assert_int_equal(published.row[0].algorithm, 1);
	assert_int_equal(published.row[0].over, 0);
	assert_true(published.row[0].min == 0.9 && published.row[0].mean == 1.05);
	assert_int_equal(published.row[1].quantity, PUBLISHED_VALUE);
	assert_true(isnan(published.row[1].min));
	assert_int_equal(published.row[2].quantity, PUBLISHED_LINK_BELOW);
	assert_int_equal(published.row[2].limit, 10);
	assert_true(isnan(published.row[3].mean));
	published_fini(&published);
	experiment_destroy(experiment);
}

UNIT_TEST(wrong_rows_are_refused_with_their_line)
{
	static const char *const rows[] = {"factor,,B,Y,X,0.9,1.1\n", "factor,,B,Y,X,a,1.1,1\n",
		"factor,,B,Y,,,,1\n", "value,,B,Y,X,,,1\n", "ratio,,B,Y,X,,,1\n",
		"slowdown,,B,Y,,,,1\n", "at-,,B,Y,,,,1\n", "factor,,B,Y,X,,,1,,\n",
		"max,,B,Y,,,1,,near one that is far too long for the column\n"};
	struct experiment *experiment = load(HEAD);

	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct published published;
		struct fault fault = {""};
		char text[256];

		snprintf(text, sizeof(text),
			"quantity,case,network,algorithm,over,min,max,mean\n%s", rows[i]);
		write_file("rows.csv", text);
		assert_int_equal(published_load(&published, experiment, &fault), -EINVAL);
		assert_non_null(strstr(fault.text, "rows.csv:2:"));
		published_fini(&published);
	}
	experiment_destroy(experiment);
}

UNIT_TEST(words_of_a_paper_make_its_numbers_our_reading)
{
	struct experiment *experiment = load(HEAD);
	struct published published;
	struct fault fault = {""};

	write_file("rows.csv", "quantity,case,network,algorithm,over,min,max,mean,words\n"
			       "above-30,,A,Y,,,0.1,,near 0\nmax,,B,Y,,,8,\n");
	assert_int_equal(published_load(&published, experiment, &fault), 0);
	assert_int_equal(published.row[0].quantity, PUBLISHED_LINK_ABOVE);
	assert_int_equal(published.row[0].limit, 30);
	assert_string_equal(published.row[0].words, "near 0");
	assert_true(published_is_reading(&published.row[0]));
	assert_false(published_is_reading(&published.row[1]));
	published_fini(&published);
	experiment_destroy(experiment);
}

UNIT_TEST(moments_of_a_course_are_rows)
{
	struct experiment *experiment = load(HEAD "cases: [{name: P}, {name: Q}]\n");
	struct published published;
	struct fault fault = {""};

	write_file("rows.csv", "quantity,case,network,algorithm,over,min,max,mean\n"
			       "at-13,P,B,Y,,0.8,,\nend,P,A,X,Y,,,1\nslowdown,Q,A,X,P,,1.1,\n"
			       "slowdown,Q,A,X,R,,1.1,\n");
	assert_int_equal(published_load(&published, experiment, &fault), 0);
	assert_int_equal(published.rows, 3);
	assert_int_equal(published.row[0].quantity, PUBLISHED_AT);
	assert_int_equal(published.row[0].limit, 13);
	assert_true(published_is_claim(&published.row[0]));
	assert_true(published_is_relative(&published.row[1]));
	assert_int_equal(published.row[2].over, 0);
	published_fini(&published);
	experiment_destroy(experiment);
}

UNIT_TEST(a_selection_may_name_networks_cases_and_algorithms)
{
	struct experiment *experiment = load(HEAD "cases: [{name: P}, {name: Q}]\n");
	struct fault fault;

	assert_int_equal(experiment_select(experiment, "Y,B", &fault), 0);
	assert_int_equal(experiment->networks.count, 1);
	assert_string_equal(experiment->networks.at[0].name, "B");
	assert_int_equal(experiment->cases.count, 2);
	assert_int_equal(experiment->algorithms.count, 1);
	assert_string_equal(experiment->algorithms.at[0].name, "Y");
	experiment_destroy(experiment);
	experiment = load(HEAD);
	assert_int_equal(experiment_select(experiment, "Y,C", &fault), -EINVAL);
	experiment_destroy(experiment);
}

/* Lines with numbers. */
static unsigned count_rows(const char *path)
{
	FILE *in = fopen(path, "r");
	unsigned rows = 0;
	char line[512];

	assert_non_null(in);
	while (fgets(line, sizeof(line), in) != NULL)
		rows += line[0] != '#' && strncmp(line, "quantity,", 9) != 0;
	fclose(in);
	return rows;
}

/* A misspelt name would only leave its rows out. */
static void check_rows(struct experiment *experiment)
{
	struct published published;
	struct fault fault = {""};

	assert_int_equal(published_load(&published, experiment, &fault), 0);
	assert_int_equal(published.rows, count_rows(experiment->published));
	published_fini(&published);
}

/* The changed file is a run file that runs, for each network, case and algorithm. */
static void check_run_files(const struct experiment *experiment)
{
	unsigned algorithms = experiment->algorithms.count, cases = experiment->cases.count;

	for (unsigned i = 0; i < experiment->networks.count * cases * algorithms; i++) {
		struct fault fault = {""};
		struct trial trial;

		trial_init(&trial, experiment, i / algorithms % cases, i / algorithms / cases, 0,
			i % algorithms, &fault);
		assert_string_equal(fault.text, "");
		assert_true(trial.load > 0 && trial.load <= 1);
		trial_fini(&trial);
	}
}

UNIT_TEST(our_experiments_use_every_row_and_make_run_files_that_run)
{
	DIR *dir = opendir(FOLDER);
	const struct dirent *entry;
	unsigned experiments = 0;

	assert_non_null(dir);
	while ((entry = readdir(dir)) != NULL) {
		const char *end = strrchr(entry->d_name, '.');
		struct experiment *experiment;
		struct fault fault = {""};
		char path[1024];

		if (end == NULL || strcmp(end, ".yaml") != 0 ||
			strncmp(entry->d_name, "run-", 4) == 0)
			continue;
		snprintf(path, sizeof(path), FOLDER "/%s", entry->d_name);
		experiment = experiment_load(path, &fault);
		assert_string_equal(fault.text, "");
		if (experiment->missing[0] == '\0' && experiment->members == 0) {
			check_rows(experiment);
			check_run_files(experiment);
			assert_int_equal(experiment_reduce(experiment, &fault), 0);
		}
		experiment_destroy(experiment);
		experiments++;
	}
	closedir(dir);
	assert_in_range(experiments, 30, 1000);
}

UNIT_MAIN(make_folder, remove_folder)

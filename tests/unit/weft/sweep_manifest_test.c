/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Whether results that are there belong to the sweep that is asked for. */

#include "unit.h"

#include "sweep_manifest.h"

static json_t *manifest(const char *text)
{
	json_t *document = json_loads(text, 0, NULL);

	assert_non_null(document);
	return document;
}

#define BEGAN                                                                                \
	"{\"configuration\": {\"switch\": {\"vcs\": 1}, \"traffic\": [{\"load\": \"5%\"}]}," \
	" \"vary\": [{\"key\": \"a\", \"values\": [\"1\", \"2\"]}], \"seeds\": null,"        \
	" \"run_file\": \"/a/r.yaml\", \"files\": {\"/t.yaml\": 77}, \"program\": \"ab\"}"

static void assert_both_compared(
	const char *there_text, const char *asked_text, int result, const char *message)
{
	json_t *there = manifest(there_text), *asked = manifest(asked_text);
	struct fault fault = {.text = ""};

	assert_int_equal(sweep_manifest_compare(there, asked, &fault), result);
	assert_string_equal(fault.text, message);
	json_decref(there);
	json_decref(asked);
}

static void assert_compared(const char *asked_text, int result, const char *message)
{
	assert_both_compared(BEGAN, asked_text, result, message);
}

UNIT_TEST(the_same_sweep_goes_on)
{
	assert_compared(BEGAN, 0, "");
}

UNIT_TEST(the_run_file_may_have_moved)
{
	assert_compared(
		"{\"configuration\": {\"switch\": {\"vcs\": 1}, \"traffic\": [{\"load\": \"5%\"}]},"
		" \"vary\": [{\"key\": \"a\", \"values\": [\"1\", \"2\"]}], \"seeds\": null,"
		" \"run_file\": \"/b/r.yaml\", \"files\": {\"/t.yaml\": 77}, \"program\": \"ab\"}",
		0, "");
}

UNIT_TEST(a_changed_key_is_named)
{
	assert_compared(
		"{\"configuration\": {\"switch\": {\"vcs\": 2}, \"traffic\": [{\"load\": \"5%\"}]}}",
		-EINVAL, "switch.vcs is now 2, the sweep there began with 1");
	assert_compared(
		"{\"configuration\": {\"switch\": {\"vcs\": 1}, \"traffic\": [{\"load\": \"9%\"}]}}",
		-EINVAL, "traffic[0].load is now \"9%\", the sweep there began with \"5%\"");
}

UNIT_TEST(a_changed_vary_is_named)
{
	assert_compared(
		"{\"configuration\": {\"switch\": {\"vcs\": 1}, \"traffic\": [{\"load\": \"5%\"}]},"
		" \"vary\": [{\"key\": \"a\", \"values\": [\"1\", \"3\"]}]}",
		-EINVAL, "--vary[0].values[1] is now \"3\", the sweep there began with \"2\"");
}

UNIT_TEST(other_seeds_are_another_sweep)
{
	assert_compared(
		"{\"configuration\": {\"switch\": {\"vcs\": 1}, \"traffic\": [{\"load\": \"5%\"}]},"
		" \"vary\": [{\"key\": \"a\", \"values\": [\"1\", \"2\"]}],"
		" \"seeds\": {\"first\": 1, \"count\": 2}}",
		-EINVAL,
		"--seeds is now {\"first\":1,\"count\":2}, the sweep there began with null");
}

UNIT_TEST(a_changed_topology_file_is_named)
{
	assert_compared(
		"{\"configuration\": {\"switch\": {\"vcs\": 1}, \"traffic\": [{\"load\": \"5%\"}]},"
		" \"vary\": [{\"key\": \"a\", \"values\": [\"1\", \"2\"]}], \"seeds\": null,"
		" \"files\": {\"/t.yaml\": 78}}",
		-EINVAL, "/t.yaml has changed since the sweep there began");
}

#define SAME "\"configuration\": {}, \"vary\": [], \"seeds\": null, \"files\": {}"

UNIT_TEST(another_build_is_another_sweep)
{
	assert_both_compared("{" SAME ", \"program\": \"ab\"}", "{" SAME ", \"program\": \"ac\"}",
		-EINVAL,
		"weft-fabric is another build than the one that the sweep there began with");
}

UNIT_TEST(a_sweep_that_does_not_say_its_build_is_another)
{
	assert_both_compared("{" SAME ", \"version\": \"0.1.0\"}",
		"{" SAME ", \"program\": \"ac\"}", -EINVAL,
		"the sweep there does not say which build of weft-fabric it ran");
}

UNIT_MAIN(NULL, NULL)

/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "unit.h"

#include <errno.h>

#include "yaml/yaml_tree.h"

static struct yaml_tree *parse(const char *text, struct error *error)
{
	return yaml_tree_parse(text, strlen(text), "t.yaml", error);
}

static void assert_refused(const char *text, const char *message)
{
	struct error error = {""};
	struct yaml_tree *tree = parse(text, &error);

	assert_null(tree);
	assert_int_equal(errno, EINVAL);
	assert_string_equal(error.text, message);
}

UNIT_TEST(nodes_know_line_and_column)
{
	struct error error;
	OWNED(yaml_tree) *tree = parse("a: 1\nlist:\n  - {b: xyz}\n", &error);
	const struct yaml_tree_node *list = yaml_tree_get(yaml_tree_root(tree), "list");
	const struct yaml_tree_node *b = yaml_tree_get(list->first, "b");

	assert_string_equal(b->text, "xyz");
	assert_int_equal(b->line, 3);
	assert_int_equal(b->column, 9);
	assert_int_equal(b->key_column, 6);
}

UNIT_TEST(duplicate_keys_are_refused_with_both_lines)
{
	assert_refused(
		"a: 1\nb: 2\na: 3\n", "t.yaml:3:1: duplicate key 'a'; the first one is in line 1");
}

UNIT_TEST(anchors_aliases_and_tags_are_refused)
{
	assert_refused("a: &x [1]\n", "t.yaml:1:4: anchors (&name) are not accepted");
	assert_refused("a: *x\n", "t.yaml:1:4: aliases (*name) are not accepted");
	assert_refused("a: !!str b\n", "t.yaml:1:4: tags (!name) are not accepted");
}

UNIT_TEST(a_second_document_is_refused)
{
	assert_refused("a: 1\n---\nb: 1\n", "t.yaml:2:1: a file must contain only one document");
}

UNIT_TEST(an_empty_file_is_refused)
{
	assert_refused("", "t.yaml:1:1: expected a value, found nothing");
	assert_refused("# only a comment\n", "t.yaml:1:1: expected a value, found nothing");
}

UNIT_TEST(broken_yaml_is_refused_where_it_breaks)
{
	struct error error = {""};

	assert_null(parse("a: [1, 2\nb: 3\n", &error));
	assert_true(strncmp(error.text, "t.yaml:2:", 9) == 0);
	assert_non_null(strstr(error.text, "not valid YAML"));
	assert_null(parse("a: \xff\xfe\n", &error));
	assert_non_null(strstr(error.text, "not text"));
}

UNIT_TEST(keys_that_are_no_text_are_refused)
{
	assert_refused("[a, b]: 1\n", "t.yaml:1:1: a key must be a string");
}

UNIT_TEST(control_characters_are_refused)
{
	assert_refused("a: \"x\\u0007\"\n", "t.yaml:1:4: a control character in text");
	assert_refused("a: \"x\\0y\"\n", "t.yaml:1:4: a control character in text");
	assert_refused("a: \"x\\ny\"\n", "t.yaml:1:4: a control character in text");
	assert_refused("a: \"\\u2028\"\n", "t.yaml:1:4: a control character in text");
}

UNIT_TEST(deep_nesting_is_refused)
{
	char text[200];

	memset(text, '[', sizeof(text));
	text[sizeof(text) - 1] = '\0';
	assert_refused(text, "t.yaml:1:33: nested more than 32 deep");
}

UNIT_TEST(long_texts_are_refused)
{
	char text[YAML_TREE_SCALAR_MAX + 8];

	memset(text, 'x', sizeof(text));
	memcpy(text, "a: ", 3);
	text[sizeof(text) - 1] = '\0';
	assert_refused(text, "t.yaml:1:4: text longer than 4096 bytes");
}

UNIT_TEST(maps_of_too_many_keys_are_refused)
{
	char *text = malloc(32 * (YAML_TREE_KEYS_MAX + 2)), *at = text;

	for (unsigned i = 0; i <= YAML_TREE_KEYS_MAX; i++)
		at += sprintf(at, "k%u: 1\n", i);
	assert_refused(text, "t.yaml:1025:1: the map has more than 1024 keys");
	free(text);
}

UNIT_TEST(a_missing_file_says_so)
{
	struct error error;

	assert_null(yaml_tree_load("/nonexistent/x.yaml", &error));
	assert_int_equal(errno, ENOENT);
	assert_string_equal(error.text, "/nonexistent/x.yaml: No such file or directory");
}

UNIT_TEST(the_kind_of_file_is_told_by_its_first_key)
{
	struct error error;
	OWNED(yaml_tree) *tree = parse("weft: run/1\n", &error);

	assert_int_equal(yaml_tree_expect_format(yaml_tree_root(tree), "run/1", &error), 0);
	assert_int_equal(yaml_tree_expect_format(yaml_tree_root(tree), "lab/1", &error), -EINVAL);
	assert_string_equal(error.text,
		"t.yaml:1:7: expected 'weft: lab/1', found 'run/1'; 'weft run' takes this file");
}

static const char *text_at(const struct yaml_tree *tree, const char *section, const char *key)
{
	const struct yaml_tree_node *in = yaml_tree_get(yaml_tree_root(tree), section);

	return yaml_tree_get(in->kind == YAML_TREE_SEQUENCE ? in->first : in, key)->text;
}

UNIT_TEST(set_replaces_makes_and_appends)
{
	struct error error;
	OWNED(yaml_tree) *tree = parse("s: {a: 1}\nt: [{b: 2}]\n", &error);

	assert_int_equal(yaml_tree_set(tree, "--set", "s.a=5", &error), 0);
	assert_int_equal(yaml_tree_set(tree, "--set", "new.x=7", &error), 0);
	assert_int_equal(yaml_tree_set(tree, "--set", "t[0].b=9", &error), 0);
	assert_int_equal(yaml_tree_set(tree, "--set", "t[1].b=[h1, h2]", &error), 0);
	assert_int_equal(yaml_tree_set(tree, "--set", "fresh[0].c=z", &error), 0);
	assert_string_equal(text_at(tree, "s", "a"), "5");
	assert_string_equal(text_at(tree, "new", "x"), "7");
	assert_string_equal(text_at(tree, "t", "b"), "9");
	assert_string_equal(text_at(tree, "fresh", "c"), "z");
	assert_int_equal(yaml_tree_get(yaml_tree_root(tree), "t")->count, 2);
}

UNIT_TEST(a_number_after_a_point_is_an_index)
{
	struct error error;
	OWNED(yaml_tree) *tree = parse("s: {a: 1}\nt: [{b: 2}]\n", &error);

	assert_int_equal(yaml_tree_set(tree, "--set", "t.0.b=9", &error), 0);
	assert_int_equal(yaml_tree_set(tree, "--set", "t.1=x", &error), 0);
	assert_int_equal(yaml_tree_set(tree, "--set", "fresh.0.c=z", &error), 0);
	assert_string_equal(text_at(tree, "t", "b"), "9");
	assert_string_equal(yaml_tree_get(yaml_tree_root(tree), "t")->last->text, "x");
	assert_string_equal(text_at(tree, "fresh", "c"), "z");
	assert_int_equal(yaml_tree_set(tree, "--set", "t.3.b=1", &error), -EINVAL);
	assert_string_equal(error.text, "--set t.3.b: the list has no such element");
	assert_int_equal(yaml_tree_set(tree, "--set", "s.0=1", &error), -EINVAL);
	assert_string_equal(error.text, "--set s.0: the path has an index, but this is not a list");
}

UNIT_TEST(a_bad_set_says_which)
{
	static const struct {
		const char *set, *message;
	} bad[] = {
		{"s", "--set s: expected KEY=VALUE"},
		{"s.a.b=1", "--set s.a.b: the path goes through a value that is not a map"},
		{"t[2].b=1", "--set t[2].b: the list has no such element"},
		{"s[0]=1", "--set s[0]: the path has an index, but this is not a list"},
		{"t[x]=1", "--set t[x]: '[' must be followed by an index, such as [0]"},
		{"t[0=1", "--set t[0: the index must be followed by ']'"},
		{".a=1",
			"--set .a: the path must begin with a key, such as switch.buffer or traffic[0].load"},
		{"a=", "--set a: expected a value, found nothing"},
	};
	struct error error;
	OWNED(yaml_tree) *tree = parse("s: {a: 1}\nt: [{b: 2}]\n", &error);

	for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(yaml_tree_set(tree, "--set", bad[i].set, &error), -EINVAL);
		assert_string_equal(error.text, bad[i].message);
	}
}

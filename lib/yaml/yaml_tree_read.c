/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Converts libyaml's events to nodes. Nesting is tracked on an explicit stack rather than with
 * recursion, so that the depth can be limited. */

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <yaml.h>

#include "yaml_tree_private.h"

struct reader {
	struct yaml_tree *tree;
	yaml_parser_t parser;
	const char *origin;
	bool from_file;
	struct error *error;
	struct yaml_tree_node *open[YAML_TREE_DEPTH_MAX];
	unsigned depth;
	/* Key in the innermost map whose value comes next. */
	const char *key;
	yaml_mark_t key_mark;
	struct yaml_tree_node *root;
};

static int refuse(struct reader *reader, yaml_mark_t mark, const char *what)
{
	if (!reader->from_file)
		return error_set(reader->error, EINVAL, "%s: %s", reader->origin, what);
	return error_set(reader->error, EINVAL, "%s:%zu:%zu: %s", reader->origin, mark.line + 1,
		mark.column + 1, what);
}

static int refuse_memory(struct reader *reader)
{
	return error_set(reader->error, ENOMEM, "%s: out of memory", reader->origin);
}

static int refuse_syntax(struct reader *reader)
{
	const yaml_parser_t *parser = &reader->parser;
	char what[256];

	if (parser->error == YAML_MEMORY_ERROR)
		return refuse_memory(reader);
	/* Errors of libyaml's byte reader have an offset instead of a position. */
	if (parser->error == YAML_READER_ERROR) {
		snprintf(what, sizeof(what), "not text: %s at byte %zu",
			parser->problem != NULL ? parser->problem : "?", parser->problem_offset);
		return refuse(reader, parser->mark, what);
	}
	snprintf(what, sizeof(what), "not valid YAML: %s%s%s",
		parser->context != NULL ? parser->context : "", parser->context != NULL ? ", " : "",
		parser->problem != NULL ? parser->problem : "?");
	return refuse(reader, parser->problem_mark, what);
}

/* Returns false if the text contains control characters (C0, DEL, C1, line and paragraph
 * separators, byte order marks). No name or quantity contains them, and they would garble messages.
 * The text is valid UTF-8. */
static bool text_is_plain(const unsigned char *text, size_t length)
{
	for (size_t i = 0; i < length; i++) {
		if (text[i] < 0x20 || text[i] == 0x7f)
			return false;
		if (text[i] == 0xc2 && text[i + 1] < 0xa0)
			return false;
		if (text[i] == 0xe2 && text[i + 1] == 0x80 && (text[i + 2] & 0xfe) == 0xa8)
			return false;
		if (text[i] == 0xef && text[i + 1] == 0xbb && text[i + 2] == 0xbf)
			return false;
	}
	return true;
}

static int check_scalar(struct reader *reader, const yaml_event_t *event)
{
	if (event->data.scalar.length > YAML_TREE_SCALAR_MAX)
		return refuse(reader, event->start_mark, "text longer than 4096 bytes");
	if (!text_is_plain(event->data.scalar.value, event->data.scalar.length))
		return refuse(reader, event->start_mark, "a control character in text");
	return 0;
}

static int take_key(struct reader *reader, const yaml_event_t *event)
{
	struct yaml_tree_node *map = reader->open[reader->depth - 1], *same;
	char what[256];
	int result;

	if (event->type != YAML_SCALAR_EVENT)
		return refuse(reader, event->start_mark, "a key must be a string");
	result = check_scalar(reader, event);
	if (result < 0)
		return result;
	if (map->count == YAML_TREE_KEYS_MAX)
		return refuse(reader, event->start_mark, "the map has more than 1024 keys");
	same = yaml_tree_find(map, (const char *)event->data.scalar.value);
	if (same != NULL) {
		int length = snprintf(what, sizeof(what), "duplicate key '%.100s'", same->key);

		if (same->key_line != 0)
			snprintf(what + length, sizeof(what) - (size_t)length,
				"; the first one is in line %u", same->key_line);
		return refuse(reader, event->start_mark, what);
	}
	reader->key = yaml_tree_copy_text(
		reader->tree, (const char *)event->data.scalar.value, event->data.scalar.length);
	reader->key_mark = event->start_mark;
	return reader->key == NULL ? refuse_memory(reader) : 0;
}

static struct yaml_tree_node *put_node(
	struct reader *reader, const yaml_event_t *event, enum yaml_tree_kind kind)
{
	struct yaml_tree_node *node = yaml_tree_alloc(reader->tree, sizeof(*node));

	if (node == NULL)
		return NULL;
	node->kind = kind;
	node->origin = reader->origin;
	node->key = reader->key;
	if (reader->from_file) {
		node->line = (uint32_t)event->start_mark.line + 1;
		node->column = (uint32_t)event->start_mark.column + 1;
		node->key_line = node->key ? (uint32_t)reader->key_mark.line + 1 : node->line;
		node->key_column = node->key ? (uint32_t)reader->key_mark.column + 1 : node->column;
	}
	reader->key = NULL;
	if (reader->depth == 0)
		reader->root = node;
	else
		yaml_tree_append(reader->open[reader->depth - 1], node);
	return node;
}

static int take_value(struct reader *reader, const yaml_event_t *event)
{
	static const enum yaml_tree_kind kinds[] = {
		[YAML_SCALAR_EVENT] = YAML_TREE_SCALAR,
		[YAML_SEQUENCE_START_EVENT] = YAML_TREE_SEQUENCE,
		[YAML_MAPPING_START_EVENT] = YAML_TREE_MAP,
	};
	struct yaml_tree_node *node;
	int result;

	if (++reader->tree->nodes > YAML_TREE_NODES_MAX)
		return refuse(reader, event->start_mark, "more than 4000000 values");
	if (event->type != YAML_SCALAR_EVENT && reader->depth == YAML_TREE_DEPTH_MAX)
		return refuse(reader, event->start_mark, "nested more than 32 deep");
	if (event->type == YAML_SCALAR_EVENT && (result = check_scalar(reader, event)) < 0)
		return result;
	node = put_node(reader, event, kinds[event->type]);
	if (node == NULL)
		return refuse_memory(reader);
	if (event->type != YAML_SCALAR_EVENT) {
		reader->open[reader->depth++] = node;
		return 0;
	}
	node->text = yaml_tree_copy_text(
		reader->tree, (const char *)event->data.scalar.value, event->data.scalar.length);
	return node->text == NULL ? refuse_memory(reader) : 0;
}

static bool awaits_key(const struct reader *reader)
{
	return reader->depth > 0 && reader->open[reader->depth - 1]->kind == YAML_TREE_MAP &&
	       reader->key == NULL;
}

static const yaml_char_t *event_anchor(const yaml_event_t *event)
{
	if (event->type == YAML_SCALAR_EVENT)
		return event->data.scalar.anchor;
	return event->type == YAML_MAPPING_START_EVENT ? event->data.mapping_start.anchor
						       : event->data.sequence_start.anchor;
}

static const yaml_char_t *event_tag(const yaml_event_t *event)
{
	if (event->type == YAML_SCALAR_EVENT)
		return event->data.scalar.tag;
	return event->type == YAML_MAPPING_START_EVENT ? event->data.mapping_start.tag
						       : event->data.sequence_start.tag;
}

static int take_node(struct reader *reader, const yaml_event_t *event)
{
	if (event_anchor(event) != NULL)
		return refuse(reader, event->start_mark, "anchors (&name) are not accepted");
	if (event_tag(event) != NULL)
		return refuse(reader, event->start_mark, "tags (!name) are not accepted");
	return awaits_key(reader) ? take_key(reader, event) : take_value(reader, event);
}

static int take_event(struct reader *reader, const yaml_event_t *event)
{
	switch (event->type) {
	case YAML_SCALAR_EVENT:
	case YAML_SEQUENCE_START_EVENT:
	case YAML_MAPPING_START_EVENT:
		return take_node(reader, event);
	case YAML_SEQUENCE_END_EVENT:
	case YAML_MAPPING_END_EVENT:
		reader->depth--;
		return 0;
	case YAML_ALIAS_EVENT:
		return refuse(reader, event->start_mark, "aliases (*name) are not accepted");
	case YAML_DOCUMENT_START_EVENT:
		return reader->root == NULL ? 0
					    : refuse(reader, event->start_mark,
						      "a file must contain only one document");
	default:
		return 0;
	}
}

static int read_events(struct reader *reader)
{
	yaml_event_t event;
	bool end = false;
	int result = 0;

	while (!end && result == 0) {
		if (!yaml_parser_parse(&reader->parser, &event))
			return refuse_syntax(reader);
		end = event.type == YAML_STREAM_END_EVENT;
		result = take_event(reader, &event);
		yaml_event_delete(&event);
	}
	if (result == 0 && reader->root == NULL)
		return refuse(reader, (yaml_mark_t){0}, "expected a value, found nothing");
	return result;
}

int yaml_tree_read(struct yaml_tree *tree, const char *text, size_t length, const char *origin,
	int from_file, struct yaml_tree_node **root, struct error *error)
{
	struct reader reader = {
		.tree = tree, .origin = origin, .from_file = from_file != 0, .error = error};
	int result;

	if (length > YAML_TREE_BYTES_MAX)
		return error_set(error, EINVAL, "%s: more than 64 MiB", origin);
	if (!yaml_parser_initialize(&reader.parser))
		return refuse_memory(&reader);
	/* Some editors start a file with a byte order mark. */
	if (length >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) {
		text += 3;
		length -= 3;
	}
	yaml_parser_set_encoding(&reader.parser, YAML_UTF8_ENCODING);
	yaml_parser_set_input_string(&reader.parser, (const unsigned char *)text, length);
	result = read_events(&reader);
	yaml_parser_delete(&reader.parser);
	if (result == 0)
		*root = reader.root;
	return result;
}

struct yaml_tree *yaml_tree_parse(
	const char *text, size_t length, const char *origin, struct error *error)
{
	struct yaml_tree *tree = yaml_tree_create(origin);
	int code;

	if (tree == NULL)
		code = error_set(error, ENOMEM, "%s: out of memory", origin);
	else
		code = yaml_tree_read(tree, text, length, tree->origin, 1, &tree->root, error);
	if (code < 0) {
		yaml_tree_destroy(tree);
		errno = -code;
		return NULL;
	}
	return tree;
}

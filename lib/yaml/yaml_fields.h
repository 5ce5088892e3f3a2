/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Tables that bind the keys of a YAML map to the members of a struct. One table reads a section and
 * writes it back. It refuses unknown keys (naming the closest known one), wrong types or units, and
 * invalid values. An absent key leaves its member unchanged, so the defaults are simply a
 * struct. */

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/name_table.h"
#include "base/quantity.h"
#include "base/weft_error.h"
#include "yaml_tree.h"

enum yaml_field_type {
	YAML_FIELD_TEXT,   /* char[size] */
	YAML_FIELD_NAME,   /* char[size], as yaml_read_name() */
	YAML_FIELD_NUMBER, /* unsigned, 1, 2, 4 or 8 bytes; so are quantities and choices */
	YAML_FIELD_BOOL,
	YAML_FIELD_RATE,
	YAML_FIELD_TIME,
	YAML_FIELD_BYTES,
	YAML_FIELD_SHARE,
	YAML_FIELD_CHOICE,  /* index into 'choices' */
	YAML_FIELD_WORD,    /* pointer to an entry of 'words'; NULL is not written */
	YAML_FIELD_SECTION, /* a nested map, described by 'fields' */
	YAML_FIELD_CUSTOM,  /* handled by 'read' and 'write' */
};

struct yaml_field {
	const char *key; /* NULL ends the table */
	enum yaml_field_type type;
	bool required;
	size_t offset, size;        /* position of the member in the struct */
	uint64_t min, max;          /* for numbers and quantities; max 0: no limit */
	const char *const *choices; /* NULL ends the list */
	const struct name_table *words;
	/* For a section, its keys. For a custom list, the keys of its rows (for documentation). */
	const struct yaml_field *fields;
	/* Keys of a custom map, which may replace a list or a value of 'form'. */
	const struct yaml_field *map;
	int (*read)(const struct yaml_tree_node *node, void *member, struct error *error);
	/* Writes the value: everything after "key:", including the leading space or newline, but
	 * not the final newline. A list on lines of its own indents them by 'indent' spaces. */
	void (*write)(const void *member, FILE *out, unsigned indent);
	/* Whether the member is written: what 'present' returns; if NULL, always, except empty
	 * texts, absent words, and optional members that are 'unset' (0: all bytes are 0). */
	bool (*present)(const void *member);
	bool optional;
	uint64_t unset;
	uint64_t initial; /* what yaml_fields_complete() stores in an optional number; 0: nothing */
	/* Purpose of the key, in one line of Markdown. Required. */
	const char *doc;
	/* Values that a custom reader accepts, for the generated documentation: words and kinds of
	 * values, separated by '|', such as "auto|<number>". The last one may be a regular
	 * expression, which starts with '^'. Kinds are the types above, and path, factor, names,
	 * texts, lists, named lists. Other types may also set this. */
	const char *form;
	unsigned tag; /* for the table's owner */
	/* A key that may replace this one: a map has exactly one of the two. */
	const char *instead;
	const char *former; /* name in earlier versions, still accepted; NULL: none */
	/* Returns a row of a custom list with the default values; NULL: rows have no defaults. */
	const void *(*row)(const void *member);
};

/* The texts of an X-macro list of (id, text). */
#define YAML_CHOICES(list) ((const char *const[]){list(WORD_TEXT) NULL})

#define YAML_MEMBER(type, member) \
	.offset = offsetof(type, member), .size = sizeof(((type *)NULL)->member)

/* Reads a map into 'object'. Returns 0, -EINVAL, or the error of a custom reader. */
int yaml_fields_read(const struct yaml_field *fields, const struct yaml_tree_node *map,
	void *object, struct error *error);

/* Stores the initial value of each absent key that has one and one of these tags. */
void yaml_fields_complete(const struct yaml_field *fields, unsigned tags, void *object);

/* Returns whether yaml_fields_write() writes the field. */
bool yaml_field_is_present(const struct yaml_field *field, const void *object);
/* Writes "key: value" lines, each after 'indent' spaces, and sections as {key: value, …}. */
void yaml_fields_write(
	const struct yaml_field *fields, const void *object, FILE *out, unsigned indent);
/* Writes "{key: value, …}" without a newline. */
void yaml_fields_write_row(const struct yaml_field *fields, const void *object, FILE *out);

/* Read single values, for custom readers. */
int yaml_read_text(const struct yaml_tree_node *node, char *text, size_t size, struct error *error);
/* max 0: no limit. */
int yaml_read_quantity(const struct yaml_tree_node *node, enum quantity_kind kind, uint64_t min,
	uint64_t max, uint64_t *value, struct error *error);
/* Finds the list entry that the node names. */
int yaml_read_word(const struct yaml_tree_node *node, const struct name_table *words,
	const void **entry, struct error *error);
/* Reads the name of a device, a process or a file stem: letters, digits, '_', '.' and '-', starting
 * with a letter, a digit or '_'. */
int yaml_read_name(const struct yaml_tree_node *node, char *name, size_t size, struct error *error);

/* Describes the keys of a table to people and programs: as a list, a Markdown table or a JSON
 * Schema. */

/* Writes one line per key: "FILE KEY [WORD]...", such as "run traffic[].pattern uniform hotspot".
 * Omits the keys of a map that a text may replace. */
void yaml_docs_list(const struct yaml_field *fields, const char *file, FILE *out);

/* Writes a Markdown table of key, value, default and description. If 'section' is a key whose
 * values are words from a list, such as "nic.selector", writes the words and their summaries
 * instead. 'section' names a key of the table, whose nested keys are printed at all levels; ""
 * prints only the top-level keys. 'object' contains the defaults; NULL: that column stays empty.
 * Keys that are also in 'elsewhere' (may be NULL) are omitted. Returns false if there is no such
 * section. */
bool yaml_docs_table(const struct yaml_field *fields, const char *section, const void *object,
	const struct yaml_field *elsewhere, FILE *out);

/* Returns the JSON Schema (draft 2020-12) of a file "weft: NAME/1" with these keys, owned by the
 * caller, or NULL if out of memory. */
json_t *yaml_docs_schema(const struct yaml_field *fields, const char *name);

/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* A YAML document as a tree with the line and column of every node, built from libyaml's events. It
 * accepts the subset that configuration needs: maps with text keys, sequences, scalars. It refuses
 * duplicate keys, anchors and aliases, tags, several documents, control characters, deep nesting
 * and excessive sizes, and reports their position. All scalars are text here; yaml_fields.h and the
 * getters below give them a type.
 *
 * Messages are "FILE:LINE:COLUMN: what is wrong". The caller owns a tree that it loads. Nodes
 * remain valid as long as the tree. */

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/weft_error.h"

#define YAML_TREE_BYTES_MAX  ((size_t)64 << 20) /* maximum file size */
#define YAML_TREE_NODES_MAX  4000000u
#define YAML_TREE_DEPTH_MAX  32u
#define YAML_TREE_KEYS_MAX   1024u /* per map */
#define YAML_TREE_SCALAR_MAX 4096u /* bytes per text */

enum yaml_tree_kind { YAML_TREE_SCALAR, YAML_TREE_SEQUENCE, YAML_TREE_MAP };

struct yaml_tree;

struct yaml_tree_node {
	enum yaml_tree_kind kind;
	uint32_t line, column; /* from 1; line 0: not from a file, so only 'origin' is reported */
	uint32_t key_line, key_column;
	const char *origin;
	const char *key;                     /* in a map; otherwise NULL */
	const char *text;                    /* scalars only; otherwise NULL */
	struct yaml_tree_node *first, *last; /* children of a map or sequence */
	struct yaml_tree_node *next;         /* next sibling in the map or sequence */
	uint32_t count;                      /* number of children */
};

/* Return NULL with errno and 'error' set: EINVAL for a bad document; ENOENT, EACCES, EIO, … for a
 * file that cannot be read; ENOMEM. */
struct yaml_tree *yaml_tree_load(const char *path, struct error *error);
struct yaml_tree *yaml_tree_parse(
	const char *text, size_t length, const char *origin, struct error *error);
void yaml_tree_destroy(struct yaml_tree *tree);

const struct yaml_tree_node *yaml_tree_root(const struct yaml_tree *tree);
/* Returns the file name, or the origin given to yaml_tree_parse(). */
const char *yaml_tree_origin(const struct yaml_tree *tree);

/* Overrides one value: "switch.buffer=128KiB", "traffic[0].to=[h4]", or "traffic.0.to=[h4]". The
 * value is YAML. Missing maps on the path are created; the index after the last element appends.
 * Error texts start with the option and the key, such as "--set traffic.0.to: ". Returns 0, or a
 * negative errno with 'error' set. */
int yaml_tree_set(
	struct yaml_tree *tree, const char *option, const char *assignment, struct error *error);

/* Returns the value of a key in a map, or NULL if absent. */
const struct yaml_tree_node *yaml_tree_get(const struct yaml_tree_node *map, const char *key);

/* Fills 'error' with the node's position and the text, and returns -EINVAL. */
int yaml_tree_refuse(const struct yaml_tree_node *node, struct error *error, const char *format,
	...) __attribute__((format(printf, 3, 4)));
/* The same at the position of the node's key. */
int yaml_tree_refuse_key(const struct yaml_tree_node *node, struct error *error, const char *format,
	...) __attribute__((format(printf, 3, 4)));

/* Returns 0, or -EINVAL with the expected kind in 'error'. */
int yaml_tree_expect(
	const struct yaml_tree_node *node, enum yaml_tree_kind kind, struct error *error);
/* Checks that the root is a map whose 'weft' key is 'format', such as "run/1". */
int yaml_tree_expect_format(
	const struct yaml_tree_node *root, const char *format, struct error *error);

/* Writes text as a double-quoted scalar. */
void yaml_tree_write_text(const char *text, FILE *out);

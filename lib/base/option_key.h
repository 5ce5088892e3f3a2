/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Command-line options whose values are simply stored. The option's key, for argp or getopt_long(),
 * encodes the type and offset of a member of the options struct. A plain option is then one row of
 * a table. Keys of other options are below OPTION_KEYS. */

#include <stdbool.h>
#include <stddef.h>

#define OPTION_KEYS    0x100000
#define OPTION_TEXT_   (1 * OPTION_KEYS)
#define OPTION_SET_    (2 * OPTION_KEYS)
#define OPTION_NUMBER_ (3 * OPTION_KEYS)
#define OPTION_MEMBER_ (4 * OPTION_KEYS)

/* Encodes a member of this type at an offset below OPTION_KEYS. Other types do not compile. */
#define OPTION_KEY_(kind, type, member, member_type) \
	((kind) + _Generic(((type *)0)->member, member_type : (int)offsetof(type, member)))

/* Stores the option's value in a const char *. */
#define OPTION_TEXT(type, member) OPTION_KEY_(OPTION_TEXT_, type, member, const char *)
/* Sets a bool. */
#define OPTION_SET(type, member) OPTION_KEY_(OPTION_SET_, type, member, bool)
/* An unsigned, a member of any type, or the whole struct: not stored by option_key_store(). */
#define OPTION_NUMBER(type, member) OPTION_KEY_(OPTION_NUMBER_, type, member, unsigned)
#define OPTION_MEMBER(type, member) (OPTION_MEMBER_ + (int)offsetof(type, member))
#define OPTION_WHOLE                OPTION_MEMBER_

/* Stores the option with this key. Returns false and stores nothing for any other key. */
static inline bool option_key_store(void *options, int key, const char *value)
{
	char *member = (char *)options + key % OPTION_KEYS;

	switch (key < OPTION_KEYS ? 0 : key - key % OPTION_KEYS) {
	case OPTION_TEXT_:
		*(const char **)(void *)member = value;
		return true;
	case OPTION_SET_:
		*(bool *)member = true;
		return true;
	default:
		return false;
	}
}

/* Long options that no option matches, for messages with a hint. */

#define OPTION_KNOWN_MAX 64
#define OPTION_NAME_MAX  64
#define OPTION_HINT_MAX  96

struct argp_option;
struct option;

/* Converts up to OPTION_KNOWN_MAX of argp's options, with its own --help, --usage and --version,
 * for getopt_long(). 'known' has room for one more. */
void option_of_argp(const struct argp_option *options, struct option *known);

/* Finds the first unknown long option before a "--", as getopt_long() would, and copies its name.
 * 'hint' receives "; nearest is '--NAME'" or "". 'in_order': options end at the first other word.
 * Returns false if all options are known. */
bool option_find_unknown(const struct option *known, bool in_order, int argc, char *const *argv,
	char name[OPTION_NAME_MAX], char hint[OPTION_HINT_MAX]);

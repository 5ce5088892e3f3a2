/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* FNV-1a with 64 bits, to tell the builds of a program apart. Not for secrets. */

#include <stddef.h>
#include <stdint.h>

#define CONTENT_HASH_START 0xcbf29ce484222325u

/* Continues 'hash' with the bytes. */
uint64_t content_hash(uint64_t hash, const void *bytes, size_t length);
/* Continues *hash with a file's bytes. 0, or -errno and *hash unchanged. */
int content_hash_file(uint64_t *hash, const char *path);

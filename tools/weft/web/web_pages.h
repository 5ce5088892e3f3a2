/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The files of the page, which tools/embed-files puts into the program. */

#include <stddef.h>

struct web_page {
	const char *name; /* "page.js" */
	const unsigned char *text;
	size_t bytes;
};

/* "/" is the page itself. NULL: no such file. */
const struct web_page *web_page_find(const char *path);
/* Its Content-Type. */
const char *web_page_type(const struct web_page *page);

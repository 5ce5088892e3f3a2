/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "web_server.h"

#include <string.h>

#include "web_files.h"

const char *web_page_type(const struct web_page *page)
{
	static const char *const types[][2] = {{".html", "text/html; charset=utf-8"},
		{".css", "text/css; charset=utf-8"}, {".js", "text/javascript; charset=utf-8"},
		{".svg", "image/svg+xml"}};
	const char *ending = strrchr(page->name, '.');

	for (unsigned i = 0; i < sizeof(types) / sizeof(types[0]) && ending != NULL; i++)
		if (strcmp(ending, types[i][0]) == 0)
			return types[i][1];
	return "application/octet-stream";
}

#define PAGE(name, bytes) {name, bytes, sizeof(bytes)},

const struct web_page *web_page_find(const char *path)
{
	static const struct web_page pages[] = {WEB_FILES(PAGE)};
	const char *name = strcmp(path, "/") == 0 ? "page.html" : path + 1;

	for (size_t i = 0; i < sizeof(pages) / sizeof(pages[0]); i++)
		if (strcmp(pages[i].name, name) == 0)
			return &pages[i];
	return NULL;
}

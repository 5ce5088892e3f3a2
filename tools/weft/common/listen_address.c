/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "listen_address.h"

#include <stdio.h>
#include <string.h>

bool listen_address_split(const char *text, char *host, size_t size, const char **port)
{
	const char *colon = strrchr(text, ':');
	size_t length;

	if (colon == NULL || colon == text)
		return false;
	*port = colon + 1;
	length = (size_t)(colon - text);
	if (text[0] == '[' && text[length - 1] == ']') {
		text++;
		length -= 2;
	}
	if (length == 0 || length >= size)
		return false;
	snprintf(host, size, "%.*s", (int)length, text);
	return (*port)[0] >= '0' && (*port)[0] <= '9';
}

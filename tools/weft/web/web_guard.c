/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "web_server.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>

#define HTTP_PORT 80 /* browsers leave it out */

int web_guard_make(struct web_guard *guard, uint16_t port, struct fault *fault)
{
	static const char *const names[WEB_HOSTS] = {[WEB_HOST_V4] = "127.0.0.1",
		[WEB_HOST_LOCAL] = "localhost",
		[WEB_HOST_V6] = "[::1]"};
	uint8_t random[WEB_TOKEN_DIGITS / 2];

	if (getrandom(random, sizeof(random), 0) != (ssize_t)sizeof(random))
		return fault_set(fault, EIO, "no random numbers for the token");
	for (unsigned i = 0; i < sizeof(random); i++)
		snprintf(guard->token + 2 * i, 3, "%02x", random[i]);
	for (unsigned i = 0; i < WEB_HOSTS; i++) {
		if (port == HTTP_PORT)
			snprintf(guard->host[i], sizeof(guard->host[i]), "%s", names[i]);
		else
			snprintf(guard->host[i], sizeof(guard->host[i]), "%s:%u", names[i], port);
	}
	return 0;
}

bool web_guard_host_is_ours(const struct web_guard *guard, const char *host)
{
	for (unsigned i = 0; i < WEB_HOSTS && host != NULL; i++)
		if (strcasecmp(host, guard->host[i]) == 0)
			return true;
	return false;
}

bool web_guard_origin_is_ours(const struct web_guard *guard, const char *origin)
{
	static const char scheme[] = "http://";

	return origin == NULL || (strncmp(origin, scheme, strlen(scheme)) == 0 &&
					 web_guard_host_is_ours(guard, origin + strlen(scheme)));
}

bool web_guard_token_is_right(const struct web_guard *guard, const char *token)
{
	unsigned differences = 0;

	if (token == NULL || strlen(token) != WEB_TOKEN_DIGITS)
		return false;
	for (unsigned i = 0; i < WEB_TOKEN_DIGITS; i++)
		differences |= (unsigned)(token[i] ^ guard->token[i]);
	return differences == 0;
}

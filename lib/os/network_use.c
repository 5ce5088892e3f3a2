/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "pci_device.h"

#include <dirent.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define SCOPE_LINK 0x20 /* of /proc/net/if_inet6 */
#define LINE_BYTES 512

static void add(char *out, size_t size, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Appends a use, with a comma after an earlier one. */
static void add(char *out, size_t size, const char *format, ...)
{
	size_t length = strlen(out);
	va_list args;

	if (length > 0)
		length += (size_t)snprintf(out + length, size - length, ", ");
	if (length >= size)
		return;
	va_start(args, format);
	vsnprintf(out + length, size - length, format, args);
	va_end(args);
}

/* Calls 'matches' with each line of a file of /proc. Returns whether one did. */
static bool any_line(const char *root, const char *file, const char *name,
	bool (*matches)(const char *line, const char *name))
{
	char path[PATH_MAX], line[LINE_BYTES];
	bool found = false;
	FILE *lines;

	snprintf(path, sizeof(path), "%s/proc/net/%s", root, file);
	lines = fopen(path, "re");
	while (lines != NULL && !found && fgets(line, sizeof(line), lines) != NULL)
		found = matches(line, name);
	if (lines != NULL)
		fclose(lines);
	return found;
}

static bool is_route(const char *line, const char *name)
{
	char interface[32];

	return sscanf(line, "%31s", interface) == 1 && strcmp(interface, name) == 0;
}

static bool is_default_route(const char *line, const char *name)
{
	char interface[32];
	unsigned long destination, mask;

	return sscanf(line, "%31s %lx %*x %*x %*d %*d %*d %lx", interface, &destination, &mask) ==
		       3 &&
	       strcmp(interface, name) == 0 && destination == 0 && mask == 0;
}

static bool is_address6(const char *line, const char *name)
{
	char interface[32];
	unsigned scope;

	return sscanf(line, "%*s %*x %*x %x %*x %31s", &scope, interface) == 2 &&
	       strcmp(interface, name) == 0 && scope != SCOPE_LINK;
}

/* The interfaces above this one: links upper_NAME in its folder. */
static void add_uppers(const char *folder, char *out, size_t size)
{
	char path[PATH_MAX], target[PATH_MAX];
	DIR *entries = opendir(folder);
	const struct dirent *entry;
	const char *slash;
	ssize_t length;

	snprintf(path, sizeof(path), "%s/master", folder);
	length = readlink(path, target, sizeof(target) - 1);
	target[length > 0 ? length : 0] = '\0';
	slash = strrchr(target, '/');
	if (length > 0)
		add(out, size, "part of %s", slash != NULL ? slash + 1 : target);
	while (entries != NULL && (entry = readdir(entries)) != NULL)
		if (strncmp(entry->d_name, "upper_", 6) == 0 &&
			(slash == NULL || strcmp(entry->d_name + 6, slash + 1) != 0))
			add(out, size, "%s on top of it", entry->d_name + 6);
	if (entries != NULL)
		closedir(entries);
}

void network_use(const char *root, const char *folder, const char *name, char *out, size_t size)
{
	out[0] = '\0';
	if (any_line(root, "route", name, is_default_route))
		add(out, size, "default route");
	else if (any_line(root, "route", name, is_route))
		add(out, size, "routes");
	if (any_line(root, "if_inet6", name, is_address6))
		add(out, size, "IPv6 address");
	add_uppers(folder, out, size);
}

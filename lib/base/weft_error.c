/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "weft_error.h"

#include <stdio.h>

#include "text_escape.h"

int error_set(struct error *error, int code, const char *format, ...)
{
	va_list args;

	if (error != NULL) {
		va_start(args, format);
		vsnprintf(error->text, sizeof(error->text), format, args);
		va_end(args);
		text_escape(error->text, sizeof(error->text));
	}
	return -code;
}

int error_at_va(struct error *error, const char *origin, uint32_t line, uint32_t column,
	const char *format, va_list args)
{
	char text[ERROR_TEXT], place[32] = "";

	vsnprintf(text, sizeof(text), format, args);
	if (line != 0 && column != 0)
		snprintf(place, sizeof(place), ":%u:%u", line, column);
	else if (line != 0)
		snprintf(place, sizeof(place), ":%u", line);
	return error_set(error, EINVAL, "%s%s: %s", origin, place, text);
}

int error_at(struct error *error, const char *origin, uint32_t line, uint32_t column,
	const char *format, ...)
{
	va_list args;
	int result;

	va_start(args, format);
	result = error_at_va(error, origin, line, column, format, args);
	va_end(args);
	return result;
}

void error_prefix(struct error *error, const char *format, ...)
{
	char place[ERROR_TEXT];
	struct error why;
	va_list args;

	if (error == NULL)
		return;
	why = *error;
	va_start(args, format);
	vsnprintf(place, sizeof(place), format, args);
	va_end(args);
	error_set(error, 0, "%s: %s", place, why.text);
}

enum weft_exit error_exit_code(int result)
{
	switch (result) {
	case 0:
		return EXIT_DONE;
	case -EINVAL:
	case -ENOENT:
	case -ERANGE:
	case -EISDIR:
	case -ENOTDIR:
	case -ENAMETOOLONG:
		return EXIT_BAD_REQUEST;
	case -EINTR:
		return EXIT_INTERRUPTED;
	default:
		return EXIT_NOT_ABLE;
	}
}

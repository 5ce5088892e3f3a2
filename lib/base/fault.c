/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "fault.h"

#include <stdio.h>

#include "text_escape.h"

int fault_set(struct fault *fault, int code, const char *format, ...)
{
	va_list args;

	if (fault != NULL) {
		va_start(args, format);
		vsnprintf(fault->text, sizeof(fault->text), format, args);
		va_end(args);
		text_escape(fault->text, sizeof(fault->text));
	}
	return -code;
}

int fault_at_va(struct fault *fault, const char *origin, uint32_t line, uint32_t column,
	const char *format, va_list args)
{
	char text[FAULT_TEXT], place[32] = "";

	vsnprintf(text, sizeof(text), format, args);
	if (line != 0 && column != 0)
		snprintf(place, sizeof(place), ":%u:%u", line, column);
	else if (line != 0)
		snprintf(place, sizeof(place), ":%u", line);
	return fault_set(fault, EINVAL, "%s%s: %s", origin, place, text);
}

int fault_at(struct fault *fault, const char *origin, uint32_t line, uint32_t column,
	const char *format, ...)
{
	va_list args;
	int result;

	va_start(args, format);
	result = fault_at_va(fault, origin, line, column, format, args);
	va_end(args);
	return result;
}

void fault_prefix(struct fault *fault, const char *format, ...)
{
	char place[FAULT_TEXT];
	struct fault why;
	va_list args;

	if (fault == NULL)
		return;
	why = *fault;
	va_start(args, format);
	vsnprintf(place, sizeof(place), format, args);
	va_end(args);
	fault_set(fault, 0, "%s: %s", place, why.text);
}

enum weft_exit fault_exit_code(int result)
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

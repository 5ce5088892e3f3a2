/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "weft_error.h"

#include <stdio.h>
#include <string.h>

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

#define ESCAPED 4 /* "\xNN" */

unsigned text_control(const char *at, size_t left, unsigned char before)
{
	unsigned char first = (unsigned char)at[0], second = left > 1 ? (unsigned char)at[1] : 0;

	if (first < 0x20)
		return first != '\n' && first != '\t';
	if (first == 0x7f)
		return 1;
	if (first == 0xc2 && second >= 0x80 && second <= 0x9f)
		return 2;
	return first >= 0x80 && first <= 0x9f && before < 0x80;
}

/* Makes room for an escape in place of the byte at 'at'. Text that no longer fits is dropped. */
static void make_room(char *text, size_t size, size_t at)
{
	size_t rest = strlen(text + at + 1), room = size - at - ESCAPED - 1;

	if (rest > room)
		rest = room;
	memmove(text + at + ESCAPED, text + at + 1, rest);
	text[at + ESCAPED + rest] = '\0';
}

void text_escape(char *text, size_t size)
{
	char digits[ESCAPED + 1];
	unsigned char before = 0;
	unsigned control = 0;

	for (size_t at = 0; text[at] != '\0';) {
		unsigned char here = (unsigned char)text[at];

		if (control == 0)
			control = text_control(text + at, strlen(text + at), before);
		before = here;
		if (control == 0) {
			at++;
			continue;
		}
		control--;
		if (at + ESCAPED + 1 > size) {
			text[at] = '\0';
			return;
		}
		make_room(text, size, at);
		snprintf(digits, sizeof(digits), "\\x%02x", here);
		memcpy(text + at, digits, ESCAPED);
		at += ESCAPED;
	}
}

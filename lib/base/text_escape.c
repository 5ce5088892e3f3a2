/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "text_escape.h"

#include <stdio.h>
#include <string.h>

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

/* Inserts one more escape at 'at': moves the rest, and drops what does not fit. */
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

/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Escapes control characters in text from files, arguments or other programs, which a terminal
 * would execute. */

#include <stddef.h>

/* Length in bytes of the control character at 'at', where the text has 'left' bytes left; 0 if
 * there is none. Line feed and tab do not count as control characters. 'before': the preceding
 * byte, 0 at the start. C1 characters are two bytes in UTF-8, or one byte that is invalid in UTF-8
 * at that place. */
unsigned text_control(const char *at, size_t left, unsigned char before);

/* Replaces each byte of a control character by "\xNN"; what does not fit is cut off. */
void text_escape(char *text, size_t size);

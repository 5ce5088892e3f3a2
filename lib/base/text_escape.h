/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Control characters in text that comes from files, arguments or other programs: a terminal would
 * obey them. */

#include <stddef.h>

/* The bytes of the control character at 'at', of which 'left' are there; 0: it is none. Line feed
 * and tab are none. 'before': the byte before it, 0 without one. C1 characters are two bytes in
 * UTF-8, or one byte that no UTF-8 can have there. */
unsigned text_control(const char *at, size_t left, unsigned char before);

/* Replaces each byte of a control character by "\xNN"; what does not fit is cut off. */
void text_escape(char *text, size_t size);

/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "fault.h"

#include <stdarg.h>
#include <stdio.h>

int fault_set(struct fault *fault, int code, const char *format, ...)
{
	va_list args;

	if (fault != NULL) {
		va_start(args, format);
		vsnprintf(fault->text, sizeof(fault->text), format, args);
		va_end(args);
	}
	return -code;
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

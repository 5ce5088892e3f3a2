/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* cmocka with what it wants included before it. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* 'tests' is an array of struct CMUnitTest. */
#define UNIT_MAIN(tests)                                                         \
	int main(void)                                                           \
	{                                                                        \
		return cmocka_run_group_tests_name(__FILE__, tests, NULL, NULL); \
	}

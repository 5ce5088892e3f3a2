/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The page of a result, for the commands that show one. */

#include "commands.h"

#define WEB_RESULT_LISTEN "127.0.0.1:9466"

/* Serves the page of the result file until a signal comes, and prints its address. 'listen' NULL:
 * WEB_RESULT_LISTEN. Prints errors. */
enum weft_exit web_show_result(const char *command, const char *path, const char *listen);

/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* weft-switch: emulated switches of a lab. EAL's options precede '--', its own follow it. */

#include <argp.h>

#include "lab_process.h"
#include "terminal_guard.h"

const char *argp_program_version = "weft-switch " WEFT_VERSION;

int main(int argc, char **argv)
{
	static struct terminal_guard guard;
	static struct lab_process_options options;

	terminal_guard(&guard);
	lab_process_parse(&options, LAB_ROLE_SWITCHES, argc, argv);
	return (int)lab_process_main(&options);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* weft-switch: emulated switches of a lab. EAL's options precede '--', its own follow it. */

#include <argp.h>

#include "os/tty_escape.h"
#include "process/lab_process.h"

const char *argp_program_version = "weft-switch " WEFT_VERSION;

int main(int argc, char **argv)
{
	static struct tty_escape guard;
	static struct lab_process_options options;

	tty_escape(&guard);
	lab_process_parse(&options, LAB_ROLE_SWITCHES, argc, argv);
	return (int)lab_process_main(&options);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* weft-switch, emulated switches of a lab, and weft-nic, emulated network interfaces. EAL's options
 * precede '--'; the program's own follow it. */

#include <argp.h>

#include "os/terminal.h"
#include "process/lab_process.h"

const char *argp_program_version = PROGRAM_NAME " " WEFT_VERSION;

int main(int argc, char **argv)
{
	static struct tty_escape guard;
	static struct lab_process_options options;

	tty_escape(&guard);
	lab_process_parse(&options, PROGRAM_ROLE, argc, argv);
	return (int)lab_process_main(&options);
}

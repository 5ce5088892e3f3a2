/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "lab_mode.h"

#include "lab_process.h"

bool lab_mode_asked_for(int argc, char **argv)
{
	return lab_process_asked_for(argc, argv);
}

int lab_mode_main(int argc, char **argv)
{
	static struct lab_process_options options;

	lab_process_parse(&options, "weft-switch", false, argc, argv);
	return (int)lab_process_main(&options);
}

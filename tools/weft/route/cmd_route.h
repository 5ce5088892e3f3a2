/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The parts of 'weft route', a file each. argv[0] is the part's own name; the rest as in
 * commands.h. */

#include "commands.h"

int cmd_route_compute(int argc, char **argv);
int cmd_route_verify(int argc, char **argv);
int cmd_route_show(int argc, char **argv);
int cmd_route_export(int argc, char **argv);

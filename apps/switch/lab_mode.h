/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* weft-switch as a part of a lab: --lab FILE --switch NAME… */

#include <stdbool.h>

bool lab_mode_asked_for(int argc, char **argv);
/* Returns the exit code. */
int lab_mode_main(int argc, char **argv);

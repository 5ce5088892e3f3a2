/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Machines on which a lab was brought up, and which its file no longer has. */

#include "lab.h"

/* Ends the lab on machines of the file that the console keeps (lab_kept.h) which are not in 'lab':
 * none of them has the same name and the same address. Prints on which it has ended, and for the
 * others which command does it there. 'command' is for messages. */
void console_gone_end(const struct lab *lab, const char *command);

/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The owners whose lab file may choose what DPDK loads and opens: 'eal' takes any argument of the
 * EAL, such as '-d PLUGIN.so', and the devices in the 'ports' of a topology have arguments that
 * name files to write. Such a file is accepted if it belongs to the user or to root and no other
 * user can change it (private_dir.h), or if the command line names it (--trust FILE). Without
 * EAL. */

#include "base/weft_error.h"
#include "lab.h"

#define LAB_TRUST_MAX 8

/* Files of the command line. */
struct lab_trust {
	const char *file[LAB_TRUST_MAX];
	unsigned count;
};

/* 0; -EINVAL and error: the lab file or its topology has such a key and is not accepted, or a file
 * of 'trust' is neither of them. */
int lab_trust_check(const struct lab *lab, const struct lab_trust *trust, struct error *error);

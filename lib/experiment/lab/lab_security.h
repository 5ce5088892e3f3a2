/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The fabric number in a lab's frames and the key of its links, which keep labs apart ('security'
 * in the lab file; docs/reference/lab-file.md). */

#include "base/weft_error.h"
#include "lab.h"
#include "link/link_seal.h"

struct lab_security {
	uint16_t fabric; /* never 0 */
	bool keyed;
	struct link_key key; /* if 'keyed' */
	bool data_keyed;
	struct data_tag_key data_key; /* if 'data_keyed' */
};

/* Reads the key file, if the lab has one. Returns 0, or -errno with an error that names the key and
 * its position, as in fabric_key_load(). */
int lab_security_load(const struct lab *lab, struct lab_security *security, struct error *error);
/* Erases the keys. */
void lab_security_wipe(struct lab_security *security);

/* Restricts which lab files may determine what DPDK loads and opens. 'eal' accepts any EAL
 * argument, such as '-d PLUGIN.so', and the devices in a topology's 'ports' accept arguments that
 * name files to write. A file with such keys is trusted if it belongs to the user or to root and no
 * other user can modify it (private_dir.h), or if the command line names it (--trust FILE). Does
 * not use the EAL. */

#define LAB_TRUST_MAX 8

/* Files named with --trust. */
struct lab_trust {
	const char *file[LAB_TRUST_MAX];
	unsigned count;
};

/* Returns 0, or -EINVAL with error set if the lab file or its topology file has such a key and is
 * not trusted, or if 'trust' names a different file. */
int lab_trust_check(const struct lab *lab, const struct lab_trust *trust, struct error *error);

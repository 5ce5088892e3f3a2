/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The identity of a lab's frames, which keeps labs apart: the number of
 * its fabric, and the key of its links ('security' in the lab file; docs/reference/lab-file.md). */

#include "base/weft_error.h"
#include "lab.h"
#include "link/link_seal.h"

struct lab_security {
	uint16_t fabric; /* number, not 0 */
	bool keyed;
	struct link_key key; /* if 'keyed' */
	bool data_keyed;
	struct data_tag_key data_key; /* if 'data_keyed' */
};

/* Reads the key file, if the lab has one. Returns 0, or -errno with error set, which names key and
 * place, as in fabric_key_load(). */
int lab_security_load(const struct lab *lab, struct lab_security *security, struct error *error);
/* Erases the key. */
void lab_security_wipe(struct lab_security *security);

/* Restricts whose lab file may choose what DPDK loads and opens. 'eal' accepts any EAL argument,
 * such as '-d PLUGIN.so', and the devices in the 'ports' of a topology have arguments that name
 * files to write. A file with such keys is accepted if it belongs to the user or to root and no
 * other user can change it (private_dir.h), or if the command line names it (--trust FILE). Does
 * not need the EAL. */

#define LAB_TRUST_MAX 8

/* Files of the command line. */
struct lab_trust {
	const char *file[LAB_TRUST_MAX];
	unsigned count;
};

/* Returns 0, or -EINVAL with error set: the lab file or its topology has such a key and is not
 * accepted, or 'trust' names a file that is neither. */
int lab_trust_check(const struct lab *lab, const struct lab_trust *trust, struct error *error);

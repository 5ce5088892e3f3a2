/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The identity of a lab's frames, which keeps labs apart: the number of
 * its fabric, and the key of its links ('security' in the lab file; docs/reference/lab-file.md). */

#include "lab.h"
#include "link/data_tag.h"
#include "link/link_seal.h"

struct lab_security {
	uint16_t fabric; /* number, not 0 */
	bool keyed;
	struct link_key key; /* if 'keyed' */
	bool data_keyed;
	struct data_tag_key data_key; /* if 'data_keyed' */
};

/* Reads the key file, if the lab has one. 0; or -errno and error, which names key and place: as
 * fabric_key_load(). */
int lab_security_load(const struct lab *lab, struct lab_security *security, struct error *error);
/* Erases the key. */
void lab_security_wipe(struct lab_security *security);

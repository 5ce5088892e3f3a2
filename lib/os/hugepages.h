/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Hugepages of this machine. Does not need EAL. */

#include <stdint.h>

/* Returns the total bytes of free hugepages of all sizes; 0 if there are none or they are
 * unsupported. 'root' is a prefix of /sys, "" except in tests. */
uint64_t hugepages_free_bytes(const char *root);

/* Serialises processes between checking for free hugepages and allocating them. Returns a
 * descriptor for hugepages_unlock(), or -1 if locking is impossible. */
int hugepages_lock(void);
void hugepages_unlock(int lock);

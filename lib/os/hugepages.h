/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The hugepages of this machine. Needs no EAL. */

#include <stdint.h>

/* Bytes in free hugepages of all sizes; 0 if there are none or the kernel has no hugepages. 'root'
 * is put in front of /sys; "" but in tests. */
uint64_t hugepages_free_bytes(const char *root);

/* Waits until no other process of ours is between looking at the free hugepages and taking them.
 * Returns a descriptor for hugepages_unlock(), or -1 where nothing can be locked. */
int hugepages_lock(void);
void hugepages_unlock(int lock);

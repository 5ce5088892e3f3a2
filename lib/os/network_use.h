/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

#include <stddef.h>

/*
 * Says for what the machine's own network uses an interface: "default route" or "routes" of
 * IPv4 (an address makes one), "IPv6 address", "part of NAME" (a bridge, a bond), "NAME on top of
 * it" (a VLAN, a macvlan), several with commas; "" if for nothing. An address of IPv6 that the
 * kernel made itself (link-local) is no use. 'folder' is the interface's folder in sysfs, 'root' a
 * prefix of /proc; "" except in tests.
 */
void network_use(const char *root, const char *folder, const char *name, char *out, size_t size);

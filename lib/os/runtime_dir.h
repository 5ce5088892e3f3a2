/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/*
 * Where DPDK keeps the sockets and files of a running program, without DPDK: so that tools find a
 * program's telemetry, and clear up after one that was killed.
 */

#include <stddef.h>

#define RUNTIME_DIR_MAX 256

/* "/var/run/dpdk/PREFIX", or what DPDK 22.11 takes for a user without privilege. */
void runtime_dir_path(const char *prefix, char path[RUNTIME_DIR_MAX]);

/* Removes the directory and the files in it. 0, or -errno; one that is not there is no error. */
int runtime_dir_remove(const char *path);

/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/*
 * The directory in which DPDK keeps the sockets and files of a running program, without DPDK: tools
 * find a program's telemetry there, and clean up after a killed program.
 */

#define RUNTIME_DIR_MAX 256

/* "/var/run/dpdk/PREFIX", or the path that DPDK 22.11 uses for an unprivileged user. */
void runtime_dir_path(const char *prefix, char path[RUNTIME_DIR_MAX]);

/* Removes the directory and the files in it. 0, or -errno; a missing one is not an error. */
int runtime_dir_remove(const char *path);

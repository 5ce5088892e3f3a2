/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/*
 * The devices that the user named before '--' (--vdev, -a). EAL goes on without those that it
 * cannot open; a switch that lacks a port without saying so is of no use, so they are looked for.
 */

#include <stdbool.h>

#include "fault.h"

/* 0 if an ethdev is there for each, or -errno and a fault that names the first one that is missing
 * and why. */
int asked_devices_check(int argc, char **argv, struct fault *fault);
/* The user named those that are not wanted (-b), so all others are. */
bool asked_devices_all(int argc, char **argv);
/* How many the user named. */
unsigned asked_devices_count(int argc, char **argv);

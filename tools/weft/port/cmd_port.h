/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Shared by the subcommands of 'weft port'; used only by its files. */

#include "commands.h"
#include "pci_device.h"

#define PORT_DEVICES_MAX 64

struct port_arguments {
	const char *device[PORT_DEVICES_MAX]; /* addresses or interfaces; check: the lab file */
	unsigned devices;
	const char *driver;                    /* bind; NULL: vfio-pci */
	const char *process[PORT_DEVICES_MAX]; /* check: processes by a device of theirs */
	unsigned processes;
	bool force, json;
};

enum weft_exit cmd_port_list(const struct port_arguments *arguments);
enum weft_exit cmd_port_bind(const struct port_arguments *arguments);
enum weft_exit cmd_port_release(const struct port_arguments *arguments);
enum weft_exit cmd_port_check(const struct port_arguments *arguments);

/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The numbers of devices in a lab that 'weft lab apply' changes. Frames, hellos and tables contain
 * the numbers, so a device keeps its number until the lab goes down, and a removed one leaves a gap
 * (topology_device.absent). The file "devices" in the run directory has one line per device, in the
 * order of their numbers, which names its process. 'apply' writes the file; without it, devices
 * have the numbers of the lab file. */

#include <stdbool.h>
#include <stdint.h>

#include "base/weft_error.h"
#include "lab_plan.h"
#include "topo/topology.h"

#define LAB_DEVICES_FILE "devices"

struct lab;

struct lab_device {
	char name[TOPOLOGY_NAME_MAX];
	char process[TOPOLOGY_NAME_MAX]; /* "": none, the device was removed */
	unsigned ports;                  /* the switch's ports in its process */
};

struct lab_devices {
	struct lab_device *at[2]; /* [enum device_kind][number] */
	uint32_t count[2];
	uint32_t max[2]; /* number of devices for which the processes have room */
	uint16_t fabric; /* fabric number with which the lab started; 0: there is no list */
};

/* Reads the file; without one, an empty list. Returns 0, or -errno with error set.
 * lab_devices_free() in any case. */
int lab_devices_load(struct lab_devices *devices, const char *run_dir, struct error *error);
/* Lists the devices of an opened lab, whose fabric number is 'fabric'. Returns 0 or -ENOMEM. */
int lab_devices_of(struct lab_devices *devices, const struct lab *lab, uint16_t fabric);
/* Replaces the file in one step. Returns 0, or -errno with error set. */
int lab_devices_write(const struct lab_devices *devices, const char *run_dir, struct error *error);
void lab_devices_free(struct lab_devices *devices);

/* Numbers of this kind, gaps included. */
static inline uint32_t lab_devices_numbers(const struct topology *topology, enum device_kind kind)
{
	return kind == DEVICE_SWITCH ? topology->switches : topology->hosts;
}

/* Replaces the topology with one that uses the list's numbers; devices that are not listed follow.
 * Returns 0, or -errno with error set. */
int lab_devices_number(
	const struct lab_devices *devices, struct topology **topology, struct error *error);

/* Replaces the lab file's groups with one group per listed process, followed by groups of new
 * devices. Returns -EINVAL with error set: a group has both listed and new devices; -ENOMEM. The
 * caller also frees '*groups' in that case. */
int lab_devices_group(const struct lab_devices *devices, const struct topology *topology,
	struct lab_plan_group **groups, uint32_t *count, struct error *error);

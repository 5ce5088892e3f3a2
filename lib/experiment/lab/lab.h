/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* An opened lab file: its configuration, topology and plan. 'weft lab' and each process of the lab
 * open the same file and compute the same plan. Does not use the EAL. */

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/weft_error.h"
#include "lab_config.h"
#include "lab_plan.h"
#include "topo/topology.h"

/* File in the run directory: the configuration of the running lab (written by tools/weft). */
#define LAB_KEPT_FILE "lab.yaml"

/* Number of devices of each kind that 'weft lab apply' can add to a running lab. */
#define LAB_DEVICES_MORE 64

struct lab {
	struct lab_config *config;
	struct topology *topology;
	struct lab_plan *plan;
	char path[512];          /* absolute path of the lab file */
	bool dilated;            /* dilation comes from --dilation or 'auto', not from the file */
	uint32_t frame_bytes;    /* size of the longest frame (frame_room()) */
	uint32_t devices_max[2]; /* [enum device_kind]: capacity, if devices can be added */
	uint16_t fabric; /* fabric number of the running lab; 0: computed (lab_security.h) */
};

/* Opens a lab file. 'run_dir' NULL means directory NAME below the lab directory (private_dir.h),
 * such as /run/weft/NAME. A dilation that the file does not set, and device numbers after 'weft lab
 * apply', are taken from a lab in the run directory. With 'processes: auto', that lab also
 * determines the number of processes, so that every program computes the same plan; without such a
 * lab, it is chosen as in lab_open_new(). Returns 0, or -errno with error set. */
int lab_open(struct lab *lab, const char *path, const char *run_dir, struct error *error);
/* Like lab_open(), for a lab that is about to be started. 'processes: auto' means one process if
 * several would need more than twice as many poll loops as there are CPUs (at most config.cores),
 * or if no plan with several is possible. After either call, config.processes is not AUTO. */
int lab_open_new(struct lab *lab, const char *path, const char *run_dir, struct error *error);
/* Opens a file as a new version of the running lab 'from', in its run directory. Devices of 'from'
 * keep their numbers and processes; 'fabric' is the lab's fabric number. Otherwise like
 * lab_open(). */
int lab_open_change(struct lab *lab, const char *path, const struct lab *from, uint16_t fabric,
	struct error *error);
/* Returns 0 if devices and cables can change while the lab is running, or -EINVAL with error set.
 */
int lab_check_changes(const struct lab *lab, struct error *error);
/* Returns the real duration, in ms, of an interval of lab time. */
static inline uint64_t lab_real_ms(const struct lab *lab, weft_time time)
{
	return time / PS_PER_MS * lab->config->run.dilation;
}

/* Refuses measure.until in a lab of several processes, because each process measures only its own
 * part. Returns 0, or -EINVAL with error set. */
int lab_check_until(
	const struct lab *lab, const struct run_config_measure *measure, struct error *error);

/* Returns the number of CPUs that a process of the lab may use. */
unsigned lab_cpus(const struct lab *lab);
void lab_close(struct lab *lab);

/* Prints a warning to 'out' if a mapper computes the routes and no fabric key is set. */
void lab_warn_without_key(const struct lab *lab, const char *program, FILE *out);

/* With 'processes: auto', a lab runs in one process or in several. Each of several processes runs
 * its own poll loop. Too many loops for the CPUs starve each other, and links go down. A single
 * process runs one loop per CPU. */

/* Returns true if there are too many of these single-loop processes for the CPUs. */
bool lab_form_is_crowded(unsigned processes, unsigned cpus);

/* Comment in LAB_KEPT_FILE before a dilation that the lab file does not set. */
#define LAB_FORM_DILATED "# dilated by "

/* Returns the dilation of the lab in the run directory, even if it is down; 0: unknown. Sets
 * '*dilated' (unless NULL) if the file from which the lab was started has a different one. */
uint32_t lab_form_dilation(const char *run_dir, bool *dilated);

/* Device numbers of a lab that 'weft lab apply' changes. Frames, hellos and tables contain these
 * numbers. A device therefore keeps its number until the lab goes down, and a removed device leaves
 * a gap (topology_device.absent). The file "devices" in the run directory has one line per device,
 * sorted by number, which names the device's process. 'apply' writes the file; without it, devices
 * are numbered as in the lab file. */

#define LAB_DEVICES_FILE "devices"

struct lab;

struct lab_device {
	char name[TOPOLOGY_NAME_MAX];
	char process[TOPOLOGY_NAME_MAX]; /* "": none, because the device was removed */
	unsigned ports;                  /* ports of the switch in its process */
};

struct lab_devices {
	struct lab_device *at[2]; /* [enum device_kind][number] */
	uint32_t count[2];
	uint32_t max[2]; /* number of devices for which the processes have memory */
	uint16_t fabric; /* fabric number since the lab was started; 0: no file */
};

/* Reads the file; a missing file yields an empty list. Returns 0, or -errno with error set. Call
 * lab_devices_free() in either case. */
int lab_devices_load(struct lab_devices *devices, const char *run_dir, struct error *error);
/* Lists the devices of an opened lab whose fabric number is 'fabric'. Returns 0 or -ENOMEM. */
int lab_devices_of(struct lab_devices *devices, const struct lab *lab, uint16_t fabric);
/* Replaces the file atomically. Returns 0, or -errno with error set. */
int lab_devices_write(const struct lab_devices *devices, const char *run_dir, struct error *error);
void lab_devices_free(struct lab_devices *devices);

/* Returns the count of device numbers of this kind, including gaps. */
static inline uint32_t lab_devices_numbers(const struct topology *topology, enum device_kind kind)
{
	return kind == DEVICE_SWITCH ? topology->switches : topology->hosts;
}

/* Renumbers the devices of the topology as in the list; devices that are not listed follow. Returns
 * 0, or -errno with error set. */
int lab_devices_number(
	const struct lab_devices *devices, struct topology **topology, struct error *error);

/* Replaces the lab file's groups with one group per listed process, followed by groups of new
 * devices. Returns 0, -ENOMEM, or -EINVAL with error set if a group has both listed and new
 * devices. The caller frees '*groups' even after an error. */
int lab_devices_group(const struct lab_devices *devices, const struct topology *topology,
	struct lab_plan_group **groups, uint32_t *count, struct error *error);

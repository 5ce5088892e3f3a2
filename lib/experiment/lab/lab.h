/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* An opened lab file: its configuration, topology and plan. 'weft lab' and each process of the lab
 * open the same file and compute the same plan. No EAL. */

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/weft_error.h"
#include "lab_config.h"
#include "lab_plan.h"
#include "topo/topology.h"

/* In the run directory: the configuration of the lab that is up (written by tools/weft). */
#define LAB_KEPT_FILE "lab.yaml"

/* Spare room in each process for devices that 'weft lab apply' adds. */
#define LAB_DEVICES_MORE 64

struct lab {
	struct lab_config *config;
	struct topology *topology;
	struct lab_plan *plan;
	char path[512];          /* absolute path of the lab file */
	bool dilated;            /* dilation set by --dilation or 'auto', not by the file */
	uint32_t frame_bytes;    /* room for the longest frame (frame_room()) */
	uint32_t devices_max[2]; /* numbers, if it can change; [enum device_kind] */
	uint16_t fabric;         /* kept number of the running lab; 0: computed (lab_security.h) */
};

/* 'run_dir' NULL: NAME in the folder of labs (private_dir.h), such as /run/weft/NAME. With
 * 'processes: auto', a lab in the run directory keeps its form, so that every program that opens
 * its file computes the same plan; otherwise the form is chosen as in lab_open_new(). A dilation
 * that the file does not set, and device numbers after 'weft lab apply' (lab.h), are also
 * taken from there. Returns 0, or -errno with error set. */
int lab_open(struct lab *lab, const char *path, const char *run_dir, struct error *error);
/* The same for a lab that is to be started: 'processes: auto' means one process if several would
 * need more than twice as many poll loops as there are CPUs (at most config.cores), or if no plan
 * with several is possible. After either call, config.processes is not AUTO. */
int lab_open_new(struct lab *lab, const char *path, const char *run_dir, struct error *error);
/* Opens a file as a change of the running lab 'from': devices of 'from' keep their numbers and
 * processes, and 'fabric' is the lab's fabric number. Otherwise as lab_open(), with its run
 * directory. */
int lab_open_change(struct lab *lab, const char *path, const struct lab *from, uint16_t fabric,
	struct error *error);
/* Whether devices and cables of this lab can change while it is up. Returns 0, or -EINVAL with
 * error set. */
int lab_check_changes(const struct lab *lab, struct error *error);
/* Real time, in ms, of an interval of the lab's time. */
static inline uint64_t lab_real_ms(const struct lab *lab, weft_time time)
{
	return time / PS_PER_MS * lab->config->run.dilation;
}

/* Refuses measure.until in a lab of several processes, because each process measures only its own
 * part. Returns 0, or -EINVAL with error set. */
int lab_check_until(
	const struct lab *lab, const struct run_config_measure *measure, struct error *error);

/* CPUs that a process of the lab may use. */
unsigned lab_cpus(const struct lab *lab);
void lab_close(struct lab *lab);

/* Warns on 'out' if a mapper finds the routes and there is no fabric key. */
void lab_warn_without_key(const struct lab *lab, const char *program, FILE *out);

/* The form of a lab whose file leaves it open ('processes: auto'): one process, or several. Each
 * process polls in a loop of its own, and many loops on few CPUs starve each other, so that links
 * go down. One process has a loop for each CPU. */

/* Several processes, each with its own loop, would be too many for this number of CPUs. */
bool lab_form_is_crowded(unsigned processes, unsigned cpus);

/* Comment in the run directory's file, before a dilation that the lab file does not set. */
#define LAB_FORM_DILATED "# dilated by "

/* The dilation of the lab that is, or was, up in the run directory; 0: unknown. 'dilated', if not
 * NULL: the dilation differs from the one in the file that the lab was started from. */
uint32_t lab_form_dilation(const char *run_dir, bool *dilated);

/* The numbers of devices in a lab that 'weft lab apply' changes. Frames, hellos and tables contain
 * the numbers, so a device keeps its number until the lab goes down, and a removed one leaves a gap
 * (topology_device.absent). The file "devices" in the run directory has one line per device, in the
 * order of their numbers, which names its process. 'apply' writes the file; without it, devices
 * have the numbers of the lab file. */

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

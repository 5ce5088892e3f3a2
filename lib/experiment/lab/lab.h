/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* An opened lab file: its configuration, topology and plan. 'weft lab' and each process of the lab
 * open the same file and compute the same plan. No EAL. */

#include <stdbool.h>
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

/* 'run_dir' NULL: NAME in the folder of labs (runtime_dir.h), such as /run/weft/NAME. With
 * 'processes: auto', a lab in the run directory keeps its form, so that every program that opens
 * its file computes the same plan; otherwise the form is chosen as in lab_open_new(). A dilation
 * that the file does not set, and device numbers after 'weft lab apply' (lab_devices.h), are also
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

/* The file uses nothing that requires several processes: no groups, several machines, links other
 * than shared memory, or ports of real cables. */
bool lab_form_may_be_one(const struct lab_config *config, const struct topology *topology);

/* Several processes, each with its own loop, would be too many for this number of CPUs. */
bool lab_form_is_crowded(unsigned processes, unsigned cpus);

/* The form of the lab that is, or was, up in the run directory; AUTO: unknown. */
enum lab_config_processes lab_form_kept(const char *run_dir);

/* Comment in the run directory's file, before a dilation that the lab file does not set. */
#define LAB_FORM_DILATED "# dilated by "

/* The dilation of the lab that is, or was, up in the run directory; 0: unknown. 'dilated', if not
 * NULL: the dilation differs from the one in the file that the lab was started from. */
uint32_t lab_form_dilation(const char *run_dir, bool *dilated);

/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "audit_subject.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "experiment/lab/lab_security.h"
#include "lab/cmd_lab.h"
#include "lab/lab_snapshot.h"
#include "topo/topology.h"

/* Time stamps count from 0 on the virtual clock, and from 1970 on the real clock. */
#define REAL_NS UINT64_C(1000000000000000000)

/* --- request --- */

bool audit_request_set(void *member, const char *value, char expected[COMMAND_EXPECTED_MAX])
{
	struct audit_request *request = member;

	snprintf(expected, COMMAND_EXPECTED_MAX, "at most %u of them", AUDIT_SETS_MAX);
	if (request->sets == AUDIT_SETS_MAX)
		return false;
	request->set[request->sets++] = value;
	return true;
}

int audit_request_check(const struct audit_request *request, const char *command)
{
	unsigned subjects =
		(request->run != NULL) + (request->lab != NULL) + (request->topology != NULL);

	if (request->files == 0)
		return command_fail(command, EXIT_BAD_REQUEST, "a capture file is required");
	if (subjects != 1)
		return command_fail(command, EXIT_BAD_REQUEST,
			"one of --run, --lab and --topology is required, to define the fabric's "
			"rules");
	if (request->routes != NULL && request->topology == NULL)
		return command_fail(command, EXIT_BAD_REQUEST, "--routes requires --topology");
	if (request->sets > 0 && request->run == NULL)
		return command_fail(command, EXIT_BAD_REQUEST, "--set requires --run");
	return EXIT_DONE;
}

/* --- rules --- */

static int open_run(
	struct audit_subject *subject, const struct audit_request *request, struct error *error)
{
	int result;

	subject->run = run_config_load(request->run, request->set, request->sets, error);
	if (subject->run == NULL)
		return -errno;
	result = run_config_supported(subject->run, error);
	if (result < 0)
		return result;
	if (subject->run->sw.switching == RUN_SWITCHING_WORMHOLE)
		return error_set(error, EINVAL,
			"%s: captures are not possible with 'switching: wormhole'", request->run);
	subject->own = run_config_open_topology(subject->run, error);
	subject->topology = subject->own;
	return subject->own == NULL ? -errno : 0;
}

static int open_lab(
	struct audit_subject *subject, const struct audit_request *request, struct error *error)
{
	const struct lab_arguments arguments = {.file = request->lab};
	struct lab_security security;
	struct lab_target target;
	int result = lab_snapshot_open(&arguments, &subject->lab, &target, error);

	subject->has_lab = result == 0;
	if (result == 0 && lab_security_load(&subject->lab, &security, NULL) == 0) {
		subject->fabric = security.fabric;
		lab_security_wipe(&security);
	}
	subject->topology = subject->lab.topology;
	return result;
}

static int open_topology(
	struct audit_subject *subject, const struct audit_request *request, struct error *error)
{
	int result = 0;

	subject->own = topology_open(request->topology, error);
	if (subject->own == NULL)
		return -errno;
	subject->topology = subject->own;
	result = topology_check_ports(subject->own, TOPOLOGY_PORTS_RUN, "an audit", error);
	if (result == 0 && request->routes != NULL)
		result =
			route_file_load(subject->own, request->routes, &subject->route_file, error);
	return result;
}

static int open_rules(
	struct audit_subject *subject, const struct audit_request *request, struct error *error)
{
	int result;

	if (request->topology != NULL)
		return audit_run_open_bare(&subject->rules, subject->topology,
			subject->route_file.set, subject->route_file.table, error);
	result = audit_run_open(&subject->rules, subject->topology,
		subject->has_lab ? &subject->lab.config->run : subject->run, subject->virtual,
		error);
	for (uint32_t i = 0; subject->has_lab && result == 0 && i < subject->topology->links; i++)
		subject->rules.timed[i] = lab_plan_is_timed(subject->lab.plan, i);
	return result;
}

/* --- captures --- */

int audit_capture_open(struct audit_capture *capture, const char *path,
	struct capture_reader *reader, struct error *error)
{
	struct stat status;
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC); /* a FIFO may have no writer */

	if (fd < 0 || fstat(fd, &status) != 0) {
		int result = error_set(error, errno, "%s: %s", path, strerror(errno));
		if (fd >= 0)
			close(fd);
		return result;
	}
	if (!S_ISREG(status.st_mode) || status.st_size == 0) {
		close(fd);
		return error_set(error, EINVAL, "%s: expected a capture file", path);
	}
	capture->bytes = (size_t)status.st_size;
	capture->map = mmap(NULL, capture->bytes, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	if (capture->map == MAP_FAILED) {
		capture->map = NULL;
		return error_set(error, errno, "%s: %s", path, strerror(errno));
	}
	return capture_reader_open(reader, path, capture->map, capture->bytes, error);
}

static int find_clock(struct audit_subject *subject, struct error *error)
{
	bool real = false;

	for (uint32_t i = 0; i < subject->files; i++) {
		real |= subject->reader[i].packets > 0 && subject->reader[i].first_ns >= REAL_NS;
		subject->virtual |=
			subject->reader[i].packets > 0 && subject->reader[i].first_ns < REAL_NS;
	}
	if (real && subject->virtual)
		return error_set(error, EINVAL,
			"some captures are from the virtual clock, others from the real clock; "
			"use captures from one run or lab");
	return real || subject->virtual
		       ? 0
		       : error_set(error, EINVAL, "the captures contain no frames");
}

/* Sets the times between which the captures are complete. */
static void find_times(struct audit_subject *subject)
{
	struct audit_rules *rules = &subject->rules.rules;

	rules->exact = subject->virtual && subject->files == 1;
	rules->ended_ns = UINT64_MAX;
	for (uint32_t i = 0; i < subject->files && !subject->virtual; i++) {
		const struct capture_reader *reader = &subject->reader[i];
		uint64_t complete =
			subject->files > 1 && reader->packets > 0 ? reader->first_ns : 0;

		if (complete < reader->complete_ns)
			complete = reader->complete_ns;
		if (rules->complete_ns < complete)
			rules->complete_ns = complete;
		if (reader->packets == 0 || rules->ended_ns <= reader->ended_ns)
			continue;
		rules->ended_ns = reader->ended_ns;
		subject->ends_first = reader->path;
	}
}

int audit_subject_open(
	struct audit_subject *subject, const struct audit_request *request, struct error *error)
{
	uint32_t *owner = NULL;
	int result = 0;

	*subject = (struct audit_subject){.files = 0};
	subject->reader = calloc(request->files, sizeof(*subject->reader));
	subject->capture = calloc(request->files, sizeof(*subject->capture));
	if (subject->reader == NULL || subject->capture == NULL)
		return error_set(error, ENOMEM, "out of memory");
	for (uint32_t i = 0; i < request->files && result == 0; i++) {
		result = audit_capture_open(
			&subject->capture[i], request->file[i], &subject->reader[i], error);
		subject->files = i + 1;
	}
	if (result == 0)
		result = find_clock(subject, error);
	if (result == 0)
		result = request->run != NULL   ? open_run(subject, request, error)
			 : request->lab != NULL ? open_lab(subject, request, error)
						: open_topology(subject, request, error);
	if (result < 0)
		return result;
	subject->captured = calloc(2 * subject->topology->links + 1u, sizeof(bool));
	subject->wired = calloc(2 * subject->topology->links + 1u, sizeof(*subject->wired));
	subject->part = calloc(2 * subject->topology->links + 1u, sizeof(*subject->part));
	owner = calloc(2 * subject->topology->links + 1u, sizeof(*owner));
	if (subject->captured == NULL || subject->wired == NULL || subject->part == NULL ||
		owner == NULL)
		result = error_set(error, ENOMEM, "out of memory");
	else
		result = open_rules(subject, request, error);
	if (result == 0)
		result = audit_ports_find(subject, owner, error);
	if (result == 0)
		find_times(subject);
	free(owner);
	return result;
}

int audit_subject_read(struct audit_subject *subject, audit_subject_fn *add, void *ctx)
{
	struct capture_order *order =
		capture_order_create(subject->reader, subject->files, !subject->rules.rules.exact);
	struct capture_ordered next;
	int result = order == NULL ? -ENOMEM : 1;

	while (result > 0 && (result = capture_order_next(order, &next)) > 0) {
		const struct audit_interface *of =
			&subject->capture[next.file].interface[next.packet.interface];
		uint32_t way = of->way;
		struct audit_frame_at frame = audit_frame_of(&next, way);
		int added = 0;

		frame.alone = of->lack != NULL;
		if (way != AUDIT_NO_WAY) {
			added = add(ctx, &frame);
		} else if ((frame.way = audit_sender_of(subject->topology, &next.packet)) !=
			   AUDIT_NO_WAY) {
			frame.gone = false;
			frame.out = true;
			added = add(ctx, &frame);
			frame.way ^= 1;
			frame.out = false;
			if (added == 0)
				added = add(ctx, &frame);
		}
		if (added < 0)
			result = added;
	}
	capture_order_destroy(order);
	return result;
}

void audit_subject_close(struct audit_subject *subject)
{
	for (uint32_t i = 0; i < subject->files; i++) {
		for (uint32_t k = 0;
			subject->capture[i].interface != NULL && k < subject->reader[i].interfaces;
			k++)
			free(subject->capture[i].interface[k].lack);
		free(subject->capture[i].interface);
		capture_reader_close(&subject->reader[i]);
		if (subject->capture[i].map != NULL)
			munmap(subject->capture[i].map, subject->capture[i].bytes);
	}
	free(subject->reader);
	free(subject->capture);
	free(subject->captured);
	free(subject->wired);
	free(subject->part);
	audit_run_close(&subject->rules);
	route_file_close(&subject->route_file);
	if (subject->has_lab)
		lab_close(&subject->lab);
	topology_destroy(subject->own);
	run_config_destroy(subject->run);
}

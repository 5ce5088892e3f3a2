/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "host_view.h"

#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

#define HOSTS_FILE "/etc/hosts"

static int enter_netns(const char *netns, struct fault *fault)
{
	char path[PATH_MAX];
	int fd, result;

	snprintf(path, sizeof(path), "/run/netns/%s", netns);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return fault_set(fault, errno, "%s: %s", path, strerror(errno));
	result = setns(fd, CLONE_NEWNET) < 0 ? -errno : 0;
	close(fd);
	return result == 0 ? 0 : fault_set(fault, -result, "%s: %s", path, strerror(-result));
}

/* Mounts of this process must not reach the machine. */
static int mount_own(const struct host_view *view, struct fault *fault)
{
	if (mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL) < 0)
		return fault_set(fault, errno, "mounts of its own: %s", strerror(errno));
	if (view->hosts != NULL && mount(view->hosts, HOSTS_FILE, NULL, MS_BIND, NULL) < 0)
		return fault_set(
			fault, errno, "%s on " HOSTS_FILE ": %s", view->hosts, strerror(errno));
	/* The interfaces in /sys are those of the namespace that mounts it. */
	umount2("/sys", MNT_DETACH);
	if (mount("sysfs", "/sys", "sysfs", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) < 0)
		return fault_set(fault, errno, "/sys of its own: %s", strerror(errno));
	return 0;
}

int host_view_enter(const struct host_view *view, struct fault *fault)
{
	int result = enter_netns(view->netns, fault);

	if (result < 0)
		return result;
	if (unshare(CLONE_NEWNS | CLONE_NEWUTS) < 0 ||
		sethostname(view->name, strlen(view->name)) < 0)
		return fault_set(
			fault, errno, "'%s' as host name: %s", view->name, strerror(errno));
	return mount_own(view, fault);
}

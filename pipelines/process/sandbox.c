/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

#include <dirent.h>
#include <dlfcn.h>
#include <inttypes.h>
#include <linux/capability.h>
#include <sched.h>
#include <seccomp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "os/program_threads.h"
#include "sandbox.h"

#ifndef WEFT_SANDBOX
#error "the build must define WEFT_SANDBOX"
#endif

/* Allowed with any arguments. Calls that do not exist on this architecture are omitted. */
static const int allowed[] = {
	/* memory; for mmap and mprotect see below */
	SCMP_SYS(brk), SCMP_SYS(munmap), SCMP_SYS(mremap), SCMP_SYS(madvise), SCMP_SYS(msync),
	SCMP_SYS(mlock), SCMP_SYS(mlock2), SCMP_SYS(munlock), SCMP_SYS(mincore),
	SCMP_SYS(memfd_create), SCMP_SYS(mbind), SCMP_SYS(get_mempolicy), SCMP_SYS(set_mempolicy),
	/* files: captures, replies of the control plane, clean-up, net_pcap */
	SCMP_SYS(read), SCMP_SYS(readv), SCMP_SYS(pread64), SCMP_SYS(preadv), SCMP_SYS(write),
	SCMP_SYS(writev), SCMP_SYS(pwrite64), SCMP_SYS(pwritev), SCMP_SYS(lseek), SCMP_SYS(open),
	SCMP_SYS(openat), SCMP_SYS(close), SCMP_SYS(close_range), SCMP_SYS(dup), SCMP_SYS(dup2),
	SCMP_SYS(dup3), SCMP_SYS(fcntl), SCMP_SYS(flock), SCMP_SYS(stat), SCMP_SYS(lstat),
	SCMP_SYS(fstat), SCMP_SYS(newfstatat), SCMP_SYS(statx), SCMP_SYS(statfs), SCMP_SYS(fstatfs),
	SCMP_SYS(access), SCMP_SYS(faccessat), SCMP_SYS(faccessat2), SCMP_SYS(readlink),
	SCMP_SYS(readlinkat), SCMP_SYS(getcwd), SCMP_SYS(getdents64), SCMP_SYS(ftruncate),
	SCMP_SYS(fallocate), SCMP_SYS(fsync), SCMP_SYS(fdatasync), SCMP_SYS(fchmod),
	SCMP_SYS(umask), SCMP_SYS(mkdir), SCMP_SYS(mkdirat), SCMP_SYS(rmdir), SCMP_SYS(unlink),
	SCMP_SYS(unlinkat), SCMP_SYS(link), SCMP_SYS(linkat), SCMP_SYS(rename), SCMP_SYS(renameat),
	SCMP_SYS(renameat2), SCMP_SYS(pipe2),
	/* devices: af_packet, TAP, memif's interrupts, VFIO */
	SCMP_SYS(ioctl), SCMP_SYS(poll), SCMP_SYS(ppoll), SCMP_SYS(select), SCMP_SYS(pselect6),
	SCMP_SYS(epoll_create), SCMP_SYS(epoll_create1), SCMP_SYS(epoll_ctl), SCMP_SYS(epoll_wait),
	SCMP_SYS(epoll_pwait), SCMP_SYS(eventfd2), SCMP_SYS(inotify_init1),
	SCMP_SYS(inotify_add_watch), SCMP_SYS(inotify_rm_watch), SCMP_SYS(timerfd_create),
	SCMP_SYS(timerfd_settime), SCMP_SYS(timerfd_gettime),
	/* sockets: telemetry, memif, netlink of net_tap; for socket see below */
	SCMP_SYS(socketpair), SCMP_SYS(bind), SCMP_SYS(listen), SCMP_SYS(accept), SCMP_SYS(accept4),
	SCMP_SYS(connect), SCMP_SYS(getsockname), SCMP_SYS(getpeername), SCMP_SYS(getsockopt),
	SCMP_SYS(setsockopt), SCMP_SYS(sendto), SCMP_SYS(sendmsg), SCMP_SYS(sendmmsg),
	SCMP_SYS(recvfrom), SCMP_SYS(recvmsg), SCMP_SYS(recvmmsg), SCMP_SYS(shutdown),
	/* threads and signals of this process; for clone and prctl see below */
	SCMP_SYS(futex), SCMP_SYS(set_robust_list), SCMP_SYS(get_robust_list), SCMP_SYS(rseq),
	SCMP_SYS(set_tid_address), SCMP_SYS(membarrier), SCMP_SYS(rt_sigaction),
	SCMP_SYS(rt_sigprocmask), SCMP_SYS(rt_sigreturn), SCMP_SYS(rt_sigpending),
	SCMP_SYS(rt_sigsuspend), SCMP_SYS(rt_sigtimedwait), SCMP_SYS(sigaltstack), SCMP_SYS(tgkill),
	SCMP_SYS(restart_syscall), SCMP_SYS(sched_yield), SCMP_SYS(sched_getaffinity),
	SCMP_SYS(sched_setaffinity), SCMP_SYS(sched_getparam), SCMP_SYS(sched_getscheduler),
	SCMP_SYS(sched_get_priority_min), SCMP_SYS(sched_get_priority_max), SCMP_SYS(exit),
	SCMP_SYS(exit_group),
	/* time and information about the process */
	SCMP_SYS(clock_gettime), SCMP_SYS(clock_getres), SCMP_SYS(clock_nanosleep),
	SCMP_SYS(nanosleep), SCMP_SYS(pause), SCMP_SYS(gettimeofday), SCMP_SYS(time),
	SCMP_SYS(times), SCMP_SYS(getrusage), SCMP_SYS(getcpu), SCMP_SYS(sysinfo), SCMP_SYS(uname),
	SCMP_SYS(getrlimit), SCMP_SYS(prlimit64), SCMP_SYS(getrandom), SCMP_SYS(getpid),
	SCMP_SYS(getppid), SCMP_SYS(gettid), SCMP_SYS(getuid), SCMP_SYS(geteuid), SCMP_SYS(getgid),
	SCMP_SYS(getegid), SCMP_SYS(capget),
	/* A late signal handler of sandbox.c may still call this; it grants no privileges. */
	SCMP_SYS(capset)};

/* --- handling of violations --- */

#define NAMES_MAX 512

/* Global, because a signal handler has no other access. Names are looked up in advance, because
 * that allocates memory. */
static const char *program_name;
static const char *name_of[NAMES_MAX];

static void on_violation(int number, siginfo_t *info, void *context)
{
	int call = info->si_syscall;
	const char *name = call >= 0 && call < NAMES_MAX ? name_of[call] : NULL;
	char text[256];
	/* Safe here: with numbers and strings only, snprintf() neither allocates nor locks. */
	int length = snprintf(text, sizeof(text),
		"%s: ended by its sandbox: system call %d (%s) is not allowed; if it "
		"should be, 'security: {sandbox: false}' or --no-sandbox disables the sandbox\n",
		program_name, call, name != NULL ? name : "unknown");

	if (write(STDERR_FILENO, text, (size_t)length) < 0)
		_exit(EXIT_NOT_ABLE);
	_exit(EXIT_NOT_ABLE);
}

static void catch_violations(const char *program)
{
	struct sigaction action = {.sa_sigaction = on_violation, .sa_flags = SA_SIGINFO};
	sigset_t one;

	program_name = program;
	for (int call = 0; call < NAMES_MAX; call++)
		name_of[call] = seccomp_syscall_resolve_num_arch(SCMP_ARCH_NATIVE, call);
	sigemptyset(&one);
	sigaddset(&one, SIGSYS);
	pthread_sigmask(SIG_UNBLOCK, &one, NULL);
	sigaction(SIGSYS, &action, NULL);
}

/* --- the filter --- */

static int allow_all(scmp_filter_ctx filter)
{
	int result = 0;

	for (size_t i = 0; i < sizeof(allowed) / sizeof(allowed[0]) && result == 0; i++)
		result = seccomp_rule_add(filter, SCMP_ACT_ALLOW, allowed[i], 0);
	return result;
}

static int allow_sockets(scmp_filter_ctx filter)
{
	static const unsigned families[] = {AF_UNIX, AF_INET, AF_NETLINK, AF_PACKET};
	int result = 0;

	for (size_t i = 0; i < sizeof(families) / sizeof(families[0]) && result == 0; i++)
		result = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(socket), 1,
			SCMP_A0(SCMP_CMP_EQ, families[i]));
	return result;
}

/* Allows threads but no processes, and memory that is not executable. */
static int allow_some(scmp_filter_ctx filter, const struct sandbox_options *options)
{
	/* TIMERSLACK: set by loops that yield; NO_NEW_PRIVS: see capset */
	static const unsigned controls[] = {
		PR_SET_NAME, PR_GET_NAME, PR_SET_TIMERSLACK, PR_SET_NO_NEW_PRIVS};
	int result = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(mmap), 1,
		SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0));

	if (result == 0)
		result = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(mprotect), 1,
			SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0));
	if (result == 0)
		result = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(clone), 1,
			SCMP_A0(SCMP_CMP_MASKED_EQ, CLONE_THREAD, CLONE_THREAD));
	/* A filter cannot read clone3's flags, which are in memory. The C library falls back to
	 * clone. */
	if (result == 0)
		result = seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0);
	for (size_t i = 0; i < sizeof(controls) / sizeof(controls[0]) && result == 0; i++)
		result = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(prctl), 1,
			SCMP_A0(SCMP_CMP_EQ, controls[i]));
	if (result == 0 && options->unmounts)
		result = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(umount2), 0);
	return result;
}

static int load(const struct sandbox_options *options)
{
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_TRAP);
	int result;

	if (filter == NULL)
		return -ENOMEM;
	result = seccomp_attr_set(filter, SCMP_FLTATR_CTL_TSYNC, 1);
	/* A tree, so that the filter finds a call's number in a few steps. */
	if (result == 0)
		result = seccomp_attr_set(filter, SCMP_FLTATR_CTL_OPTIMIZE, 2);
	if (result == 0)
		result = allow_all(filter);
	if (result == 0)
		result = allow_sockets(filter);
	if (result == 0)
		result = allow_some(filter, options);
	if (result == 0)
		result = seccomp_load(filter);
	seccomp_release(filter);
	return result;
}

bool sandbox_is_built(void)
{
	return WEFT_SANDBOX != 0;
}

int sandbox_enter(const struct sandbox_options *options, struct error *error)
{
	int result;

	if (!sandbox_is_built())
		return 0;
	/* DPDK ends threads with pthread_cancel(), which loads this library on first use. */
	dlopen("libgcc_s.so.1", RTLD_NOW);
	catch_violations(options->program);
	result = load(options);
	if (result == 0)
		return 0;
	return error_set(error, -result,
		"no sandbox: %s; 'security: {sandbox: false}' or --no-sandbox disables it",
		strerror(-result));
}

/* A thread runs its handler once it gets a CPU and has left system calls that signals do not
 * interrupt. At load 40, 5 s were once too short. The limit only turns a hang into a message. */
#define WAIT_S      120
#define STEP_MAX_NS 16000000L

/* Restricts this thread. Makes only system calls, because it also runs in a signal handler. */
static void keep_here(uint64_t capabilities)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[2];
	int code = errno;

	/* Set first: threads that see the capabilities gone assume that all of this is done. */
	syscall(SYS_prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (syscall(SYS_capget, &header, data) == 0) {
		for (unsigned i = 0; i < 2; i++) {
			data[i].permitted &= (uint32_t)(capabilities >> 32 * i);
			data[i].effective = data[i].permitted;
			data[i].inheritable = 0;
		}
		syscall(SYS_capset, &header, data);
	}
	errno = code;
}

static void on_signal(int number, siginfo_t *info, void *context)
{
	if (info->si_code == SI_QUEUE && info->si_pid == getpid())
		keep_here((uintptr_t)info->si_value.sival_ptr);
}

/* Returns a thread's permitted capabilities: UINT64_MAX if unknown, 0 if the thread has ended. Also
 * returns its pending signals. */
static uint64_t permitted_of(const char *thread, uint64_t *pending)
{
	char path[64], line[128];
	uint64_t permitted = UINT64_MAX;
	FILE *file;

	*pending = 0;
	snprintf(path, sizeof(path), "/proc/self/task/%.16s/status", thread);
	file = fopen(path, "re");
	if (file == NULL)
		return 0;
	while (fgets(line, sizeof(line), file) != NULL &&
		sscanf(line, "CapPrm: %" SCNx64, &permitted) != 1)
		sscanf(line, "SigPnd: %" SCNx64, pending);
	fclose(file);
	return permitted;
}

static void ask(long thread, uint64_t capabilities)
{
	siginfo_t info;

	memset(&info, 0, sizeof(info));
	info.si_code = SI_QUEUE;
	info.si_pid = getpid();
	info.si_uid = getuid();
	info.si_value.sival_ptr =
		(void *)(uintptr_t)capabilities; /* the number itself, not a pointer */
	syscall(SYS_rt_tgsigqueueinfo, getpid(), thread, THREAD_SIGNAL, &info);
}

/* Counts the threads that kept more, and signals those without such a signal: signals queue up.
 * Returns -1 if unknown. */
static int ask_all(uint64_t capabilities)
{
	DIR *tasks = opendir("/proc/self/task");
	const struct dirent *entry;
	uint64_t pending;
	int asked = 0;

	if (tasks == NULL)
		return -1;
	while ((entry = readdir(tasks)) != NULL) {
		if (entry->d_name[0] == '.' ||
			(permitted_of(entry->d_name, &pending) & ~capabilities) == 0)
			continue;
		if ((pending & UINT64_C(1) << (THREAD_SIGNAL - 1)) == 0)
			ask(strtol(entry->d_name, NULL, 10), capabilities);
		asked++;
	}
	closedir(tasks);
	return asked;
}

int privileges_keep(uint64_t capabilities, struct error *error)
{
	struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_RESTART};
	struct timespec step = {.tv_nsec = 1000000}, now;
	int left;

	keep_here(capabilities);
	sigaction(THREAD_SIGNAL, &action, NULL);
	left = ask_all(capabilities);
	clock_gettime(CLOCK_MONOTONIC, &now);
	for (time_t end = now.tv_sec + WAIT_S; left != 0 && now.tv_sec < end;) {
		nanosleep(&step, NULL);
		left = ask_all(capabilities);
		if (step.tv_nsec < STEP_MAX_NS)
			step.tv_nsec *= 2;
		clock_gettime(CLOCK_MONOTONIC, &now);
	}
	signal(THREAD_SIGNAL, SIG_IGN);
	if (left == 0)
		return 0;
	return error_set(error, left < 0 ? EPERM : ETIMEDOUT, "capabilities cannot be dropped: %s",
		left < 0 ? "there is no /proc" : "a thread does not respond");
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

#include <dirent.h>
#include <fcntl.h>
#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_log.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "eal.h"
#include "ethdev_private.h"
#include "os/hugepages.h"
#include "os/private_dir.h"
#include "os/telemetry_client.h"
#include "pci_fault.h"

#define FILES_OF_EAL       32 /* EAL keeps 16 open with one lcore, and opens more temporarily */
#define ARGUMENTS_MAX      192
#define MEMORY_MIB_DEFAULT 256
#define DEAD_MS            100 /* maximum time for a program in another container to answer */

struct arguments {
	char *at[ARGUMENTS_MAX + 1];
	int count;
	bool overflow;
	bool hugepages; /* chosen by Weft, not by the user */
};

static void add(struct arguments *arguments, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void add(struct arguments *arguments, const char *format, ...)
{
	va_list args;
	char *text;

	va_start(args, format);
	if (arguments->count == ARGUMENTS_MAX || vasprintf(&text, format, args) < 0)
		arguments->overflow = true;
	else
		arguments->at[arguments->count++] = text;
	va_end(args);
}

struct user_arguments {
	char **at;
	int count; /* at[0] is the program */
};

static struct user_arguments user_arguments(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		if (strcmp(argv[i], "--") == 0)
			return (struct user_arguments){argv, i};
	return (struct user_arguments){argv, 1};
}

/* "-l" matches "-l" and "-l0-3"; "--lcores" matches itself, alone or with "=…". */
static bool is_option(const char *argument, const char *option)
{
	size_t length = strlen(option);

	if (strncmp(argument, option, length) != 0)
		return false;
	return option[1] != '-' || argument[length] == '\0' || argument[length] == '=';
}

static bool user_gave(const struct user_arguments *user, const char *const *options)
{
	for (int i = 1; i < user->count; i++)
		for (const char *const *option = options; *option != NULL; option++)
			if (is_option(user->at[i], *option))
				return true;
	return false;
}

#define USER_GAVE(user, ...) user_gave(user, (const char *const[]){__VA_ARGS__, NULL})

/* Lists the CPUs that this process may use, such as "0-3,6-6". */
static void cpus_format(char *text, size_t size)
{
	size_t used = 0;
	cpu_set_t set;

	CPU_ZERO(&set);
	sched_getaffinity(0, sizeof(set), &set);
	text[0] = '\0';
	for (int first = 0; first < CPU_SETSIZE && used < size - 16; first++) {
		int last = first;

		if (!CPU_ISSET(first, &set))
			continue;
		while (last + 1 < CPU_SETSIZE && CPU_ISSET(last + 1, &set))
			last++;
		used += (size_t)snprintf(
			text + used, size - used, "%s%d-%d", used > 0 ? "," : "", first, last);
		first = last;
	}
}

static void add_lcores(struct arguments *arguments, const struct eal_options *options)
{
	unsigned lcores = options->lcores;
	char cpus[1024];

	cpus_format(cpus, sizeof(cpus));
	add(arguments, "--lcores=(0-%u)@(%s)", lcores == 0 ? 0 : lcores - 1, cpus);
}

static bool has_pci(const struct user_arguments *user, const struct eal_options *options)
{
	return (options->pci != NULL && *options->pci != NULL) ||
	       USER_GAVE(user, "-a", "--allow", "-b", "--block");
}

static void add_memory(struct arguments *arguments, const struct user_arguments *user,
	const struct eal_options *options)
{
	unsigned mib = options->memory_mib == 0 ? MEMORY_MIB_DEFAULT : options->memory_mib;

	/* The user's hugepages are files, unlinked immediately unless DPDK needs their names. */
	if (USER_GAVE(user, "--huge-dir", "--socket-mem", "--legacy-mem") &&
		!USER_GAVE(user, "--in-memory", "--no-huge", "--huge-unlink",
			"--single-file-segments"))
		add(arguments, "--huge-unlink");
	if (USER_GAVE(user, "--socket-mem", "--no-huge", "--in-memory", "--huge-dir",
		    "--legacy-mem", "--single-file-segments"))
		return;
	/* memfd hugepages need no mount and leave no file. */
	if (has_pci(user, options) && hugepages_free_bytes("") >> 20 >= mib)
		arguments->hugepages = true;
	add(arguments, arguments->hugepages ? "--in-memory" : "--no-huge");
	if (USER_GAVE(user, "-m"))
		return;
	/* Allocated at the start, because another process may take the free pages later. */
	add(arguments, "-m");
	add(arguments, "%u", mib);
}

static void add_pci(struct arguments *arguments, const char *const *pci)
{
	if (pci == NULL || *pci == NULL) {
		add(arguments, "--no-pci");
		return;
	}
	for (; *pci != NULL; pci++) {
		add(arguments, "-a");
		add(arguments, "%s", *pci);
	}
}

static void add_prefix(struct arguments *arguments, const char *prefix)
{
	if (prefix != NULL)
		add(arguments, "--file-prefix=%s", prefix);
	else
		add(arguments, "--file-prefix=weft-%d", (int)getpid());
}

static int arguments_build(struct arguments *arguments, const struct user_arguments *user,
	const struct eal_options *options, struct error *error)
{
	add(arguments, "%s", user->at[0]);
	add_memory(arguments, user, options);
	if (!USER_GAVE(user, "--no-shconf", "--proc-type"))
		add(arguments, "--no-shconf");
	if (!USER_GAVE(user, "-l", "-c", "--lcores"))
		add_lcores(arguments, options);
	if (!USER_GAVE(user, "-a", "--allow", "-b", "--block", "--no-pci"))
		add_pci(arguments, options->pci);
	if (!USER_GAVE(user, "--file-prefix"))
		add_prefix(arguments, options->prefix);
	if (!USER_GAVE(user, "--log-level"))
		add(arguments, "--log-level=*:warning");
	for (int i = 1; i < user->count; i++)
		add(arguments, "%s", user->at[i]);
	if (arguments->overflow)
		return error_set(error, EINVAL, "more than %d EAL arguments", ARGUMENTS_MAX);
	return 0;
}

/* If an argument is wrong, EAL prints its usage on standard output, and FATAL lines on standard
 * error in addition to its log. Neither may reach the terminal; standard error is kept for the
 * message. */
struct silence {
	int kept[2]; /* original descriptors 1 and 2; -1: unchanged */
	int errors;  /* memfd that received standard error */
};

static int redirect(int fd, int to)
{
	int kept = to < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, 0);

	if (kept >= 0)
		dup2(to, fd);
	return kept;
}

static void restore(int fd, int kept)
{
	if (kept < 0)
		return;
	dup2(kept, fd);
	close(kept);
}

static void silence_begin(struct silence *silence)
{
	int null = open("/dev/null", O_WRONLY | O_CLOEXEC);

	fflush(stdout);
	silence->errors = memfd_create("errors", MFD_CLOEXEC);
	silence->kept[0] = redirect(STDOUT_FILENO, null);
	silence->kept[1] = redirect(STDERR_FILENO, silence->errors);
	if (null >= 0)
		close(null);
}

/* Stores the beginning of the text on standard error in 'errors'. */
static void silence_end(const struct silence *silence, char *errors, size_t size)
{
	ssize_t length = 0;

	fflush(stdout);
	restore(STDOUT_FILENO, silence->kept[0]);
	restore(STDERR_FILENO, silence->kept[1]);
	if (silence->errors >= 0) {
		length = pread(silence->errors, errors, size - 1, 0);
		close(silence->errors);
	}
	errors[length > 0 ? length : 0] = '\0';
}

/* Chooses the most precise text: getopt()'s message about a wrong argument ("PROGRAM: unrecognized
 * option '--x'"), otherwise EAL's log, otherwise its FATAL lines. */
static int fault_from_texts(struct error *error, int code, const struct arguments *arguments,
	const char *errors, const struct log_capture *log)
{
	const char *program = arguments->at[0];
	/* A cgroup may forbid hugepages that sysfs shows as free. */
	const char *hint = arguments->hugepages
				   ? "; Weft chose free hugepages, which EAL's --no-huge avoids"
				   : "";
	size_t length = strlen(program);
	const char *cause;
	int count;

	if (strncmp(errors, program, length) == 0 && strncmp(errors + length, ": ", 2) == 0) {
		cause = errors + length + 2;
		return error_set(
			error, EINVAL, "cannot start DPDK: %.*s", (int)strcspn(cause, "\n"), cause);
	}
	count = log_lines_cause(log->text, &cause);
	if (count > 0)
		return error_set(error, code, "cannot start DPDK: %.*s%s", count, cause, hint);
	return error_set(error, code, "cannot start DPDK: %s%s",
		errors[0] != '\0' ? errors : strerror(code), hint);
}

static int init(struct arguments *arguments, const struct user_arguments *user, struct error *error)
{
	char *order[ARGUMENTS_MAX + 1]; /* copied, because EAL reorders the pointers */
	/* If the user requests EAL's output, it is not filtered. */
	bool quiet = !USER_GAVE(user, "-h", "--help", "-v", "--log-level");
	struct silence silence;
	struct log_capture log = {.text = NULL};
	char errors[1024] = "";
	int result, code;

	memcpy(order, arguments->at, sizeof(order));
	if (quiet) {
		log_capture_begin(&log);
		silence_begin(&silence);
	}
	result = rte_eal_init(arguments->count, order);
	code = rte_errno > 0 ? rte_errno : EINVAL;
	if (quiet) {
		silence_end(&silence, errors, sizeof(errors));
		log_capture_end(&log);
	}
	if (result < 0) {
		result = fault_from_texts(error, code, arguments, errors, &log);
		runtime_dir_remove(rte_eal_get_runtime_dir());
	}
	log_capture_free(&log);
	return result < 0 ? result : 0;
}

/* EAL and drivers report a lack of descriptors inconsistently, or crash. */
static int provide_files(unsigned files, struct error *error)
{
	rlim_t needed = FILES_OF_EAL + files;
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= needed)
		return 0;
	if (limit.rlim_max < needed)
		return error_set(error, EMFILE,
			"too few file descriptors: %llu may be open, but %llu are needed ('ulimit -n')",
			(unsigned long long)limit.rlim_max, (unsigned long long)needed);
	limit.rlim_cur = needed;
	setrlimit(RLIMIT_NOFILE, &limit);
	return 0;
}

/* Returns whether a DPDK runtime folder named by add_prefix() belongs to a killed program. */
static bool is_dead(const char *prefix)
{
	int pid, length = 0, fd;

	if (sscanf(prefix, "weft-%d%n", &pid, &length) != 1 || prefix[length] != '\0' ||
		kill(pid, 0) == 0 || errno != ESRCH)
		return false;
	/* A program in a container that shares the folder has a different process id there. */
	fd = telemetry_client_open(prefix, DEAD_MS, NULL);
	telemetry_client_close(fd);
	return fd == -ECONNREFUSED || fd == -ENOENT;
}

static void remove_dead(void)
{
	char path[RUNTIME_DIR_MAX];
	const struct dirent *entry;
	DIR *folder;

	runtime_dir_path("", path);
	folder = opendir(path);
	while (folder != NULL && (entry = readdir(folder)) != NULL)
		if (is_dead(entry->d_name)) {
			runtime_dir_path(entry->d_name, path);
			runtime_dir_remove(path);
		}
	if (folder != NULL)
		closedir(folder);
}

int eal_start(int argc, char **argv, const struct eal_options *options, struct error *error)
{
	struct user_arguments user = user_arguments(argc, argv);
	struct arguments arguments = {.count = 0};
	int result = provide_files(options->files, error), lock;

	if (result < 0)
		return result;
	lock = has_pci(&user, options) ? hugepages_lock() : -1;
	result = arguments_build(&arguments, &user, options, error);
	if (result == 0)
		result = runtime_dir_prepare(error);
	if (result == 0)
		remove_dead();
	if (result == 0)
		result = init(&arguments, &user, error);
	hugepages_unlock(lock);
	for (int i = 0; i < arguments.count; i++)
		free(arguments.at[i]);
	if (result < 0)
		return result;
	return user.count < argc && strcmp(argv[user.count], "--") == 0 ? user.count + 1 : 1;
}

const char *eal_prefix(void)
{
	const char *dir = rte_eal_get_runtime_dir();
	const char *slash = strrchr(dir, '/');

	return slash != NULL ? slash + 1 : dir;
}

void eal_stop(void)
{
	char dir[RUNTIME_DIR_MAX];

	snprintf(dir, sizeof(dir), "%s", rte_eal_get_runtime_dir());
	rte_eal_cleanup();
	runtime_dir_remove(dir);
}

void log_capture_begin(struct log_capture *log)
{
	*log = (struct log_capture){.text = NULL};
	log->stream = open_memstream(&log->text, &log->size);
	if (log->stream != NULL)
		rte_openlog_stream(log->stream);
}

void log_capture_end(struct log_capture *log)
{
	if (log->stream == NULL)
		return;
	rte_openlog_stream(NULL);
	fclose(log->stream);
	log->stream = NULL;
}

void log_capture_free(struct log_capture *log)
{
	free(log->text);
	log->text = NULL;
}

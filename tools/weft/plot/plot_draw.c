/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "plot_script.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define NO_PROGRAM 127

/* gnuplot with the read end of 'script' as its standard input. */
static pid_t start_gnuplot(const int script[2])
{
	pid_t pid = fork();

	if (pid != 0)
		return pid;
	dup2(script[0], STDIN_FILENO);
	dup2(STDERR_FILENO, STDOUT_FILENO);
	close(script[0]);
	close(script[1]);
	execlp("gnuplot", "gnuplot", "-", (char *)NULL);
	_exit(errno == ENOENT ? NO_PROGRAM : EXIT_NOT_ABLE);
}

static int check_gnuplot(int status, const char *part, struct fault *fault)
{
	struct stat about;

	if (WIFEXITED(status) && WEXITSTATUS(status) == NO_PROGRAM)
		return fault_set(fault, ENODEV,
			"gnuplot is not installed: it is in the package gnuplot-nox (apt install "
			"gnuplot-nox)");
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 0 || stat(part, &about) < 0 ||
		about.st_size == 0)
		return fault_set(fault, EIO, "gnuplot failed (status %d)", status);
	return 0;
}

/* Pipes the script into gnuplot, which writes 'part'. */
static int draw(const struct plot_curves *curves, enum plot_format format, const char *part,
	struct fault *fault)
{
	int script[2], status;
	FILE *out;
	pid_t pid;

	if (pipe(script) < 0)
		return fault_set(fault, errno, "gnuplot: %s", strerror(errno));
	signal(SIGPIPE, SIG_IGN);
	pid = start_gnuplot(script);
	close(script[0]);
	out = pid > 0 ? fdopen(script[1], "w") : NULL;
	if (out == NULL) {
		close(script[1]);
	} else {
		plot_script_write(curves, format, part, out);
		fclose(out);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return fault_set(fault, errno, "gnuplot: %s", strerror(errno));
	return check_gnuplot(status, part, fault);
}

static int write_script(const struct plot_curves *curves, const char *part, struct fault *fault)
{
	FILE *out = fopen(part, "w");

	if (out != NULL) {
		plot_script_write(curves, PLOT_GNUPLOT, NULL, out);
		if (fclose(out) == 0)
			return 0;
	}
	return fault_set(fault, EIO, "%s: %s", part, strerror(errno));
}

int plot_draw(const struct plot_curves *curves, const char *output, struct fault *fault)
{
	enum plot_format format = plot_format_find(output);
	char part[PATH_MAX];
	int result, file;

	snprintf(part, sizeof(part), "%s.part", output);
	/* Without a writable file gnuplot would write to its standard output. */
	file = open(part, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (file < 0)
		return fault_set(fault, errno, "%s: %s", output, strerror(errno));
	close(file);
	result = format == PLOT_GNUPLOT ? write_script(curves, part, fault)
					: draw(curves, format, part, fault);
	if (result == 0 && rename(part, output) != 0)
		result = fault_set(fault, errno, "%s: %s", output, strerror(errno));
	if (result < 0)
		unlink(part);
	return result;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "plot_script.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "atomic_file.h"

#define NO_PROGRAM 127

/* A warning of gnuplot, which goes on and draws the legend over the data. */
#define NO_ROOM  "difficulty fitting plot titles"
#define SAID_MAX 4096

/* gnuplot with the read end of 'script' as its standard input; what it says goes into 'said'. */
static pid_t start_gnuplot(const int script[2], int said)
{
	pid_t pid = fork();

	if (pid != 0)
		return pid;
	dup2(script[0], STDIN_FILENO);
	dup2(said, STDERR_FILENO);
	dup2(said, STDOUT_FILENO);
	close(script[0]);
	close(script[1]);
	execlp("gnuplot", "gnuplot", "-", (char *)NULL);
	_exit(errno == ENOENT ? NO_PROGRAM : EXIT_NOT_ABLE);
}

static int check_gnuplot(int status, int drawn, const char *said, struct fault *fault)
{
	struct stat about;

	if (WIFEXITED(status) && WEXITSTATUS(status) == NO_PROGRAM)
		return fault_set(fault, ENODEV,
			"gnuplot is not installed: it is in the package gnuplot-nox (apt install "
			"gnuplot-nox)");
	if (strstr(said, NO_ROOM) != NULL)
		return fault_set(fault, EINVAL,
			"the legend has no room on the page: expected a greater --size, a smaller "
			"--font or fewer curves (--where)");
	fputs(said, stderr);
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 0 || fstat(drawn, &about) < 0 ||
		about.st_size == 0)
		return fault_set(fault, EIO, "gnuplot failed (status %d)", status);
	return 0;
}

/* Pipes the script into gnuplot, which draws into 'drawn'. */
static int run_gnuplot(const struct plot_curves *curves, enum plot_format format, int drawn,
	int said, struct fault *fault)
{
	int script[2], status;
	char path[64], text[SAID_MAX] = "";
	FILE *out;
	pid_t pid;

	if (pipe(script) < 0)
		return fault_set(fault, errno, "gnuplot: %s", strerror(errno));
	signal(SIGPIPE, SIG_IGN);
	pid = start_gnuplot(script, said);
	close(script[0]);
	out = pid > 0 ? fdopen(script[1], "w") : NULL;
	if (out == NULL) {
		close(script[1]);
	} else {
		snprintf(path, sizeof(path), "/proc/self/fd/%d", drawn);
		plot_script_write(curves, format, path, out);
		fclose(out);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return fault_set(fault, errno, "gnuplot: %s", strerror(errno));
	if (pread(said, text, sizeof(text) - 1, 0) < 0)
		text[0] = '\0';
	return check_gnuplot(status, drawn, text, fault);
}

static void copy(int from, FILE *to)
{
	char piece[4096];
	ssize_t bytes;
	off_t at = 0;

	for (; (bytes = pread(from, piece, sizeof(piece), at)) > 0; at += bytes)
		if (fwrite(piece, 1, (size_t)bytes, to) != (size_t)bytes)
			return; /* the stream knows */
}

/* gnuplot does not notice a full disk: it draws into memory, and this program writes the file. */
static int draw(
	const struct plot_curves *curves, enum plot_format format, FILE *out, struct fault *fault)
{
	int drawn = memfd_create("weft-plot", 0), said = memfd_create("weft-plot-said", 0), result;

	if (drawn < 0 || said < 0)
		result = fault_set(fault, errno, "no memory to draw in: %s", strerror(errno));
	else
		result = run_gnuplot(curves, format, drawn, said, fault);
	if (result == 0)
		copy(drawn, out);
	if (drawn >= 0)
		close(drawn);
	if (said >= 0)
		close(said);
	return result;
}

int plot_draw(const struct plot_curves *curves, const char *output, struct fault *fault)
{
	enum plot_format format = plot_format_find(output);
	struct atomic_file file = {.path = output};
	int result = atomic_file_open(&file, fault);

	if (result < 0)
		return result;
	if (format == PLOT_GNUPLOT)
		plot_script_write(curves, PLOT_GNUPLOT, NULL, file.file);
	else
		result = draw(curves, format, file.file, fault);
	if (result == 0)
		return atomic_file_close(&file, fault);
	atomic_file_discard(&file);
	return result;
}

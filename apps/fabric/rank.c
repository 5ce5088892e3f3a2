/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "simulated_run.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <sodium.h>

#include "experiment/result/run_result.h"
#include "experiment/run/run_config.h"
#include "process/program.h"
#include "wire/packet.h"

/* Joins the other ranks. Only weft-fabric-mpi loads the MPI library; weft-fabric replaces itself
 * with it. */
static int join(char **argv, struct ranks **ranks, struct error *error)
{
#ifdef WITH_MPI
	return ranks_open(ranks, error);
#else
	struct error why;
	int result = program_become("weft-fabric-mpi", argv, &why);

	if (result != -ENOENT)
		return error_set(error, -result, "--mpi: %s", why.text);
	return error_set(error, ENOTSUP,
		"--mpi: this build of Weft does not support MPI; install the package weft-mpi, or "
		"install libopenmpi-dev and rebuild with -Dmpi=enabled");
#endif
}

struct ranks *rank_open(
	const struct options *options, char **argv, struct error *error, int *result)
{
	struct ranks *ranks = NULL;

	*result = 0;
	if (options->mpi || ranks_were_started("weft-fabric"))
		*result = join(argv, &ranks, error);
	return ranks;
}

static int compare_text(
	struct ranks *ranks, const char *text, const char *what, struct error *error)
{
	int result =
		text == NULL ? error_set(error, ENOMEM, "not enough memory for a comparison") : 0;

	result = ranks_agree(ranks, result, error);
	return result < 0 ? result : ranks_compare(ranks, text, strlen(text), what, error);
}

static int compare_config(struct ranks *ranks, const struct run_config *config, struct error *error)
{
	json_t *document = run_config_json(config);
	char *text = document != NULL ? json_dumps(document, JSON_SORT_KEYS) : NULL;
	int result = compare_text(ranks, text, "configuration", error);

	json_decref(document);
	free(text);
	return result;
}

static int compare_topology(
	struct ranks *ranks, const struct topology *topology, struct error *error)
{
	size_t bytes = 0;
	char *text = NULL;
	FILE *out = open_memstream(&text, &bytes);
	int result;

	if (out != NULL) {
		topology_write(topology, out);
		fclose(out);
	}
	result = compare_text(ranks, text, "topology", error);
	free(text);
	return result;
}

#define HASH_BYTES 32u

/* Returns 0, or -errno with 'error' set. */
static int hash_file(const char *path, uint8_t hash[HASH_BYTES], struct error *error)
{
	crypto_generichash_state state;
	FILE *in = fopen(path, "rb");
	uint8_t block[16384];
	size_t bytes;
	int result;

	if (in == NULL)
		return error_set(error, errno, "%s: %s", path, strerror(errno));
	crypto_generichash_init(&state, NULL, 0, HASH_BYTES);
	while ((bytes = fread(block, 1, sizeof(block), in)) > 0)
		crypto_generichash_update(&state, block, bytes);
	crypto_generichash_final(&state, hash, HASH_BYTES);
	result = ferror(in) ? error_set(error, EIO, "%s: cannot be read", path) : 0;
	fclose(in);
	return result;
}

/* Compares the contents of a permutation or schedule, because the same name may be a different file
 * on another machine. Pipes can be read only once, by the run. */
static int compare_file(struct ranks *ranks, const char *path, struct error *error)
{
	uint8_t hash[HASH_BYTES] = {0};
	struct stat status;
	int result = 0;

	if (stat(path, &status) == 0 && S_ISREG(status.st_mode))
		result = hash_file(path, hash, error);
	result = ranks_agree(ranks, result, error);
	if (result == 0)
		result = ranks_compare(ranks, hash, sizeof(hash), path, error);
	return result;
}

static int compare_files(struct ranks *ranks, const struct run_config *config, struct error *error)
{
	int result = 0;

	for (uint32_t i = 0; i < config->traffic.count && result == 0; i++) {
		const char *path[RUN_TRAFFIC_FILES];

		run_traffic_files(&config->traffic.at[i], path);
		for (unsigned j = 0; j < RUN_TRAFFIC_FILES && result == 0; j++)
			if (path[j] != NULL)
				result = compare_file(ranks, path[j], error);
	}
	return result;
}

int rank_compare(struct ranks *ranks, const struct options *options,
	const struct run_config *config, const struct topology *topology, struct error *error)
{
	char version[128], number[32];
	int result;

	if (ranks == NULL)
		return 0;
	/* Messages use the machine's byte order. */
	snprintf(version, sizeof(version), "%s %zu %u", WEFT_VERSION, sizeof(struct weft_packet),
		__BYTE_ORDER__);
	result = compare_text(ranks, version, "version of Weft", error);
	snprintf(number, sizeof(number), "%u", options->workers);
	if (result == 0)
		result = compare_text(ranks, number, "number of --workers", error);
	snprintf(number, sizeof(number), "%llu", (unsigned long long)config->seed);
	if (result == 0)
		result = compare_text(ranks, number, "seed", error);
	if (result == 0)
		result = compare_config(ranks, config, error);
	if (result == 0)
		result = compare_files(ranks, config, error);
	return result == 0 ? compare_topology(ranks, topology, error) : result;
}

int rank_close(struct ranks *ranks, int code)
{
	if (ranks == NULL)
		return code;
	if (ranks->failed || ranks_share(ranks, &code, sizeof(code)) < 0)
		ranks_end_all(ranks, code != EXIT_DONE ? code : EXIT_NOT_ABLE);
	ranks_close(ranks);
	return code;
}

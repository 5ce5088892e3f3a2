/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include <errno.h>
#include <inttypes.h>

#include "os/atomic_file.h"
#include "run_config.h"
#include "run_config_fields.h"
#include "wire/frame.h"

/* A buffer that cannot hold one whole frame would block forever. */
static int check_buffer(
	const struct run_config *config, const struct yaml_tree_node *root, struct error *error)
{
	uint32_t frame = run_config_frame_blocks(config), vcs = run_config_vcs(config);
	uint64_t min = (uint64_t)frame * FRAME_BLOCK_BYTES * vcs;
	char size[QUANTITY_TEXT];

	if (frame <= run_config_vc_blocks(config) || config->sw.switching == RUN_SWITCHING_WORMHOLE)
		return 0;
	quantity_format(QUANTITY_SIZE, min, size);
	return yaml_tree_refuse(run_config_nearest(root, "switch", "buffer"), error,
		"switch.buffer: each of %u VCs must hold a frame of switch.mtu, so the buffer "
		"must be %s or more",
		vcs, size);
}

/* A pool that cannot hold one frame would lose all frames. */
static int check_itb(
	const struct run_config *config, const struct yaml_tree_node *root, struct error *error)
{
	uint32_t frame = FRAME_HEADER_BYTES + FRAME_ROUTE_MAX + config->nic.mtu_bytes +
			 run_config_extra_bytes(config);
	const struct yaml_tree_node *nic = yaml_tree_get(root, "nic");
	char size[QUANTITY_TEXT];

	if (config->nic.itb.pool_bytes >= frame || config->sw.switching == RUN_SWITCHING_WORMHOLE)
		return 0;
	quantity_format(QUANTITY_SIZE, frame, size);
	return yaml_tree_refuse(run_config_nearest(nic != NULL ? nic : root, "itb", "pool"), error,
		"nic.itb.pool must be %s or more, to hold a frame of nic.mtu", size);
}

static int check_nic(
	const struct run_config *config, const struct yaml_tree_node *root, struct error *error)
{
	const struct yaml_tree_node *mtu = run_config_nearest(root, "nic", "mtu");
	const struct run_config_nic *nic = &config->nic;

	if (mtu == root)
		mtu = run_config_nearest(root, "switch", "mtu");
	if (nic->mtu_bytes > config->sw.mtu_bytes)
		return yaml_tree_refuse(mtu, error,
			"nic.mtu, %u bytes, must be at most switch.mtu, %u bytes", nic->mtu_bytes,
			config->sw.mtu_bytes);
	if ((nic->window_frames & (nic->window_frames - 1)) != 0)
		return yaml_tree_refuse(run_config_nearest(root, "nic", "window"), error,
			"nic.window must be a power of two");
	if (nic->give_up_ps <= nic->retry_ps)
		return yaml_tree_refuse(run_config_nearest(root, "nic", "give-up"), error,
			"nic.give-up must be longer than nic.retry");
	return check_itb(config, root, error);
}

int run_config_check_samples(
	const struct run_config_measure *measure, weft_time duration_ps, struct error *error)
{
	char sample[QUANTITY_TEXT], duration[QUANTITY_TEXT], min[QUANTITY_TEXT];
	uint64_t samples = duration_ps / measure->sample_ps;
	/* Rounded up to whole nanoseconds. */
	uint64_t unit = (uint64_t)RUN_SAMPLES_MAX * PS_PER_NS;
	weft_time enough = (duration_ps / unit + (duration_ps % unit != 0)) * PS_PER_NS;

	if (samples <= RUN_SAMPLES_MAX)
		return 0;
	quantity_format(QUANTITY_TIME, measure->sample_ps, sample);
	quantity_format(QUANTITY_TIME, duration_ps, duration);
	quantity_format(QUANTITY_TIME, enough, min);
	return error_set(error, EINVAL,
		"measure.sample: %s gives %" PRIu64
		" samples in a run of %s; at most %d are allowed, so use %s or more",
		sample, samples, duration, RUN_SAMPLES_MAX, min);
}

int run_config_check_link_series(
	const struct run_config *config, const struct topology *topology, struct error *error)
{
	const struct run_config_measure *measure = &config->measure;
	uint64_t each = 2 * (uint64_t)topology->links * (RUN_LINK_VALUES + run_config_vcs(config));
	uint64_t samples = measure->duration_ps / measure->sample_ps;
	uint64_t max = each > 0 ? RUN_LINK_VALUES_MAX / each : samples;
	bool counts = measure->messages > 0 || run_config_has_schedule(config);
	char min[QUANTITY_TEXT];

	/* A run that counts messages, or has a schedule, usually ends long before its duration. */
	if (!measure->link_series || samples <= max || (counts && max > 0))
		return 0;
	if (max == 0)
		return error_set(error, EINVAL,
			"%s: measure.link-series: the %u links have %" PRIu64
			" values per sample; at most %d are allowed",
			config->origin, topology->links, each, RUN_LINK_VALUES_MAX);
	quantity_format(
		QUANTITY_TIME, (measure->duration_ps / PS_PER_NS / max + 1) * PS_PER_NS, min);
	return error_set(error, EINVAL,
		"%s: measure.link-series: %" PRIu64 " samples of %u links have %" PRIu64
		" values; at most %d are allowed, so use a measure.sample of %s or more",
		config->origin, samples, topology->links, samples * each, RUN_LINK_VALUES_MAX, min);
}

static int check_samples(
	const struct run_config *config, const struct yaml_tree_node *root, struct error *error)
{
	const struct run_config_measure *measure = &config->measure;
	const struct yaml_tree_node *place = run_config_nearest(root, "measure", "sample");
	char sample[QUANTITY_TEXT], duration[QUANTITY_TEXT];
	struct error why;

	if (measure->sample_ps > measure->duration_ps) {
		quantity_format(QUANTITY_TIME, measure->sample_ps, sample);
		quantity_format(QUANTITY_TIME, measure->duration_ps, duration);
		return yaml_tree_refuse(place, error,
			"measure.sample, %s, must be at most measure.duration, %s", sample,
			duration);
	}
	/* A run that counts messages usually ends long before its duration. */
	if (measure->messages == 0 &&
		run_config_check_samples(measure, measure->duration_ps, &why) < 0)
		return yaml_tree_refuse(place, error, "%s", why.text);
	return 0;
}

static int check_fidelity(const struct yaml_tree_node *root, struct error *error)
{
	if (!run_config_says(root, "fidelity", "share", NULL) ||
		run_config_says(root, "fidelity", "late", NULL))
		return 0;
	return yaml_tree_refuse(run_config_nearest(root, "fidelity", "share"), error,
		"fidelity.share requires fidelity.late");
}

/* A share of 0, as found in a written configuration, means that there is no interval. */
static int check_until(const struct yaml_tree_node *root, struct error *error)
{
	const struct yaml_tree_node *until = run_config_says(root, "measure", "until", NULL)
						     ? run_config_nearest(root, "measure", "until")
						     : NULL;

	return until == NULL || yaml_tree_get(until, "interval") != NULL
		       ? 0
		       : yaml_tree_refuse(until, error,
				 "measure.until.interval is missing; set a share such as 2%%");
}

int run_config_check(
	const struct run_config *config, const struct yaml_tree_node *root, struct error *error)
{
	int result = check_buffer(config, root, error);

	if (result == 0)
		result = check_nic(config, root, error);
	if (result == 0)
		result = run_config_check_control(config, root, error);
	if (result == 0)
		result = run_config_check_adaptive(config, root, error);
	if (result == 0)
		result = run_config_check_mapper(config, root, error);
	if (result == 0)
		result = run_config_check_bursts(config, error);
	if (result == 0 && config->queuing != &queuing_1q && config->sw.vcs == 1)
		result = yaml_tree_refuse(yaml_tree_get(root, "queuing"), error,
			"queuing: %s spreads messages over VCs, so switch.vcs must be 2 or more",
			config->queuing->name);
	for (uint32_t sl = 0; sl < config->sw.sl_to_vc.count && result == 0; sl++)
		if (config->sw.sl_to_vc.vc[sl] >= config->sw.vcs)
			result = yaml_tree_refuse(run_config_nearest(root, "switch", "sl-to-vc"),
				error,
				"switch.sl-to-vc: VC %u does not exist; VCs must be below "
				"switch.vcs, %u",
				config->sw.sl_to_vc.vc[sl], config->sw.vcs);
	if (result == 0)
		result = check_until(root, error);
	if (result == 0)
		result = check_samples(config, root, error);
	if (result == 0)
		result = check_fidelity(root, error);
	if (result == 0 && config->measure.warmup_ps >= config->measure.duration_ps)
		result = yaml_tree_refuse(run_config_nearest(root, "measure", "warmup"), error,
			"measure.warmup must be shorter than measure.duration, which includes "
			"it");
	return result;
}

struct walk {
	run_file_fn *take;
	void *ctx;
	struct error *error;
};

static int visit(const struct walk *walk, const char *path)
{
	return path != NULL && path[0] == '/' ? walk->take(walk->ctx, path, walk->error) : 0;
}

int run_files_each(
	const struct run_config *config, run_file_fn *take, void *ctx, struct error *error)
{
	const struct walk walk = {take, ctx, error};
	int result = visit(&walk, config->topology.spec);

	if (result == 0)
		result = visit(&walk, config->routing.file);
	if (result == 0)
		result = visit(&walk, config->mapper.expect);
	for (uint32_t i = 0; i < config->traffic.count && result == 0; i++) {
		const char *path[RUN_TRAFFIC_FILES];

		run_traffic_files(&config->traffic.at[i], path);
		for (unsigned j = 0; j < RUN_TRAFFIC_FILES && result == 0; j++)
			result = visit(&walk, path[j]);
	}
	return result;
}

static int refuse(void *ctx, const char *path, struct error *error)
{
	return same_file_refuse(ctx, path, error);
}

int run_files_refuse(const struct run_config *config, const char *output, struct error *error)
{
	int result = same_file_refuse(output, config->origin, error);

	return result == 0 && output != NULL ? run_files_each(config, refuse, (void *)output, error)
					     : result;
}

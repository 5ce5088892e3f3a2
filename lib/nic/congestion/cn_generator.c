/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "cn_generator.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int cn_generator_init(struct answers *answers, const struct cn_generator_config *config)
{
	memset(answers, 0, sizeof(*answers));
	answers->config = *config;
	if (config->gap_ps != 0) {
		answers->next = calloc(config->hosts + 1, sizeof(answers->next[0]));
		if (answers->next == NULL)
			return -ENOMEM;
	}
	if (!config->all || !config->by_message)
		return 0;
	answers->worst =
		calloc((size_t)config->hosts * ANSWERS_PATHS + 1, sizeof(answers->worst[0]));
	return answers->worst == NULL ? -ENOMEM : 0;
}

void cn_generator_fini(struct answers *answers)
{
	free(answers->worst);
	free(answers->next);
	answers->worst = NULL;
	answers->next = NULL;
}

/* Adds a frame to its message, whose frames arrive in order on one path. '*cn' then describes the
 * message so far. */
static void join_message(struct answers *answers, uint16_t source, bool tail, struct cn *cn)
{
	struct cn *worst =
		&answers->worst[(size_t)source * ANSWERS_PATHS + cn->path % ANSWERS_PATHS];
	uint8_t marks = (worst->flags | cn->flags) & (CN_F_FECN | CN_F_BECN);
	uint32_t message = cn->message, sequence = cn->sequence;

	if (worst->waiting_ns > cn->waiting_ns)
		*cn = *worst;
	cn->flags |= marks;
	cn->message = message;
	cn->sequence = sequence;
	if (tail)
		memset(worst, 0, sizeof(*worst));
	else
		*worst = *cn;
}

/* Returns true if a mark of this source may be answered now. */
static bool may_notify(struct answers *answers, uint16_t source, weft_time now)
{
	if (answers->next == NULL)
		return true;
	if (now < answers->next[source])
		return false;
	answers->next[source] = now + answers->config.gap_ps;
	return true;
}

bool cn_generator_take(
	struct answers *answers, uint16_t source, bool tail, struct cn *cn, weft_time now)
{
	const struct cn_generator_config *config = &answers->config;

	if ((cn->flags & CN_F_FECN) && may_notify(answers, source, now))
		cn->flags |= CN_F_BECN;
	if (config->all && config->by_message) {
		join_message(answers, source, tail, cn);
		if (!tail)
			return false;
	}
	if ((cn->flags & CN_F_BECN) == 0 && (!config->all || cn->waiting_ns < config->threshold_ns))
		return false;
	answers->sent++;
	return true;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "link_end.h"

#include <string.h>

/* Restarts both directions from zero. Stored blocks stay stored. */
static void restart_receiver(struct link_end *end)
{
	for (unsigned vc = 0; vc < end->config.vcs; vc++) {
		struct credit_rx *rx = &end->rx[vc];

		rx->released = (uint32_t)-credit_stored(rx);
		rx->received = 0;
		rx->granted = 0;
	}
	end->credit_wanted = true;
}

void link_end_init(struct link_end *end, const struct link_end_config *config, weft_time now)
{
	memset(end, 0, sizeof(*end));
	end->config = *config;
	end->hello_due = end->credit_due = end->heard_at = end->polled_at = now;
	for (unsigned vc = 0; vc < config->vcs; vc++)
		end->rx[vc].capacity = config->vc_blocks;
	if (config->open) {
		end->state = LINK_UP;
		link_end_renew_open(end);
	}
}

void link_end_renew_open(struct link_end *end)
{
	for (unsigned vc = 0; vc < end->config.vcs; vc++) {
		end->tx[vc].limit = end->tx[vc].sent + end->config.vc_blocks;
		end->rx[vc].granted = credit_limit(&end->rx[vc]);
	}
}

static bool grants_due(const struct link_end *end)
{
	for (unsigned vc = 0; vc < end->config.vcs; vc++) {
		const struct credit_rx *rx = &end->rx[vc];

		if (end->config.each ? credit_ungranted(rx) > 0 : credit_grant_due(rx))
			return true;
	}
	return false;
}

/* Excludes time without polls from the neighbour's silence. */
static void excuse_absence(struct link_end *end, weft_time now)
{
	weft_time away = now - end->polled_at;

	end->polled_at = now;
	if (__builtin_expect(away <= end->config.hello_ps, 1))
		return;
	end->heard_at += away - end->config.hello_ps;
	if (end->heard_at > now) /* a frame arrived since the previous poll */
		end->heard_at = now;
}

void link_end_forgive_stall(struct link_end *end, weft_time now)
{
	if (now - end->heard_at > end->config.hello_ps)
		end->heard_at = now - end->config.hello_ps;
}

unsigned link_end_poll(struct link_end *end, weft_time now)
{
	unsigned due = 0;

	if (end->config.open)
		return 0;
	if (now >= end->hello_due)
		due |= LINK_SEND_HELLO;
	excuse_absence(end, now);
	if (end->state != LINK_DOWN &&
		(end->dark || now - end->heard_at > LINK_HELLOS_MISSED * end->config.hello_ps)) {
		end->downs += end->state == LINK_UP;
		end->state = LINK_DOWN;
		return due | LINK_WENT_DOWN;
	}
	if (end->known && (end->credit_wanted || now >= end->credit_due || grants_due(end)))
		due |= LINK_SEND_CREDIT;
	return due;
}

void link_end_set_dark(struct link_end *end, bool dark, weft_time now)
{
	end->dark = dark;
	if (!dark)
		end->hello_due = now;
}

void link_end_fill_credit(struct link_end *end, struct control_credit *credit, weft_time now)
{
	credit->session = end->config.session;
	credit->peer_session = end->peer_session;
	credit->vcs = end->config.vcs;
	for (unsigned vc = 0; vc < end->config.vcs; vc++) {
		credit->sent[vc] = end->tx[vc].sent;
		credit->limit[vc] = end->rx[vc].granted = credit_limit(&end->rx[vc]);
	}
	end->credit_wanted = false;
	end->credit_due = now + end->config.refresh_ps;
	end->credit_frames_sent++;
}

void link_end_fill_hello(struct link_end *end, struct control_hello *hello, weft_time now)
{
	*hello = (struct control_hello){
		.device = end->config.device,
		.session = end->config.session,
		.peer_session = end->peer_session != 0 ? end->peer_session : end->announced,
		.port = end->config.port,
		.kind = end->config.device_kind,
		.formats = WEFT_FORMATS,
		.generation = end->generation,
		.peer_generation = end->peer_generation,
	};
	/* Hellos of all links are due together, so that an idle loop wakes up once for them. */
	end->hello_due = now - now % end->config.hello_ps + end->config.hello_ps;
}

/* Adopts a new session. The neighbour has restarted: it has sent nothing yet, and its old limits
 * are void. */
static void meet_session(struct link_end *end, uint32_t session)
{
	if (session == end->peer_session)
		return;
	end->peer_session = session;
	end->known = false;
	end->sessions_seen++;
	restart_receiver(end);
	for (unsigned vc = 0; vc < end->config.vcs; vc++)
		end->tx[vc] = (struct credit_tx){0};
}

/* Returns true if the frame contains this end's current session. The first such frame restarts the
 * receiver, because the neighbour now counts from zero. Its count is still zero, because nothing
 * has been granted: frames received so far belong to an earlier session. */
static bool is_known(struct link_end *end, uint32_t session)
{
	if (session != end->config.session)
		return false;
	if (!end->known)
		restart_receiver(end);
	end->known = true;
	return true;
}

static void hear(struct link_end *end, weft_time now)
{
	end->heard_at = now;
	if (end->state == LINK_DOWN)
		end->credit_wanted = true;
	end->state = LINK_UP;
}

/* Blocks that were sent but not received were lost on the link. They now count as received and
 * released, so the limit advances and no credits leak. A total below this end's means that the
 * sender miscounts. The difference then also reduces the grant, so that the sender gains nothing.
 */
static void adopt_sent_total(struct link_end *end, unsigned vc, uint32_t sent)
{
	struct credit_rx *rx = &end->rx[vc];
	uint32_t lost = sent - rx->received;

	if (lost == 0)
		return;
	if ((int32_t)lost > 0)
		end->blocks_healed += lost;
	else
		rx->granted += lost;
	rx->received += lost;
	rx->released += lost;
	end->credit_wanted = true;
}

bool link_end_on_credit(struct link_end *end, const struct control_credit *credit, weft_time now)
{
	bool more = end->state != LINK_UP;

	if (end->config.open || credit->vcs != end->config.vcs ||
		(end->config.proving && credit->session != end->peer_session))
		return false;
	meet_session(end, credit->session);
	hear(end, now);
	end->credit_frames_received++;
	if (!is_known(end, credit->peer_session))
		return more;
	for (unsigned vc = 0; vc < credit->vcs; vc++) {
		adopt_sent_total(end, vc, credit->sent[vc]);
		if (credit->limit[vc] != end->tx[vc].limit) {
			end->tx[vc].limit = credit->limit[vc];
			more = true;
		}
	}
	return more;
}

enum link_hello link_end_judge_hello(const struct link_end *end, const struct control_hello *hello)
{
	bool same_port = hello->device == end->peer_device && hello->port == end->peer_port;

	if (end->peer_session != 0 && hello->session == end->peer_session)
		return same_port ? LINK_HELLO_KNOWN : LINK_HELLO_UNPROVEN;
	/* This end's own hello has been returned. */
	if (hello->device == end->config.device && hello->port == end->config.port)
		return LINK_HELLO_UNPROVEN;
	return hello->peer_session == end->config.session &&
			       hello->peer_generation == end->generation
		       ? LINK_HELLO_PROVEN
		       : LINK_HELLO_UNPROVEN;
}

/* Returns false if the hello changes only the session that this end announces. */
static bool prove(struct link_end *end, const struct control_hello *hello, weft_time now)
{
	enum link_hello judged = link_end_judge_hello(end, hello);

	if (judged == LINK_HELLO_UNPROVEN) {
		if (end->peer_session != 0)
			return false;
		end->announced = hello->session;
		end->peer_generation = hello->generation;
		end->hello_due = now; /* lets the neighbour prove itself immediately */
		return false;
	}
	end->peer_generation = hello->generation;
	if (judged == LINK_HELLO_PROVEN) {
		end->generation++;
		/* The hello must precede the first credit frame, which the neighbour cannot open
		 * without it. */
		end->hello_due = now;
	}
	return true;
}

bool link_end_on_hello(struct link_end *end, const struct control_hello *hello, weft_time now)
{
	bool more = end->state != LINK_UP;

	if (end->config.open || (end->config.proving && !prove(end, hello, now)))
		return false;
	meet_session(end, hello->session);
	hear(end, now);
	end->peer_device = hello->device;
	end->peer_port = hello->port;
	end->peer_kind = hello->kind;
	end->other_formats += hello->formats != WEFT_FORMATS;
	if (!is_known(end, hello->peer_session))
		end->hello_due = now; /* answer immediately */
	return more;
}

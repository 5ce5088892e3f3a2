/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rdma/providers/fi_prov.h>

#include "weft_fi.h"

/* fi_prov_ini(): the provider's features, the fabric, the domain, and event queues, which are
 * always empty because every call completes before it returns. */

#define NAME    "weft"
#define VERSION FI_VERSION(0, 1)

/* --- attributes --- */

static bool is_within(uint64_t asked, uint64_t offered)
{
	return (asked & ~offered) == 0;
}

static bool domain_fits(const struct fi_domain_attr *asked)
{
	return (asked->name == NULL || strcmp(asked->name, NAME) == 0) &&
	       asked->data_progress != FI_PROGRESS_AUTO && asked->cq_data_size <= 8 &&
	       is_within(asked->caps, WEFT_FI_DOMAIN_CAPS);
}

static bool tx_fits(const struct fi_tx_attr *asked)
{
	return is_within(asked->caps, WEFT_FI_CAPS) && is_within(asked->msg_order, FI_ORDER_SAS) &&
	       asked->comp_order == FI_ORDER_NONE && asked->inject_size <= WEFT_FI_INJECT_BYTES &&
	       asked->size <= WEFT_FI_CONTEXTS && asked->iov_limit <= 1 &&
	       is_within(asked->op_flags,
		       FI_COMPLETION | FI_INJECT | FI_INJECT_COMPLETE | FI_TRANSMIT_COMPLETE);
}

static bool rx_fits(const struct fi_rx_attr *asked)
{
	return is_within(asked->caps, WEFT_FI_CAPS) && is_within(asked->msg_order, FI_ORDER_SAS) &&
	       asked->comp_order == FI_ORDER_NONE && asked->size <= WEFT_FI_CONTEXTS &&
	       asked->iov_limit <= 1 && is_within(asked->op_flags, FI_COMPLETION | FI_MULTI_RECV);
}

static bool ep_fits(const struct fi_ep_attr *asked)
{
	return (asked->type == FI_EP_UNSPEC || asked->type == FI_EP_RDM) &&
	       asked->max_msg_size <= WEFT_FI_MESSAGE_MAX && asked->protocol == FI_PROTO_UNSPEC &&
	       asked->tx_ctx_cnt <= 1 && asked->rx_ctx_cnt <= 1;
}

static bool fits(const struct fi_info *asked)
{
	return is_within(asked->caps, WEFT_FI_CAPS) &&
	       (asked->addr_format == FI_FORMAT_UNSPEC || asked->addr_format == FI_ADDR_PSMX) &&
	       (asked->domain_attr == NULL || domain_fits(asked->domain_attr)) &&
	       (asked->tx_attr == NULL || tx_fits(asked->tx_attr)) &&
	       (asked->rx_attr == NULL || rx_fits(asked->rx_attr)) &&
	       (asked->ep_attr == NULL || ep_fits(asked->ep_attr));
}

static void describe(struct fi_info *info, const struct fi_info *hints)
{
	uint64_t caps = hints != NULL && hints->caps != 0 ? hints->caps : WEFT_FI_CAPS;

	/* A capability without a direction implies both directions. */
	if (!(caps & (FI_SEND | FI_RECV)))
		caps |= FI_SEND | FI_RECV;
	info->caps = caps | WEFT_FI_DOMAIN_CAPS;
	info->addr_format = FI_ADDR_PSMX;
	*info->tx_attr = (struct fi_tx_attr){.caps = info->caps & WEFT_FI_TX_CAPS,
		.msg_order = FI_ORDER_SAS,
		.inject_size = WEFT_FI_INJECT_BYTES,
		.size = WEFT_FI_CONTEXTS,
		.iov_limit = 1};
	*info->rx_attr = (struct fi_rx_attr){.caps = info->caps & WEFT_FI_RX_CAPS,
		.msg_order = FI_ORDER_SAS,
		.size = WEFT_FI_CONTEXTS,
		.iov_limit = 1};
	if (hints != NULL && hints->tx_attr != NULL)
		info->tx_attr->op_flags = hints->tx_attr->op_flags;
	if (hints != NULL && hints->rx_attr != NULL)
		info->rx_attr->op_flags = hints->rx_attr->op_flags;
	info->ep_attr->type = FI_EP_RDM;
	info->ep_attr->max_msg_size = WEFT_FI_MESSAGE_MAX;
	info->ep_attr->mem_tag_format = UINT64_MAX;
	info->ep_attr->tx_ctx_cnt = info->ep_attr->rx_ctx_cnt = 1;
}

static void describe_domain(struct fi_domain_attr *domain, const struct fi_info *hints)
{
	const struct fi_domain_attr *asked = hints != NULL ? hints->domain_attr : NULL;

	*domain = (struct fi_domain_attr){.name = strdup(NAME),
		.threading = FI_THREAD_SAFE,
		.control_progress = asked != NULL && asked->control_progress != FI_PROGRESS_UNSPEC
					    ? asked->control_progress
					    : FI_PROGRESS_AUTO,
		.data_progress = FI_PROGRESS_MANUAL,
		.resource_mgmt = FI_RM_ENABLED,
		.av_type = asked != NULL ? asked->av_type : FI_AV_UNSPEC,
		.cq_data_size = 8,
		.cq_cnt = 1024,
		.ep_cnt = 64,
		.tx_ctx_cnt = 64,
		.rx_ctx_cnt = 64,
		.max_ep_tx_ctx = 1,
		.max_ep_rx_ctx = 1,
		.cntr_cnt = 1024,
		.caps = WEFT_FI_DOMAIN_CAPS};
}

/* Sets an address that matches any endpoint of the host, because an endpoint gets its number only
 * when it is opened. */
static int describe_source(struct fi_info *info)
{
	const struct weft_address any = {UINT16_MAX, UINT16_MAX, 0};

	info->src_addr = malloc(sizeof(any));
	if (info->src_addr == NULL)
		return -FI_ENOMEM;
	memcpy(info->src_addr, &any, sizeof(any));
	info->src_addrlen = sizeof(any);
	return 0;
}

/* Host names are not resolved, because programs exchange addresses (fi_getname()). */
static int get_info(uint32_t version, const char *node, const char *service, uint64_t flags,
	const struct fi_info *hints, struct fi_info **info)
{
	const char *lab = getenv("WEFT_LAB"), *host = getenv("WEFT_HOST");
	struct fi_info *found;

	if (lab == NULL || host == NULL || (node != NULL && !(flags & FI_SOURCE)) ||
		(hints != NULL && !fits(hints)))
		return -FI_ENODATA;
	found = fi_allocinfo();
	if (found == NULL || describe_source(found) < 0) {
		fi_freeinfo(found);
		return -FI_ENOMEM;
	}
	describe(found, hints);
	describe_domain(found->domain_attr, hints);
	found->fabric_attr->name = strdup(NAME);
	found->fabric_attr->prov_version = VERSION;
	found->fabric_attr->api_version = version;
	*info = found;
	return 0;
}

/* --- fabric --- */

static int close_fabric(struct fid *fid)
{
	free(fid);
	return 0;
}

static struct fi_ops fabric_fid_ops = {.size = sizeof(struct fi_ops),
	.close = close_fabric,
	.bind = weft_fi_no_bind,
	.control = weft_fi_no_control,
	.ops_open = weft_fi_no_ops};

NOT_SUPPORTED(int, no_passive, struct fid_fabric *fabric, struct fi_info *info,
	struct fid_pep **pep, void *context)
NOT_SUPPORTED(
	int, no_wait, struct fid_fabric *fabric, struct fi_wait_attr *attr, struct fid_wait **set)

/* Checks whether callers may wait on the wait objects of 'fids'. */
static int try_wait(struct fid_fabric *fabric, struct fid **fids, int count)
{
	int result = 0;

	for (int i = 0; i < count && result == 0; i++) {
		struct weft_fi_cq *cq = (void *)fids[i];
		struct weft_fi_cntr *cntr = (void *)fids[i];
		bool queue = fids[i]->fclass == FI_CLASS_CQ;
		struct weft_fi_watch *watch = queue ? &cq->watch : &cntr->watch;

		if (!queue && fids[i]->fclass != FI_CLASS_CNTR)
			continue;
		pthread_mutex_lock(&watch->domain->lock);
		if (weft_fi_watch_progress(watch) < 0 || (queue && cq->count > 0) ||
			!weft_fi_watch_arm(watch))
			result = -FI_EAGAIN;
		pthread_mutex_unlock(&watch->domain->lock);
	}
	return result;
}

static struct fi_ops_fabric fabric_ops = {.size = sizeof(struct fi_ops_fabric),
	.domain = weft_fi_domain_open,
	.passive_ep = no_passive,
	.eq_open = weft_fi_eq_open,
	.wait_open = no_wait,
	.trywait = try_wait};

static int open_fabric(struct fi_fabric_attr *attr, struct fid_fabric **opened, void *context)
{
	struct fid_fabric *fabric;

	if (attr->name != NULL && strcmp(attr->name, NAME) != 0)
		return -FI_ENODATA;
	fabric = calloc(1, sizeof(*fabric));
	if (fabric == NULL)
		return -FI_ENOMEM;
	fabric->fid.fclass = FI_CLASS_FABRIC;
	fabric->fid.context = context;
	fabric->fid.ops = &fabric_fid_ops;
	fabric->ops = &fabric_ops;
	*opened = fabric;
	return 0;
}

/* --- domain --- */

static int close_domain(struct fid *fid)
{
	struct weft_fi_domain *domain = (void *)fid;

	pthread_mutex_destroy(&domain->lock);
	free(domain);
	return 0;
}

static struct fi_ops domain_fid_ops = {.size = sizeof(struct fi_ops),
	.close = close_domain,
	.bind = weft_fi_no_bind,
	.control = weft_fi_no_control,
	.ops_open = weft_fi_no_ops};

NOT_SUPPORTED(int, no_scalable, struct fid_domain *domain, struct fi_info *info, struct fid_ep **ep,
	void *context)
NOT_SUPPORTED(
	int, no_poll, struct fid_domain *domain, struct fi_poll_attr *attr, struct fid_poll **set)
NOT_SUPPORTED(int, no_shared_tx, struct fid_domain *domain, struct fi_tx_attr *attr,
	struct fid_stx **stx, void *context)
NOT_SUPPORTED(int, no_shared_rx, struct fid_domain *domain, struct fi_rx_attr *attr,
	struct fid_ep **rx, void *context)

static struct fi_ops_domain domain_ops = {.size = sizeof(struct fi_ops_domain),
	.av_open = weft_fi_av_open,
	.cq_open = weft_fi_cq_open,
	.endpoint = weft_fi_ep_open,
	.scalable_ep = no_scalable,
	.cntr_open = weft_fi_cntr_open,
	.poll_open = no_poll,
	.stx_ctx = no_shared_tx,
	.srx_ctx = no_shared_rx};

int weft_fi_domain_open(
	struct fid_fabric *fabric, struct fi_info *info, struct fid_domain **opened, void *context)
{
	struct weft_fi_domain *domain = calloc(1, sizeof(*domain));

	if (domain == NULL)
		return -FI_ENOMEM;
	pthread_mutex_init(&domain->lock, NULL);
	domain->av_type = info->domain_attr->av_type;
	domain->fid.fid.fclass = FI_CLASS_DOMAIN;
	domain->fid.fid.context = context;
	domain->fid.fid.ops = &domain_fid_ops;
	domain->fid.ops = &domain_ops;
	domain->fid.mr = &weft_fi_mr_ops;
	*opened = &domain->fid;
	return 0;
}

/* --- event queue --- */

static int close_eq(struct fid *fid)
{
	free(fid);
	return 0;
}

static struct fi_ops eq_fid_ops = {.size = sizeof(struct fi_ops),
	.close = close_eq,
	.bind = weft_fi_no_bind,
	.control = weft_fi_no_control,
	.ops_open = weft_fi_no_ops};

static ssize_t read_eq(
	struct fid_eq *eq, uint32_t *event, void *buffer, size_t bytes, uint64_t flags)
{
	return -FI_EAGAIN;
}

static ssize_t read_eq_error(struct fid_eq *eq, struct fi_eq_err_entry *entry, uint64_t flags)
{
	return -FI_EAGAIN;
}

NOT_SUPPORTED(ssize_t, write_eq, struct fid_eq *eq, uint32_t event, const void *buffer,
	size_t bytes, uint64_t flags)
NOT_SUPPORTED(ssize_t, sread_eq, struct fid_eq *eq, uint32_t *event, void *buffer, size_t bytes,
	int timeout, uint64_t flags)

static const char *explain_eq(
	struct fid_eq *eq, int error, const void *data, char *buffer, size_t bytes)
{
	return fi_strerror(error);
}

static struct fi_ops_eq eq_ops = {.size = sizeof(struct fi_ops_eq),
	.read = read_eq,
	.readerr = read_eq_error,
	.write = write_eq,
	.sread = sread_eq,
	.strerror = explain_eq};

int weft_fi_eq_open(
	struct fid_fabric *fabric, struct fi_eq_attr *attr, struct fid_eq **opened, void *context)
{
	struct fid_eq *eq = calloc(1, sizeof(*eq));

	if (eq == NULL)
		return -FI_ENOMEM;
	eq->fid.fclass = FI_CLASS_EQ;
	eq->fid.context = context;
	eq->fid.ops = &eq_fid_ops;
	eq->ops = &eq_ops;
	*opened = eq;
	return 0;
}

static void clean_up(void)
{
}

static struct fi_provider provider = {.name = NAME,
	.version = VERSION,
	.fi_version = FI_VERSION(1, 17),
	.getinfo = get_info,
	.fabric = open_fabric,
	.cleanup = clean_up};

FI_EXT_INI
{
	return &provider;
}

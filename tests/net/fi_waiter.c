/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* A program on libfabric, for lab_endpoints_test: waits for a completion that does not come, and
 * names the error that ends this; or asks for what the provider cannot do.
 *
 * usage: fi_waiter queue|counter|flags */

#include <stdio.h>
#include <string.h>

#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>

#define CHECK(call)                                                        \
	do {                                                               \
		int result_ = (int)(call);                                 \
		if (result_ < 0) {                                         \
			printf(#call ": %s\n", strerrorname_np(-result_)); \
			return 1;                                          \
		}                                                          \
	} while (0)

struct opened {
	struct fi_info *info;
	struct fid_fabric *fabric;
	struct fid_domain *domain;
	struct fid_av *av;
	struct fid_ep *ep;
	struct fid_cq *cq;
	struct fid_cntr *cntr;
};

static int open_all(struct opened *at)
{
	struct fi_info *hints = fi_allocinfo();
	struct fi_av_attr av = {.type = FI_AV_MAP};
	struct fi_cq_attr cq = {.format = FI_CQ_FORMAT_MSG, .wait_obj = FI_WAIT_FD};
	struct fi_cntr_attr cntr = {.events = FI_CNTR_EVENTS_COMP, .wait_obj = FI_WAIT_FD};

	hints->fabric_attr->prov_name = strdup("weft");
	CHECK(fi_getinfo(FI_VERSION(1, 17), NULL, NULL, 0, hints, &at->info));
	CHECK(fi_fabric(at->info->fabric_attr, &at->fabric, NULL));
	CHECK(fi_domain(at->fabric, at->info, &at->domain, NULL));
	CHECK(fi_endpoint(at->domain, at->info, &at->ep, NULL));
	CHECK(fi_av_open(at->domain, &av, &at->av, NULL));
	CHECK(fi_cq_open(at->domain, &cq, &at->cq, NULL));
	CHECK(fi_cntr_open(at->domain, &cntr, &at->cntr, NULL));
	CHECK(fi_ep_bind(at->ep, &at->av->fid, 0));
	CHECK(fi_ep_bind(at->ep, &at->cq->fid, FI_TRANSMIT | FI_RECV));
	CHECK(fi_ep_bind(at->ep, &at->cntr->fid, FI_RECV));
	CHECK(fi_enable(at->ep));
	return 0;
}

/* A level of completion, and two parts, with a message to itself. */
static int ask_for_more(const struct opened *at)
{
	uint8_t name[64], byte = 0;
	struct iovec part[2] = {{&byte, 1}, {&byte, 1}};
	struct fi_msg msg = {.msg_iov = part, .iov_count = 1};
	size_t bytes = sizeof(name);

	CHECK(fi_getname(&at->ep->fid, name, &bytes));
	if (fi_av_insert(at->av, name, 1, &msg.addr, 0, NULL) != 1)
		return 1;
	printf("%s\n", fi_strerror((int)-fi_sendmsg(at->ep, &msg, FI_DELIVERY_COMPLETE)));
	printf("%s\n", fi_strerror((int)-fi_recvmsg(at->ep, &msg, FI_DELIVERY_COMPLETE)));
	msg.iov_count = 2;
	printf("%s\n", fi_strerror((int)-fi_sendmsg(at->ep, &msg, 0)));
	return 0;
}

int main(int argc, char **argv)
{
	struct fi_cq_msg_entry entry;
	struct opened at;
	int result;

	if (argc != 2 || open_all(&at) != 0)
		return 1;
	if (strcmp(argv[1], "flags") == 0)
		return ask_for_more(&at);
	printf("waits\n");
	fflush(stdout);
	result = strcmp(argv[1], "queue") == 0 ? (int)fi_cq_sread(at.cq, &entry, 1, NULL, -1)
					       : fi_cntr_wait(at.cntr, 1, -1);
	printf("%s\n", strerrorname_np(-result));
	return 0;
}

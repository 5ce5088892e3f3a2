/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Passes a token around hosts of a lab, once. The arguments are the hosts; the first one starts.
 *     cc ring.c $(pkg-config --cflags --libs weft) -o ring
 *     for h in h1 h2 h0; do weft lab exec LAB $h -- ./ring h0 h1 h2 & done; wait */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <weft_client.h>

int main(int argc, char **argv)
{
	struct weft_address next;
	struct weft_event event;
	struct weft *weft;
	char token[64] = "token";
	int self = 1, left = 2; /* remaining events: the token received and sent */

	while (self < argc - 1 && strcmp(argv[self], getenv("WEFT_HOST")) != 0)
		self++;
	if (weft_open_endpoint(NULL, 0, &weft) < 0 ||
		weft_find(weft, argv[self + 1 < argc ? self + 1 : 1], 0, &next) < 0)
		return 1;
	weft_recv(weft, NULL, 0, 0, token, sizeof(token), NULL);
	if (self == 1)
		weft_send(weft, &next, 0, token, sizeof(token), NULL);
	while (left > 0) {
		if (weft_wait(weft, -1) < 0 || weft_poll(weft, &event, 1) != 1)
			return 1; /* the lab has ended */
		left -= event.error == 0;
		if (event.error == 0)
			printf("%s: %s\n", argv[self],
				event.kind == WEFT_SENT ? "sent" : "received");
		/* Send again if the neighbour was not ready. */
		if (event.error != 0 || (event.kind == WEFT_RECEIVED && self != 1))
			weft_send(weft, &next, 0, token, sizeof(token), NULL);
	}
	weft_close(weft);
	return 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* A program at an endpoint, for lab_endpoints_test: greets the program at endpoint 0 of a host
 * until it has heard its greeting, then waits for a second one, and names the error that ends this.
 *
 * usage: endpoint_peer HOST */

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <weft_client.h>

static struct weft_event next(struct weft *weft)
{
	struct weft_event event;
	int result;

	while (weft_poll(weft, &event, 1) == 0) {
		result = weft_wait(weft, -1);
		if (result < 0)
			return (struct weft_event){.error = result};
	}
	return event;
}

int main(int argc, char **argv)
{
	struct weft *weft;
	struct weft_address peer;
	struct weft_event event;
	char greeting[16] = "hello", answer[16];
	bool greeted = false, heard = false;
	int result = weft_open_endpoint(NULL, 0, &weft);

	if (result < 0 || argc != 2 || (result = weft_find(weft, argv[1], 0, &peer)) < 0) {
		printf("open: %s\n", strerrorname_np(-result));
		return 1;
	}
	weft_recv(weft, NULL, 0, 0, answer, sizeof(answer), NULL);
	weft_send(weft, &peer, 0, greeting, sizeof(greeting), NULL);
	while (!greeted || !heard) {
		event = next(weft);
		if (event.kind == WEFT_RECEIVED) {
			peer = event.from;
			heard = true;
		}
		greeted = greeted || (event.kind == WEFT_SENT && event.error == 0);
		if (event.kind == WEFT_SENT && event.error != 0)
			weft_send(weft, &peer, 0, greeting, sizeof(greeting), NULL);
	}
	weft_recv(weft, &peer, 0, 0, answer, sizeof(answer), NULL);
	printf("met\n");
	fflush(stdout);
	printf("%s\n", strerrorname_np(-next(weft).error));
	return 0;
}

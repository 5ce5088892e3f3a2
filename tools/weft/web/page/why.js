// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Weft developers

// Waterfalls of packets: a document of 'weft why --json', a row for each part of the time of the chosen packet.

import {time} from "./run.js";

const at = (id) => document.getElementById(id);

function element(tag, text = "", name = "") {
	const made = document.createElement(tag);
	made.textContent = text;
	made.className = name;
	return made;
}

function reason(part) {
	const flows = part.behind.map((flow) => `${flow.source} to ${flow.destination}`).join(", ");
	return (flows ? `behind ${flows}` : "") + (part.cause ? ` (${part.cause.kind} at ${part.cause.port})` : "");
}

export class Why {
	// 'choose' shows a link.
	constructor(why, fabric, choose) {
		this.packets = why.packets;
		this.fabric = fabric;
		this.choose = choose;
		at("why").hidden = false;
		at("why-packet").replaceChildren(...this.packets.map((packet, i) => {
			const option = element("option", `${packet.source} to ${packet.destination}, message ${packet.message}: ${time(packet.ns)}`);
			option.value = i;
			return option;
		}));
		at("why-packet").addEventListener("change", () => this.show());
		at("why-causes").replaceChildren(...why.causes.slice(0, 5).map((cause) =>
			element("li", `${time(cause.ns)}: ${cause.kind} at ${cause.port}`)));
		this.show();
	}

	show() {
		const packet = this.packets[at("why-packet").value];
		at("why-rows").replaceChildren(...(packet?.parts ?? []).map((part) => this.row(packet, part)));
	}

	row(packet, part) {
		const row = element("li"), button = element("button"), track = element("span", "", "track"), bar = element("span");
		const way = this.fabric.wayFrom.get(part.port), whole = packet.ns || 1;
		bar.className = `part ${part.part.replace(" ", "-")}`;
		bar.style.left = `min(${100 * part.from_ns / whole}%, calc(100% - 2px))`;
		bar.style.width = `${100 * part.ns / whole}%`;
		track.append(bar);
		button.type = "button";
		button.disabled = way === undefined;
		button.append(element("span", part.port, "name"), element("span", part.part), track, element("span", time(part.ns), "number"),
			element("small", reason(part)));
		button.addEventListener("click", () => this.choose(way >> 1));
		row.append(button);
		return row;
	}
}

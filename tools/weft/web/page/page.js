// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Weft developers

// The page of 'weft lab web': topology once, then a sample for each event. That of runs asks for the samples it shows.

import {Drawing, LEGEND, drawKey} from "./draw.js";
import {Fabric} from "./fabric.js";
import {place} from "./layout.js";
import {Panel} from "./panel.js";
import {Run} from "./run.js";
import {View} from "./view.js";
import {Why} from "./why.js";

const token = new URLSearchParams(location.hash.slice(1)).get("token");
const at = (id) => document.getElementById(id);

// In a larger fabric, dragging moves the picture, which is drawn again when it stops.
const MANY_LINKS = 2000, SETTLE_MS = 120;

class Page {
	constructor(topology) {
		this.selected = -1;
		this.frame = 0;
		this.settling = 0;
		this.events = 0;
		this.fabric = new Fabric(topology);
		this.id = topology.run?.id ?? topology.id;
		this.places = place(this.fabric);
		this.drawing = new Drawing(at("map"), this.fabric, this.places);
		this.panel = new Panel(this.fabric, {choose: (link) => this.choose(link), order: () => this.order()});
		this.view = new View(at("map"), this.places, {
			changed: (moving) => this.redraw(moving),
			choose: (link) => this.choose(link),
			hover: (link) => { at("hint").textContent = link < 0 ? "" : this.tell(link); },
			key: (name) => this.key(name),
		});
		this.run = this.fabric.run && new Run(this.fabric, {changed: () => this.redraw(),
			take: (sample) => this.take(sample), selected: () => this.selected, cursor: (at) => { this.panel.cursor = at; },
			told: () => this.panel.show(this.selected)});
		this.drawing.heatOf = (device) => this.run?.heatOf(device) ?? null;
		at("key-x").hidden = this.run !== null;
		at("key-m").hidden = this.run === null;
		document.title = `${this.fabric.lab} – Weft`;
		matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.redraw());
		this.panel.show(-1);
		this.allowOrders("");
	}

	allowOrders(note) {
		at("cable").parentElement.hidden = this.fabric.run !== null;
		at("cable").disabled = !token;
		at("cable-note").textContent = token ? note : "The address that 'weft lab web' prints allows it.";
	}

	// Once for all changes until the next picture.
	redraw(moving = false) {
		if (moving && this.fabric.links.length > MANY_LINKS) {
			clearTimeout(this.settling);
			this.settling = setTimeout(() => {
				this.settling = 0;
				this.redraw();
			}, SETTLE_MS);
		}
		if (this.frame || !this.view)
			return;
		this.frame = requestAnimationFrame(() => {
			this.frame = 0;
			this.paint();
		});
	}

	paint() {
		if (this.settling && this.drawing.copy) {
			this.drawing.shift(this.view);
			return;
		}
		this.drawing.draw(this.view, this.selected);
		if (this.fabric.links.length > MANY_LINKS)
			this.drawing.keep();
		drawLegend();
	}

	take(sample) {
		const before = this.fabric.links.map((_, link) => this.fabric.stateOfLink(link));
		const first = this.fabric.sample === null;
		this.fabric.take(sample);
		this.events++;
		if (!first)
			this.announce(before);
		this.panel.show(this.selected);
		this.redraw();
	}

	// An event: for a lab it is a sample.
	hear(event) {
		if (event.id !== this.id)
			location.reload(); // another run or lab has this address now
		else if (this.run) {
			this.panel.showHeader(); // there is a connection, again
			this.run.hear(event);
		} else
			this.take(event);
	}

	announce(before) {
		const changes = before.map((state, link) => [link, state, this.fabric.stateOfLink(link)])
			.filter(([, was, is]) => was !== is);
		if (changes.length > 0)
			at("said").textContent = changes.slice(0, 5)
				.map(([link, , is]) => `${this.fabric.nameOf(link)} is ${is}`).join("; ");
	}

	tell(link) {
		const loads = [2 * link, 2 * link + 1].map((way) => `${(100 * this.fabric.loadOf(way)).toFixed(1)} %`);
		return `${this.fabric.nameOf(link)}: ${this.fabric.stateOfLink(link)}, ${loads.join(" and ")}`;
	}

	choose(link) {
		this.selected = link;
		this.panel.show(link);
		this.run?.update();
		this.allowOrders("");
		if (link >= 0)
			this.view.show(link);
		this.redraw();
	}

	key(name) {
		const count = this.fabric.links.length;
		if (name === "n" && count > 0)
			this.choose((this.selected + 1) % count);
		else if (name === "p" && count > 0)
			this.choose((Math.max(this.selected, 0) + count - 1) % count);
		else if (name === "Escape")
			this.choose(-1);
		else if (name === "m" && this.run)
			this.run.toggle();
		else if (name === "x" && this.selected >= 0)
			this.order();
		else
			return false;
		return true;
	}

	// Cuts or joins the cable; the drawing changes when telemetry says so.
	async order() {
		if (!token || this.selected < 0)
			return;
		const cut = this.fabric.stateOfLink(this.selected) !== "cut";
		const question = new URLSearchParams({port: this.fabric.links[this.selected].ports[0],
			state: cut ? "down" : "up"});
		at("cable").disabled = true;
		try {
			const answer = await fetch(`/cable?${question}`, {method: "POST", headers: {"Weft-Token": token}});
			this.allowOrders(answer.ok ? "" : (await answer.text()).trim());
		} catch (error) {
			this.allowOrders(String(error));
		}
	}
}

function drawLegend() {
	if (at("legend").children.length === 0)
		at("legend").append(...LEGEND.map(([name, text]) => {
			const key = document.createElement("span"), line = document.createElement("canvas");
			key.className = "key";
			line.dataset.style = name;
			key.append(line, text);
			return key;
		}));
	for (const line of at("legend").querySelectorAll("canvas"))
		drawKey(line, line.dataset.style);
}

function lose() {
	at("state").textContent = "no connection";
	at("state").className = "badge bad";
}

async function start() {
	const page = new Page(await (await fetch("/topology")).json());
	const why = await (await fetch("/why")).json();
	if (why)
		new Why(why, page.fabric, (link) => page.choose(link));
	const source = new EventSource("/events");
	window.weft = page; // for tests and curious people
	page.source = source;
	source.onmessage = (event) => page.hear(JSON.parse(event.data));
	source.onerror = lose;
}

start().catch(lose);

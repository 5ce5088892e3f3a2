// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Weft developers

// The text beside the drawing. All of it goes through textContent: names come from files.

import {colours} from "./draw.js";
import {HISTORY} from "./fabric.js";

const LINKS_SHOWN = 14, ERRORS_SHOWN = 12;

const at = (id) => document.getElementById(id);

function element(tag, text = "", name = "") {
	const made = document.createElement(tag);
	made.textContent = text;
	if (name)
		made.className = name;
	return made;
}

export function rate(bps) {
	for (const [unit, size] of [["Tbps", 1e12], ["Gbps", 1e9], ["Mbps", 1e6], ["kbps", 1e3]])
		if (bps >= size)
			return `${(bps / size).toPrecision(3)} ${unit}`;
	return `${Math.round(bps)} bps`;
}

export function share(value) {
	return value === null ? "–" : value === 0 ? "0" : value < 0.001 ? "< 0.1 %" : `${(100 * value).toFixed(1)} %`;
}

function number(value) {
	return value === 0 ? "0" : value < 10 ? value.toFixed(1) : Math.round(value).toLocaleString("en");
}

function stateOfRun(run) {
	return run.state === "running" ? "running" : run.incomplete ? "incomplete result" : "result";
}

// Not up first, then with losses, then by load.
function urgency(fabric, link) {
	const worst = (list) => Math.max(fabric.value(list, 2 * link), fabric.value(list, 2 * link + 1));
	const load = Math.max(fabric.loadOf(2 * link), fabric.loadOf(2 * link + 1)) + worst("blocked");
	if (fabric.stateOfLink(link) !== "up")
		return 1e9 + load;
	return (worst("drops") + worst("retransmissions") > 0 ? 1e6 : 0) + load;
}

export class Panel {
	// 'calls' has choose(link) and order().
	constructor(fabric, calls) {
		this.fabric = fabric;
		this.calls = calls;
		this.cursor = null; // in a run: the sample that is shown; null: the mean
		if (fabric.run)
			at("series-name").textContent = "Load, and blocked time (dotted), of each sample";
		at("filter").addEventListener("input", () => this.showLinks(this.selected));
		at("cable").addEventListener("click", () => calls.order());
	}

	show(selected) {
		this.selected = selected;
		this.showHeader();
		this.showFabric();
		this.showLink(selected);
		this.showLinks(selected);
		this.showErrors();
		this.showProcesses();
	}

	showHeader() {
		const {fabric} = this, sample = fabric.sample, state = at("state");
		at("lab").textContent = fabric.lab;
		if (!sample && !fabric.run)
			return;
		const good = fabric.run ? !fabric.run.incomplete : sample.up;
		state.textContent = fabric.run ? stateOfRun(fabric.run) : good ? "up" : "not all is up";
		state.className = `badge ${good ? "good" : "bad"}`;
		at("summary").textContent = `${fabric.name}: ${fabric.switches} switches, ` +
			`${fabric.devices.length - fabric.switches} hosts, ${fabric.links.length} links`;
	}

	showFabric() {
		const {fabric} = this, sample = fabric.sample, rows = [];
		if (!sample)
			return;
		const states = new Map();
		fabric.links.forEach((_, link) => {
			const state = fabric.stateOfLink(link);
			states.set(state, (states.get(state) ?? 0) + 1);
		});
		rows.push(["links", [...states].map(([state, count]) => `${count} ${state}`).join(", ")]);
		rows.push(["mapper", this.mapperText(sample.mapper)]);
		if (sample.mapper)
			rows.push(["epoch", String(sample.mapper.epoch ?? "–")]);
		if (sample.mapper?.why)
			rows.push(["routes", sample.mapper.why]);
		const total = fabric.links.reduce((sum, _, i) => sum + [2 * i, 2 * i + 1]
			.reduce((part, way) => part + fabric.rateOf(way) * fabric.loadOf(way), 0), 0);
		rows.push(["all links", rate(total)]);
		rows.push(["roots", sample.roots.join(", ") || "none"]);
		rows.push(["adapted", this.adaptedText(sample.switches, sample.hosts)]);
		at("fabric").replaceChildren(...rows.flatMap(([name, text]) => [element("dt", name), element("dd", text)]));
	}

	adaptedText(switches, hosts) {
		const [packets, frames] = [switches, hosts].map((list) => Object.values(list)
			.reduce((sum, entry) => sum + entry.adapted_per_s, 0));
		return packets + frames === 0 ? "none" : `${number(packets)} packets/s in ${Object.keys(switches).length} ` +
			`switches, ${number(frames)} frames/s of ${Object.keys(hosts).length} hosts`;
	}

	mapperText(mapper) {
		if (!mapper)
			return "none: routes are static";
		if (!mapper.host)
			return "none leads";
		return mapper.elsewhere ? `${mapper.host}, on another machine` :
			`${mapper.host}${mapper.state ? `, ${mapper.state}` : ""}`;
	}

	showLink(link) {
		at("link").hidden = link < 0;
		if (link < 0)
			return;
		const {fabric} = this, state = fabric.stateOfLink(link);
		at("link-name").textContent = `${fabric.nameOf(link)}: ${state}`;
		this.showWays([2 * link, 2 * link + 1]);
		at("link-fill").replaceChildren(...[2 * link, 2 * link + 1].flatMap((way) => this.fillBars(way)));
		at("cable").textContent = state === "cut" ? "Join the cable" : "Cut the cable";
		this.drawSeries(link);
	}

	// A column for each way.
	showWays(ways) {
		const {fabric} = this, table = at("link-ways"), loads = ways.map((way) => fabric.sample?.utilisation[way] ?? null);
		const counts = (list, show = number) => ways.map((way) => show(fabric.value(list, way)));
		const rows = [["state", ways.map((way) => fabric.stateOf(way))],
			["rate", ways.map((way, i) => loads[i] === null ? "–" : rate(loads[i] * fabric.rateOf(way)))],
			["load", loads.map(share)], ["blocked", counts("blocked", share)]]
			.concat(fabric.run ? [["stalls", counts("stalls")]] : [["stalls/s", counts("stalls")],
				["drops/s", counts("drops")], ["sent again/s", counts("retransmissions")],
				["late", counts("late", (ns) => ns > 0 ? `${(ns / 1e3).toFixed(1)} us` : "–")]]);
		[...table.tHead.rows[0].cells].slice(1).forEach((cell, i) => { cell.textContent = fabric.nameOfWay(ways[i]); });
		table.tBodies[0].replaceChildren(...rows.map(([name, cells]) => {
			const row = element("tr"), head = element("th", name);
			head.scope = "row";
			row.append(head, ...cells.map((text) => element("td", text)));
			return row;
		}));
	}

	// The buffers that this direction fills. A host has none to show.
	fillBars(way) {
		const {fabric} = this, to = fabric.links[way >> 1].ports[1 - way % 2];
		if (fabric.devices[fabric.links[way >> 1].ends[1 - way % 2]].host)
			return [];
		return Array.from({length: fabric.vcs}, (_, vc) => {
			const bar = element("div", "", "bar"), meter = element("meter"), value = fabric.fillOf(way)[vc] ?? 0;
			meter.max = 1;
			meter.value = value;
			meter.setAttribute("aria-label", `${to} VC ${vc}`);
			bar.append(element("span", vc === 0 ? to : ""), element("span", `VC ${vc}`), meter,
				element("span", share(value), "number"));
			return bar;
		});
	}

	drawSeries(link) {
		const canvas = at("series"), context = canvas.getContext("2d"), ratio = window.devicePixelRatio || 1;
		const wide = canvas.clientWidth, high = canvas.clientHeight, {fabric} = this, colour = colours(canvas);
		canvas.width = wide * ratio;
		canvas.height = high * ratio;
		context.scale(ratio, ratio);
		context.font = "10px system-ui, sans-serif";
		const lines = [["load", 2 * link, "--load1", []], ["load", 2 * link + 1, "--load4", []],
			["blocked", 2 * link, "--load1", [2, 3]], ["blocked", 2 * link + 1, "--load4", [2, 3]]]
			.map(([list, way, name, dash]) => ({values: fabric.series(list, way), way, name, dash}));
		const most = lines.flatMap((line) => line.values).reduce((a, b) => Math.max(a, b), 0.01);
		const top = Math.min(1, most * 1.15), count = fabric.run ? lines[0].values.length : HISTORY;
		const step = (wide - 8) / Math.max(fabric.run ? count - 1 : count, 1);
		for (const {values, name, dash} of lines) {
			context.beginPath();
			values.forEach((value, i) => {
				if (value === null)
					return;
				const x = wide - 4 - (values.length - 1 - i) * step, y = high - 4 - value / top * (high - 20);
				if (i === 0 || values[i - 1] === null)
					context.moveTo(x, y);
				else
					context.lineTo(x, y);
			});
			context.strokeStyle = colour[name];
			context.lineWidth = 1.5;
			context.setLineDash(dash);
			context.stroke();
		}
		context.setLineDash([]);
		if (this.cursor !== null && count > 0) {
			context.fillStyle = colour["--quiet"];
			context.fillRect(wide - 4 - (count - 1 - this.cursor) * step, 14, 1, high - 16);
		}
		lines.slice(0, 2).forEach(({way, name}, i) => {
			context.fillStyle = colour[name];
			context.fillText(fabric.nameOfWay(way), 4 + i * wide * 0.4, 10);
		});
		context.fillStyle = colour["--quiet"];
		context.textAlign = "right";
		context.fillText(share(top), wide - 4, 10);
	}

	showLinks(selected) {
		const {fabric} = this, wanted = at("filter").value.trim().toLowerCase();
		const focused = document.activeElement?.dataset?.link;
		const rows = fabric.links.map((_, link) => link)
			.filter((link) => fabric.nameOf(link).toLowerCase().includes(wanted))
			.map((link) => [urgency(fabric, link), link])
			.sort((a, b) => b[0] - a[0] || a[1] - b[1]).slice(0, LINKS_SHOWN)
			.map(([, link]) => this.linkRow(link, selected));
		at("links").replaceChildren(...rows);
		if (focused !== undefined)
			rows.map((row) => row.firstChild).find((button) => button.dataset.link === focused)?.focus();
	}

	linkRow(link, selected) {
		const {fabric} = this, row = element("li"), button = element("button"), state = fabric.stateOfLink(link);
		const loads = [2 * link, 2 * link + 1].map((way) => fabric.sample?.utilisation[way] ?? null);
		button.type = "button";
		button.dataset.link = link;
		button.setAttribute("aria-current", String(link === selected));
		const waits = Math.max(fabric.value("blocked", 2 * link), fabric.value("blocked", 2 * link + 1));
		button.append(element("span", fabric.nameOf(link), "name"),
			element("span", state === "up" && waits >= 0.01 ? `waits ${share(waits)}` : state, state === "up" ? "" : "bad"),
			element("span", loads.map(share).join(" / ")));
		button.addEventListener("click", () => this.calls.choose(link));
		row.append(button);
		return row;
	}

	showErrors() {
		const sample = this.fabric.sample, errors = sample?.errors ?? [];
		at("errors-section").hidden = errors.length === 0 && !sample?.starved;
		const shown = errors.slice(0, ERRORS_SHOWN);
		const rows = shown.map((error) => {
			const row = element("li", `${error.device} ${error.counter}: ${error.value}` +
				(error.grown ? ` (+${error.grown})` : ""), error.grown ? "bad" : "");
			row.title = `${error.unit}: ${error.meaning}`;
			return row;
		});
		if (sample?.starved)
			rows.unshift(element("li", `CPU starved: ${sample.starved}: this can take links down`, "bad"));
		if (sample && sample.errors_count > shown.length)
			rows.push(element("li", `and ${sample.errors_count - shown.length} more: weft lab status --wide`));
		at("errors").replaceChildren(...rows);
	}

	showProcesses() {
		const processes = this.fabric.sample?.processes ?? [];
		at("processes-section").hidden = this.fabric.run !== null;
		const rows = processes.slice(0, 8).map((process) => element("li",
			`${process.name}: ${process.state}, CPU ${share(process.cpu)}, stalled for at most ${(process.stall_ns / 1e6).toFixed(1)} ms`,
			process.state === "running" ? "" : "bad"));
		if (processes.length > 8)
			rows.push(element("li", `and ${processes.length - 8} more`));
		at("processes").replaceChildren(...rows);
	}
}

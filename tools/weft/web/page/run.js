// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Weft developers

// What the page shows of the result of a run: figures, a scrubber over its samples, latencies by switch.

import {colours} from "./draw.js";
import {share} from "./panel.js";

const at = (id) => document.getElementById(id);

// The lists that are drawn, with their colours.
const LINES = [["accepted", "--load1"], ["latency_ns", "--load4"]];

export function time(ns) {
	if (ns === null || ns === undefined)
		return "–";
	for (const [unit, size] of [["s", 1e9], ["ms", 1e6], ["µs", 1e3]])
		if (ns >= size)
			return `${(ns / size).toPrecision(3)} ${unit}`;
	return `${Math.round(ns)} ns`;
}

export class Run {
	// 'changed' is called when the drawing has to follow.
	constructor(fabric, changed) {
		this.fabric = fabric;
		this.run = fabric.run;
		this.series = this.run.series ?? [];
		this.map = false;
		this.most = Math.max(0, ...Object.values(this.run.waiting_ns ?? {}));
		at("run").hidden = false;
		at("live").hidden = true;
		at("scrub").max = Math.max(this.series.length - 1, 0);
		at("scrub").disabled = this.series.length === 0;
		at("scrub").addEventListener("input", () => this.show());
		at("latency-map").disabled = this.most === 0;
		at("latency-map").addEventListener("change", () => {
			this.map = at("latency-map").checked;
			changed();
		});
		at("map-note").textContent = this.most > 0 ? `darkest: ${time(this.most)}` :
			"The result has no switches: measure.switches: true.";
		this.showFigures();
		this.show();
		this.showSlowest();
	}

	toggle() {
		if (!at("latency-map").disabled)
			at("latency-map").click();
	}

	// 0 to 1 of the worst switch; null: the map is off, or nothing is known of it.
	heatOf(device) {
		const waiting = this.map ? this.run.waiting_ns?.[this.fabric.devices[device].name] : undefined;
		return waiting === undefined ? null : waiting / this.most;
	}

	showFigures() {
		const {run} = this, network = run.latency_ns?.network, checks = run.checks ?? {};
		const rows = [["clock", run.clock ?? "–"], ["seed", String(run.seed ?? "–")], ["measured", run.measured_ns ? `${time(run.measured_ns.from)} to ${time(run.measured_ns.to)}` : "–"],
			["delivered", `${run.messages?.delivered ?? "–"} of ${run.messages?.generated ?? "–"} messages`],
			["accepted", share(run.throughput?.accepted ?? null)],
			["latency", `p50 ${time(network?.p50)}, p99 ${time(network?.p99)}`],
			["lost", `${checks.lost ?? "–"}, doubled ${checks.duplicated ?? "–"}, out of order ${checks.out_of_order ?? "–"}`]];
		at("figures").replaceChildren(...rows.flatMap(([name, text]) => ["dt", "dd"].map((tag, i) => {
			const made = document.createElement(tag);
			made.textContent = [name, text][i];
			return made;
		})));
	}

	// The sample under the scrubber, in words and as a line in the picture.
	show() {
		const number = Number(at("scrub").value), sample = this.series[number];
		at("scrubbed").textContent = !sample ? "The result has no series: measure.sample." :
			`${time(sample.t_ns)}: accepted ${share(sample.accepted)}, latency ${time(sample.latency_ns)}` +
			(sample.adapted ? `, ${sample.adapted} packets adapted` : "") +
			(sample.paths ? `, ${sample.paths.toFixed(2)} paths` : "");
		at("scrub").setAttribute("aria-valuetext", at("scrubbed").textContent);
		this.draw(number);
	}

	draw(number) {
		const canvas = at("run-series"), context = canvas.getContext("2d"), ratio = window.devicePixelRatio || 1;
		const wide = canvas.clientWidth, high = canvas.clientHeight, colour = colours(canvas);
		const x = (i) => 4 + (wide - 8) * i / Math.max(this.series.length - 1, 1);
		canvas.width = wide * ratio;
		canvas.height = high * ratio;
		context.scale(ratio, ratio);
		context.font = "10px system-ui, sans-serif";
		LINES.forEach(([list, name], line) => {
			const most = Math.max(1e-9, ...this.series.map((sample) => sample[list] ?? 0));
			context.beginPath();
			let open = false;
			this.series.forEach((sample, i) => {
				const known = sample[list] !== null;
				if (known)
					context[open ? "lineTo" : "moveTo"](x(i), high - 4 - sample[list] / most * (high - 22));
				open = known;
			});
			context.strokeStyle = context.fillStyle = colour[name];
			context.lineWidth = 1.5;
			context.stroke();
			context.fillText(list === "accepted" ? `accepted, to ${share(most)}` : `latency, to ${time(most)}`,
				4 + line * wide / 2, 10);
		});
		context.fillStyle = colour["--quiet"];
		context.fillRect(x(number), 14, 1, high - 16);
	}

	// The map in words.
	showSlowest() {
		const slowest = Object.entries(this.run.waiting_ns ?? {}).sort((a, b) => b[1] - a[1]).slice(0, 8);
		at("slowest").replaceChildren(...slowest.map(([name, waiting]) => {
			const row = document.createElement("li");
			row.textContent = `${name}: ${time(waiting)}`;
			return row;
		}));
	}
}

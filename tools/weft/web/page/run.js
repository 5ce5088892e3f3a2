// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Weft developers

// What the page shows of a run: figures, a scrubber over its samples, latencies by switch. While the run goes on its
// events say how many samples there are; what is shown of them is fetched.

import {colours} from "./draw.js";
import {share} from "./panel.js";

const at = (id) => document.getElementById(id);

const ANSWERS = 16; // between two pictures

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

async function get(path) {
	const answer = await fetch(path);
	if (!answer.ok)
		throw new Error(`${path}: ${answer.status}`);
	return answer.json();
}

const greatest = (list, least) => list.reduce((a, b) => Math.max(a, b ?? 0), least);

export class Run {
	// 'calls' has changed(), take(sample), selected(), cursor(sample or null) and told().
	constructor(fabric, calls) {
		this.fabric = fabric;
		this.calls = calls;
		this.series = [];
		this.known = "";    // the state of which all is here
		this.shown = null;  // what the picture shows: the number of a sample, or "mean"
		this.busy = this.again = false;
		this.map = false;
		at("run").hidden = false;
		at("live").hidden = true;
		at("scrub").addEventListener("input", () => {
			at("follow").checked = false;
			this.show();
			this.update();
		});
		at("follow").addEventListener("change", () => this.update());
		at("latency-map").addEventListener("change", () => {
			this.map = at("latency-map").checked;
			calls.changed();
		});
		this.become(fabric.run);
		this.update();
	}

	// What is known of the run as a whole.
	become(run) {
		this.run = this.fabric.run = run;
		this.wanted = {state: run.state, samples: run.samples};
		this.most = greatest(Object.values(run.waiting_ns ?? {}), 0);
		at("latency-map").disabled = this.most === 0;
		at("map-note").textContent = this.most > 0 ? `strongest: ${time(this.most)}` : run.state === "running" ?
			"When the run has ended." : run.waiting_ns ? "No packet has waited." :
			"The result has no switches: measure.switches: true.";
		at("follow-text").textContent = run.state === "running" ? "the newest sample" : "mean of the run";
		at("follow").parentElement.hidden = !run.link_series && run.state !== "running"; // it would change nothing
		this.showFigures();
		this.showSlowest();
	}

	// An event.
	hear(wanted) {
		this.wanted = wanted;
		this.update();
	}

	// Fetches what is missing. One after another: a slow connection skips what nobody waits for any more.
	async update() {
		this.again = true;
		if (this.busy)
			return;
		this.busy = true;
		try {
			while (this.again) {
				this.again = false;
				await this.step();
			}
		} catch (error) {
			at("scrubbed").textContent = String(error); // the next event tries again
		} finally {
			this.busy = false;
		}
	}

	async step() {
		if (this.run.state !== this.wanted.state)
			this.become((await get("/topology")).run);
		if (this.known !== this.run.state) {
			this.series = [];
			this.shown = null;
			this.fabric.told = null;
			this.known = this.run.state;
		}
		for (let i = 0; i < ANSWERS && this.series.length < this.wanted.samples; i++)
			this.series.push(...await get(`/series?number=${this.series.length}`));
		this.again ||= this.series.length < this.wanted.samples;
		this.stretch();
		this.showFigures();
		await this.fetchSample();
		await this.fetchLink();
		this.show();
	}

	stretch() {
		const last = Math.max(this.series.length - 1, 0), scrub = at("scrub");
		scrub.max = last;
		scrub.disabled = this.series.length === 0;
		if (at("follow").checked)
			scrub.value = this.run.state === "running" ? last : 0;
	}

	// The number of the sample that the picture is to show, or "mean".
	wish() {
		const running = this.run.state === "running";
		if (!this.run.link_series || this.series.length === 0 || (at("follow").checked && !running))
			return "mean";
		return at("follow").checked ? this.series.length - 1 : Number(at("scrub").value);
	}

	async fetchSample() {
		const wish = this.wish();
		if (wish === this.shown)
			return;
		const sample = await get(wish === "mean" ? "/mean" : `/sample?number=${wish}`);
		this.shown = wish;
		this.calls.cursor(wish === "mean" ? null : wish);
		this.calls.take(sample);
	}

	// What is missing of the lists of the link that is chosen. They end before the samples where there is no more room.
	async fetchLink() {
		const link = this.calls.selected(), samples = this.series.length;
		if (!this.run.link_series || link < 0)
			return;
		const told = this.fabric.told?.link === link ? this.fabric.told :
			{link, at: 0, load: [[], []], blocked: [[], []]};
		if (this.fabric.told === told && told.at >= samples)
			return;
		for (let i = 0; i < ANSWERS && told.at < samples; i++) {
			const lists = await get(`/link?number=${link}&from=${told.at}`);
			const got = Math.max(...lists.utilisation.map((list) => list.length));
			for (const way of [0, 1]) {
				told.load[way].push(...lists.utilisation[way]);
				told.blocked[way].push(...lists.blocked[way]);
			}
			told.at = got > 0 ? told.at + got : samples;
		}
		this.again ||= told.at < samples;
		this.fabric.told = told;
		this.calls.told();
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
		const {run} = this, running = run.state === "running", last = this.series.at(-1);
		const rows = [["clock", run.clock ?? "–"], ["seed", String(run.seed ?? "–")],
			[running ? "measures" : "measured", this.measured()]];
		if (running)
			rows.push(["samples", last ? `${this.series.length}, up to ${time(last.t_ns)}` : "none yet"]);
		else
			rows.push(...this.resultRows());
		at("figures").replaceChildren(...rows.flatMap(([name, text]) => ["dt", "dd"].map((tag, i) => {
			const made = document.createElement(tag);
			made.textContent = [name, text][i];
			return made;
		})));
	}

	measured() {
		const {measured_ns: span, counts} = this.run;
		if (counts)
			return `${counts.messages} messages${counts.warmup > 0 ? `, after ${counts.warmup}` : ""}`;
		return span ? `${time(span.from)} to ${time(span.to)}` : "–";
	}

	resultRows() {
		const {run} = this, network = run.latency_ns?.network, checks = run.checks ?? {};
		return [["delivered", `${run.messages?.delivered ?? "–"} of ${run.messages?.generated ?? "–"} messages`],
			["accepted", share(run.throughput?.accepted ?? null)],
			["latency", `p50 ${time(network?.p50)}, p99 ${time(network?.p99)}`],
			...run.fidelity?.late_ns ? [["late", `by p50 ${time(run.fidelity.late_ns.p50)}, p99 ${time(run.fidelity.late_ns.p99)}`]] : [],
			["lost", `${checks.lost ?? "–"}, doubled ${checks.duplicated ?? "–"}, out of order ${checks.out_of_order ?? "–"}`]];
	}

	// The sample under the scrubber, in words and as a line in the picture.
	show() {
		const number = Number(at("scrub").value);
		at("scrubbed").textContent = this.words(this.series[number]);
		at("scrub").setAttribute("aria-valuetext", at("scrubbed").textContent);
		this.draw(this.wish() === "mean" && this.run.link_series ? null : number);
	}

	words(sample) {
		const running = this.run.state === "running";
		if (!sample)
			return running ? "No sample yet." : "The result has no series: measure.sample.";
		if (this.run.link_series && this.wish() === "mean")
			return `Links show the mean of the run. The slider goes through ${this.series.length} samples.`;
		return this.tell(sample);
	}

	tell(sample) {
		const roots = this.shown !== Number(at("scrub").value) ? [] : this.fabric.sample?.roots ?? [];
		return `${time(sample.t_ns)}: accepted ${share(sample.accepted)}, latency ${time(sample.latency_ns)}` +
			(sample.adapted ? `, ${sample.adapted} packets adapted` : "") +
			(sample.paths ? `, ${sample.paths.toFixed(2)} paths` : "") +
			(roots.length > 0 ? `, roots of congestion: ${roots.slice(0, 4).join(", ")}` +
				(roots.length > 4 ? ` and ${roots.length - 4} more` : "") : "") +
			(!this.run.link_series ? ". Links are means of the run: measure.link-series." :
				this.linksUnknown() ? ". Links are known in earlier samples only: measure.sample." : "");
	}

	// A run that counts messages may have more samples than there is room for values of links.
	linksUnknown() {
		return this.shown === Number(at("scrub").value) &&
			!!this.fabric.sample?.utilisation.every((load) => load === null);
	}

	draw(number) {
		const canvas = at("run-series"), context = canvas.getContext("2d"), ratio = window.devicePixelRatio || 1;
		const wide = canvas.clientWidth, high = canvas.clientHeight, colour = colours(canvas);
		const x = (i) => 4 + (wide - 8) * i / Math.max(this.series.length - 1, 1);
		canvas.width = wide * ratio;
		canvas.height = high * ratio;
		context.scale(ratio, ratio);
		context.font = "10px system-ui, sans-serif";
		const step = Math.ceil(this.series.length / (4 * wide + 1)) || 1; // more would not be seen
		LINES.forEach(([list, name], line) => {
			const most = this.series.reduce((a, sample) => Math.max(a, sample[list] ?? 0), 1e-9);
			context.beginPath();
			let open = false;
			for (let i = 0; i < this.series.length; i += step) {
				const value = this.series[i][list];
				if (value !== null)
					context[open ? "lineTo" : "moveTo"](x(i), high - 4 - value / most * (high - 22));
				open = value !== null;
			}
			context.strokeStyle = context.fillStyle = colour[name];
			context.lineWidth = 1.5;
			context.stroke();
			context.fillText(list === "accepted" ? `accepted, to ${share(most)}` : `latency, to ${time(most)}`,
				4 + line * wide / 2, 10);
		});
		context.fillStyle = colour["--quiet"];
		if (number !== null)
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

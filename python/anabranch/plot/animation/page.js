// The page around the picture: paths beside it, charts below, time and keys.

const byId = (id) => document.getElementById(id);
const SPEEDS = [0.1, 0.25, 0.5, 1, 2, 4, 8, 16, 60];
const VIEWS = { map: DATA.map && drawMap, pipes: DATA.pipes && drawPipes };
const state = { time: 0, playing: false, speed: SPEEDS.indexOf(1), last: 0, view: "map" };
if (DATA.pipes && !(DATA.map && DATA.map.area)) state.view = "pipes"; // a map without places shows less
const dark = matchMedia("(prefers-color-scheme: dark)");
// The most after the warm-up: slow start would make everything else flat.
function after(values) {
  const late = values.reduce((most, value, sample) => (DATA.t[sample] >= DATA.warmup ? Math.max(most, value) : most), 0);
  return late > 0 ? late : values.reduce((most, value) => Math.max(most, value), 1e-9);
}
const MOST = {
  cwnd: Math.max(...DATA.streams.map((one) => (one.windows ? after(one.cwnd) : 1e-9))),
  mbps: Math.max(...DATA.streams.map((one) => after(one.mbps))),
};
let look = {}, rows = [];

function theme() {
  const style = getComputedStyle(document.documentElement);
  const value = (name) => style.getPropertyValue("--" + name).trim();
  look = { dark: dark.matches ? 1 : 0, font: getComputedStyle(document.body).fontFamily };
  for (const name of ["ink", "faint", "rule", "band", "ground", "router", "edge", "halo", "page", "queue", "drop"]) look[name] = value(name);
}

function secondsAt(time) {
  const before = Math.floor(time), after = Math.min(before + 1, LAST);
  return DATA.t[before] + (time - before) * (DATA.t[after] - DATA.t[before]);
}

function sampleAt(seconds) {
  if (!(seconds > DATA.t[0])) return 0;
  let after = DATA.t.findIndex((t) => t >= seconds);
  if (after < 0) return LAST;
  return after - 1 + (seconds - DATA.t[after - 1]) / (DATA.t[after] - DATA.t[after - 1]);
}

function sized(canvas) {
  const scale = window.devicePixelRatio || 1, box = canvas.getBoundingClientRect();
  const width = Math.round(box.width * scale), height = Math.round(box.height * scale);
  if (canvas.width !== width || canvas.height !== height) { canvas.width = width; canvas.height = height; }
  const pen = canvas.getContext("2d");
  pen.setTransform(scale, 0, 0, scale, 0, 0);
  return [pen, box.width, box.height];
}

function element(kind, name, text) {
  const made = document.createElement(kind);
  if (name) made.className = name;
  if (text) made.textContent = text;
  return made;
}

const LINE = (width, colour, dash) =>
  `<svg viewBox="0 0 26 14"><line x1="1" y1="7" x2="25" y2="7" stroke="${colour}" stroke-width="${width}" stroke-dasharray="${dash || ""}"/></svg>`;

function buildPaths() {
  const box = byId("paths");
  box.replaceChildren();
  rows = DATA.streams.map((one, index) => {
    const row = element("div", "path"), name = element("div", "name"), bars = element("div", "bars");
    const swatch = element("b");
    swatch.innerHTML = LINE(5, tone(index, look), dashOf(index).join(" ")); // made of colours and numbers alone
    const users = one.users > 1 ? " (" + one.users + " users)" : "";
    name.append(swatch, document.createTextNode(one.name + users));
    const made = { route: element("div", "route") };
    for (const what of ["cwnd", "mbps"]) {
      const bar = element("div", "bar"), fill = element("i"), value = element("span", "value");
      fill.style.background = tone(index, look);
      bar.append(fill); bars.append(bar, value);
      made[what] = [fill, value];
    }
    row.append(name, bars);
    if (DATA.pipes) row.append(element("div", "route", one.via));
    if (GROUND.routes.some(([stream, user]) => stream === index && user === 0)) row.append(made.route);
    box.append(row);
    return made;
  });
}

// Routes as texts; one that begins where another ends goes on with it.
function chained(routes) {
  const chains = [];
  for (const sites of routes) {
    const before = chains.find((chain) => chain[chain.length - 1] === sites[0]);
    if (before) before.push(...sites.slice(1));
    else chains.push([...sites]);
  }
  const texts = chains.map((chain) => chain.map((site) => SITES[site].name).join(" › "));
  return [...new Set(texts)].slice(0, 2);
}

const digits = (number) => (number === 0 ? "0" : number < 0.001 ? "<0.001" : number >= 1000 ? number.toFixed(0) : number.toPrecision(3));

function showPaths(sample) {
  const current = currentRoutes(sample);
  DATA.streams.forEach((one, index) => {
    for (const what of ["cwnd", "mbps"]) {
      const [fill, value] = rows[index][what], none = what === "cwnd" && !one.windows, number = one[what][sample];
      fill.style.width = none ? "0" : Math.min(100, (100 * number) / MOST[what]) + "%";
      value.textContent = none ? "–" : digits(number);
      value.title = what === "cwnd" ? "segments" : "Mb/s";
    }
    const own = current.filter(([stream, user]) => stream === index && user === 0);
    const who = one.users > 1 ? "first user: " : "";
    rows[index].route.textContent = who + (chained(own.map((route) => route[3])).join("; ") || "no route in use");
  });
}

// Charts over time: of streams, and of the pipes that ever hold the most packets or drop any.
const PIPE_TONES = [["#7A3FB0", "#BC93F0"], ["#B8860B", "#E0B64A"], ["#B00020", "#FF6F7F"], ["#5A6B00", "#AFC343"], ["#444444", "#C4C4C4"], ["#0072B2", "#4FB0EE"]];
const MOST_PIPES = PIPE_TONES.length;
const ofStreams = (what) => DATA.streams.map((one, n) => ({ values: one[what], colour: () => tone(n, look), dash: dashOf(n) }));
function ofPipes(what) {
  const peak = (pipe) => peakOf(pipe[what]);
  const kept = DATA.pipes.pipes.filter((pipe) => pipe.queue.some((n) => n > 1)).sort((a, b) => peak(b) - peak(a)).slice(0, MOST_PIPES);
  const own = DATA.pipes.pipes.filter((pipe) => kept.includes(pipe));
  return own.map((pipe) => {
    const n = own.indexOf(pipe);
    return { values: pipe[what], name: pipe.name, colour: () => PIPE_TONES[n][look.dark], dash: [] };
  });
}
const CHARTS = [
  { name: "Throughput (Mb/s)", lines: ofStreams("mbps") },
  { name: "Window (segments, mean over users)", lines: ofStreams("cwnd").filter((_, n) => DATA.streams[n].windows) },
  ...(DATA.pipes ? [{ name: "Queue (packets)", lines: ofPipes("queue") }, { name: "Drops per second", lines: ofPipes("drops") }] : []),
].filter((chart) => chart.lines.some((line) => line.values.some((value) => value > 0)));

function buildCharts() {
  byId("charts").replaceChildren();
  for (const chart of CHARTS) {
    const box = element("div", "chart"), name = element("div", "name", chart.name + " ");
    for (const line of chart.lines.filter((one) => one.name)) {
      const key = element("span", "key");
      key.innerHTML = LINE(3, line.colour()); // made of colours and numbers alone
      key.append(document.createTextNode(line.name));
      name.append(key);
    }
    chart.canvas = element("canvas");
    chart.canvas.setAttribute("role", "img");
    chart.canvas.setAttribute("aria-label", chart.name + " over time");
    chart.canvas.onclick = (event) => seek(chart.seek(event.offsetX));
    chart.still = null;
    box.append(name, chart.canvas);
    byId("charts").append(box);
  }
}

// All but the line at the present time, which is drawn once for a size and a theme.
function drawStill(pen, width, height, chart, x) {
  const left = 44, right = width - 8, top = 8, base = height - 14;
  const most = 1.05 * Math.max(...chart.lines.map((line) => after(line.values)));
  pen.clearRect(0, 0, width, height);
  pen.fillStyle = look.band; if (DATA.warmup > 0) pen.fillRect(left, top, x(DATA.warmup) - left, base - top);
  pen.strokeStyle = look.rule; pen.lineWidth = 1; tick(pen, left, base, right - left, 0); tick(pen, left, top, 0, base - top);
  pen.fillStyle = look.faint; pen.font = "10.5px " + look.font; pen.textAlign = "right"; pen.textBaseline = "middle";
  pen.fillText(digits(most), left - 5, top + 2); pen.fillText("0", left - 5, base);
  pen.textAlign = "center"; pen.textBaseline = "top";
  const step = niceStep(DATA.t[LAST] - DATA.t[0]);
  for (let t = Math.ceil(DATA.t[0] / step) * step; t <= DATA.t[LAST] + 1e-9; t += step) {
    pen.fillText(+t.toPrecision(6) + " s", Math.min(x(t), right - 12), base + 3);
  }
  pen.lineWidth = 1.2; pen.globalAlpha = 0.85;
  for (const line of chart.lines) {
    pen.strokeStyle = line.colour(); pen.setLineDash(line.dash); pen.beginPath();
    line.values.forEach((value, sample) => pen.lineTo(x(DATA.t[sample]), base - Math.min(value / most, 1.1) * (base - top)));
    pen.stroke();
  }
  pen.setLineDash([]); pen.globalAlpha = 1;
}

function drawChart(chart) {
  const [pen, width, height] = sized(chart.canvas), left = 44, right = width - 8, span = DATA.t[LAST] - DATA.t[0];
  const x = (t) => left + ((t - DATA.t[0]) / span) * (right - left);
  if (!chart.still || chart.still.width !== chart.canvas.width || chart.still.height !== chart.canvas.height) {
    drawStill(pen, width, height, chart, x);
    chart.still = element("canvas");
    chart.still.width = chart.canvas.width; chart.still.height = chart.canvas.height;
    if (chart.canvas.width && chart.canvas.height) chart.still.getContext("2d").drawImage(chart.canvas, 0, 0);
  } else {
    pen.clearRect(0, 0, width, height);
    pen.drawImage(chart.still, 0, 0, width, height);
  }
  pen.strokeStyle = look.ink; pen.lineWidth = 1.5;
  tick(pen, x(secondsAt(state.time)), 4, 0, height - 16);
  chart.seek = (at) => sampleAt(DATA.t[0] + ((at - left) / (right - left)) * span);
}

const MARKS = {
  node: (c) => `<svg viewBox="0 0 26 14"><circle cx="13" cy="7" r="5.5" fill="${c}" stroke="#222"/></svg>`,
  access: (c) => `<svg viewBox="0 0 26 14"><path d="M13 1L20 13H6Z" fill="${c}" stroke="#222"/></svg>`,
  base: (c) => `<svg viewBox="0 0 26 14"><path d="M13 0l1.8 5h5.2l-4.2 3.2 1.6 5-4.4-3-4.4 3 1.6-5L6 5h5.2z" fill="${c}" stroke="#222"/></svg>`,
};
const WORDS = { node: "", access: ", access point", base: ", base station" };

function addKey(picture, text) {
  const made = element("span");
  made.innerHTML = picture; // made of colours and numbers alone
  made.append(document.createTextNode(text));
  byId("legend").append(made);
}

function buildLegend() {
  byId("legend").replaceChildren();
  if (state.view === "map") mapKeys();
  else pipeKeys();
}

function pipeKeys() {
  const most = Math.max(...PIPES.pipes.map((pipe) => pipe.rate || 0)), marks = PIPES.pipes.some((pipe) => pipe.marks.length);
  const box = (fill, line) => `<svg viewBox="0 0 26 14"><rect x="8" y="1" width="10" height="12" rx="2" fill="none" stroke="${look.faint}"/>` +
    `<rect x="8.7" y="6" width="8.6" height="6.3" fill="${fill}"/>${line}</svg>`;
  if (most > 0) addKey(LINE(9, look.band), "pipe: a link, as high as its rate; dashed: its rate is higher");
  DATA.streams.forEach((one, n) => { if (DATA.streams.length <= 6) addKey(LINE(7, tone(n, look)), one.name); });
  if (PIPES.pipes.some((pipe) => pipe.queue.length)) {
    const line = marks ? `<path d="M8 4h10" stroke="${look.ink}" stroke-dasharray="2 1"/>` : "";
    addKey(box(look.queue, line), "queue: packets that wait" + (marks ? "; dashed: RED's thresholds" : ""));
  }
  if (PIPES.pipes.some((pipe) => pipe.drops.some((n) => n > 0))) {
    addKey(`<svg viewBox="0 0 26 14"><circle cx="13" cy="7" r="3" fill="${look.drop}"/></svg>`, "dropped packets");
  }
  addKey("", "widths of flows: rates, means of a second; marks show the direction, not the speed");
}

function mapKeys() {
  const step = DATA.t[1] - DATA.t[0];
  GROUND.groups.forEach(([name, colour], group) => {
    const members = SITES.filter((site) => site.group === group);
    if (members.length === 1 && members[0].role === "node") return;
    const count = members.length > 1 ? " (" + members.length + ")" : "";
    addKey(MARKS[members[0].role](colour), name + count + WORDS[members[0].role]);
  });
  const rate = ((8e-6 * MOST_BYTES) / step).toPrecision(2);
  addKey(LINE(7, look.ink), "widest: " + +rate + " Mb/s");
  if (GROUND.routes.some(([stream]) => DATA.streams[stream].several)) {
    addKey(`<span style="opacity:.35">${LINE(11, DATA.streams[0].colours[look.dark])}</span>`, "route in use");
  }
  if (GROUND.hops.some((row) => row.some((value, i) => i % 3 === 2 && value))) {
    addKey(LINE(1.5, look.router, "3 4"), "router messages");
    addKey(`<svg viewBox="0 0 26 14"><circle cx="13" cy="7" r="5.5" fill="none" stroke="${look.router}"/></svg>`, "broadcast");
  }
  if (GROUND.edges.some(([, , , stream]) => stream < 0)) addKey(LINE(3, look.router), "of no known route");
}

function render() {
  const sample = Math.min(Math.ceil(state.time), LAST);
  VIEWS[state.view](...sized(byId("picture")), state.time, look);
  showPaths(sample);
  CHARTS.forEach(drawChart);
  byId("time").value = state.time;
  const seconds = secondsAt(state.time).toFixed(DATA.t[1] - DATA.t[0] < 0.1 ? 2 : 1);
  byId("clock").textContent = seconds + " of " + DATA.t[LAST] + " s";
  byId("time").setAttribute("aria-valuetext", seconds + " seconds");
}

function seek(time) {
  state.time = Math.min(Math.max(time, 0), LAST);
  render();
}

function play(on) {
  state.playing = on;
  byId("play").textContent = on ? "Pause" : "Play";
  if (!on) return;
  if (state.time >= LAST) state.time = 0;
  state.last = performance.now();
  requestAnimationFrame(frame);
}

function frame(now) {
  if (!state.playing) return;
  const seconds = secondsAt(state.time) + ((now - state.last) / 1000) * SPEEDS[state.speed];
  state.last = now;
  seek(sampleAt(seconds));
  if (state.time >= LAST) play(false);
  else requestAnimationFrame(frame);
}

function speed(index) {
  state.speed = Math.min(Math.max(index, 0), SPEEDS.length - 1);
  byId("speed").selectedIndex = state.speed;
}

const KEYS = {
  " ": () => play(!state.playing),
  ArrowLeft: (event) => seek(Math.ceil(state.time) - (event.shiftKey ? 10 : 1)),
  ArrowRight: (event) => seek(Math.floor(state.time) + (event.shiftKey ? 10 : 1)),
  ArrowUp: () => speed(state.speed + 1),
  ArrowDown: () => speed(state.speed - 1),
  Home: () => seek(0),
  End: () => seek(LAST),
};

function onKey(event) {
  if (event.ctrlKey || event.altKey || event.metaKey || !KEYS[event.key]) return;
  if (event.target.tagName === "SELECT") return;
  event.preventDefault();
  if (document.activeElement === byId("play")) byId("play").blur(); // or a space would press it as well
  KEYS[event.key](event);
}

function refresh() {
  theme(); buildPaths(); buildLegend(); buildCharts(); render();
}

function start() {
  const users = DATA.streams.reduce((sum, one) => sum + (one.first ? one.users : 0), 0);
  const count = (number, one, several) => number + " " + (number === 1 ? one : several);
  const size = DATA.map ? [count(SITES.length, "node", "nodes"), count(GROUND.media.length, "medium or channel", "media or channels")]
    : [count(users, "user", "users"), count(PIPES.pipes.length, "link", "links")];
  byId("facts").textContent = [DATA.controller, "seed " + DATA.seed, ...size].join(", ");
  const views = Object.keys(VIEWS).filter((view) => VIEWS[view]);
  views.forEach((view) => byId("view").append(new Option({ map: "map", pipes: "links and paths" }[view], view)));
  byId("viewing").hidden = views.length < 2;
  byId("view").value = state.view;
  byId("view").onchange = (event) => { state.view = event.target.value; refresh(); };
  byId("time").max = LAST;
  SPEEDS.forEach((value) => byId("speed").append(new Option(value + " ×", value)));
  const fit = Math.min(60, Math.max(1, (DATA.t[LAST] - DATA.t[0]) / 90)); // a long run takes a minute and a half
  speed(SPEEDS.findIndex((value) => value >= fit));
  byId("play").onclick = () => play(!state.playing);
  byId("time").oninput = (event) => seek(+event.target.value);
  byId("speed").onchange = (event) => speed(event.target.selectedIndex);
  document.addEventListener("keydown", onKey);
  window.addEventListener("resize", render);
  dark.addEventListener("change", refresh);
  const asked = /t=([\d.]+)/.exec(location.hash), view = /view=(\w+)/.exec(location.hash);
  state.time = asked ? sampleAt(+asked[1]) : Math.max(sampleAt(DATA.warmup), 1); // at the first sample nothing flows
  if (view && VIEWS[view[1]]) byId("view").value = state.view = view[1];
  refresh();
}

start();

// The page around the map: paths beside it, the chart below, time and keys.

const byId = (id) => document.getElementById(id);
const SPEEDS = [0.1, 0.25, 0.5, 1, 2, 4, 8, 16, 60];
const state = { time: 0, playing: false, speed: SPEEDS.indexOf(1), last: 0 };
const dark = matchMedia("(prefers-color-scheme: dark)");
const MOST = {
  cwnd: Math.max(1e-9, ...DATA.streams.flatMap((one) => (one.windows ? one.cwnd : []))),
  mbps: Math.max(1e-9, ...DATA.streams.flatMap((one) => one.mbps)),
};
let look = {}, rows = [];

function theme() {
  const style = getComputedStyle(document.documentElement);
  const value = (name) => style.getPropertyValue("--" + name).trim();
  look = { dark: dark.matches ? 1 : 0, font: getComputedStyle(document.body).fontFamily };
  for (const name of ["ink", "faint", "rule", "band", "ground", "router", "edge", "halo"]) look[name] = value(name);
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

function buildPaths() {
  const box = byId("paths");
  box.replaceChildren();
  rows = DATA.streams.map((one, index) => {
    const row = element("div", "path"), name = element("div", "name"), bars = element("div", "bars");
    const swatch = element("i");
    swatch.style.background = tone(index, look);
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
    if (DATA.routes.some(([stream, user]) => stream === index && user === 0)) row.append(made.route);
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

function drawChart() {
  const [pen, width, height] = sized(byId("chart")), left = 44, right = width - 8, top = 16, base = height - 14;
  const span = DATA.t[LAST] - DATA.t[0], x = (t) => left + ((t - DATA.t[0]) / span) * (right - left);
  const y = (mbps) => base - (mbps / MOST.mbps) * (base - top);
  pen.clearRect(0, 0, width, height);
  pen.fillStyle = look.band; if (DATA.warmup > 0) pen.fillRect(left, top, x(DATA.warmup) - left, base - top);
  pen.strokeStyle = look.rule; pen.lineWidth = 1; tick(pen, left, base, right - left, 0); tick(pen, left, top, 0, base - top);
  pen.fillStyle = look.faint; pen.font = "10.5px " + look.font; pen.textAlign = "right"; pen.textBaseline = "middle";
  pen.fillText(MOST.mbps.toPrecision(3), left - 5, top + 2); pen.fillText("0", left - 5, base);
  pen.textAlign = "center"; pen.textBaseline = "top";
  const step = niceStep(span);
  for (let t = Math.ceil(DATA.t[0] / step) * step; t <= DATA.t[LAST] + 1e-9; t += step) {
    pen.fillText(+t.toPrecision(6) + " s", Math.min(x(t), right - 12), base + 3);
  }
  pen.lineWidth = 1.2; pen.globalAlpha = 0.85;
  DATA.streams.forEach((one, index) => {
    pen.strokeStyle = tone(index, look); pen.beginPath();
    one.mbps.forEach((value, sample) => pen.lineTo(x(DATA.t[sample]), y(value)));
    pen.stroke();
  });
  pen.globalAlpha = 1; pen.strokeStyle = look.ink; pen.lineWidth = 1.5;
  tick(pen, x(secondsAt(state.time)), top - 3, 0, base - top + 6);
  byId("chart").seek = (at) => sampleAt(DATA.t[0] + ((at - left) / (right - left)) * span);
}

const LINE = (width, colour, dash) =>
  `<svg viewBox="0 0 26 14"><line x1="1" y1="7" x2="25" y2="7" stroke="${colour}" stroke-width="${width}" stroke-dasharray="${dash || ""}"/></svg>`;
const MARKS = {
  node: (c) => `<svg viewBox="0 0 26 14"><circle cx="13" cy="7" r="5.5" fill="${c}" stroke="#222"/></svg>`,
  access: (c) => `<svg viewBox="0 0 26 14"><path d="M13 1L20 13H6Z" fill="${c}" stroke="#222"/></svg>`,
  base: (c) => `<svg viewBox="0 0 26 14"><path d="M13 0l1.8 5h5.2l-4.2 3.2 1.6 5-4.4-3-4.4 3 1.6-5L6 5h5.2z" fill="${c}" stroke="#222"/></svg>`,
};
const WORDS = { node: "", access: ", access point", base: ", base station" };

function buildLegend() {
  const box = byId("legend"), step = DATA.t[1] - DATA.t[0];
  box.replaceChildren();
  const add = (picture, text) => {
    const made = element("span");
    made.innerHTML = picture; // made of colours and numbers alone
    made.append(document.createTextNode(text));
    box.append(made);
  };
  DATA.groups.forEach(([name, colour], group) => {
    const members = SITES.filter((site) => site.group === group);
    if (members.length === 1 && members[0].role === "node") return;
    const count = members.length > 1 ? " (" + members.length + ")" : "";
    add(MARKS[members[0].role](colour), name + count + WORDS[members[0].role]);
  });
  const rate = ((8e-6 * MOST_BYTES) / step).toPrecision(2);
  add(LINE(7, look.ink), "widest: " + +rate + " Mb/s");
  if (DATA.routes.some(([stream]) => DATA.streams[stream].several)) {
    add(`<span style="opacity:.35">${LINE(11, DATA.streams[0].colours[look.dark])}</span>`, "route in use");
  }
  if (DATA.hops.some((row) => row.some((value, i) => i % 3 === 2 && value))) {
    add(LINE(1.5, look.router, "3 4"), "router messages");
    add(`<svg viewBox="0 0 26 14"><circle cx="13" cy="7" r="5.5" fill="none" stroke="${look.router}"/></svg>`, "broadcast");
  }
  if (DATA.edges.some(([, , , stream]) => stream < 0)) add(LINE(3, look.router), "of no known route");
}

function render() {
  const sample = Math.min(Math.ceil(state.time), LAST);
  drawMap(...sized(byId("map")), state.time, look);
  showPaths(sample);
  drawChart();
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
  theme(); buildPaths(); buildLegend(); render();
}

function start() {
  byId("facts").textContent = DATA.controller + ", seed " + DATA.seed + ", " + SITES.length + " nodes, " + DATA.media.length +
    (DATA.media.length === 1 ? " medium or channel" : " media or channels");
  byId("time").max = LAST;
  SPEEDS.forEach((value) => byId("speed").append(new Option(value + " ×", value)));
  const fit = Math.min(60, Math.max(1, (DATA.t[LAST] - DATA.t[0]) / 90)); // a long run takes a minute and a half
  speed(SPEEDS.findIndex((value) => value >= fit));
  byId("play").onclick = () => play(!state.playing);
  byId("time").oninput = (event) => seek(+event.target.value);
  byId("speed").onchange = (event) => speed(event.target.selectedIndex);
  byId("chart").onclick = (event) => seek(byId("chart").seek(event.offsetX));
  document.addEventListener("keydown", onKey);
  window.addEventListener("resize", render);
  dark.addEventListener("change", refresh);
  const asked = /t=([\d.]+)/.exec(location.hash);
  state.time = asked ? sampleAt(+asked[1]) : 0;
  refresh();
}

start();

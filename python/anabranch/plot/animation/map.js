// The ground: where sites are at a time, and what is between them. Times are samples, whole or between two.

const DATA = JSON.parse(document.getElementById("data").textContent);
const LAST = DATA.t.length - 1;
const GROUND = DATA.map || { hops: [], routes: [], sites: [], groups: [], rows: [], buses: [], edges: [], media: [] };
const JUMP = 0.4; // part of the ground in one sample: left it and came in elsewhere
const MOST_BYTES = GROUND.hops.reduce((most, row) => row.reduce((m, v, i) => (i % 3 === 1 ? Math.max(m, v) : m), most), 1);
const ENDS = new Set(GROUND.routes.flatMap(([, , , sites]) => [sites[0], sites[sites.length - 1]]));
const sums = (steps) => { let at = 0; return Float64Array.from(steps, (step) => (at += step) * GROUND.unit); };
const SITES = GROUND.sites.map(([name, group, role, placed, east, north], index) => ({
  name, group, role, placed, index, x: sums(east), y: sums(north),
  bold: role !== "node" || GROUND.groups[group][0] === name, end: ENDS.has(index),
}));
const MARK = SITES.length <= 40 ? 6.5 : SITES.length <= 80 ? 5 : 3.5; // radius in pixels
const SIZE = { node: 1, access: 1.4, base: 1.7 };

function along(track, at, reach) {
  if (track.length === 1) return track[0];
  const before = Math.floor(at), after = Math.min(before + 1, LAST), part = at - before;
  if (Math.abs(track[after] - track[before]) > JUMP * reach) return part < 0.5 ? track[before] : track[after];
  return track[before] + part * (track[after] - track[before]);
}

// Pixels of a place, for a canvas of that size: the same scale in both directions but for the stretch.
function view(width, height) {
  const [west, south, east, north] = GROUND.box, tall = (north - south) * GROUND.stretch;
  const room = { left: GROUND.area ? 46 : 16, right: 30, top: 18, below: GROUND.area ? 34 : 16 };
  const w = Math.max(width - room.left - room.right, 10), h = Math.max(height - room.top - room.below, 10);
  const scale = Math.min(w / (east - west), h / tall);
  const left = room.left + (w - scale * (east - west)) / 2, top = room.top + (h - scale * tall) / 2;
  return { x: (x) => left + (x - west) * scale, y: (y) => top + (north - y) * GROUND.stretch * scale, width, height };
}

function places(at, to) {
  const [west, south, east, north] = GROUND.area || GROUND.box;
  return SITES.map((site) => [to.x(along(site.x, at, east - west)), to.y(along(site.y, at, north - south))]);
}

function niceStep(span) {
  const raw = span / 6, ten = 10 ** Math.floor(Math.log10(raw));
  return ten * ([1, 2, 5, 10].find((step) => step * ten >= raw) || 10);
}

function drawGround(pen, to, look) {
  if (!GROUND.area) return;
  const [west, south, east, north] = GROUND.area;
  pen.fillStyle = look.ground; pen.strokeStyle = look.rule; pen.lineWidth = 1;
  const box = [to.x(west), to.y(north), to.x(east) - to.x(west), to.y(south) - to.y(north)];
  pen.fillRect(...box); pen.strokeRect(...box);
  pen.fillStyle = look.faint; pen.font = "11px " + look.font;
  const across = niceStep(east - west), up = niceStep(north - south);
  pen.textAlign = "center"; pen.textBaseline = "top";
  for (let x = Math.ceil(west / across) * across; x <= east; x += across) {
    tick(pen, to.x(x), to.y(south), 0, 5);
    pen.fillText(+x.toPrecision(6) + (x + across > east ? " m" : ""), to.x(x), to.y(south) + 7);
  }
  pen.textAlign = "right"; pen.textBaseline = "middle";
  for (let y = Math.ceil(south / up) * up; y <= north; y += up) {
    tick(pen, to.x(west), to.y(y), -5, 0);
    pen.fillText(+y.toPrecision(6) + (y + up > north ? " m" : ""), to.x(west) - 8, to.y(y));
  }
}

function tick(pen, x, y, dx, dy) {
  pen.beginPath(); pen.moveTo(x, y); pen.lineTo(x + dx, y + dy); pen.stroke();
}

function foot(row, x, to) {
  return [Math.min(Math.max(x, to.x(row[3])), to.x(row[4])), to.y(row[2])];
}

function drawRows(pen, to, at, look) {
  for (const row of GROUND.rows) {
    const [name, kind, y, from, until, sites] = row;
    pen.fillStyle = look.ink; pen.font = "12px " + look.font; pen.textAlign = "left"; pen.textBaseline = "bottom";
    pen.fillText(name + " (" + kind + ")", to.x(from), to.y(y) - 4);
    if (kind !== "bus") continue;
    pen.strokeStyle = look.ink; pen.lineWidth = 3.5; tick(pen, to.x(from), to.y(y), to.x(until) - to.x(from), 0);
    pen.lineWidth = 1;
    for (const site of sites) {
      pen.setLineDash(SITES[site].placed ? [2, 3] : []);
      const [x, base] = foot(row, at[site][0], to);
      tick(pen, x, base, at[site][0] - x, at[site][1] - base);
    }
    pen.setLineDash([]);
  }
}

function corners(medium, from, end, at, to) {
  const bus = GROUND.buses[medium];
  if (bus < 0) return [at[from], at[end]];
  const row = GROUND.rows[bus];
  return [at[from], foot(row, at[from][0], to), foot(row, at[end][0], to), at[end]];
}

// A line, moved by `shift` pixels to the same side whatever its direction.
function polyline(pen, points, shift) {
  let [x0, y0] = points[0], [x1, y1] = points[points.length - 1];
  if (x0 > x1 || (x0 === x1 && y0 > y1)) [x0, y0, x1, y1] = [x1, y1, x0, y0];
  const long = Math.hypot(x1 - x0, y1 - y0) || 1, bus = points.length > 2; // down to a bus, along it and up
  const dx = bus ? shift : (-(y1 - y0) / long) * shift, dy = bus ? -shift : ((x1 - x0) / long) * shift;
  pen.beginPath();
  points.forEach(([x, y], i) => (i ? pen.lineTo(x + dx, y + dy) : pen.moveTo(x + dx, y + dy)));
  pen.stroke();
}

function isCurrent(times, sample) {
  for (let i = 0; i < times.length; i += 2) if (times[i] <= sample && sample <= times[i + 1]) return true;
  return false;
}

function currentRoutes(sample) {
  return GROUND.routes.filter((route) => isCurrent(route[4], sample));
}

function tone(stream, look) {
  return stream < 0 ? look.router : DATA.streams[stream].colours[look.dark];
}

// Streams of the same colour are told apart by dashes.
const DASHES = [[], [7, 3], [2, 3], [9, 3, 2, 3]];
const dashOf = (stream) => (stream < 0 ? [] : DASHES[DATA.streams[stream].dash % DASHES.length]);

function drawRoutes(pen, at, to, sample, look) {
  const seen = new Set();
  pen.lineCap = "round"; pen.lineJoin = "round"; pen.globalAlpha = 0.22; pen.lineWidth = 11;
  for (const [stream, , medium, sites] of currentRoutes(sample)) {
    const text = sites.join();
    if (!DATA.streams[stream].several || seen.has(text)) continue; // one band for all paths that go the same way
    seen.add(text);
    const points = sites.slice(1).flatMap((site, hop) => corners(medium, sites[hop], site, at, to));
    pen.strokeStyle = tone(stream, look); polyline(pen, points, 0);
  }
  pen.globalAlpha = 1;
}

const widthOf = (bytes) => 1 + 6 * Math.sqrt(bytes / MOST_BYTES);

// The hops of a sample, side by side between the same sites, those of paths of several above the rest.
function drawHops(pen, at, to, sample, look) {
  const row = GROUND.hops[sample], beside = new Map(), lines = [];
  for (let i = 0; i < row.length; i += 3) {
    const [medium, from, end, stream] = GROUND.edges[row[i]];
    if (end < 0) continue;
    const pair = Math.min(from, end) + "-" + Math.max(from, end);
    if (!beside.has(pair)) beside.set(pair, new Map());
    const key = stream + (from > end ? "r" : "f"), tracks = beside.get(pair);
    const known = tracks.get(key);
    if (known) { known.bytes += row[i + 1]; known.messages += row[i + 2]; continue; }
    const line = { medium, from, end, stream, bytes: row[i + 1], messages: row[i + 2], tracks };
    tracks.set(key, line); lines.push(line);
  }
  const rank = (line) => (line.stream < 0 ? 0 : DATA.streams[line.stream].several ? 2 : 1);
  lines.sort((one, other) => rank(one) - rank(other));
  pen.lineCap = "round";
  for (const line of lines) {
    const mates = [...line.tracks.values()].sort((a, b) => a.stream - b.stream), gap = Math.min(4.2, 24 / mates.length);
    const shift = (mates.indexOf(line) - (mates.length - 1) / 2) * gap;
    pen.strokeStyle = tone(line.bytes ? line.stream : -1, look);
    pen.lineWidth = mates.length > 1 ? Math.min(widthOf(line.bytes), gap * 0.85) : widthOf(line.bytes);
    pen.setLineDash(line.bytes ? dashOf(line.stream) : [3, 5]);
    polyline(pen, corners(line.medium, line.from, line.end, at, to), shift);
  }
  pen.setLineDash([]);
}

function drawRings(pen, at, sample, part, look) {
  const row = GROUND.hops[sample];
  pen.strokeStyle = look.router; pen.lineWidth = 1.3; pen.globalAlpha = Math.max(0, 0.9 - 0.75 * part);
  for (let i = 0; i < row.length; i += 3) {
    const [, from, end] = GROUND.edges[row[i]];
    if (end >= 0) continue;
    pen.beginPath(); pen.arc(at[from][0], at[from][1], MARK * (1.4 + 2.4 * part), 0, 7); pen.stroke();
  }
  pen.globalAlpha = 1;
}

function shape(pen, role, x, y, r) {
  pen.beginPath();
  const points = role === "access" ? 3 : 5;
  if (role === "node") pen.arc(x, y, r, 0, 7);
  else for (let i = 0; i < points * 2; i++) {
    const far = role === "access" ? (i % 2 ? 0.5 : 1) : (i % 2 ? 0.42 : 1), angle = (Math.PI * i) / points;
    pen.lineTo(x + far * r * Math.sin(angle), y - far * r * Math.cos(angle));
  }
  pen.closePath(); pen.fill(); pen.stroke();
}

function drawSites(pen, at, look) {
  pen.strokeStyle = look.edge; pen.lineWidth = 1.2;
  for (const site of [...SITES].sort((one, other) => one.bold - other.bold)) {
    pen.fillStyle = GROUND.groups[site.group][1];
    shape(pen, site.role, ...at[site.index], MARK * SIZE[site.role]);
  }
}

const SIDES = [[1, 0], [-1, 0], [0, -1], [0, 1], [1, -1], [1, 1], [-1, -1], [-1, 1]];
const held = new Map(); // which side each name was on, so that names do not jump about

function nameBox(site, side, [x, y], width, height) {
  const away = (MARK * SIZE[site.role] + 3) * (side[0] && side[1] ? 0.7 : 1);
  const left = x + side[0] * (away + width / 2) - width / 2, top = y + side[1] * (away + height / 2) - height / 2;
  return [left, top, left + width, top + height];
}

const overlap = (a, b) => a[0] < b[2] && b[0] < a[2] && a[1] < b[3] && b[1] < a[3];

// Hops that are ever used, which names keep clear of; where there are many there is no room to do so.
const MOST_CHECKS = 4000;
const USED = [...new Map(GROUND.edges.filter(([, , end]) => end >= 0).map(([medium, from, end]) => [from + "-" + end, [medium, from, end]])).values()];
const AVOIDED = USED.length * SITES.length <= MOST_CHECKS ? USED : [];

// Whether a straight line has a part in a box.
function crosses(box, [x0, y0], [x1, y1]) {
  let low = 0, high = 1;
  for (const [first, span, from, until] of [[x0, x1 - x0, box[0], box[2]], [y0, y1 - y0, box[1], box[3]]]) {
    if (span === 0) { if (first <= from || first >= until) return false; continue; }
    const ends = [(from - first) / span, (until - first) / span];
    low = Math.max(low, Math.min(...ends)); high = Math.min(high, Math.max(...ends));
  }
  return low < high;
}

function drawNames(pen, at, to, look) {
  const lines = AVOIDED.flatMap(([medium, from, end]) => {
    const points = corners(medium, from, end, at, to);
    return points.slice(1).map((point, n) => [points[n], point]);
  });
  const taken = [], r = MARK * 0.8, marks = at.map(([x, y]) => [x - r, y - r, x + r, y + r]);
  const weight = (site) => 4 * site.bold + 2 * site.end + held.has(site.index);
  pen.textAlign = "left"; pen.textBaseline = "top"; pen.lineJoin = "round";
  for (const site of [...SITES].sort((a, b) => weight(b) - weight(a) || a.index - b.index)) {
    const size = site.bold ? 12.5 : SITES.length > 80 ? 10 : 11.5;
    pen.font = (site.bold ? "600 " : "") + size + "px " + look.font;
    const width = pen.measureText(site.name).width, height = size * 1.15, before = held.get(site.index);
    const sides = before ? [before, ...SIDES] : SIDES;
    const boxes = sides.map((side) => [side, nameBox(site, side, at[site.index], width, height)]);
    const inside = boxes.filter(([, b]) => b[0] > 0 && b[2] < to.width && b[1] > 0 && b[3] < to.height);
    const free = inside.filter(([, box]) => !taken.some((other) => overlap(box, other)));
    const clear = free.find(([, box]) => !marks.some((mark, n) => n !== site.index && overlap(box, mark)));
    const open = free.find(([, box]) => !marks.some((mark, n) => n !== site.index && overlap(box, mark)) &&
      !lines.some(([start, end]) => crosses(box, start, end)));
    const found = open || clear || (site.bold && free[0]);
    if (!found) { held.delete(site.index); continue; }
    const [side, box] = found;
    held.set(site.index, side); taken.push(box);
    pen.strokeStyle = look.halo; pen.lineWidth = 3; pen.globalAlpha = 0.8; pen.strokeText(site.name, box[0], box[1] + 1);
    pen.globalAlpha = 1; pen.fillStyle = look.ink; pen.fillText(site.name, box[0], box[1] + 1);
  }
}

// All of it at a time between two samples: hops are those that the later one reports.
function drawMap(pen, width, height, time, look) {
  const to = view(width, height), at = places(time, to), sample = Math.min(Math.ceil(time), LAST);
  const part = sample === time ? 1 : time - (sample - 1);
  pen.clearRect(0, 0, width, height);
  drawGround(pen, to, look);
  drawRows(pen, to, at, look);
  drawRoutes(pen, at, to, sample, look);
  drawHops(pen, at, to, sample, look);
  drawRings(pen, at, sample, part, look);
  drawSites(pen, at, look);
  drawNames(pen, at, to, look);
}

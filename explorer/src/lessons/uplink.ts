// Wi-Fi: on the uplink DCF decides who sends, and coupled windows have no say.

import { guide } from "./guide.ts";
import { ofPath, ofStation, share } from "./measures.ts";
import type { Case, Sample } from "./guide.ts";

/** 20 s after the warm-up decide the shares. */
function during(scenario: string, controller: string): Case {
  return { scenario, controller, overrides: { duration: '"40 s"' } };
}

const window = (sample: Sample): number =>
  (ofPath(sample, "multipath", 0, "cwnd_segments") + ofPath(sample, "multipath", 1, "cwnd_segments")) / 2;

/** Packets that queues drop where the client's data waits: its own two interfaces, or the access points. */
const dropped = (sample: Sample, hosts: [first: string, second: string]): number =>
  ofStation(sample, "first", hosts[0], "dropped_packets") +
  ofStation(sample, "second", hosts[1], "dropped_packets");

/** Part of the time in which the client's queue on the first network is empty. */
const empty = (sample: Sample): number => ofStation(sample, "first", "client", "empty");

export const uplink = guide({
  name: "uplink",
  title: "6 · Wi-Fi uplink: DCF shares access, not rates",
  question: "LIA takes about one share in all on wires. Does it over two Wi-Fi networks?",
  setting: [
    "Two networks of 802.11a on different channels. A client with LIA has an interface on each, and each network " +
      "has another client with one TCP. There are three users, so a fair share is a third of the total.",
    "On the downlink the access points send to the clients. On the uplink each client sends for itself.",
  ],
  guesses: [
    {
      asks: "Downlink: which part of all traffic does the client with LIA get?",
      quantity: "down",
      min: 0,
      max: 100,
      step: 1,
      start: 0,
      published: {
        value: 33.3,
        source: "“a third of the total network capacity”, report, Downlink fairness",
      },
    },
    {
      asks: "Uplink: which part does it get?",
      quantity: "up",
      min: 0,
      max: 100,
      step: 1,
      start: 0,
      published: {
        value: 50,
        source: "“performing as well as parallel on both links”, report, Uplink fairness",
        as: "derived",
      },
    },
  ],
  cases: {
    down: during("wifi/down", "lia"),
    up: during("wifi/up", "lia"),
    downReno: during("wifi/down", "reno"),
    upReno: during("wifi/up", "reno"),
  },
  shown: ["up", "upReno"],
  seeds: 5,
  quantities: {
    down: { unit: "%", of: ({ down }) => share(down, "multipath") },
    up: { unit: "%", of: ({ up }) => share(up, "multipath") },
    downReno: { unit: "%", of: ({ downReno }) => share(downReno, "multipath") },
    upReno: { unit: "%", of: ({ upReno }) => share(upReno, "multipath") },
    windowDown: { unit: "segments", of: ({ down }) => window(down) },
    windowUp: { unit: "segments", of: ({ up }) => window(up) },
    windowDownReno: { unit: "segments", of: ({ downReno }) => window(downReno) },
    windowUpReno: { unit: "segments", of: ({ upReno }) => window(upReno) },
    dropsDown: { unit: "packets", of: ({ down }) => dropped(down, ["ap-1", "ap-2"]) },
    dropsUp: { unit: "packets", of: ({ up }) => dropped(up, ["client", "client"]) },
    dropsDownReno: { unit: "packets", of: ({ downReno }) => dropped(downReno, ["ap-1", "ap-2"]) },
    dropsUpReno: { unit: "packets", of: ({ upReno }) => dropped(upReno, ["client", "client"]) },
    empty: { unit: "%", of: ({ up }) => empty(up) },
    emptyReno: { unit: "%", of: ({ upReno }) => empty(upReno) },
  },
  answer: [
    "On the downlink LIA takes {down} of the traffic, near a third. On the uplink it takes {up}: nearly as much " +
      "as New Reno on each path, which takes {upReno}. Coupling has lost most of its effect.",
  ],
  table: {
    caption:
      "Part of all traffic (%), mean window of a path (segments), and packets that the queues of data drop in a run.",
    head: ["direction, control", "share", "window", "drops"],
    rows: [
      ["down, LIA", "{down}", "{windowDown}", "{dropsDown}"],
      ["down, New Reno", "{downReno}", "{windowDownReno}", "{dropsDownReno}"],
      ["up, LIA", "{up}", "{windowUp}", "{dropsUp}"],
      ["up, New Reno", "{upReno}", "{windowUpReno}", "{dropsUpReno}"],
    ],
  },
  mechanism: [
    "On the downlink all packets of a network wait in the access point's queue. It drops excess packets, " +
      "{dropsDown} in a run, and LIA reacts to these drops as it does on wires.",
    "On the uplink packets wait in the sending host, whose queue drops {dropsUp}. The channel gives access to " +
      "stations, by DCF: each station that has a packet sends as often as any other. The client has a station on " +
      "each network, and nearly always a packet for it, so it gets about half of each network. Losses come from " +
      "noise alone, and say nothing of the others.",
    "So LIA's windows grow until packets wait in the host, beyond what the channel needs. They are smaller than " +
      "New Reno's, and after a loss an interface sometimes has nothing to send: its queue is empty for {empty} of " +
      "the time, with New Reno for {emptyReno}. That is all that is left of coupling.",
  ],
  statements: [
    { says: "LIA takes about a third on the downlink", holds: (m) => m.down > 0.28 && m.down < 0.36 },
    { says: "LIA takes much more on the uplink", holds: (m) => m.up > 0.42 && m.up > m.down + 0.08 },
    {
      says: "New Reno takes half",
      holds: (m) => Math.abs(m.upReno - 0.5) < 0.03 && Math.abs(m.downReno - 0.5) < 0.03,
    },
    {
      says: "the hosts' queues drop nothing on the uplink",
      holds: (m) => m.dropsUp === 0 && m.dropsDown > 0,
    },
    {
      says: "LIA's interfaces are empty more often than New Reno's",
      holds: (m) => m.empty > m.emptyReno && m.windowUp < m.windowUpReno,
    },
  ],
  sources: [
    {
      document: "Fairness of Multipath TCP over wireless networks (section of a report)",
      section: "“Downlink fairness” and “Uplink fairness”",
    },
    { document: "IEEE 802.11-2012", section: "§9.3 (DCF)" },
  ],
  pages: ["docs/explanation/air.md"],
});

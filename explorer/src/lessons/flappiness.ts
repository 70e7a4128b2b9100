// Two equal paths: full coupling leaves the split of the window to chance.

import { guide } from "./guide.ts";
import { dominance, rate, swaps } from "./measures.ts";
import type { Case, Sample } from "./guide.ts";

const over = (controller: string): Case => ({
  scenario: "khalili/two-equal-paths",
  controller,
  series: true,
});

/** The mean rate of the two TCPs. */
const tcp = (sample: Sample): number => (rate(sample, "tcp-left") + rate(sample, "tcp-right")) / 2;

export const flappiness = guide({
  name: "flappiness",
  title: "4 · Flappiness: a split left to chance",
  question: "Two paths are equally good. Does a user whose control is fully coupled use both?",
  setting: [
    "One user has a path over each of two links of 10 Mb/s. On each link there is one TCP, and everything is " +
      "symmetric. The run lasts 300 s.",
    "Say that a path leads while it has more than 90 % of the user's window.",
  ],
  guesses: [
    {
      asks: "Fully coupled: in which part of the time does one of the paths lead?",
      quantity: "led",
      min: 0,
      max: 100,
      step: 1,
      start: 50,
    },
    { asks: "Under LIA?", quantity: "ledLia", min: 0, max: 100, step: 1, start: 50 },
  ],
  cases: { full: over("fully-coupled"), lia: over("lia"), uncoupled: over("uncoupled") },
  shown: ["full", "lia"],
  seeds: 5,
  quantities: {
    led: { unit: "%", of: ({ full }) => dominance(full, "user") },
    ledLia: { unit: "%", of: ({ lia }) => dominance(lia, "user") },
    ledUncoupled: { unit: "%", of: ({ uncoupled }) => dominance(uncoupled, "user") },
    turns: { unit: "count", of: ({ full }) => swaps(full, "user") },
    turnsLia: { unit: "count", of: ({ lia }) => swaps(lia, "user") },
    turnsUncoupled: { unit: "count", of: ({ uncoupled }) => swaps(uncoupled, "user") },
    user: { unit: "Mb/s", of: ({ full }) => rate(full, "user") },
    userLia: { unit: "Mb/s", of: ({ lia }) => rate(lia, "user") },
    userUncoupled: { unit: "Mb/s", of: ({ uncoupled }) => rate(uncoupled, "user") },
    tcp: { unit: "Mb/s", of: ({ full }) => tcp(full) },
    tcpLia: { unit: "Mb/s", of: ({ lia }) => tcp(lia) },
    tcpUncoupled: { unit: "Mb/s", of: ({ uncoupled }) => tcp(uncoupled) },
  },
  answer: [
    "Fully coupled, one path leads for {led} of the time, although the paths are equal. Under LIA one leads for " +
      "{ledLia} of the time.",
    "Which path leads is left to chance: the lead changes over {turns} times in a run. Let both runs play, and " +
      "watch the windows.",
  ],
  table: {
    caption: "Part of the time in which a path leads (%), changes of the lead in a run, and rates (Mb/s).",
    head: ["control", "led", "changes", "user", "each TCP"],
    rows: [
      ["fully coupled", "{led}", "{turns}", "{user}", "{tcp}"],
      ["LIA", "{ledLia}", "{turnsLia}", "{userLia}", "{tcpLia}"],
      ["uncoupled", "{ledUncoupled}", "{turnsUncoupled}", "{userUncoupled}", "{tcpUncoupled}"],
    ],
  },
  mechanism: [
    "Fully coupled control adds 1/w_tot for each ACK, and takes half of w_tot from the path that loses a packet. " +
      "Its balance fixes the sum of the windows only. Every split between paths of equal loss is in balance, so the " +
      "split wanders. One loss on the smaller path takes the whole of it, and a path with a small window has few " +
      "ACKs to grow by.",
    "LIA takes half of the window of the path that loses, and no more. A larger window loses more packets and is " +
      "halved more often, which drives the windows together. LIA pays for that: it also sends on paths that lose " +
      "more than the best one, as in lesson 1.",
    "The draft calls flapping undesirable where rates depend on round trips, as with TCP (Section 1): the user's " +
      "rate then changes with the path that leads.",
  ],
  statements: [
    { says: "one path often leads under full coupling", holds: (m) => m.led > 0.05 },
    { says: "it leads at least twice as often as under LIA", holds: (m) => m.led >= 2 * m.ledLia },
    { says: "a path seldom leads under LIA", holds: (m) => m.ledLia < 0.05 },
    { says: "the lead changes over under full coupling", holds: (m) => m.turns > 1 && m.turns > m.turnsLia },
  ],
  sources: [
    {
      document: "draft-khalili-mptcp-performance-issues-04",
      section: "Section 1 (flappiness), Section 2 (φ near 0)",
    },
    { document: "Wischik et al., NSDI 2011", section: "Section 2.4" },
  ],
  pages: ["docs/reference/laws.md", "docs/explanation/when-to-couple.md"],
});

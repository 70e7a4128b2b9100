// Floors and slow start: a path that a law would leave still carries traffic, and others pay for it.

import { guide } from "./guide.ts";
import { allOfPath, inSlowStart, ofPath, probing, rate, rateOfLink } from "./measures.ts";
import type { Sample } from "./guide.ts";

/** Part of AP2's capacity that the multipath users take. */
const taken = (sample: Sample): number => allOfPath(sample, "multipath", 1) / rateOfLink(sample, "ap2");

/** The part that they would take with one segment in flight each. */
const least = (sample: Sample): number => probing(sample, "multipath", 1) / rateOfLink(sample, "ap2");

export const floor = guide({
  name: "floor",
  title: "5 · The floor and slow start: a path nobody can leave",
  question: "Users would rather not use a path. How much do they send on it all the same?",
  setting: [
    "Scenario C with thirty multipath users: their own access point has 30 Mb/s, and the second one, AP2, has 10 " +
      "Mb/s for them and ten single-path users. Everybody has 1 Mb/s if the multipath users leave AP2 alone. OLIA " +
      "is made to do so.",
    "Two floors are in the way. A window has at least one segment. After a loss, ssthresh is half of the window, " +
      "but not below a floor of its own: one segment in OLIA's draft, two in RFC 5681.",
  ],
  guesses: [
    {
      asks: "Which part of AP2's capacity do the multipath users take under OLIA?",
      quantity: "taken",
      min: 0,
      max: 100,
      step: 1,
      start: 0,
      published: {
        value: 28,
        source: "what 0.72 Mb/s for each single-path user leaves, draft-khalili, Table 6",
        as: "derived",
      },
    },
    {
      asks: "And with a floor of ssthresh of two segments?",
      quantity: "takenTwo",
      min: 0,
      max: 100,
      step: 1,
      start: 0,
    },
  ],
  cases: {
    one: { scenario: "khalili/scenario-c-30", controller: "olia", series: true },
    two: {
      scenario: "khalili/scenario-c-30",
      controller: "olia",
      overrides: { "transport.min_ssthresh": "2" },
      series: true,
    },
  },
  shown: ["one"],
  seeds: 3,
  quantities: {
    taken: { unit: "%", of: ({ one }) => taken(one) },
    takenTwo: { unit: "%", of: ({ two }) => taken(two) },
    least: { unit: "%", of: ({ one }) => least(one) },
    leastTwo: { unit: "%", of: ({ two }) => least(two) },
    single: { unit: "Mb/s", of: ({ one }) => rate(one, "single-path") },
    singleTwo: { unit: "Mb/s", of: ({ two }) => rate(two, "single-path") },
    window: { unit: "segments", of: ({ one }) => ofPath(one, "multipath", 1, "cwnd_segments") },
    windowTwo: { unit: "segments", of: ({ two }) => ofPath(two, "multipath", 1, "cwnd_segments") },
    timeouts: { unit: "count", of: ({ one }) => ofPath(one, "multipath", 1, "timeouts") },
    timeoutsTwo: { unit: "count", of: ({ two }) => ofPath(two, "multipath", 1, "timeouts") },
    slow: { unit: "%", of: ({ one }) => inSlowStart(one, "multipath", 1) },
    slowTwo: { unit: "%", of: ({ two }) => inSlowStart(two, "multipath", 1) },
  },
  answer: [
    "Under OLIA the multipath users take {taken} of AP2, and each single-path user gets {single}. One segment per " +
      "round trip and user would be {least}: about that much is the cost of probing, which no window control " +
      "avoids.",
    "With a floor of ssthresh of two segments they take {takenTwo}, and each single-path user gets {singleTwo}. " +
      "One segment more or less decides how much OLIA gives back.",
  ],
  table: {
    caption:
      "Part of AP2 that multipath users take, and would with one segment each (%); their second path's window " +
      "(segments), timeouts and time in slow start (%); single-path users' rate (Mb/s).",
    head: ["floor of ssthresh", "taken", "one each", "window", "timeouts", "slow start", "single-path"],
    rows: [
      ["1 segment", "{taken}", "{least}", "{window}", "{timeouts}", "{slow}", "{single}"],
      ["2 segments", "{takenTwo}", "{leastTwo}", "{windowTwo}", "{timeoutsTwo}", "{slowTwo}", "{singleTwo}"],
    ],
  },
  mechanism: [
    "A coupled law governs congestion avoidance alone. It can stop a window from growing, but not take it below " +
      "the floors.",
    "Below ssthresh, slow start adds a segment for each ACK, whatever the law says. After a timeout the window is " +
      "one segment. With a floor of one, slow start ends where it begins. With a floor of two, the window first " +
      "doubles: nearly twice the traffic on a path that the law wants to leave. So many small windows also keep " +
      "AP2's queue long, and a path with two segments in flight seldom has the duplicate ACKs for fast retransmit: " +
      "its losses end in timeouts, and in slow start again.",
    "The draft counts the first floor as probing cost (Section 4). Its optimum with probing cost leaves " +
      "single-path users 0.8 Mb/s here (Table 3). LIA has the floor of two segments, as RFC 6356 does not change " +
      "the decrease of RFC 5681.",
  ],
  statements: [
    { says: "multipath users take more of AP2 than one segment each", holds: (m) => m.taken > 1.2 * m.least },
    { says: "probing is a large part of what they take", holds: (m) => m.least > 0.35 * m.taken },
    {
      says: "the floor of two segments costs single-path users a tenth of their rate or more",
      holds: (m) => m.singleTwo < 0.9 * m.single,
    },
    {
      says: "the traffic on the second path grows by half at least",
      holds: (m) => m.takenTwo > 1.5 * m.taken,
    },
    {
      says: "timeouts and slow start are more frequent with the floor of two segments",
      holds: (m) => m.timeoutsTwo > 2 * m.timeouts && m.slowTwo > 5 * m.slow,
    },
  ],
  sources: [
    {
      document: "draft-khalili-mptcp-performance-issues-04",
      section: "Section 4 (probing cost), Tables 3 and 6",
    },
    { document: "RFC 5681", section: "Section 3.1, equation (4): ssthresh is at least 2 SMSS" },
    { document: "RFC 6356 (LIA)", section: "Section 3: slow start and the decrease are unchanged" },
  ],
  pages: ["docs/explanation/bands.md", "docs/explanation/why-olia-did-better-in-2012.md"],
});

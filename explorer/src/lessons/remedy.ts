// OLIA in scenario C: what it gives back, and that delayed ACKs decide how much.

import { guide } from "./guide.ts";
import { ofPath, rate } from "./measures.ts";

/** An ACK for each packet; the handshake only serves to bound the delay of ACKs. */
const EACH_PACKET = { "transport.delayed_ack": '"0 s"', "transport.handshake": "false" };

/** Single-path users' rate in the draft's optimum with probing cost, Table 3. */
const PROBING_OPTIMUM_BPS = 0.94e6;

export const remedy = guide({
  name: "remedy",
  title: "2 · OLIA: a remedy, and why it stays short",
  question:
    "OLIA was made to cure LIA's harm. How much do single-path users get back, and what have ACKs to do with it?",
  setting: [
    "Scenario C: ten multipath users have an access point of their own and share a second one with ten " +
      "single-path users. Both have 10 Mb/s, so the proportionally fair rate of everybody is 1 Mb/s. Receivers " +
      "delay ACKs as Linux does: the ACK of a lone segment waits for a timer.",
    "Under LIA the draft measured 0.68 Mb/s for a single-path user (Table 3).",
  ],
  guesses: [
    {
      asks: "What does a single-path user get if the multipath users have OLIA?",
      quantity: "single",
      min: 0.5,
      max: 1.1,
      step: 0.01,
      start: 0.5,
      published: { value: 0.88, source: "draft-khalili, Table 6" },
    },
    {
      asks: "And if receivers acknowledge each packet at once?",
      quantity: "singleEach",
      min: 0.5,
      max: 1.1,
      step: 0.01,
      start: 0.5,
    },
  ],
  cases: {
    lia: { scenario: "khalili/scenario-c", controller: "lia" },
    olia: { scenario: "khalili/scenario-c", controller: "olia" },
    liaEach: { scenario: "khalili/scenario-c", controller: "lia", overrides: EACH_PACKET },
    oliaEach: { scenario: "khalili/scenario-c", controller: "olia", overrides: EACH_PACKET },
  },
  shown: ["lia", "olia"],
  seeds: 5,
  quantities: {
    singleLia: { unit: "Mb/s", of: ({ lia }) => rate(lia, "single-path") },
    single: { unit: "Mb/s", of: ({ olia }) => rate(olia, "single-path") },
    singleLiaEach: { unit: "Mb/s", of: ({ liaEach }) => rate(liaEach, "single-path") },
    singleEach: { unit: "Mb/s", of: ({ oliaEach }) => rate(oliaEach, "single-path") },
    multiLia: { unit: "Mb/s", of: ({ lia }) => rate(lia, "multipath") },
    multi: { unit: "Mb/s", of: ({ olia }) => rate(olia, "multipath") },
    multiLiaEach: { unit: "Mb/s", of: ({ liaEach }) => rate(liaEach, "multipath") },
    multiEach: { unit: "Mb/s", of: ({ oliaEach }) => rate(oliaEach, "multipath") },
    gain: { unit: "Mb/s", of: ({ lia, olia }) => rate(olia, "single-path") - rate(lia, "single-path") },
    gainEach: {
      unit: "Mb/s",
      of: ({ liaEach, oliaEach }) => rate(oliaEach, "single-path") - rate(liaEach, "single-path"),
    },
    windowLia: { unit: "segments", of: ({ lia }) => ofPath(lia, "multipath", 1, "cwnd_segments") },
    window: { unit: "segments", of: ({ olia }) => ofPath(olia, "multipath", 1, "cwnd_segments") },
    windowLiaEach: {
      unit: "segments",
      of: ({ liaEach }) => ofPath(liaEach, "multipath", 1, "cwnd_segments"),
    },
    windowEach: { unit: "segments", of: ({ oliaEach }) => ofPath(oliaEach, "multipath", 1, "cwnd_segments") },
    rttLia: { unit: "ms", of: ({ lia }) => ofPath(lia, "multipath", 1, "srtt_s") },
    rtt: { unit: "ms", of: ({ olia }) => ofPath(olia, "multipath", 1, "srtt_s") },
    rttLiaEach: { unit: "ms", of: ({ liaEach }) => ofPath(liaEach, "multipath", 1, "srtt_s") },
    rttEach: { unit: "ms", of: ({ oliaEach }) => ofPath(oliaEach, "multipath", 1, "srtt_s") },
  },
  answer: [
    "A single-path user gets {single} under OLIA and {singleLia} under LIA: OLIA gives back {gain}. The draft has " +
      "0.88 and 0.68 Mb/s (Tables 6 and 3).",
    "With an ACK for each packet OLIA gives back {gainEach}, and a single-path user gets {singleEach}. So a part " +
      "of the gain comes from the receivers' timer.",
    "Either way OLIA stays short of 1 Mb/s. The draft's optimum stays short too, at 0.94 Mb/s (Table 3), since no " +
      "path can have less than one segment in flight.",
  ],
  table: {
    caption: "Mb/s per user, and window (segments) and srtt (ms) of the multipath users' second path.",
    head: ["law, ACKs", "single-path", "multipath", "window", "srtt"],
    rows: [
      ["LIA, as Linux", "{singleLia}", "{multiLia}", "{windowLia}", "{rttLia}"],
      ["OLIA, as Linux", "{single}", "{multi}", "{window}", "{rtt}"],
      ["LIA, each packet", "{singleLiaEach}", "{multiLiaEach}", "{windowLiaEach}", "{rttLiaEach}"],
      ["OLIA, each packet", "{singleEach}", "{multiEach}", "{windowEach}", "{rttEach}"],
    ],
  },
  mechanism: [
    "OLIA ranks paths by l/rtt², where l counts the bytes between losses. It moves window to the best of them. " +
      "The second path is shared and loses more, so OLIA keeps few segments on it.",
    "A path with one segment in flight never delivers the second segment that releases an ACK. Each of its " +
      "segments waits for the timer, and the srtt of the second path is {rtt} instead of {rttEach}. That lowers its " +
      "rank, and the same window over a longer round trip sends less: so the path carries less, and single-path " +
      "users get more. LIA keeps a larger window there, {windowLia}, where every other segment releases an ACK. The " +
      "timer hardly matters to it.",
    "How long receivers delay ACKs depends on their kernel and on the receive window: a receiver of Linux " +
      "acknowledges at once while the window grows. The page below has measurements of both.",
  ],
  statements: [
    {
      says: "OLIA gives single-path users more than LIA",
      holds: (m) => m.gain > 0.05e6 && m.gainEach > 0.05e6,
    },
    { says: "delayed ACKs add to OLIA's gain", holds: (m) => m.gain > 1.2 * m.gainEach },
    {
      says: "delayed ACKs hardly matter to LIA",
      holds: (m) => Math.abs(m.singleLia - m.singleLiaEach) < 0.02e6,
    },
    { says: "OLIA's lone segments wait for the timer", holds: (m) => m.rtt > m.rttEach + 0.04 },
    {
      says: "OLIA stays short of the optimum",
      holds: (m) => Math.max(m.single, m.singleEach) < PROBING_OPTIMUM_BPS,
    },
  ],
  sources: [
    {
      document: "draft-khalili-mptcp-performance-issues-04",
      section: "Section 7, Table 6; Section 6, Table 3",
    },
    { document: "draft-khalili-mptcp-congestion-control-02 (OLIA)" },
  ],
  pages: ["docs/explanation/why-olia-did-better-in-2012.md"],
});

// Couple+: a path whose coding hides losses takes a TCP's rate, unless its control knows of the coding.

import { guide } from "./guide.ts";
import { goodput, ofPath } from "./measures.ts";
import type { Case, Sample } from "./guide.ts";

/** Endless transfers, and a receive buffer that no path fills while the other stalls. */
const ENDLESS = {
  duration: '"600 s"',
  warmup: '"100 s"',
  "flow.multipath.transfer": '"1 GB"',
  "flow.tcp.transfer": '"1 GB"',
  "flow.multipath.transport.receive_buffer": '"4 MB"',
};

const UNCODED = '[{links = ["first-0", "second-0", "last-0"]}, {links = ["first-1", "shared", "wireless"]}]';

const shared = (controller: string, changes: Record<string, string> = {}): Case => ({
  scenario: "couple-plus/static",
  controller,
  overrides: { ...ENDLESS, ...changes },
});

const subflow = (sample: Sample): number => ofPath(sample, "multipath", 1, "goodput_bps");

const lost = (sample: Sample): number => ofPath(sample, "multipath", 1, "lost_packets");

/** How often the path's window was reduced: fast recoveries and timeouts. */
const reduced = (sample: Sample): number =>
  ofPath(sample, "multipath", 1, "recoveries") + ofPath(sample, "multipath", 1, "timeouts");

export const coding = guide({
  name: "coding",
  title: "7 · A coded path beside a TCP",
  question: "Coding repairs radio losses before TCP sees them. What else does it hide, and who pays?",
  setting: [
    "A connection has a path of 1 Mb/s of its own. Its second path shares a link of 1 Mb/s with one TCP, and ends " +
      "in a radio hop that loses 1 % of the packets. Both transfers go on for ten minutes (the paper's have 5 MB).",
    "The second path may be coded: for each segment the sender sends 1.05 combinations of the last six, so that " +
      "the receiver repairs losses without TCP's help.",
  ],
  guesses: [
    {
      asks: "What goodput does the TCP keep beside the coded path, if the connection has LIA (RTT Compensator)?",
      quantity: "tcpLia",
      min: 0,
      max: 1000,
      step: 10,
      start: 480,
      published: { value: 100, source: "“less than 100 Kb/s”, Xue et al., Section V-B-1", as: "below" },
    },
    {
      asks: "And if it has Couple+?",
      quantity: "tcpCouple",
      min: 0,
      max: 1000,
      step: 10,
      start: 480,
    },
  ],
  cases: {
    plain: shared("lia", { "flow.multipath.path": UNCODED }),
    lia: shared("lia"),
    couple: shared("couple-plus"),
  },
  shown: ["lia", "couple"],
  seeds: 5,
  quantities: {
    tcpPlain: { unit: "kb/s", of: ({ plain }) => goodput(plain, "tcp") },
    tcpLia: { unit: "kb/s", of: ({ lia }) => goodput(lia, "tcp") },
    tcpCouple: { unit: "kb/s", of: ({ couple }) => goodput(couple, "tcp") },
    codedPlain: { unit: "kb/s", of: ({ plain }) => subflow(plain) },
    codedLia: { unit: "kb/s", of: ({ lia }) => subflow(lia) },
    codedCouple: { unit: "kb/s", of: ({ couple }) => subflow(couple) },
    lostPlain: { unit: "packets", of: ({ plain }) => lost(plain) },
    lostLia: { unit: "packets", of: ({ lia }) => lost(lia) },
    lostCouple: { unit: "packets", of: ({ couple }) => lost(couple) },
    lossPlain: { unit: "%", of: ({ plain }) => ofPath(plain, "tcp", 0, "loss") },
    lossLia: { unit: "%", of: ({ lia }) => ofPath(lia, "tcp", 0, "loss") },
    lossCouple: { unit: "%", of: ({ couple }) => ofPath(couple, "tcp", 0, "loss") },
    reducedPlain: { unit: "count", of: ({ plain }) => reduced(plain) },
    reducedLia: { unit: "count", of: ({ lia }) => reduced(lia) },
    reducedCouple: { unit: "count", of: ({ couple }) => reduced(couple) },
  },
  answer: [
    "Without coding the second path gets {codedPlain}, and the TCP has {tcpPlain}. With coding under LIA the path " +
      "gets {codedLia} and leaves the TCP {tcpLia}. With Couple+ the TCP has {tcpCouple} and the path " +
      "{codedCouple}.",
    "Couple+ takes the harm away. Here it goes further than the paper, where the two are “nearly equal” (Section " +
      "V-B-1): the coded path gets far less than the TCP.",
  ],
  table: {
    caption:
      "Goodput (kb/s), packets that the second path lost, reductions of its window, and the TCP's loss (%).",
    head: ["second path, control", "second path", "TCP", "lost", "reductions", "TCP's loss"],
    rows: [
      ["not coded, LIA", "{codedPlain}", "{tcpPlain}", "{lostPlain}", "{reducedPlain}", "{lossPlain}"],
      ["coded, LIA", "{codedLia}", "{tcpLia}", "{lostLia}", "{reducedLia}", "{lossLia}"],
      ["coded, Couple+", "{codedCouple}", "{tcpCouple}", "{lostCouple}", "{reducedCouple}", "{lossCouple}"],
    ],
  },
  mechanism: [
    "The receiver acknowledges a segment as soon as some combination contains it. A lost combination only matters " +
      "if more are missing than the redundant ones replace, and then only when the window of six is exceeded. So " +
      "the coded path lost {lostLia} under LIA, at the radio hop and in the full queue alike, and reduced its " +
      "window {reducedLia} times.",
    "The TCP sees each drop of the queue and halves its window. The coded path does not, and grows into the " +
      "place. The queue stays full, and the TCP loses {lossLia} of its packets instead of {lossPlain}.",
    "Couple+ counts what is missing at the receiver. It takes a loss for noise if the receiver decodes everything " +
      "within a cycle of redundancy, and for congestion otherwise, if the round trip is at least twice its minimum. " +
      "A full queue makes the round trip long all the time, so Couple+ also takes pairs of radio losses for " +
      "congestion, and stays below the TCP.",
  ],
  statements: [
    {
      says: "the coded path takes the TCP's rate under LIA",
      holds: (m) => m.tcpLia < 0.25 * m.tcpPlain && m.codedLia > 2 * m.tcpLia,
    },
    {
      says: "Couple+ gives the TCP its rate back",
      holds: (m) => m.tcpCouple > 3 * m.tcpLia && m.tcpCouple > 475e3,
    },
    {
      says: "Couple+ leaves the coded path far below the TCP",
      holds: (m) => m.codedCouple < 0.5 * m.tcpCouple,
    },
    { says: "coding helps the path under Couple+", holds: (m) => m.codedCouple > m.codedPlain },
    { says: "the TCP loses more packets beside it", holds: (m) => m.lossLia > 10 * m.lossPlain },
    { says: "LIA sees few of the losses", holds: (m) => m.reducedLia < 0.05 * m.lostLia },
  ],
  sources: [
    {
      document:
        "K. Xue et al., Migrating Unfairness Among Subflows in MPTCP With Network Coding, IEEE TVT 2017",
      section: "Section III, Section IV, Section V-B-1",
    },
  ],
  pages: ["docs/explanation/coded-paths.md"],
});

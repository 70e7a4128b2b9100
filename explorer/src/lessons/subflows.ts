// One bottleneck and many subflows: without coupling each subflow counts as a user.

import { guide } from "./guide.ts";
import { ofPath, rate } from "./measures.ts";
import type { Case, Sample } from "./guide.ts";

/** `count` subflows over the same links. */
function opened(controller: string, count: number): Case {
  const path = '{links = ["line", "bottleneck"], back = ["back"]}';
  const paths = `[${Array.from({ length: count }, () => path).join(", ")}]`;
  return { scenario: "khalili/shared-bottleneck", controller, overrides: { "flow.multipath.path": paths } };
}

/** A connection's rate over that of a TCP beside it. */
const times = (sample: Sample): number => rate(sample, "multipath") / rate(sample, "tcp");

export const subflows = guide({
  name: "subflows",
  title: "3 · One bottleneck, many subflows",
  question:
    "A connection opens many subflows through one bottleneck. Does it get more than the TCPs beside it?",
  setting: [
    "Five multipath users and five TCP users share a link of 20 Mb/s. All paths have the same round trip. Every " +
      "subflow of a multipath user crosses the same link.",
    "Uncoupled, each subflow has the window of a TCP (Reno) of its own. LIA couples the increases of all subflows.",
  ],
  guesses: [
    {
      asks: "With four uncoupled subflows, how many times the rate of a TCP does a connection get?",
      quantity: "uncoupled4",
      min: 0,
      max: 8,
      step: 0.1,
      start: 0,
    },
    {
      asks: "With four subflows under LIA?",
      quantity: "lia4",
      min: 0,
      max: 8,
      step: 0.1,
      start: 0,
    },
  ],
  cases: {
    two: opened("uncoupled", 2),
    four: opened("uncoupled", 4),
    eight: opened("uncoupled", 8),
    twoLia: opened("lia", 2),
    fourLia: opened("lia", 4),
    eightLia: opened("lia", 8),
  },
  shown: ["four", "fourLia"],
  seeds: 5,
  quantities: {
    uncoupled2: { unit: "times", of: ({ two }) => times(two) },
    uncoupled4: { unit: "times", of: ({ four }) => times(four) },
    uncoupled8: { unit: "times", of: ({ eight }) => times(eight) },
    lia2: { unit: "times", of: ({ twoLia }) => times(twoLia) },
    lia4: { unit: "times", of: ({ fourLia }) => times(fourLia) },
    lia8: { unit: "times", of: ({ eightLia }) => times(eightLia) },
    window8: { unit: "segments", of: ({ eightLia }) => ofPath(eightLia, "multipath", 0, "cwnd_segments") },
    tcp4: { unit: "Mb/s", of: ({ four }) => rate(four, "tcp") },
    tcp4Lia: { unit: "Mb/s", of: ({ fourLia }) => rate(fourLia, "tcp") },
  },
  answer: [
    "With four uncoupled subflows a connection gets {uncoupled4} the rate of a TCP: it counts as four users. With " +
      "LIA it gets {lia4} that rate.",
    "The TCPs pay the difference. Beside four uncoupled subflows each has {tcp4}, beside LIA {tcp4Lia}; an equal " +
      "share is 2 Mb/s.",
  ],
  table: {
    caption: "Rate of a connection over that of a TCP.",
    head: ["subflows", "uncoupled", "LIA"],
    rows: [
      ["2", "{uncoupled2}", "{lia2}"],
      ["4", "{uncoupled4}", "{lia4}"],
      ["8", "{uncoupled8}", "{lia8}"],
    ],
  },
  mechanism: [
    "At a given loss probability and round trip every TCP has the same window. Uncoupled subflows are TCPs, so n " +
      "subflows take n shares.",
    "LIA adds α/w_tot for each ACK, where w_tot is the sum of the windows. With n subflows of equal window and " +
      "round trip α is 1/n. All subflows together then grow by 1/n segments per round trip, and a loss halves one " +
      "of them. The balance is a window of 1/n of a TCP's for each subflow: one TCP in all. RFC 6356 calls this " +
      "goal 2, do no harm.",
    "With eight subflows LIA takes {lia8} the rate of a TCP. Each window then has {window8}, near the floor of " +
      "two segments that LIA's ssthresh has (lesson 5).",
  ],
  statements: [
    {
      says: "n uncoupled subflows count as n users",
      holds: (m) => m.uncoupled2 > 1.7 && m.uncoupled4 > 3.4 && m.uncoupled8 > 6.8,
    },
    {
      says: "LIA takes about the rate of one TCP",
      holds: (m) => m.lia2 > 0.8 && m.lia2 < 1.25 && m.lia4 < 1.3 && m.lia8 < 1.4,
    },
    { says: "TCPs keep more beside LIA", holds: (m) => m.tcp4Lia > 1.5 * m.tcp4 },
  ],
  sources: [
    { document: "RFC 6356 (LIA)", section: "Section 2 (goal 2), Section 3 (α)" },
    { document: "draft-khalili-mptcp-performance-issues-04", section: "Section 1" },
  ],
  pages: ["docs/explanation/when-to-couple.md"],
});

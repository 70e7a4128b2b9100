// Scenarios A, B and C: users who upgrade to LIA harm others, and in A and B gain nothing.

import { guide } from "./guide.ts";
import { lossOf, rate } from "./measures.ts";

/** The proportionally fair rate of every user of scenario C (the draft's Table 3, without probing cost). */
const FAIR_BPS = 1e6;

export const harm = guide({
  name: "harm",
  title: "1 · LIA: an upgrade that harms others",
  question:
    "Users with one path upgrade to Multipath TCP with LIA and add a second path. Who gains, and who pays?",
  setting: [
    "Scenario C: ten multipath users have an access point of 10 Mb/s of their own. They add a path through a " +
      "second one of 10 Mb/s, which ten TCP users depend on.",
    "Scenario A: ten type 1 users share the 10 Mb/s of a server's link. They add a path through an access point " +
      "of 10 Mb/s, which ten type 2 users depend on. The new path ends at the same server, and crosses its link " +
      "too.",
    "Scenario B: fifteen Blue users have one path through provider X (27 Mb/s) and one through provider T (36 " +
      "Mb/s). Fifteen Red users have T alone. They add a path through X and T.",
  ],
  guesses: [
    {
      asks: "Before the upgrade, a single-path user of scenario C has nearly 1 Mb/s. What does one get after it?",
      quantity: "singleAfter",
      min: 0,
      max: 1.2,
      step: 0.01,
      start: 1,
      published: { value: 0.68, source: "draft-khalili, Table 3" },
    },
    {
      asks: "By how much does the upgrade change the rate of a type 1 user of scenario A, who makes it?",
      quantity: "type1Change",
      min: -50,
      max: 100,
      step: 1,
      start: 30,
      published: { value: -2, source: "0.98 and 0.96 Mb/s in draft-khalili, Table 1", as: "derived" },
    },
  ],
  cases: {
    aBefore: { scenario: "khalili/scenario-a-before", controller: null },
    aAfter: { scenario: "khalili/scenario-a", controller: "lia" },
    bBefore: { scenario: "khalili/scenario-b-before", controller: "lia" },
    bAfter: { scenario: "khalili/scenario-b", controller: "lia" },
    cBefore: { scenario: "khalili/scenario-c-before", controller: null },
    cAfter: { scenario: "khalili/scenario-c", controller: "lia" },
  },
  shown: ["cAfter"],
  seeds: 3,
  quantities: {
    multiBefore: { unit: "Mb/s", of: ({ cBefore }) => rate(cBefore, "multipath") },
    multiAfter: { unit: "Mb/s", of: ({ cAfter }) => rate(cAfter, "multipath") },
    singleBefore: { unit: "Mb/s", of: ({ cBefore }) => rate(cBefore, "single-path") },
    singleAfter: { unit: "Mb/s", of: ({ cAfter }) => rate(cAfter, "single-path") },
    type1Before: { unit: "Mb/s", of: ({ aBefore }) => rate(aBefore, "type1") },
    type1After: { unit: "Mb/s", of: ({ aAfter }) => rate(aAfter, "type1") },
    type2Before: { unit: "Mb/s", of: ({ aBefore }) => rate(aBefore, "type2") },
    type2After: { unit: "Mb/s", of: ({ aAfter }) => rate(aAfter, "type2") },
    redBefore: { unit: "Mb/s", of: ({ bBefore }) => rate(bBefore, "red") },
    redAfter: { unit: "Mb/s", of: ({ bAfter }) => rate(bAfter, "red") },
    blueBefore: { unit: "Mb/s", of: ({ bBefore }) => rate(bBefore, "blue") },
    blueAfter: { unit: "Mb/s", of: ({ bAfter }) => rate(bAfter, "blue") },
    type1Change: {
      unit: "%",
      signed: true,
      of: ({ aBefore, aAfter }) => rate(aAfter, "type1") / rate(aBefore, "type1") - 1,
    },
    type2Change: {
      unit: "%",
      signed: true,
      of: ({ aBefore, aAfter }) => rate(aAfter, "type2") / rate(aBefore, "type2") - 1,
    },
    redChange: {
      unit: "%",
      signed: true,
      of: ({ bBefore, bAfter }) => rate(bAfter, "red") / rate(bBefore, "red") - 1,
    },
    blueChange: {
      unit: "%",
      signed: true,
      of: ({ bBefore, bAfter }) => rate(bAfter, "blue") / rate(bBefore, "blue") - 1,
    },
    lossOwn: { unit: "%", of: ({ cAfter }) => lossOf(cAfter, "ap1") },
    lossShared: { unit: "%", of: ({ cAfter }) => lossOf(cAfter, "ap2") },
  },
  answer: [
    "In scenario C a single-path user gets {singleAfter} instead of {singleBefore}, and a multipath user takes " +
      "{multiAfter}. The proportionally fair rate of everybody is 1 Mb/s: this is problem P2, users of LIA who take " +
      "more than a fair share.",
    "In scenario A the upgrade changes the rate of type 2 users by {type2Change}, and of type 1 users, who make " +
      "it, by {type1Change}. In scenario B it changes that of Blue users by {blueChange}, and of Red users, who " +
      "make it, by {redChange}. Others lose, and those who upgrade gain next to nothing: this is problem P1.",
  ],
  table: {
    caption: "Mb/s per user before and after the upgrade; published: draft-khalili, Tables 1 to 3.",
    head: ["users", "before", "after", "published"],
    rows: [
      ["C: multipath, upgrade", "{multiBefore}", "{multiAfter}", "– → 1.3"],
      ["C: single-path", "{singleBefore}", "{singleAfter}", "– → 0.68"],
      ["A: type 1, upgrade", "{type1Before}", "{type1After}", "0.98 → 0.96"],
      ["A: type 2", "{type2Before}", "{type2After}", "0.98 → 0.70"],
      ["B: Red, upgrade", "{redBefore}", "{redAfter}", "1.5 → 1.4"],
      ["B: Blue", "{blueBefore}", "{blueAfter}", "2.5 → 2.0"],
    ],
  },
  mechanism: [
    "LIA keeps the windows of its paths in inverse proportion to their loss probabilities. A path that loses " +
      "twice as many packets still has half the window. In scenario C the shared access point loses {lossShared} of " +
      "its packets and the multipath users' own {lossOwn}, and they go on sending through both. An optimal " +
      "algorithm would send on the path of least loss alone.",
    "In scenario A the server's link limits type 1 users whatever path they use. A packet that takes the new path " +
      "gains them nothing, and takes capacity of the access point. In scenario B a packet on Red's new path crosses " +
      "both scarce links, X and T, so all users together get less than before.",
  ],
  statements: [
    {
      says: "the upgrade in scenario A is problem P1",
      holds: (m) => ({ p1: [m.type2Before, m.type2After, m.type1Before, m.type1After] }),
    },
    {
      says: "the upgrade in scenario B is problem P1",
      holds: (m) => ({ p1: [m.blueBefore, m.blueAfter, m.redBefore, m.redAfter] }),
    },
    {
      says: "scenario C is problem P2",
      holds: (m) => ({ p2: [m.multiAfter, m.singleAfter, FAIR_BPS, FAIR_BPS] }),
    },
    { says: "the shared access point loses more packets", holds: (m) => m.lossShared > 1.5 * m.lossOwn },
    {
      says: "all users of scenario B together get less than before",
      holds: (m) => m.redAfter + m.blueAfter < m.redBefore + m.blueBefore,
    },
  ],
  sources: [
    {
      document: "draft-khalili-mptcp-performance-issues-04",
      section: "Section 1 (P1, P2), Section 2, Sections 4 to 6",
    },
    { document: "RFC 6356 (LIA)", section: "Section 3" },
  ],
  pages: ["docs/explanation/measured-on-linux.md", "docs/reference/claims.md"],
});

// Which users a plan has, and which of them definitions and theory know.

import type { Class, Plan } from "./engine.ts";

/** Part of a run after which users are late. */
const LATE = 0.05;

/** Classes that have users. */
export function present(plan: Plan): Class[] {
  return plan.classes.filter((cls) => cls.count > 0);
}

/** Classes of several paths, and all others. */
export function split(classes: readonly Class[]): { several: Class[]; others: Class[] } {
  const several = classes.filter((cls) => cls.protocol === "tcp" && cls.paths.length > 1);
  return { several, others: classes.filter((cls) => !several.includes(cls)) };
}

/** Whether users always have data and adapt to the network: theory, P1 and P2 know no others. */
export function endless(cls: Class): boolean {
  return cls.protocol === "tcp" && !cls.app_rate_bps && !finite(cls) && !cls.pauses;
}

/** Whether users send so many bytes and end. */
export function finite(cls: Class): boolean {
  return Boolean(cls.transfer_bytes) || Boolean(cls.sizes);
}

/** Whether a class and its paths are there for all that is measured: the optimum knows no other users. */
export function throughout(plan: Plan, cls: Class): boolean {
  const there = cls.paths.every((path) => path.leave_s === null && path.join_s <= plan.warmup_s);
  return there && cls.start_s + cls.spread_s <= Math.max(plan.warmup_s, plan.duration_s * LATE);
}

/** The classes whose controller `-c` replaces. */
export function governed(plan: Plan): Class[] {
  const tcp = plan.classes.filter((cls) => cls.protocol === "tcp");
  const subjects = tcp.filter((cls) => cls.subject);
  const several = tcp.filter((cls) => cls.paths.length > 1);
  return [subjects, several, tcp].find((classes) => classes.length > 0) ?? [];
}

/** The controller of the governed classes. */
export function labelOf(plan: Plan): string {
  return [...new Set(governed(plan).map((cls) => cls.controller))].join(" and ") || "UDP";
}

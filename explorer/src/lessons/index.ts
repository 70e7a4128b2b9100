// The lessons, in the order in which they are offered.

import { coding } from "./coding.ts";
import { flappiness } from "./flappiness.ts";
import { floor } from "./floor.ts";
import { guided } from "./guided.ts";
import { harm } from "./harm.ts";
import { overridesIn } from "./guide.ts";
import { remedy } from "./remedy.ts";
import { subflows } from "./subflows.ts";
import { uplink } from "./uplink.ts";
import type { Lesson } from "../lesson.ts";

export const guides = [harm, remedy, subflows, flappiness, floor, uplink, coding];

export const lessons: Lesson[] = guides.map(guided);

/** Scenario, controller (empty: the scenario's own) and overrides of every configuration that a lesson runs. */
export const asks: [scenario: string, controller: string, overrides: string[]][] = guides.flatMap((one) =>
  Object.values(one.cases).map((of): [string, string, string[]] => [
    of.scenario,
    of.controller ?? "",
    overridesIn(of),
  ]),
);

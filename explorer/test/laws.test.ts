import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { test } from "node:test";
import { shippedLaws } from "../src/laws.ts";

test("every law of the package is a template", () => {
  const files = readdirSync(new URL("../../../python/anabranch/laws", import.meta.url));
  const laws = files.filter((file) => file.endsWith(".law")).sort();
  assert.ok(laws.includes("gentle.law")); // the one that a new law begins with
  assert.deepEqual(
    shippedLaws.map(({ name }) => `${name}.law`),
    laws,
  );
  for (const { name, text } of shippedLaws) assert.ok(text.length > 0, name);
});

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import test from "node:test";
import { command, quoted } from "../src/command.ts";
import { initial } from "../src/state.ts";

test("a run is repeated by its controller, overrides and seeds", () => {
  const state = initial("khalili/scenario-c");
  state.a = "olia";
  state.overrides["link.ap1.rate"] = '"5 Mb/s"';
  state.replications = 10;
  const expected = `anabranch run khalili/scenario-c -c olia --seed 1 --repeat 10 --set 'link.ap1.rate="5 Mb/s"'`;
  assert.equal(command(state, ["olia"]), expected);
});

test("two controllers are compared; the scenario's own has its name", () => {
  const state = initial("khalili/scenario-c");
  state.b = "olia";
  const expected = "anabranch compare khalili/scenario-c --controllers lia,olia --seed 1 --repeat 1";
  assert.equal(command(state, ["lia", "olia"]), expected);
});

test("classes whose own controllers differ are run, not compared", () => {
  const state = initial("x");
  state.b = "olia";
  assert.deepEqual(command(state, ["lia and reno", "olia"]).split("\n"), [
    "anabranch run x --seed 1 --repeat 1",
    "anabranch run x -c olia --seed 1 --repeat 1",
  ]);
});

test("texts become files of the same bytes, whatever is in them", () => {
  const state = initial("../evil name; rm -rf ~");
  state.text = 'name = "x"\n$(touch y) `z`\nEND\nEND_\n\\ \'"';
  state.a = "growth = 1/w\nbackoff = w/2\n";
  const lines = command(state, ["my law"]).replace(/^anabranch .*/m, 'cat "$1" "$2"');
  assert.match(
    command(state, ["my law"]),
    /anabranch run evil-name-rm--rf-\.toml -c my-law\.law --seed 1 --repeat 1$/,
  );
  const folder = execFileSync("mktemp", ["-d"], { encoding: "utf8" }).trim();
  const printed = execFileSync("sh", ["-c", lines, "sh", "evil-name-rm--rf-.toml", "my-law.law"], {
    cwd: folder,
    encoding: "utf8",
  });
  assert.equal(printed, `${state.text}\n${state.a}`);
});

test("a word for the shell is quoted where it must be", () => {
  assert.equal(quoted("a-b/c.d"), "a-b/c.d");
  assert.equal(quoted("it's $x"), "'it'\\''s $x'");
});

test("a scenario of a link is no option, and no word of it is a command", () => {
  const state = initial("--help; touch x");
  state.a = "-c\nx";
  assert.equal(
    command(state, ["-rf x"]).split("\n").at(-1),
    "anabranch run './--help; touch x' -c rf-x.law --seed 1 --repeat 1",
  );
  state.a = "--json=x";
  assert.match(command(state, [""]), / -c \.\/--json=x --seed/);
});

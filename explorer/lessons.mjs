// Prints, as JSON, the configurations that the lessons run: [scenario, controller, overrides] each.
// `python -m anabranch.explorer.data FILE ASKS` computes theory for them.

import { build } from "esbuild";
import { fileURLToPath } from "node:url";

const entry = fileURLToPath(new URL("src/lessons/index.ts", import.meta.url));
const { outputFiles } = await build({ entryPoints: [entry], bundle: true, format: "esm", write: false });
const source = Buffer.from(outputFiles[0].contents).toString("base64");
const { asks } = await import(`data:text/javascript;base64,${source}`);
console.log(JSON.stringify(asks));

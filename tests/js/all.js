/** All tests in one process: the engine then writes its traces once. A single file runs with `node --test` as well. */

import { readdirSync } from "node:fs";

const here = new URL(".", import.meta.url);
for (const name of readdirSync(here)) if (name.endsWith(".test.js")) await import(new URL(name, here).href);

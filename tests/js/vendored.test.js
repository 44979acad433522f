import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const here = (/** @type {string} */ path) => fileURLToPath(new URL(`../../${path}`, import.meta.url));
const read = (/** @type {string} */ path) => readFileSync(here(path), "utf-8");

test("the editor's bundle is what `npm run vendor:editor` makes of the packages in the lock file", () => {
  const [tool, ...all] = JSON.parse(read("package.json")).scripts["vendor:editor"].split(" ");
  const arguments_ = all.filter((/** @type {string} */ one) => !one.startsWith("--outfile="));
  const made = execFileSync(here(`node_modules/.bin/${tool}`), arguments_, {
    cwd: here("."),
    encoding: "utf-8",
    maxBuffer: 1e7,
  });
  assert.ok(made === read("static/codemirror/codemirror.js"), "run npm run vendor:editor, and renew ORIGIN.md");
});

test("each package in the bundle is named with its version, and its licence stands there", () => {
  const { packages } = JSON.parse(read("package-lock.json"));
  const named = [...read("static/codemirror/ORIGIN.md").matchAll(/((?:@[\w-]+\/)?[\w-]+) (\d+\.\d+\.\d+)/g)];
  assert.ok(named.length > 10);
  const licence = read("static/codemirror/LICENSE");
  for (const [, name, version] of named) {
    assert.equal(packages[`node_modules/${name}`].version, version);
    assert.ok(name === "esbuild" || licence.includes(name), name);
  }
});

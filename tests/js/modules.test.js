import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

import { traces } from "./traces.js";

const STATIC = fileURLToPath(new URL("../../static/", import.meta.url));

/** @param {(folder: string) => void} work */
function inFolder(work) {
  const folder = mkdtempSync(join(tmpdir(), "tensor-ops-lab-"));
  try {
    work(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

test("no module touches the page before it is asked to", async () => {
  const folders = ["player", "charts", "network", "digit_pad", "grids", "practice", "program", "page"];
  const files = folders.flatMap((folder) =>
    readdirSync(join(STATIC, folder)).map((name) => join(STATIC, folder, name)),
  );
  const modules = files.filter((name) => name.endsWith(".js"));
  assert.ok(modules.length > 40);
  for (const name of modules) await import(name);
});

test("the modules make one script for a page to take away: no name stands for two things", () => {
  const script = /<script type="module">(.*?)<\/script>/s.exec(traces.page)?.[1] ?? assert.fail();
  assert.ok(!/^(import|export) /m.test(script));
  inFolder((folder) => {
    writeFileSync(join(folder, "page.mjs"), script);
    execFileSync(process.execPath, ["--check", join(folder, "page.mjs")], { stdio: "pipe" });
  });
});

test("the types say what Python sends, no more and no less", () => {
  const tsc = fileURLToPath(new URL("../../node_modules/typescript/bin/tsc", import.meta.url));
  const data = [...Object.values(traces.named), ...traces.operations.map((example) => example.data)];
  inFolder((folder) => {
    const types = JSON.stringify(join(STATIC, "types.d.ts"));
    const lines = [
      `import type { TraceData } from ${types};`,
      `export const data: TraceData[] = ${JSON.stringify(data)};`,
    ];
    writeFileSync(join(folder, "data.ts"), lines.join("\n"));
    const options = ["--ignoreConfig", "--noEmit", "--strict", "--skipLibCheck"];
    try {
      execFileSync(process.execPath, [tsc, ...options, join(folder, "data.ts")], { encoding: "utf8" });
    } catch (error) {
      assert.fail(/** @type {{stdout: string}} */ (error).stdout.slice(0, 2000));
    }
  });
});

/** A program in an address: what the page reads back is what was packed. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { inflateRawSync } from "node:zlib";
import { packed } from "../../static/program/packed.js";

test("a program is packed so that an address can carry it", async () => {
  const text = `# ∂ and ü\n${"x = x * 2\n".repeat(390)}`;
  const code = await packed(text);
  assert.match(code, /^[\w-]+$/);
  assert.equal(inflateRawSync(Buffer.from(code, "base64url")).toString(), text);
  assert.ok(code.length < 200);
});

/** What tsc reads in place of the bundle. */

export * from "./source.js";

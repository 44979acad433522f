/** Moves the texts of the courses between browsers in a progress file. */

import { Draft } from "./draft.js";

/** @import { Work } from "../progress/file.js" */

const NOTE = "from a progress file";

/** Return the texts to save, for each course with a text. @param {string[]} courses keys of courses
 * @param {(course: string) => Draft} draftOf @returns {Record<string, Work>} */
export function textsToSave(courses, draftOf = (course) => new Draft(course)) {
  /** @type {Record<string, Work>} */
  const found = {};
  for (const course of courses) {
    const draft = draftOf(course);
    const maxPassed = Math.max(0, ...draft.copies().map(({ passed }) => passed));
    const best = draft.copies().findLast(({ passed }) => passed && passed === maxPassed)?.text;
    const text = draft.text() ?? best;
    if (text !== undefined) found[course] = { text, best: best ?? text, passed: maxPassed };
  }
  return found;
}

/** Take the texts of a file. If this browser has a text of the course, the one from the file becomes a copy of it.
 * @param {Record<string, Work>} texts @param {{key: string, title: string}[]} courses
 * @param {(course: string) => Draft} draftOf
 * @returns {{brought: string[], copied: string[]}} titles: the text is here, a copy is here */
export function bringTexts(texts, courses, draftOf = (course) => new Draft(course)) {
  /** @type {{brought: string[], copied: string[]}} */
  const done = { brought: [], copied: [] };
  for (const { key, title } of courses.filter((course) => course.key in texts)) {
    const { text, best, passed } = texts[key];
    const draft = draftOf(key);
    const here = draft.text();
    const there = new Set(draft.copies().map((copy) => copy.text));
    if (here === null) draft.write(text);
    else if (here !== text && !there.has(text)) draft.copy({ text, note: NOTE, passed: best === text ? passed : 0 });
    if (passed && !draft.copies().some((copy) => copy.text === best && copy.passed === passed))
      draft.copy({ text: best, note: NOTE, passed });
    (here === null || here === text ? done.brought : done.copied).push(title);
  }
  return done;
}

/** The texts of the courses, as a file of progress carries them from one browser to another. */

import { Draft } from "./draft.js";

/** @import { Work } from "../progress/file.js" */

const NOTE = "from a file of progress";

/** @param {string[]} courses keys @param {(course: string) => Draft} draftOf
 * @returns {Record<string, Work>} of each course in which something was written */
export function textsToSave(courses, draftOf = (course) => new Draft(course)) {
  /** @type {Record<string, Work>} */
  const found = {};
  for (const course of courses) {
    const draft = draftOf(course);
    const most = Math.max(0, ...draft.copies().map(({ passed }) => passed));
    const best = draft.copies().findLast(({ passed }) => passed && passed === most)?.text;
    const text = draft.text() ?? best;
    if (text !== undefined) found[course] = { text, best: best ?? text, passed: most };
  }
  return found;
}

/** Take the texts of a file. One that is written here stays as it is: that of the file is then among its copies.
 * @param {Record<string, Work>} texts @param {{key: string, title: string}[]} courses
 * @param {(course: string) => Draft} draftOf
 * @returns {{brought: string[], apart: string[]}} titles: of what is here now, and of what is among the copies */
export function bringTexts(texts, courses, draftOf = (course) => new Draft(course)) {
  /** @type {{brought: string[], apart: string[]}} */
  const done = { brought: [], apart: [] };
  for (const { key, title } of courses.filter((course) => course.key in texts)) {
    const { text, best, passed } = texts[key];
    const draft = draftOf(key);
    const here = draft.text();
    const there = new Set(draft.copies().map((copy) => copy.text));
    // A tab that has this course open learns by the clock that the text is a later one.
    if (here === null) draft.write(text, { [`file ${Date.now()}`]: 1 }, "file");
    else if (here !== text && !there.has(text)) draft.copy({ text, note: NOTE, passed: best === text ? passed : 0 });
    if (passed && !draft.copies().some((copy) => copy.text === best && copy.passed === passed))
      draft.copy({ text: best, note: NOTE, passed });
    (here === null || here === text ? done.brought : done.apart).push(title);
  }
  return done;
}

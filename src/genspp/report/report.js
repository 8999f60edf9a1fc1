"use strict";
(() => {
{% include "parts.js" %}
  const { classes, runs, rows } = DATA;
  const AT_ONCE = 50;
  const LEAD = 200; // per mille between the two likeliest classes, below which an answer is unsure
  const pairs = (flat) => Array.from({ length: flat.length / 2 }, (_, i) => [flat[2 * i], flat[2 * i + 1]]);

  const texts = rows.map(([id, text, gold, people, answers]) => ({
    id, text, gold,
    lower: text.toLowerCase(),
    people: people && pairs(people),
    answers: answers.map(([label, shares, stretches, unknown]) => ({
      label,
      right: label === gold,
      shares: pairs(shares),
      stretches: stretches.map((flat) => [flat[0], flat[flat.length - 1]]),
      words: new Set(stretches.flatMap(pairs).map(([start, end]) => text.slice(start, end).toLowerCase())),
      unknown: pairs(unknown),
    })),
  }));

  const lead = ({ shares }) => {
    const [first, second = 0] = shares.map(([, share]) => share).sort((a, b) => b - a);
    return first - second;
  };
  const KINDS = {
    all: () => true,
    right: ({ answers: [one] }) => one.right,
    wrong: ({ answers: [one] }) => !one.right,
    unsure: ({ answers: [one] }) => lead(one) < LEAD,
    empty: ({ answers: [one] }) => !one.stretches.length,
    differ: ({ answers: [one, other] }) => one.label !== other.label,
    first: ({ answers: [one, other] }) => one.right && !other.right,
    second: ({ answers: [one, other] }) => !one.right && other.right,
    both: ({ answers: [one, other] }) => one.right && other.right,
    neither: ({ answers: [one, other] }) => !one.right && !other.right,
    marks: ({ answers: [one, other] }) => String(one.stretches) !== String(other.stretches),
  };

  // Cut a stretch of a text into those inside and outside of the spans, which are in order.
  const cut = (from, to, spans) => {
    const found = [];
    for (const span of spans) {
      const start = Math.max(from, span[0]), end = Math.min(to, span[1]);
      if (start >= end) continue;
      if (from < start) found.push([from, start, false]);
      found.push([start, end, true]);
      from = end;
    }
    if (from < to) found.push([from, to, false]);
    return found;
  };

  const marked = (text, answer) => {
    const shown = element("p", "text");
    shown.dir = "auto";
    for (const [start, end, chosen] of cut(0, text.text.length, answer.stretches)) {
      const stretch = chosen ? element("mark") : document.createDocumentFragment();
      for (const [a, b, gold] of cut(start, end, text.people || [])) {
        for (const [c, d, unknown] of cut(a, b, answer.unknown)) {
          const names = [gold ? "gold" : "", unknown ? "unknown" : ""].join(" ").trim();
          stretch.append(names ? element("span", names, text.text.slice(c, d)) : text.text.slice(c, d));
        }
      }
      shown.append(stretch);
    }
    return shown;
  };

  const answered = (text, answer, number) => {
    const shown = element("div", "answer"), side = element("div"), said = element("p", "said");
    if (runs.length > 1) said.append(element("span", "soft", `${runs[number]}: `));
    said.append(element("span", answer.right ? "yes" : "no", `${answer.right ? "✓" : "✗"} ${classes[answer.label]}`));
    if (!answer.right) said.append(` (is ${classes[text.gold]})`);
    const shares = element("div", "shares");
    shares.append(...bars(answer.shares.map(([label, share]) => [classes[label], share / 10, label === answer.label]), 0));
    side.append(said, shares);
    shown.append(marked(text, answer), side);
    if (!answer.stretches.length) shown.append(element("p", "note", NOTHING));
    return shown;
  };

  const row = (text) => {
    const shown = element("li");
    shown.append(element("p", "id", `row ${text.id}`), ...text.answers.map((answer, number) => answered(text, answer, number)));
    return shown;
  };

  const list = byId("rows"), more = byId("more"), count = byId("count");
  const filters = { show: byId("show"), gold: byId("gold"), given: byId("given"), word: byId("word"), marked: byId("marked") };
  let found = [], shown = 0;

  const showMore = () => {
    const next = found.slice(shown, shown + AT_ONCE);
    list.append(...next.map(row));
    shown += next.length;
    more.hidden = shown >= found.length;
    const below = more.hidden ? "" : `; the first ${shown.toLocaleString("en")} are shown`;
    count.textContent = `${found.length.toLocaleString("en")} of ${texts.length.toLocaleString("en")} texts${below}`;
    more.textContent = `Show ${Math.min(AT_ONCE, found.length - shown)} more of ${found.length - shown}`;
  };

  const filter = () => {
    const kind = KINDS[filters.show.value], word = filters.word.value.trim().toLowerCase();
    const { gold, given } = filters, inMarks = filters.marked.checked;
    found = texts.filter((text) =>
      kind(text) &&
      (gold.value === "" || text.gold === Number(gold.value)) &&
      (given.value === "" || text.answers.some((answer) => answer.label === Number(given.value))) &&
      (!word || (inMarks ? text.answers.some((answer) => answer.words.has(word)) : text.lower.includes(word))));
    list.replaceChildren();
    shown = 0;
    showMore();
  };

  const set = ({ show = "all", gold = "", given = "", word = "" }) => {
    Object.assign(filters.show, { value: show });
    Object.assign(filters.gold, { value: gold });
    Object.assign(filters.given, { value: given });
    Object.assign(filters.word, { value: word });
    filters.marked.checked = Boolean(word);
    filter();
  };

  byId("controls").addEventListener("input", filter);
  byId("clear").addEventListener("click", () => set({}));
  more.addEventListener("click", showMore);
  document.addEventListener("click", ({ target }) => {
    const chosen = target.closest("[data-filter]");
    if (!chosen) return;
    set(chosen.dataset);
    byId("browse").scrollIntoView();
  });
  filter();
})();

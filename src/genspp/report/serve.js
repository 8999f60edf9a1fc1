"use strict";
(() => {
{% include "parts.js" %}
  const { classes, limits } = DATA;
  const STEERING = new RegExp(DATA.steering, "gu");
  const PAUSE = 200; // milliseconds without a key, after which a text is taken for typed
  const list = byId("cards"), addButton = byId("add"), state = byId("state");
  const harmless = (text) => text.replace(STEERING, "\ufffd");
  const hide = (shown, hidden) => { shown.hidden = hidden; };

  // In the order of the page. own: what the model says of `text`; mask: the reader's marks, null where they are the
  // model's; answer: what was said last; stale: whether that is to be asked.
  const cards = [];
  let asking = false, timer = 0;

  const typedIn = (card) => card.input.value.toWellFormed();
  const linesOf = (card) => typedIn(card).split("\n").filter((line) => line.trim());

  // ------------------------------------------------------------------ what a card shows

  const layWords = (card) => {
    const { text, own: { tokens, unknown } } = card, strange = new Set(unknown), shown = card.part(".text");
    let at = 0;
    shown.replaceChildren();
    shown.dir = getComputedStyle(card.input).direction; // as it is typed
    card.words = tokens.map((token, number) => {
      // A button by its role: an element that is one by its name would let no line wrap as the text's own do.
      const start = text.indexOf(token, at), word = element("span", "word", harmless(token));
      word.setAttribute("role", "button");
      word.tabIndex = number ? -1 : 0; // one stop for Tab in every text; arrow keys go on from there
      if (strange.has(number)) {
        word.classList.add("unknown");
        word.title = "unknown to the classifier";
      }
      shown.append(harmless(text.slice(at, start)), word);
      at = start + token.length;
      return word;
    });
    shown.append(harmless(text.slice(at)));
  };

  const paintMarks = (card) => {
    const mask = card.mask ?? card.own.mask;
    card.words.forEach((word, number) => {
      word.setAttribute("aria-pressed", String(Boolean(mask[number])));
      word.classList.toggle("dropped", Boolean(card.own.mask[number] && !mask[number]));
    });
  };

  const paintDecision = (card) => {
    const { answer, own } = card, label = String(answer.label);
    const [shares, unread, yours] = [".shares", ".unread", ".yours"].map(card.part);
    card.part(".said").replaceChildren("decides ", element("b", "", harmless(label)));
    const rows = classes.map((name) => [harmless(name), 100 * answer.probabilities[name], name === label]);
    shares.replaceChildren(...bars(rows, 1));
    shares.scrollTop = shares.querySelector(".own").offsetTop - shares.offsetTop - shares.clientHeight / 2;
    hide(card.part(".nothing"), !answer.no_evidence);
    hide(unread, !answer.unread);
    unread.textContent = `Of this text, the first ${answer.tokens.length} words are read.`;
    hide(yours, card.mask === null);
    yours.firstElementChild.textContent =
      `These are your marks, not the model’s. From its own it decides ${harmless(String(own.label))}.`;
  };

  const paintFault = (card, sentence) => {
    const fault = card.part(".fault");
    fault.textContent = harmless(sentence);
    hide(fault, !sentence);
  };

  const paintTools = () => {
    addButton.disabled = cards.length >= limits.texts;
    cards.forEach((card, number) => {
      card.part(".typed span").textContent = `Text ${number + 1}`;
      card.part(".text").setAttribute("aria-label", `Words of text ${number + 1}`);
      const lines = linesOf(card).length, split = card.part(".split");
      hide(split, lines < 2);
      split.disabled = cards.length - 1 + lines > limits.texts;
      split.textContent = split.disabled ?
        `${lines} lines: a page holds ${limits.texts} texts at most` : `Make ${lines} texts of it, one per line`;
      hide(card.part(".remove"), cards.length < 2);
    });
  };

  // ------------------------------------------------------------------ asking

  const wait = (seconds) => new Promise((resolve) => { setTimeout(resolve, 1000 * seconds); });

  const take = (card, question, answer) => {
    if (question.text !== typedIn(card) || question.mask !== card.mask) return; // it is being asked again
    card.stale = false;
    card.shown.classList.remove("waiting");
    paintFault(card, "");
    card.answer = answer;
    if (question.mask === null && (card.text !== question.text || !card.own)) {
      Object.assign(card, { text: question.text, own: answer });
      layWords(card);
    }
    paintMarks(card);
    paintDecision(card);
    hide(card.part(".answer"), false);
  };

  const refuse = (card, question, sentence) => {
    if (question.text !== typedIn(card) || question.mask !== card.mask) return;
    Object.assign(card, { stale: false, text: null, own: null, mask: null });
    card.shown.classList.remove("waiting");
    paintFault(card, sentence);
    hide(card.part(".answer"), true);
  };

  const ask = async (asked) => {
    const questions = asked.map((card) => ({ text: typedIn(card), mask: card.mask }));
    const body = JSON.stringify({ texts: questions.map(({ text }) => text), masks: questions.map(({ mask }) => mask) });
    const response = await fetch("explain", { method: "POST", headers: { "Content-Type": "application/json" }, body });
    const answers = await response.json();
    if (response.ok) {
      asked.forEach((card, number) => take(card, questions[number], answers[number]));
    } else if (response.status === 429) {
      state.textContent = "The server is busy; a moment.";
      await wait(Number(response.headers.get("Retry-After")) || 1);
    } else if (asked.length > 1) { // one of them is at fault, and the others are not
      for (const card of asked) await ask([card]);
    } else {
      refuse(asked[0], questions[0], answers.error);
    }
  };

  // One request at a time, with all that has changed; what changes meanwhile is in the next.
  const askStale = async () => {
    if (asking) return;
    asking = true;
    try {
      for (let stale; (stale = cards.filter((card) => card.stale)).length;) {
        await ask(stale);
        if (!stale.some((card) => card.stale)) state.textContent = "";
      }
    } catch {
      state.textContent = "The server does not answer; is genspp serve still running?";
    } finally {
      asking = false;
    }
  };

  // ------------------------------------------------------------------ what readers do

  const typed = (card) => {
    card.mask = null; // marks are of words that may be gone
    card.stale = Boolean(typedIn(card).trim());
    card.shown.classList.toggle("waiting", card.stale);
    if (!card.stale) {
      paintFault(card, "");
      hide(card.part(".answer"), true);
    }
    paintTools();
    clearTimeout(timer);
    timer = setTimeout(askStale, PAUSE);
  };

  const mark = (card, mask) => {
    if (card.text !== typedIn(card)) return; // these words are about to be replaced
    card.mask = mask.every((bit, number) => bit === card.own.mask[number]) ? null : mask;
    card.stale = true;
    paintMarks(card);
    askStale();
  };

  const flip = (card, number) =>
    mark(card, (card.mask ?? card.own.mask).map((bit, other) => (other === number ? 1 - bit : bit)));

  const press = (card, event) => {
    const at = card.words.indexOf(document.activeElement), last = card.words.length - 1;
    const onwards = getComputedStyle(card.part(".text")).direction === "rtl" ? -1 : 1;
    const goals = { ArrowRight: at + onwards, ArrowLeft: at - onwards, Home: 0, End: last };
    const goal = card.words[goals[event.key]], flips = event.key === " " || event.key === "Enter";
    if (at < 0 || !(goal || flips) || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    if (flips) {
      if (!event.repeat) flip(card, at);
      return;
    }
    card.words[at].tabIndex = -1;
    goal.tabIndex = 0;
    goal.focus();
  };

  const remove = (card) => {
    const at = cards.indexOf(card);
    cards.splice(at, 1);
    card.shown.remove();
    paintTools();
    cards[Math.min(at, cards.length - 1)].input.focus();
  };

  const split = (card) => {
    const [first, ...others] = linesOf(card), at = cards.indexOf(card);
    card.input.value = first;
    others.forEach((line, number) => typed(add(line, at + 1 + number)));
    typed(card);
  };

  const add = (text, at) => {
    const shown = byId("card").content.firstElementChild.cloneNode(true);
    const card = { shown, part: (selector) => shown.querySelector(selector), text: null, own: null, mask: null, stale: false };
    card.input = card.part("textarea");
    card.input.value = text;
    card.input.maxLength = limits.characters;
    card.part(".nothing").textContent = NOTHING;
    card.input.addEventListener("input", () => typed(card));
    card.part(".text").addEventListener("keydown", (event) => press(card, event));
    card.part(".text").addEventListener("click", ({ target }) => {
      const number = card.words.indexOf(target);
      if (number >= 0) flip(card, number);
    });
    card.part(".reset").addEventListener("click", () => {
      mark(card, card.own.mask);
      card.words.find((word) => !word.tabIndex).focus(); // the button goes away
    });
    card.part(".remove").addEventListener("click", () => remove(card));
    card.part(".split").addEventListener("click", () => split(card));
    list.insertBefore(shown, list.children[at] ?? null);
    cards.splice(at, 0, card);
    paintTools();
    return card;
  };

  addButton.addEventListener("click", () => add("", cards.length).input.focus());
  add("", 0).input.focus();
})();

"""Which words decide for each class: what is marked in the texts that are given it, counted."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

from genspp.data.tokenize import Span, Tokenizer
from genspp.evaluation.metrics import runs
from genspp.model.rationale import Rationale

MOST = 12  # words shown of a class
AROUND = 40  # characters of an example on either side of the word


def marked_stretches(rationale: Rationale, tokenizer: str) -> list[list[Span]]:
    """Return every stretch of marked tokens as the spans of its words; of characters, a stretch is one word."""
    spans = rationale.document.spans
    stretches = [list(spans[start:end]) for start, end in runs(rationale.mask).tolist()]
    if tokenizer == "characters":
        return [[(stretch[0][0], stretch[-1][1])] for stretch in stretches]
    return stretches


def deciding_words(rationales: Sequence[Rationale], classes: Sequence[str], tokenizer: str) -> list[dict[str, Any]]:
    """Return for every class the words that are marked most often in the texts given it.

    texts: in how many of these it is marked. right: the share of them that have the class. example: the first of
    them, one that is right if there is one, around the word. A word of None is that nothing is marked.
    """
    seen: dict[str, dict[str | None, list[tuple[Rationale, Span]]]] = {name: defaultdict(list) for name in classes}
    for rationale in rationales:
        for word, span in _marked_words(rationale, tokenizer):
            seen[str(rationale.label)][word].append((rationale, span))
    most = max((len(texts) for words in seen.values() for texts in words.values()), default=1)
    found = []
    for name in classes:
        ranked = sorted(seen[name].items(), key=lambda pair: (-len(pair[1]), pair[0] or ""))
        given = sum(str(rationale.label) == name for rationale in rationales)
        words = [_word(word, texts, most) for word, texts in ranked[:MOST]]
        found.append({"name": name, "given": given, "words": words, "more": max(0, len(ranked) - MOST)})
    return found


def _marked_words(rationale: Rationale, tokenizer: str) -> Iterator[tuple[str | None, Span]]:
    """Yield the marked words of a text as they are looked up, each once, with its first place."""
    key, found = Tokenizer(tokenizer).key, set()
    for stretch in marked_stretches(rationale, tokenizer):
        for start, end in stretch:
            word = key(rationale.text[start:end])
            if word not in found:
                found.add(word)
                yield word, (start, end)
    if not found:
        yield None, (0, 0)


def _word(word: str | None, texts: list[tuple[Rationale, Span]], most: int) -> dict[str, Any]:
    right = [(one, span) for one, span in texts if str(one.label) == str(one.document.label)]
    example, (start, end) = (right or texts)[0]
    text = example.text
    return {
        "word": word,
        "texts": len(texts),
        "width": len(texts) / most,
        "right": len(right) / len(texts),
        "before": ("…" if start > AROUND else "") + text[max(0, start - AROUND) : start],
        "marked": text[start:end],
        "after": text[end : end + AROUND] + ("…" if len(text) > end + AROUND else ""),
    }

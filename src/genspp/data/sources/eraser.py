"""ERASER (DeYoung et al. 2020): data sets in one form, with the evidence that people marked.

DeYoung et al., "ERASER: A Benchmark to Evaluate Rationalized NLP Models" (https://www.eraserbenchmark.com). A folder
has `train.jsonl`, `val.jsonl` and `test.jsonl`, one instance per line, and the documents that they speak of, as files
in `docs/` or as rows of `docs.jsonl`: a sentence per line, tokens separated by white space. A query, where there is
one, stands before the document; its tokens are never gold.
"""

from pathlib import Path
from typing import Any

from genspp.data.corpus import PARTS, Corpus, Document, Splits
from genspp.data.fields import clean, label_text
from genspp.data.limits import is_inside, read_text
from genspp.data.rows import read_raw
from genspp.data.sources.base import SOURCES, Options, Source, left_out_note, short_enough
from genspp.data.tokenize import Tokenizer
from genspp.errors import DataError

PUBLISHED = "https://www.eraserbenchmark.com"
_CUT = Tokenizer("spaces")


class Texts:
    """The documents of a folder by their docid, each read when it is first asked for."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._known = folder / "docs", dict[str, str]()
        if (folder / "docs.jsonl").exists():
            for row in read_raw(folder / "docs.jsonl").rows:
                docid, document = row.fields.get("docid"), row.fields.get("document")
                if not isinstance(docid, str) or not isinstance(document, str):
                    raise DataError(f"{folder / 'docs.jsonl'}, line {row.number}: there is no docid or no document.")
                self._known[docid] = clean(document)

    def __getitem__(self, docid: str) -> str:
        """Return a document; ValueError where there is none."""
        if docid not in self._known:
            path = self._folder / docid
            if not is_inside(path, self._folder):
                raise ValueError(f"there is no document {docid[:200]!r} in docs/ or docs.jsonl")
            try:
                self._known[docid] = read_text(path)
            except UnicodeDecodeError:
                raise ValueError(f"the document {docid!r} is not UTF-8") from None
        return self._known[docid]


def _evidences(fields: dict[str, Any]) -> list[dict[str, Any]] | None:
    """Return all pieces of evidence in one list, `None` where nobody marked any."""
    groups = fields.get("evidences")
    if groups is None:
        return None
    if not isinstance(groups, list) or not all(isinstance(group, list) for group in groups):
        raise ValueError("evidences is not a list of lists")
    pieces = [piece for group in groups for piece in group]
    if not all(isinstance(piece, dict) and isinstance(piece.get("docid"), str) for piece in pieces):
        raise ValueError("a piece of evidence has no docid")
    return pieces


def _docids(fields: dict[str, Any], evidences: list[dict[str, Any]]) -> list[str]:
    """Return the documents of an instance: those of its evidence, or else those it names, or the one of its own id."""
    named = [piece["docid"] for piece in evidences] or fields.get("docids") or [fields["annotation_id"]]
    if not isinstance(named, list) or not all(isinstance(docid, str) for docid in named):
        raise ValueError("docids is not a list of names")
    return list(dict.fromkeys(named))


def _document(fields: dict[str, Any], texts: Texts) -> Document:
    """Turn one instance into a document: query, then documents, a line break between them."""
    identifier, query = fields.get("annotation_id"), fields.get("query") or ""
    if not isinstance(identifier, str) or not isinstance(query, str):
        raise ValueError("annotation_id or query is not a string")
    label = label_text(fields.get("classification"))
    if label is None:
        raise ValueError("there is no classification")
    evidences = _evidences(fields)
    docids = _docids(fields, evidences or [])
    parts = [clean(query), *(texts[docid] for docid in docids)]
    lengths = [len(_CUT.spans(part)) for part in parts]
    first = {docid: sum(lengths[: number + 1]) for number, docid in enumerate(docids)}
    mask = [0] * sum(lengths)
    for piece in evidences or ():
        start, end = piece.get("start_token"), piece.get("end_token")
        length = lengths[docids.index(piece["docid"]) + 1]
        if not isinstance(start, int) or not isinstance(end, int) or not 0 <= start < end <= length:
            raise ValueError(f"evidence has the tokens {start} to {end}, but {piece['docid']!r} has {length}")
        mask[first[piece["docid"]] + start : first[piece["docid"]] + end] = [1] * (end - start)
    text = "\n".join(part for part in parts if part)
    tokens, spans = _CUT(text)
    if not tokens:
        raise ValueError("the text has no tokens")
    gold = None if evidences is None else tuple(mask)
    made_of = tuple((name, first[name], first[name] + length) for name, length in zip(docids, lengths[1:], strict=True))
    return Document(identifier, text, tuple(tokens), tuple(spans), label, gold, made_of=made_of)


@SOURCES.register("eraser")
class Eraser(Source):
    """A folder in ERASER's form."""

    title = "ERASER"
    in_folder = True

    def _load(self, options: Options) -> Splits:
        folder = Path(self.place)
        if not folder.is_dir():
            raise DataError(f"There is no folder {folder}; ERASER's data sets are published at {PUBLISHED}.")
        texts, parts, total = Texts(folder), dict[str, Corpus](), 0
        for part in PARTS:
            path, documents = folder / f"{part}.jsonl", []
            for row in read_raw(path).rows:
                try:
                    documents.append(_document(row.fields, texts))
                except ValueError as error:
                    raise DataError(f"{path}, line {row.number}: {error}.") from None
            parts[part] = Corpus(short_enough(documents, options.max_length, str(path)), _CUT.name)
            total += len(documents)
        return Splits(**parts, notes=left_out_note(total, sum(map(len, parts.values())), options.max_length))

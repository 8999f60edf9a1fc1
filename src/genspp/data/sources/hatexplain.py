"""HateXplain (Mathew et al. 2021): social-media posts with the words that made people call them hateful.

Reads the two official files. As in the paper, hate speech and offensive language are merged into `toxic`,
and a gold highlight is the strict majority of the annotators who marked the post. The posts are hateful.
"""

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from genspp.data.corpus import PARTS, Corpus, Document, Splits
from genspp.data.fields import clean
from genspp.data.limits import check_nesting, read_file
from genspp.data.sources.base import SOURCES, Options, Source, left_out_note, short_enough
from genspp.data.tokenize import Tokenizer
from genspp.errors import DataError

PUBLISHED = "https://github.com/hate-alert/HateXplain (folder Data)"
POSTS, DIVISIONS = "dataset.json", "post_id_divisions.json"
LABELS = {"hatespeech": "toxic", "offensive": "toxic", "normal": "normal"}
MAX_LENGTH = 30  # the paper's filter, in tokens


def _read_object(path: Path) -> dict[str, Any]:
    try:
        content = check_nesting(json.loads(read_file(path).decode("utf-8-sig")))
    except DataError as error:
        raise DataError(f"{error} HateXplain's {POSTS} and {DIVISIONS} are published at {PUBLISHED}.") from None
    except UnicodeDecodeError as error:
        raise DataError(f"{path}: byte {error.start} is not UTF-8; fetch the file again from {PUBLISHED}.") from None
    except json.JSONDecodeError as error:
        raise DataError(
            f"{path}, line {error.lineno}: invalid JSON ({error.msg}); fetch the file again from {PUBLISHED}."
        ) from None
    except (ValueError, RecursionError) as error:
        raise DataError(f"{path}: invalid JSON ({error}); fetch the file again from {PUBLISHED}.") from None
    if not isinstance(content, dict):
        raise DataError(f"{path} holds no JSON object; fetch the file again from {PUBLISHED}.")
    return content


def majority_highlight(masks: Sequence[Sequence[int]], length: int) -> tuple[int, ...]:
    """Return 1 where strictly more than half of the masks are 1; all zero without masks.

    The denominator is the number of masks, not of annotators. A mask of another length is discarded, since
    nothing says which of its values is the one too many; that happens in one post of 47 tokens, which the
    paper's filter drops.
    """
    masks = [mask for mask in masks if len(mask) == length]
    return tuple(int(2 * sum(int(mask[i]) for mask in masks) > len(masks)) for i in range(length))


def _document(path: Path, post_id: str, post: Any) -> Document:
    """Turn one official record into a document."""
    try:
        tokens = [clean(str(token)) for token in post["post_tokens"]]
        votes = [LABELS[annotator["label"]] for annotator in post["annotators"]]
        highlight = majority_highlight(post["rationales"], len(tokens))
        label = Counter(votes).most_common(1)[0][0]  # three voters and two labels: never a tie
    except (LookupError, TypeError, ValueError, OverflowError) as error:
        raise DataError(
            f"{path}, post {post_id}: not in the official format ({type(error).__name__}: {error}); "
            f"fetch the file again from {PUBLISHED}."
        ) from None
    text, spans = Tokenizer("spaces").join(tokens)
    return Document(post_id, text, tuple(tokens), tuple(spans), label, highlight)


def hatexplain(folder: Path | str, max_length: int | None = MAX_LENGTH) -> Splits:
    """Read the official files in `folder`, in the official splits, posts of up to `max_length` tokens (`None`: all)."""
    folder = Path(folder)
    if not folder.is_dir():
        raise DataError(
            f"There is no folder {folder}; put HateXplain's {POSTS} and {DIVISIONS} there, "
            f"which are published at {PUBLISHED}."
        )
    posts, divisions = _read_object(folder / POSTS), _read_object(folder / DIVISIONS)
    parts: dict[str, Corpus] = {}
    total = 0
    for name in PARTS:
        ids = divisions.get(name)
        if not isinstance(ids, list) or not ids:
            raise DataError(f"{folder / DIVISIONS} has no list {name!r}; fetch it again from {PUBLISHED}.")
        missing = [post_id for post_id in ids if not isinstance(post_id, str) or post_id not in posts]
        if missing:
            raise DataError(
                f"{folder / DIVISIONS} names {len(missing)} posts, such as {missing[0]!r}, that are not in "
                f"{POSTS}; fetch both files again from {PUBLISHED}."
            )
        documents = [_document(folder / POSTS, post_id, posts[post_id]) for post_id in ids]
        parts[name] = Corpus(short_enough(documents, max_length, f"{folder}, {name} posts"), "spaces")
        total += len(documents)
    return Splits(**parts, notes=left_out_note(total, sum(map(len, parts.values())), max_length))


@SOURCES.register("hatexplain")
class HateXplain(Source):
    """The official files in a folder; the posts are hateful, and are shown to nobody who did not ask for them."""

    title = "HateXplain"
    family = "hatexplain"
    in_folder = True
    may_be_shown = False

    def _load(self, options: Options) -> Splits:
        # Whoever has long posts cut does not want them left out.
        return hatexplain(self.place, options.max_length or (MAX_LENGTH if options.truncate is None else None))

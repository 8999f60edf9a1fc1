import json

import pytest

from genspp.data.sources import Options, load_source
from genspp.errors import DataError

FILM, BOOK = "a slow film .\nI loved it .\n", "dull book .\n"


def piece(docid, start, end):
    return {"docid": docid, "start_token": start, "end_token": end, "start_sentence": 0, "end_sentence": 1, "text": ""}


def instance(name, label="POS", evidences=None, **more):
    return {"annotation_id": name, "classification": label, "evidences": evidences, "query": None, **more}


def write(folder, train, docs_as="docs", others=()):
    documents = {"film.txt": FILM, "shelf/book.txt": BOOK, "empty.txt": "\n"}
    if docs_as == "docs":
        for name, text in documents.items():
            (folder / "docs" / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / "docs" / name).write_text(text)
    else:
        lines = (json.dumps({"docid": name, "document": text}) + "\n" for name, text in documents.items())
        (folder / "docs.jsonl").write_text("".join(lines))
    for part in ("train", "val", "test"):
        rows = train if part == "train" else others or [instance("film.txt", evidences=[])]
        (folder / f"{part}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return f"eraser:{folder}"


@pytest.mark.parametrize("docs_as", ["docs", "docs.jsonl"])
def test_token_numbers_count_over_the_document_and_the_query_is_not_gold(tmp_path, docs_as):
    evidences = [[piece("film.txt", 5, 6)], [piece("film.txt", 1, 2)]]
    source = write(tmp_path, [instance("r1", evidences=evidences, query="is it good ?")], docs_as)
    splits = load_source(source)
    document = splits.train.documents[0]
    assert document.text == f"is it good ?\n{FILM}"
    assert [t for t, gold in zip(document.tokens, document.highlight, strict=True) if gold] == ["slow", "loved"]
    assert [document.text[a:b] for a, b in document.spans] == list(document.tokens)
    assert (document.id, document.label, splits.tokenizer) == ("r1", "POS", "spaces")


def test_several_documents_stand_in_the_order_of_their_first_mention(tmp_path):
    evidences = [[piece("shelf/book.txt", 0, 1), piece("film.txt", 2, 3)], [piece("shelf/book.txt", 2, 3)]]
    document = load_source(write(tmp_path, [instance("x", evidences=evidences)])).train.documents[0]
    assert document.tokens == ("dull", "book", ".", "a", "slow", "film", ".", "I", "loved", "it", ".")
    assert document.highlight == (1, 0, 1, 0, 0, 1, 0, 0, 0, 0, 0)


def test_without_evidence_the_document_is_the_named_one_or_that_of_the_id(tmp_path):
    rows = [
        instance("film.txt", evidences=[]),
        instance("q", docids=["shelf/book.txt"]),
        instance("shelf/book.txt", label=3),
    ]
    one, two, three = load_source(write(tmp_path, rows)).train
    assert one.text == FILM and one.highlight == (0,) * 8  # somebody looked, and marked nothing
    assert two.text == BOOK and two.highlight is None  # nobody looked
    assert three.text == BOOK and three.label == "3"


def test_long_texts_are_left_out_and_counted(tmp_path):
    rows = [instance("film.txt"), instance("shelf/book.txt")]
    splits = load_source(write(tmp_path, rows, others=rows[1:]), Options(max_length=7))
    assert splits.rows == {"train": 1, "val": 1, "test": 1}
    assert splits.notes[0].startswith("1 of 4 texts were left out")


@pytest.mark.parametrize(
    ("row", "said"),
    [
        (instance("gone.txt"), "there is no document 'gone.txt'"),
        (instance("../train.jsonl"), "there is no document"),
        (instance("film.txt", label=None), "there is no classification"),
        (instance("film.txt", query=["a"]), "annotation_id or query is not a string"),
        (instance(7), "annotation_id or query is not a string"),
        (instance("film.txt", evidences={}), "not a list of lists"),
        (instance("film.txt", evidences=[[{"start_token": 0}]]), "has no docid"),
        (instance("x", evidences=[[piece("film.txt", 7, 9)]]), "tokens 7 to 9, but 'film.txt' has 8"),
        (instance("x", evidences=[[piece("film.txt", 3, 3)]]), "tokens 3 to 3"),
        (instance("x", evidences=[[piece("film.txt", "1", 2)]]), "tokens 1 to 2"),
        (instance("x", docids="film.txt"), "docids is not a list of names"),
        (instance("empty.txt"), "the text has no tokens"),
    ],
)
def test_a_bad_instance_is_named_by_file_and_line(tmp_path, row, said):
    source = write(tmp_path, [instance("film.txt"), row])
    with pytest.raises(DataError, match=said) as error:
        load_source(source)
    assert f"{tmp_path / 'train.jsonl'}, line 2: " in str(error.value)


def test_missing_and_bad_files(tmp_path):
    with pytest.raises(DataError, match="published at"):
        load_source(f"eraser:{tmp_path / 'none'}")
    source = write(tmp_path, [instance("film.txt")], "docs.jsonl")
    (tmp_path / "val.jsonl").unlink()
    with pytest.raises(DataError, match=r"no file .*val\.jsonl"):
        load_source(source)
    (tmp_path / "docs.jsonl").write_text('{"docid": "a"}\n')
    with pytest.raises(DataError, match=r"docs\.jsonl, line 1: there is no docid or no document"):
        load_source(source)
    (tmp_path / "docs.jsonl").unlink()
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "film.txt").write_bytes(b"caf\xe9")
    with pytest.raises(DataError, match=r"train\.jsonl, line 1: the document 'film.txt' is not UTF-8"):
        load_source(source)

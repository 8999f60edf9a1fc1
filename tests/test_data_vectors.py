import time

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from conftest import DECIDING, SHARED, sentences
from genspp.data.corpus_vectors import from_corpus
from genspp.data.vectors import PAD, UNKNOWN, Vectors, build_vectors, onehot, read_glove
from genspp.errors import DataError, SettingsError

GLOVE = SHARED / "data" / "glove" / "glove.6B.25d-pca.hatexplain.txt"
KEYS = [["b", "a"], ["c", "a"]]


def glove(tmp_path, content):
    path = tmp_path / "vectors.txt"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def check_frame(vectors, width):
    assert vectors.table.shape == (len(vectors.words) + 2, width) and vectors.table.dtype == np.float32
    assert not vectors.table[PAD].any()
    unknown = np.random.RandomState(100).uniform(-0.05, 0.05, width).astype(np.float32)
    assert np.array_equal(vectors.table[UNKNOWN], unknown)
    assert [vectors.index[word] for word in vectors.words] == list(range(2, len(vectors.words) + 2))
    assert vectors.table[2:].any(axis=1).all()  # zero is for padding only


def test_onehot_in_sorted_order_with_spare_columns():
    vectors = onehot(KEYS, 5)
    check_frame(vectors, 5)
    assert vectors.words == ("a", "b", "c") and vectors.kind == "onehot"
    assert vectors.table[2:].tolist() == [[1, 0, 0, 0, 0], [0, 1, 0, 0, 0], [0, 0, 1, 0, 0]]
    assert onehot(KEYS).table.shape == (5, 3)


def test_onehot_too_narrow_or_empty():
    with pytest.raises(SettingsError, match=r"width is 2, but .* 3"):
        onehot(KEYS, 2)
    with pytest.raises(DataError, match="no words"):
        onehot([[]])


def test_glove_keeps_the_wanted_words(tmp_path):
    path = glove(tmp_path, "the 1 2 3\nnaïve -1e-1 .5 0\nrest x y z\nthe 9 9 9\n")
    vectors = read_glove(path, ["naïve", "the", "gone"])
    check_frame(vectors, 3)
    assert vectors.words == ("the", "naïve") and vectors.kind == "glove:vectors.txt"
    assert vectors.table[2:].tolist() == [[1, 2, 3], [np.float32(-0.1), 0.5, 0]]


def test_glove_without_a_list_keeps_all(tmp_path):
    vectors = read_glove(glove(tmp_path, "a 1 2\r\nb 3 4 \n\nc 5 6"))
    assert vectors.words == ("a", "b", "c") and vectors.table[4].tolist() == [5, 6]


def test_glove_header_spaces_and_odd_white_space(tmp_path):
    vectors = read_glove(glove(tmp_path, "4 2\na 1 2\n. . . 3 4\nat name@domain.com 5 6\nx\u00a0y 7 8\n"))
    assert vectors.words == ("a", ". . .", "at name@domain.com", "x\u00a0y")
    assert vectors.table[3].tolist() == [3, 4]
    assert read_glove(glove(tmp_path, "a 1\nb 2\n")).table.shape == (4, 1)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("a 1 2\nb 3\n", "line 2: 1 numbers where 2 were expected"),
        ("a 1 2\nzzz 3 4 5\n", "line 2: 3 numbers where 2 were expected"),
        ("a 1 2\nzzz\n", "line 2: 0 numbers"),
        ("1 3\na 1 2 3\nb 1 2\n", "line 3: 2 numbers where 3 were expected"),
        ("word\n", "line 1: 0 numbers"),
        ("a 1 2\nb 3 x\n", "line 2: the vector of 'b'"),
        ("a 1 nan\n", "line 1: the vector of 'a'"),
        ("a 1 2\nb inf 1\n", "line 2"),
        ("a 1 1e39\n", "line 1"),
        (b"a 1 2\ncaf\xe9 1 2\n", "line 2: the word is not UTF-8"),
        ("y 1 2\n", "none of the words"),
        ("", "holds no vectors"),
    ],
)
def test_bad_vector_files(tmp_path, content, said):
    path = glove(tmp_path, content)
    with pytest.raises(DataError, match=said) as error:
        read_glove(path, ["a", "b"])
    assert str(path) in str(error.value)


def test_missing_vector_file(tmp_path):
    with pytest.raises(DataError, match=r"no vector file .*gone\.txt"):
        read_glove(tmp_path / "gone.txt")
    with pytest.raises(DataError, match="cannot be read"):
        read_glove(tmp_path)


def test_glove_is_streamed_fast(tmp_path):
    line = " " + " ".join(["-0.12345"] * 25) + "\n"
    path = glove(tmp_path, "".join(f"word{i}{line}" for i in range(60_000)))
    start = time.process_time()
    assert len(read_glove(path, {f"word{i}" for i in range(0, 60_000, 50)}).words) == 1200
    assert time.process_time() - start < 10  # a fraction of a second, unless all numbers are parsed one by one


@pytest.mark.skipif(not GLOVE.exists(), reason=f"{GLOVE} is not there")
def test_the_real_vectors():
    vectors = read_glove(GLOVE)
    check_frame(vectors, 25)
    assert len(vectors.words) == 22871


def test_corpus_vectors_are_sized_scaled_and_repeatable():
    keys = [text.split() for text in sentences(300)[0]]
    vectors = from_corpus(keys)
    check_frame(vectors, 50)
    assert vectors.words == tuple(sorted({key for text in keys for key in text}))
    assert vectors.table[2:].std() == pytest.approx(1, abs=1e-3)
    assert np.array_equal(vectors.table, from_corpus(keys).table)


def test_corpus_vectors_of_words_in_equal_contexts_differ():
    words = ["great", "awful", "okay"]
    keys = [["the", f"s{i}", "was", word, "."] for i in range(50) for word in words]
    vectors = from_corpus(keys)
    rows = vectors.table[[vectors.index[word] for word in words]]
    assert min(np.linalg.norm(rows[i] - rows[j]) for i in range(3) for j in range(i)) > 1


@pytest.mark.parametrize("keys", [[["a"]], [["a"], ["b"]], [["a", "b"]], [["a", "a", "a"]], [[], ["a", "b"]]])
def test_corpus_vectors_of_next_to_nothing(keys):
    vectors = from_corpus(keys)
    check_frame(vectors, 50)
    assert np.isfinite(vectors.table).all()
    assert len(np.unique(vectors.table[2:], axis=0)) == len(vectors.words)


def test_corpus_vectors_show_related_words_and_separate_deciding_ones():
    texts, _ = sentences(600)
    vectors = from_corpus([text.split() for text in texts])
    kind = {word: name for name, words in DECIDING.items() for word in words}
    labels = [kind.get(word, "none") for word in vectors.words]
    model = LogisticRegression(C=10, max_iter=500).fit(vectors.table[2:], labels)
    assert model.score(vectors.table[2:], labels) == 1
    # Words that keep the same company, not adjacent ones only, lie closer than words that do not.
    topics = [["red", "green", "blue"], ["one", "two", "three"]]
    stream = np.random.RandomState(0)
    made = from_corpus([list(stream.choice(topics[i % 2], 6)) for i in range(200)])
    rows = {word: made.table[made.index[word]] for topic in topics for word in topic}
    assert rows["red"] @ rows["blue"] > rows["red"] @ rows["two"]


def test_corpus_vectors_of_nothing():
    with pytest.raises(DataError, match="no words"):
        from_corpus([])


def test_build_vectors_by_name(tmp_path):
    assert build_vectors("onehot", KEYS, 26).table.shape == (5, 26)
    assert build_vectors("corpus", KEYS).kind == "corpus"
    path = glove(tmp_path, "a 1 2\nz 3 4\nq 5 6\n")
    assert build_vectors(str(path), KEYS).words == ("a",)
    ready = onehot(KEYS)
    assert build_vectors(ready, [["x"]]) is ready
    with pytest.raises(SettingsError, match="width is 26"):
        build_vectors("corpus", KEYS, 26)


def test_coverage():
    vectors = Vectors(("a",), np.zeros((3, 2), np.float32), "test")
    assert vectors.coverage([["a", "a", "x"], ["y"]]) == 0.5 and vectors.coverage([]) == 1


def test_the_order_of_the_first_words_does_not_depend_on_further_ones(tmp_path):
    path = glove(tmp_path, "z 1 2\na 3 4\nq 5 6\nb 7 8\n")
    alone = build_vectors(str(path), KEYS)
    more = build_vectors(str(path), KEYS, further=[["z"], ["q", "nowhere"]])
    assert alone.words == ("a", "b") and more.words == ("a", "b", "z", "q")
    assert np.array_equal(more.table[:4], alone.table)


def test_further_words_are_looked_up_in_the_file(tmp_path, monkeypatch):
    path = glove(tmp_path, "z 1 2\na 3 4\nq 5 6\nb 7 8\n")
    vectors = read_glove(path, ["a"])
    assert vectors.extended([["a"], ["a"]]) is vectors
    further = vectors.extended([["a", "q"], ["nowhere", "q"]])
    assert further.words == ("a", "q") and further.table[3].tolist() == [5, 6]
    assert np.array_equal(further.table[:3], vectors.table)
    assert read_glove(path).file is None  # all of it is there already
    # What the file was asked for in vain is not looked for again.
    monkeypatch.setattr("genspp.data.vectors.read_vector_file", lambda *_: pytest.fail("read again"))
    assert further.extended([["nowhere", "q"]]) is further
    assert onehot(KEYS).extended([["nowhere"]]).words == ("a", "b", "c")


def test_a_width_that_does_not_count_is_an_error(tmp_path):
    for spec in ("corpus", str(tmp_path / "v.txt"), onehot(KEYS)):
        with pytest.raises(SettingsError, match="vector_width is 26"):
            build_vectors(spec, KEYS, 26)


def test_singular_vectors_have_a_sign_and_end_at_the_rank():
    from scipy.sparse import csr_matrix

    from genspp.data.corpus_vectors import left_singular_vectors

    matrix = np.outer([1.0, 2.0, -3.0], [1.0, 1.0, 2.0])
    left = left_singular_vectors(csr_matrix(matrix), 3)
    assert left.shape == (3, 1)
    np.testing.assert_allclose(left[:, 0], np.array([-1, -2, 3]) / np.sqrt(14), atol=1e-12)

"""The server of `genspp serve`: what it answers, what it refuses, and that hostile texts stay texts."""

import asyncio
import base64
import hashlib
import json
import logging
import re
import socket
import sys
import threading
import urllib.request

import pytest
import uvicorn
from starlette.testclient import TestClient

from cli_tools import fails
from genspp.app.serve import guard, question, web
from genspp.app.serve.guard import Guard, Rates
from genspp.app.serve.limits import (
    BURST,
    MOST_BYTES,
    MOST_CHARACTERS,
    MOST_CLIENTS,
    MOST_TEXTS,
    MOST_TOKENS,
    PER_SECOND,
)
from genspp.app.serve.web import Desk, make_app
from genspp.errors import RequestError
from report_tools import EVIL
from serve_tools import served, trained

HOSTS = {"localhost", "127.0.0.1", "[::1]"}
TEXTS = ["the goal of the soup", "nothing 🙂 here", "a robot"]
STEERING = "\x00\x1b[31m\x7f\x9b\u202e\u2066\u2028\ud800"


@pytest.fixture(scope="module")
def model():
    return trained()


@pytest.fixture
def client(model):
    """Ask a server as a client that has asked nothing yet."""
    return TestClient(make_app(model, "posts", HOSTS), "http://127.0.0.1:8000", raise_server_exceptions=False)


def one_sentence(response, status):
    assert response.status_code == status
    assert response.headers["content-type"] == "application/json"
    content = response.json()
    assert set(content) == {"error"} and content["error"].endswith(".") and "\n" not in content["error"]
    return content["error"]


# ---------------------------------------------------------------------- what is answered


def test_answers_are_what_the_model_explains(client, model):
    found = client.post("/explain", json={"texts": TEXTS})
    assert found.status_code == 200
    assert found.json() == [rationale.to_json() for rationale in model.explain(TEXTS)]
    assert found.json()[0]["mask"] == [0, 1, 0, 0, 1]


def test_answers_at_given_masks(client, model):
    masks = [[0, 0, 0, 0, 1], None, [0, 0]]
    found = client.post("/explain", json={"texts": TEXTS, "masks": masks}).json()
    assert found == [rationale.to_json() for rationale in model.explain(TEXTS, masks)]
    assert (found[0]["label"], found[0]["mask"]) == ("food", masks[0])
    assert found[2]["no_evidence"] and found[1] == client.post("/explain", json={"texts": TEXTS[1:2]}).json()[0]
    other = client.post("/explain", json={"texts": TEXTS[:1], "masks": [[0, 1, 0, 0, 0]]}).json()[0]
    assert other["label"] == "sport"
    free = client.post("/explain", json={"texts": TEXTS, "masks": None}).json()
    assert free == [rationale.to_json() for rationale in model.explain(TEXTS)]


def test_the_schema_describes_what_is_sent_and_said(client, model):
    found = client.get("/schema").json()["$defs"]
    answer = model.explain(TEXTS[:1])[0].to_json()
    described = found["response"]["items"]
    assert list(described["properties"]) == list(answer) == described["required"]
    assert described["properties"]["label"]["enum"] == ["food", "sport", "tech"]
    assert described["properties"]["probabilities"]["required"] == list(answer["probabilities"])
    assert list(found["request"]["properties"]) == list(question._FIELDS) and found["request"]["required"] == ["texts"]
    assert found["request"]["properties"]["texts"]["maxItems"] == MOST_TEXTS
    assert list(found["error"]["properties"]) == ["error"]


def test_a_page_may_run_its_own_script_and_ask_its_own_server_and_nothing_else(client):
    page = client.get("/")
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    rules = dict(rule.split(" ", 1) for rule in page.headers["content-security-policy"].split("; "))
    for what, element in (("script-src", "script"), ("style-src", "style")):
        (source,) = re.findall(f"<{element}>(.*?)</{element}>", page.text, re.DOTALL)
        assert rules[what] == f"'sha256-{base64.b64encode(hashlib.sha256(source.encode()).digest()).decode()}'"
    assert (rules["default-src"], rules["connect-src"], rules["frame-ancestors"]) == ("'none'", "'self'", "'none'")
    assert "://" not in page.text and "style=" not in page.text and " on" not in re.findall("<[^>]*>", page.text)


def test_every_answer_carries_the_policy(client):
    answers = [
        client.get("/"),
        client.get("/schema"),
        client.get("/nowhere"),
        client.post("/explain", json={"texts": ["a"]}),
    ]
    answers += [client.post("/explain", content="{"), client.get("/", headers={"Host": "evil.example"})]
    for answer in answers:
        assert answer.headers["content-security-policy"].startswith("default-src 'none'")
        assert answer.headers["x-content-type-options"] == "nosniff" and answer.headers["cache-control"] == "no-store"
        assert "access-control-allow-origin" not in answer.headers and "server" not in answer.headers


# ---------------------------------------------------------------------- what is refused


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "not JSON"),
        (b"{", "not JSON"),
        (b"\xff\xfe", "not JSON"),
        (b"[" * 100_000, "not JSON"),
        (b'{"texts": ' + b"1" * 10_000 + b"}", "not JSON"),
        (b"[]", "no list of texts"),
        (b'{"texts": "a"}', "no list of texts"),
        (b'{"texts": [], "masks": []}', "there are no texts"),
        (b'{"texts": ["a", 1]}', "text 1 (from 0) is not a string"),
        (b'{"texts": ["a", " "]}', "text 1 (from 0) is empty"),
        (b'{"texts": ["\\u202e"]}', "text 0 (from 0) is empty"),
        (b'{"texts": ["a"], "more": 1}', "fields other than texts and masks"),
        (b'{"texts": ["a"], "masks": 1}', "not lists of 0 and 1"),
        (b'{"texts": ["a"], "masks": [[2]]}', "not lists of 0 and 1"),
        (b'{"texts": ["a"], "masks": [[true]]}', "not lists of 0 and 1"),
        (b'{"texts": ["a"], "masks": ["1"]}', "not lists of 0 and 1"),
        (b'{"texts": ["a"], "masks": []}', "1 texts but 0 masks"),
        (b'{"texts": ["a b"], "masks": [[1]]}', "has 1 entries, but the text has 2 tokens"),
    ],
)
def test_what_is_no_question(client, content, said):
    answer = client.post("/explain", content=content, headers={"Content-Type": "application/json"})
    assert said in one_sentence(answer, 400)


@pytest.mark.parametrize("kind", [None, "text/plain", "application/x-www-form-urlencoded"])
def test_what_another_site_could_have_a_browser_send_is_refused(client, kind):
    headers = {} if kind is None else {"Content-Type": kind}
    assert "Content-Type" in one_sentence(client.post("/explain", content='{"texts": ["a"]}', headers=headers), 400)


def test_what_is_not_there(client):
    assert "see GET /" in one_sentence(client.get("/nowhere"), 404)
    one_sentence(client.get("/explain"), 405)
    one_sentence(client.post("/"), 405)


@pytest.mark.parametrize(
    ("texts", "said"),
    [
        (["a"] * (MOST_TEXTS + 1), f"{MOST_TEXTS + 1} texts"),
        (["a", "a " * (MOST_TOKENS + 1)], f"text 1 (from 0) has {MOST_TOKENS + 1:,} tokens"),
        (["x" * (MOST_CHARACTERS + 1)], f"has {MOST_CHARACTERS + 1:,} characters"),
    ],
)
def test_too_much_at_once(client, texts, said):
    assert said in one_sentence(client.post("/explain", json={"texts": texts}), 413)


def test_as_much_as_may_be_is_answered(client):
    texts = ["soup " * 1_000] * MOST_TEXTS
    assert len(client.post("/explain", json={"texts": texts}).json()) == MOST_TEXTS
    assert client.post("/explain", json={"texts": ["soup " * MOST_TOKENS]}).json()[0]["label"] == "food"
    assert client.post("/explain", json={"texts": ["x" * MOST_CHARACTERS]}).status_code == 200


def test_a_body_that_is_too_large(client):
    headers = {"Content-Type": "application/json"}
    fits, does_not = (b'{"texts": ["a"]}'.ljust(size) for size in (MOST_BYTES, MOST_BYTES + 1))
    assert client.post("/explain", content=fits, headers=headers).status_code == 200
    assert f"{MOST_BYTES:,} bytes" in one_sentence(client.post("/explain", content=does_not, headers=headers), 413)


def test_a_body_without_end_is_not_waited_for(model):
    chunks, answers = [], []

    async def receive():
        chunks.append(b" " * 100_000)
        return {"type": "http.request", "body": chunks[-1], "more_body": True}

    async def send(message):
        answers.append(message)

    headers = [(b"host", b"localhost"), (b"content-type", b"application/json")]
    scope = {"type": "http", "method": "POST", "path": "/explain", "headers": headers, "query_string": b""}
    asyncio.run(make_app(model, "posts", HOSTS)(scope, receive, send))
    assert answers[0]["status"] == 413 and len(chunks) == MOST_BYTES // 100_000 + 1


@pytest.mark.parametrize("host", ["127.0.0.1:8000", "127.0.0.1", "localhost:9000", "LOCALHOST", "[::1]:8000", "[::1]"])
def test_names_of_this_machine(client, host):
    assert client.get("/", headers={"Host": host}).status_code == 200


@pytest.mark.parametrize(
    "host",
    ["evil.example", "evil.example:8000", "localhost.evil.example", "127.0.0.1.evil.example:8000", "x@localhost", ""],
)
def test_a_name_that_was_made_to_point_here_is_refused(client, model, host):
    one_sentence(client.get("/", headers={"Host": host}), 400)
    one_sentence(client.post("/explain", json={"texts": ["a"]}, headers={"Host": host}), 400)
    anywhere = TestClient(make_app(model, "posts", None))
    assert anywhere.get("/", headers={"Host": host}).status_code == 200


def test_a_client_s_tokens_come_back_at_a_steady_rate():
    now = 0.0
    rates = Rates(lambda: now)
    assert [rates.take("a") for _ in range(BURST + 2)] == [True] * BURST + [False] * 2
    assert rates.take("b")
    now += 1
    assert [rates.take("a") for _ in range(PER_SECOND + 1)] == [True] * PER_SECOND + [False]
    now += 1000
    assert [rates.take("a") for _ in range(BURST + 1)] == [True] * BURST + [False]
    for number in range(2 * MOST_CLIENTS):
        rates.take(f"client {number}")
    assert len(rates._buckets) == MOST_CLIENTS and f"client {2 * MOST_CLIENTS - 1}" in rates._buckets


def test_too_many_requests(model, monkeypatch):
    monkeypatch.setattr(guard, "BURST", 3)
    app = make_app(model, "posts", None)
    asked = TestClient(Guard(app._app, None, "", Rates(lambda: 0.0)))
    answers = [asked.get("/schema") for _ in range(4)]
    assert [answer.status_code for answer in answers] == [200, 200, 200, 429]
    assert "wait a second" in one_sentence(answers[3], 429) and answers[3].headers["retry-after"] == "1"


# ---------------------------------------------------------------------- one at a time


def test_the_model_is_asked_by_one_thread_and_the_rest_goes_on(model, monkeypatch):
    desk, gate, threads, inside, at_once = Desk(model), threading.Event(), set(), set(), []

    def answer(_, body):
        threads.add(threading.current_thread())
        inside.add(body)
        at_once.append(len(inside))
        opened = gate.wait(30)
        inside.remove(body)
        return [{"body": body.decode(), "opened": opened}]

    monkeypatch.setattr(web, "answer", answer)
    monkeypatch.setattr(web, "MOST_WAITING", 3)

    async def ask():
        asked = [asyncio.create_task(desk.ask(str(number).encode())) for number in range(4)]
        await asyncio.sleep(0.01)
        waiting = desk._waiting
        gate.set()  # which nobody would come to if the model kept the others waiting
        return waiting, await asyncio.gather(*asked, return_exceptions=True)

    waiting, answers = asyncio.run(ask())
    assert (waiting, desk._waiting) == (3, 0)
    assert answers[:3] == [[{"body": str(number), "opened": True}] for number in range(3)]
    assert isinstance(answers[3], RequestError) and answers[3].status == 429
    assert at_once == [1, 1, 1] and len(threads) == 1 and threading.main_thread() not in threads


def test_words_that_were_met_do_not_fill_the_memory(model, monkeypatch):
    monkeypatch.setattr(web, "MOST_REMEMBERED", 2_000)
    asked = TestClient(make_app(model, "posts", None))
    known, most = len(model.vectors_.words), 0
    for number in range(40):
        texts = [" ".join(f"goal{number}x{word} {number}zebra{word}" for word in range(10))]
        assert asked.post("/explain", json={"texts": texts}).status_code == 200
        most = max(most, len(model.vectors_.words) - known + len(model.vectors_.absent))
    assert 20 < most < 400  # of 800


def test_a_failure_of_ours_is_one_sentence_and_one_line(client, monkeypatch, caplog):
    def fail(*_):
        raise RuntimeError("dire\x1b[31m")

    monkeypatch.setattr(web, "answer", fail)
    with caplog.at_level(logging.ERROR, logger="genspp"):
        said = one_sentence(client.post("/explain", json={"texts": ["a"]}), 500)
    assert "dire" not in said and "RuntimeError('dire\\x1b[31m')" in caplog.text


# ---------------------------------------------------------------------- hostile texts


def test_hostile_texts_are_answered_and_steer_nothing(client):
    texts = [EVIL, f"goal{STEERING} soup", STEERING + "a"]
    answer = client.post("/explain", content=json.dumps({"texts": texts}), headers={"Content-Type": "application/json"})
    assert answer.status_code == 200
    assert not set(STEERING) - set("[31m") & set(answer.text)
    tokens = [one["tokens"] for one in answer.json()]
    assert "<" in tokens[0] and "script" in tokens[0] and tokens[1][0] == "goal" and tokens[1][-1] == "soup"
    assert "\ufffd" in tokens[1] and all(token in EVIL for token in tokens[0])


def test_hostile_names_are_inert_on_the_page(model):
    asked = TestClient(make_app(model, f"{EVIL}{STEERING}", None))
    page = asked.get("/").text
    assert page.count("<script") == 2 and "<img" not in page and not set("\x1b\u202e\u2066") & set(page)
    assert "49" not in page.partition("<h1>")[2].partition("</h1>")[0]


# ---------------------------------------------------------------------- the command


def test_without_the_extra_it_says_what_to_install(monkeypatch, tmp_path):
    monkeypatch.delitem(sys.modules, "genspp.app.serve.web")
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    assert "genspp[serve]" in fails("cannot be served without uvicorn", "serve", tmp_path)


def test_a_port_that_is_taken_and_a_host_that_is_none(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        said = fails(f"port {port} of 127.0.0.1 is taken", "serve", tmp_path, "--port", port)
        assert len(said.splitlines()) == 1
    fails("no address of this machine", "serve", tmp_path, "--port", 0, "--host", "no such host")
    fails("cannot be used", "serve", tmp_path, "--port", 0, "--host", "192.0.2.1")
    fails("is not a run folder", "serve", tmp_path, "--port", 0)


@pytest.mark.parametrize(
    ("host", "open_at", "warned", "strange"),
    [("127.0.0.1", "127.0.0.1", 0, 400), ("localhost", "", 0, 400), ("0.0.0.0", "localhost", 1, 200)],
)
def test_who_can_reach_it_is_said(model, tmp_path, monkeypatch, host, open_at, warned, strange):
    model.save(tmp_path / "posts")
    said, warnings, configs = [], [], []
    monkeypatch.setattr(uvicorn.Server, "run", lambda server, sockets: configs.append(server.config))
    web.serve(tmp_path / "posts", host, 0, said.append, warnings.append)
    assert len(warnings) == warned and all("whoever can reach this machine" in sentence for sentence in warnings)
    assert len(said) == 1 and said[0].startswith(f"open http://{open_at}")
    asked = TestClient(configs[0].app, "http://localhost:8000")
    assert asked.get("/").status_code == 200
    assert asked.get("/", headers={"Host": "evil.example"}).status_code == strange


def test_it_serves_until_ctrl_c(model, tmp_path):
    model.save(tmp_path / "posts")
    with served(tmp_path / "posts") as address:
        with urllib.request.urlopen(address) as answer:
            assert "Try “posts”" in answer.read().decode()
        half = socket.create_connection(("127.0.0.1", int(address.rpartition(":")[2])))
        half.sendall(b"POST /explain HTTP/1.1\r\nHost: localhost\r\n")  # and nothing more; Ctrl-C waits for nobody
    half.close()

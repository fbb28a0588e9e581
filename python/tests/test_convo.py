"""Tests the module as installed by the wheel."""

import json
import os
import pickle
import subprocess
import sysconfig
from pathlib import Path

import pytest

import convo

CHAT = """{"type":"session","version":1,"id":"trip","title":"Trip"}
{"role":"user","content":"Weather in Paris?","id":"m1"}
{"role":"assistant","content":"Sunny, 22 \u00b0C.","id":"m2"}
{"role":"user","content":"And tomorrow?","id":"m3"}
{"role":"assistant","content":"Rain.","id":"m4"}
"""


@pytest.fixture
def chat(tmp_path, monkeypatch):
    monkeypatch.setenv("CONVO_STORE", str(tmp_path / "store"))
    path = tmp_path / "chat.jsonl"
    path.write_text(CHAT, encoding="utf-8")
    return path


def test_the_program_is_that_of_the_wheel():
    assert convo.path() == os.path.join(sysconfig.get_path("scripts"), "convo")
    version = convo.run(["-V"]).stdout.decode().split()[1]
    module = Path(convo.__file__).parent
    assert (module / "py.typed").exists()
    assert (module.parent / f"convo_cli-{version}.dist-info").is_dir()


def test_read_yields_messages_as_dictionaries(chat):
    messages = list(convo.read(chat))
    assert [message["role"] for message in messages] == ["user", "assistant"] * 2
    assert messages[1]["content"] == "Sunny, 22 \u00b0C."
    assert [message["id"] for message in convo.read(str(chat))] == ["m1", "m2", "m3", "m4"]


def test_read_yields_what_a_model_would_receive_and_records_everything(chat):
    convo.run(["migrate", "-q", chat])
    convo.run(["truncate", "-q", "--keep-last", "1", "trip"])
    assert [message["id"] for message in convo.read("trip")] == ["m3", "m4"]
    records = list(convo.records("trip"))
    assert [record.get("type", record.get("role")) for record in records] == [
        "session", "user", "assistant", "user", "assistant", "truncate"]


def test_packed_sessions_are_read_as_records(chat, tmp_path):
    packed = tmp_path / "packed.jsonl"
    packed.write_bytes(convo.run(["cat", "--pack", chat]).stdout)
    assert list(convo.records(packed)) == list(convo.records(chat))
    assert len(list(convo.read(packed))) == 4


def test_read_detects_formats_and_takes_a_name(chat, tmp_path):
    body = tmp_path / "body.json"
    body.write_text(json.dumps({"model": "m", "messages": [{"role": "user", "content": "hi"}]}))
    assert [message["content"] for message in convo.read(body)] == ["hi"]
    assert [message["content"] for message in convo.read(body, format="openai-chat")] == ["hi"]
    convo.run(["migrate", "-q", chat])
    assert len(list(convo.read("trip"))) == 4


def test_run_gives_standard_input_and_raises_for_a_status(chat):
    assert convo.run(["cat", "-q"], input=CHAT).stdout.decode() == CHAT
    assert convo.run(["cat", "-q"], input=CHAT.encode()).stdout.decode() == CHAT
    with pytest.raises(convo.Error) as caught:
        convo.run(["cat", "missing.jsonl"])
    assert caught.value.status == 66 and "missing.jsonl" in str(caught.value)
    assert convo.run(["diff", chat, "-"], input=CHAT, check=False).returncode == 0


def until_error(items):
    """Returns the items before an error, and its status."""
    received = []
    with pytest.raises(convo.Error) as caught:
        for item in items:
            received.append(item)
    return received, caught.value.status


def test_damage_is_raised_behind_the_messages(chat):
    with chat.open("a") as file:
        file.write('{"role":"user","cont\n')
    messages, status = until_error(convo.read(chat))
    assert len(messages) == 4 and status == 65


def test_records_skips_blank_lines_and_raises_damage_behind_the_records(chat):
    with chat.open("a") as file:
        file.write('\n{"role":"user","cont\n{"role":"user","content":"later"}\n')
    records, status = until_error(convo.records(chat))
    assert records[-1]["content"] == "later" and status == 65


def test_a_number_too_large_for_python_is_not_skipped(chat):
    with chat.open("a", encoding="utf-8") as file:
        file.write('{"role":"user","content":"big","n":' + "9" * 5000 + "}\n")
    with pytest.raises(ValueError, match="digits"):
        list(convo.records(chat))


def test_an_error_can_be_sent_to_another_process():
    copy = pickle.loads(pickle.dumps(convo.Error(66, "chat: not found")))
    assert (copy.status, copy.message, str(copy)) == (66, "chat: not found", "chat: not found")
    assert str(convo.Error(70, "")) == "convo exited with status 70"


def test_a_directory_does_not_hide_a_session(chat, tmp_path, monkeypatch):
    convo.run(["migrate", "-q", chat])
    monkeypatch.chdir(tmp_path)
    (tmp_path / "trip").mkdir()
    assert len(list(convo.read("trip"))) == 4


def test_an_iterator_that_is_left_stops_the_program(chat):
    chat.write_text(CHAT + '{"role":"user","content":"x"}\n' * 20_000)
    messages = convo.read(chat)
    assert next(messages)["id"] == "m1"
    messages.close()


def test_a_name_that_begins_with_a_dash_is_no_option(tmp_path, monkeypatch, chat):
    monkeypatch.chdir(tmp_path)
    Path("--help.jsonl").write_text(CHAT)
    assert len(list(convo.read("--help.jsonl"))) == 4


def test_plugins_are_installed_too():
    scripts = sysconfig.get_path("scripts")
    done = subprocess.run([os.path.join(scripts, "convo"), "plugins"], capture_output=True, check=True,
                          env={"PATH": "/usr/bin:/bin", "HOME": "/nonexistent"})
    names = [line.split("\t")[0] for line in done.stdout.decode().splitlines()]
    assert {"llm", "sqlite"} <= set(names), done

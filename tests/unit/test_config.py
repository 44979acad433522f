"""Who may use the server: one's own machine, or visitors, as the address says unless somebody says otherwise."""

import os

import pytest

from lab.config import HOSTED, detect_hosted, hosted

HERE = ["127.0.0.1", "localhost", "LOCALHOST", "::1", "[::1]", "127.0.0.53"]
ELSEWHERE = [
    None, "", "0.0.0.0", "::", "192.168.1.5", "lab.school.example", "10.0.0.1", "localhost.example", "*",
    "fe80::1%eth0", "unix:///run/lab.sock",
]  # read by rows  # fmt: skip


@pytest.fixture(autouse=True)
def environment(monkeypatch):
    monkeypatch.setattr(os, "environ", {})


@pytest.mark.parametrize("address", HERE)
def test_a_server_for_this_machine_is_not_hosted(address):
    detect_hosted(address, HERE)
    assert not hosted()


@pytest.mark.parametrize("address", ELSEWHERE)
def test_a_server_that_others_reach_is_hosted(address):
    detect_hosted(address)
    assert hosted()


@pytest.mark.parametrize("name", ["lab.school.example", "192.168.1.5", "*", "*.example"])
def test_a_name_for_others_means_hosted_though_a_proxy_stands_in_front(name):
    detect_hosted("127.0.0.1", ["localhost", name])
    assert hosted()


@pytest.mark.parametrize(("word", "is_hosted"), [("0", False), ("no", False), ("1", True), ("yes", True), ("on", True)])
def test_what_the_environment_says_decides(word, is_hosted):
    os.environ[HOSTED] = word
    detect_hosted(None if not is_hosted else "127.0.0.1")  # which alone would say the opposite
    assert hosted() is is_hosted

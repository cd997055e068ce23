"""The device module in Node answers a real server, and sends byte for byte what `Device` in Python sends."""

from __future__ import annotations

import hashlib
import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from ldiversity.collection.blind import BlindKey
from ldiversity.collection.device import Device
from ldiversity.collection.server import invitation_hashes, make_invitations
from tests.collection.served import Served, served
from tests.unit.collection.surveys import balanced, plain

SEND = Path(__file__).parent / "device" / "send.mjs"
ORDERED = balanced([f"{code} to {code + 1}" for code in range(8)], {"kind": "ordered"}, l=3, d=2)
WEEK = balanced(["Mo", "Tu", "We", "Th", "Fr", "Sa", "Su"], {"kind": "cyclic"}, l=2, d=2)
QUESTIONS = [plain()["questions"][0], {**ORDERED, "name": "income"}, {**WEEK, "name": "day"}]
ANSWERS = {"age": 34, "sex": "other", "disease": "flu", "income": "3 to 4", "day": "Su"}
N_DEVICES = 4


def _secrets() -> list[bytes]:
    return [hashlib.sha256(f"device {number}".encode()).digest() for number in range(N_DEVICES)]


def _send(node: str, at: Served, invitations: list[str]) -> list[list[str]]:
    devices = [
        {"secret": secret.hex(), "invitation": code} for secret, code in zip(_secrets(), invitations, strict=True)
    ]
    asked = {"url": at.root(), "fingerprint": at.signed.fingerprint, "answers": ANSWERS, "devices": devices}
    done = subprocess.run([node, str(SEND), json.dumps(asked)], check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return list(json.loads(done.stdout))


def _in_python(at: Served, secret: bytes, invitation: str, folder: Path) -> list[str]:
    """What the same device shows in Python."""
    device = Device.open(folder)
    device._secret = type(device._secret)(secret)
    preview = device.answer(at.signed, ANSWERS, invitation=invitation, url=at.root())
    return [report.body.decode() for report in preview.reports]


@pytest.mark.parametrize("tokens", ["device", "invitation", "blind"])
@pytest.mark.parametrize("linked", [True, False], ids=["linked", "apart"])
def test_a_real_server_keeps_what_node_sends_once(node: str, tmp_path: Path, tokens: str, *, linked: bool) -> None:
    key = BlindKey.new() if tokens == "blind" else None
    changes: dict[str, Any] = {"tokens": tokens, "linked": linked, "questions": QUESTIONS}
    with served(plain(**changes, blind_key=None if key is None else key.public.text), blind_key=key) as at:
        invitations = list(make_invitations(N_DEVICES))
        if tokens != "device":
            at.store.add_invitations(at.signed.id, invitation_hashes(at.signed, invitations))

        shown = _send(node, at, invitations)

        assert [at.count(part) for part in range(len(shown[0]))] == [N_DEVICES] * (1 if linked else len(QUESTIONS))
        for number, (secret, code) in enumerate(zip(_secrets(), invitations, strict=True)):
            assert _in_python(at, secret, code, tmp_path / str(number)) == shown[number]

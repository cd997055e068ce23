"""Writes draw_vectors.json: what Python draws, which every other language must draw as well.

Usage: python tests/data/collection/make_draw_vectors.py
"""

from __future__ import annotations

import hashlib
import json
import struct
from itertools import accumulate, combinations
from math import prod
from pathlib import Path
from typing import Any, Final

from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from ldiversity.collection.blind import BlindPublicKey, to_text, token_message
from ldiversity.collection.draw import (
    ChainDraw,
    DeviceSecret,
    Draw,
    ListedDraw,
    PartitionDraw,
    WeightedDraw,
    choose_draw,
)
from ldiversity.collection.survey import Survey, write_report

ABOUT: Final = (
    "Draw number i hides the code 7 i mod F with its own words: words i w to (i + 1) w - 1 of the key stream of "
    "AES-256-CTR under the SHA-256 of the seed, from counter zero, as big-endian numbers. The first `zeros` of them "
    "are replaced by 0, which partitions reject. A set is null where the words were too few. Weights are the bits of "
    "doubles."
)
_LOW: Final = 2**64 - 1
_MOST_CHANGES: Final = 4
FILE: Final = Path(__file__).with_name("draw_vectors.json")


def solve(asked: dict[str, Any]) -> dict[str, Any]:
    """All that is asked, with what Python answers; `draw` is a place in the list `forms`."""
    draws = [make_draw(form) for form in asked["forms"]]
    return {
        "about": asked["about"],
        "forms": asked["forms"],
        "draws": [{**case, "sets": _draws(draws[case["draw"]], case)} for case in asked["draws"]],
        "edges": [{**case, "set": _edge(draws[case["draw"]], case)} for case in asked["edges"]],
        "keyed": [{**case, **_keyed(draws[case["draw"]], case)} for case in asked["keyed"]],
        "tokens": [
            {**case, "token": _secret(case).token(case["survey"], case["part"]).hex()} for case in asked["tokens"]
        ],
        "blind": [{**case, "asked": _blind(case)} for case in asked["blind"]],
        "reports": [{**case, **_report(case)} for case in asked["reports"]],
    }


def make_draw(form: dict[str, Any]) -> Draw:
    """The draw that a case describes."""
    l, weights = form["l"], [struct.unpack(">d", bytes.fromhex(bits))[0] for bits in form.get("weights", [])]
    if form["kind"] == "partition":
        return PartitionDraw(l, form["grid"])
    if form["kind"] == "chain":
        return ChainDraw(l, form["node_of"], form["first_after"], weights)
    if form["kind"] == "listed":
        return ListedDraw([tuple(one) for one in form["sets"]], weights)
    draw = choose_draw(l, [[letter == "1" for letter in row] for row in form["allowed"]], weights)
    assert draw is not None
    return draw


def _draws(draw: Draw, case: dict[str, Any]) -> list[list[int] | None]:
    each = case["words"]
    key = hashlib.sha256(case["seed"].encode()).digest()
    n = case["n"] * each
    stream = Cipher(algorithms.AES(key), modes.CTR(bytes(16))).encryptor().update(bytes(8 * n))
    words = struct.unpack(f">{n}Q", stream)
    found = []
    for i in range(case["n"]):
        own = [0] * case["zeros"] + list(words[i * each + case["zeros"] : (i + 1) * each])
        drawn = draw.sample(7 * i % draw.n_values, own)
        found.append(None if drawn is None else list(drawn))
    return found


def _edge(draw: Draw, case: dict[str, Any]) -> list[int] | None:
    drawn = draw.sample(case["code"], [int(word, 16) for word in case["words"]])
    return None if drawn is None else list(drawn)


def _secret(case: dict[str, Any]) -> DeviceSecret:
    return DeviceSecret(bytes.fromhex(case["secret"]))


def _keyed(draw: Draw, case: dict[str, Any]) -> dict[str, Any]:
    name, values = case["name"], case["values"]
    subsets = [s for n in range(len(values) + 1) for s in combinations(range(len(values)), n)]
    return {
        "first_words": draw.first_words,
        "admitted": [place for place, subset in enumerate(subsets) if draw.admits(subset)],
        "context": hashlib.sha256(draw.context(name, values)).hexdigest(),
        "sets": [list(_secret(case).hide(draw, name, values, code)) for code in range(len(values))],
    }


def _report(case: dict[str, Any]) -> dict[str, Any]:
    survey = Survey.model_validate_json(case["survey"])
    sent = write_report(survey, case["id"], case["token"], case["quasi"], case["sets"], case["signature"])
    return {"length": len(sent), "report": sent.decode().rstrip(" ")}


def _blind(case: dict[str, Any]) -> str:
    """The SHA-256 of what a device asks the collector to sign."""
    key = BlindPublicKey.from_text(case["key"])
    survey, part = case["survey"], case["part"]
    token, salt, wide = _secret(case).blind_token(survey, part, key.n_bytes + 16)
    factor = int.from_bytes(wide, "big") % (key.modulus - 1) + 1
    blinded = to_text(key.blind(token_message(survey, part, token), part, salt=salt, factor=factor).message)
    asked = {"survey": survey, "part": part, "invitation": case["invitation"], "blinded": blinded}
    return hashlib.sha256(json.dumps(asked, separators=(",", ":")).encode()).hexdigest()


def _doubles(n: int, spread: int) -> list[str]:
    """Doubles of all sizes up to two to the power of `spread`, among them subnormal ones."""
    found = [(1 + (37 * i % 101) / 103) * 2.0 ** (i * 11 % (spread + 1)) for i in range(n)]
    return [struct.pack(">d", weight if spread < 60 else weight * 2.0**-1074).hex() for weight in found]


def _partition(l: int, rows: int, columns: int = 1) -> dict[str, Any]:
    codes = (
        [code * 5 % (rows * columns) for code in range(rows * columns)] if rows * columns % 5 else range(rows * columns)
    )
    return {"kind": "partition", "l": l, "grid": [list(codes[r * columns : (r + 1) * columns]) for r in range(rows)]}


def _order(l: int, n: int, apart: int, spread: int = 2) -> dict[str, Any]:
    after = [min(i + apart + i % 2 * (i % 3), n) for i in range(n)]
    first_after = list(accumulate(after, max))
    return {
        "kind": "chain",
        "l": l,
        "node_of": list(range(n)),
        "first_after": first_after,
        "weights": _doubles(n, spread),
    }


def _groups(l: int, sizes: list[int], spread: int = 2) -> dict[str, Any]:
    node_of = sorted((node for node, size in enumerate(sizes) for _ in range(size)), key=lambda node: node * 7 % 11)
    after = list(range(1, len(sizes) + 1))
    return {
        "kind": "chain",
        "l": l,
        "node_of": node_of,
        "first_after": after,
        "weights": _doubles(len(node_of), spread),
    }


def _listed(l: int, n: int, spread: int = 2) -> dict[str, Any]:
    sets = [list(one) for one in combinations(range(n), l) if sum(one) * 31 % 7 < 4]
    return {"kind": "listed", "l": l, "sets": sets, "weights": _doubles(n, spread)}


def _chosen(l: int, n: int, rule: str) -> dict[str, Any]:
    rules = {
        "all": lambda i, j: i != j,
        "even groups": lambda i, j: i % 3 != j % 3,
        "uneven groups": lambda i, j: (i * i) % 5 != (j * j) % 5,
        "order": lambda i, j: abs(i - j) >= 2,
        "ring": lambda i, j: (i - j) % n not in {0, 1, n - 1},
    }
    allowed = ["".join("01"[rules[rule](i, j)] for j in range(n)) for i in range(n)]
    return {"kind": "choose", "l": l, "allowed": allowed, "weights": _doubles(n, 1)}


def _changes(draw: WeightedDraw, code: int) -> list[int]:
    """The first ranks at which the set is another one than just before."""
    found, rank = [], 0
    while len(found) < _MOST_CHANGES:
        step = 1
        while rank + step < draw.total(code) and draw.set_at(code, rank + step) == draw.set_at(code, rank):
            step *= 2
        if rank + step >= draw.total(code):
            break
        low, high = rank + step // 2, rank + step
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if draw.set_at(code, middle) == draw.set_at(code, rank) else (low, middle)
        found.append(high)
        rank = high
    return found


def _edges(forms: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Words at the edge of what is rejected: the last that are, and the first that are not."""
    found = []
    for form in forms:
        draw = make_draw(form)
        if isinstance(draw, WeightedDraw):
            bound = draw.total(1)
            bits = (bound - 1).bit_length()
            each = -(-bits // 64)
            numbers = [[bound - 1], [bound], [bound, 0], [bound, bound - 1], [0]]
            numbers += [[rank] for first in _changes(draw, 1) for rank in (first - 1, first)]
            words = [[number << (64 * each - bits) for number in row] for row in numbers if max(row) < 2**bits]
            rows = [[word >> (64 * at) & _LOW for word in row for at in range(each - 1, -1, -1)] for row in words]
        else:
            product = prod(range(2, draw.n_values + 1))
            even = product & -product
            refused = (_LOW + 1) % product
            inverse = pow(product // even, -1, (_LOW + 1) // even)
            rows = [[low // even * inverse % ((_LOW + 1) // even)] for low in (refused, refused - even, refused + even)]
        found += [{"draw": form, "code": 1, "words": [f"{word:x}" for word in row]} for row in rows]
    return found


def _asked() -> dict[str, Any]:
    partitions = [
        (2, 6),
        (3, 6),
        (3, 7),
        (3, 12),
        (4, 20),
        (5, 52),
        (3, 100),
        (5, 200),
        (10, 512),
        (7, 1000),
        (64, 2048),
    ]
    grids = [(2, 4, 3), (3, 5, 2), (4, 10, 2), (3, 12, 12), (2, 3, 20), (5, 40, 5)]
    draws = [*(_partition(l, n) for l, n in partitions), *(_partition(*grid) for grid in grids)]
    draws += [
        _order(2, 5, 2),
        _order(3, 12, 2),
        _order(4, 40, 3, 30),
        _order(5, 100, 4),
        _order(12, 200, 3),
        _order(3, 9, 2, 64),
    ]
    draws += [
        _groups(2, [3, 1, 2]),
        _groups(3, [5, 1, 4, 2, 1]),
        _groups(4, [20, 3, 9, 1, 30, 2, 5], 40),
        _groups(2, [1, 2, 3], 62),
    ]
    draws += [_listed(2, 6), _listed(3, 9), _listed(4, 12, 50), _listed(2, 40, 63)]
    draws += [_chosen(2, 9, rule) for rule in ("all", "even groups", "uneven groups", "order", "ring")]
    edges = _edges([_partition(2, 6), _partition(3, 7), _partition(2, 9), *(one for one in draws if "weights" in one)])
    cases = []
    for place, form in enumerate(draws):
        draw = make_draw(form)
        few = draw.first_words // 4 if draw.keyed_by_answer else draw.first_words - 2
        for words, zeros, n in ((2 * draw.first_words, 0, 90), (2 * draw.first_words, 1, 10), (few, 0, 20)):
            most = max(5, n * 6 // (5 + draw.l)) if draw.l > 9 else n
            cases.append({"draw": form, "seed": f"case {place}", "words": words, "zeros": zeros, "n": most})
    values = ["none", "été", "日本", "ﬁ", "a:b,", "flu", "😀", "x y", "9"]
    secrets = [hashlib.sha256(f"secret {i}".encode()).hexdigest() for i in range(6)]
    nine = [
        _partition(2, 9),
        _partition(3, 3, 3),
        _order(2, 9, 2),
        _groups(3, [4, 1, 3, 1]),
        _listed(3, 9),
        _chosen(3, 9, "ring"),
    ]
    keyed = [
        {"secret": secret, "name": name, "values": values, "draw": form}
        for secret in secrets
        for name in ("disease", "income")
        for form in nine
    ]
    tokens = [{"secret": secret, "survey": secret[::-1], "part": part} for secret in secrets for part in range(3)]
    key = to_text(bytes.fromhex(json.loads(FILE.with_name("rfc9474.json").read_text())["vectors"][0]["n"]))
    blind = [{**case, "invitation": "A-_z" * 5 + "09", "key": key} for case in tokens[:6]]
    forms: list[dict[str, Any]] = []
    for case in (*cases, *edges, *keyed):
        form = case["draw"]
        forms += [] if form in forms else [form]
        case["draw"] = forms.index(form)
    return {
        "about": ABOUT,
        "forms": forms,
        "draws": cases,
        "edges": edges,
        "keyed": keyed,
        "tokens": tokens,
        "blind": blind,
        "reports": _reports(),
    }


def _reports() -> list[dict[str, Any]]:
    asked = []
    for linked, tokens, token in (
        (True, "device", "A" * 22),
        (False, "invitation", "b-_9" * 5 + "zz"),
        (True, "blind", "C" * 43),
    ):
        about = [
            {"kind": "ranges", "name": "age", "ask": "How old?", "low": 18, "cuts": [30, 45], "high": None},
            {"kind": "choice", "name": "sex", "ask": "Sex?", "values": ["f", "m", "o"]},
        ]
        questions = [
            {
                "name": name,
                "ask": "Which?",
                "values": [f"v{code}" for code in range(size)],
                "ordered": False,
                "mechanism": {"kind": "uniform", "version": 1, "n_values": size, "l": l},
            }
            for name, size, l in (("disease", 9, 3), ("a-very_long-name-of-a-question", 300, 40))
        ]
        survey = {
            "format": "ldiversity-survey", "version": 1, "title": "T", "collector": "C", "contact": "c@example.org",
            "purpose": "P", "consent": "I agree.", "language": "en", "closes": None, "linked": linked, "tokens": tokens,
            "results": {"public": False, "minimum": 100, "step": 50, "goal": 0.02}, "quasi": about,
            "questions": questions, "blind_key": "q" * 341 + "w" if tokens == "blind" else None,
        }  # fmt: skip
        sets = {"disease": [0, 4, 8], "a-very_long-name-of-a-question": list(range(7, 287, 7))}
        asked += [
            {
                "survey": json.dumps(survey, separators=(",", ":"), sort_keys=True),
                "id": hashlib.sha256(tokens.encode()).hexdigest(),
                "token": token,
                "quasi": {"age": 2, "sex": 0},
                "sets": part,
                "signature": "s" * 342 if tokens == "blind" else None,
            }
            for part in ([sets] if linked else [{name: codes} for name, codes in sets.items()])
        ]
    return asked


if __name__ == "__main__":
    lines = (
        json.dumps(solve(_asked()), separators=(",", ":"), ensure_ascii=False)
        .replace('{"draw":', '\n{"draw":')
        .replace('{"kind":', '\n{"kind":')
    )
    FILE.write_text(lines.replace('{"secret":', '\n{"secret":') + "\n", encoding="utf-8")

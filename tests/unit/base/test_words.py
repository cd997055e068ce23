"""Fresh words, keyed words and the random order."""

from __future__ import annotations

import numpy as np
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from scipy import stats

from ldiversity.base.randomness import (
    FreshWords,
    IdentityHash,
    Key,
    KeyedWords,
    random_order,
    row_identities,
    with_values,
)

KEY = Key(bytes(range(32)))


def hashed(texts: list[bytes], key: Key = KEY) -> np.ndarray:
    lengths = np.array([len(text) for text in texts], dtype=np.int64)
    content = np.frombuffer(b"".join(texts), dtype=np.uint8)
    return IdentityHash(key).of_texts(content, np.cumsum(lengths) - lengths, lengths)


IDS = hashed([b"a", b"b", b"c", b"d"])


def test_fresh_words_differ_between_sources() -> None:
    assert (FreshWords().draw(8) != FreshWords().draw(8)).any()


def test_fresh_words_go_on_and_do_not_repeat() -> None:
    words = FreshWords()

    assert len(np.unique(np.concatenate([words.draw(1000), words.draw(1000)]))) == 2000


def test_an_insecure_seed_repeats_its_words() -> None:
    first, second = (FreshWords.from_insecure_seed(7).draw(5, 2) for _ in range(2))

    np.testing.assert_array_equal(first, second)


def test_no_words_are_no_trouble() -> None:
    assert FreshWords().draw(0, 3).shape == (0, 3)


def test_each_bit_of_fresh_words_is_fair() -> None:
    bits = np.unpackbits(FreshWords.from_insecure_seed(1).draw(100_000).view(np.uint8)).reshape(-1, 64)

    # 64 binomial z-scores; 5 standard deviations: a false alarm in 4e-5 of runs, had the seed not been fixed.
    assert np.abs(bits.mean(axis=0) - 0.5).max() < 5 * 0.5 / np.sqrt(100_000)


def aes_cbc(secret: bytes, message: bytes) -> bytes:
    """The last block of AES in CBC mode with a zero start, which every browser has too."""
    return Cipher(algorithms.AES(secret), modes.CBC(bytes(16))).encryptor().update(message)[-16:]


@pytest.mark.parametrize(
    "text", [b"", b"a", b"w" * 7, b"w" * 8, b"w" * 9, b"x" * 15, b"y" * 16, b"z" * 17, b"0123456789abcdef" * 4]
)
def test_a_text_is_hashed_by_cbc_mac_over_its_length_and_content(text: bytes) -> None:
    expected = aes_cbc(KEY.derive("id"), len(text).to_bytes(16, "little") + text + bytes(-len(text) % 16))

    assert hashed([b"other", text, b"longer than a block of AES"])[1].tobytes() == expected


@pytest.mark.parametrize("number", [0, 1, -1, 2**63 - 1, -(2**63)])
def test_a_whole_number_is_hashed_by_one_block(number: int) -> None:
    found = IdentityHash(KEY).of_integers(np.array([number], dtype=np.int64))

    message = b"\xff" * 8 + number.to_bytes(8, "little", signed=True)
    assert found.tobytes() == aes_cbc(KEY.derive("id"), message)


def test_block_j_of_the_words_is_aes_of_the_identity_with_j() -> None:
    words = KeyedWords(KEY, b"context").for_records(IDS[:1], 5)

    blocks = [(IDS[0] ^ np.array([0, j], dtype=np.uint64)).tobytes() for j in range(3)]
    expected = b"".join(aes_cbc(KEY.derive("draw", b"context"), block) for block in blocks)
    assert words.tobytes() == expected[:40]


def test_rows_have_identities_that_no_other_block_of_words_has() -> None:
    rows = [row_identities(file, 0, 3) for file in (0, 1)]
    blocks = [identity ^ np.array([0, j], dtype=np.uint64) for own in rows for identity in own for j in range(4)]

    assert len({block.tobytes() for block in blocks}) == 2 * 3 * 4


def test_keyed_words_do_not_depend_on_the_order_of_records() -> None:
    keyed = KeyedWords(KEY, b"context")
    order = np.array([2, 0, 3, 1])

    np.testing.assert_array_equal(keyed.for_records(IDS[order], 3), keyed.for_records(IDS, 3)[order])


def test_more_keyed_words_begin_with_the_same_words() -> None:
    keyed = KeyedWords(KEY, b"context")

    np.testing.assert_array_equal(keyed.for_records(IDS, 7)[:, :3], keyed.for_records(IDS, 3))


@pytest.mark.parametrize(
    ("key", "context", "record", "code"),
    [
        (Key(bytes(32)), b"context", b"a", None),
        (KEY, b"other", b"a", None),
        (KEY, b"context", b"b", None),
        (KEY, b"context", b"a", 0),
        (KEY, b"context", b"a", 1),
    ],
    ids=["key", "context", "record", "value 0", "value 1"],
)
def test_keyed_words_change_with_each_of_their_parts(key: Key, context: bytes, record: bytes, code: int | None) -> None:
    before = KeyedWords(KEY, b"context").for_records(hashed([b"a"]), 2)

    whose = hashed([record], key)
    after = KeyedWords(key, context).for_records(
        whose if code is None else with_values(whose, np.array([code], dtype=np.int32)), 2
    )

    assert (before != after).all()


@pytest.mark.parametrize("n", [0, 1, 2, 1000, 100_003])
def test_a_random_order_is_a_permutation(n: int) -> None:
    order = random_order(n, FreshWords.from_insecure_seed(n))

    np.testing.assert_array_equal(np.sort(order), np.arange(n))


def test_all_orders_of_four_rows_are_equally_likely() -> None:
    words = FreshWords.from_insecure_seed(3)

    codes = [int("".join(map(str, random_order(4, words)))) for _ in range(24_000)]

    counts = np.unique(codes, return_counts=True)[1]
    assert len(counts) == 24
    # Chi-square with 23 degrees of freedom; a false alarm in one of 10,000 runs.
    assert stats.chisquare(counts).pvalue > 1e-4


def test_rows_of_a_large_table_land_anywhere() -> None:
    n = 200_000
    order = random_order(n, FreshWords.from_insecure_seed(5))

    # Mean place of the first thousand rows is uniform: standard error n / sqrt(12 * 1000). 4.5 of them: 7e-6.
    first = np.argsort(order)[:1000].mean()
    assert abs(first - n / 2) < 4.5 * n / np.sqrt(12 * 1000)

"""Fresh words, keyed words and the random order."""

from __future__ import annotations

import numpy as np
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from scipy import stats

from ldiversity.base.randomness import FreshWords, Key, KeyedWords, random_order
from ldiversity.errors import ParameterError

KEY = Key(bytes(range(32)))
CODES = np.array([0, 1, 2, 1], dtype=np.int32)
DIGESTS = KEY.digest_records([b"a", b"b", b"c", b"d"])


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


def test_keyed_words_are_cbc_mac_over_digest_value_and_counter() -> None:
    words = KeyedWords(KEY, b"context").for_records(CODES[:1], DIGESTS[:1], 4)

    secret = KEY.derive("draw", b"context")
    macs = [
        Cipher(algorithms.AES(secret), modes.CBC(bytes(16)))
        .encryptor()
        .update(DIGESTS[:1].tobytes() + int(CODES[0]).to_bytes(16, "little") + counter.to_bytes(16, "little"))[-16:]
        for counter in range(2)
    ]
    assert words.tobytes() == b"".join(macs)


def test_keyed_words_do_not_depend_on_the_order_of_records() -> None:
    keyed = KeyedWords(KEY, b"context")
    order = np.array([2, 0, 3, 1])

    shuffled = keyed.for_records(CODES[order], DIGESTS[order], 3)

    np.testing.assert_array_equal(shuffled, keyed.for_records(CODES, DIGESTS, 3)[order])


def test_more_keyed_words_begin_with_the_same_words() -> None:
    keyed = KeyedWords(KEY, b"context")

    np.testing.assert_array_equal(keyed.for_records(CODES, DIGESTS, 7)[:, :3], keyed.for_records(CODES, DIGESTS, 3))


@pytest.mark.parametrize(
    ("key", "context", "code", "record"),
    [
        (Key(bytes(32)), b"context", 0, b"a"),
        (KEY, b"other", 0, b"a"),
        (KEY, b"context", 1, b"a"),
        (KEY, b"context", 0, b"b"),
    ],
    ids=["key", "context", "true value", "record"],
)
def test_keyed_words_change_with_each_of_their_parts(key: Key, context: bytes, code: int, record: bytes) -> None:
    before = KeyedWords(KEY, b"context").for_records(np.array([0], np.int32), KEY.digest_records([b"a"]), 2)

    after = KeyedWords(key, context).for_records(np.array([code], np.int32), key.digest_records([record]), 2)

    assert (before != after).all()


def test_keyed_words_need_ids() -> None:
    with pytest.raises(ParameterError, match="record_id"):
        KeyedWords(KEY, b"").for_records(CODES, None, 2)


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


def test_digests_of_ids_need_the_key() -> None:
    assert (KEY.digest_records([b"a"]) != Key(bytes(32)).digest_records([b"a"])).all()

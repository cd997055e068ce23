"""More classes than 32 bits can number: no number overflows where it is read, published, dealt or checked."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import ldiversity as ld
from ldiversity.base.spill import Spill
from ldiversity.models import count_classes
from ldiversity.release import Form, RangeRows, Ranges
from ldiversity.release._batches import CodedBatch
from ldiversity.release._cells import Cells, column_of
from ldiversity.release._class_decode import ClassDecoder
from ldiversity.release._class_publish import coded_rows
from ldiversity.release._class_rows import MemoryClassRows
from ldiversity.release._dealt import deal_classes, from_arrow, to_arrow

MANY = 2**40
FEW = 2**31 - 1


@pytest.mark.parametrize(("n_classes", "kind"), [(FEW, np.int32), (FEW + 1, np.int64), (MANY, np.int64)])
def test_numbers_are_read_and_published_in_the_bits_that_they_need(
    bucketized: ld.ClassRelease, n_classes: int, kind: type
) -> None:
    decoder = ClassDecoder(bucketized._description, "parquet", {"class_id": n_classes})
    numbers = pa.chunked_array([pa.array([1, n_classes], pa.int64())])
    read = decoder.class_ids(numbers, "class_id")
    rows = MemoryClassRows({"class_id": n_classes}, {"class_id": read}, pa.table({"age": [1, 2]}), pa.table({}), {}, {})

    (published,) = coded_rows(bucketized._description, rows)

    assert read.dtype == kind
    assert read.tolist() == [0, n_classes - 1]
    assert published["class_id"].to_pylist() == [1, n_classes]
    assert published["class_id"].type == pa.from_numpy_dtype(kind)


def test_a_number_above_all_classes_is_damage(bucketized: ld.ClassRelease) -> None:
    decoder = ClassDecoder(bucketized._description, "parquet", {"class_id": MANY})

    with pytest.raises(ld.ReleaseFormatError, match="numbers of classes"):
        decoder.class_ids(pa.chunked_array([pa.array([MANY + 1], pa.int64())]), "class_id")


def test_rows_of_many_classes_are_dealt_by_ranges() -> None:
    classes = np.array([0, MANY - 1, 2**31, 2**32 + 7], dtype=np.int64)
    batch = to_arrow(CodedBatch(classes, {}, {}, pa.table({})))

    with Spill() as spill:
        found = [
            some.first + int(one)
            for some in deal_classes([batch], n_classes=MANY, n_rows=4, most=1, spill=spill)
            for part in some.batches
            for one in from_arrow(part, some.first).classes
        ]

    assert found == sorted(classes.tolist())


def test_ranges_of_many_classes_are_numbered(bucketized: ld.ClassRelease) -> None:
    ranges = Ranges(bucketized._description, "class_id", {"class_id": MANY}, 1000)
    rows = RangeRows(ranges, "parquet")(pa.table({"class_id": pa.array([1, MANY], pa.int64())}))

    assert rows["class"].to_pylist() == [0, MANY - 1]
    assert rows["range"].to_pylist() == [0, 999]


def test_pairs_of_class_and_value_do_not_overflow() -> None:
    domain = ld.Domain(tuple(range(3000)))

    counts = count_classes(np.full(2, 10**6, dtype=np.int32), np.array([0, 2999], dtype=np.int32), 10**6 + 1, domain)

    assert counts.codes.tolist() == [0, 2999]
    assert counts.starts[-2:].tolist() == [0, 2]


def test_too_many_entries_of_lists_are_told() -> None:
    cells = Cells(np.array([0, 2**31]), np.zeros(0, dtype=np.int32))

    with pytest.raises(ld.LDiversityError, match="enough memory"):
        column_of(cells, Form("values", labels=("a",)), pa.string())

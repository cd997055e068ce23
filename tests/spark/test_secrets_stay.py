"""Keys and cells stay where they belong: everything that Spark leaves behind is searched for them."""

from __future__ import annotations

from tests.spark.canaries import CELLS
from tests.spark.conftest import Cluster


def test_no_cell_is_left_where_it_must_not_be(cluster: Cluster) -> None:
    """The search is not vacuous: there are files everywhere, executors too have shuffled, and everything was logged."""
    assert min(cluster.n_files[place] for place in ("events", "executors", "plans", "releases", "scratch")) > 0
    for log in (cluster.folder / "driver.log", *(cluster.folder / "spark" / "work").glob("*/0/stderr")):
        assert " INFO " in log.read_text()

    for place in ("events", "plans", "scratch", "driver.log", "spark"):
        assert cluster.cells[place] == set()
    # What is counted stands in the files of a session that does not encrypt them until Spark removes it, as the guide
    # says.
    assert cluster.cells["local"] <= {"value"}
    assert cluster.cells["releases"] == {"value"}  # a member of sets, as it should be
    assert len(cluster.said) == 1  # all other publications, audits and estimates came to their end
    assert {file.parent.name for file in cluster.folder.glob("releases/*/release.json")} == {
        *("sets", "staged", "people", "bsgi", "anatomy")
    }
    assert not [text for text in cluster.said for cell in CELLS.values() if cell.decode() in text]


def test_no_key_is_left_anywhere_and_one_that_is_spread_would_be_found(cluster: Cluster) -> None:
    assert set(cluster.keys) > {"holder", "job", "engine"}
    assert len([name for name in cluster.keys if name.startswith("other job ")]) > 2  # of audits and estimates
    assert set(cluster.passing) <= {"value"}  # what is counted stands on disk for a moment, as the guide says

    assert cluster.found == set()
    assert cluster.spread == {"holder"}

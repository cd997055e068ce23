"""Which files a frame of Spark reads, whether they are as they were, and how their rows are told apart."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from ldiversity.engines.spark._paths import FileState, local_path, pattern_of_uri, size_in, state_of
from ldiversity.engines.spark._quiet import quiet
from ldiversity.engines.spark._session import Frame, Session, is_connect
from ldiversity.engines.spark._unread import without_content
from ldiversity.errors import SchemaError

__all__ = [
    "InputFiles",
    "changed_files",
    "count_rows",
    "keeps_names",
    "list_files",
    "listed_paths",
    "reads_files_alone",
    "row_columns",
]

_SALTS: Final = range(64)
_PLAIN_NODES: Final = frozenset({"LogicalRelation", "SubqueryAlias", "Project"})
_PLAIN_EXPRESSIONS: Final = frozenset({"AttributeReference", "Alias"})
_PLAIN_RELATIONS: Final = frozenset({"read", "project", "drop", "with_columns_renamed", "subquery_alias"})


@dataclass(frozen=True)
class InputFiles:
    """The files of a table when it was opened.

    Attributes
    ----------
    paths
        As Spark lists them.
    states
        What this machine knows of each; None where it does not see one.
    known
        Path, size, time of the last change and number of rows of each.
    salt
        With it, no two paths have the same hash.
    """

    paths: tuple[str, ...]
    states: tuple[FileState | None, ...]
    known: frozenset[tuple[str, int, int, int]]
    salt: int

    @property
    def n_rows(self) -> int:
        """The rows of all files."""
        return sum(rows for *_, rows in self.known)

    @property
    def several(self) -> bool:
        """Whether rows need the number of their file."""
        return len(self.known) > 1

    def check_unchanged(self, session: Session, name: str) -> None:
        """Raise `SchemaError` unless the files are as they were."""
        try:
            # Another frame, because a frame remembers what it found in the folder when it was made.
            now = list_files(session.read.parquet(*map(pattern_of_uri, self.paths)))
        except Exception:  # noqa: BLE001 - a file that has gone, or is no Parquet any more
            now = None
        if now is None or (now.states, now.known) != (self.states, self.known):
            raise changed_files(name)


def changed_files(name: str) -> SchemaError:
    """The error for files that are not as they were."""
    return SchemaError(name, "the files must stay as they are while they are read", got="other ones").with_hint(
        "Nothing was published. Publish again, from files that nobody writes meanwhile."
    )


def list_files(frame: Frame) -> InputFiles | None:
    """Ask the cluster for the files that a frame reads, and how many rows each has.

    None where file and row do not tell all rows apart, because the frame reads a file more than once, or where Spark
    reads no files, but what it kept of them together with its facts about them.
    """
    with quiet():
        from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

        paths = listed_paths(frame)
        if not paths:
            return None
        states = tuple(map(_state, paths))
        for path, state in zip(paths, states, strict=True):
            if state is not None and size_in(state) == 0:
                raise without_content(Path(local_path(path) or path).name)
        facts = _facts(frame)
        for salt in _SALTS:
            found = (
                frame.select(
                    facts["file_path"].alias("path"),
                    facts["file_size"].alias("size"),
                    F.unix_millis(facts["file_modification_time"]).alias("changed"),
                    facts["row_index"].alias("row"),
                )
                .groupBy("path", "size", "changed")
                .agg(F.count(F.lit(1)).alias("n"), F.max("row").alias("last"), F.sum("row").alias("sum"))
                .select("path", "size", "changed", "n", "last", "sum", F.xxhash64(F.lit(salt), "path").alias("hash"))
                .collect()
            )
            if any(not _are_numbered(row["n"], row["last"], row["sum"]) for row in found):
                return None
            if len({_kept(row["hash"]) for row in found}) == len(found):
                known = frozenset((row["path"], row["size"], row["changed"], row["n"]) for row in found)
                return InputFiles(paths, states, known, salt)
    raise SchemaError("table", "must have fewer files", got=len(found)).with_hint("Write it again, in larger files.")


def listed_paths(frame: Frame) -> tuple[str, ...]:
    """The files that a frame reads, even if Spark keeps what it read from them before."""
    return tuple(sorted(frame.select(_facts(frame)["row_index"]).inputFiles()))


def count_rows(frame: Frame) -> int:
    """The rows of all files that a frame reads; a file that it reads twice counts twice."""
    return int(frame.select(_facts(frame)["row_index"]).count())


def row_columns(frame: Frame, files: InputFiles) -> list[Any]:
    """The columns that tell rows apart: the row in its file, and the hash of the file where there are several.

    Spark has kept nothing that has them, so what is selected with them comes from the files, as they are now.
    """
    from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

    facts = _facts(frame)
    row = facts["row_index"].alias("row")
    return [row, F.xxhash64(F.lit(files.salt), facts["file_path"]).alias("file")] if files.several else [row]


def _facts(frame: Frame) -> Any:  # noqa: ANN401 - a column of Spark
    """What Spark knows of the file of each row, even where the table has a column of the same name."""
    return frame.metadataColumn("_metadata")


def _are_numbered(n_rows: int, last: int, total: int) -> bool:
    """Whether rows have the numbers from 0 on, as far as their sum tells."""
    return last == n_rows - 1 and total == n_rows * (n_rows - 1) // 2


def _state(uri: str) -> FileState | None:
    path = local_path(uri)
    try:
        return None if path is None else state_of(path)
    except OSError:
        return None


def _kept(hashed: int) -> int:
    """The 56 bits of a hash that identities have room for."""
    return hashed & 0xFFFFFFFF_00FFFFFF


def reads_files_alone(frame: Frame) -> bool:
    """Whether a frame is nothing but columns of Parquet files, so that file and row say which row it is.

    All else is staged first. A join or a list that is unfolded repeats rows, and a filter by the present time, or a
    function that draws, gives other rows each time.
    """
    return _is_plain(frame, renamed=True)


def keeps_names(frame: Frame) -> bool:
    """Whether a frame is columns of Parquet files under the names that they have there."""
    return _is_plain(frame, renamed=False)


def _is_plain(frame: Frame, *, renamed: bool) -> bool:
    with quiet():
        try:
            plain = _connect_plain if is_connect(frame.sparkSession) else _classic_plain
            return plain(frame, renamed=renamed)
        except Exception:  # noqa: BLE001 - what cannot be looked at is staged
            return False


def _classic_plain(frame: Frame, *, renamed: bool) -> bool:
    known = _PLAIN_EXPRESSIONS if renamed else _PLAIN_EXPRESSIONS - {"Alias"}
    waiting, relations = [frame._jdf.queryExecution().analyzed()], 0  # noqa: SLF001 - there is no public way
    while waiting:
        node = waiting.pop()
        kind = node.getClass().getSimpleName()
        if kind not in _PLAIN_NODES:
            return False
        if kind == "LogicalRelation":
            relations += 1
            found = node.relation()
            if found.getClass().getSimpleName() != "HadoopFsRelation":
                return False
            if found.fileFormat().getClass().getSimpleName() != "ParquetFileFormat":
                return False
        if kind == "Project" and not all(_plain_expression(one, known) for one in _listed(node.projectList())):
            return False
        waiting += _listed(node.children())
    return relations == 1


def _plain_expression(expression: Any, known: frozenset[str]) -> bool:  # noqa: ANN401 - an object of Java
    kind = expression.getClass().getSimpleName()
    return kind in known and all(_plain_expression(one, known) for one in _listed(expression.children()))


def _listed(sequence: Any) -> list[Any]:  # noqa: ANN401 - a sequence of Scala
    return [sequence.apply(place) for place in range(sequence.size())]


def _connect_plain(frame: Frame, *, renamed: bool) -> bool:
    relation = frame._plan.to_proto(frame.sparkSession.client).root  # noqa: SLF001 - there is no public way
    while True:
        kind = relation.WhichOneof("rel_type")
        if kind not in _PLAIN_RELATIONS or (kind == "with_columns_renamed" and not renamed):
            return False
        own = getattr(relation, kind)
        if kind == "read":
            # A named table may be a view of anything.
            return bool(own.WhichOneof("read_type") == "data_source" and own.data_source.format == "parquet")
        if kind == "project" and any(
            one.WhichOneof("expr_type") != "unresolved_attribute"
            or "_metadata" in one.unresolved_attribute.unparsed_identifier
            or ("." in one.unresolved_attribute.unparsed_identifier and not renamed)  # it may be inside another
            for one in own.expressions
        ):
            return False
        relation = own.input

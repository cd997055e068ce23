"""Which files a frame of Spark reads, whether they are as they were, and how their rows are told apart."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from ldiversity.engines.spark._session import Frame, Session, is_connect, quiet
from ldiversity.errors import SchemaError

__all__ = ["InputFiles", "changed_files", "file_column", "keeps_names", "list_files", "reads_files_alone"]

_SALTS: Final = range(64)
_PLAIN_NODES: Final = frozenset({"LogicalRelation", "SubqueryAlias", "Project"})
_PLAIN_EXPRESSIONS: Final = frozenset({"AttributeReference", "Alias"})
_PLAIN_RELATIONS: Final = frozenset({"read", "project", "drop", "with_columns_renamed", "subquery_alias"})


@dataclass(frozen=True)
class InputFiles:
    """The files of a table when it was opened.

    Attributes
    ----------
    known
        Path, size, time of the last change and number of rows of each.
    salt
        With it, no two paths have the same hash.
    """

    paths: tuple[str, ...]
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
            now = list_files(session, session.read.parquet(*self.paths)) if self.paths else None
        except Exception:  # noqa: BLE001 - a file that has gone, or is no Parquet any more
            now = None
        if self.paths and (now is None or now.known != self.known):
            raise changed_files(name)


def changed_files(name: str) -> SchemaError:
    """The error for files that are not as they were."""
    return SchemaError(name, "the files must stay as they are while they are read", got="other ones").with_hint(
        "Nothing was published. Publish again, from files that nobody writes meanwhile."
    )


def list_files(session: Session, frame: Frame) -> InputFiles:
    """Ask the cluster for the files that a frame reads, and how many rows each has."""
    with quiet():
        from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

        del session
        path = F.col("_metadata.file_path")
        for salt in _SALTS:
            found = (
                frame.select(
                    path.alias("path"),
                    F.col("_metadata.file_size").alias("size"),
                    F.unix_millis("_metadata.file_modification_time").alias("changed"),
                )
                .groupBy("path", "size", "changed")
                .count()
                .select("path", "size", "changed", "count", F.xxhash64(F.lit(salt), "path").alias("hash"))
                .collect()
            )
            if len({_kept(row["hash"]) for row in found}) == len(found):
                known = frozenset((row["path"], row["size"], row["changed"], row["count"]) for row in found)
                return InputFiles(tuple(sorted(frame.inputFiles())), known, salt)
    raise SchemaError("table", "must have fewer files", got=len(found)).with_hint("Write it again, in larger files.")


def _kept(hashed: int) -> int:
    """The 56 bits of a hash that identities have room for."""
    return hashed & 0xFFFFFFFF_00FFFFFF


def file_column(files: InputFiles) -> Any:  # noqa: ANN401 - a column of Spark
    """The hash of the file of each row."""
    from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

    return F.xxhash64(F.lit(files.salt), F.col("_metadata.file_path"))


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

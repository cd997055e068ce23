"""The release: where the data holder's side ends and the data user's side begins."""

from ldiversity.release._coded import wrap_sets
from ldiversity.release._description import Layout, ReleaseDescription
from ldiversity.release._manifest import Manifest
from ldiversity.release._release import Release, explode_rows, load_release
from ldiversity.release._shuffle import shuffle_batches, shuffle_table
from ldiversity.release._write import Format, staging_folder, write_release

__all__ = [
    "Format",
    "Layout",
    "Manifest",
    "Release",
    "ReleaseDescription",
    "explode_rows",
    "load_release",
    "shuffle_batches",
    "shuffle_table",
    "staging_folder",
    "wrap_sets",
    "write_release",
]

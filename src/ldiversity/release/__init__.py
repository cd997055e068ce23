"""The release: where the data holder's side ends and the data user's side begins."""

from ldiversity.release._base import Release, check_release
from ldiversity.release._batches import RowBatch
from ldiversity.release._class_release import ClassRelease
from ldiversity.release._coded import wrap_sets
from ldiversity.release._description import ClassDescription, Format, Layout, ReleaseDescription, SetLayout
from ldiversity.release._forms import Form, Marginal, Reach
from ldiversity.release._load import load_release
from ldiversity.release._manifest import Manifest
from ldiversity.release._set_release import SetRelease, explode_rows
from ldiversity.release._shuffle import shuffle_batches, shuffle_table
from ldiversity.release._staging import staging_folder
from ldiversity.release._write import write_release

__all__ = [
    "ClassDescription",
    "ClassRelease",
    "Form",
    "Format",
    "Layout",
    "Manifest",
    "Marginal",
    "Reach",
    "Release",
    "ReleaseDescription",
    "RowBatch",
    "SetLayout",
    "SetRelease",
    "check_release",
    "explode_rows",
    "load_release",
    "shuffle_batches",
    "shuffle_table",
    "staging_folder",
    "wrap_sets",
    "write_release",
]

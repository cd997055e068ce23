"""The release: where the data holder's side ends and the data user's side begins."""

from ldiversity.release._base import Release, check_release, check_values
from ldiversity.release._batches import CodedBatch, RowBatch
from ldiversity.release._cells import Cells, column_of, join_cells, node_labels, numbers_in, numbers_out
from ldiversity.release._check_classes import verify_classes
from ldiversity.release._check_sets import verify_exploded, verify_inside, verify_sets
from ldiversity.release._claims import (
    PEOPLE,
    RECORDS,
    USE_A_KEY,
    AlikeClaim,
    Claim,
    ClassClaim,
    claim_of,
    class_claim,
    sets_not_protected,
    subjects_of,
    what_changes_tell,
)
from ldiversity.release._class_limits import SEPARATE_CLASSES, class_not_protected
from ldiversity.release._class_release import ClassRelease
from ldiversity.release._class_rows import MemoryClassRows
from ldiversity.release._class_verify import verify_class_rows
from ldiversity.release._class_write import ClassWriter, ValuesWriter, check_classes, finish_classes, write_classes
from ldiversity.release._coded import parse_type, wrap_sets
from ldiversity.release._dealt import ClassRange, deal_classes
from ldiversity.release._description import ClassDescription, Format, Layout, ReleaseDescription, SetLayout
from ldiversity.release._dtypes import keep_shown
from ldiversity.release._evidence import Evidence
from ldiversity.release._files import DataFile
from ldiversity.release._forms import Form, Marginal, Reach
from ldiversity.release._grid import EXACT, SMALLEST_STEP, Grid, Step, grid_of
from ldiversity.release._grid_calendar import CALENDAR_UNITS, Calendar, is_calendar, units_per_day
from ldiversity.release._load import checksum_of, load_release
from ldiversity.release._manifest import Manifest
from ldiversity.release._membership import Membership, membership
from ldiversity.release._pieces import Piece, pieces_of
from ldiversity.release._posterior_bound import PosteriorBound
from ldiversity.release._publishable import check_publishable
from ldiversity.release._range_checks import RANGE, CheckRange, RangeNote, RangeRows, Ranges, refuse_ranges
from ldiversity.release._regions import Intervals, Lists, Region, label_array, number_array, to_numbers
from ldiversity.release._row_parts import ReleaseParts
from ldiversity.release._set_release import SetRelease, explode_rows
from ldiversity.release._sinks import no_records_left
from ldiversity.release._staging import staging_folder
from ldiversity.release._write import SetWriter, check_description, finish_release, write_release
from ldiversity.release._written import PartWriter, ReadBack, Written

__all__ = [
    "CALENDAR_UNITS",
    "EXACT",
    "PEOPLE",
    "RANGE",
    "RECORDS",
    "SEPARATE_CLASSES",
    "SMALLEST_STEP",
    "USE_A_KEY",
    "AlikeClaim",
    "Calendar",
    "Cells",
    "CheckRange",
    "Claim",
    "ClassClaim",
    "ClassDescription",
    "ClassRange",
    "ClassRelease",
    "ClassWriter",
    "CodedBatch",
    "DataFile",
    "Evidence",
    "Form",
    "Format",
    "Grid",
    "Intervals",
    "Layout",
    "Lists",
    "Manifest",
    "Marginal",
    "Membership",
    "MemoryClassRows",
    "PartWriter",
    "Piece",
    "PosteriorBound",
    "RangeNote",
    "RangeRows",
    "Ranges",
    "Reach",
    "ReadBack",
    "Region",
    "Release",
    "ReleaseDescription",
    "ReleaseParts",
    "RowBatch",
    "SetLayout",
    "SetRelease",
    "SetWriter",
    "Step",
    "ValuesWriter",
    "Written",
    "check_classes",
    "check_description",
    "check_publishable",
    "check_release",
    "check_values",
    "checksum_of",
    "claim_of",
    "class_claim",
    "class_not_protected",
    "column_of",
    "deal_classes",
    "explode_rows",
    "finish_classes",
    "finish_release",
    "grid_of",
    "is_calendar",
    "join_cells",
    "keep_shown",
    "label_array",
    "load_release",
    "membership",
    "no_records_left",
    "node_labels",
    "number_array",
    "numbers_in",
    "numbers_out",
    "parse_type",
    "pieces_of",
    "refuse_ranges",
    "sets_not_protected",
    "staging_folder",
    "subjects_of",
    "to_numbers",
    "units_per_day",
    "verify_class_rows",
    "verify_classes",
    "verify_exploded",
    "verify_inside",
    "verify_sets",
    "what_changes_tell",
    "wrap_sets",
    "write_classes",
    "write_release",
]

"""What releases claim, and the check of it on what was produced."""

from ldiversity.privacy._claims import NOT_PROTECTED, USE_A_KEY, Claim, claim_of
from ldiversity.privacy._class_claims import ClassClaim
from ldiversity.privacy._class_limits import SEPARATE_CLASSES, class_not_protected
from ldiversity.privacy._published import verify_exploded, verify_sets
from ldiversity.privacy._verify_classes import verify_classes

__all__ = [
    "NOT_PROTECTED",
    "SEPARATE_CLASSES",
    "USE_A_KEY",
    "Claim",
    "ClassClaim",
    "claim_of",
    "class_not_protected",
    "verify_classes",
    "verify_exploded",
    "verify_sets",
]

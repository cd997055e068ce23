"""Publishing classes of tables of which only a part fits into memory."""

from ldiversity.publish._parts._publish import publish_in_parts
from ldiversity.publish._parts._sizes import PartSizes, part_sizes

__all__ = ["PartSizes", "part_sizes", "publish_in_parts"]

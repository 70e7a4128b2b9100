"""Values of axes that are numbers with a unit."""

from __future__ import annotations

import re

NUMBER = re.compile(
    r"^\s*([-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]{1,2})?)\s*([A-Za-zµ%].*)?$"
)
"""A number, and what stands behind it: `5 Mb/s`, `40s`."""

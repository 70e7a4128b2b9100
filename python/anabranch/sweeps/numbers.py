"""Values of axes that are numbers with a unit."""

from __future__ import annotations

import re

NUMBER = re.compile(r"^\s*([-+]?[0-9.]+(?:[eE][-+]?[0-9]+)?)(?:\s+(\S.*))?$")
"""A number, and what stands behind it: `5 Mb/s`."""

"""The same at the side that accepts: a module of its own, for the kernel may free a controller that
accepted subflows had some time after they are gone, and `clean` would wait for that.
"""

from __future__ import annotations

import pytest
from needs import unavailable
from test_assign import transferred

from anabranch import _core
from anabranch.linux.controllers import available

pytestmark = pytest.mark.usefixtures("kernel", "controllers")


def test_all_subflows_that_a_group_accepts_have_the_controller_also_one_that_joins_later() -> None:
    if there := list(_core.kernel_loaded()):
        unavailable(f"an operator has loaded {', '.join(there)}")
    transferred("server")
    assert "ab_lia" not in available() and _core.kernel_assigned() == []

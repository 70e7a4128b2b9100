"""The subjects of a plan: the classes of users whose controller a command replaces."""

from __future__ import annotations

from collections.abc import Sequence

from .plan import Class


def subjects(classes: Sequence[Class]) -> list[Class]:
    """The classes with `subject`. If there are none, these are the classes with several paths or,
    if no class has several, all classes with a controller.
    """
    controlled = [c for c in classes if c.protocol != "udp"]
    chosen = [c for c in controlled if c.subject]
    return chosen or [c for c in controlled if len(c.paths) > 1] or controlled

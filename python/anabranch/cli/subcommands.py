"""Commands that stand in modules of their own."""

from __future__ import annotations

import typer

from .advise import ADVISE_EXAMPLES, advise
from .arguments import Command
from .captured import CAPTURE_EXAMPLES, capture
from .law import law_app
from .linux import linux_app
from .paper import paper_app
from .quic import quic_app
from .shared import SHARED_EXAMPLES, shared
from .sweep import sweep_app
from .tunnel import tunnel_app


def add_subcommands(app: typer.Typer) -> None:
    """Adds them to the program."""
    app.command("advise", cls=Command, epilog=ADVISE_EXAMPLES)(advise)
    app.command("capture", cls=Command, epilog=CAPTURE_EXAMPLES)(capture)
    app.command("shared", cls=Command, epilog=SHARED_EXAMPLES)(shared)
    app.add_typer(linux_app, name="linux")
    app.add_typer(law_app, name="law")
    app.add_typer(sweep_app, name="sweep")
    app.add_typer(paper_app, name="paper")
    app.add_typer(quic_app, name="quic")
    app.add_typer(tunnel_app, name="tunnel")

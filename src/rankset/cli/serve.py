"""``rankset serve``: a rule as a server, with its live page."""

from __future__ import annotations

import errno
import os
import socket
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import click

from rankset.cli.command import Command
from rankset.cli.echo import echo
from rankset.cli.new_rows import read_new_rows
from rankset.cli.options import FILE, options, parse_bytes, parse_seconds
from rankset.cli.promises import promise_arguments
from rankset.cli.reloads import Reloads
from rankset.cli.served_store import NONE, in_store_options, store_in_words, store_options
from rankset.errors import FileError, RanksetError, needs_extra
from rankset.io.layout import Layout
from rankset.rules.rule import Rule

if TYPE_CHECKING:
    from rankset.serving.guard import App

TOKEN = "RANKSET_TOKEN"  # noqa: S105 - the name of a variable
OTHER_HOST = "Pass another address with --host."
Way = Callable[[Callable[..., Any]], Callable[..., Any]]


def _limit(flag: str, default: float, about: str, kind: Any) -> Way:
    return click.option(flag, metavar="N", type=kind, default=default, show_default=True, help=about)


WHOLE = click.IntRange(1, 2**31)


def _or_none(parse: Callable[[click.Context, click.Parameter, str], Any]) -> Callable[..., Any]:
    """Return what parses a bound of the store, which can be none."""
    return lambda context, parameter, text: None if text.lower() == NONE else parse(context, parameter, text)


@click.command(cls=Command)
@click.argument("rule", type=FILE)
@click.option(
    "--host", default="127.0.0.1", show_default=True, help="Address to listen at. Other machines need a token."
)
@click.option("--port", type=click.IntRange(0, 65535), default=8000, show_default=True, help="Port; 0: any free one.")
@click.option(
    "--store",
    metavar="FILE|URL|none",
    help="Where rows and labels are kept: a SQLite file, or a database. none: they are not kept.  "
    "[default: a file in this folder, with the name of RULE and the ending .db]",
)
@click.option(
    "--max-age",
    metavar="TIME|none",
    default="365d",
    callback=_or_none(parse_seconds),
    help="Drop rows from the store that are older, such as 90d or 12h.  [default: as before; 365d for a new store]",
)
@click.option(
    "--max-size",
    metavar="BYTES|none",
    default="1GB",
    callback=_or_none(parse_bytes),
    help="Largest size of the store. The oldest rows are dropped.  [default: as before; 1GB for a new store]",
)
@click.option("--triage", metavar="FILE", type=FILE, help="A file of rankset triage, for POST /triage.")
@click.option(
    "--allow-host", metavar="NAME", multiple=True, help="A further name by which the server may be asked without token."
)
@click.option(
    "--log", type=click.Choice(["text", "json"]), default="text", show_default=True, help="Form of the log on stderr."
)
@click.option("--no-access-log", "requests", flag_value=False, default=True, help="Do not log single requests.")
@click.option(
    "--max-body",
    metavar="BYTES",
    default="10MB",
    show_default=True,
    callback=parse_bytes,
    help="Largest body of a request.",
)
@_limit("--max-rows", 10_000, "Most rows of a request.", WHOLE)
@_limit("--max-seconds", 30.0, "Seconds to send a request, and to answer it.", click.FloatRange(0.1, 3600))
@_limit("--max-concurrency", 64, "Most requests at once.", WHOLE)
@_limit("--max-connections", 512, "Most open connections.", WHOLE)
@_limit("--max-headers", 16_384, "Most bytes of the headers of a request.", click.IntRange(1024, 2**24))
@_limit("--max-listeners", 20, "Most open live pages.", WHOLE)
@click.option(
    "--start-outputs",
    metavar="FILE",
    help="Model outputs of the calibration rows of RULE. With them the alarm about outputs knows what is usual before "
    "the first row. Read again at SIGHUP.",
)
@click.option(
    "--empty",
    type=click.Choice(["allow", "top"]),
    default="allow",
    show_default=True,
    help="Leave empty sets empty (allow), or put the most likely label into them (top).",
)
@options("alpha", "confidence", "all_groups")
def serve(
    rule: Path,
    host: str,
    port: int,
    store: str | None,
    max_age: float | None,
    max_size: int | None,
    triage: Path | None,
    allow_host: tuple[str, ...],
    log: str,
    requests: bool,
    start_outputs: str | None,
    empty: str,
    alpha: str,
    confidence: str | None,
    all_groups: bool,
    **limits: float,
) -> None:
    """Serve the sets of RULE over HTTP: predictions, labels that come later, alarms, and a live page.

    POST /predict takes rows as JSON and answers their sets. POST /feedback takes their true labels later. POST /triage
    says which answers may be accepted, if --triage is given. GET / is the live page, GET /docs lists all endpoints,
    GET /metrics has numbers for Prometheus. Rows and labels are kept in a store, for the page and for
    rankset recalibrate.

    The server listens on this machine only. Addresses of this machine alone (127.0.0.0/8, ::1, localhost) need no
    token. To listen on another one, set a secret of at least 16 characters in the environment variable RANKSET_TOKEN;
    every request must then carry it: Authorization: Bearer TOKEN.

    --alpha is the level of requests that give none. Misses are counted for rows at this level. SIGHUP loads RULE and
    the triage anew without losing a request. Ctrl-C and SIGTERM stop the server after requests that are being worked
    on. There is one process only: alarms are about all rows, in one order.

    \b
    rankset serve rule.rankset
    curl --json '{"rows": [[0.7, 0.2, 0.1]], "ids": ["a1"]}' http://127.0.0.1:8000/predict
    curl --json '{"ids": ["a1"], "labels": [0]}' http://127.0.0.1:8000/feedback
    """
    reloads = Reloads()
    with needs_extra("rankset serve"):
        from rankset.serving import server
        from rankset.serving.access_log import set_up_logging
    token = _token(host, local=server.is_loopback(host))
    listening = _listening(host, port, server)
    kept = store_options(rule, store, max_age, max_size)
    set_up_logging(as_json=log == "json", requests=requests)
    sure = promise_arguments(confidence, None, all_groups=all_groups)
    answering = {"alpha": alpha, "empty": empty, **{name: sure[name] for name in ("confidence", "all_groups")}}
    files: dict[str, Any] = {"triage": triage}
    if start_outputs is not None:
        files["outputs"] = _start_outputs(start_outputs)
    hosts = (*server.LOOPBACK, server.name_of(listening), *allow_host)
    app = _app(rule, token, hosts, {**kept, **files, **answering}, limits)
    number = server.run(app, listening, lambda: _announce(rule, app, server.address_of(listening), kept), reloads)
    code = 128 + number if number else 0
    reloads.end()
    server.end_process(code)
    click.get_current_context().exit(code)


def _app(rule: Path, token: str | None, hosts: tuple[str, ...], options: dict[str, Any], limits: dict[str, Any]) -> App:
    """Return the application; everything that can be wrong is found here."""
    from rankset.serving import Limits, app

    named = {name.removeprefix("max_"): value for name, value in limits.items()}
    try:
        made = app(rule, token=token, hosts=hosts, limits=Limits(**named), **options)
    except RanksetError as error:
        raise _in_options(error, options["store"]) from None
    if made.service.ledger.store is not None:
        from rankset.serving.storage.bounds import remember_bounds

        remember_bounds(made.service.ledger.store, {name: options[name] for name in ("max_age", "max_bytes")})
    return made


def _in_options(error: RanksetError, store: str | None) -> RanksetError:
    """Return an error with the names and remedies of the command line."""
    if (error.expected, error.received) == ("contain a Rule", "a Triage"):
        error.remedy = "Pass this file as --triage FILE, and a rule of the same model as RULE."
    return in_store_options(error, store)


def _start_outputs(path: str) -> Callable[[Rule], Any]:
    """Return what reads the outputs of the calibration rows of a rule; raise an error if there is no such file."""
    if not Path(path).exists():
        raise FileError.missing(path)

    def read(rule: Rule) -> Any:
        rows = read_new_rows(path, Layout(), rule.spec)
        with rows.name_file_in_errors():
            return rows.scores

    return read


def _announce(rule: Path, app: App, address: str, kept: dict[str, Any]) -> None:
    """Print where the server is, and where and how long rows are kept."""
    echo(f"Serving {rule} at {address} (alpha {float(app.service.loaded.alpha):g}). Ctrl-C stops it.")
    store = app.service.ledger.store
    if store is None:
        echo("Rows are not kept, so labels are refused: --store none.")
    else:
        echo(store_in_words(store, kept["max_age"], kept["max_bytes"]))


def _token(host: str, *, local: bool) -> str | None:
    """Return the token of the environment; raise an error if an address needs one and there is none."""
    found = os.environ.get(TOKEN) or None
    if found is None and not local:
        raise click.UsageError(
            f"--host {host} can be reached from other machines, so a token is needed. Set {TOKEN} to a secret of at "
            "least 16 characters, such as one of: python3 -c 'import secrets; print(secrets.token_urlsafe())'"
        )
    if found is not None:
        from rankset.serving.access import Token

        Token(found, TOKEN)
    return found


def _listening(host: str, port: int, server: ModuleType) -> socket.socket:
    """Return a socket at an address; raise an error that names the address if there can be none."""
    try:
        found: socket.socket = server.listening_socket(host, port)
    except UnicodeError:
        raise click.ClickException(f"cannot listen at {host}: this is no name of a host. {OTHER_HOST}") from None
    except OSError as error:
        taken = error.errno in {errno.EADDRINUSE, errno.EACCES}
        remedy = "Pass another port with --port; 0 is any free one." if taken else OTHER_HOST
        said = f"cannot listen at {host}, port {port}: {error.strerror or error}. {remedy}"
        raise click.ClickException(said) from None
    return found

"""The command line, with ruff's habits."""

from __future__ import annotations

import os
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from warp_lint import __version__, repetition
from warp_lint.cache import Caches
from warp_lint.reports import FORMATS
from warp_lint.settings import Settings, SettingsError
from warp_lint.trees import SettingsLookup, Trees, find_trees
from warp_lint.witnesses import paths_with_a_say

if TYPE_CHECKING:
    from rich.progress import Progress

    from warp_lint.baseline import Baseline
    from warp_lint.result import Result
    from warp_lint.rules.base import Rule
    from warp_lint.splicing import Change

CLEAN, FINDINGS, FAILURE = 0, 1, 2
INTERRUPTED = 130
"""128 and the number of the signal, as shells count it."""

_STANDARD_INPUT = "-"
_ADD_SUPPRESSIONS = "--add-suppressions"
_SECONDS_BEFORE_PROGRESS = 1.0


def run(arguments: Sequence[str]) -> int:
    """Do what a command line asks for; returns the exit status."""
    colour = False if os.environ.get("NO_COLOR") else True if os.environ.get("FORCE_COLOR") else None
    try:
        status = commands.main(
            list(arguments), "warp-lint", standalone_mode=False, color=colour, obj=list(arguments)
        )
    except click.ClickException as error:
        error.show()
        return FAILURE
    except SettingsError as error:
        _complain(str(error))
        return FAILURE
    except click.Abort:
        return INTERRUPTED
    return int(status or CLEAN)


class _CheckByDefault(click.Group):
    """A command line that names no command is one of ``check``."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        # Without this, the path after it would be its value.
        args = [f"{arg}=" if arg == _ADD_SUPPRESSIONS else arg for arg in args]
        if not args or args[0] not in (*self.commands, "-h", "--help", "-V", "--version"):
            args = ["check", *args]
        return super().parse_args(ctx, args)


@click.group(
    cls=_CheckByDefault,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="`warp-lint PATHS` is `warp-lint check PATHS`.",
)
@click.version_option(__version__, "-V", "--version")
def commands() -> None:
    """The linter that keeps GPU programs written with NVIDIA Warp fast to start."""


def _split(_context: click.Context, _parameter: click.Parameter, values: tuple[str, ...]) -> list[str]:
    return [part.strip() for value in values for part in value.split(",") if part.strip()]


def _selectors(option: str, text: str) -> Callable[[Callable[..., int]], Callable[..., int]]:
    return click.option(option, metavar="CODES", multiple=True, callback=_split, help=text)


@commands.command()
@click.argument("paths", nargs=-1, type=click.Path())
@_selectors("--select", "Codes, prefixes or names of the rules to run, with commas between, or ALL.")
@_selectors("--ignore", "Rules to leave out.")
@_selectors("--extend-select", "Rules to run beside those selected elsewhere.")
@_selectors("--extend-ignore", "Rules to leave out beside those ignored elsewhere.")
@click.option(
    "--per-file-ignores",
    metavar="PATTERN:CODE",
    multiple=True,
    callback=_split,
    help="Rules to leave out in the files that match a pattern; pairs with commas between.",
)
@click.option(
    "--output-format",
    type=click.Choice(FORMATS),
    help="How findings are printed. [default: full on a terminal, concise elsewhere]",
)
@click.option("-o", "--output-file", type=click.Path(dir_okay=False), help="Where findings go instead.")
@click.option("--statistics", is_flag=True, help="Count the findings of each rule instead of showing them.")
@click.option(
    "--baseline", type=click.Path(dir_okay=False), help="A file of findings that are accepted and not told."
)
@click.option("--write-baseline", is_flag=True, help="Accept all that is found: write it to the baseline.")
@click.option(
    _ADD_SUPPRESSIONS,
    metavar="[=REASON]",
    help="Put a comment on each line with a finding, so that it is not reported any more.",
)
@click.option("-e", "--exit-zero", is_flag=True, help="Exit with 0 also when there are findings.")
@click.option("--fix", is_flag=True, help="Make the fixes that are safe.")
@click.option("--unsafe-fixes", is_flag=True, help="Count, show and make fixes that are unsafe, too.")
@click.option("--fix-only", is_flag=True, help="Make fixes, and do not speak of what is left. Implies --fix.")
@click.option("--diff", is_flag=True, help="Print what fixes would change, and change nothing.")
@click.option("--show-fixes", is_flag=True, help="Count what was fixed, by file and rule.")
@click.option("--exit-non-zero-on-fix", is_flag=True, help="Exit with 1 also when everything was fixed.")
@click.option(
    "--config",
    type=click.Path(exists=True, dir_okay=False),
    help="A settings file that counts instead of the nearest one.",
)
@click.option("--isolated", is_flag=True, help="Read no settings file.")
@click.option("--force-exclude", is_flag=True, help="Leave out what is excluded even when it is named.")
@click.option("--target-version", metavar="VERSION", help="The oldest Warp that the project must run on.")
@click.option(
    "--stdin-filename",
    type=click.Path(),
    help="The file that standard input is read for: it stands in this one's place in the project.",
)
@click.option("--no-cache", is_flag=True, help="Neither use what earlier runs found nor keep it.")
@click.option(
    "--cache-dir",
    type=click.Path(file_okay=False),
    help="Where what was found is kept. [default: .warp_lint_cache in the root of each project]",
)
@click.option(
    "-j",
    "--jobs",
    type=click.IntRange(min=1),
    help="The most processes to use. [default: as many as there are processors]",
)
@click.option("--show-files", is_flag=True, help="List the files that would be linted.")
@click.option("--show-settings", is_flag=True, help="List the settings that count for the paths.")
@click.option("-v", "--verbose", is_flag=True, help="Tell more about the run, on standard error.")
@click.option("-q", "--quiet", is_flag=True, help="Print findings and errors, nothing else.")
def check(paths: tuple[str, ...], **options: Any) -> int:
    """Lint files and directories (by default the working directory, `-` for standard input).

    Exit status: 0 nothing found, 1 findings, 2 something could not be read or done. After fixes, what is left
    counts; with --fix-only nothing does, with --diff what would be fixed.
    """
    started = time.time_ns()
    lookup = _settings_lookup(options)
    texts: dict[str, bytes] = {}
    if _STANDARD_INPUT in paths:
        path = os.path.abspath(options["stdin_filename"] or _STANDARD_INPUT)  # noqa: PTH100 - resolves `..`
        texts[path] = sys.stdin.buffer.read()
        paths = tuple(path if given == _STANDARD_INPUT else given for given in paths)
    paths = paths or (".",)
    _check_combination(options, texts)
    if options["show_settings"] or options["show_files"]:
        shown = _settings_listed if options["show_settings"] else _files_listed
        _print(shown(paths, lookup), None)
        return CLEAN
    return _check(paths, lookup, texts, options, started)


def _check_combination(options: Mapping[str, Any], texts: Mapping[str, bytes]) -> None:
    """Refuse options that cannot be meant together."""
    for accepts, name in (
        (options["write_baseline"], "--write-baseline"),
        (_suppresses(options), _ADD_SUPPRESSIONS),
    ):
        if accepts and (_fixes(options) or texts):
            raise click.UsageError(f"{name} goes neither with fixes nor with standard input")
    if options["write_baseline"] and not options["baseline"]:
        raise click.UsageError("--write-baseline needs --baseline FILE")
    if options["write_baseline"] and _suppresses(options):
        raise click.UsageError(f"--write-baseline and {_ADD_SUPPRESSIONS} exclude each other")


def _check(
    paths: Sequence[str],
    lookup: SettingsLookup,
    texts: Mapping[str, bytes],
    options: Mapping[str, Any],
    started: int,
) -> int:
    """Lint, and do with what is found as the options ask; ``started`` is when the run began, in nanoseconds
    of the clock."""
    from warp_lint.reports.wording import counted

    baseline = _baseline(options)
    trees = find_trees(paths, lookup, in_memory=texts)
    caches = None if options["no_cache"] else Caches(options["cache_dir"])
    known = None
    if caches is not None and not (_fixes(options) or texts or options["verbose"]):
        watched = repetition.states(*paths_with_a_say(trees)) if _is_repeatable(options) else {}
        known = caches.result(trees)
        if known is not None and watched and known.files:
            return _report_and_keep(known, options, caches.directory_of(trees.trees[0]), watched, started)
    if known is not None:
        findings = baseline.unknown(known.findings, known.sources) if baseline else known.findings
        result = replace(known, findings=findings, unsafe_fixes=options["unsafe_fixes"])
        changes: list[Change] = []
    else:
        progress = _ProgressBar() if sys.stderr.isatty() and not options["quiet"] else None
        try:
            result, changes = _lint(trees, texts, options, baseline, caches, progress)
        finally:
            if progress:
                progress.close()
    for problem in result.problems:
        _complain(problem.message)
        if options["verbose"] and problem.details:
            click.echo(problem.details, err=True)
    if not result.files and not result.problems:
        _warn("no Python files found under the given paths")
    if options["verbose"]:
        for note in result.notes:
            click.echo(note, err=True)
        seconds = (time.time_ns() - started) / 1e9
        amount = f"{counted(len(result.files), 'file')}, {counted(len(result.findings), 'finding')}"
        click.echo(f"{amount}, {seconds:.2f} s", err=True)
    if options["write_baseline"]:
        return _write_baseline(result, options["baseline"])
    if _suppresses(options):
        return _add_suppressions(result, options["add_suppressions"])
    takes_output = options["diff"] or (bool(texts) and _fixes(options))
    if options["diff"]:
        _print(_patch(changes, options), options["output_file"])
    elif takes_output:
        fixed = {change.path: change.after for change in changes}
        _print([fixed.get(path, text) for path, text in texts.items()], None)
    _tell(result, options, err=takes_output)
    return _status(result, options)


def _is_repeatable(options: Mapping[str, Any]) -> bool:
    """Whether the same command over the same files does nothing but print the same."""
    does_more = ("baseline", "write_baseline", "output_file", "show_fixes")
    return not (any(options[name] for name in does_more) or _suppresses(options))


def _report_and_keep(
    known: Result, options: Mapping[str, Any], folder: str, watched: dict[str, str], started: int
) -> int:
    """Print what is known, and keep what is printed for when the same is asked again."""
    result = replace(known, unsafe_fixes=options["unsafe_fixes"])
    lines = list(_report(result, options))
    _print(lines, None)
    status = _status(result, options)
    if not os.environ.get("FORCE_COLOR"):
        output = "".join(f"{click.unstyle(line)}\n" for line in lines)
        repetition.keep(folder, click.get_current_context().obj, status, output, watched, started)
    return status


def _write_baseline(result: Result, file: str) -> int:
    """Accept what was found; raises `SettingsError`."""
    from warp_lint.baseline import Baseline
    from warp_lint.reports.wording import counted

    baseline = Baseline.read(file) if Path(file).exists() else Baseline.empty(file)
    count = baseline.accept(result.findings, result.sources, result.files)
    try:
        baseline.write()
    except OSError as error:
        raise click.FileError(file, error.strerror) from error
    click.echo(f"Accepted {counted(count, 'finding')} in {file}.")
    return CLEAN if result.is_complete else FAILURE


def _add_suppressions(result: Result, reason: str) -> int:
    """Put comments on the lines with findings."""
    from warp_lint.reports.wording import counted
    from warp_lint.suppressing import suppress

    outcome = suppress(result, reason)
    for problem in outcome.problems:
        _complain(problem)
    click.echo(f"Suppressed {counted(outcome.suppressed, 'finding')}.")
    return CLEAN if result.is_complete and not outcome.problems else FAILURE


def _tell(result: Result, options: Mapping[str, Any], *, err: bool) -> None:
    """Print what was fixed and what is found; with ``err`` on standard error, since the output is taken."""
    from warp_lint.reports import FOR_PEOPLE
    from warp_lint.reports.wording import fixes_listed, fixes_summed

    if options["show_fixes"] and result.fixed:
        _print(fixes_listed(result), None, err=err or (options["output_format"] or "full") not in FOR_PEOPLE)
    if not (options["fix_only"] or options["diff"]):
        _print(_report(result, options), options["output_file"], err=err)
    elif not options["quiet"]:
        _print(fixes_summed(result, are_made=not options["diff"]), None, err=err)


def _suppresses(options: Mapping[str, Any]) -> bool:
    return options["add_suppressions"] is not None


def _fixes(options: Mapping[str, Any]) -> bool:
    return any(options[name] for name in ("fix", "fix_only", "diff"))


def _baseline(options: Mapping[str, Any]) -> Baseline | None:
    """What is accepted; raises `SettingsError`."""
    if options["baseline"] is None or options["write_baseline"]:
        return None
    from warp_lint.baseline import Baseline

    return Baseline.read(options["baseline"])


def _lint(
    trees: Trees,
    texts: Mapping[str, bytes],
    options: Mapping[str, Any],
    baseline: Baseline | None,
    caches: Caches | None,
    progress: _ProgressBar | None,
) -> tuple[Result, list[Change]]:
    """Lint, and fix as the options ask: what is left, and the changes that were made or would be."""
    # Imported here: what is known already needs neither rules nor LibCST.
    from warp_lint.extraction import available_processors
    from warp_lint.reports.wording import shown_path, shown_place
    from warp_lint.run import fix_trees, lint_trees, write_fixes

    jobs = options["jobs"] or available_processors()
    if not _fixes(options):
        result = lint_trees(
            trees,
            texts=texts,
            catch_crashes=True,
            progress=progress,
            baseline=baseline,
            caches=caches,
            jobs=jobs,
        )
        return replace(result, unsafe_fixes=options["unsafe_fixes"]), []
    outcome = fix_trees(
        trees,
        unsafe=options["unsafe_fixes"],
        texts=texts,
        catch_crashes=True,
        progress=progress,
        baseline=baseline,
        caches=caches,
        jobs=jobs,
    )
    alike = Counter((one.finding.location.path, one.finding.code, one.reason) for one in outcome.refused)
    for finding, reason in outcome.refused:
        count = alike.pop((finding.location.path, finding.code, reason), 0)
        if count:
            more = f" ({count - 1} more like it)" if count > 1 else ""
            place = shown_place(finding.location, outcome.result.sources)
            _warn(f"{place}: the fix of {finding.code} is refused: it {reason}{more}")
    for path, code in outcome.unsettled:
        _warn(f"{shown_path(path)}: the fixes of {code} are left out: they do not come to an end")
    if not options["diff"]:
        outcome = write_fixes(outcome, trees, texts=texts, catch_crashes=True, baseline=baseline)
    return outcome.result, [change for group in outcome.changes for change in group]


def _status(result: Result, options: Mapping[str, Any]) -> int:
    if result.problems or not (result.is_complete or options["fix_only"] or options["diff"]):
        return FAILURE
    counts = result.findings if not (options["fix_only"] or options["diff"]) else ()
    if options["diff"] or options["exit_non_zero_on_fix"]:
        counts += result.fixed
    return FINDINGS if counts and not options["exit_zero"] else CLEAN


def _settings_lookup(options: Mapping[str, Any]) -> SettingsLookup:
    """The settings that the options of the command line ask for; raises `SettingsError`."""
    overrides: dict[str, Any] = {
        key: options[key.replace("-", "_")]
        for key in ("select", "ignore", "extend-select", "extend-ignore", "target-version")
        if options[key.replace("-", "_")]
    }
    if options["force_exclude"]:
        overrides["force-exclude"] = True
    if options["per_file_ignores"]:
        overrides["per-file-ignores"] = _by_pattern(options["per_file_ignores"])
    if options["isolated"] and options["config"]:
        raise click.UsageError("--isolated and --config exclude each other")
    given = None
    if options["isolated"]:
        given = Settings(str(Path.cwd()))
    elif options["config"]:
        given = Settings.read(options["config"])
    return SettingsLookup(given, overrides)


def _by_pattern(pairs: Iterable[str]) -> dict[str, list[str]]:
    codes: dict[str, list[str]] = {}
    for pair in pairs:
        pattern, colon, code = pair.rpartition(":")
        if not (pattern and colon and code):
            raise click.BadParameter(f"{pair!r} is not PATTERN:CODE", param_hint="--per-file-ignores")
        codes.setdefault(pattern, []).append(code.strip())
    return codes


def _report(result: Result, options: Mapping[str, Any]) -> Iterable[str]:
    from warp_lint import reports

    output_format, output_file = options["output_format"], options["output_file"]
    closing = not options["quiet"]
    if options["statistics"]:
        from warp_lint.reports import statistics

        if output_format == "json":
            yield statistics.render_json(result)
        else:
            yield from statistics.render(result, closing=closing)
    else:
        on_terminal = output_file is None and sys.stdout.isatty()
        chosen = output_format or ("full" if on_terminal else "concise")
        yield from reports.render(chosen, result, closing=closing)


def _patch(changes: Iterable[Change], options: Mapping[str, Any]) -> Iterable[bytes | str]:
    from warp_lint.reports import patch

    on_terminal = options["output_file"] is None and sys.stdout.isatty()
    return patch.drawn_patch(changes) if on_terminal else patch.patch(changes)


def _print(lines: Iterable[str | bytes], output_file: str | None, *, err: bool = False) -> None:
    """Write lines, or bytes as they are, to a file, or to an output for as long as somebody reads it."""
    if output_file is not None:
        try:
            with Path(output_file).open("wb") as file:
                for line in lines:
                    file.write(line if isinstance(line, bytes) else _plain(line))
        except OSError as error:
            raise click.FileError(output_file, error.strerror) from error
        return
    try:
        for line in lines:
            click.echo(line, nl=isinstance(line, str), err=err)
    except BrokenPipeError:
        repetition.give_up(sys.stderr if err else sys.stdout)


def _plain(line: str) -> bytes:
    return f"{click.unstyle(line)}\n".encode("utf-8", "backslashreplace")


def _files_listed(paths: Sequence[str], lookup: SettingsLookup) -> Iterable[str]:
    trees, errors, _ = find_trees(paths, lookup, whole_projects=False)
    for error in errors:
        _complain(f"{error.path}: {error.message}")
    return sorted(file for tree in trees for file in tree.asked)


def _settings_listed(paths: Sequence[str], lookup: SettingsLookup) -> Iterable[str]:
    """The settings that count at each path, as they could stand in a settings file."""
    import json

    from warp_lint.rules import all_rules

    for path in paths:
        settings = lookup.nearest(path)
        settings.check_selectors(all_rules().values())
        values = {
            "select": [rule.code for rule in all_rules().values() if settings.enables(rule)],
            "exclude": [pattern.text for pattern in (*settings.exclude, *settings.extend_exclude)],
            "respect-gitignore": settings.respect_gitignore,
            "force-exclude": settings.force_exclude,
            "src": settings.src,
            "target-version": ".".join(map(str, settings.target_version)),
            "project-kind": "library" if settings.is_library else "application",
            "known-warp-packages": settings.known_warp_packages,
            "kernel-decorators": settings.kernel_decorators,
            "devices": settings.devices,
        }
        yield f"# {path}: settings from {settings.file or 'no file'}, project in {settings.root}"
        yield from (f"{key} = {json.dumps(value)}" for key, value in values.items())
        yield "[per-file-ignores]"
        for ignore in settings.per_file_ignores:
            for pattern in ignore.patterns:
                text = f"{'!' if ignore.negated else ''}{pattern.text}"
                yield f"{json.dumps(text)} = {json.dumps(ignore.selectors)}"


@commands.command()
def server() -> int:
    """Serve an editor, over standard input and output, in the language server protocol."""
    try:
        from warp_lint.language_server.server import create_server
    except ImportError as error:
        raise click.ClickException(f"{error}; it comes with `pip install 'warp-lint[server]'`") from error
    create_server().start_io()
    return CLEAN


@commands.command()
@click.argument("paths", nargs=-1, type=click.Path(exists=True))
def clean(paths: tuple[str, ...]) -> int:
    """Remove the caches in and below directories (by default the working one), and of their projects."""
    from warp_lint.cleaning import find_caches, remove

    status = CLEAN
    for cache in find_caches(paths or (".",)):
        try:
            remove(cache)
        except OSError as error:
            _complain(f"{cache}: {error.strerror or error}")
            status = FAILURE
        else:
            click.echo(f"Removed {cache}")
    return status


@commands.command()
@click.argument("directory", default=".", type=click.Path(exists=True, file_okay=False))
@click.option("--ruff/--no-ruff", default=None, help="Whether to tell ruff whose noqa codes WRP… are.")
def init(directory: str, ruff: bool | None) -> int:
    """Give a project settings to begin with, in its pyproject.toml or in warp-lint.toml.

    Ruff removes noqa comments with codes that it does not know. Where its settings are found, init offers to
    add ours to them.
    """
    from warp_lint.starting import offer_to_ruff, start

    click.echo(start(Path(directory)))
    offer = offer_to_ruff(Path(directory))
    if offer is None:
        return CLEAN
    if ruff is None and sys.stdin.isatty():
        ruff = click.confirm(f"Add {offer.setting} to {offer.file}?", default=True)
    if ruff and offer.text is not None:
        offer.file.write_text(offer.text, encoding="utf-8")
        click.echo(f"Added {offer.setting} to {offer.file}")
    elif ruff is not False:
        click.echo(f"To keep ruff from removing `# noqa: WRP…`, add {offer.setting} to {offer.file}")
    return CLEAN


@commands.command()
@click.argument("place", metavar="FILE[:FUNCTION]")
def trace(place: str) -> int:
    """Show what happens to Warp modules in a function, or when a file is run, in order.

    FUNCTION is the qualified name, such as Solver.step. Calls and imports are followed; what is not known is
    shown as a question mark.
    """
    from warp_lint.reports.trace import UnknownPlaceError, trace
    from warp_lint.run import project_of

    path, _, function = place.partition(":")
    path = str(Path(path).absolute())
    try:
        _print(list(trace(project_of(path, SettingsLookup()), path, function)), None)
    except (UnknownPlaceError, SettingsError) as error:
        _complain(str(error))
        return FAILURE
    return CLEAN


@commands.command()
@click.argument("paths", nargs=-1, metavar="[PATHS]...")
@click.option(
    "--output-format", type=click.Choice(["table", "json", "dot", "html"]), default="table", show_default=True
)
@click.option("-o", "--output-file", type=click.Path(dir_okay=False), help="Write there instead of printing.")
def modules(paths: tuple[str, ...], output_format: str, output_file: str | None) -> int:
    """Show the Warp modules of a project and what building them will cost.

    For each module: its kernels, options and block dimensions, who loads it first, and how often it is built
    over an empty cache against how often it would have to be. The greatest waste comes first.
    """
    from warp_lint.reports import modules as report
    from warp_lint.reports.modules.rows import module_rows
    from warp_lint.run import projects_of

    trees = find_trees(paths or (".",), SettingsLookup())
    for error in trees.errors:
        _complain(f"{error.path}: {error.message}")
    _print(report.render(output_format, module_rows(projects_of(trees))), output_file)
    return FAILURE if trees.errors else CLEAN


@commands.command()
@click.argument("rule", required=False, metavar="CODE|NAME")
@click.option("--all", "every", is_flag=True, help="Explain every rule.")
@click.option("--output-format", type=click.Choice(["text", "json"]), default="text", show_default=True)
def rule(rule: str | None, every: bool, output_format: str) -> int:
    """Explain a rule: what it finds, why that is bad, and what to write instead."""
    from warp_lint.rules import all_rules

    rules = list(all_rules().values())
    if every == (rule is not None):
        raise click.UsageError("name one rule, or give --all")
    chosen = [one for one in rules if every or rule in (one.code, one.name)]
    if not chosen:
        raise click.BadParameter(f"no rule has the code or name {rule!r}", param_hint="CODE|NAME")
    _print(_explained(chosen, every, output_format), None)
    return CLEAN


def _explained(rules: Sequence[Rule], every: bool, output_format: str) -> Iterable[str]:
    from warp_lint.reports import rule_page

    if output_format == "json":
        import json

        pages = [rule_page.as_json(rule) for rule in rules]
        yield json.dumps(pages if every else pages[0], indent=2)
        return
    for rule in rules:
        page = rule_page.markdown(rule)
        yield _drawn(page) if sys.stdout.isatty() else page


def _drawn(markdown: str) -> str:
    from rich.console import Console
    from rich.markdown import Markdown

    console = Console()
    with console.capture() as capture:
        console.print(Markdown(markdown))
    return capture.get()


class _ProgressBar:
    """Shows on standard error how far a run is, once it has taken a while."""

    def __init__(self) -> None:
        self._started = time.monotonic()
        self._bar: Progress | None = None

    def __call__(self, done: int, total: int) -> None:
        if self._bar is None:
            if time.monotonic() - self._started < _SECONDS_BEFORE_PROGRESS:
                return
            from rich.console import Console
            from rich.progress import Progress

            self._bar = Progress(console=Console(stderr=True), transient=True)
            self._task = self._bar.add_task("Linting", total=total)
            self._bar.start()
        self._bar.update(self._task, completed=done, total=total)

    def close(self) -> None:
        if self._bar is not None:
            self._bar.stop()


def _complain(message: str) -> None:
    click.echo(f"{click.style('error', fg='red', bold=True)}: {message}", err=True)


def _warn(message: str) -> None:
    click.echo(f"{click.style('warning', fg='yellow', bold=True)}: {message}", err=True)

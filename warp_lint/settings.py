"""What a project wants of the linter: ``[tool.warp-lint]``, ``warp-lint.toml``, and the command line.

Keys, globs and the precedence of selectors are ruff's, so that one habit serves both. Reading settings
imports no rule, since a run that answers from its cache must stay cheap: selectors are matched as text,
and `Settings.check_selectors` compares them with the rules once those are loaded.
"""

from __future__ import annotations

import difflib
import enum
import fnmatch
import glob
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from warp_lint.late_imports import linters_against_late_imports
from warp_lint.warp_api import NEWEST

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

if TYPE_CHECKING:
    from warp_lint.rules.base import Rule

SETTINGS_FILES = (".warp-lint.toml", "warp-lint.toml", "pyproject.toml")
"""The files that can hold settings; in one directory the first of them counts."""

DEFAULT_EXCLUDE = (
    ".bzr",
    ".direnv",
    ".eggs",
    ".git",
    ".git-rewrite",
    ".hg",
    ".ipynb_checkpoints",
    ".mypy_cache",
    ".nox",
    ".pants.d",
    ".pyenv",
    ".pytest_cache",
    ".pytype",
    ".ruff_cache",
    ".svn",
    ".tox",
    ".venv",
    ".vscode",
    ".warp_lint_cache",
    "__pycache__",
    "__pypackages__",
    "_build",
    "buck-out",
    "build",
    "dist",
    "node_modules",
    "site-packages",
    "venv",
)

KNOWN_WARP_PACKAGES = (
    "isaaclab",
    "mujoco_warp",
    "newton",
    "nvalchemiops",
    "physicsnemo",
    "warp.examples",
    "warp.fem",
    "warp.optim",
    "warp.render",
    "warp.sim",
    "warp.sparse",
    "warp_nn",
    "xlb",
)
"""Packages that create Warp modules when they are imported; the setting adds to them."""

_FAMILY = "WRP"
"""The shortest prefix of a code that selects."""

_WILDCARD = re.compile(r"[*?\[]")
_BRACES = re.compile(r"\{([^{}]*)\}")
_WARP_REQUIREMENT = re.compile(r"\s*warp[-_.]+lang(?![-_.\w])(?P<specifiers>[^;@#]*)", re.IGNORECASE)
_LOWER_BOUND = re.compile(r"(?:[\^~]|[>~]=|===?|>)\s*v?(\d+(?:\.\d+)*)")


class SettingsError(Exception):
    """Settings that cannot be followed; the message is one line and names the file and the key."""


class ProjectKind(str, enum.Enum):
    """Whether others import the project, and so may differentiate or configure what it does not."""

    AUTO = "auto"
    """A library when the project says how a distribution of it is built."""
    APPLICATION = "application"
    LIBRARY = "library"


class RuleIdentity(Protocol):
    """What tells one rule from another: rules have it, and findings."""

    @property
    def code(self) -> str: ...

    @property
    def name(self) -> str: ...


class PathPattern(NamedTuple):
    """A glob as it was written and the same made absolute, both without braces."""

    text: str
    absolute: str


class PathMatcher:
    """Tells whether a path matches one of several patterns: by the whole path, or by its last part for a
    pattern without a slash."""

    def __init__(self, patterns: Iterable[PathPattern]) -> None:
        patterns = list(patterns)
        self._plain_names = {text for text, _ in patterns if not _WILDCARD.search(text)}
        globs = [pattern for pattern in patterns if "/" in pattern.text or _WILDCARD.search(pattern.text)]
        self._name = _any_of(text for text, _ in globs if "/" not in text)
        self._path = _any_of(absolute for _, absolute in globs)

    def matches(self, path: str, name: str) -> bool:
        """Whether the absolute ``path``, whose last part is ``name``, matches."""
        if name in self._plain_names:
            return True
        return bool((self._name and self._name.match(name)) or (self._path and self._path.match(path)))


class PerFileIgnore(NamedTuple):
    """Selectors that do not count in the files that match, or in all others when ``negated``."""

    patterns: tuple[PathPattern, ...]
    negated: bool
    selectors: tuple[str, ...]


class Selection(NamedTuple):
    """The selectors that one place gives, such as a file or the command line."""

    select: tuple[str, ...] | None
    extend_select: tuple[str, ...]
    ignore: tuple[str, ...]
    fixable: tuple[str, ...] | None
    unfixable: tuple[str, ...]


class SelectorUse(NamedTuple):
    """Where a selector was written: a file or the command line, and the key."""

    origin: str
    key: str
    selector: str


@dataclass(frozen=True)
class Settings:
    """All settings of a run. ``Settings(root)`` are the defaults.

    ``root`` is the absolute directory that relative patterns and ``src`` start from.
    """

    root: str
    file: str | None = None
    """The absolute path of the settings file; None where there is none."""
    selections: tuple[Selection, ...] = ()
    """What is selected, in the order in which it was read: a later ``select`` starts anew."""
    selectors: tuple[SelectorUse, ...] = ()
    """Every selector in use, for `check_selectors`."""
    per_file_ignores: tuple[PerFileIgnore, ...] = ()
    extend_safe_fixes: tuple[str, ...] = ()
    extend_unsafe_fixes: tuple[str, ...] = ()
    exclude: tuple[PathPattern, ...] = tuple(PathPattern(name, name) for name in DEFAULT_EXCLUDE)
    extend_exclude: tuple[PathPattern, ...] = ()
    respect_gitignore: bool = True
    force_exclude: bool = False
    src: tuple[str, ...] = (".", "src")
    target: str = "auto"
    """``target-version`` as written; `target_version` is what it means."""
    project_kind: ProjectKind = ProjectKind.AUTO
    known_warp_packages: tuple[str, ...] = KNOWN_WARP_PACKAGES
    kernel_decorators: tuple[str, ...] = ()
    devices: tuple[str, ...] = ("cpu", "cuda")
    warp_requirements: tuple[str, ...] = ()
    """What the project's dependencies ask of ``warp-lang``, as requirement strings."""
    builds_distribution: bool = False
    """Whether the project says how a distribution of it is built."""
    late_imports_allowed: tuple[tuple[PathPattern, ...], ...] = ()
    """Where each linter of the project that reports imports below other code does not do so."""

    @classmethod
    def read(cls, file: str) -> Settings:
        """The settings in a ``pyproject.toml``, or in a file with the same keys at its top level.

        Raises `SettingsError` when the file cannot be read or a key or value in it is not known.
        """
        return cls._of_section(Path(file).absolute(), _section(Path(file)) or {})

    @classmethod
    def nearest(cls, path: str) -> Settings:
        """The settings of the nearest directory at or above ``path`` that has any, else the defaults.

        Raises `SettingsError` as `read` does.
        """
        start = Path(path).absolute()
        for directory in (start, *start.parents):
            for name in SETTINGS_FILES:
                file = directory / name
                section = _section(file) if file.is_file() else None
                if section is not None:
                    return cls._of_section(file, section)
        directory = start if start.is_dir() else start.parent
        return _about_project(cls(str(_project_directory(directory))))

    @classmethod
    def _of_section(cls, file: Path, section: Mapping[str, Any]) -> Settings:
        settings = cls(str(file.parent), file=str(file))
        return _about_project(settings.with_overrides(section, origin=str(file)))

    def with_overrides(
        self, table: Mapping[str, Any], *, origin: str = "command line", root: str | None = None
    ) -> Settings:
        """These settings with those of ``table`` (keys and values as in TOML) on top.

        Selectors are weighed as ruff does: a ``select`` starts anew, other selectors change what was
        selected before. ``extend-…`` keys and ``known-warp-packages`` add, all others replace. Patterns in
        ``table`` start from ``root``, by default the root of these settings.

        Raises `SettingsError`, beginning with ``origin``, when a key or value is not known.
        """
        values = {key: _read_value(key, value, origin) for key, value in table.items()}
        root = root or self.root
        selection = Selection(
            select=values.get("select"),
            extend_select=values.get("extend-select", ()),
            ignore=(*values.get("ignore", ()), *values.get("extend-ignore", ())),
            fixable=values.get("fixable"),
            unfixable=values.get("unfixable", ()),
        )
        changes: dict[str, Any] = {
            "selections": (*self.selections, selection),
            "selectors": (*self.selectors, *_selector_uses(values, origin)),
            "extend_exclude": (*self.extend_exclude, *_patterns(values.get("extend-exclude", ()), root)),
            "extend_safe_fixes": (*self.extend_safe_fixes, *values.get("extend-safe-fixes", ())),
            "extend_unsafe_fixes": (*self.extend_unsafe_fixes, *values.get("extend-unsafe-fixes", ())),
            "known_warp_packages": (*self.known_warp_packages, *values.get("known-warp-packages", ())),
        }
        if "exclude" in values:
            changes["exclude"] = _patterns(values["exclude"], root)
        if "per-file-ignores" in values:
            changes["per_file_ignores"] = tuple(
                PerFileIgnore(
                    _patterns([glob_text.removeprefix("!")], root), glob_text.startswith("!"), selectors
                )
                for glob_text, selectors in values["per-file-ignores"].items()
            )
        if "target-version" in values:
            changes["target"] = values["target-version"]
        for key in (
            "respect-gitignore",
            "force-exclude",
            "src",
            "project-kind",
            "kernel-decorators",
            "devices",
        ):
            if key in values:
                changes[key.replace("-", "_")] = values[key]
        return replace(self, **changes)

    def check_selectors(self, rules: Iterable[RuleIdentity]) -> None:
        """Raise `SettingsError` when a selector names none of ``rules``."""
        rules = list(rules)
        for origin, key, selector in self.selectors:
            if selector != "ALL" and all(_closeness([selector], rule) < 0 for rule in rules):
                known = [name for rule in rules for name in (rule.code, rule.name)]
                raise SettingsError(
                    f"{origin}: `{key}` names the unknown rule `{selector}`{_did_you_mean(selector, known)}"
                )

    def enables(self, rule: Rule) -> bool:
        """Whether the rule is on. In one place the selector closest to the rule counts: its code or name,
        then ever shorter prefixes, then ``ALL``; of two equally close ones, ``ignore``."""
        enabled = rule.default
        for selection in self.selections:
            chosen = _closeness((*(selection.select or ()), *selection.extend_select), rule)
            ignored = _closeness(selection.ignore, rule)
            if selection.select is not None or max(chosen, ignored) >= 0:
                enabled = chosen > ignored
        return enabled

    def may_fix(self, rule: RuleIdentity) -> bool:
        """Whether fixes of the rule may be applied, by ``fixable`` and ``unfixable``."""
        fixable = True
        for selection in self.selections:
            chosen = _closeness(selection.fixable or (), rule)
            refused = _closeness(selection.unfixable, rule)
            if selection.fixable is not None or refused >= 0:
                fixable = chosen > refused
        return fixable

    def trusts_fixes_of(self, rule: RuleIdentity) -> bool | None:
        """Whether fixes of the rule count as safe (True) or unsafe (False) whatever the rule says of them;
        None when the rule decides. Fixes that are only for display stay so."""
        safe = _closeness(self.extend_safe_fixes, rule)
        unsafe = _closeness(self.extend_unsafe_fixes, rule)
        return safe > unsafe if max(safe, unsafe) >= 0 else None

    def ignores_in_file(self, rule: RuleIdentity, path: str) -> bool:
        """Whether ``per-file-ignores`` takes the rule out of the file at the absolute ``path``."""
        name = os.path.basename(path)  # noqa: PTH119
        return any(
            _closeness(ignore.selectors, rule) >= 0 and matcher.matches(path, name) != ignore.negated
            for ignore, matcher in self._per_file_matchers
        )

    def reports_late_import(self, path: str) -> bool:
        """Whether a linter of the project reports imports below other code in the file at a path."""
        name = os.path.basename(path)  # noqa: PTH119
        return any(not PathMatcher(allowed).matches(path, name) for allowed in self.late_imports_allowed)

    @cached_property
    def _per_file_matchers(self) -> list[tuple[PerFileIgnore, PathMatcher]]:
        return [(ignore, PathMatcher(ignore.patterns)) for ignore in self.per_file_ignores]

    @cached_property
    def target_version(self) -> tuple[int, ...]:
        """The oldest Warp that the project must run on, such as ``(1, 19)`` or ``(1, 10, 1)``."""
        if self.target != "auto":
            return _version(self.target)
        return min(filter(None, map(_lower_bound, self.warp_requirements)), default=NEWEST)

    @property
    def is_library(self) -> bool:
        """Whether the project is made to be imported by others."""
        if self.project_kind is ProjectKind.AUTO:
            return self.builds_distribution
        return self.project_kind is ProjectKind.LIBRARY

    @cached_property
    def source_roots(self) -> tuple[str, ...]:
        """The absolute directories that module names start from."""
        return tuple(os.path.normpath(Path(self.root, directory)) for directory in self.src)


def _closeness(selectors: Iterable[str], rule: RuleIdentity) -> int:
    """How closely the best of the selectors names the rule; negative when none does."""
    return max((_closeness_of(selector, rule) for selector in selectors), default=-1)


def _closeness_of(selector: str, rule: RuleIdentity) -> int:
    if selector == "ALL":
        return 0
    if selector == rule.name:
        return len(rule.code)
    return len(selector) if selector.startswith(_FAMILY) and rule.code.startswith(selector) else -1


def _selector_uses(values: Mapping[str, Any], origin: str) -> Iterator[SelectorUse]:
    for key in _SELECTOR_KEYS & values.keys():
        yield from (SelectorUse(origin, key, selector) for selector in values[key])
    for selectors in values.get("per-file-ignores", {}).values():
        yield from (SelectorUse(origin, "per-file-ignores", selector) for selector in selectors)


# Values as TOML gives them. A reader returns the value in its final shape or raises ValueError with what
# it expected.


def _read_value(key: str, value: object, origin: str) -> Any:
    if key not in _READERS:
        raise SettingsError(f"{origin}: unknown key `{key}`{_did_you_mean(key, _READERS)}")
    try:
        return _READERS[key](value)
    except ValueError as error:
        raise SettingsError(f"{origin}: `{key}` must be {error}, not {value!r}") from error


def _strings(value: object) -> tuple[str, ...]:
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return tuple(value)
    raise ValueError("a list of strings")


def _selectors_by_pattern(value: object) -> dict[str, tuple[str, ...]]:
    if isinstance(value, dict):
        return {pattern: _strings(selectors) for pattern, selectors in value.items()}
    raise ValueError("a table of lists of strings")


def _flag(value: object) -> bool:
    if isinstance(value, bool):
        return value
    raise ValueError("true or false")


def _target(value: object) -> str:
    if isinstance(value, str) and re.fullmatch(r"auto|\d+\.\d+(\.\d+)?", value):
        return value
    raise ValueError('"auto" or a version such as "1.19"')


def _project_kind(value: object) -> ProjectKind:
    try:
        return ProjectKind(value)
    except ValueError:
        raise ValueError("one of " + ", ".join(f'"{kind.value}"' for kind in ProjectKind)) from None


def _devices(value: object) -> tuple[str, ...]:
    if isinstance(value, list) and value and all(device in ("cpu", "cuda") for device in value):
        return tuple(value)
    raise ValueError('a list of "cpu" and "cuda"')


_SELECTOR_KEYS = {
    "select",
    "ignore",
    "extend-select",
    "extend-ignore",
    "fixable",
    "unfixable",
    "extend-safe-fixes",
    "extend-unsafe-fixes",
}
_READERS: dict[str, Callable[[object], object]] = {
    **dict.fromkeys(sorted(_SELECTOR_KEYS), _strings),
    "per-file-ignores": _selectors_by_pattern,
    "exclude": _strings,
    "extend-exclude": _strings,
    "respect-gitignore": _flag,
    "force-exclude": _flag,
    "src": _strings,
    "target-version": _target,
    "project-kind": _project_kind,
    "known-warp-packages": _strings,
    "kernel-decorators": _strings,
    "devices": _devices,
}


def _did_you_mean(word: str, known: Iterable[str]) -> str:
    by_lower_case = {name.lower(): name for name in known}
    nearest = difflib.get_close_matches(word.lower(), by_lower_case, n=1)
    return f" (did you mean `{by_lower_case[nearest[0]]}`?)" if nearest else ""


# Globs. In ruff's, ``*`` matches slashes too, ``**/`` also nothing at all, and ``{a,b}`` either.


def _patterns(globs: Iterable[str], root: str) -> tuple[PathPattern, ...]:
    start = glob.escape(root)
    return tuple(
        PathPattern(text, os.path.normpath(os.path.join(start, text)))  # noqa: PTH118
        for glob_text in globs
        for text in _brace_alternatives(glob_text.replace("**/", "{,*/}"))
    )


def _brace_alternatives(glob_text: str) -> Iterator[str]:
    braces = _BRACES.search(glob_text)
    if braces is None:
        yield glob_text
        return
    for alternative in braces[1].split(","):
        yield from _brace_alternatives(glob_text[: braces.start()] + alternative + glob_text[braces.end() :])


def _any_of(globs: Iterable[str]) -> re.Pattern[str] | None:
    expressions = [fnmatch.translate(glob_text) for glob_text in globs]
    return re.compile("|".join(expressions)) if expressions else None


# The files.


def _section(file: Path) -> dict[str, Any] | None:
    """The settings in a file; None for a ``pyproject.toml`` that has none."""
    if file.name != "pyproject.toml":
        return read_toml(file)
    tool = read_toml(file).get("tool")
    section = tool.get("warp-lint") if isinstance(tool, dict) else None
    if section is None or isinstance(section, dict):
        return section
    raise SettingsError(f"{file}: `tool.warp-lint` must be a table, not {section!r}")


def read_toml(file: Path) -> dict[str, Any]:
    """What a TOML file says; raises `SettingsError` when it cannot be read."""
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise SettingsError(f"{file}: {error.strerror or error}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise SettingsError(f"{file}: not valid TOML: {error}") from error


def _project_directory(start: Path) -> Path:
    """The nearest directory at or above ``start`` that looks like the top of a project, else ``start``."""
    for directory in (start, *start.parents):
        if any((directory / name).exists() for name in ("pyproject.toml", "setup.py", "setup.cfg", ".git")):
            return directory
    return start


def _about_project(settings: Settings) -> Settings:
    """The settings with what the files beside them tell of the project."""
    directory = _project_directory(Path(settings.root))
    file = directory / "pyproject.toml"
    pyproject = read_toml(file) if file.is_file() else {}
    requirements = [*_requirements_in(pyproject), *_requirement_lines(directory)]
    return replace(
        settings,
        warp_requirements=tuple(filter(_WARP_REQUIREMENT.match, requirements)),
        builds_distribution="build-system" in pyproject or (directory / "setup.py").is_file(),
        late_imports_allowed=tuple(
            _patterns(linter.allowed_in, str(directory))
            for linter in linters_against_late_imports(directory, pyproject)
        ),
    )


def _requirements_in(pyproject: Mapping[str, Any]) -> Iterator[str]:
    """Every requirement string in a ``pyproject.toml``; Poetry's are put into the standard form."""
    project = _table(pyproject, "project")
    yield from _strings_within(project.get("dependencies"))
    yield from _strings_within(project.get("optional-dependencies"))
    yield from _strings_within(pyproject.get("dependency-groups"))
    poetry = _table(_table(pyproject, "tool"), "poetry")
    groups = _table(poetry, "group")
    for table in (poetry, *(_table(groups, name) for name in groups)):
        for name, constraints in _table(table, "dependencies").items():
            for constraint in constraints if isinstance(constraints, list) else [constraints]:
                version = constraint.get("version") if isinstance(constraint, dict) else constraint
                for alternative in str(version).split("||"):
                    exactly = "==" if alternative.strip()[:1].isdigit() else ""
                    yield f"{name}{exactly}{alternative}"


def _table(parent: Mapping[str, Any], key: str) -> dict[str, Any]:
    value = parent.get(key)
    return value if isinstance(value, dict) else {}


def _strings_within(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, (list, dict)):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _strings_within(item)


def _requirement_lines(directory: Path) -> Iterator[str]:
    for file in sorted(directory.glob("requirements*.txt")):
        if file.is_file():
            yield from file.read_text(encoding="utf-8", errors="replace").splitlines()


def _lower_bound(requirement: str) -> tuple[int, ...] | None:
    """The lowest version that a requirement of ``warp-lang`` allows; None when it sets no bound below."""
    match = _WARP_REQUIREMENT.match(requirement)
    bounds = _LOWER_BOUND.findall(match["specifiers"]) if match else ()
    return max(map(_version, bounds), default=None)


def _version(text: str) -> tuple[int, ...]:
    """``1.10.1`` as numbers, without zeros after the second: 1.19.0 is 1.19."""
    major, minor, *rest = (*map(int, text.split(".")), 0)
    while rest and rest[-1] == 0:
        rest.pop()
    return (major, minor, *rest)

"""How many findings each rule gives in each corpus: ``python -m tests.wild.counts`` rewrites the table.

The table is only as good as the eyes that saw the findings: look at what changed, write it into
``review.md``, and only then commit the new numbers. ``--list`` prints the findings for that.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from tests.wild.corpora import CORPORA
from tests.wild.linting import LintedCorpus, counts

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

TABLE = Path(__file__).with_name("counts.toml")

_HEADER = "# Findings per rule in each corpus; rewritten by `python -m tests.wild.counts`.\n"


def committed() -> dict[str, dict[str, int]]:
    """The table: counts by rule, by the name of the corpus."""
    return tomllib.loads(TABLE.read_text())


def as_toml(table: dict[str, dict[str, int]]) -> str:
    """The text of the table."""
    corpora = (
        f'\n["{corpus}"]\n' + "".join(f"{code} = {count}\n" for code, count in of_corpus.items())
        for corpus, of_corpus in sorted(table.items())
    )
    return _HEADER + "".join(corpora)


def main() -> None:
    names = [corpus.name for corpus in CORPORA]
    parser = argparse.ArgumentParser(prog="python -m tests.wild.counts", description=__doc__)
    parser.add_argument("corpora", nargs="*", metavar="CORPUS", help=f"some of {', '.join(names)}")
    parser.add_argument("--list", action="store_true", help="print the findings, and leave the table alone")
    arguments = parser.parse_args()
    if unknown := set(arguments.corpora) - set(names):
        parser.error(f"no such corpus: {', '.join(sorted(unknown))}")

    table = committed() if TABLE.exists() else {}
    for corpus in CORPORA:
        if corpus.name in (arguments.corpora or names):
            linted = LintedCorpus(corpus)
            table[corpus.name] = counts(linted.result.findings)
            for finding in linted.result.findings if arguments.list else ():
                path, line = linted.spot(finding)
                print(
                    f"{corpus.name}/{path}:{line}: {finding.code} [{finding.level.value}] {finding.message}"
                )
    if not arguments.list:
        TABLE.write_text(as_toml(table))


if __name__ == "__main__":
    main()

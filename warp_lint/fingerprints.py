"""What a finding is known by when the code around it has changed."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

from warp_lint.findings import Finding
from warp_lint.source import Source


def fingerprint(finding: Finding, sources: Mapping[str, Source]) -> str:
    """A hash of the rule and of the reported statement, or of what stands before its body.

    It stays the same when lines move, when blanks change, and when the message counts something else. Equal
    code that is reported twice has the same fingerprint twice.
    """
    place = finding.suppression_range or finding.location.range
    source = sources.get(finding.location.path)
    text = source.text[source.offset(place.start) : source.offset(place.end)] if source is not None else ""
    words = (finding.code, *text.split())
    return hashlib.sha256(" ".join(words).encode()).hexdigest()[:16]

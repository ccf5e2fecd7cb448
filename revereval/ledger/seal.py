"""The tape's hash chain and its seal (DESIGN §5)."""

from collections.abc import Iterable

from revereval.canonical import digest


def entry_digest(previous: str, request_digest: str, reply_digest: str) -> str:
    """Digest of one tape entry; the first entry's `previous` is the plan digest."""
    return digest([previous, request_digest, reply_digest])


def chain(plan_digest: str, exchanges: Iterable[tuple[str, str]]) -> list[str]:
    """Entry digests of (request digest, reply digest) pairs in order."""
    entries: list[str] = []
    previous = plan_digest
    for request_digest, reply_digest in exchanges:
        previous = entry_digest(previous, request_digest, reply_digest)
        entries.append(previous)
    return entries


def seal(entries: list[str], boundary_digest: str, plan_digest: str) -> str:
    """Covers the chain's head and length, the prepared boundary request and the plan."""
    return digest(
        {
            "head": entries[-1] if entries else plan_digest,
            "count": len(entries),
            "boundary": boundary_digest,
            "plan": plan_digest,
        }
    )

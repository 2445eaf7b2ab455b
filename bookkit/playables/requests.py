"""One request to a language model: when each token was read or written, and what was in memory."""

from collections.abc import Sequence
from dataclasses import dataclass

from bookkit.playables.playable import Playable, playable


@dataclass(frozen=True)
class Request:
    """What one request took; times are in seconds."""

    name: str  # what its button says
    question: str  # what the user said last
    tokens: int  # of the prompt
    reused: int  # tokens that the cache had already
    split: float  # the time to cut the text into tokens
    read: float  # the time to read the prompt but its last token
    words: Sequence[tuple[str, float]]  # pieces of the answer, each with its time


def one_request(
    requests: Sequence[Request], *, token_bytes: int, weight_bytes: int, caption: str = ""
) -> Playable:
    """Show requests on a line of time; the reader moves along it, and sees what is in memory.

    Args:
        requests: at least one, each with at least one word.
        token_bytes: what the cache keeps of a token.
        weight_bytes: what the weights take.

    >>> one_request([Request("first", "Who?", 5, 0, 0.1, 1.0, [("I", 0.2)])],
    ...             token_bytes=46080, weight_bytes=538_000_000)
    One request, token by token: a drawing to play with.
    """
    if not requests or not all(one.words for one in requests):
        raise ValueError("requests: got none or one without words, wanted words in each")
    return playable(
        "one-request", "One request, token by token", caption=caption, tokenBytes=token_bytes,
        weightBytes=weight_bytes, requests=[vars(one) for one in requests],
    )  # fmt: skip

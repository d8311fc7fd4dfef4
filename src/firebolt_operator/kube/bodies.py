"""How is an answer read that may come in any number of pieces, and may never end?"""

import aiohttp


class TooLongError(aiohttp.ClientPayloadError):
    pass


async def whole_body(response: aiohttp.ClientResponse, limit: int) -> bytes:
    """To its end. One longer than the limit is no answer: half of it could say the opposite of the whole."""
    parts: list[bytes] = []
    room = limit
    async for part in response.content.iter_any():
        room -= len(part)
        if room < 0:
            raise TooLongError(f"the answer is longer than {limit} bytes")
        parts.append(part)
    return b"".join(parts)

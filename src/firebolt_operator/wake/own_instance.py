"""Is the instance still there whose gateway this is? Asked only when the pod leaves."""

import asyncio
import logging
from dataclasses import dataclass
from typing import Final

from firebolt_operator.errors import OperatorError
from firebolt_operator.kube.ports import Reader
from firebolt_operator.manifests.reading import mapping
from firebolt_operator.refs import Ref

ASK_SECONDS: Final = 5.0

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class OwnInstance:
    reader: Reader
    ref: Ref | None  # None: nobody said which it is

    async def is_deleted(self) -> bool:
        """Gone, or on its way. False if nobody knows: then the pod has the time that it was given at its start."""
        if self.ref is None:
            return False
        try:
            async with asyncio.timeout(ASK_SECONDS):
                found = await self.reader.get(self.ref)
        except (OperatorError, TimeoutError) as err:
            log.warning("instance not read", extra={"instance": self.ref.name, "error": err})
            return False
        return found is None or "deletionTimestamp" in mapping(found.get("metadata"))

"""Which certificate does this replica show? The one in the Secret, from the moment that the watch tells of it."""

import hashlib
import logging

from firebolt_operator.admission.secret import ServedPair
from firebolt_operator.errors import ConfigurationError
from firebolt_operator.runtime.cache import Cache
from firebolt_operator.runtime.certificates import CertificateRecorder, empty_server_context, expires_at, load_pem

log = logging.getLogger(__name__)


class ServedCertificate:
    """New handshakes get the new certificate; nothing that is connected notices. A lost Secret changes nothing."""

    def __init__(self, cache: Cache[ServedPair], recorder: CertificateRecorder) -> None:
        self.context = empty_server_context()
        self._cache = cache
        self._recorder = recorder
        self._seen = b""
        cache.subscribe(self._changed)

    def is_ready(self, *, leads: bool) -> bool:
        """Before it has a certificate, every handshake fails: the replica must not be asked.

        But where there is none for anybody, only the leader waits for it. The leader may be of an earlier release that
        makes none and, in a rolling update, leaves no sooner than its successor is ready.
        """
        return bool(self._seen) or (not leads and self._cache.is_synced and not len(self._cache))

    def _changed(self, _old: ServedPair | None, new: ServedPair | None) -> None:
        if new is None or not new.pem:
            return
        seen = hashlib.sha256(new.pem).digest()
        if seen == self._seen:
            return
        try:
            load_pem(self.context, new.pem)
        except ConfigurationError as err:
            self._recorder.certificate_failed()
            log.error("certificate not taken", extra={"error": err})  # noqa: TRY400 - the Secret is wrong, not the code
            return
        self._seen = seen
        self._recorder.certificate_read(expires_at(new.pem))
        log.info("certificate taken from the Secret", extra={"version": new.metadata.resource_version})

"""Writers that never rest: each asks the API server again as soon as it was answered, on a connection that it keeps."""

import json
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from tests.api.admission.place import Place, engine


@dataclass
class Load:
    place: Place
    threads: int

    def until(self, is_over: Callable[[], bool], *, seconds: float) -> Counter[str]:
        """How often each answer came, counted by its code; what is no answer is counted by its name."""
        counts, ended = Counter[str](), threading.Event()
        workers = [threading.Thread(target=self._write, args=(ended, counts)) for _ in range(self.threads)]
        for worker in workers:
            worker.start()
        began = time.monotonic()
        try:
            while not is_over():
                assert time.monotonic() - began < seconds, counts
                time.sleep(0.5)
        finally:
            ended.set()
            for worker in workers:
                worker.join()
        return counts

    def _write(self, ended: threading.Event, counts: Counter[str]) -> None:
        body = json.dumps(engine("load"))
        path = f"{self.place.path('FireboltEngine')}?dryRun=All"
        while not ended.is_set():
            try:
                counts[str(self.place.writer.text("POST", path, body)[0])] += 1
            except OSError as err:
                counts[type(err).__name__] += 1

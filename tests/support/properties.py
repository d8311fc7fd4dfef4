"""How property tests run here: on a busy machine an example may take its time, and no clock decides a result."""

from hypothesis import HealthCheck, settings

patient = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])

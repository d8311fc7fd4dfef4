"""By what are objects found in the caches that reconcilers share?"""

from typing import Final

BY_ENGINE: Final = "engine"
BY_INSTANCE: Final = "instance"
BY_CLASS: Final = "class"
BY_CLUSTER_CLASS: Final = "class name"  # in whatever namespace
BY_NAMESPACE: Final = "namespace"
BY_CAUSE: Final = "cause"  # of a rollout that concerns many engines


def term(namespace: str, name: str) -> str:
    return f"{namespace}/{name}"

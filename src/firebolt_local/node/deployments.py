"""What does a Deployment of the cluster's own look like? One pod with an account of the same name."""

from firebolt_operator.refs import Manifest


def deployment(name: str, labels: dict[str, str], pod_spec: Manifest) -> Manifest:
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "labels": labels},
        "spec": {
            "replicas": 1,
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": {"serviceAccountName": name, **pod_spec}},
        },
    }

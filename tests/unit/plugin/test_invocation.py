"""Is what runs what is printed, and can a shell read it back?"""

import json
import shlex

import pytest

from kubectl_firebolt.engine_manifest import Wanted, engine_manifest
from kubectl_firebolt.kubectl import invocation
from kubectl_firebolt.kubectl.invocation import Invocation, Target
from kubectl_firebolt.lists import as_yaml

CREATED = """\
# apply FireboltEngine/e1
kubectl --context prod apply -n ns -f - <<'EOF'
apiVersion: compute.firebolt.io/v1alpha1
kind: FireboltEngine
metadata:
  name: e1
  namespace: ns
spec:
  customEngineConfig:
    storage:
      managed_table_bucket_name: b
      managed_table_storage: s3
  engineClassRef: c1
  instanceRef: i1
  replicas: 1
  template:
    spec:
      containers:
      - image: r/x:1
        name: engine
EOF

# wait for fireboltengine/e1 to become Ready
kubectl --context prod wait -n ns --for=condition=Ready fireboltengine/e1 --timeout=5m"""
PROD = Target(namespace="ns", context="prod")


def test_a_creation_is_printed_as_two_commands() -> None:
    wanted = Wanted(name="e1", instance="i1", namespace="ns", engine_class="c1", bucket="b", image="r/x:1")
    document = as_yaml(engine_manifest(wanted))
    steps = [
        invocation.apply_(PROD, "FireboltEngine/e1", document),
        invocation.wait_for_ready(PROD, "e1", "5m"),
    ]
    assert invocation.printed(steps) == CREATED


@pytest.mark.parametrize(
    ("made", "words"),
    [
        (invocation.list_(Target(), "fireboltengine"), "kubectl get fireboltengine -o json"),
        (invocation.get(PROD, "fireboltengine", "e"), "kubectl --context prod get -n ns fireboltengine e -o json"),
        (invocation.delete(Target(namespace="a"), "e"), "kubectl delete -n a fireboltengine e --ignore-not-found"),
        (
            invocation.wait_for_ready(Target(kubeconfig="/k c"), "e", "1h30m"),
            "kubectl --kubeconfig '/k c' wait --for=condition=Ready fireboltengine/e --timeout=1h30m",
        ),
        (invocation.scale(Target(), "e", 0), "kubectl scale fireboltengine/e --replicas=0"),
        (
            invocation.wait_for_phase(Target(), "e", "stopped", "5m"),
            "kubectl wait '--for=jsonpath={.status.phase}=stopped' fireboltengine/e --timeout=5m",
        ),
        (
            invocation.forward(Target(), "i-gateway", local_port=0, remote_port=80),
            "kubectl port-forward svc/i-gateway :80",
        ),
        (
            invocation.forward(Target(), "e-service", local_port=8080, remote_port=3473),
            "kubectl port-forward svc/e-service 8080:3473",
        ),
    ],
)
def test_the_form_of_a_command(made: Invocation, words: str) -> None:
    assert made.words == words
    assert made.printed == f"# {made.what}\n{words}"


def test_a_shell_reads_back_what_is_run() -> None:
    patch = {"spec": {"note": 'it\'s "quoted" $HOME'}}
    made = invocation.merge_patch(PROD, "change", "e", patch)
    read_back = shlex.split(made.words)
    assert tuple(read_back) == ("kubectl", *made.arguments)
    assert json.loads(read_back[-1]) == patch

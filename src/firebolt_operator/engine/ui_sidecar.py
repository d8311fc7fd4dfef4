"""What does the web UI beside an engine look like?"""

from firebolt_operator.api import names
from firebolt_operator.engine.engine_container import hardened_security_context
from firebolt_operator.engine.inputs import EngineInputs
from firebolt_operator.engine.pull_policy import kubernetes_pull_policy
from firebolt_operator.engine.template import EffectiveTemplate
from firebolt_operator.refs import Manifest


def ui_sidecar(inputs: EngineInputs, template: EffectiveTemplate) -> Manifest:
    image = inputs.images.ui
    core_url = f"{inputs.instance.scheme}://localhost:{names.PORT_QUERY}"
    return {
        "name": names.CONTAINER_ENGINE_WEB,
        "image": image,
        # A policy asked for on the engine container is meant for the pod: an air-gapped node has neither image.
        "imagePullPolicy": template.engine.get("imagePullPolicy") or kubernetes_pull_policy(image),
        "env": [{"name": "FIREBOLT_CORE_URL", "value": core_url}],
        "ports": [{"name": "web-ui", "containerPort": names.PORT_WEB_UI, "protocol": "TCP"}],
        # Without a probe a crash-looping sidecar is ready for an instant, which may be the one that decides promotion.
        "readinessProbe": {
            "httpGet": {"path": "/", "port": names.PORT_WEB_UI, "scheme": "HTTP"},
            "initialDelaySeconds": 1,
            "periodSeconds": 3,
            "timeoutSeconds": 2,
            "successThreshold": 1,
            "failureThreshold": 3,
        },
        "resources": {"requests": {"cpu": "25m", "memory": "128Mi"}, "limits": {"memory": "128Mi"}},
        "securityContext": hardened_security_context(),
        "volumeMounts": [
            {"name": names.VOLUME_ENGINE_WEB, "mountPath": "/var/tmp"},  # noqa: S108 - nginx's folder in a volume of its own
            {"name": names.VOLUME_ENGINE_WEB, "mountPath": "/var/cache/nginx"},
            {"name": names.VOLUME_ENGINE_WEB, "mountPath": "/var/run/nginx"},
        ],
        "terminationMessagePath": "/dev/termination-log",
        "terminationMessagePolicy": "File",
    }

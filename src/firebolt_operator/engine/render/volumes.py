"""Which volumes does an engine pod have, and where does the engine see them?"""

from collections.abc import Iterable
from typing import Final

from firebolt_operator.api import names
from firebolt_operator.api.engine_settings import EmptyDirStorage, HostPathStorage, PersistentVolumeClaimStorage
from firebolt_operator.api.labels import generation_labels
from firebolt_operator.api.quantities import parse_quantity
from firebolt_operator.engine.inherited_settings import effective_storage, effective_ui_sidecar
from firebolt_operator.engine.inputs import EngineInputs
from firebolt_operator.engine.render.engine_config import CONFIG_KEY
from firebolt_operator.engine.render.template import EffectiveTemplate
from firebolt_operator.manifests.reading import text
from firebolt_operator.manifests.secret_mounts import secret_volume
from firebolt_operator.policy.component_rules import ENGINE
from firebolt_operator.policy.protected_secrets import reaches_protected
from firebolt_operator.refs import Manifest

DATA_PATH: Final = "/var/lib/firebolt"
RUNTIME_PATH: Final = "/run/firebolt"
DEFAULT_CLAIM_SIZE: Final = "1Gi"
DEFAULT_ACCESS_MODE: Final = "ReadWriteOnce"


def pod_volumes(inputs: EngineInputs, generation: int, template: EffectiveTemplate) -> list[Manifest]:
    config_map = names.config_map_name(inputs.name, generation)
    return [
        {"name": names.VOLUME_ENGINE_CONFIG, "configMap": {"name": config_map}},
        {"name": names.VOLUME_ENGINE_RUNTIME, "emptyDir": {}},
        *_data_volume(inputs),
        *map(secret_volume, inputs.instance.secret_mounts),
        *(volume for volume in template.volumes if _is_usable(volume, inputs)),
        *_web_volume(inputs),
    ]


def engine_mounts(inputs: EngineInputs, user_mounts: Iterable[Manifest]) -> list[Manifest]:
    config_path = f"{DATA_PATH}/{CONFIG_KEY}"
    secret_mounts = inputs.instance.secret_mounts
    return [
        {"name": names.VOLUME_ENGINE_DATA, "mountPath": DATA_PATH},
        {
            "name": names.VOLUME_ENGINE_CONFIG,
            "mountPath": config_path,
            "subPath": CONFIG_KEY,
            "readOnly": True,
        },
        {"name": names.VOLUME_ENGINE_RUNTIME, "mountPath": RUNTIME_PATH},
        *({"name": mount.volume, "mountPath": mount.path, "readOnly": True} for mount in secret_mounts),
        *(mount for mount in user_mounts if not ENGINE.owns_volume(text(mount.get("name")))),
    ]


def claim_templates(inputs: EngineInputs, generation: int) -> list[Manifest]:
    claim = effective_storage(inputs.spec, inputs.engine_class, inputs.preset).persistent_volume_claim
    if claim is None:
        return []
    metadata = {"name": names.VOLUME_ENGINE_DATA, "labels": generation_labels(inputs.name, generation)}
    return [{"metadata": metadata, "spec": _claim_spec(claim)}]


def _claim_spec(claim: PersistentVolumeClaimStorage) -> Manifest:
    storage_class = {} if claim.storage_class_name is None else {"storageClassName": claim.storage_class_name}
    return {
        "accessModes": list(claim.access_modes) or [DEFAULT_ACCESS_MODE],
        "resources": {"requests": {"storage": DEFAULT_CLAIM_SIZE if _is_zero(claim.size) else claim.size}},
        **storage_class,
    }


def _is_zero(size: int | str) -> bool:
    try:
        return parse_quantity(size) == 0
    except ValueError:
        return False  # for the API server to refuse, in its own words


def _data_volume(inputs: EngineInputs) -> list[Manifest]:
    storage = effective_storage(inputs.spec, inputs.engine_class, inputs.preset)
    if storage.persistent_volume_claim is not None:
        return []
    if storage.host_path is not None:
        return [{"name": names.VOLUME_ENGINE_DATA, "hostPath": _host_path(storage.host_path)}]
    return [{"name": names.VOLUME_ENGINE_DATA, "emptyDir": _empty_dir(storage.empty_dir or EmptyDirStorage())}]


def _host_path(storage: HostPathStorage) -> Manifest:
    return {"path": storage.path, **({"type": storage.type} if storage.type else {})}


def _empty_dir(storage: EmptyDirStorage) -> Manifest:
    medium = {"medium": storage.medium} if storage.medium else {}
    return medium | ({} if storage.size_limit is None else {"sizeLimit": storage.size_limit})


def _web_volume(inputs: EngineInputs) -> list[Manifest]:
    has_ui = effective_ui_sidecar(inputs.spec, inputs.engine_class)
    return [{"name": names.VOLUME_ENGINE_WEB, "emptyDir": {}}] if has_ui else []


def _is_usable(volume: Manifest, inputs: EngineInputs) -> bool:
    """A volume that reaches one of the operator's Secrets or claims is left out rather than refused.

    The kubelet keeps refreshing mounted Secrets, so only pods without the volume help; refusing to render would keep
    the exposed ones.
    """
    name = text(volume.get("name"))
    is_taken = ENGINE.owns_volume(name) or any(name == mount.volume for mount in inputs.instance.secret_mounts)
    return not is_taken and not reaches_protected(volume, inputs.instance.protected_secrets)

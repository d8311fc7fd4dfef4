"""What admission refuses about an engine, what its controller refuses to render, and what it leaves out."""

from collections.abc import Mapping
from typing import Any

import msgspec
import pytest

from firebolt_operator.api.engine_class import EngineClassSpec
from firebolt_operator.policy.bounds import ResourceBounds, parse_bounds
from firebolt_operator.policy.engine_checks import (
    ClassLookup,
    check_engine_admission,
    check_engine_template,
    class_not_found,
    class_unreadable,
    dropped_volumes,
)
from firebolt_operator.policy.field_errors import aggregate
from firebolt_operator.policy.inherited import FoundClass, Inherited, class_template
from firebolt_operator.policy.protected_secrets import protected_secret_names
from firebolt_operator.refs import Manifest
from tests.unit.policy.builders import (
    AUTH,
    a_container,
    a_secret_volume,
    a_template,
    an_engine_spec,
    an_instance,
    paths,
    with_signing_keys,
)

NO_BOUNDS = ResourceBounds()
BOUNDS = parse_bounds(cpu="32", memory="256Gi", ephemeral_storage="")
OVER_BOUND = a_template(a_container("engine", resources={"limits": {"cpu": "64"}}))
SIGNING = an_instance(auth=AUTH, status=with_signing_keys("key-secret"))
PROTECTED = protected_secret_names(SIGNING)


def a_class(template: Manifest | None) -> Inherited:
    return [class_template("large", template)]


def found_class(template: Manifest, **spec: Any) -> FoundClass:
    return FoundClass(name="large", spec=msgspec.convert({"template": template, **spec}, EngineClassSpec))


def from_env(secret: str) -> Mapping[str, Any]:
    return {"env": [{"name": "A", "valueFrom": {"secretKeyRef": {"name": secret, "key": "k"}}}]}


def from_env_from(secret: str) -> Mapping[str, Any]:
    return {"envFrom": [{"secretRef": {"name": secret}}]}


@pytest.mark.parametrize(
    ("lookup", "expected"),
    [
        pytest.param(None, "", id="no-class-named"),
        pytest.param(found_class({}), "", id="the-class-exists"),
        pytest.param(
            class_not_found("does-not-exist"), 'spec.engineClassRef: Not found: "does-not-exist"', id="no-such-class"
        ),
        pytest.param(
            class_unreadable("timeout"), "spec.engineClassRef: Internal error: timeout", id="an-outage-fails-closed"
        ),
    ],
)
def test_admission_judges_the_class_reference(lookup: ClassLookup, expected: str) -> None:
    assert aggregate(check_engine_admission(an_engine_spec(), lookup, None, NO_BOUNDS)) == expected


def test_admission_reports_everything_at_once_in_a_fixed_order() -> None:
    template = a_template(
        a_container("engine", command=["x"], resources={"limits": {"cpu": "64"}}, **from_env("key-secret")),
        volumes=[a_secret_volume("v", "key-secret")],
    )
    errors = check_engine_admission(an_engine_spec(template), class_not_found("gone"), SIGNING, BOUNDS)
    assert paths(errors) == [
        "spec.engineClassRef",
        "spec.template.spec.containers[0].command",
        "spec.template.spec.volumes[0]",
        "spec.template.spec.containers[0]",
        "spec.template.spec.containers[engine].resources.limits.cpu",
    ]


def test_a_missing_class_and_an_excess_come_in_one_answer() -> None:
    errors = check_engine_admission(an_engine_spec(OVER_BOUND), class_not_found("gone"), None, BOUNDS)
    assert aggregate(errors) == (
        '[spec.engineClassRef: Not found: "gone", spec.template.spec.containers[engine].resources.limits.cpu:'
        ' Invalid value: "64": exceeds operator-configured maximum 32]'
    )


def test_admission_holds_an_inherited_excess_against_the_engine() -> None:
    errors = check_engine_admission(an_engine_spec(), found_class(OVER_BOUND), None, BOUNDS)
    assert 'FireboltEngineClass "large"' in aggregate(errors)


@pytest.mark.parametrize(
    "source",
    [
        pytest.param({"secret": {"secretName": "key-secret"}}, id="as-a-secret-volume"),
        pytest.param({"projected": {"sources": [{"secret": {"name": "key-secret"}}]}}, id="as-a-projected-source"),
    ],
)
def test_a_volume_that_reaches_a_signing_key(source: Manifest) -> None:
    """Refused at admission; in the controller it never blocks but is left out."""
    spec = an_engine_spec(a_template(volumes=[{"name": "totally-fine", **source}]))
    expected = (
        'spec.template.spec.volumes[0]: Forbidden: volume "totally-fine" reaches Secret "key-secret", which the engine'
        " operator mounts itself; use a Secret of your own"
    )
    assert aggregate(check_engine_admission(spec, None, SIGNING, NO_BOUNDS)) == expected
    assert aggregate(dropped_volumes(spec, (), PROTECTED)) == expected
    assert check_engine_template(spec, (), PROTECTED) == []


def test_a_volume_with_the_users_own_secret_is_kept() -> None:
    spec = an_engine_spec(a_template(volumes=[a_secret_volume("v", "my-secret")]))
    assert check_engine_admission(spec, None, SIGNING, NO_BOUNDS) == []
    assert dropped_volumes(spec, (), PROTECTED) == []


def test_admission_knows_no_secret_before_the_instance_exists() -> None:
    spec = an_engine_spec(a_template(volumes=[a_secret_volume("v", "key-secret")]))
    assert check_engine_admission(spec, None, None, NO_BOUNDS) == []


def test_without_authentication_the_admin_secret_may_be_mounted() -> None:
    spec = an_engine_spec(a_template(volumes=[a_secret_volume("v", "admin-password")]))
    instance = an_instance(auth={**AUTH, "enabled": False})
    assert check_engine_admission(spec, None, instance, NO_BOUNDS) == []
    assert dropped_volumes(spec, (), protected_secret_names(instance)) == []


def test_admission_judges_by_shape_like_the_controller() -> None:
    spec = an_engine_spec(
        a_template(
            a_container("side", **from_env_from("inst-auth-signing-signing-7")),
            volumes=[a_secret_volume("v", "other-engine-g7-engine-tls"), a_secret_volume("w", "inst-engine-ca-bundle")],
        )
    )
    assert paths(check_engine_admission(spec, None, SIGNING, NO_BOUNDS)) == [
        "spec.template.spec.volumes[0]",
        "spec.template.spec.volumes[1]",
        "spec.template.spec.containers[0]",
    ]
    assert paths(dropped_volumes(spec, (), PROTECTED)) == [
        "spec.template.spec.volumes[0]",
        "spec.template.spec.volumes[1]",
    ]
    assert paths(check_engine_template(spec, (), PROTECTED)) == ["spec.template.spec.containers[0]"]


def test_without_an_instance_the_controller_still_knows_the_shapes() -> None:
    spec = an_engine_spec(
        a_template(volumes=[a_secret_volume("v", "eng-g1-engine-tls"), a_secret_volume("w", "key-secret")])
    )
    assert paths(dropped_volumes(spec, (), frozenset())) == ["spec.template.spec.volumes[0]"]


NEIGHBOURS = "neighbour-metadata-postgres-creds"
NEIGHBOURS_CLAIM = {"claimName": "data-neighbour-metadata-pg-0"}


@pytest.mark.parametrize("on_class", [False, True], ids=["engine-template", "class-template"])
def test_what_belongs_to_the_database_of_another_instance_is_out_of_reach(on_class: bool) -> None:
    template = a_template(
        a_container("env", **from_env(NEIGHBOURS)),
        a_container("from", **from_env_from(NEIGHBOURS)),
        volumes=[
            a_secret_volume("password", NEIGHBOURS),
            {"name": "projected", "projected": {"sources": [{"secret": {"name": NEIGHBOURS}}]}},
            {"name": "disk", "persistentVolumeClaim": NEIGHBOURS_CLAIM},
        ],
    )
    base = "spec.engineClassRef.template" if on_class else "spec.template"
    spec = an_engine_spec(None if on_class else template)
    inherited = a_class(template) if on_class else ()
    assert paths(check_engine_template(spec, inherited, PROTECTED)) == [
        f"{base}.spec.containers[{index}]" for index in range(2)
    ]
    dropped = dropped_volumes(spec, inherited, PROTECTED)
    assert paths(dropped) == [f"{base}.spec.volumes[{index}]" for index in range(3)]
    assert aggregate(dropped[2:]) == (
        f'{base}.spec.volumes[2]: Forbidden: volume "disk" reaches PersistentVolumeClaim'
        ' "data-neighbour-metadata-pg-0", which holds the database of an instance; use a claim of your own'
    )


@pytest.mark.parametrize(
    ("template", "path", "container", "secret"),
    [
        pytest.param(
            a_template(a_container("side", **from_env("key-secret"))),
            "containers[0]",
            "side",
            "key-secret",
            id="a-sidecars-env-reads-a-signing-key",
        ),
        pytest.param(
            a_template(a_container("a"), a_container("side", **from_env_from("admin-password"))),
            "containers[1]",
            "side",
            "admin-password",
            id="a-sidecars-env-from-reads-the-admin-password",
        ),
        pytest.param(
            a_template(initContainers=[a_container("init", **from_env("key-secret"))]),
            "initContainers[0]",
            "init",
            "key-secret",
            id="an-init-container-reads-a-signing-key",
        ),
        pytest.param(
            a_template(a_container("engine", **from_env_from("key-secret"))),
            "containers[0]",
            "engine",
            "key-secret",
            id="the-engine-container-is-not-exempt",
        ),
    ],
)
@pytest.mark.parametrize("on_class", [False, True], ids=["engine-template", "class-template"])
def test_reading_a_guarded_secret_into_the_environment_blocks_the_engine(
    on_class: bool, template: Manifest, path: str, container: str, secret: str
) -> None:
    base = "spec.engineClassRef.template" if on_class else "spec.template"
    spec = an_engine_spec(None if on_class else template)
    errors = check_engine_template(spec, a_class(template) if on_class else (), PROTECTED)
    assert aggregate(errors) == (
        f'{base}.spec.{path}: Forbidden: container "{container}" reads Secret "{secret}" into its environment,'
        " which is for the engine operator only; use a Secret of your own"
    )


def test_a_class_volume_that_reaches_a_guarded_secret_is_left_out_and_the_others_stay() -> None:
    template = a_template(volumes=[a_secret_volume("own", "my-secret"), a_secret_volume("alias", "key-secret")])
    errors = dropped_volumes(an_engine_spec(), a_class(template), PROTECTED)
    assert paths(errors) == ["spec.engineClassRef.template.spec.volumes[1]"]


def test_owned_fields_of_the_class_are_judged_on_the_class_not_on_the_engine() -> None:
    assert check_engine_template(an_engine_spec(), a_class(a_template(hostname="x")), PROTECTED) == []


def test_one_error_per_container_and_secret() -> None:
    twice = {**from_env("key-secret"), **from_env_from("key-secret")}
    both: Manifest = {**from_env("key-secret"), **from_env_from("admin-password")}
    spec = an_engine_spec(a_template(a_container("one", **twice), a_container("two", **both)))
    assert paths(check_engine_template(spec, (), PROTECTED)) == [
        "spec.template.spec.containers[0]",
        "spec.template.spec.containers[1]",
        "spec.template.spec.containers[1]",
    ]

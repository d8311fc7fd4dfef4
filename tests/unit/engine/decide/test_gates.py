"""May an engine be rendered? Each gate by itself: class, instance, template and bounds."""

from typing import Any

import msgspec
import pytest

from firebolt_operator.api.cluster_engine_class import ClusterEngineClassSpec, ClusterFireboltEngineClass
from firebolt_operator.api.engine_class import EngineClassSpec, FireboltEngineClass
from firebolt_operator.api.engine_preset import EnginePresetSpec
from firebolt_operator.api.instance import FireboltInstance
from firebolt_operator.api.model import ObjectMeta
from firebolt_operator.api.resources import FIREBOLT_ENGINE_CLASSES, FIREBOLT_INSTANCES
from firebolt_operator.engine.decide.gates import (
    GATED_PHASES,
    Missing,
    Refusal,
    TemplateVerdict,
    class_gate,
    inherited_templates,
    instance_gate,
    judge_template,
)
from firebolt_operator.engine.inputs import ClassInfo, InstanceInfo, PresetInfo
from firebolt_operator.policy.bounds import ResourceBounds
from firebolt_operator.policy.inherited import class_template, preset_template
from firebolt_operator.reconciling.verdicts import Verdict
from firebolt_operator.refs import Manifest, Ref
from tests.support.engine_inputs import engine_class, engine_spec, with_template

CLASS = Ref(FIREBOLT_ENGINE_CLASSES, "ns", "big")
INSTANCE = Ref(FIREBOLT_INSTANCES, "ns", "inst")
ENDPOINT = "inst-metadata.ns.svc.cluster.local:7000"
KEYS = {"signingKeys": [{"id": "k", "secretName": "inst-auth-signing-k", "createdAt": "2026-01-01T00:00:00Z"}]}
TLS = {"secretName": "inst-engine-ca", "createdAt": "2026-01-01T00:00:00Z"}
AUTH_ON: Manifest = {"enabled": True, "local": {"admin": {"password": {"name": "admin", "key": "password"}}}}
TLS_ON: Manifest = {"engine": {"enabled": True}}
NO_INSTANCE = InstanceInfo(id="id", metadata_endpoint=ENDPOINT)


def test_only_phases_that_render_depend_on_the_instance() -> None:
    assert {phase.value for phase in GATED_PHASES} == {"creating", "stable", "stopped"}


def a_condition(kind: str, status: str, reason: str, generation: int = 1) -> Manifest:
    return {
        "type": kind,
        "status": status,
        "reason": reason,
        "message": f"{reason} it says",
        "lastTransitionTime": "2026-01-01T00:00:00Z",
        "observedGeneration": generation,
    }


class TestClass:
    @staticmethod
    def a_class(*conditions: Manifest, template: Manifest | None = None) -> FireboltEngineClass:
        document: Manifest = {
            "metadata": {"name": "big", "namespace": "ns", "generation": 1},
            "spec": {"template": template or {}},
            "status": {"conditions": list(conditions)},
        }
        return msgspec.convert(document, FireboltEngineClass)

    def test_given_none_then_it_is_missing_and_named(self) -> None:
        text = (
            'FireboltEngineClass referenced by spec.engineClassRef not found: spec.engineClassRef "big":'
            " FireboltEngineClass ns/big not found, ClusterFireboltEngineClass big not found"
        )
        assert class_gate(CLASS, None) == Missing(text)

    @pytest.mark.parametrize(
        "conditions",
        [
            pytest.param((a_condition("Ready", "True", "Admissible"),), id="judged-and-fit"),
            pytest.param((), id="fit-and-not-judged-yet"),
            pytest.param(
                (a_condition("Ready", "False", "OperatorOwnedFieldSet", generation=0),), id="mended-and-not-judged-yet"
            ),
            # Its engines must still be led off it.
            pytest.param((a_condition("Ready", "False", "DeletionBlocked"),), id="waits-for-its-deletion"),
        ],
    )
    def test_given_a_fit_class_then_engines_inherit_from_it(self, conditions: tuple[Manifest, ...]) -> None:
        found = class_gate(CLASS, self.a_class(*conditions))
        assert found == ClassInfo(name="big", spec=EngineClassSpec(template={}), generation=1)

    def test_given_a_class_without_a_spec_then_there_is_nothing_to_inherit(self) -> None:
        bare = msgspec.structs.replace(self.a_class(), spec=None)
        assert class_gate(CLASS, bare) == ClassInfo(name="big", spec=EngineClassSpec(template={}), generation=1)

    @pytest.mark.parametrize(
        ("conditions", "problem"),
        [
            pytest.param(
                (a_condition("Ready", "False", "OperatorOwnedFieldSet"),),
                "OperatorOwnedFieldSet it says",
                id="in-the-words-of-the-class",
            ),
            pytest.param(
                (),
                "spec.template.spec.hostname: Forbidden: hostname is owned by the operator",
                id="nobody-has-judged-it",
            ),
            pytest.param(
                (a_condition("Ready", "True", "Admissible", generation=0),),
                "spec.template.spec.hostname: Forbidden: hostname is owned by the operator",
                id="what-was-judged-is-not-what-it-says-now",
            ),
        ],
    )
    def test_given_a_bad_template_then_engines_are_blocked(
        self, conditions: tuple[Manifest, ...], problem: str
    ) -> None:
        place = '"big" in namespace "ns"'
        text = f"FireboltEngineClass referenced by spec.engineClassRef is not Ready: {place}: {problem}"
        found = class_gate(CLASS, self.a_class(*conditions, template={"spec": {"hostname": "x"}}))
        assert found == Refusal(Verdict(status="False", reason="FireboltEngineClassUnready", message=text))

    def test_given_a_class_of_the_cluster_then_its_template_is_all_there_is_to_inherit(self) -> None:
        size: Manifest = {"metadata": {"labels": {"size": "xl"}}}
        metadata = ObjectMeta(name="big", generation=4)
        shared = ClusterFireboltEngineClass(metadata=metadata, spec=ClusterEngineClassSpec(template=size))
        kind = "ClusterFireboltEngineClass"
        assert class_gate(CLASS, shared) == ClassInfo(
            name="big", spec=EngineClassSpec(template=size), generation=4, kind=kind
        )
        assert class_gate(CLASS, ClusterFireboltEngineClass(metadata=metadata)) == ClassInfo(
            name="big", spec=EngineClassSpec(template={}), generation=4, kind=kind
        )

    def test_given_a_bad_class_of_the_cluster_then_engines_are_blocked_whatever_its_namespace(self) -> None:
        spec = ClusterEngineClassSpec(template={"spec": {"hostname": "x"}})
        found = class_gate(CLASS, ClusterFireboltEngineClass(metadata=ObjectMeta(name="big"), spec=spec))
        text = (
            'FireboltEngineClass referenced by spec.engineClassRef is not Ready: ClusterFireboltEngineClass "big":'
            " spec.template.spec.hostname: Forbidden: hostname is owned by the operator"
        )
        assert found == Refusal(Verdict(status="False", reason="FireboltEngineClassUnready", message=text))


class TestInstance:
    @staticmethod
    def an_instance(*, status: Manifest | None = None, instance_id: str = "id", **spec: Any) -> FireboltInstance:
        document: Manifest = {
            "metadata": {"name": "inst", "namespace": "ns"},
            "spec": {"id": instance_id, "metadata": {}, "gateway": {}, **spec},
            "status": {"phase": "Ready", "metadataEndpoint": ENDPOINT} | (status or {}),
        }
        return msgspec.convert(document, FireboltInstance)

    @staticmethod
    def blocks(problem: str) -> Refusal:
        return Refusal(
            ready=Verdict(
                status="False", reason="InstanceNotReady", message="Referenced FireboltInstance is not ready"
            ),
            instance=Verdict(status="False", reason="InstanceNotReady", message=f'FireboltInstance "inst" {problem}'),
        )

    @pytest.mark.parametrize("phase", ["Ready", "Degraded", "Failed"])
    def test_given_what_it_takes_then_engines_get_it(self, phase: str) -> None:
        found = instance_gate(INSTANCE, self.an_instance(status={"phase": phase}))
        assert isinstance(found, InstanceInfo)
        assert (found.id, found.metadata_endpoint) == ("id", ENDPOINT)

    def test_given_none_then_it_says_where_it_looked(self) -> None:
        assert instance_gate(INSTANCE, None) == self.blocks("not found in namespace ns")

    @pytest.mark.parametrize(
        ("status", "instance_id", "problem"),
        [
            pytest.param({"phase": ""}, "id", "is still provisioning", id="no-phase"),
            pytest.param({"phase": "Provisioning"}, "id", "is still provisioning", id="provisioning"),
            pytest.param({"metadataEndpoint": ""}, "id", "has no metadata endpoint yet", id="no-metadata"),
            pytest.param({}, "", "has no instance ID yet", id="no-id"),
        ],
    )
    def test_given_less_then_engines_wait(self, status: Manifest, instance_id: str, problem: str) -> None:
        found = instance_gate(INSTANCE, self.an_instance(status=status, instance_id=instance_id))
        assert found == self.blocks(problem)

    READY = a_condition("AuthReady", "True", "Ready")

    @pytest.mark.parametrize(
        "status",
        [
            pytest.param({}, id="nothing-is-known"),
            pytest.param({"auth": KEYS}, id="keys-and-no-condition"),
            pytest.param({"conditions": [READY]}, id="a-condition-and-no-auth-status"),
            pytest.param({"conditions": [READY], "auth": {"signingKeys": []}}, id="a-condition-and-no-keys"),
            pytest.param({"conditions": [a_condition("AuthReady", "False", "X")], "auth": KEYS}, id="not-ready"),
            pytest.param({"conditions": [a_condition("AuthReady", "Unknown", "X")], "auth": KEYS}, id="unknown"),
            pytest.param({"conditions": [a_condition("Ready", "True", "X")], "auth": KEYS}, id="another-condition"),
        ],
    )
    def test_given_authentication_that_is_not_ready_then_no_engine_starts_without_it(self, status: Manifest) -> None:
        found = instance_gate(INSTANCE, self.an_instance(status=status, auth=AUTH_ON))
        assert found == self.blocks("has auth enabled but it is not ready yet")

    @pytest.mark.parametrize(
        ("status", "auth"),
        [
            pytest.param({"conditions": [READY], "auth": KEYS}, AUTH_ON, id="ready-with-keys"),
            pytest.param({}, {"enabled": False}, id="off"),
            pytest.param({"conditions": [a_condition("AuthReady", "False", "X")]}, None, id="not-asked-for"),
        ],
    )
    def test_given_authentication_that_is_ready_or_off_then_engines_start(
        self, status: Manifest, auth: Manifest | None
    ) -> None:
        spec: Manifest = {} if auth is None else {"auth": auth}
        assert isinstance(instance_gate(INSTANCE, self.an_instance(status=status, **spec)), InstanceInfo)

    def test_given_engine_tls_that_is_not_provisioned_then_no_engine_starts_in_the_clear(self) -> None:
        found = instance_gate(INSTANCE, self.an_instance(tls=TLS_ON))
        assert found == self.blocks("has engine TLS enabled but it is not provisioned yet")

    @pytest.mark.parametrize(
        ("status", "tls"),
        [
            pytest.param({"engineTLS": TLS}, TLS_ON, id="provisioned"),
            pytest.param({}, {"engine": {"enabled": False}}, id="off"),
            pytest.param({}, {"gateway": {"enabled": True}}, id="of-the-gateway-only"),
            pytest.param({}, None, id="not-asked-for"),
        ],
    )
    def test_given_engine_tls_that_is_provisioned_or_off_then_engines_start(
        self, status: Manifest, tls: Manifest | None
    ) -> None:
        spec: Manifest = {} if tls is None else {"tls": tls}
        assert isinstance(instance_gate(INSTANCE, self.an_instance(status=status, **spec)), InstanceInfo)

    def test_given_several_problems_then_the_first_that_must_be_mended_is_told(self) -> None:
        broken = self.an_instance(
            status={"phase": "Provisioning", "metadataEndpoint": ""}, instance_id="", auth=AUTH_ON, tls=TLS_ON
        )
        assert instance_gate(INSTANCE, broken) == self.blocks("is still provisioning")

    def test_given_secrets_of_the_instance_then_engines_are_kept_away_from_them(self) -> None:
        found = instance_gate(
            INSTANCE, self.an_instance(status={"conditions": [self.READY], "auth": KEYS}, auth=AUTH_ON)
        )
        assert isinstance(found, InstanceInfo)
        assert {"admin", "inst-auth-signing-k"} <= found.protected_secrets


BOUNDS = ResourceBounds(cpu="4")
TOO_LARGE = with_template(engine={"resources": {"limits": {"cpu": "5"}}})
OWNED = with_template({"hostname": "x"})
STOLEN = with_template({"volumes": [{"name": "v", "secret": {"secretName": "theirs"}}]})
GUARDED = InstanceInfo(id="id", metadata_endpoint=ENDPOINT, protected_secrets=frozenset({"theirs"}))
ENVIRONMENT = with_template(
    engine={"env": [{"name": "X", "valueFrom": {"secretKeyRef": {"name": "theirs", "key": "k"}}}]}
)


class TestTemplate:
    def test_given_nothing_wrong_then_nothing_is_refused(self) -> None:
        assert judge_template(engine_spec(), None, NO_INSTANCE, BOUNDS) == TemplateVerdict(None, ())

    @pytest.mark.parametrize(
        ("spec", "of_class", "reason", "field"),
        [
            pytest.param(OWNED, None, "TemplateRejected", "spec.template.spec.hostname", id="owned-field"),
            pytest.param(ENVIRONMENT, None, "TemplateRejected", "spec.template.spec.containers[0]", id="secret"),
            pytest.param(
                {}, ENVIRONMENT, "TemplateRejected", "spec.engineClassRef.template.spec.containers[0]", id="by-class"
            ),
            pytest.param(TOO_LARGE, None, "ResourceBoundsExceeded", "spec.template.spec.containers", id="bounds"),
            pytest.param({}, TOO_LARGE, "ResourceBoundsExceeded", "spec.template.spec.containers", id="class-bounds"),
        ],
    )
    def test_given_a_template_that_may_not_be_then_it_names_the_field(
        self, spec: Manifest, of_class: Manifest | None, reason: str, field: str
    ) -> None:
        inherited = None if of_class is None else engine_class(**of_class)
        refused = judge_template(engine_spec(**spec), inherited, GUARDED, BOUNDS).refused
        assert refused is not None
        assert (refused.ready.status, refused.ready.reason, refused.instance) == ("False", reason, None)
        assert refused.ready.message.startswith(field)

    def test_given_both_then_owned_fields_are_told_before_bounds(self) -> None:
        both = with_template({"hostname": "x"}, engine={"resources": {"limits": {"cpu": "5"}}})
        refused = judge_template(engine_spec(**both), None, NO_INSTANCE, BOUNDS).refused
        assert refused is not None
        assert refused.ready.reason == "TemplateRejected"

    @pytest.mark.parametrize("is_inherited", [False, True], ids=["own", "of-the-class"])
    def test_given_a_volume_that_reaches_a_secret_of_ours_then_it_is_dropped_and_nothing_is_refused(
        self, is_inherited: bool
    ) -> None:
        spec = engine_spec(**({} if is_inherited else STOLEN))
        found = judge_template(spec, engine_class(**STOLEN) if is_inherited else None, GUARDED, BOUNDS)
        assert (found.refused, len(found.dropped)) == (None, 1)

    def test_the_template_of_a_preset_is_judged_before_that_of_a_class(self) -> None:
        assert inherited_templates(None, None) == []
        preset = PresetInfo(name="firebolt", spec=EnginePresetSpec(template={"spec": {}}))
        assert inherited_templates(engine_class(**OWNED), preset) == [
            preset_template("firebolt", {"spec": {}}),
            class_template("shared", OWNED["template"]),
        ]

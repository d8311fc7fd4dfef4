"""The webhook server of the process, and what gives it a certificate."""

import random
import secrets
import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from firebolt_operator.admission.classes import guarded_admissions
from firebolt_operator.admission.configurations import MUTATING, VALIDATING
from firebolt_operator.admission.decide.renewal import Terms
from firebolt_operator.admission.engines import EngineAdmission
from firebolt_operator.admission.instances import InstanceAdmission
from firebolt_operator.admission.keeper import CertificateKeeper
from firebolt_operator.admission.lookups import IsWatched, Lookups
from firebolt_operator.admission.secret import ServedPair, decode_served_pair
from firebolt_operator.admission.served_certificate import ServedCertificate
from firebolt_operator.admission.server import Webhook, admission_app
from firebolt_operator.admission.webhooks import webhooks
from firebolt_operator.api.instance_id import ENTROPY_BYTES, mint_instance_id
from firebolt_operator.api.model import ObjectMeta
from firebolt_operator.api.names import CONTROLLER_WEBHOOK_CERTIFICATES
from firebolt_operator.api.resources import SECRETS
from firebolt_operator.instance.identity import mints_lower_case
from firebolt_operator.observability.server_metrics import WebhookMetrics
from firebolt_operator.refs import Manifest, Ref
from firebolt_operator.runtime.cache import Cache
from firebolt_operator.runtime.certificates import CertificateFiles, ReloadingCertificate
from firebolt_operator.runtime.controller import Controller
from firebolt_operator.runtime.coverage import Coverage
from firebolt_operator.runtime.health import Check
from firebolt_operator.runtime.informer import Informer
from firebolt_operator.runtime.manager import Service
from firebolt_operator.runtime.objects import Key, header_of
from firebolt_operator.runtime.selectors import parse_selector
from firebolt_operator.runtime.servers import HttpServer, parse_bind_address
from firebolt_operator.runtime.work_queue import Priority
from firebolt_operator.settings import WebhookSettings
from firebolt_operator.wiring.factory import ControllerFactory

SERVER: Final = "webhook"
FAREWELL_SECONDS: Final = 2.0  # API servers keep their connections to us, whichever pods the Service leads to


@dataclass(frozen=True, slots=True, kw_only=True)
class Admission:
    """What the process consists of besides its controllers; all of it empty while webhooks are off."""

    servers: tuple[HttpServer, ...] = ()
    services: tuple[Service, ...] = ()
    controllers: tuple[Controller[Key], ...] = ()  # the leader's
    ready: Mapping[str, Check] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Certificate:
    context: ssl.SSLContext
    services: tuple[Service, ...]
    controllers: tuple[Controller[Key], ...] = ()
    ready: Mapping[str, Check] | None = None


def build_admission(factory: ControllerFactory, leads: Check) -> Admission:
    settings = factory.settings.webhooks
    if settings is None:
        return Admission()
    shown = _from_files(factory, settings) if settings.cert_path else _own(factory, settings, leads)
    asked = _webhooks(factory)
    recorder = WebhookMetrics(factory.metrics, {webhook.path: webhook.resource for webhook in asked})
    app = admission_app(asked, recorder, factory.clock)
    address = parse_bind_address(settings.bind_address)
    server = HttpServer(SERVER, app, address, shown.context, farewell_seconds=FAREWELL_SECONDS)
    return Admission(servers=(server,), services=shown.services, controllers=shown.controllers, ready=shown.ready)


def _webhooks(factory: ControllerFactory) -> list[Webhook]:
    reader = factory.admission_reader or factory.client

    def new_id(metadata_template: Manifest | None) -> str:
        images = factory.settings.images
        is_lower = mints_lower_case(metadata_template, metadata_default=images.metadata, engine_default=images.engine)
        return mint_instance_id(factory.clock.now(), secrets.token_bytes(ENTROPY_BYTES), is_lower=is_lower)

    return webhooks(
        EngineAdmission(Lookups(reader), factory.bounds),
        guarded_admissions(reader, factory.bounds, _is_watched(factory)),
        InstanceAdmission(Lookups(reader), factory.settings.operator_account, new_id),
    )


def _is_watched(factory: ControllerFactory) -> IsWatched:
    namespaces = factory.settings.namespaces
    selector = parse_selector(factory.settings.watch_label_selector)
    # What belongs to no namespace belongs to whoever looks after any.
    return lambda namespace, labels: (
        (not (namespaces and namespace) or namespace in namespaces) and selector.matches(labels)
    )


def _from_files(factory: ControllerFactory, settings: WebhookSettings) -> _Certificate:
    folder = Path(settings.cert_path)
    files = CertificateFiles(folder / settings.cert_name, folder / settings.cert_key)
    certificate = ReloadingCertificate(files, factory.clock, factory.certificate_metrics.of(SERVER))
    return _Certificate(context=certificate.context, services=(certificate,))


def _own(factory: ControllerFactory, settings: WebhookSettings, leads: Check) -> _Certificate:
    """Informers as services: the controllers of our kinds must not wait for what only webhooks need."""
    secret = Ref(SECRETS, *settings.secret)
    pairs: Cache[ServedPair] = Cache(
        SECRETS, decode_served_pair, coverage=Coverage((secret.namespace,), name=secret.name)
    )
    configurations = [
        Cache(resource, _decode_metadata, coverage=Coverage(name=settings.configuration))
        for resource in (VALIDATING, MUTATING)
    ]
    served = ServedCertificate(pairs, factory.certificate_metrics.of(SERVER))
    controller = _keeper(factory, settings, secret)
    key = (secret.namespace, secret.name)
    caches: list[Cache[Any]] = [pairs, *configurations]
    for cache in caches:
        controller.watches(cache, lambda _old, _new: [(key, Priority.EVENT)])
    controller.queue.add(key, Priority.EVENT)  # where there is no Secret yet, nothing will ever change
    informers = [Informer(cache, factory.client, factory.clock, random.Random()) for cache in caches]
    for informer in informers:
        factory.cache_metrics.follows(f"{SERVER} {informer.name}", informer)
    return _Certificate(
        context=served.context,
        services=tuple(informers),
        controllers=(controller,),
        ready={"webhook-certificate": lambda: served.is_ready(leads=leads())},
    )


def _keeper(factory: ControllerFactory, settings: WebhookSettings, secret: Ref) -> Controller[Key]:
    name = CONTROLLER_WEBHOOK_CERTIFICATES
    keeper = CertificateKeeper(
        reader=factory.client,
        writer=factory.client,
        clock=factory.clock,
        secret=secret,
        configuration=settings.configuration,
        names=frozenset(settings.names),
        terms=Terms(life=settings.cert_life),
        events=factory.events(name),
    )
    return factory.controller(name, SECRETS.kind, factory.queue(name), keeper.reconcile)


def _decode_metadata(body: bytes) -> ObjectMeta:
    """Any change counts, whatever it is: the keeper looks at the rest itself."""
    header = header_of(body)
    return ObjectMeta(name=header.metadata.name, resource_version=str(header.version))

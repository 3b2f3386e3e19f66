"""How each service is brought up inside a process of its own: tables, first entries, application.

Every function gives an application for `eventlet.wsgi`. The services' own programs are not used:
each would import everything anew, ask for a message bus, and take a process per part.
"""

from __future__ import annotations

import os
import sqlite3
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import settings
from settings import Place

Application = Callable[..., Any]


def keystone(place: Place) -> Iterator[tuple[str, Application]]:
    """Yield who may do what, with the catalogue of all services."""
    from cryptography.fernet import Fernet
    from keystone.cmd.bootstrap import Bootstrapper
    from keystone.common import provider_api, sql
    from keystone.resource.backends.base import NULL_DOMAIN_ID
    from keystone.resource.backends.sql_model import Project
    from keystone.server import configure
    from keystone.server.flask.application import application_factory
    from keystone.server.flask.core import setup_app_middleware
    from oslo_config import cfg

    for name in ("0", "1"):
        place.file(f"keys/{name}").write_bytes(Fernet.generate_key())
    config = place.file("keystone.conf")
    _prepare(place, "keystone")
    configure(config_files=[str(config)])
    first = Bootstrapper()  # brings every table's description in
    with sql.session_for_write() as session:
        sql.ModelBase.metadata.create_all(session.get_bind())
        root = NULL_DOMAIN_ID  # above every domain
        session.add(Project(id=root, name=root, domain_id=root, is_domain=True, enabled=False))
    first.admin_username = first.project_name = settings.ADMIN
    first.admin_role_name, first.admin_password = "admin", settings.PASSWORD
    first.service_name, first.region_id = "keystone", settings.REGION
    first.public_url = first.internal_url = first.admin_url = place.url("identity")
    first.bootstrap()
    providers = provider_api.ProviderAPIs
    domain = cfg.CONF.identity.default_domain_id
    for kind in settings.PATHS:
        if kind == "identity":
            continue
        service = uuid.uuid4().hex
        providers.catalog_api.create_service(
            service, {"id": service, "type": kind, "name": kind, "enabled": True}
        )
        for interface in ("public", "internal", "admin"):
            key = uuid.uuid4().hex
            providers.catalog_api.create_endpoint(
                key,
                {
                    "id": key,
                    "interface": interface,
                    "region_id": settings.REGION,
                    "service_id": service,
                    "url": place.url(kind),
                    "enabled": True,
                },
            )
    project = uuid.uuid4().hex
    named = {"name": settings.USER, "domain_id": domain, "enabled": True}
    providers.resource_api.create_project(
        project,
        {"id": project, "description": "", "is_domain": False, "parent_id": domain, **named},
    )
    user = providers.identity_api.create_user({"password": settings.PASSWORD, **named})
    providers.assignment_api.add_role_to_user_and_project(user["id"], project, first.member_role_id)
    yield "identity", setup_app_middleware(application_factory("public"))


def glance(place: Place) -> Iterator[tuple[str, Application]]:
    """Yield the images."""
    _prepare(place, "glance")
    os.environ["OS_GLANCE_CONFIG_DIR"] = str(place.folder)
    place.file("glance-api.conf").symlink_to("glance.conf")
    place.file("glance-api-paste.ini").symlink_to("glance-paste.ini")
    from glance.common.wsgi_app import init_app
    from glance.db.sqlalchemy import api, models, models_metadef

    application = init_app()
    engine = api.get_engine()
    models.register_models(engine)
    models_metadef.register_models(engine)
    yield "image", application


def neutron(place: Place) -> Iterator[tuple[str, Application]]:
    """Yield networks and ports, which are bound without agents."""
    _prepare(place, "neutron")
    from neutron.common import config
    from neutron.db.migration.models import head
    from neutron_lib.db import api

    config.register_common_config_options()
    config.init([], default_config_files=[str(place.file("neutron.conf"))])
    config.setup_logging()
    config.set_config_defaults()
    head.get_metadata().create_all(api.get_writer_session().get_bind())
    application = config.load_paste_app("neutron")
    from neutron.plugins.ml2.plugin import Ml2Plugin
    from neutron_lib.plugins import directory

    plugin = directory.get_plugin()
    assert isinstance(plugin, Ml2Plugin)
    plugin.start_rpc_listeners()
    yield "network", application


def nova(place: Place) -> Iterator[tuple[str, Application]]:
    """Yield servers; and the placement of what they ask for, which is asked at every step."""
    for name in ("placement", "nova_api", "nova_cell0", "nova_cell1"):
        _prepare(place, name)
    yield "placement", _placement(place)

    from nova import config, context, objects, service, virt
    from nova.api.openstack import wsgi_app  # noqa: F401 - registers every object
    from nova.compute import rpcapi as compute
    from nova.conductor import rpcapi as conductor
    from nova.db.api import api as api_database
    from nova.db.api import models as api_models
    from nova.db.main import api as cell_database
    from nova.db.main import models as cell_models
    from nova.objects import host_mapping
    from nova.scheduler import rpcapi as scheduler
    from oslo_config import cfg
    from oslo_log import log
    from paste.deploy import loadapp

    for name in ("bareline_subnet", "bareline_guests"):  # for the driver
        config.CONF.register_opt(cfg.StrOpt(name))
    config.parse_args(["nova"], default_config_files=[str(place.file("nova.conf"))])
    log.setup(config.CONF, "nova")
    # Nova takes a driver from its own package only.
    virt.__path__.append(str(Path(__file__).parent))
    api_models.BASE.metadata.create_all(api_database.get_engine())
    admin = context.get_admin_context()
    for name, key in (("cell0", objects.CellMapping.CELL0_UUID), ("cell1", str(uuid.uuid4()))):
        cell = objects.CellMapping(
            admin,
            uuid=key,
            name=name,
            transport_url="none:///" if name == "cell0" else "fake://",
            database_connection=place.database(f"nova_{name}"),
        )
        cell.create()
        with context.target_cell(admin, cell) as inside:
            cell_models.BASE.metadata.create_all(cell_database.get_engine(context=inside))
    for host, binary, topic in (
        (None, "nova-conductor", conductor.RPC_TOPIC),
        (None, "nova-scheduler", scheduler.RPC_TOPIC),
        *((name, "nova-compute", compute.RPC_TOPIC) for name in place.computes),
    ):
        service.Service.create(host=host, binary=binary, topic=topic).start()
    host_mapping.discover_hosts(admin)
    yield "compute", loadapp(f"config:{place.file('nova-paste.ini')}", name="osapi_compute")


def _placement(place: Place) -> Application:
    from oslo_config import cfg
    from placement import conf, db_api, deploy
    from placement.db.sqlalchemy import migration

    config = cfg.ConfigOpts()
    conf.register_opts(config)
    config([], default_config_files=[str(place.file("placement.conf"))])
    db_api.configure(config)
    migration.create_schema(db_api.get_placement_engine())
    deploy.update_database(config)
    application: Application = deploy.loadapp(config)
    return application


def _prepare(place: Place, database: str) -> None:
    """Let a database be read while it is written."""
    with sqlite3.connect(place.file(f"{database}.sqlite")) as connection:
        connection.execute("PRAGMA journal_mode=WAL")

"""The compose file names settings, files and variables that exist. (Images are not pulled in tests.)"""

import re
from pathlib import Path

import pytest
import yaml

from tests.docs import generate

ROOT = Path(__file__).parents[2]
COMPOSE = (ROOT / "docker" / "compose.yaml").read_text(encoding="utf-8")
SERVICES = yaml.safe_load(COMPOSE)["services"]
ENVIRONMENT = yaml.safe_load(COMPOSE)["x-sluice"]["environment"]


def test_each_setting_in_the_compose_file_is_one():
    known = set(re.findall(r"`(SLUICE_[A-Z_]+)`", generate.settings()))
    assert {name for name in ENVIRONMENT if name.startswith("SLUICE_")} <= known


def test_each_variable_is_in_the_example_file():
    wanted = set(re.findall(r"\$\{([A-Z_]+):\?", COMPOSE))
    given = set(re.findall(r"^([A-Z_]+)=", (ROOT / "docker" / "example.env").read_text(), re.MULTILINE))
    assert wanted <= given


@pytest.mark.parametrize("name", sorted(SERVICES))
def test_a_service_waits_only_for_services_that_exist(name):
    assert set(SERVICES[name].get("depends_on", {})) <= set(SERVICES)


def test_only_the_web_server_is_published_and_only_to_this_host():
    ports = {name: one["ports"] for name, one in SERVICES.items() if "ports" in one}
    assert ports == {"api-server": ["127.0.0.1:8080:8080"]}


def test_the_image_copies_what_is_there():
    for line in re.findall(r"^COPY (.+)$", (ROOT / "docker" / "Dockerfile").read_text(), re.MULTILINE):
        for source in line.split()[:-1]:
            assert (ROOT / source).exists(), source

"""The container's files: nothing runs as root, nothing secret is in them, everything is pinned, healthy and kept."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped]

from snellen.memory.stored_files import AddressFiles
from snellen.profiles import load_profile
from tests.servers.object_store import object_store

ROOT = Path(__file__).parents[1]
SECRET = re.compile(r"(?i)(?:password|token|key|secret)\w*\s*[:=]\s*[\"']?(?!\$\{)[\w-]{6,}")


def instructions() -> list[tuple[str, str]]:
    text = re.sub(r"\\\n\s*", "", (ROOT / "Dockerfile").read_text())
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    return [(name.upper(), rest) for name, _, rest in (line.partition(" ") for line in lines)]


def said(name: str) -> list[str]:
    return [rest for instruction, rest in instructions() if instruction == name]


def compose(name: str = "compose.yaml") -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((ROOT / name).read_text())
    return found


def test_the_image_is_pinned_and_not_roots() -> None:
    last = max(place for place, (name, _) in enumerate(instructions()) if name == "FROM")
    final = instructions()[last:]

    assert all(re.fullmatch(r"python:3\.\d+-slim-\w+(?: AS \w+)?", one) for one in said("FROM"))
    assert [rest for name, rest in final if name == "USER"] == ["snellen"]
    assert final.index(("USER", "snellen")) < next(place for place, (name, _) in enumerate(final) if name == "CMD")


def test_the_image_is_watched_and_keeps_its_memory() -> None:
    (check,) = said("HEALTHCHECK")

    assert "/health" in check
    assert said("VOLUME") == ["/memory"]
    assert "SNELLEN_HOME=/memory" in " ".join(said("ENV"))
    assert said("CMD")[0].startswith('["snellen", "serve"')


def test_the_image_has_what_it_needs_and_pytorch_without_cuda() -> None:
    runs = " ".join(said("RUN"))
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    wanted = re.search(r"\.\[([\w,]+)\]", runs)
    packages = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hatch"]["build"]["targets"]["wheel"]

    assert wanted is not None
    assert {"serve", "postgres", "s3", "tables", "prove", "ray"} <= set(wanted[1].split(",")) <= set(extras)
    assert "whl/cpu" in runs
    linked = {
        one.resolve().name for package in packages["packages"] for one in (ROOT / package).iterdir() if one.is_symlink()
    }
    assert linked >= {"graphs", "nodes", "tools", "memory"}
    assert {f"{one} {one}" for one in {*packages["packages"], *linked}} <= set(said("COPY"))
    ignored = (ROOT / ".dockerignore").read_text().split()
    assert not {*packages["packages"], *linked} & {*ignored}


def test_nothing_secret_is_in_the_files() -> None:
    for name in ("Dockerfile", "compose.yaml", "compose.ray.yaml", "compose.store.yaml"):
        text = (ROOT / name).read_text()
        assert not SECRET.search(text), name
        assert "ARG" not in text
    assert {".env", ".git"} <= set((ROOT / ".dockerignore").read_text().split())


def test_the_services_are_pinned_healthy_kept_and_reached_from_this_machine_alone() -> None:
    services = compose()["services"]
    snellen, postgres = services["snellen"], services["postgres"]

    assert re.fullmatch(r"postgres:\d+\.\d+-\w+", postgres["image"])
    assert "pg_isready" in postgres["healthcheck"]["test"][1]
    assert snellen["depends_on"]["postgres"]["condition"] == "service_healthy"
    assert all(port.startswith("127.0.0.1:") for port in snellen["ports"])
    assert "ports" not in postgres
    assert set(compose()["volumes"]) == {"memory", "checkpoints"}
    assert "postgres:5432" in snellen["environment"]["SNELLEN_CHECKPOINTS"]
    assert "${POSTGRES_PASSWORD:?" in snellen["environment"]["SNELLEN_CHECKPOINTS"]
    assert int(snellen["stop_grace_period"].removesuffix("s")) > 10


def test_the_workers_have_the_image_of_the_server_and_join_its_cluster_with_a_token() -> None:
    more = compose("compose.ray.yaml")
    snellen, worker = (more["services"][name] for name in ("snellen", "worker"))

    assert worker["image"] == snellen["image"]
    assert worker["deploy"]["replicas"] == 2
    assert worker["environment"] == snellen["environment"]
    assert worker["environment"]["RAY_AUTH_MODE"] == "token"
    assert worker["environment"]["RAY_AUTH_TOKEN"].startswith("${RAY_AUTH_TOKEN:?")
    assert "ports" not in worker
    assert worker["read_only"]
    assert worker["command"][:2] == ["ray", "start"]
    head = snellen["command"][-1]
    assert "ray start --head --port 6379 --num-cpus 0" in head
    assert worker["environment"]["RAY_ADDRESS"] in worker["command"]


def test_the_server_of_a_cluster_asks_models_on_it(tmp_path: Path) -> None:
    more = compose("compose.ray.yaml")
    file = tmp_path / "cluster.toml"
    file.write_text(more["configs"]["cluster"]["content"])
    (mounted,) = more["services"]["snellen"]["configs"]

    assert load_profile(file).executor == "ray"
    assert f"--profile {mounted['target']}" in more["services"]["snellen"]["command"][-1]


def test_the_store_of_several_machines_is_pinned_healthy_and_has_keys_of_its_own() -> None:
    more = compose("compose.store.yaml")
    snellen, bucket, objects = (more["services"][name] for name in ("snellen", "bucket", "objects"))

    assert re.fullmatch(r"chrislusf/seaweedfs:\d+\.\d+", objects["image"])
    assert "ports" not in objects
    assert bucket["depends_on"]["objects"]["condition"] == "service_healthy"
    assert snellen["depends_on"]["bucket"]["condition"] == "service_completed_successfully"
    assert bucket["environment"] == snellen["environment"]
    assert all("${" in snellen["environment"][name] for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"))
    (identities,) = objects["configs"]
    assert f"-s3.config={identities['target']}" in objects["command"]
    (identity,) = json.loads(more["configs"]["identities"]["content"])["identities"]
    assert identity["credentials"] == [{"accessKey": "${STORE_KEY}", "secretKey": "${STORE_SECRET}"}]


def test_its_bucket_is_made_once_and_takes_pictures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bucket = compose("compose.store.yaml")["services"]["bucket"]
    address = bucket["environment"]["SNELLEN_STORE"].rpartition(" ")[2]
    program, *words = bucket["command"]
    assert program == "python"
    with object_store(tmp_path) as endpoint:
        for name, value in (("ENDPOINT_URL", endpoint), ("ACCESS_KEY_ID", "key"), ("SECRET_ACCESS_KEY", "secret")):
            monkeypatch.setenv(f"AWS_{name}", value)
        for _ in range(2):
            subprocess.run([sys.executable, *words], check=True)
        files = AddressFiles(address)
        files.write_all({"picture": b"content"})
        assert files.read("picture") == b"content"

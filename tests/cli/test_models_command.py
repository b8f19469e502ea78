"""``snellen models``: what tools use, what investigations examine, and what it is."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from snellen.cli.main import main
from snellen.profiles import load_profile


def test_the_models_that_are_examined_are_listed_with_what_they_are(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["models", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    tested = {one["name"]: one for one in told["tested"]}
    assert list(tested) == list(load_profile("embedded").tested)
    assert all(one["about"] and one["state"] == "there" for one in tested.values())
    assert tested["llava-upright"]["about"].endswith("not LLaVA")
    assert tested["llava-judge"]["source"] == (
        "microworld/checkpoints/llava-upright with microworld/checkpoints/llava-judge"
    )
    assert main(["models"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "llava-upright" in shown
    assert "trained in the microworld with planted weaknesses; not LLaVA" in shown


def test_an_endpoint_is_listed_with_both_slashes_of_its_address(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    profile = tmp_path / "mine.toml"
    profile.write_text('extends = "embedded"\n[tested.mine]\nurl = "http://localhost:8000/v1"\nmodel = "m"\n')
    assert main(["models", "--profile", str(profile), "--json"]) == 0
    mine = next(one for one in json.loads(capsys.readouterr().out)["tested"] if one["name"] == "mine")
    assert (mine["source"], mine["state"], mine["about"]) == ("m at http://localhost:8000/v1", "an endpoint", "")


def test_every_model_of_the_shipped_profiles_says_what_it_is() -> None:
    for name in ("embedded", "hub"):
        for model, settings in load_profile(name).tested.items():
            assert len(settings.about.split()) > 3, model

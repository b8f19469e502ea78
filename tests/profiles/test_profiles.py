from __future__ import annotations

import re
import tomllib
from pathlib import Path
from types import ModuleType

import pytest

from snellen import profiles
from snellen.profiles import BadInput, EndpointUnderTest, Profile, SnellenError, load_profile, profile_names
from snellen.profiles.profile import INSTALLED_ROOT

COMMIT = re.compile(r"[0-9a-f]{40}")


def _write(folder: Path, text: str, name: str = "mine.toml") -> Path:
    file = folder / name
    file.write_text(text, encoding="utf-8")
    return file


def test_the_shipped_profiles_are_found_by_name() -> None:
    assert profile_names() == ["embedded", "hub"]
    assert load_profile().name == "embedded"


def test_both_profiles_name_the_same_classes() -> None:
    embedded, hub = load_profile("embedded").models, load_profile("hub").models
    for key in ("loc", "vqa", "caption", "match", "clip", "embedding"):
        assert getattr(embedded, key).class_name == getattr(hub, key).class_name


def test_every_hub_id_is_pinned_to_a_commit() -> None:
    data = tomllib.loads((Path(profiles.__file__).parent / "hub.toml").read_text())
    pinned = {key: entry["revision"] for key, entry in data["models"].items() if "id" in entry}
    assert sorted(pinned) == ["caption", "clip", "loc", "match", "replace", "seg", "text_to_image", "vqa"]
    assert all(COMMIT.fullmatch(revision) for revision in pinned.values())


def test_folders_of_the_embedded_profile_are_inside_the_installation() -> None:
    profile = load_profile("embedded")
    assert profile.resolve("microworld/checkpoints/owlvit") == INSTALLED_ROOT / "microworld/checkpoints/owlvit"


def test_the_sentence_embeddings_come_from_an_installed_package() -> None:
    source = load_profile("hub").source("embedding")
    assert source.local
    assert (Path(source.location) / "model.safetensors").is_file()


def test_a_missing_package_names_its_key(tmp_path: Path) -> None:
    file = _write(tmp_path, 'extends = "hub"\n[models.embedding]\npackage = "no_such_package"\n')
    with pytest.raises(SnellenError, match=r"'no_such_package' is not installed: it is models\.embedding\.package"):
        load_profile(file).source("embedding")


def test_a_file_states_only_what_differs(tmp_path: Path) -> None:
    (tmp_path / "owl").mkdir()
    profile = load_profile(_write(tmp_path, 'extends = "hub"\n[models.loc]\nfolder = "owl"\nthreshold = 0.2\n'))
    assert profile.models.loc is not None
    assert profile.models.loc.threshold == 0.2
    assert profile.models.loc.template == "a photo of a {}"
    assert profile.source("loc").location == str(tmp_path / "owl")
    assert profile.source("loc").revision is None
    assert not profile.source("vqa").local


def test_a_file_extends_another_file_beside_it(tmp_path: Path) -> None:
    _write(tmp_path, 'extends = "hub"\n[limits]\nsteps = 3\n', "base.toml")
    profile = load_profile(_write(tmp_path, 'extends = "base.toml"\nname = "mine"\n'))
    assert (profile.name, profile.limits.steps) == ("mine", 3)


def test_absolute_folders_stay(tmp_path: Path) -> None:
    profile = load_profile(_write(tmp_path, f'extends = "hub"\n[models.loc]\nfolder = "{tmp_path}"\n'))
    assert profile.source("loc").location == str(tmp_path)


def test_a_missing_entry_names_key_and_file(tmp_path: Path) -> None:
    with pytest.raises(SnellenError, match=r"\[models\.replace\] in .*mine\.toml"):
        load_profile(_write(tmp_path, 'name = "bare"\n')).source("replace")


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("= 1", "cannot be read"),
        ('extends = "nothing"', "There is no profile 'nothing'"),
        ('extends = "mine.toml"', "extends itself"),
        ('extends = "hub"\ndevise = "cpu"', "its key 'devise' is wrong"),
        ('extends = "hub"\ndevice = "abacus"', "its key 'device' is wrong"),
        ('extends = "hub"\n[models.loc]\nthreshold = 2', "its key 'models.loc.threshold' is wrong"),
        ('extends = "hub"\n[models.loc]\nclass = "DetrModel"', "its key 'models.loc.class' is wrong"),
        ('extends = "hub"\n[models.loc]\nid = "me/mine"', "an id needs a revision"),
        ('extends = "hub"\n[models.loc]\nid = "me/mine"\nfolder = "here"', "either a folder or an id"),
        ('[models.loc]\nclass = "OwlViTForObjectDetection"', "either a folder or an id"),
    ],
)
def test_a_wrong_file_is_one_sentence(tmp_path: Path, text: str, complaint: str) -> None:
    with pytest.raises(BadInput, match=re.escape(complaint)) as caught:
        load_profile(_write(tmp_path, text))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ["hubb", "", "nowhere/mine.toml", "../profiles"])
def test_an_unknown_profile_lists_the_known_ones(name: str) -> None:
    with pytest.raises(BadInput, match="choose one of embedded, hub"):
        load_profile(name)


def test_a_profile_cannot_be_changed() -> None:
    with pytest.raises(ValueError, match="frozen"):
        load_profile().name = "other"  # type: ignore[misc]


def test_the_world_is_imported_by_name(tmp_path: Path) -> None:
    profile: Profile = load_profile(_write(tmp_path, 'extends = "hub"\n[world]\nmodule = "json"\n'))
    assert isinstance(profile.world(), ModuleType)


def test_a_profile_without_a_world_says_so() -> None:
    with pytest.raises(SnellenError, match="has no world"):
        load_profile("hub").world()


def test_a_world_that_cannot_be_imported_says_so(tmp_path: Path) -> None:
    profile = load_profile(_write(tmp_path, 'extends = "hub"\n[world]\nmodule = "no_such_world"\n'))
    with pytest.raises(SnellenError, match="no_such_world"):
        profile.world()


ENDPOINT = 'extends = "embedded"\n[tested.far]\nmodel = "m"\n'


def endpoint(folder: Path, settings: str) -> EndpointUnderTest:
    (folder / "far.toml").write_text(ENDPOINT + settings)
    found = load_profile(folder / "far.toml").tested["far"]
    assert isinstance(found, EndpointUnderTest)
    return found


def test_an_endpoint_is_one_address_or_several(tmp_path: Path) -> None:
    one = endpoint(tmp_path, 'url = "http://a/v1"\nabout = "größer"\ntimeout = 90')
    assert one.url == ("http://a/v1",)
    said = '{"url":"http://a/v1","model":"m","timeout":90.0,"about":"größer"}'
    assert one.identity == said, "what informed a question before there could be several addresses"
    first = endpoint(tmp_path, 'url = ["http://a/v1", "http://b/v1"]')
    assert first.identity == endpoint(tmp_path, 'url = ["http://a/v1"]').identity
    weights = [
        endpoint(tmp_path, f'url = {urls}\nweights = "w"\noffer = "tokens"') for urls in ('"http://a"', '["http://b"]')
    ]
    assert len({each.identity for each in weights} | {first.identity}) == 2


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ('url = ["http://a/v1", "http://a/v1/"]', "each address once"),
        ("url = []", "url"),
        ('url = ["ftp://a"]', "url"),
        ('url = "http://a/v1"\nweights = "w"', "weights needs an offer"),
    ],
)
def test_addresses_that_cannot_be_are_refused(settings: str, told: str, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=told):
        endpoint(tmp_path, settings)

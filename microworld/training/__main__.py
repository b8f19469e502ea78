"""Train and measure the shipped checkpoints.

Examples:
  python -m snellen.microworld.training owlvit          train the detector (about 30 minutes on two cores)
  python -m snellen.microworld.training clip            train the classifier (about 6 minutes)
  python -m snellen.microworld.training blip            train BLIP on the detector's eyes (about 2 hours)
  python -m snellen.microworld.training maskformer      train the segmenter (about 90 minutes)
  python -m snellen.microworld.training diffusion       train the painter (about 3 hours: autoencoder, canvases,
  denoising) python -m snellen.microworld.training llava-upright   train a model under test; blip2-clean,
  idefics3-mirrored python -m snellen.microworld.training idefics3-judge  train a judge of pairs (about 40 minutes on
  one core); llava-judge python -m snellen.microworld.training familiarity     measure what the microworld looks like
  python -m snellen.microworld.training examine         measure the models under test and write their cards
  python -m snellen.microworld.training report          measure all of them and write the model cards

Each resumes where it was interrupted; `--fresh` starts anew.
"""

from __future__ import annotations

import argparse
import json
import shutil
from dataclasses import asdict
from pathlib import Path

import platformdirs

from snellen.microworld.concepts import HERE

CHECKPOINTS = HERE / "checkpoints"
REPORT = CHECKPOINTS / "report.json"
STEPS = {"owlvit": 7000, "clip": 1500, "blip": 9_000, "maskformer": 7600, "diffusion": 6_000}
EXAMINED = {"llava-upright": 5_000, "blip2-clean": 5_000, "idefics3-mirrored": 5_000}
"""The models under test, which are trained by one module."""
JUDGES = {"idefics3-judge": 4_000, "llava-judge": 4_000}
"""Those of them that judge pairs: adapters on the ones before."""
SEED = 7


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
    parser = argparse.ArgumentParser(
        prog="python -m snellen.microworld.training",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("what", choices=[*STEPS, *EXAMINED, *JUDGES, "familiarity", "examine", "report"])
    parser.add_argument("--work", type=Path, default=_work(), help="drawn pictures and saved states (%(default)s)")
    parser.add_argument("--out", type=Path, default=CHECKPOINTS, help="folder of the checkpoints")
    parser.add_argument("--steps", type=int, help="optimizer steps (default: those of the shipped checkpoints)")
    parser.add_argument("--seed", type=int, help="seed (default: 7 in training, 1 in the report)")
    parser.add_argument("--scenes", type=int, default=300, help="held-out scenes of the report")
    parser.add_argument("--fresh", action="store_true", help="forget an interrupted run")
    return parser


def _train(arguments: argparse.Namespace) -> None:
    from importlib import import_module

    if arguments.fresh:
        shutil.rmtree(arguments.work / arguments.what, ignore_errors=True)
    steps = arguments.steps or (STEPS | EXAMINED | JUDGES)[arguments.what]
    out = arguments.out / arguments.what
    seed = SEED if arguments.seed is None else arguments.seed
    module = "examined" if arguments.what in EXAMINED else "judges" if arguments.what in JUDGES else arguments.what
    lesson = import_module(f"snellen.microworld.training.{module}")
    outcome = lesson.train(arguments.work, out, seed=seed, steps=steps)
    (out / "training.json").write_text(json.dumps(asdict(outcome), indent=1) + "\n", encoding="utf-8")
    print(f"wrote {out}")


def _familiarity(arguments: argparse.Namespace) -> None:
    from snellen.microworld.training.familiarity_statistics import learn_looks

    print(learn_looks(seed=SEED if arguments.seed is None else arguments.seed))


def _examine(arguments: argparse.Namespace) -> None:
    from snellen.microworld.training import judges
    from snellen.microworld.training.exam_answers import write_card

    for name in EXAMINED:
        if (arguments.out / name / "training.json").exists():
            print(name, {kind: round(share, 2) for kind, (share, _) in write_card(arguments.out / name).items()})
    for name in JUDGES:
        if (arguments.out / name / "training.json").exists():
            print(name, judges.write_card(arguments.out / name, arguments.work))


def _report(arguments: argparse.Namespace) -> None:
    from snellen.microworld.training.measure import report
    from snellen.microworld.training.model_cards import table, write_cards

    figures = report(seed=1 if arguments.seed is None else arguments.seed, scenes=arguments.scenes)
    REPORT.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")
    write_cards(CHECKPOINTS, figures)
    print(table(figures))


if __name__ == "__main__":
    main()

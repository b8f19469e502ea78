"""Does a picture belong to the world that the checkpoints know?

Small checkpoints answer any question about any picture, photographs included, and with the same confidence. So the
distance of a picture's CLIP features to those of the world is measured: the Mahalanobis distance to their mean under a
covariance shrunk as Ledoit and Wolf (2004) propose, standardised by the number of features. Pictures farther than
almost all held-out scenes of the world are unfamiliar, and the user is told.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from snellen.profiles import SnellenError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

QUANTILE = 0.99
"""The share of held-out scenes that must count as familiar."""

ADVICE = (
    "The models of the profile {name!r} know only the microworld, and this picture is unlike it (distance "
    "{distance:.1f}, limit {threshold:.1f}), so treat the answer as a guess; for photographs use public checkpoints, "
    "those of the profile hub (downloaded at first use; docs/profiles.md tells how to name your own)."
)


@dataclass(frozen=True)
class Familiarity:
    """Distance of a picture from the known world, and whether it is near enough."""

    distance: float
    threshold: float

    @property
    def familiar(self) -> bool:
        """Return whether the picture looks like those that the models were trained on."""
        return self.distance <= self.threshold

    def warning(self, profile_name: str) -> str | None:
        """A sentence for the user about an unfamiliar picture, with the remedy; None for a familiar one."""
        if self.familiar:
            return None
        return ADVICE.format(name=profile_name, distance=self.distance, threshold=self.threshold)


@dataclass(frozen=True)
class Statistics:
    """Statistics of the known world's pictures.

    Attributes:
        mean: ``(d,)``.
        whitening: ``(d, d)``; the squared length of ``whitening @ (x - mean)`` is the squared distance times ``d``.
        threshold: Pictures farther away are unfamiliar.
    """

    mean: NDArray[np.float32]
    whitening: NDArray[np.float32]
    threshold: float

    def distances(self, features: NDArray[Any]) -> NDArray[np.float64]:
        """Standardised Mahalanobis distances ``(n,)`` of features ``(n, d)``: about 1 for pictures of the world."""
        import numpy as np

        away = (features.astype(np.float64) - self.mean) @ self.whitening.T.astype(np.float64)
        distances: NDArray[np.float64] = np.sqrt((away**2).mean(axis=1))
        return distances

    def score(self, feature: NDArray[Any]) -> Familiarity:
        """Judge one picture by its features ``(d,)``."""
        return Familiarity(float(self.distances(feature[None])[0]), self.threshold)


def fit(
    features: NDArray[Any], file: Path, *, held_out: NDArray[Any], quantile: float = QUANTILE, notes: str = ""
) -> Statistics:
    """Learn the world's look and write it to a file beside the CLIP checkpoint.

    Args:
        features: ``(n, d)`` of training scenes, as :meth:`snellen.models.vision.models.Models.appearances` gives them.
        file: A ``.safetensors`` file to write.
        held_out: ``(m, d)`` of scenes that are not among ``features``; the threshold is their ``quantile``.
        quantile: The share of held-out scenes that must count as familiar.
        notes: Kept in the file's metadata: the command and the seed that made it.

    Raises:
        ValueError: There are no held-out features, or the widths differ.
    """
    import numpy as np
    from safetensors.numpy import save_file

    if held_out.ndim != features.ndim or held_out.shape[1:] != features.shape[1:] or not len(held_out):
        msg = f"held-out features of shape {held_out.shape} do not fit features of shape {features.shape}"
        raise ValueError(msg)
    mean = features.mean(axis=0, dtype=np.float64)
    whitening = _whitening(features - mean)
    unbounded = Statistics(mean.astype(np.float32), whitening.astype(np.float32), np.inf)
    threshold = float(np.quantile(unbounded.distances(held_out), quantile))
    metadata = {"threshold": threshold, "quantile": quantile, "n": len(features), "held_out": len(held_out)}
    save_file(
        {"mean": unbounded.mean, "whitening": np.ascontiguousarray(unbounded.whitening)},
        str(file),
        metadata={"familiarity": json.dumps(metadata | {"notes": notes})},
    )
    return Statistics(unbounded.mean, unbounded.whitening, threshold)


def read(file: Path, *, threshold: float | None = None) -> Statistics:
    """Read what :func:`fit` wrote; ``threshold`` replaces the one in the file.

    Raises:
        SnellenError: The file is missing or is not of that kind.
    """
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(str(file), framework="numpy") as content:
            stored = float(json.loads(content.metadata()["familiarity"])["threshold"])
            mean, whitening = content.get_tensor("mean"), content.get_tensor("whitening")
    except (OSError, SafetensorError, KeyError, TypeError, ValueError) as error:
        msg = f"The familiarity statistics {file} cannot be read ({error}): correct familiarity.file in the profile."
        raise SnellenError(msg) from error
    return Statistics(mean, whitening, stored if threshold is None else threshold)


def _whitening(centred: NDArray[Any]) -> NDArray[np.float64]:
    """The symmetric inverse root ``(d, d)`` of the shrunk covariance of centred samples ``(n, d)``."""
    import numpy as np

    count, width = centred.shape
    samples = centred.astype(np.float64)
    covariance = samples.T @ samples / count
    average = np.trace(covariance) / width
    spread = ((covariance - average * np.eye(width)) ** 2).sum()
    # The mean over samples of |x xᵀ - S|², which is mean |x|⁴ - |S|²: how much the covariance itself is noise.
    noise = ((samples**2).sum(axis=1) ** 2).mean() - (covariance**2).sum()
    shrinkage = min(1.0, noise / count / spread) if spread > 0 else 1.0
    shrunk = (1 - shrinkage) * covariance + shrinkage * average * np.eye(width)
    values, vectors = np.linalg.eigh(shrunk)
    # A floor under the smallest variances: directions in which the world hardly varies must not decide alone.
    values = np.maximum(values, 1e-4 * average + 1e-12)
    whitening: NDArray[np.float64] = (vectors / np.sqrt(values)) @ vectors.T
    return whitening

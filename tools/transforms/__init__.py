"""What experiments do to pictures: APEX's transform tools (appendix A) and PairBench's transforms."""

from tools.transforms import geometric, pixel, semantic
from tools.transforms.transform import TRANSFORMS, Sample, Studio, apply

__all__ = ["TRANSFORMS", "Sample", "Studio", "apply", "geometric", "pixel", "semantic"]

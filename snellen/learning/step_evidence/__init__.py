"""Evidence about the results of steps: what the other tools, or the same tool asked in another way, say about them.

Reflection cannot see; it reads (CLOVA, section 3.3, "result conversion"). What it reads about a step beyond its result
is gathered here. Every statement says how far it speaks for the result, and what the result would be if it is right.
"""

from snellen.learning.step_evidence.gathering import gather as gather
from snellen.learning.step_evidence.witnesses import PERCEIVING as PERCEIVING

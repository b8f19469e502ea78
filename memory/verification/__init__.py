"""Checks that the memory is still what was stored; what can be mended is mended, what is lost is named.

``findings`` holds the record that every check adds to, ``home`` runs all of them.
"""

from snellen.memory.verification.findings import Verification, VerificationFinding
from snellen.memory.verification.home import verify_memory
from snellen.memory.verification.prompts import verify_prompts

__all__ = ["Verification", "VerificationFinding", "verify_memory", "verify_prompts"]

"""What outlives a run, one file each: artifacts, demonstrations, checkpoints, and the home they live in."""

import os

# langgraph reads this once, when its serializer is first imported: a checkpoint may then bring back known classes only.
os.environ.setdefault("LANGGRAPH_STRICT_MSGPACK", "true")

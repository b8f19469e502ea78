"""The vision models of a profile, behind the tools."""

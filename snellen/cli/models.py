"""``snellen models``."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from snellen.cli.display import print_json, print_table
from snellen.cli.options import JSON, PROFILE, command
from snellen.errors import SnellenError

if TYPE_CHECKING:
    from snellen.profiles import Profile


@command("models", PROFILE, JSON, examples="snellen models --profile hub")
def models(options: argparse.Namespace) -> int:
    """List the models of a profile: those of tools, those under test, and whether they are installed."""
    from snellen.profiles import load_profile

    profile = load_profile(options.profile)
    used = [_of_tools(profile, key) for key in type(profile.models).model_fields]
    tested = [_under_test(profile, name) for name in profile.tested]
    if options.json:
        settings = {"profile": profile.name, "device": profile.device, "dtype": profile.dtype}
        print_json({**settings, "models": used, "tested": tested})
        return 0
    rows = [(one["key"], one["class"], one["source"], one["state"]) for one in used]
    print_table(("key", "class", "folder or id", "state"), rows, title=f"profile {profile.name}: what tools use")
    rows = [(one["name"], one["about"], one["source"], one["state"]) for one in tested]
    title = "under test (snellen investigate … --models NAME)"
    print_table(("name", "what it is", "folder, id or address", "state"), rows, title=title)
    return 0


def _of_tools(profile: Profile, key: str) -> dict[str, str]:
    settings = getattr(profile.models, key)
    if settings is None:
        return {"key": key, "class": "", "source": "", "state": "none in this profile"}
    source = settings.folder or settings.id or ""
    package = getattr(settings, "package", None)
    return {
        "key": key,
        "class": settings.class_name,
        "source": f"{package}: {source or '.'}" if package else source,
        "state": _state(profile, key),
    }


def _under_test(profile: Profile, name: str) -> dict[str, str]:
    from snellen.profiles import EndpointUnderTest
    from snellen.profiles.addresses import shown_address

    settings = profile.tested[name]
    row = {"name": name, "about": settings.about}
    if isinstance(settings, EndpointUnderTest):
        source = f"{settings.model} at {', '.join(map(shown_address, settings.url))}"
        state = "an endpoint" if len(settings.url) == 1 else f"{len(settings.url)} servers"
        return {**row, "class": "", "source": source, "state": state}
    adapter = f" with {settings.adapter}" if settings.adapter else ""
    source = f"{settings.folder or settings.id or ''}{adapter}"
    return {**row, "class": settings.class_name, "source": source, "state": _state(profile, f"tested.{name}")}


def _state(profile: Profile, key: Any) -> str:  # noqa: ANN401 - one of the fields of the profile's table
    try:
        source = profile.source(key)
    except SnellenError:
        return "missing"
    if source.local:
        return "there" if any(Path(source.location).glob("*")) else "missing"
    from snellen.profiles.hub_access import is_downloaded

    return "downloaded" if is_downloaded(source) else "downloaded when first used"

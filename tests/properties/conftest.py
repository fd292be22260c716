"""Properties are judged by what holds, never by how long a busy machine takes."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("placet", deadline=None, max_examples=60)
settings.load_profile("placet")

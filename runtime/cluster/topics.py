"""Topics of wake-ups: what a ring of the notifier means."""

from __future__ import annotations

from typing import Final

LANES: Final = "lanes"
"""A lane is ready to be worked on."""

SUSPECTS: Final = "suspects"
"""A run waits under which processes died."""

UNSEALED: Final = "unsealed"
"""The audit has facts that are not sealed yet."""

ROLES: Final = "roles"
"""A role is free, or wanted by another node."""

DUE: Final = "due"
"""A schedule is due, or became so earlier."""

ASKED_BACK: Final = "asked-back"
"""An approver asked the agent about a call that waits."""

COMPACTING: Final = "compacting"
"""Somebody wants a conversation to be condensed."""

UNDOS: Final = "undos"
"""Somebody wants a call to be taken back."""

COOLDOWNS: Final = "cooldowns"
"""A model rests, or is well again."""

SKILLS: Final = "skills"
"""A skill was accepted or given up, or may be another one."""

ROOM_LANGUAGES: Final = "room languages"
"""Somebody reads a room in another language from now on."""

MEMORIES: Final = "memories"
"""Something was kept where perhaps nothing was before."""

TRIGGERS: Final = "triggers"
"""A trigger for messages was made, or ended."""

PUSHES: Final = "pushes"
"""A place is to be told of a task."""

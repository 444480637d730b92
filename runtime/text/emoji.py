"""Emoji by which messages are marked, with the short names that Slack and people write for them.

One vocabulary for all channels: what isn't in it is refused, so that a reaction can't carry words. Telegram takes fewer.
Source of the names: Slack's own picker, as in github.com/iamcal/emoji-data, read 2026-11.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

EMOJI_ROWS: Final = """
👍 +1 thumbsup | 👎 -1 thumbsdown | ❤️ heart | 🔥 fire | 🎉 tada | 👀 eyes | ✅ white_check_mark | ❌ x | 🙏 pray | 👏 clap
😁 grin | 🤔 thinking_face thinking | 😢 cry | 😱 scream | 🤯 exploding_head | 🥰 smiling_face_with_3_hearts | 🤩 star-struck | 💯 100
🤬 face_with_symbols_on_mouth | 🤮 face_vomiting | 💩 hankey poop | 👌 ok_hand | 🕊️ dove_of_peace | 🤡 clown_face | 🥱 yawning_face
🥴 woozy_face | 😍 heart_eyes | 🐳 whale | ❤️‍🔥 heart_on_fire | 🌚 new_moon_with_face | 🌭 hotdog | 🤣 rolling_on_the_floor_laughing
⚡ zap | 🍌 banana | 🏆 trophy | 💔 broken_heart | 🤨 face_with_raised_eyebrow | 😐 neutral_face | 🍓 strawberry | 🍾 champagne
💋 kiss | 😈 smiling_imp | 😴 sleeping | 😭 sob | 🤓 nerd_face | 👻 ghost | 👨‍💻 male-technologist | 🎃 jack_o_lantern
🙈 see_no_evil | 😇 innocent | 😨 fearful | 🤝 handshake | ✍️ writing_hand | 🤗 hugging_face | 🫡 saluting_face | 🎅 santa
🎄 christmas_tree | ☃️ snowman | 💅 nail_care | 🤪 zany_face | 🗿 moyai | 🆒 cool | 💘 cupid | 🙉 hear_no_evil | 🦄 unicorn_face
😘 kissing_heart | 💊 pill | 🙊 speak_no_evil | 😎 sunglasses | 👾 space_invader | 🤷 shrug | 😡 rage
⏳ hourglass_flowing_sand | ❓ question | ❗ exclamation | ⚠️ warning | 🚀 rocket | 💡 bulb | 📌 pushpin | 📎 paperclip | 📝 memo
🔍 mag | 🔧 wrench | 🐛 bug | 🙌 raised_hands | 👋 wave | 💪 muscle | 😀 grinning | 😄 smile | 😂 joy | 🙂 slightly_smiling_face
😉 wink | 😊 blush | 😅 sweat_smile | 😞 disappointed | 😮 open_mouth | ☕ coffee | 🍕 pizza | 🌟 star2 | ⭐ star | 🎯 dart
📅 date | 🔒 lock | 🟢 large_green_circle | 🔴 red_circle | 🟡 large_yellow_circle | 🆗 ok
🏁 checkered_flag | 💬 speech_balloon | ♻️ recycle | 🤖 robot_face | 🥳 partying_face | 💚 green_heart | 💙 blue_heart
💛 yellow_heart | 💜 purple_heart | ✨ sparkles | 🔁 repeat | ⏰ alarm_clock | 📈 chart_with_upwards_trend
"""
ANY_FORM: Final = "\ufe0f"
"""Variation selector that asks for the coloured form. Telegram leaves it out, and models now and then."""


def _names() -> dict[str, tuple[str, ...]]:
    rows = (row.split() for line in EMOJI_ROWS.strip().splitlines() for row in line.split(" | "))
    return {emoji: tuple(names) for emoji, *names in rows}


SHORT_NAMES: Final[Mapping[str, tuple[str, ...]]] = _names()
"""Each emoji as the standard writes it whole, with its names; the first is Slack's own."""
FAVOURITES: Final = "👍 ❤️ 🔥 🎉 👀 🙏 💯"
"""Some that every channel takes."""


def bare(emoji: str) -> str:
    """The emoji without the selector of its form."""
    return emoji.replace(ANY_FORM, "")


BY_SPELLING: Final[Mapping[str, str]] = {
    spelling: emoji for emoji, names in SHORT_NAMES.items() for spelling in (bare(emoji), *names)
}


def any_emoji(emoji: str) -> str:
    """Refuses nothing: for channels that take every emoji."""
    return ""


def emoji_of(written: str) -> str | None:
    """The emoji that somebody wrote, or named between colons; None where we know none such.

    >>> emoji_of(":+1:"), emoji_of("❤"), emoji_of("tada"), emoji_of("hello")
    ('👍', '❤️', '🎉', None)
    """
    return BY_SPELLING.get(bare(written.strip()).strip(":").lower())

"""The tools of AgentDojo, declared as ours are: one table of effects and flows, and the rules that a careful house would set.

Every tool that shows what strangers may have written is a source: mail, the calendar (others invite), shared files,
transactions (others choose the subject), listings and reviews, pages. No source are words of colleagues on the house's own
chat, as no message on a chat is; lists of names there are one as soon as a name is longer than a name.

The rules: what stays in the house and can be taken back is allowed, as long as it is clean or people named it. What
leaves it for good, or costs something, always asks: mail, money, bookings, strangers who are let in, pages on the web,
deletions, the password. So do files that are shared for writing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from runtime.contract import Carries, Effect, Flow, Reads
from runtime.policy.rules import Rule, Ruling

HOST, RECIPIENT, THING = Carries.HOST, Carries.RECIPIENT, Carries.THING
AMOUNT, WORDS, DETAIL = Carries.AMOUNT, Carries.WORDS, Carries.DETAIL
OURS, PEOPLE, NAMES, OUTSIDE = Reads.OURS, Reads.PEOPLE, Reads.NAMES, Reads.OUTSIDE


@dataclass(frozen=True, slots=True)
class Declared:
    """A tool as far as policy knows it."""

    effect: Effect
    flow: Flow


def _reads(reads: Reads, source: str = "", **carries: Carries) -> Declared:
    return Declared(Effect.READ, Flow(reads, source, carries=carries))


def _writes(reads: Reads = OURS, source: str = "", **carries: Carries) -> Declared:
    return Declared(Effect.WRITE, Flow(reads, source, carries=carries))


def _endangers(reads: Reads = OURS, source: str = "", **carries: Carries) -> Declared:
    return Declared(Effect.DANGER, Flow(reads, source, carries=carries))


MAIL: Final[Mapping[str, Declared]] = {
    **dict.fromkeys(("get_unread_emails", "get_received_emails", "search_emails"), _reads(OUTSIDE, "mail")),
    **dict.fromkeys(("get_sent_emails", "get_draft_emails"), _reads(OUTSIDE, "mail")),
    **dict.fromkeys(("search_contacts_by_name", "search_contacts_by_email"), _reads(OUTSIDE, "contacts")),
    "send_email": _writes(
        recipients=RECIPIENT, cc=RECIPIENT, bcc=RECIPIENT, subject=WORDS, body=WORDS, attachments=THING
    ),
    "delete_email": _endangers(OUTSIDE, "mail", email_id=THING),
}
CALENDAR: Final[Mapping[str, Declared]] = {
    "get_current_day": _reads(OURS),
    **dict.fromkeys(("search_calendar_events", "get_day_calendar_events"), _reads(OUTSIDE, "the calendar")),
    "create_calendar_event": _writes(
        title=THING, participants=RECIPIENT, description=WORDS, location=WORDS, start_time=DETAIL, end_time=DETAIL
    ),
    "reschedule_calendar_event": _writes(
        OUTSIDE, "the calendar", event_id=THING, new_start_time=DETAIL, new_end_time=DETAIL
    ),
    "add_calendar_event_participants": _writes(OUTSIDE, "the calendar", event_id=THING, participants=RECIPIENT),
    "cancel_calendar_event": _endangers(OUTSIDE, "the calendar", event_id=THING),
}
FILES: Final[Mapping[str, Declared]] = {
    **dict.fromkeys(("search_files_by_filename", "search_files"), _reads(OUTSIDE, "shared files")),
    **dict.fromkeys(("get_file_by_id", "list_files"), _reads(OUTSIDE, "shared files")),
    "read_file": _reads(OUTSIDE, "{file_path}", file_path=THING),
    "create_file": _writes(filename=THING, content=WORDS),
    "append_to_file": _writes(OUTSIDE, "shared files", file_id=THING, content=WORDS),
    "share_file": _writes(OUTSIDE, "shared files", file_id=THING, email=RECIPIENT, permission=DETAIL),
    "delete_file": _endangers(OUTSIDE, "shared files", file_id=THING),
}
BANK: Final[Mapping[str, Declared]] = {
    **dict.fromkeys(("get_iban", "get_balance", "get_user_info", "get_scheduled_transactions"), _reads(OURS)),
    "get_most_recent_transactions": _reads(OUTSIDE, "transactions"),
    **dict.fromkeys(
        ("send_money", "schedule_transaction"),
        _endangers(recipient=RECIPIENT, amount=AMOUNT, subject=WORDS, date=DETAIL, recurring=DETAIL),
    ),
    "update_scheduled_transaction": _endangers(
        id=THING, recipient=RECIPIENT, amount=AMOUNT, subject=WORDS, date=DETAIL, recurring=DETAIL
    ),
    "update_password": _endangers(password=THING),
    "update_user_info": _writes(first_name=THING, last_name=THING, street=THING, city=THING),
}
TRAVEL: Final[Mapping[str, Declared]] = {
    "get_user_information": _reads(OURS),
    **dict.fromkeys(("get_all_hotels_in_city", "get_hotels_prices"), _reads(OUTSIDE, "listings")),
    **dict.fromkeys(("get_hotels_address", "get_rating_reviews_for_hotels"), _reads(OUTSIDE, "listings")),
    **dict.fromkeys(("get_all_restaurants_in_city", "get_restaurants_address"), _reads(OUTSIDE, "listings")),
    **dict.fromkeys(
        ("get_cuisine_type_for_restaurants", "get_rating_reviews_for_restaurants"), _reads(OUTSIDE, "listings")
    ),
    **dict.fromkeys(
        ("get_dietary_restrictions_for_all_restaurants", "get_contact_information_for_restaurants"),
        _reads(OUTSIDE, "listings"),
    ),
    **dict.fromkeys(("get_price_for_restaurants", "check_restaurant_opening_hours"), _reads(OUTSIDE, "listings")),
    **dict.fromkeys(("get_all_car_rental_companies_in_city", "get_car_types_available"), _reads(OUTSIDE, "listings")),
    **dict.fromkeys(("get_rating_reviews_for_car_rental", "get_car_fuel_options"), _reads(OUTSIDE, "listings")),
    **dict.fromkeys(("get_car_rental_address", "get_car_price_per_day"), _reads(OUTSIDE, "listings")),
    "get_flight_information": _reads(OUTSIDE, "listings"),
    "reserve_hotel": _endangers(hotel=RECIPIENT, start_day=DETAIL, end_day=DETAIL),
    "reserve_restaurant": _endangers(restaurant=RECIPIENT, start_time=DETAIL),
    "reserve_car_rental": _endangers(company=RECIPIENT, start_time=DETAIL, end_time=DETAIL),
}
CHAT: Final[Mapping[str, Declared]] = {
    **dict.fromkeys(("get_channels", "get_users_in_channel"), _reads(NAMES, "names of the chat")),
    **dict.fromkeys(("read_channel_messages", "read_inbox"), _reads(PEOPLE, "messages of the chat")),
    "send_direct_message": _writes(recipient=RECIPIENT, body=WORDS),
    "send_channel_message": _writes(channel=RECIPIENT, body=WORDS),
    "add_user_to_channel": _writes(user=RECIPIENT, channel=RECIPIENT),
    "invite_user_to_slack": _endangers(user=RECIPIENT, user_email=RECIPIENT),
    "remove_user_from_slack": _endangers(user=RECIPIENT),
    "get_webpage": _reads(OUTSIDE, "{url}", url=HOST),
    "post_webpage": _endangers(url=HOST, content=WORDS),
}
TOOLS: Final[Mapping[str, Declared]] = {**MAIL, **CALENDAR, **FILES, **BANK, **TRAVEL, **CHAT}
"""All of them, by their names in AgentDojo. One that is not here breaks the benchmark."""

RULES: Final = (
    *(Rule(Ruling.ALLOW, name) for name in ("create_calendar_event", "reschedule_calendar_event")),
    Rule(Ruling.ALLOW, "add_calendar_event_participants"),
    *(Rule(Ruling.ALLOW, name) for name in ("create_file", "append_to_file")),
    Rule(Ruling.ALLOW, "share_file", arguments={"permission": "r"}),
    *(Rule(Ruling.ALLOW, name) for name in ("send_direct_message", "send_channel_message", "add_user_to_channel")),
    Rule(Ruling.ALLOW, "update_user_info"),
)
"""Writes that stay in the house and can be taken back. All others ask, by their effect."""

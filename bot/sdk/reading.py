"""Checks of what a program says, by the forms that the API has for the same."""

from __future__ import annotations

from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from bot.doors.rest import BAD_KEY, KEY_FORM
from runtime.errors import Declined

Form = TypeVar("Form", bound=BaseModel)


def checked(form: type[Form], **given: Any) -> Form:
    """The form of what was given. Errors: Declined names each field that is wrong."""
    try:
        return form.model_validate(given)
    except ValidationError as error:
        faults = [f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in error.errors(include_input=False)]
        raise Declined("; ".join(faults), status=422) from None


def key_checked(key: str) -> str:
    """Errors: Declined for what is no key."""
    if key and not KEY_FORM.fullmatch(key):
        raise Declined(BAD_KEY.replace("Idempotency-Key", "key"), status=422)
    return key

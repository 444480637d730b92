"""What is planned, told to people."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from runtime.calendar import in_words, plan

NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("0 9 * * 1-5", "every weekday at 09:00 (Europe/Berlin)"),
        ("0 10 * * 6,7", "every weekend day at 10:00 (Europe/Berlin)"),
        ("30 14 * * *", "every day at 14:30 (Europe/Berlin)"),
        ("0 9,17 * * 1,4", "every Monday and Thursday at 09:00 and 17:00 (Europe/Berlin)"),
        ("0 9 * * sun,mon", "every Monday and Sunday at 09:00 (Europe/Berlin)"),
        ("@monthly", "on the 1st of every month at 00:00 (Europe/Berlin)"),
        ("0 9 2,3,11,22 * *", "on the 2nd, 3rd, 11th and 22nd of every month at 09:00 (Europe/Berlin)"),
        ("0 9 31 * *", "on the 31st of every month (months without it are left out) at 09:00 (Europe/Berlin)"),
        ("0 18 24 12 *", "on the 24th of December at 18:00 (Europe/Berlin)"),
        ("0 9 * 1,7 *", "every day of January and July at 09:00 (Europe/Berlin)"),
        ("0 9 1 * 1", "on the 1st of every month and every Monday at 09:00 (Europe/Berlin)"),
        ("0 9 1 6 1", "on the 1st and every Monday of June at 09:00 (Europe/Berlin)"),
        ("0 9 */2 * 1", 'by "0 9 */2 * 1" (Europe/Berlin)'),
        ("0 9 1-20 * *", 'by "0 9 1-20 * *" (Europe/Berlin)'),
        ("0 9 1 1-11 *", 'by "0 9 1 1-11 *" (Europe/Berlin)'),
        ("*/5 8-18 * * *", 'by "*/5 8-18 * * *" (Europe/Berlin)'),
        ("*/7 * * * *", 'by "*/7 * * * *" (Europe/Berlin)'),
        ("*/25 * * * *", "every hour at :00, :25 and :50 (Europe/Berlin)"),
        ("0,30 * * * *", "every 30 minutes by the clock (Europe/Berlin)"),
        ("5 * * * *", "every hour at :05 (Europe/Berlin)"),
        ("*/1,* * * * *", "every minute (Europe/Berlin)"),
        ("* * * * *", "every minute (Europe/Berlin)"),
        ("*/5 * * * *", "every 5 minutes by the clock (Europe/Berlin)"),
        ("*/5 * * * 1-5", "every 5 minutes by the clock, every weekday (Europe/Berlin)"),
        ("hourly", "every hour (Europe/Berlin)"),
        ("15,45 * * * *", "every hour at :15 and :45 (Europe/Berlin)"),
        ("every 2 hours", "every 2 hours"),
        ("every 1 hour", "every hour"),
        ("every 3 days at 7", "every 3 days at 07:00 (Europe/Berlin)"),
        ("every 2 weeks on friday at 15:00", "every 2 weeks on Friday at 15:00 (Europe/Berlin)"),
        ("tomorrow at 14:30", "once, on Monday 23 November 2026 at 14:30 (Europe/Berlin)"),
        ("in 2 hours in Tokyo", "once, on Sunday 22 November 2026 at 23:00 (Asia/Tokyo)"),
    ],
)
def test_a_plan_is_told_in_one_line(text: str, told: str) -> None:
    assert in_words(plan(text, zone="Europe/Berlin", now=NOW)) == told

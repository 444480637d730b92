"""The bare handler on python-telegram-bot: its own polling, updates side by side. Nothing is kept.

python -m bench.bare_telegram --api-base URL --account JSON [--stream]
"""

from __future__ import annotations

from telegram import Update
from telegram.ext import ApplicationBuilder, ContextTypes, MessageHandler, filters

from bench.ask import given


def main() -> None:
    ask, account = given()
    url = account["api_base_url"].rstrip("/")

    async def reply(update: Update, context: ContextTypes.DEFAULT_TYPE) -> None:
        message = update.effective_message
        if message and message.text:
            await message.reply_text(await ask(message.text))

    builder = ApplicationBuilder().token(account["token"]).base_url(f"{url}/bot").base_file_url(f"{url}/file/bot")
    app = builder.concurrent_updates(256).connection_pool_size(256).pool_timeout(60).build()
    app.add_handler(MessageHandler(filters.TEXT, reply))
    print(account["name"], flush=True)
    app.run_polling(stop_signals=None, allowed_updates=["message"])


if __name__ == "__main__":
    main()

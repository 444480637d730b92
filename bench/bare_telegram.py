"""The bare handler on python-telegram-bot: its own polling, updates side by side. Nothing is kept.

A message with "write" gets a card with a button, and a press on it changes the card.

python -m bench.bare_telegram --api-base URL --account JSON [--stream]
"""

from __future__ import annotations

from telegram import InlineKeyboardButton, InlineKeyboardMarkup, Message, Update
from telegram.ext import ApplicationBuilder, CallbackQueryHandler, ContextTypes, MessageHandler, filters

from bench.ask import CARD, given


def main() -> None:
    ask, account = given()
    url = account["api_base_url"].rstrip("/")

    async def reply(update: Update, context: ContextTypes.DEFAULT_TYPE) -> None:
        message = update.effective_message
        if message and message.text and CARD in message.text:
            button = InlineKeyboardButton("Approve", callback_data="yes")
            await message.reply_text(message.text, reply_markup=InlineKeyboardMarkup([[button]]))
        elif message and message.text:
            await message.reply_text(await ask(message.text))

    async def press(update: Update, context: ContextTypes.DEFAULT_TYPE) -> None:
        query = update.callback_query
        if query and isinstance(query.message, Message):
            await query.answer()
            await query.edit_message_text(f"Approved: {query.message.text}")

    builder = ApplicationBuilder().token(account["token"]).base_url(f"{url}/bot").base_file_url(f"{url}/file/bot")
    app = builder.concurrent_updates(256).connection_pool_size(256).pool_timeout(60).build()
    app.add_handler(MessageHandler(filters.TEXT, reply))
    app.add_handler(CallbackQueryHandler(press))
    print(account["name"], flush=True)
    app.run_polling(stop_signals=None, allowed_updates=["message", "callback_query"])


if __name__ == "__main__":
    main()

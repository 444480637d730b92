"""An agent with a scripted model, a chat platform, rules and clocks for tests; and whole processes in a test's own loop.

    async with scripted_agent(tmp_path, "Hello, Ada!") as agent:
        assert str(await agent.ask("Hi, I'm Ada.")) == "Hello, Ada!"

`pytest_plugins = ["signalbox.testing.fixtures"]` in conftest.py brings fixtures of them.
"""

from __future__ import annotations

from bot.sdk.program import Brought
from bot.server.app import App, build
from bot.server.process import Ready, serving
from bot.settings.settings import Settings, load
from bot.testing.agents import ScriptedAgent, scripted_agent
from bot.testing.channel.adapter import FakeAdapter
from bot.testing.channel.faults import Do
from bot.testing.channel.platform import Platform, chat_platform
from bot.testing.channel.server import Channel, ChannelKind
from bot.testing.clocks import Clock, HandClock
from bot.testing.killing import kill_when, run_program
from bot.testing.openai.server import OpenAI, Reply, ToolCall
from bot.testing.policies import Policies
from bot.testing.scripted import Held, Scripted, held
from bot.testing.serve import serving as serving_app

__all__ = [
    "App",
    "Brought",
    "Channel",
    "ChannelKind",
    "Clock",
    "Do",
    "FakeAdapter",
    "HandClock",
    "Held",
    "OpenAI",
    "Platform",
    "Policies",
    "Ready",
    "Reply",
    "Scripted",
    "ScriptedAgent",
    "Settings",
    "ToolCall",
    "build",
    "chat_platform",
    "held",
    "kill_when",
    "load",
    "run_program",
    "scripted_agent",
    "serving",
    "serving_app",
]

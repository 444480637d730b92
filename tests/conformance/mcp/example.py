"""A server with the tools, resources and prompts that the suite asks for by name, behind our transport.

The suite's entries are about features of the protocol that Signalbox has no use for as well, such as sampling. This server
has them all, and stands where the product's own one does: behind the bridge of `bot/doors/mcp`, with sessions for
the revision that has them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.server.request_state import RequestStateBoundary, RequestStateSecurity
from mcp.shared.exceptions import MCPError

PIXEL: Final = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
SOUND: Final = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA="
BEAT: Final = 0.05
MODERN: Final = "2026-07-28"
NOTHING: Final[Mapping[str, Any]] = {"type": "object", "properties": {}}
Made = types.CallToolResult | types.InputRequiredResult
Tool = Callable[[Any, types.CallToolRequestParams], Awaitable[Made]]


def words(text: str, *, failed: bool = False) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(text=text)], is_error=failed)


def image() -> types.ImageContent:
    return types.ImageContent(data=PIXEL, mime_type="image/png")


def embedded(uri: str, text: str, kind: str = "text/plain") -> types.EmbeddedResource:
    return types.EmbeddedResource(resource=types.TextResourceContents(uri=uri, mime_type=kind, text=text))


def form(message: str, **fields: Mapping[str, Any]) -> types.ElicitRequest:
    schema: dict[str, Any] = {"type": "object", "properties": dict(fields), "required": [*fields]}
    return types.ElicitRequest(params=types.ElicitRequestFormParams(message=message, requested_schema=schema))


def sample(prompt: str, most: int = 100) -> types.CreateMessageRequest:
    message = types.SamplingMessage(role="user", content=types.TextContent(text=prompt))
    return types.CreateMessageRequest(params=types.CreateMessageRequestParams(messages=[message], max_tokens=most))


TEXT: Final = {"type": "string"}
NAME_ASKED: Final[Mapping[str, Any]] = {"user_name": form("What is your name?", name=TEXT)}


def asking(state: str | None = None, **requests: Any) -> types.InputRequiredResult:
    return types.InputRequiredResult(input_requests=requests, request_state=state)


def given(params: Any, key: str) -> dict[str, Any]:
    """The content of an answer under `key`; empty where there is no whole one."""
    answer = (params.input_responses or {}).get(key)
    return answer.model_dump(by_alias=True) if answer is not None else {}


# ------------------------------------------------------------------------------------------------------ tools, by name


async def simple(context: Any, params: Any) -> Made:
    return words("This is a simple text response for testing.")


async def picture(context: Any, params: Any) -> Made:
    return types.CallToolResult(content=[image()])


async def sound(context: Any, params: Any) -> Made:
    return types.CallToolResult(content=[types.AudioContent(data=SOUND, mime_type="audio/wav")])


async def resource(context: Any, params: Any) -> Made:
    return types.CallToolResult(content=[embedded("test://embedded-resource", "This is an embedded resource content.")])


async def mixed(context: Any, params: Any) -> Made:
    data = embedded("test://mixed-content-resource", '{"test":"data","value":123}', "application/json")
    return types.CallToolResult(content=[types.TextContent(text="Multiple content types test:"), image(), data])


async def logging(context: Any, params: Any) -> Made:
    for text in ("Tool execution started", "Tool processing data", "Tool execution completed"):
        if context.protocol_version != MODERN:
            await context.session.send_log_message("info", text, related_request_id=context.request_id)
        await asyncio.sleep(BEAT)
    return words("Done.")


async def progress(context: Any, params: Any) -> Made:
    for done in (0.0, 50.0, 100.0):
        await context.session.report_progress(done, 100.0)
        await asyncio.sleep(BEAT)
    return words("Done.")


async def failing(context: Any, params: Any) -> Made:
    return words("This tool intentionally returns an error for testing", failed=True)


async def sampling(context: Any, params: Any) -> Made:
    prompt = types.SamplingMessage(role="user", content=types.TextContent(text=params.arguments["prompt"]))
    made = await context.session.create_message([prompt], max_tokens=100, related_request_id=context.request_id)
    return words(f"LLM response: {made.content.text}")


async def elicited(context: Any, message: str, schema: dict[str, Any]) -> Made:
    made = await context.session.elicit_form(message, schema, related_request_id=context.request_id)
    return words(f"Elicitation completed: action={made.action}, content={made.content}")


async def elicitation(context: Any, params: Any) -> Made:
    fields = {"username": {**TEXT, "description": "Your name"}, "email": {**TEXT, "description": "Your address"}}
    schema = {"type": "object", "properties": fields, "required": [*fields]}
    return await elicited(context, params.arguments["message"], schema)


async def defaults(context: Any, params: Any) -> Made:
    fields = {
        "name": {**TEXT, "default": "John Doe"},
        "age": {"type": "integer", "default": 30},
        "score": {"type": "number", "default": 95.5},
        "status": {**TEXT, "enum": ["active", "inactive", "pending"], "default": "active"},
        "verified": {"type": "boolean", "default": True},
    }
    return await elicited(context, "Your data", {"type": "object", "properties": fields})


async def enums(context: Any, params: Any) -> Made:
    plain = ["option1", "option2", "option3"]
    titled = [{"const": f"value{at}", "title": f"{word} Option"} for at, word in enumerate(("First", "Second"), 1)]
    names = ["Option One", "Option Two", "Option Three"]
    fields = {
        "untitledSingle": {**TEXT, "enum": plain},
        "titledSingle": {**TEXT, "oneOf": titled},
        "legacyEnum": {**TEXT, "enum": ["opt1", "opt2", "opt3"], "enumNames": names},
        "untitledMulti": {"type": "array", "items": {**TEXT, "enum": plain}},
        "titledMulti": {"type": "array", "items": {"anyOf": titled}},
    }
    return await elicited(context, "Choose", {"type": "object", "properties": fields})


async def named(context: Any, params: Any) -> Made:
    name = (given(params, "user_name").get("content") or {}).get("name")
    return words(f"Hello, {name}!") if isinstance(name, str) else asking(**NAME_ASKED)


async def capital(context: Any, params: Any) -> Made:
    if not (answer := given(params, "capital_question")):
        return asking(capital_question=sample("What is the capital of France?"))
    return words(str(answer.get("content")))


async def roots(context: Any, params: Any) -> Made:
    if not (answer := given(params, "client_roots")):
        return asking(client_roots=types.ListRootsRequest())
    return words(f"Roots: {answer.get('roots')}")


async def stated(context: Any, params: Any) -> Made:
    if params.request_state == "waiting" and given(params, "confirm"):
        return words("state-ok")
    return asking("waiting", confirm=form("Please confirm", ok={"type": "boolean"}))


async def several(context: Any, params: Any) -> Made:
    requests = {**NAME_ASKED, "greeting": sample("Generate a greeting", 50), "client_roots": types.ListRootsRequest()}
    if params.request_state == "several" and all(given(params, key) for key in requests):
        return words("All answers are there.")
    return asking("several", **requests)


async def rounds(context: Any, params: Any) -> Made:
    if params.request_state == "second" and given(params, "step2"):
        return words("Both answers are there.")
    if params.request_state == "first" and given(params, "step1"):
        return asking("second", step2=form("Step 2: What is your favorite color?", color=TEXT))
    return asking("first", step1=form("Step 1: What is your name?", name=TEXT))


async def capable(context: Any, params: Any) -> Made:
    able = context.session.client_capabilities
    requests: dict[str, Any] = {**NAME_ASKED} if able.elicitation else {}
    if able.sampling:
        requests["greeting"] = sample("Generate a greeting")
    return asking(**requests) if requests else words("Nothing can be asked here.")


async def missing(context: Any, params: Any) -> Made:
    if not context.session.client_capabilities.sampling:
        needed: dict[str, Any] = {"requiredCapabilities": {"sampling": {}}}
        raise MCPError(types.MISSING_REQUIRED_CLIENT_CAPABILITY, "This tool needs sampling.", needed)
    return words("It can be sampled.")


TOOLS: Final[Mapping[str, Tool]] = {
    "test_simple_text": simple,
    "test_image_content": picture,
    "test_audio_content": sound,
    "test_embedded_resource": resource,
    "test_multiple_content_types": mixed,
    "test_tool_with_logging": logging,
    "test_logging_tool": logging,
    "test_tool_with_progress": progress,
    "test_error_handling": failing,
    "test_sampling": sampling,
    "test_elicitation": elicitation,
    "test_elicitation_sep1034_defaults": defaults,
    "test_elicitation_sep1330_enums": enums,
    "test_input_required_result_elicitation": named,
    "test_streaming_elicitation": named,
    "test_input_required_result_sampling": capital,
    "test_input_required_result_list_roots": roots,
    "test_input_required_result_request_state": stated,
    "test_input_required_result_tampered_state": stated,
    "test_input_required_result_multiple_inputs": several,
    "test_input_required_result_multi_round": rounds,
    "test_input_required_result_capabilities": capable,
    "test_missing_capability": missing,
}
ARGUMENTS: Final = {"test_sampling": "prompt", "test_elicitation": "message"}
RESOURCES: Final = {
    "test://static-text": ("text/plain", "This is the content of the static text resource."),
    "test://static-binary": ("image/png", PIXEL),
    "test://watched-resource": ("text/plain", "Watched."),
}
TEMPLATE: Final = "test://template/{id}/data"
PROMPTS: Final = {
    "test_simple_prompt": (),
    "test_prompt_with_arguments": ("arg1", "arg2"),
    "test_prompt_with_embedded_resource": ("resourceUri",),
    "test_prompt_with_image": (),
    "test_input_required_result_prompt": (),
}


# ------------------------------------------------------------------------------------------------------------- requests


async def list_tools(context: Any, params: Any) -> types.ListToolsResult:
    made = []
    for name in TOOLS:
        fields = {ARGUMENTS[name]: TEXT} if name in ARGUMENTS else {}
        schema = {"type": "object", "properties": fields, "required": [*fields]}
        made.append(types.Tool(name=name, description=f"The suite's {name}.", input_schema=schema))
    return types.ListToolsResult(tools=made)


async def call_tool(context: Any, params: types.CallToolRequestParams) -> Made:
    if params.name not in TOOLS:
        raise MCPError(types.INVALID_PARAMS, f"There is no tool {params.name}.")
    return await TOOLS[params.name](context, params)


async def list_resources(context: Any, params: Any) -> types.ListResourcesResult:
    return types.ListResourcesResult(
        resources=[
            types.Resource(uri=uri, name=uri.removeprefix("test://"), description="A resource.", mime_type=kind)
            for uri, (kind, _) in RESOURCES.items()
        ]
    )


async def list_templates(context: Any, params: Any) -> types.ListResourceTemplatesResult:
    one = types.ResourceTemplate(name="data", uri_template=TEMPLATE, description="Data.", mime_type="application/json")
    return types.ListResourceTemplatesResult(resource_templates=[one])


async def read_resource(context: Any, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
    uri = str(params.uri)
    before, after = TEMPLATE.split("{id}")
    if uri.startswith(before) and uri.endswith(after):
        found = uri.removeprefix(before).removesuffix(after)
        text = f'{{"id":"{found}","templateTest":true,"data":"Data for ID: {found}"}}'
        contents = types.TextResourceContents(uri=uri, mime_type="application/json", text=text)
        return types.ReadResourceResult(contents=[contents])
    if uri not in RESOURCES:
        raise MCPError(types.INVALID_PARAMS, "Resource not found", {"uri": uri})
    kind, content = RESOURCES[uri]
    if kind == "image/png":
        return types.ReadResourceResult(contents=[types.BlobResourceContents(uri=uri, mime_type=kind, blob=content)])
    return types.ReadResourceResult(contents=[types.TextResourceContents(uri=uri, mime_type=kind, text=content)])


async def taken(context: Any, params: Any) -> types.EmptyResult:
    return types.EmptyResult()


async def list_prompts(context: Any, params: Any) -> types.ListPromptsResult:
    return types.ListPromptsResult(
        prompts=[
            types.Prompt(
                name=name,
                description=f"The suite's {name}.",
                arguments=[types.PromptArgument(name=one, description="A text.", required=True) for one in arguments],
            )
            for name, arguments in PROMPTS.items()
        ]
    )


async def get_prompt(
    context: Any, params: types.GetPromptRequestParams
) -> types.GetPromptResult | types.InputRequiredResult:
    arguments = params.arguments or {}
    match params.name:
        case "test_simple_prompt":
            contents: list[Any] = [types.TextContent(text="This is a simple prompt for testing.")]
        case "test_prompt_with_arguments":
            text = f"Prompt with arguments: arg1='{arguments['arg1']}', arg2='{arguments['arg2']}'"
            contents = [types.TextContent(text=text)]
        case "test_prompt_with_embedded_resource":
            found = embedded(arguments["resourceUri"], "Embedded resource content for testing.")
            contents = [found, types.TextContent(text="Please process the embedded resource above.")]
        case "test_prompt_with_image":
            contents = [image(), types.TextContent(text="Please analyze the image above.")]
        case "test_input_required_result_prompt":
            if not (answer := given(params, "user_context")):
                return asking(user_context=form("What context should the prompt use?", context=TEXT))
            contents = [types.TextContent(text=str(answer.get("content")))]
        case _:
            raise MCPError(types.INVALID_PARAMS, f"There is no prompt {params.name}.")
    return types.GetPromptResult(messages=[types.PromptMessage(role="user", content=one) for one in contents])


async def complete(context: Any, params: Any) -> types.CompleteResult:
    return types.CompleteResult(completion=types.Completion(values=["paris", "park"], total=2, has_more=False))


def example() -> Server[Any]:
    server: Server[Any] = Server(
        "example",
        version="1.0.0",
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        on_list_resources=list_resources,
        on_list_resource_templates=list_templates,
        on_read_resource=read_resource,
        on_subscribe_resource=taken,
        on_unsubscribe_resource=taken,
        on_list_prompts=list_prompts,
        on_get_prompt=get_prompt,
        on_completion=complete,
        on_set_logging_level=taken,
    )
    server.middleware.append(RequestStateBoundary(RequestStateSecurity.ephemeral(), default_audience="example"))
    return server

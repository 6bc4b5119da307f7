"""The description of the HTTP API (OpenAPI 3.1), derived from the operations and their types."""

from __future__ import annotations

from typing import Any

from companion.wire.structs import schemas
from web.openapi.operation import Operation, Parameter
from web.openapi.operations import OPERATIONS
from web.wire.snapshot import Problem

Json = dict[str, Any]

_STATUS = {
    400: "The request makes no sense.",
    403: "Another site's page, somebody else's seat, or not allowed for this device.",
    404: "There is none.",
    409: "It does not fit the current state, such as a late mark or a box of another sum.",
    413: "The request is too long.",
    415: "The request is not JSON.",
    422: "No state allows it, such as a name without a visible character.",
    429: "Too many wrong codes; wait a minute.",
    503: "The table cannot do this now, such as keep the record; nothing was changed.",
}


def document(version: str) -> Json:
    """Make the whole description."""
    kinds: list[Any] = [Problem]
    for each in OPERATIONS:
        kinds += [each.request] if each.request is not None else []
        kinds += [each.reply] if each.reply is not None else []
        kinds += [parameter.kind for parameter in each.parameters]
    found, components = schemas(kinds)
    by_kind = dict(zip(map(str, kinds), found, strict=True))
    paths: Json = {}
    for each in OPERATIONS:
        paths.setdefault(each.path, {})[each.method] = _operation(each, by_kind)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Dice Companion",
            "version": version or "0",
            "description": "A table on the home network: its players, dice and sheets.",
        },
        "paths": paths,
        "components": {"schemas": components},
    }


def _operation(operation: Operation, by_kind: Json) -> Json:
    is_page = operation.method == "get" and not operation.path.startswith("/api/")
    problem = (
        {"text/html": {"schema": {"type": "string"}}}
        if is_page
        else {"application/json": {"schema": by_kind[str(Problem)]}}
    )
    short = {"text/plain": {"schema": {"type": "string"}}}  # the server itself reads no long one
    done: Json = {"description": operation.summary, "content": {}}
    for media in operation.media:
        is_json = operation.reply is not None and media == "application/json"
        schema = by_kind[str(operation.reply)] if is_json else operation.raw
        done["content"][media] = {"schema": schema}
    if operation.links:
        done["links"] = {
            f"{link.operation_id}{n}": link.as_json() for n, link in enumerate(operation.links)
        }
    described: Json = {
        "operationId": operation.operation_id,
        "summary": operation.summary,
        "responses": {
            "200": done,
            **{str(status): {**done, "description": _STATUS[status]} for status in operation.alike},
            **{
                str(status): {
                    "description": _STATUS[status],
                    "content": problem | short if status == 413 else problem,
                }
                for status in operation.failures
            },
        },
    }
    if operation.parameters:
        described["parameters"] = [_parameter(each, by_kind) for each in operation.parameters]
    if operation.request is not None:
        described["requestBody"] = {
            "required": True,
            "content": {"application/json": {"schema": by_kind[str(operation.request)]}},
        }
    return described


def _parameter(parameter: Parameter, by_kind: Json) -> Json:
    return {
        "name": parameter.name,
        "in": "path" if parameter.is_in_path else "query",
        "required": parameter.is_required,
        "description": parameter.text,
        "schema": by_kind[str(parameter.kind)],
    }

"""Compares the schemas of requests that the strict server holds (`src/model_server/types`) with the types that the official libraries publish.

A schema may be narrower than the types: fields that no request has are left out. It may not be wider: what it allows, the types must allow, and what
they require, it must require. What is in no type of the library is marked in the schema (`x-not-published`): members by their names, and an alternative
with `true`.

Usage: published_types.py FOLDER. Prints each difference, and ends with 1 if there is one.
"""

import collections.abc
import enum
import json
import pathlib
import sys
import types
import typing
from importlib.metadata import version

import pydantic
from typing_extensions import Annotated, NotRequired, ReadOnly, Required, get_type_hints, is_typeddict

ANY = (typing.Any, object)
OTHER_KIND = "is not what is published"


def published():
    """Each schema with the library that it was written from, and the type that its requests have."""
    from anthropic.types.message_create_params import MessageCreateParamsStreaming
    from google.genai import types as gemini
    from openai.types.chat.completion_create_params import CompletionCreateParamsBase
    from openai.types.responses.response_create_params import ResponseCreateParamsStreaming

    class Chat(CompletionCreateParamsBase):
        """With or without a stream: a server that cannot stream is asked for a whole answer."""

        stream: Required[typing.Literal[True, False]]

    # The library puts this request together from the arguments of `generate_content`; it has no type of its own there.
    generate = typing.TypedDict(
        "GenerateContentRequest",
        {
            "contents": Required[list[gemini.Content]],
            "cachedContent": str,
            "generationConfig": gemini.GenerationConfig,
            "systemInstruction": gemini.Content,
            "toolConfig": gemini.ToolConfig,
            "tools": list[gemini.Tool],
            "labels": dict[str, str],
        },
        total=False,
    )
    return {
        "anthropic": ("anthropic", MessageCreateParamsStreaming),
        "openai": ("openai", Chat),
        "responses": ("openai", ResponseCreateParamsStreaming),
        "gemini": ("google-genai", generate),
    }


def members(kind):
    """The alternatives of a type."""
    origin = typing.get_origin(kind)
    if origin in (Required, NotRequired, ReadOnly, Annotated):
        return members(typing.get_args(kind)[0])
    if origin in (typing.Union, types.UnionType):
        return [member for arg in typing.get_args(kind) for member in members(arg)]
    if isinstance(kind, typing.TypeAliasType) if hasattr(typing, "TypeAliasType") else False:
        return members(kind.__value__)
    return [kind]


def fields(kind):
    """The members of an object type, and those that it requires; none if it is no object type with names."""
    if is_typeddict(kind):
        return get_type_hints(kind, include_extras=True), set(kind.__required_keys__)
    if isinstance(kind, type) and issubclass(kind, pydantic.BaseModel):
        named = {field.alias or to_camel(name): field for name, field in kind.model_fields.items()}
        return {name: field.annotation for name, field in named.items()}, {
            name for name, field in named.items() if field.is_required()
        }
    return None


def is_other_kind(differences, place):
    return any(it.startswith(f"{place}: ") and it.endswith(OTHER_KIND) for it in differences)


def to_camel(name):
    head, *tail = name.split("_")
    return head + "".join(word.capitalize() for word in tail)


class Comparison:
    def __init__(self, whole):
        self.whole = whole
        self.open = set()

    def alternatives(self, schema):
        """A schema as its alternatives, each of one type or one list of values."""
        while "$ref" in schema:
            name = schema["$ref"].rsplit("/", 1)[1]
            schema = self.whole["$defs"][name] | {"$name": name}
        if "anyOf" in schema:
            return [each for below in schema["anyOf"] for each in self.alternatives(below)]
        if isinstance(schema.get("type"), list):
            return [schema | {"type": one} for one in schema["type"]]
        if "enum" in schema or schema.get("type") == "boolean":
            return [{"const": value} for value in schema.get("enum", [True, False])]
        # An object whose kind is one of several words.
        kinds = schema.get("properties", {}).get("type", {}).get("enum")
        if kinds:
            return [schema | {"properties": schema["properties"] | {"type": {"const": kind}}} for kind in kinds]
        return [schema]

    def differences(self, schema, kind, place):
        """What the schema allows and the type does not."""
        found = []
        for one in self.alternatives(schema):
            if one.get("x-not-published") is True:
                continue
            tried = [self.against(one, member, place) for member in members(kind)]
            # A member of another kind (a text where the schema has a list) says less about what is wrong.
            found += min(tried, key=lambda differences: (is_other_kind(differences, place), len(differences)))
        return found

    def against(self, schema, kind, place):
        if kind in ANY:
            return []
        if "const" in schema:
            value = schema["const"]
            return [] if is_value(value, kind) else [f"{place}: {value!r} {OTHER_KIND}"]
        expected = schema.get("type")
        if expected is None:
            return [f"{place}: the schema does not say what it is"]
        if expected == "null":
            return [] if kind in (None, type(None)) else [f"{place}: null {OTHER_KIND}"]
        # Bytes are sent in base64.
        plain = {"string": (str, bytes), "integer": (int, float), "number": (float,)}
        if expected in plain:
            return [] if kind in plain[expected] else [f"{place}: {expected} {OTHER_KIND}"]
        origin = typing.get_origin(kind) or kind
        if expected == "array":
            if not (isinstance(origin, type) and issubclass(origin, collections.abc.Iterable)) or origin in (str, dict):
                return [f"{place}: a list {OTHER_KIND}"]
            args = typing.get_args(kind)
            if args and "items" not in schema:
                return [f"{place}: the schema does not say what is in the list"]
            return self.differences(schema["items"], args[0], f"{place}[]") if args else []
        return self.object(schema, kind, origin, place)

    def object(self, schema, kind, origin, place):
        known = fields(kind)
        if known is None:
            is_map = isinstance(origin, type) and issubclass(origin, collections.abc.Mapping)
            return [] if is_map else [f"{place}: an object {OTHER_KIND}"]
        has, required = known
        ours = schema.get("properties")
        if ours is None:
            return [f"{place}: the schema names no members"]
        pair = (schema.get("$name"), kind)
        if pair[0] and pair in self.open:
            return []
        self.open.add(pair)
        extra = set(schema.get("x-not-published", []))
        found = [f"{place}.{name}: is not published" for name in ours if name not in has and name not in extra]
        found += [f"{place}.{name}: is named as not published, but is" for name in extra if name in has or name not in ours]
        found += [f"{place}.{name}: is required" for name in required if name not in schema.get("required", [])]
        if schema.get("additionalProperties") is not False:
            found.append(f"{place}: the schema allows other members")
        for name, below in ours.items():
            if name in has:
                found += self.differences(below, has[name], f"{place}.{name}")
        # An alternative that does not fit is not remembered as one that does.
        self.open.discard(pair)
        return found


def is_value(value, kind):
    if typing.get_origin(kind) is typing.Literal:
        return any(value == literal and type(value) is type(literal) for literal in typing.get_args(kind))
    if isinstance(kind, type) and issubclass(kind, enum.Enum):
        return any(str(value).lower() == str(member.value).lower() for member in kind)
    return isinstance(kind, type) and type(value) is kind


def main(folder):
    wrong = []
    for name, (library, kind) in published().items():
        schema = json.loads((folder / f"{name}.json").read_text())
        written = schema.get("x-source", {})
        here = {"library": library, "version": version(library)}
        if {key: written.get(key) for key in here} != here:
            wrong.append(f"{name}: was written from {written}, compared with {here}")
        wrong += [f"{name}{difference}" for difference in Comparison(schema).differences(schema, kind, "")]
    print("\n".join(wrong) or "no difference")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1])))

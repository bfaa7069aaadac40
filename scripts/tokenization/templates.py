"""Chat templates, rendered in the Jinja environment that Transformers has."""

import contextlib
import datetime
import json

from . import guarded, libraries
from .guarded import Failure

USED_WITH_TOOLS = "tool_use"  # the names that Transformers looks for in a list of templates
USED_OTHERWISE = "default"


def named_templates(tokenizer):
    """Returns the tokenizer's templates by name. Files precede tokenizer_config.json, as in Transformers."""
    files = {USED_OTHERWISE: tokenizer.folder / "chat_template.jinja"}
    files.update((file.stem, file) for file in sorted(tokenizer.folder.glob("additional_chat_templates/*.jinja")))
    found = {name: text_of(file) for name, file in files.items() if file.is_file()}
    if found:
        return found
    entry = tokenizer.config.get("chat_template") or []
    if isinstance(entry, str):
        return {USED_OTHERWISE: entry}
    pairs = list(entry.items()) if isinstance(entry, dict) else [
        (each.get("name"), each.get("template")) if isinstance(each, dict) else (None, None)
        for each in (entry if isinstance(entry, list) else [entry])]
    if not all(isinstance(part, str) for pair in pairs for part in pair):
        raise Failure(f"'{tokenizer.folder / 'tokenizer_config.json'}': 'chat_template' is neither a text nor a list of "
                      "objects with a 'name' and a 'template'")
    return dict(pairs)


def text_of(file):
    try:
        return guarded.read_text(file)
    except OSError as error:
        raise Failure(f"cannot read the chat template '{file}': {error.strerror}") from None
    except Failure as error:
        raise Failure(f"the chat template: {error}") from None


def refuse(message):
    raise Failure(f"the chat template refuses it: {message}")


def to_json(value, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
    """Jinja's own filter escapes for HTML and sorts keys."""
    return json.dumps(value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)


def environment():
    try:
        import jinja2.ext
        import jinja2.sandbox
    except ImportError:
        raise Failure(libraries.missing("jinja2", ", which renders chat templates,")) from None

    class Generation(jinja2.ext.Extension):
        """{% generation %} … {% endgeneration %} around the words of the model."""

        tags = {"generation"}

        def __init__(self, owner):
            super().__init__(owner)
            owner.extend(blocks=None, generated=None, marks_generation=False)

        def parse(self, parser):
            line = next(parser.stream).lineno
            self.environment.marks_generation = True
            body = parser.parse_statements(["name:endgeneration"], drop_needle=True)
            return jinja2.nodes.CallBlock(self.call_method("_note"), [], [], body).set_lineno(line)

        def _note(self, caller):
            text, start = caller(), sum(map(len, self.environment.blocks))
            self.environment.generated.append((start, start + len(text)))
            return text

    made = jinja2.sandbox.ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True,
                                                        extensions=[Generation, jinja2.ext.loopcontrols])
    made.filters["tojson"] = to_json
    made.globals["raise_exception"] = refuse
    made.globals["strftime_now"] = lambda format: datetime.datetime.now().strftime(format)
    return made


class Template:
    def __init__(self, text, place):
        self.environment = environment()
        try:
            self.template = self.environment.from_string(text)
        except Exception as error:  # whatever Jinja's parser meets
            raise Failure(f"{place} is wrong: {error}") from None
        self.marks_generation = self.environment.marks_generation

    @property
    def generated(self):
        """Ranges of characters that `generation` blocks made in the last text."""
        return self.environment.generated

    def render(self, place, variables):
        self.environment.blocks, self.environment.generated = [], []
        try:
            for block in self.template.generate(variables):
                self.environment.blocks.append(block)
        except Exception as error:  # a template can raise anything that Python can
            raise Failure(f"{place}: {error}") from None
        return "".join(self.environment.blocks)

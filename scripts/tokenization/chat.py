"""Encodes conversations with a model's chat template: the tokens, and which of them count as targets."""

import pathlib

from . import answers
from .guarded import Failure
from .templates import USED_OTHERWISE, USED_WITH_TOOLS, Template, named_templates, text_of


class Chat:
    def __init__(self, tokenizer, chosen=None):
        """`chosen` names one of the tokenizer's templates, or a file."""
        self.tokenizer, self.chosen = tokenizer, chosen
        self.texts = named_templates(tokenizer)
        self.compiled = {}
        if chosen and chosen not in self.texts:
            if self.texts and not pathlib.Path(chosen).exists():
                raise Failure(f"--chat-template={chosen} is neither a file nor a template of '{tokenizer.folder}', which "
                              f"has {', '.join(self.texts)}")
            self.texts = {chosen: text_of(chosen)}
        if not self.texts:
            raise Failure(f"the tokenizer in '{tokenizer.folder}' has no chat template (chat_template.jinja, or "
                          "chat_template in tokenizer_config.json); give one with --chat-template")

    def _name(self, tools):
        if self.chosen:
            return self.chosen
        if tools is not None and USED_WITH_TOOLS in self.texts:
            return USED_WITH_TOOLS
        if USED_OTHERWISE not in self.texts:
            raise Failure(f"the tokenizer in '{self.tokenizer.folder}' has chat templates named {', '.join(self.texts)}, "
                          f"and none is named '{USED_OTHERWISE}'; choose one with --chat-template=NAME")
        return USED_OTHERWISE

    def _template(self, tools):
        name = self._name(tools)
        if name not in self.compiled:
            place = f"the chat template '{name}' of '{self.tokenizer.folder}'"
            self.compiled[name] = Template(self.texts[name], place)
        return self.compiled[name]

    def text(self, conversation, place):
        """Returns (text, ranges of characters that count as targets)."""
        template = self._template(conversation.tools)
        variables = {**self.tokenizer.special_tokens(), **conversation.variables, "tools": conversation.tools,
                     "documents": conversation.documents}

        def render(messages, prompt=False):
            return template.render(place, {**variables, "messages": messages, "add_generation_prompt": prompt})

        text = render(conversation.messages)
        if template.marks_generation:
            return text, template.generated
        return text, answers.ranges(conversation.messages, text, render, place, self.tokenizer.named("eos_token") or "")

    def encode(self, conversation, place):
        """Returns (ids, for each id whether it counts as a target). Encodes the text once, as a whole."""
        text, ranges = self.text(conversation, place)
        encoding = self.tokenizer.encode([text], with_ends=False, place=place)[0]
        return encoding.ids, answers.inside(encoding.offsets, ranges)

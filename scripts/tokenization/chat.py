"""Conversations as a model's template writes them, in parts: what the model is to say, and the rest."""

from . import libraries
from .tokenizer import Failure


class Chat:
    def __init__(self, tokenizer, template_file=None):
        try:
            import jinja2.sandbox
        except ImportError:
            raise Failure(libraries.missing("jinja2", ", which renders chat templates,")) from None
        environment = jinja2.sandbox.ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True,
                                                                    extensions=["jinja2.ext.loopcontrols"])
        environment.globals["raise_exception"] = self._refuse
        self.special = {key: tokenizer.named(key) for key in ("bos_token", "eos_token") if tokenizer.named(key)}
        try:
            self.template = environment.from_string(self._text(tokenizer, template_file))
        except jinja2.TemplateError as error:
            raise Failure(f"the chat template of '{tokenizer.folder}' is wrong: {error}") from None

    @staticmethod
    def _refuse(message):
        raise Failure(f"the chat template refuses it: {message}")

    @staticmethod
    def _text(tokenizer, template_file):
        file = template_file or tokenizer.folder / "chat_template.jinja"
        try:
            with open(file, encoding="utf-8") as stream:
                return stream.read()
        except OSError as error:
            template = tokenizer.config.get("chat_template")
            if template_file:
                raise Failure(f"cannot read the chat template '{template_file}': {error.strerror}") from None
            if not isinstance(template, str):
                raise Failure(f"the tokenizer in '{tokenizer.folder}' has no chat template (chat_template.jinja, or "
                              "chat_template in tokenizer_config.json); give one with --chat-template") from None
            return template

    def _render(self, messages, place, prompt):
        try:
            return self.template.render(messages=messages, add_generation_prompt=prompt, **self.special)
        except Exception as error:  # a template can raise anything that Python can
            raise Failure(f"{place}: {error}") from None

    def parts(self, messages, place):
        """(text, whether it counts as a target): what an assistant says does, up to the end of its turn."""
        done = ""
        for number, message in enumerate(messages):
            if message["role"] != "assistant":
                continue
            asked = self._render(messages[:number], place, prompt=True)
            answered = self._render(messages[:number + 1], place, prompt=False)
            if not asked.startswith(done) or not answered.startswith(asked):
                raise Failure(f"{place}: the chat template writes message {number + 1} in another way when more "
                              "follows, so what counts as a target cannot be told; give another --chat-template")
            yield asked[len(done):], False
            yield answered[len(asked):], True
            done = answered
        whole = self._render(messages, place, prompt=False)
        if not whole.startswith(done):
            raise Failure(f"{place}: the chat template writes earlier messages in another way when more follows; give "
                          "another --chat-template")
        yield whole[len(done):], False

#!/usr/bin/env python3
"""Tokens that Hugging Face Transformers makes of texts and conversations, by small tokenizers of public shapes.

  python3 -m venv venv && venv/bin/pip install transformers jinja2
  venv/bin/python test/goldens/make_tokens.py

Writes tokens/SHAPE, folders as the hub has them, and tokens/cases.json: for each shape the tokens of texts, the
text and tokens of conversations, and which of them count as targets.  What counts is Transformers' own mask, of
the template with {% generation %} blocks, which TEMPLATES have and most folders get without.
"""

import json
import pathlib
import re
import shutil

import tokenizers
import transformers
from tokenizers import AddedToken, decoders, models, normalizers, pre_tokenizers, processors, trainers

FOLDER = pathlib.Path(__file__).resolve().parent / "tokens"
CORPUS = ["the quick brown fox jumps over the lazy dog, and the dog's day is fine", "hello world, how are you today?",
          "it is what it is & that's <b>that</b>", "naïve café façade, 東京 and Zürich", "if x < 3: return [x, 10]"] * 4
TEXTS = ["hello world", " the fox\n\n  jumps\tover ", "naïve café in 東京 😀 & it's <b>", "a<|im_end|></s>[SEP]b", "x"]

TOOLS = [{"type": "function", "function": {"name": "find", "description": "Looks für <things>", "parameters": {
    "type": "object", "properties": {"what": {"type": "string"}, "a": {"type": "integer"}}, "required": ["what"]}}}]
CALL = {"role": "assistant", "content": None, "tool_calls": [
    {"type": "function", "function": {"name": "find", "arguments": {"what": "it's a < b", "a": "café"}}}]}


def says(*turns, system=None):
    roles = ("user", "assistant")
    return [*([{"role": "system", "content": system}] if system else []),
            *({"role": roles[number % 2], "content": text} for number, text in enumerate(turns))]


CHATS = {
    "one turn": {"messages": says("hello world", "fine")},
    "several turns": {"messages": says("hello", "how are you?", "the fox", "it's fine", "x")},
    "spaces": {"messages": says("  the fox \n", "\n jumps over \n\n", "a", " b ")},
    "letters": {"messages": says("naïve?", "café & 東京 <b>", "😀", "Zürich")},
    "empty": {"messages": says("", "", "a", "")},
}
SYSTEM = {"system": {"messages": says("hello", "fine", system="be brief, naïve")}}
THOUGHT = {"thoughts": {"messages": says("hello", "<think>\nhm\n</think>\n\nfine", "the fox", "<think>\nso\n</think>\n\njumps")}}
TOOL_CHATS = {
    "tools": {"messages": says("hello", "fine"), "tools": TOOLS},
    "no tools": {"messages": says("hello", "fine"), "tools": []},
    "tool call": {"messages": [*says("the fox"), CALL, {"role": "tool", "content": "10"},
                               {"role": "assistant", "content": "it is 10"}, *says("x", "fine")], "tools": TOOLS},
}

G, E = "{% generation %}", "{% endgeneration %}"
CHATML = ("{% for m in messages %}{{ '<|im_start|>' + m.role + '\n' }}{% if m.role == 'assistant' %}" + G +
          "{{ m.content + '<|im_end|>\n' }}" + E + "{% else %}{{ m.content + '<|im_end|>\n' }}{% endif %}{% endfor %}"
          "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}")
TEMPLATES = {
    "llama2": ("{{ bos_token }}{% if messages[0].role == 'system' %}{% set about = '<<SYS>>\n' + messages[0].content + "
               "'\n<</SYS>>\n\n' %}{% set turns = messages[1:] %}{% else %}{% set about = '' %}{% set turns = messages %}"
               "{% endif %}{% for m in turns %}{% if m.role == 'user' %}{{ '[INST] ' + (about if loop.first else '') + "
               "m.content + ' [/INST]' }}{% else %}" + G + "{{ ' ' + m.content + eos_token }}" + E + "{% endif %}{% endfor %}"),
    "llama3": ("{{ bos_token }}{% for m in messages %}{{ '<|start_header_id|>' + m['role'] + '<|end_header_id|>\n\n' }}"
               "{% if m.role == 'assistant' %}" + G + "{{ m['content'] | trim + '<|eot_id|>' }}" + E + "{% else %}"
               "{{ m['content'] | trim + '<|eot_id|>' }}{% endif %}{% endfor %}{% if add_generation_prompt %}"
               "{{ '<|start_header_id|>assistant<|end_header_id|>\n\n' }}{% endif %}"),
    "mistral": ("{{ bos_token }}{% for m in messages %}{% if (m.role == 'user') != (loop.index0 % 2 == 0) %}"
                "{{ raise_exception('roles must alternate') }}{% endif %}{% if m.role == 'user' %}{{ '[INST] ' + m.content + "
                "'[/INST]' }}{% else %}" + G + "{{ ' ' + m.content | trim + eos_token }}" + E + "{% endif %}{% endfor %}"),
    "gemma": ("{{ bos_token }}{% if messages[0].role == 'system' %}{{ raise_exception('System role not supported') }}{% endif %}"
              "{% for m in messages %}{% if m.role == 'assistant' %}{{ '<start_of_turn>model\n' }}" + G +
              "{{ m.content | trim + '<end_of_turn>\n' }}" + E + "{% else %}{{ '<start_of_turn>' + m.role + '\n' + m.content | "
              "trim + '<end_of_turn>\n' }}{% endif %}{% endfor %}{% if add_generation_prompt %}{{ '<start_of_turn>model\n' }}"
              "{% endif %}"),
    # Thoughts of earlier turns are left out, and the last turn has some, if empty: earlier turns are written anew.
    "qwen3": ("{%- set ns = namespace(last=0) %}{%- for m in messages %}{%- if m.role == 'user' %}{%- set ns.last = loop.index0 %}"
              "{%- endif %}{%- endfor %}{%- if tools %}{{- '<|im_start|>system\n' }}{%- for t in tools %}{{- t | tojson }}"
              "{%- endfor %}{{- '<|im_end|>\n' }}{%- endif %}{%- for m in messages %}{{- '<|im_start|>' + (m.role if m.role != "
              "'tool' else 'user') + '\n' }}{%- if m.role == 'assistant' %}{%- set c = m.content or '' %}{%- set t = '' %}"
              "{%- if '</think>' in c %}{%- set t = c.split('</think>')[0].split('<think>')[-1].strip('\n') %}{%- set c = "
              "c.split('</think>')[-1].lstrip('\n') %}{%- endif %}" + G + "{%- if loop.index0 > ns.last and (loop.last or t) %}"
              "{{- '<think>\n' + t + '\n</think>\n\n' }}{%- endif %}{{- c }}{%- for k in m.tool_calls or [] %}{{- '<tool_call>\n"
              "{\"name\": \"' + k.function.name + '\", \"arguments\": ' }}{{- k.function.arguments | tojson }}"
              "{{- '}\n</tool_call>' }}{%- endfor %}{{- '<|im_end|>\n' }}" + E + "{%- else %}{{- m.content + '<|im_end|>\n' }}"
              "{%- endif %}{%- endfor %}{%- if add_generation_prompt %}{{- '<|im_start|>assistant\n' }}{%- endif %}"),
    # The prompt opens a thought that no answer has.
    "deepseek": ("{{ bos_token }}{% for m in messages %}{% if m.role == 'user' %}{{ '<|User|>' + m.content }}{% elif m.role == "
                 "'assistant' %}{% set c = m.content.split('</think>')[-1] %}{{ '<|Assistant|>' }}" + G + "{{ c + eos_token }}" +
                 E + "{% else %}{{ m.content }}{% endif %}{% endfor %}{% if add_generation_prompt %}{{ '<|Assistant|><think>\n' }}"
                 "{% endif %}"),
    # The end of the last turn is another than that of those before.
    "phi3": ("{% for m in messages %}{{ '<|' + m.role + '|>\n' }}{% if m.role == 'assistant' %}" + G + "{{ m.content + '<|end|>\n' }}" +
             E + "{% else %}{{ m.content + '<|end|>\n' }}{% endif %}{% endfor %}{% if add_generation_prompt %}{{ '<|assistant|>\n' }}"
             "{% elif messages[-1].role == 'assistant' %}" + G + "{{ eos_token }}" + E + "{% else %}{{ eos_token }}{% endif %}"),
    "plain": ("{% for m in messages %}{% if m.role == 'assistant' %}{{ 'A: ' }}" + G + "{{ m.content + '\n' }}" + E +
              "{% else %}{{ 'Q: ' + m.content + '\n' }}{% endif %}{% endfor %}{% if add_generation_prompt %}{{ 'A: ' }}{% endif %}"),
}
TEMPLATES["tool_use"] = CHATML.replace("{% for m", "{% if tools %}{{ tools | tojson(indent=2) }}{% endif %}{% for m", 1).replace(
    "m.content", "(m.content or (m.tool_calls | tojson(ensure_ascii=True, sort_keys=True)))")


def byte_level(special, prefix=False, normalizer=None, post=None, added=()):
    made = tokenizers.Tokenizer(models.BPE())
    made.pre_tokenizer, made.decoder = pre_tokenizers.ByteLevel(add_prefix_space=prefix), decoders.ByteLevel()
    if normalizer:
        made.normalizer = normalizer
    made.train_from_iterator(CORPUS, trainers.BpeTrainer(
        vocab_size=310, special_tokens=special, show_progress=False, initial_alphabet=pre_tokenizers.ByteLevel.alphabet()))
    made.add_tokens(list(added))
    if post:
        made.post_processor = post(made)
    return made


def around(front, back=()):
    return lambda made: processors.TemplateProcessing(single=[*front, "$A", *back], special_tokens=[
        (text, made.token_to_id(text)) for text in {*front, *back}])


def fallback(special, legacy=False, metaspace=False, post=None):
    """SentencePiece's BPE with bytes for what it does not know."""
    made = tokenizers.Tokenizer(models.BPE(unk_token="<unk>", byte_fallback=True, fuse_unk=True))
    made.normalizer = normalizers.Replace(" ", "▁")
    made.train_from_iterator(CORPUS, trainers.BpeTrainer(vocab_size=150, show_progress=False, max_token_length=6))
    model = json.loads(made.to_str())["model"]
    tokens = [*special, *(f"<0x{byte:02X}>" for byte in range(256)), *model["vocab"]]
    made = tokenizers.Tokenizer(models.BPE({token: number for number, token in enumerate(tokens)}, list(map(tuple, model["merges"])),
                                           unk_token="<unk>", byte_fallback=True, fuse_unk=True))
    if metaspace:
        made.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="first", split=False)
    else:
        prepend = [normalizers.Prepend("▁")] if legacy else []
        made.normalizer = normalizers.Sequence([*prepend, normalizers.Replace(" ", "▁")])
    made.decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()])
    made.add_special_tokens([AddedToken(text, normalized=False) for text in special])
    if post:
        made.post_processor = post(made)
    return made


def unigram(special, post):
    made = tokenizers.Tokenizer(models.Unigram())
    made.normalizer = normalizers.Sequence([normalizers.NFKC(), normalizers.Replace(tokenizers.Regex(" {2,}"), " ")])
    made.pre_tokenizer, made.decoder = pre_tokenizers.Metaspace(), decoders.Metaspace()
    made.train_from_iterator(CORPUS, trainers.UnigramTrainer(vocab_size=90, special_tokens=special, unk_token="<unk>",
                                                             show_progress=False))
    made.post_processor = post(made)
    return made


def word_piece():
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    made = tokenizers.Tokenizer(models.WordPiece(unk_token="[UNK]"))
    made.normalizer, made.pre_tokenizer = normalizers.BertNormalizer(), pre_tokenizers.BertPreTokenizer()
    made.decoder = decoders.WordPiece()
    made.train_from_iterator(CORPUS, trainers.WordPieceTrainer(vocab_size=120, special_tokens=special, show_progress=False))
    made.post_processor = around(["[CLS]"], ["[SEP]"])(made)
    return made


IM = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
S = ["<unk>", "<s>", "</s>"]
HEADERS = ["<|begin_of_text|>", "<|end_of_text|>", "<|eot_id|>", "<|start_header_id|>", "<|end_header_id|>"]


def shapes():
    """(name, tokenizer, configuration, templates by name, conversations)"""
    yield "gpt2", byte_level(IM[:1], post=lambda _: processors.ByteLevel(trim_offsets=False)), {
        "bos_token": IM[0], "eos_token": IM[0], "add_prefix_space": False}, {}, {}
    yield "roberta", byte_level([*S, "<pad>"], prefix=True, post=lambda made: processors.RobertaProcessing(
        ("</s>", made.token_to_id("</s>")), ("<s>", made.token_to_id("<s>")))), {
            "bos_token": "<s>", "eos_token": "</s>", "cls_token": "<s>", "sep_token": "</s>", "pad_token": "<pad>"}, {
                "default": TEMPLATES["plain"]}, CHATS
    yield "llama2", fallback(S, legacy=True, post=around(["<s>"])), {
        "bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>", "add_bos_token": True, "add_eos_token": False}, {
            "default": TEMPLATES["llama2"]}, {**CHATS, **SYSTEM}
    for kind, legacy in (("llama", False), ("llama-legacy", True)):  # of which Transformers reads the vocabulary alone
        yield kind, fallback(S, legacy=True, post=around(["<s>"])), {
            "tokenizer_class": "LlamaTokenizerFast", "legacy": legacy, "bos_token": "<s>", "eos_token": "</s>",
            "unk_token": "<unk>"}, {"default": TEMPLATES["llama2"]}, {"spaces": CHATS["spaces"], **SYSTEM}
    yield "llama3", byte_level(HEADERS, post=lambda made: processors.Sequence([
        processors.ByteLevel(trim_offsets=False), around(HEADERS[:1])(made)])), {
            "bos_token": HEADERS[0], "eos_token": HEADERS[1]}, {"file": TEMPLATES["llama3"]}, {**CHATS, **SYSTEM}
    yield "qwen", byte_level(IM, normalizer=normalizers.NFC(), added=["<tool_call>", "</tool_call>", "<think>", "</think>"]), {
        "eos_token": "<|im_end|>", "pad_token": IM[0], "add_bos_token": False, "split_special_tokens": False,
        "additional_special_tokens": IM[1:]}, {"default": TEMPLATES["qwen3"]}, {**CHATS, **SYSTEM, **THOUGHT, **TOOL_CHATS}
    yield "mistral", fallback([*S, "[INST]", "[/INST]"], metaspace=True, post=around(["<s>"])), {
        "bos_token": {"__type": "AddedToken", "content": "<s>", "normalized": False}, "eos_token": "</s>", "unk_token": "<unk>"}, {
            "default": TEMPLATES["mistral"], "other": TEMPLATES["plain"]}, CHATS
    yield "gemma", fallback(["<pad>", "<eos>", "<bos>", "<unk>", "<start_of_turn>", "<end_of_turn>"], post=around(["<bos>"])), {
        "bos_token": "<bos>", "eos_token": "<eos>", "unk_token": "<unk>", "pad_token": "<pad>"}, {
            "default": TEMPLATES["gemma"]}, CHATS
    yield "t5", unigram(["<pad>", "</s>", "<unk>"], around([], ["</s>"])), {
        "eos_token": "</s>", "pad_token": "<pad>", "unk_token": "<unk>"}, {"default": TEMPLATES["plain"]}, CHATS
    yield "xlmr", unigram(["<s>", "<pad>", "</s>", "<unk>"], around(["<s>"], ["</s>"])), {
        "bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>", "mask_token": "<mask>"}, {}, {}
    yield "bert", word_piece(), {"cls_token": "[CLS]", "sep_token": "[SEP]", "unk_token": "[UNK]", "pad_token": "[PAD]",
                                 "mask_token": "[MASK]"}, {}, {}
    yield "deepseek", byte_level(["<|end|>"], added=["<|User|>", "<|Assistant|>"]), {
        "bos_token": "<|begin|>", "eos_token": "<|end|>", "add_bos_token": True}, {
            "default": TEMPLATES["deepseek"]}, {**CHATS, **SYSTEM, **THOUGHT}
    yield "chatml", byte_level(IM), {"eos_token": "<|im_end|>"}, {
        "default": CHATML, "tool_use": TEMPLATES["tool_use"]}, {**CHATS, **SYSTEM, **TOOL_CHATS}
    yield "phi3", fallback([*S, "<|endoftext|>"], legacy=True), {
        "bos_token": "<s>", "eos_token": "<|endoftext|>", "unk_token": "<unk>", "added_tokens_decoder": {
            str(290 + number): {"content": text, "rstrip": True, "normalized": False, "special": True}
            for number, text in enumerate(["<|user|>", "<|assistant|>", "<|system|>", "<|end|>"])}}, {
                "default": TEMPLATES["phi3"]}, {**CHATS, **SYSTEM}
    yield "tagged", byte_level(IM), {"eos_token": "<|im_end|>"}, {"tagged": CHATML}, {**CHATS, **SYSTEM}


def write(folder, made, config, templates):
    """Templates lie where folders of the hub have them: in the configuration, or in a file."""
    folder.mkdir()
    description = json.loads(made.to_str())
    (folder / "tokenizer.json").write_text(json.dumps(description, ensure_ascii=False, separators=(",", ":")) + "\n")
    untagged = {name: text if name == "tagged" else re.sub(r"\{% (end)?generation %\}", "", text) for name, text in templates.items()}
    config = {"tokenizer_class": "PreTrainedTokenizerFast", **config}
    if "file" in untagged or "tagged" in untagged:
        (folder / "chat_template.jinja").write_text(*untagged.values())
    elif len(untagged) > 1:
        config["chat_template"] = [{"name": name, "template": text} for name, text in untagged.items()]
    elif untagged:
        config["chat_template"] = untagged["default"]
    (folder / "tokenizer_config.json").write_text(json.dumps(config, ensure_ascii=False) + "\n")


def conversation(tokenizer, templates, chat):
    messages, tools = chat["messages"], chat.get("tools")
    text = tokenizer.apply_chat_template(messages, tools=tools, tokenize=False)
    plain = tokenizer.apply_chat_template(messages, tools=tools, return_dict=True)["input_ids"]
    name = "tool_use" if tools is not None and "tool_use" in templates else next(iter(templates))
    marked = tokenizer.apply_chat_template(messages, tools=tools, chat_template=templates[name], return_dict=True,
                                           return_assistant_tokens_mask=True)
    assert marked["input_ids"] == plain, (text, tokenizer.decode(marked["input_ids"]))
    return {"text": text, "ids": plain, "counts": "".join(map(str, marked["assistant_masks"]))}


def main():
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir()
    cases = {}
    for name, made, config, templates, chats in shapes():
        write(FOLDER / name, made, config, templates)
        tokenizer = transformers.AutoTokenizer.from_pretrained(FOLDER / name)
        cases[name] = {"end": tokenizer.eos_token_id if tokenizer.eos_token else tokenizer.sep_token_id,
                       "texts": [{"text": text, "ids": tokenizer(text)["input_ids"]} for text in TEXTS],
                       "chats": {title: {**chat, **conversation(tokenizer, templates, chat)} for title, chat in chats.items()}}
    lines = json.dumps(cases, ensure_ascii=False)
    lines = re.sub(r'(\}|\]|\{), (?="|\{"text)|(?<=\{)(?="(?:gpt2|one turn))', lambda found: found[0].rstrip() + "\n", lines)
    (FOLDER / "cases.json").write_text(lines + "\n")


if __name__ == "__main__":
    main()

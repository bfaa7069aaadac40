//===- Exchange.cpp - hover and completion of ops -------------------------===//

#include "tools/braid-lsp/Exchange.h"
#include "lib/Input/ParserLimits.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace braid;

//===----------------------------------------------------------------------===//
// Descriptions
//===----------------------------------------------------------------------===//

static constexpr StringLiteral kPage =
#include "DialectsPage.inc"
    ;

static Descriptions readDescriptions() {
  static constexpr StringLiteral kHeading = "\n### `";
  Descriptions found;
  for (StringRef rest = kPage.split(kHeading).second; !rest.empty();) {
    StringRef section;
    std::tie(section, rest) = rest.split(kHeading);
    auto [name, body] = section.split("`\n");
    // Cuts off a following chapter and the list of interfaces, whose links only work within the page.
    body = body.split("\n## ").first.split("\nInterfaces: ").first.trim();
    found[name.str()] = {body.split('\n').first, ("**" + name + "**\n\n" + body).str()};
  }
  return found;
}

//===----------------------------------------------------------------------===//
// Messages
//===----------------------------------------------------------------------===//

/// Largest message that MLIR's server accepts: a graph with the escapes of its text.
static constexpr size_t kMaxBytes = size_t(1) << 30;

/// Reads a line with its line break, which an unfinished last line lacks.
static bool readLine(FILE *in, std::string &line) {
  line.clear();
  for (int next; (next = getc(in)) != EOF;) {
    line += static_cast<char>(next);
    if (next == '\n')
      break;
  }
  return !line.empty();
}

/// Returns none at the end of the file, or if a message is incomplete.
static std::optional<Message> readMessage(FILE *in) {
  std::string line;
  for (std::optional<size_t> length; readLine(in, line);) {
    StringRef header = StringRef(line).trim();
    if (header.empty() && length) {
      Message message{std::string(*length, '\0'), true};
      if (fread(message.text.data(), 1, *length, in) != *length)
        return std::nullopt;
      return message;
    }
    size_t bytes;
    if (header.consume_front_insensitive("Content-Length:") && !header.trim().getAsInteger(10, bytes) &&
        bytes <= kMaxBytes)
      length = bytes;
    else if (!length && !header.starts_with_insensitive("Content-"))
      return Message{line, false};
  }
  return std::nullopt;
}

static void writeMessage(FILE *out, const Message &message) {
  if (message.isFramed)
    fprintf(out, "Content-Length: %zu\r\n\r\n", message.text.size());
  fwrite(message.text.data(), 1, message.text.size(), out);
  fflush(out);
}

//===----------------------------------------------------------------------===//
// Hover and completion
//===----------------------------------------------------------------------===//

static std::string textOf(const json::Value &value) {
  std::string text;
  raw_string_ostream(text) << value;
  return text;
}

static bool isOfName(char c) { return isAlnum(c) || c == '_' || c == '.' || c == '$'; }

namespace {
/// The position that a request is about.
struct Place {
  StringRef line;
  int64_t number, column;

  /// Return the text up to the column, and the word before it.
  StringRef before() const { return line.take_front(column); }
  StringRef wordBefore() const { return before().take_back(column - before().find_last_not_of(kOfName) - 1); }
  /// Returns the word at the column, with the sigil of an attribute or a type.
  StringRef word() const {
    StringRef rest = line.drop_front(column - wordBefore().size());
    bool hasSigil = rest.data() != line.data() && (rest.data()[-1] == '#' || rest.data()[-1] == '!');
    return StringRef(rest.data() - hasSigil, rest.take_while(isOfName).size() + hasSigil);
  }

  static constexpr StringLiteral kOfName = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.$";
};
} // namespace

static std::optional<Place> placeOf(const json::Object &parameters, const StringMap<std::string> &documents) {
  const json::Object *document = parameters.getObject("textDocument"), *position = parameters.getObject("position");
  std::optional<StringRef> uri = document ? document->getString("uri") : std::nullopt;
  auto text = uri ? documents.find(*uri) : documents.end();
  std::optional<int64_t> number = position ? position->getInteger("line") : std::nullopt;
  std::optional<int64_t> column = position ? position->getInteger("character") : std::nullopt;
  if (text == documents.end() || !number || !column)
    return std::nullopt;
  StringRef rest = text->second;
  if (*number < 0 || *number > static_cast<int64_t>(rest.count('\n')))
    return std::nullopt;
  for (int64_t i = 0; i < *number; ++i)
    rest = rest.split('\n').second;
  StringRef line = rest.split('\n').first.rtrim('\r');
  if (*column < 0 || *column > static_cast<int64_t>(line.size()))
    return std::nullopt;
  return Place{line, *number, *column};
}

Exchange::Exchange(std::vector<std::string> ops, FILE *toServer, FILE *fromServer)
    : ops(std::move(ops)), descriptions(readDescriptions()), toServer(toServer), fromServer(fromServer) {}

json::Value Exchange::completionOf(StringRef op, json::Object range) const {
  json::Object item{{"label", op},
                    {"kind", 3}, // a function
                    {"filterText", op},
                    {"textEdit", json::Object{{"range", std::move(range)}, {"newText", op}}}};
  if (auto known = descriptions.find(op); known != descriptions.end()) {
    item["detail"] = known->second.summary;
    item["documentation"] = json::Object{{"kind", "markdown"}, {"value", known->second.text}};
  }
  return item;
}

/// Completes the word before the cursor with op names, at positions of ops: first in a line or behind `=`.
std::optional<json::Value> Exchange::complete(const json::Object &parameters) const {
  std::optional<Place> place = placeOf(parameters, documents);
  if (!place || place->wordBefore().empty())
    return std::nullopt;
  StringRef word = place->wordBefore(), front = place->before().drop_back(word.size());
  if (!front.trim().empty() && !front.rtrim().ends_with("="))
    return std::nullopt;
  json::Array items;
  int64_t begin = place->column - static_cast<int64_t>(word.size());
  for (const std::string &op : ops)
    if (StringRef(op).starts_with(word))
      items.push_back(
          completionOf(op, json::Object{{"start", json::Object{{"line", place->number}, {"character", begin}}},
                                        {"end", json::Object{{"line", place->number}, {"character", place->column}}}}));
  if (items.empty())
    return std::nullopt;
  return json::Object{{"isIncomplete", false}, {"items", std::move(items)}};
}

bool Exchange::handle(const json::Object &message) {
  StringRef method = message.getString("method").value_or("");
  const json::Object *parameters = message.getObject("params");
  const json::Object *document = parameters ? parameters->getObject("textDocument") : nullptr;
  StringRef uri = document ? document->getString("uri").value_or("") : "";
  if (!document)
    return false;
  if (method == "textDocument/didOpen")
    documents[uri] = document->getString("text").value_or("").str();
  if (method == "textDocument/didChange") // the server requests whole texts
    if (const json::Array *changes = parameters->getArray("contentChanges"); changes && !changes->empty())
      if (const json::Object *change = changes->back().getAsObject())
        documents[uri] = change->getString("text").value_or("").str();
  if (method == "textDocument/didClose")
    documents.erase(uri);
  const json::Value *id = message.get("id");
  if (method == "textDocument/hover" && id) {
    std::optional<Place> place = placeOf(*parameters, documents);
    auto known = place ? descriptions.find(place->word()) : descriptions.end();
    std::lock_guard lock(mutex);
    if (known != descriptions.end())
      hovers[textOf(*id)] = known->second.text;
  }
  if (method != "textDocument/completion" || !id)
    return false;
  std::optional<json::Value> result = complete(*parameters);
  if (result)
    send({textOf(json::Object{{"jsonrpc", "2.0"}, {"id", *id}, {"result", std::move(*result)}}), true});
  return result.has_value();
}

void Exchange::describe(json::Object &answer) {
  const json::Value *id = answer.get("id");
  auto request = id && !answer.get("method") ? hovers.find(textOf(*id)) : hovers.end();
  if (request == hovers.end())
    return;
  std::string text = std::move(request->second);
  hovers.erase(request);
  json::Object *result = answer.getObject("result");
  json::Object *contents = result ? result->getObject("contents") : nullptr;
  if (!contents)
    answer["result"] = json::Object{{"contents", json::Object{{"kind", "markdown"}, {"value", text}}}};
  else
    (*contents)["value"] = text + "\n\n---\n\n" + contents->getString("value").value_or("").str();
  answer.erase("error");
}

void Exchange::send(Message message) {
  std::lock_guard lock(mutex);
  writeMessage(stdout, message);
}

/// Returns a message as an object, or none if it is not one.
static std::optional<json::Value> objectOf(const Message &message) {
  if (!message.isFramed)
    return std::nullopt;
  Expected<json::Value> value = parseJson(message.text);
  if (!value) {
    consumeError(value.takeError());
    return std::nullopt;
  }
  return value->getAsObject() ? std::optional(std::move(*value)) : std::nullopt;
}

void Exchange::passFromEditor() {
  while (std::optional<Message> message = readMessage(stdin)) {
    std::optional<json::Value> object = objectOf(*message);
    if (!object || !handle(*object->getAsObject()))
      writeMessage(toServer, *message);
  }
  fclose(toServer);
}

void Exchange::passFromServer() {
  while (std::optional<Message> message = readMessage(fromServer)) {
    if (std::optional<json::Value> object = objectOf(*message)) {
      std::lock_guard lock(mutex);
      describe(*object->getAsObject());
      message->text = textOf(*object);
    }
    send(std::move(*message));
  }
}

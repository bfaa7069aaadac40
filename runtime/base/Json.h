//===- Json.h - reads JSON files --------------------------------*- C++ -*-===//
//
// The runtime's only JSON reader.  It limits the size of a file, its kind and the depth of its
// values, because any program may have written it.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_BASE_JSON_H
#define BRAID_BASE_JSON_H

#include "base/Error.h"
#include "base/File.h"

#include <nlohmann/json.hpp>

#include <string>

namespace braid {

// Upper limit of nested objects and arrays; checkpoint files have 4.  Deeper nesting could exhaust
// the stack of code that walks the value.
constexpr int maxJsonDepth = 8;
// Limits for model configurations, which other programs write, and which hold more.
constexpr int maxConfigDepth = 256;
constexpr uint64_t maxConfigBytes = 64 << 20;

// Parses text; throws Error, with `where` as prefix, if it nests too deeply.  Returns a discarded
// value if the text is not JSON.  Calls `onKey(depth, key)` for the keys of objects; the outermost
// have depth 1.
template <class Json = nlohmann::json, class F>
Json parseJson(const std::string &text, const std::string &where, const F &onKey, int maxDepth = maxJsonDepth) {
  using json = Json;
  bool isDeep = false;
  auto callback = [&](int depth, typename json::parse_event_t event, json &value) {
    if (event == json::parse_event_t::key)
      onKey(depth, value.template get_ref<const std::string &>());
    bool opens = event == json::parse_event_t::object_start || event == json::parse_event_t::array_start;
    isDeep |= opens && depth >= maxDepth;
    return !opens || depth < maxDepth;
  };
  json root = json::parse(text, callback, /*allow_exceptions=*/false);
  if (isDeep)
    fail(where, "it nests too deeply");
  return root;
}

inline nlohmann::json parseJson(const std::string &text, const std::string &where) {
  return parseJson(text, where, [](int, const std::string &) {});
}

// Parses the text of a model's config.json, and keeps the order of its keys.  Returns another value
// than an object if the text is not one.
inline nlohmann::ordered_json parseConfig(const std::string &text, const std::string &where) {
  return parseJson<nlohmann::ordered_json>(text, where, [](int, const std::string &) {}, maxConfigDepth);
}

// Reads and parses a config.json file, which must be a regular file.
inline nlohmann::ordered_json readConfig(const std::string &path) {
  return parseConfig(readText(path, maxConfigBytes), concat("'", path, "': "));
}

} // namespace braid

#endif // BRAID_BASE_JSON_H

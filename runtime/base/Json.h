//===- Json.h - JSON in files of others -------------------------*- C++ -*-===//
//
// The one reader of JSON in the runtime: the size of a file, its kind and the depth of its
// values are bounded, whoever wrote it.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_BASE_JSON_H
#define BRAID_BASE_JSON_H

#include "base/Error.h"
#include "base/File.h"

#include <nlohmann/json.hpp>

#include <string>

namespace braid {

// The most objects and arrays within each other: files of checkpoints have 4.  What nests
// more deeply could exhaust the stack of whoever walks through it.
constexpr int maxJsonDepth = 8;
// Configurations of models are written by others, and hold more.
constexpr int maxConfigDepth = 256;
constexpr uint64_t maxConfigBytes = 64 << 20;

// Parses text; throws Error that begins with `where` if it nests too deeply.  A value that is
// discarded if it is not JSON.  `onKey(depth, key)` sees the keys of objects; those of the
// outermost have depth 1.
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

// Text of a model's config.json, whose keys keep their order.  Not an object if it is not one.
inline nlohmann::ordered_json parseConfig(const std::string &text, const std::string &where) {
  return parseJson<nlohmann::ordered_json>(text, where, [](int, const std::string &) {}, maxConfigDepth);
}

// The same of a file, which must be a regular one.
inline nlohmann::ordered_json readConfig(const std::string &path) {
  return parseConfig(readText(path, maxConfigBytes), concat("'", path, "': "));
}

} // namespace braid

#endif // BRAID_BASE_JSON_H

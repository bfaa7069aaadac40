//===- Json.h - JSON in files of others -------------------------*- C++ -*-===//
#ifndef BRAID_BASE_JSON_H
#define BRAID_BASE_JSON_H

#include "base/Error.h"

#include <nlohmann/json.hpp>

#include <string>

namespace braid {

// The most objects and arrays within each other: files of checkpoints have 4.  What nests
// more deeply could exhaust the stack of whoever walks through it.
constexpr int maxJsonDepth = 8;

// Parses text; throws Error that begins with `where` if it nests too deeply.  A value that is
// discarded if it is not JSON.  `onKey(depth, key)` sees the keys of objects; those of the
// outermost have depth 1.
template <class F> nlohmann::json parseJson(const std::string &text, const std::string &where, const F &onKey) {
  using nlohmann::json;
  bool isDeep = false;
  auto callback = [&](int depth, json::parse_event_t event, json &value) {
    if (event == json::parse_event_t::key)
      onKey(depth, value.template get_ref<const std::string &>());
    bool opens = event == json::parse_event_t::object_start || event == json::parse_event_t::array_start;
    isDeep |= opens && depth >= maxJsonDepth;
    return !opens || depth < maxJsonDepth;
  };
  json root = json::parse(text, callback, /*allow_exceptions=*/false);
  if (isDeep)
    fail(where, "it nests too deeply");
  return root;
}

inline nlohmann::json parseJson(const std::string &text, const std::string &where) {
  return parseJson(text, where, [](int, const std::string &) {});
}

} // namespace braid

#endif // BRAID_BASE_JSON_H

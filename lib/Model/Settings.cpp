//===- Settings.cpp - the settings of a config.json -----------------------===//

#include "lib/Model/Settings.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace braid;

std::string Settings::text(const json::Value &value) {
  std::string out;
  raw_string_ostream(out) << value;
  return out;
}

bool Settings::isNull(StringRef key) const {
  const json::Value *found = object.get(key);
  return found && found->kind() == json::Value::Null;
}

bool Settings::has(StringRef key) const {
  const json::Value *found = object.get(key);
  return found && found->kind() != json::Value::Null;
}

const json::Value *Settings::find(StringRef key) {
  known.insert(key);
  return has(key) ? object.get(key) : nullptr;
}

void Settings::read(StringRef key, int64_t &value, int64_t max, int64_t min) {
  const json::Value *found = find(key);
  if (!found)
    return;
  std::optional<int64_t> number = found->getAsInteger();
  if (!number || *number < min || *number > max)
    return fail("'" + key + "' must be an integer from " + Twine(min) + " to " + Twine(max) + ", found " +
                text(*found));
  value = *number;
}

void Settings::read(StringRef key, double &value, double min, double below) {
  const json::Value *found = find(key);
  if (!found)
    return;
  std::optional<double> number = found->getAsNumber();
  if (!number || !(*number >= min && *number < below))
    return fail("'" + key + "' must be a number in [" + Twine(text(min)) + ", " + text(below) + "), found " +
                text(*found));
  value = *number;
}

void Settings::read(StringRef key, bool &value) {
  const json::Value *found = find(key);
  if (!found)
    return;
  if (!found->getAsBoolean())
    return fail("'" + key + "' must be true or false, found " + text(*found));
  value = *found->getAsBoolean();
}

void Settings::readEither(StringRef key, StringRef alias, int64_t &value, int64_t max) {
  read(key, value, max);
  int64_t other = value;
  read(alias, other, max);
  check(!has(key) || other == value,
        "'" + alias + "' is " + Twine(other) + ", but '" + key + "' is " + Twine(value) + "; leave one of them out");
  value = other;
}

void Settings::readOptional(StringRef key, int64_t &value) {
  value = isNull(key) ? 0 : value;
  read(key, value);
}

void Settings::readOptional(StringRef key, double &value, double min, double below) {
  value = isNull(key) ? 0 : value;
  read(key, value, min, below);
}

void Settings::readActivation(StringRef key, std::string &op) {
  const json::Value *found = find(key);
  if (!found)
    return;
  StringRef name = found->getAsString().value_or("");
  if (name == "gelu_new" || name == "gelu_pytorch_tanh" || name == "gelu_fast")
    op = "gelu tanh";
  else if (name == "gelu")
    op = "gelu erf";
  else if (name == "silu" || name == "swish")
    op = "silu";
  else if (name == "relu")
    op = "relu";
  else
    fail("'" + key + "' is " + text(*found) + "; expected gelu_new, gelu_pytorch_tanh, gelu, silu or relu");
}

void Settings::refuseUnless(StringRef key, const json::Value &expected) {
  const json::Value *found = find(key);
  if (found && *found != expected)
    fail("'" + key + "': " + text(*found) + " is not supported, only " + text(expected));
}

void Settings::ignore(ArrayRef<StringLiteral> keys) {
  for (StringRef key : keys)
    known.insert(key);
}

/// Returns the known setting nearest to a misspelled one; empty if none is near.
static StringRef nearest(const StringSet<> &known, StringRef key) {
  SmallVector<StringRef> names(known.keys());
  llvm::sort(names);
  StringRef best;
  unsigned min = std::max<unsigned>(key.size() / 3, 1) + 1;
  for (StringRef name : names)
    if (unsigned distance = key.edit_distance(name, /*AllowReplacements=*/true, min); distance < min) {
      best = name;
      min = distance;
    }
  return best;
}

Error Settings::finish() {
  std::vector<std::string> unknown, misspelt;
  SmallVector<StringRef> keys(llvm::make_first_range(object));
  llvm::sort(keys);
  for (StringRef key : keys) {
    if (known.contains(key))
      continue;
    unknown.push_back(("'" + key + "'").str());
    if (StringRef suggestion = nearest(known, key); !suggestion.empty())
      misspelt.push_back(("'" + suggestion + "'").str());
  }
  if (!unknown.empty())
    fail((unknown.size() == 1 ? "unknown setting " : "unknown settings ") + join(unknown, ", ") +
         ", which may change the computation" +
         (misspelt.empty() ? std::string() : "; did you mean " + join(misspelt, ", ") + "?"));
  return error.empty() ? Error::success() : createStringError(error);
}

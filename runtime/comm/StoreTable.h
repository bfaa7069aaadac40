//===- StoreTable.h - the values of a store, within limits ----------------===//
#ifndef BRAID_COMM_STORETABLE_H
#define BRAID_COMM_STORETABLE_H

#include <chrono>
#include <map>
#include <string>

namespace braid {

// What clients of a store may take up.  A rank leaves a few keys, and for each other rank
// an address of some 140 bytes.
struct StoreLimits {
  size_t clients = 8192;          // that have proved the token
  size_t strangers = 128;         // that have not yet: the oldest gives way to the next
  size_t keys = 1 << 17;          // in all
  size_t bytes = size_t{1} << 28; // of keys and values, in all
  // To prove the token, to send the rest of a request, to take an answer.
  std::chrono::milliseconds patience = std::chrono::seconds(10);
};

class StoreTable {
public:
  explicit StoreTable(const StoreLimits &limits) : limits(limits) {}

  // False when that would be beyond the limits.
  bool set(const std::string &key, std::string value) {
    auto found = values.find(key);
    size_t before = found == values.end() ? 0 : key.size() + found->second.size();
    size_t after = bytes - before + key.size() + value.size();
    if (after > limits.bytes || (found == values.end() && values.size() >= limits.keys))
      return false;
    bytes = after;
    values[key] = std::move(value);
    return true;
  }
  // Null if it is not there.
  const std::string *find(const std::string &key) const {
    auto found = values.find(key);
    return found == values.end() ? nullptr : &found->second;
  }

private:
  const StoreLimits limits;
  std::map<std::string, std::string> values;
  size_t bytes = 0;
};

} // namespace braid
#endif // BRAID_COMM_STORETABLE_H

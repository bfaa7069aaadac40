//===- StoreTable.h - the values of a store, with limits ------------------===//
#ifndef BRAID_COMM_STORETABLE_H
#define BRAID_COMM_STORETABLE_H

#include <chrono>
#include <map>
#include <string>

namespace braid {

// Limits for the clients of a store. A rank stores a few keys, and an address of about 140 bytes for each
// other rank.
struct StoreLimits {
  size_t clients = 8192;          // connections in all
  size_t strangers = 128;         // connections without a proof of the token; a new one replaces the oldest
  size_t keys = 1 << 17;          // in total
  size_t bytes = size_t{1} << 28; // of keys and values, in total
  // Time limit to prove the token, to send the rest of a request and to receive an answer.
  std::chrono::milliseconds patience = std::chrono::seconds(10);
};

class StoreTable {
public:
  explicit StoreTable(const StoreLimits &limits) : limits(limits) {}

  // Returns false if the value would exceed the limits.
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
  // Returns null if the key does not exist.
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

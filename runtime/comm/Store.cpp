//===- Store.cpp - a key-value store that ranks share ---------------------===//

#include "comm/Store.h"

#include "base/Error.h"
#include "comm/FolderStore.h"
#include "comm/TcpStore.h"

#include <algorithm>
#include <charconv>
#include <thread>

using namespace braid;

std::optional<std::string> Store::await(const std::string &key, Clock::time_point deadline) {
  for (auto pause = std::chrono::microseconds(500);;) {
    if (std::optional<std::string> value = find(key))
      return value;
    if (Clock::now() >= deadline)
      return std::nullopt;
    std::this_thread::sleep_for(pause);
    pause = std::min<std::chrono::microseconds>(pause * 2, std::chrono::milliseconds(50));
  }
}

StoreAddress braid::parseStoreAddress(const std::string &text) {
  auto startsWith = [&](const char *prefix) { return text.rfind(prefix, 0) == 0; };
  StoreAddress address{};
  if (startsWith("file://") && text.size() > 7) {
    address.kind = StoreAddress::Kind::Folder;
    address.folder = text.substr(7);
    return address;
  }
  size_t begin = startsWith("tcp://") ? 6 : startsWith("agent://") ? 8 : 0, colon = text.rfind(':');
  if (begin && colon > begin) {
    address.kind = startsWith("tcp://") ? StoreAddress::Kind::Served : StoreAddress::Kind::Agent;
    address.host = text.substr(begin, colon - begin);
    if (address.host.size() > 2 && address.host.front() == '[' && address.host.back() == ']') // IPv6
      address.host = address.host.substr(1, address.host.size() - 2);
    const char *last = text.data() + text.size();
    auto [end, error] = std::from_chars(text.data() + colon + 1, last, address.port);
    if (error == std::errc() && end == last && address.port > 0 && address.port < 65536)
      return address;
  }
  fail("invalid rendezvous '", text,
       "': expected file:///FOLDER, a folder that all ranks see, or tcp://HOST:PORT with the host of rank 0");
}

namespace {

class PrefixedStore : public Store {
public:
  PrefixedStore(std::unique_ptr<Store> store, std::string prefix)
      : store(std::move(store)), prefix(std::move(prefix)) {}

  void set(const std::string &key, const std::string &value) override { store->set(prefix + key, value); }
  std::optional<std::string> find(const std::string &key) override { return store->find(prefix + key); }
  void setPatience(std::chrono::milliseconds patience) override { store->setPatience(patience); }
  std::string localAddress() const override { return store->localAddress(); }
  void waitForOthers(Clock::time_point deadline) override { store->waitForOthers(deadline); }

private:
  const std::unique_ptr<Store> store;
  const std::string prefix;
};

} // namespace

std::unique_ptr<Store> braid::openStore(const std::string &text, const std::string &job, int rank,
                                        Store::Clock::time_point deadline) {
  StoreAddress address = parseStoreAddress(text);
  std::unique_ptr<Store> store;
  if (address.kind == StoreAddress::Kind::Folder)
    store = std::make_unique<FolderStore>(address.folder);
  else
    store = openTcpStore(address, rank == 0 && address.kind == StoreAddress::Kind::Served, deadline);
  return std::make_unique<PrefixedStore>(std::move(store), job.empty() ? "braid/" : "braid/" + job + "/");
}

//===- Store.cpp - a key-value store that ranks share ---------------------===//

#include "comm/Store.h"

#include "base/Error.h"
#include "comm/FolderStore.h"
#include "comm/JobToken.h"
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

// Whether no other host can reach the store.
static bool isLocal(const StoreAddress &address, const Joining &joining) {
  return joining.isOneHost || address.host == "localhost" || address.host == "::1" ||
         address.host.rfind("127.", 0) == 0;
}

void braid::checkRendezvous(const Joining &joining) {
  constexpr size_t kShortest = 16;
  StoreAddress address = parseStoreAddress(joining.rendezvous);
  if (!joining.token.empty() && joining.token.size() < kShortest)
    fail("the job token has ", joining.token.size(), " characters, which can be guessed; give it at least ", kShortest,
         ", such as the output of `openssl rand -hex 16`");
  if (address.kind == StoreAddress::Kind::Served && joining.token.empty() && !isLocal(address, joining))
    fail("rendezvous '", joining.rendezvous,
         "' is reached from other hosts and needs a job token: set BRAID_JOB_TOKEN to the same secret for all ranks, "
         "as by `export BRAID_JOB_TOKEN=$(openssl rand -hex 16)` before the launcher");
}

namespace {

class PrefixedStore : public Store {
public:
  PrefixedStore(std::unique_ptr<Store> store, std::string prefix)
      : store(std::move(store)), prefix(std::move(prefix)) {}

  void set(const std::string &key, const std::string &value) override { store->set(prefix + key, value); }
  std::optional<std::string> find(const std::string &key) override { return store->find(prefix + key); }
  void setAnswerTimeout(std::chrono::milliseconds patience) override { store->setAnswerTimeout(patience); }
  std::string localAddress() const override { return store->localAddress(); }
  void waitForOthers(Clock::time_point deadline) override { store->waitForOthers(deadline); }
  std::string remark() const override { return store->remark(); }

private:
  const std::unique_ptr<Store> store;
  const std::string prefix;
};

// Wraps a store that checks no token, such as that of torchrun's agent: each value is followed by the MAC
// of its key and value. Ignores values that a stranger wrote.
class SealedStore : public Store {
public:
  SealedStore(std::unique_ptr<Store> store, JobToken token) : store(std::move(store)), token(std::move(token)) {}

  void set(const std::string &key, const std::string &value) override {
    store->set(key, value + token.mac({key, value}));
  }
  std::optional<std::string> find(const std::string &key) override {
    std::optional<std::string> sealed = store->find(key);
    if (!sealed)
      return std::nullopt;
    size_t bytes = std::max(sealed->size(), JobToken::macBytes) - JobToken::macBytes;
    std::string value = sealed->substr(0, bytes);
    if (token.isMac(std::string_view(*sealed).substr(bytes), {key, value}))
      return value;
    ignored = key;
    return std::nullopt;
  }
  std::string remark() const override {
    return ignored.empty()
               ? ""
               : "; ignored the data of '" + ignored +
                     "', which do not carry this rank's job token: " + "give all ranks the same BRAID_JOB_TOKEN";
  }
  void setAnswerTimeout(std::chrono::milliseconds patience) override { store->setAnswerTimeout(patience); }
  std::string localAddress() const override { return store->localAddress(); }
  void waitForOthers(Clock::time_point deadline) override { store->waitForOthers(deadline); }

private:
  const std::unique_ptr<Store> store;
  const JobToken token;
  std::string ignored; // the last key whose value had no valid MAC
};

// Returns the job's name in one word, which is also valid as a folder name.
std::string folderOf(const Joining &joining) {
  std::string name = joining.job.empty() ? "braid" : "braid-" + joining.job;
  std::replace(name.begin(), name.end(), '/', '%');
  return name;
}

} // namespace

std::unique_ptr<Store> braid::openStore(const Joining &joining, Store::Clock::time_point deadline) {
  checkRendezvous(joining);
  StoreAddress address = parseStoreAddress(joining.rendezvous);
  std::unique_ptr<Store> store;
  if (address.kind == StoreAddress::Kind::Folder)
    store = std::make_unique<FolderStore>(concat(address.folder, "/", folderOf(joining)), joining, deadline);
  else
    store = openTcpStore(address, joining, deadline);
  if (address.kind != StoreAddress::Kind::Served && !joining.token.empty())
    store = std::make_unique<SealedStore>(std::move(store), JobToken(joining.token));
  return std::make_unique<PrefixedStore>(std::move(store),
                                         joining.job.empty() ? "braid/" : "braid/" + joining.job + "/");
}

//===- Mesh.cpp - connections between all pairs of ranks ------------------===//

#include "comm/gloo/Mesh.h"

#include "base/Error.h"
#include "comm/JobToken.h"
#include "comm/OwnAddress.h"
#include "comm/WaitNotice.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <gloo/common/error.h>
#include <gloo/common/logging.h>
#include <gloo/rendezvous/store.h>
#include <gloo/transport/tcp/device.h>
#include <gloo/transport/unbound_buffer.h>

using namespace braid;
using Clock = Store::Clock;

// A tag that nothing else uses: tags of groups have 32 bits, and Liveness uses 1 << 40.
static constexpr uint64_t kProofSlot = uint64_t{1} << 41;

// How long each attempt waits for a connection or a proof; the last attempt waits until the deadline.
static constexpr std::chrono::seconds kAttemptTimeouts[] = {std::chrono::seconds(5), std::chrono::seconds(20),
                                                            std::chrono::hours(24 * 365)};

//===----------------------------------------------------------------------===//
// The store
//===----------------------------------------------------------------------===//

namespace {

// Keys of one attempt; every wait ends at the deadline.
class AttemptStore : public gloo::rendezvous::Store {
public:
  AttemptStore(braid::Store &store, const Joining &own, int attempt, Clock::time_point deadline)
      : store(store), own(own), prefix(concat("mesh-", attempt, "/")), deadline(deadline) {}

  void setText(const std::string &key, const std::string &text) {
    // Addresses of a previous job would be wrong.
    if (store.find(prefix + key))
      throw Error("it holds keys of another job; give each job its own rendezvous");
    store.set(prefix + key, text);
  }
  // A key is a rank's number, or ends in one.
  std::string getText(const std::string &key) {
    const std::string rank = key.substr(key.find_last_not_of("0123456789") + 1);
    if (std::optional<std::string> value = awaitFrom(store, prefix + key, rank, own, deadline))
      return *value;
    throw Error(concat("rank ", rank, " has not joined", store.remark()));
  }

  void set(const std::string &key, const std::vector<char> &data) override {
    setText(key, std::string(data.begin(), data.end()));
  }
  std::vector<char> get(const std::string &key) override {
    std::string value = getText(key);
    return {value.begin(), value.end()};
  }
  void wait(const std::vector<std::string> &keys) override {
    for (const std::string &key : keys)
      get(key);
  }
  void wait(const std::vector<std::string> &keys, const std::chrono::milliseconds &) override { wait(keys); }

private:
  braid::Store &store;
  const Joining &own;
  const std::string prefix;
  const Clock::time_point deadline;
};

} // namespace

// Stores this rank's text and waits for the texts of all ranks; returns the first one that is not empty.
static std::string meet(AttemptStore &store, const Joining &own, const std::string &stage, const std::string &said) {
  store.setText(concat(stage, own.rank), said);
  std::string first;
  for (int rank = 0; rank < own.size; ++rank)
    if (std::string text = store.getText(concat(stage, rank)); first.empty())
      first = text;
  return first;
}

//===----------------------------------------------------------------------===//
// Connections
//===----------------------------------------------------------------------===//

// Opens the network interface that the user named; defaults to loopback on one host, else to the interface
// that reaches the store.
static std::shared_ptr<gloo::transport::Device> openDevice(const Joining &joining, const Store &store) {
  gloo::transport::tcp::attr attributes;
  std::string towardsStore = store.localAddress();
  if (const char *interface = std::getenv("GLOO_SOCKET_IFNAME"))
    attributes.iface = interface;
  else if (joining.isOneHost)
    attributes.hostname = "127.0.0.1";
  else
    attributes.hostname = towardsStore.empty() ? ownAddress() : towardsStore;
  return gloo::transport::tcp::CreateDevice(attributes);
}

// Each rank proves to each other rank that it knows the secret.
static void provePairs(gloo::Context &context, const JobToken &secret, Clock::time_point deadline) {
  struct Proof {
    std::string sent, received;
    std::unique_ptr<gloo::transport::UnboundBuffer> out, in;
  };
  auto proofOf = [&](int from, int to) { return secret.mac({"pair", std::to_string(from), std::to_string(to)}); };
  std::vector<Proof> proofs(context.size);
  for (int peer = 0; peer < context.size; ++peer) {
    if (peer == context.rank)
      continue;
    Proof &proof = proofs[peer];
    proof.sent = proofOf(context.rank, peer);
    proof.received.resize(JobToken::macBytes);
    proof.in = context.createUnboundBuffer(proof.received.data(), proof.received.size());
    proof.out = context.createUnboundBuffer(proof.sent.data(), proof.sent.size());
    proof.in->recv(peer, kProofSlot);
    proof.out->send(peer, kProofSlot);
  }
  for (int peer = 0; peer < context.size; ++peer) {
    if (peer == context.rank)
      continue;
    auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now());
    left = std::max(left, std::chrono::milliseconds(1)); // 0 would mean no timeout
    try {
      proofs[peer].in->waitRecv(left);
      proofs[peer].out->waitSend(left);
    } catch (const std::exception &error) {
      fail("the process connected as rank ", peer, " does not prove its identity (", textOf(error), ")");
    }
    if (!secret.isMac(proofs[peer].received, {"pair", std::to_string(peer), std::to_string(context.rank)}))
      fail("the process connected as rank ", peer, " does not belong to this job");
  }
}

// Returns null, and the lowest failed rank's reason, if not all ranks could connect.
static std::shared_ptr<gloo::rendezvous::Context> tryToConnect(const Joining &joining, AttemptStore &store,
                                                               std::shared_ptr<gloo::transport::Device> device,
                                                               std::chrono::milliseconds patience,
                                                               std::string &reason) {
  auto context = std::make_shared<gloo::rendezvous::Context>(joining.rank, joining.size);
  context->setTimeout(patience / 5); // Gloo waits five times the timeout for a connection
  // Only rank 0 gives a text, a random secret; so all ranks get it, and each rank waits for all others.
  std::string secret = meet(store, joining, "ready-", joining.rank == 0 ? randomBytes(JobToken::macBytes) : "");
  std::string own;
  try {
    context->connectFullMesh(store, device);
    provePairs(*context, JobToken(secret + joining.token), Clock::now() + patience);
  } catch (const std::exception &error) {
    own = concat("rank ", joining.rank, " cannot connect to all others: ", textOf(error));
  }
  reason = meet(store, joining, "done-", own);
  return reason.empty() ? context : nullptr;
}

std::shared_ptr<gloo::rendezvous::Context> braid::connectMesh(const Joining &joining, Store &store,
                                                              Clock::time_point deadline) {
  std::shared_ptr<gloo::transport::Device> device = openDevice(joining, store);
  std::string reason;
  for (int attempt = 0; attempt < static_cast<int>(std::size(kAttemptTimeouts)); ++attempt) {
    AttemptStore attemptStore(store, joining, attempt, deadline);
    auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now());
    auto patience =
        std::clamp<std::chrono::milliseconds>(left, std::chrono::milliseconds(5), kAttemptTimeouts[attempt]);
    if (auto context = tryToConnect(joining, attemptStore, device, patience, reason))
      return context;
  }
  throw Error(reason);
}

//===----------------------------------------------------------------------===//
// Exceptions from Gloo
//===----------------------------------------------------------------------===//

static bool isOfGloo(const std::exception &error) {
  return dynamic_cast<const gloo::Exception *>(&error) || dynamic_cast<const gloo::EnforceNotMet *>(&error);
}

std::string braid::textOf(const std::exception &error) {
  std::string text = error.what();
  size_t end = text.find("] ");
  return isOfGloo(error) && text.front() == '[' && end != std::string::npos ? text.substr(end + 2) : text;
}

static int ownRank = 0;
static std::terminate_handler previousHandler = nullptr;

[[noreturn]] static void endWithMessage() {
  try {
    if (std::exception_ptr error = std::current_exception())
      std::rethrow_exception(error);
  } catch (const std::exception &error) {
    if (isOfGloo(error)) {
      std::fprintf(stderr,
                   "error: rank %d: a connection of Gloo carries data that no rank sends (%s); a process of another "
                   "job has reached its port, or ranks have different versions of Gloo\n",
                   ownRank, textOf(error).c_str());
      std::_Exit(1);
    }
  } catch (...) {
  }
  if (previousHandler)
    previousHandler();
  std::abort();
}

EndWithMessage::EndWithMessage(int rank) {
  ownRank = rank;
  previousHandler = std::set_terminate(endWithMessage);
}

EndWithMessage::~EndWithMessage() { std::set_terminate(previousHandler); }

//===- GlooTransport.cpp - processes connected over TCP -------------------===//
//
// Gloo's unbound buffers carry the messages, and Gloo's own thread moves the bytes. A timeout or a lost
// connection is final in Gloo: every wait for that rank throws. So ranks detect a failure by the end of
// connections; the reason is stored beforehand in the store, beside the addresses.
//
//===----------------------------------------------------------------------===//

#include "comm/gloo/GlooTransport.h"

#include "base/Error.h"
#include "base/Format.h"
#include "comm/FailureBoard.h"
#include "comm/MessageTransport.h"
#include "comm/Store.h"
#include "comm/gloo/Liveness.h"
#include "comm/gloo/Mesh.h"
#include "comm/transports.h"

#include <thread>

using namespace braid;

namespace {

std::chrono::milliseconds milliseconds(double seconds) {
  return std::chrono::milliseconds(static_cast<int64_t>(seconds * 1000) + 1);
}

class GlooChannel : public Channel {
public:
  explicit GlooChannel(const Joining &options);
  ~GlooChannel() override;

  int rank() const override { return options.rank; }
  int size() const override { return options.size; }
  void send(int peer, int tag, const void *data, size_t bytes) override;
  void receive(int peer, int tag, void *data, size_t bytes) override;
  std::set<int> complete(Clock::time_point deadline) override;
  bool hasEnded(int peer) const override { return ended.count(peer); }
  void announceFailure(const std::string &message) override { failures.announce(message); }

private:
  struct Posted {
    std::unique_ptr<gloo::transport::UnboundBuffer> buffer;
    int peer;
    bool isSend;
  };

  void connect(Clock::time_point deadline);

  const Joining options;
  const EndWithMessage endWithMessage;
  std::shared_ptr<Store> store;
  FailureBoard failures;
  std::shared_ptr<gloo::rendezvous::Context> context;
  std::unique_ptr<Liveness> liveness;
  std::vector<Posted> posted;
  std::set<int> ended; // ranks whose connections are lost
};

GlooChannel::GlooChannel(const Joining &options) : options(options), endWithMessage(options.rank) {
  Clock::time_point deadline = Clock::now() + milliseconds(options.timeout);
  try {
    connect(deadline);
  } catch (const std::exception &error) {
    std::string period = Clock::now() >= deadline ? concat(" within ", formatExact(options.timeout), " s") : "";
    fail("rank ", options.rank, " of ", options.size, " failed to rendezvous at '", options.rendezvous, "'", period,
         ": ", textOf(error));
  }
}

void GlooChannel::connect(Clock::time_point deadline) {
  store = options.store;
  if (!store)
    store = openStore(options, deadline);
  failures = FailureBoard(store, options.rank, options.size);
  context = connectMesh(options, *store, deadline);
  liveness = std::make_unique<Liveness>(*context);
  // From now on the store is read only after a failure, by ranks that are about to end.
  store->setAnswerTimeout(std::chrono::seconds(1));
}

// If a connection is closed while messages of Gloo's protocol are unread, it is reset, and the reset
// discards data that the other side has not read. So this waits, to leave it time to read.
GlooChannel::~GlooChannel() {
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  // Gloo's thread may use a buffer until its connection is closed.
  context->closeConnections();
  posted.clear();
  liveness.reset();
  // The other ranks may still look up the reason in the store.
  store->waitForOthers(Clock::now() + std::chrono::milliseconds(800));
}

void GlooChannel::send(int peer, int tag, const void *data, size_t bytes) {
  if (bytes == 0)
    return;
  try {
    Posted &next =
        posted.emplace_back(Posted{context->createUnboundBuffer(const_cast<void *>(data), bytes), peer, true});
    next.buffer->send(peer, tag);
  } catch (const gloo::Exception &) {
    ended.insert(peer);
  }
}

void GlooChannel::receive(int peer, int tag, void *data, size_t bytes) {
  if (bytes == 0)
    return;
  try {
    Posted &next = posted.emplace_back(Posted{context->createUnboundBuffer(data, bytes), peer, false});
    next.buffer->recv(peer, tag);
  } catch (const gloo::Exception &) {
    ended.insert(peer);
  }
}

std::set<int> GlooChannel::complete(Clock::time_point deadline) {
  std::set<int> late; // among the ranks with posted operations
  for (Posted &each : posted) {
    // A timeout of 0 would mean no timeout.
    auto left = milliseconds(std::max(std::chrono::duration<double>(deadline - Clock::now()).count(), 0.0));
    try {
      if (ended.count(each.peer) == 0 && !liveness->wait(*each.buffer, each.isSend, each.peer, left))
        ended.insert(each.peer);
    } catch (const gloo::Exception &) {
      failures.throwAnnounced();
      if (Clock::now() >= deadline)
        return {each.peer};
      ended.insert(each.peer);
    }
    if (ended.count(each.peer))
      late.insert(each.peer);
  }
  if (late.empty())
    posted.clear();
  else
    failures.throwAnnounced();
  return late;
}

} // namespace

TransportFactory braid::glooTransport(const Joining &joining) {
  return [=] { return std::make_unique<MessageTransport>(std::make_unique<GlooChannel>(joining)); };
}

void br_use_gloo() { registerTransport("gloo", glooTransport); }

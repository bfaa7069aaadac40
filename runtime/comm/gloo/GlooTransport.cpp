//===- GlooTransport.cpp - processes that reach each other over TCP -------===//
//
// Gloo's unbound buffers carry the messages, and a thread of its own moves the
// bytes.  A time-out or a lost connection is final in Gloo: what waits for that
// rank throws.  So the news of a failure is the end of connections; the reason is
// left, before, as a file beside the addresses.
//
//===----------------------------------------------------------------------===//

#include "comm/gloo/GlooTransport.h"

#include "comm/MessageTransport.h"
#include "core/Error.h"
#include "core/Format.h"

#include <filesystem>
#include <fstream>
#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/file_store.h>
#include <gloo/transport/tcp/device.h>
#include <thread>

using namespace braid;

namespace {

std::chrono::milliseconds milliseconds(double seconds) {
  return std::chrono::milliseconds(static_cast<int64_t>(seconds * 1000) + 1);
}

class GlooChannel : public Channel {
public:
  explicit GlooChannel(const GlooOptions &options);
  ~GlooChannel() override;

  int rank() const override { return options.rank; }
  int size() const override { return options.size; }
  void send(int peer, int tag, const void *data, size_t bytes) override;
  void receive(int peer, int tag, void *data, size_t bytes) override;
  std::set<int> complete(Clock::time_point deadline) override;
  bool hasEnded(int peer) const override { return ended.count(peer); }
  void announceFailure(const std::string &message) override;

private:
  struct Posted {
    std::unique_ptr<gloo::transport::UnboundBuffer> buffer;
    int peer;
    bool isSend;
  };

  void connect();
  void throwAnnounced() const;
  std::string failurePath(int rank) const { return options.folder + "/failure-" + std::to_string(rank); }

  const GlooOptions options;
  std::shared_ptr<gloo::rendezvous::Context> context;
  std::vector<Posted> posted;
  std::set<int> ended; // connections to these are lost
};

GlooChannel::GlooChannel(const GlooOptions &options) : options(options) {
  try {
    connect();
  } catch (const std::exception &error) {
    fail("rank ", options.rank, " of ", options.size, " has not reached the others over '", options.folder,
         "' within ", formatExact(options.timeout), " s: ", error.what());
  }
}

void GlooChannel::connect() {
  std::filesystem::create_directories(options.folder);
  gloo::rendezvous::FileStore store(options.folder);
  gloo::transport::tcp::attr attributes(options.hostName.c_str());
  auto device = gloo::transport::tcp::CreateDevice(attributes);
  context = std::make_shared<gloo::rendezvous::Context>(options.rank, options.size);
  context->setTimeout(milliseconds(options.timeout));
  context->connectFullMesh(store, device);
}

// A connection that is closed with notes of Gloo's protocol unread is reset, and
// a reset loses what the other side has not read: leave it time to read.
GlooChannel::~GlooChannel() {
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  posted.clear();
  context->closeConnections();
}

void GlooChannel::send(int peer, int tag, const void *data, size_t bytes) {
  if (bytes == 0)
    return;
  try {
    Posted &next = posted.emplace_back(Posted{context->createUnboundBuffer(const_cast<void *>(data), bytes), peer, true});
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
  std::set<int> late; // of those that something was posted for
  for (Posted &each : posted) {
    // 0 would mean for ever.
    auto left = milliseconds(std::max(std::chrono::duration<double>(deadline - Clock::now()).count(), 0.0));
    try {
      if (ended.count(each.peer) == 0)
        each.isSend ? each.buffer->waitSend(left) : each.buffer->waitRecv(left);
    } catch (const gloo::Exception &) {
      throwAnnounced();
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
    throwAnnounced();
  return late;
}

void GlooChannel::throwAnnounced() const {
  for (int rank = 0; rank < options.size; ++rank) {
    std::ifstream file(failurePath(rank));
    if (std::string message; std::getline(file, message))
      throw Error(message);
  }
}

void GlooChannel::announceFailure(const std::string &message) {
  std::string path = failurePath(options.rank);
  std::ofstream(path + ".new") << message << '\n';
  std::error_code ignored; // others will know less about it
  std::filesystem::rename(path + ".new", path, ignored);
}

} // namespace

TransportFactory braid::glooTransport(GlooOptions options) {
  return [=] { return std::make_unique<MessageTransport>(std::make_unique<GlooChannel>(options)); };
}

//===- Liveness.cpp - detects connections that have ended -----------------===//

#include "comm/gloo/Liveness.h"

#include <gloo/common/error.h>
#include <utility>

using namespace braid;

// A tag that no group uses: tags of groups have 32 bits.
static constexpr uint64_t kSlot = uint64_t{1} << 40;
static constexpr std::chrono::milliseconds kInterval(100);

Liveness::Liveness(gloo::Context &context) : receives(context.size) {
  for (int peer = 0; peer < context.size; ++peer) {
    if (peer == context.rank)
      continue;
    receives[peer] = context.createUnboundBuffer(&emptyMessage, sizeof(emptyMessage));
    receives[peer]->recv(peer, kSlot);
  }
  watcher = std::thread([this] { watch(); });
}

Liveness::~Liveness() {
  {
    std::lock_guard lock(mutex);
    closing = true;
  }
  changed.notify_one();
  watcher.join();
}

bool Liveness::wait(gloo::transport::UnboundBuffer &buffer, bool isSend, int peer, std::chrono::milliseconds timeout) {
  struct Registration {
    Registration(Liveness &of, gloo::transport::UnboundBuffer &buffer, int peer) : of(of) {
      std::lock_guard lock(of.mutex);
      of.waiting = &buffer;
      of.waitingFor = peer;
      of.suspected = false;
    }
    ~Registration() {
      std::lock_guard lock(of.mutex);
      of.waiting = nullptr;
    }
    Liveness &of;
  } registration(*this, buffer, peer);
  return isSend ? buffer.waitSend(timeout) : buffer.waitRecv(timeout);
}

void Liveness::watch() {
  std::unique_lock lock(mutex);
  while (!changed.wait_for(lock, kInterval, [&] { return closing; })) {
    if (!waiting || !hasEnded(waitingFor))
      continue;
    // Waits one more interval, so that a slow thread can read data that arrived before the end.
    if (std::exchange(suspected, true)) {
      waiting->abortWaitRecv();
      waiting->abortWaitSend();
    }
  }
}

// A wait that is aborted beforehand returns at once, and throws if the connection has ended.
bool Liveness::hasEnded(int peer) {
  try {
    receives[peer]->abortWaitRecv();
    receives[peer]->waitRecv();
    return false;
  } catch (const gloo::Exception &) {
    return true;
  }
}

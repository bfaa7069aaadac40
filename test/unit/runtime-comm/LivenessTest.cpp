//===- LivenessTest.cpp - connections that end inside a message -----------===//

#include "comm/gloo/Liveness.h"

#include <gloo/common/error.h>
#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/hash_store.h>
#include <gloo/transport/tcp/device.h>
#include <gtest/gtest.h>

using namespace braid;
using namespace std::chrono_literals;

namespace {

struct Side {
  Side(int rank, gloo::rendezvous::Store &store) : context(std::make_shared<gloo::rendezvous::Context>(rank, 2)) {
    auto device = gloo::transport::tcp::CreateDevice("127.0.0.1");
    context->setTimeout(20s);
    context->connectFullMesh(store, device);
    liveness = std::make_unique<Liveness>(*context);
  }
  std::shared_ptr<gloo::rendezvous::Context> context;
  std::unique_ptr<Liveness> liveness;
};

class LivenessTest : public testing::Test {
protected:
  void SetUp() override {
    std::thread other([this] { peer = std::make_unique<Side>(1, store); });
    own = std::make_unique<Side>(0, store);
    other.join();
  }
  void TearDown() override {
    for (std::unique_ptr<Side> *side : {&own, &peer}) {
      (*side)->liveness.reset();
      (*side)->context->closeConnections();
    }
  }

  gloo::rendezvous::HashStore store;
  std::unique_ptr<Side> own, peer;
};

TEST_F(LivenessTest, LetMessagesPass) {
  std::vector<int> sent(1 << 20, 7), received(1 << 20);
  auto out = peer->context->createUnboundBuffer(sent.data(), sent.size() * sizeof(int));
  auto in = own->context->createUnboundBuffer(received.data(), received.size() * sizeof(int));
  in->recv(1, 3);
  out->send(0, 3);
  EXPECT_TRUE(peer->liveness->wait(*out, /*isSend=*/true, 0, 20s));
  EXPECT_TRUE(own->liveness->wait(*in, /*isSend=*/false, 1, 20s));
  EXPECT_EQ(sent, received);
}

// More bytes than any socket buffers, so that a part is neither sent nor received when the connection ends.
TEST_F(LivenessTest, WakeWhatWaitsForTheRestOfAMessage) {
  std::vector<char> sent(256 << 20), received(256 << 20);
  auto out = peer->context->createUnboundBuffer(sent.data(), sent.size());
  auto in = own->context->createUnboundBuffer(received.data(), received.size());
  in->recv(1, 3);
  out->send(0, 3);
  peer->context->getPair(0)->close();
  auto begin = std::chrono::steady_clock::now();
  try {
    EXPECT_FALSE(own->liveness->wait(*in, /*isSend=*/false, 1, 20s));
  } catch (const gloo::Exception &) { // the message had not begun
  }
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 10s);
}

} // namespace

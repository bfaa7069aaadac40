//===- StoreClient.cpp - the server's side of a store client --------------===//

#include "comm/StoreClient.h"

#include "comm/TcpStore.h"

#include <cerrno>
#include <cstring>
#include <optional>
#include <poll.h>

using namespace braid;
using namespace braid::tcpstore;

// Limits of one turn of a client, in requests and bytes, so that other clients get their turns.
static constexpr int kMaxRequestsPerTurn = 256;
static constexpr size_t kMaxBytesPerTurn = 1 << 16;
// Limit of bytes from a stranger: VALIDATE, PROVE and its proof.
static constexpr size_t kMaxUnauthenticatedBytes = 256;
static constexpr size_t kMaxRequestBytes = longestString + (1 << 16);
static constexpr size_t kMaxKeyBytes = 1 << 10;
static constexpr uint64_t kMaxKeys = 32; // in one CHECK request

namespace braid {
// Reads the parts of a request from the front of the received bytes. A request is consumed only if it is
// complete.
class RequestReader {
public:
  explicit RequestReader(std::string_view text) : text(text) {}

  template <class Number> std::optional<Number> number() {
    Number value;
    std::optional<std::string_view> bytes = consume(sizeof value);
    if (!bytes)
      return std::nullopt;
    std::memcpy(&value, bytes->data(), sizeof value);
    return value;
  }
  std::optional<std::string_view> consume(uint64_t bytes) {
    if (text.size() - at < bytes) {
      isPartial = true;
      return std::nullopt;
    }
    at += bytes;
    return text.substr(at - bytes, bytes);
  }
  // Reads a string of at most `maxBytes` bytes.
  std::optional<std::string> string(uint64_t maxBytes) {
    auto length = number<uint64_t>();
    if (length && *length > maxBytes)
      isMalformed = true;
    if (!length || isMalformed)
      return std::nullopt;
    auto bytes = consume(*length);
    return bytes ? std::optional<std::string>(*bytes) : std::nullopt;
  }

  size_t taken() const { return at; }
  bool isPartial = false, isMalformed = false;

private:
  const std::string_view text;
  size_t at = 0;
};
} // namespace braid

StoreClient::StoreClient(Socket socket, const JobToken &token, StoreTable &table, const StoreLimits &limits)
    : socket(std::move(socket)), token(token), table(table), limits(limits), waitsSince(Clock::now()) {}

short StoreClient::events() const { return answer.empty() ? POLLIN : POLLOUT; }

StoreClient::Clock::time_point StoreClient::deadline() const {
  bool owesNothing = state == State::Member && received.empty() && answer.empty();
  return owesNothing ? Clock::time_point::max() : waitsSince + limits.patience;
}

bool StoreClient::serve(short happened) {
  if (happened && !(answer.empty() ? read() : sendAnswer()))
    return false;
  return !isReady() || answerRequests();
}

bool StoreClient::read() {
  char buffer[kMaxBytesPerTurn];
  ssize_t size = recv(socket.get(), buffer, sizeof buffer, MSG_DONTWAIT);
  if (size <= 0)
    return size < 0 && (errno == EAGAIN || errno == EINTR);
  if (received.empty() && !isUnauthenticated())
    waitsSince = Clock::now();
  received.append(buffer, size);
  mayHaveRequest = true;
  return received.size() <= (isUnauthenticated() ? kMaxUnauthenticatedBytes : kMaxRequestBytes + kMaxBytesPerTurn);
}

// Sends as much as the socket accepts.
bool StoreClient::sendAnswer() {
  ssize_t size = send(socket.get(), answer.data() + sent, answer.size() - sent, MSG_NOSIGNAL | MSG_DONTWAIT);
  if (size < 0)
    return errno == EAGAIN || errno == EINTR;
  sent += size;
  if (sent == answer.size()) {
    answer = {}; // releases its memory, too
    sent = 0;
    if (!isUnauthenticated())
      waitsSince = Clock::now();
  }
  return true;
}

// Answers the received requests in order, as long as the socket accepts the answers.
bool StoreClient::answerRequests() {
  size_t taken = 0;
  bool isGood = true;
  for (int i = 0; i < kMaxRequestsPerTurn && isReady() && isGood; ++i) {
    RequestReader request(std::string_view(received).substr(taken));
    isGood = answerOne(request);
    mayHaveRequest = isGood && !request.isPartial;
    if (!mayHaveRequest)
      break;
    taken += request.taken();
    if (!isUnauthenticated())
      waitsSince = Clock::now();
    isGood = answer.empty() || sendAnswer();
    mayHaveRequest = taken < received.size();
  }
  received.erase(0, taken);
  return isGood && (mayHaveRequest || received.size() <= kMaxRequestBytes);
}

bool StoreClient::answerOne(RequestReader &request) {
  bool isGood = isUnauthenticated() ? answerUnauthenticated(request) : answerMember(request);
  return !request.isMalformed && (isGood || request.isPartial);
}

// Answers VALIDATE, then PROVE and the proof.
bool StoreClient::answerUnauthenticated(RequestReader &request) {
  if (state == State::Proving)
    return checkProof(request);
  auto word = request.number<uint8_t>();
  if (state == State::Validated)
    return word == Prove && challenge(request);
  auto number = word == Validate ? request.number<uint32_t>() : std::nullopt;
  if (number != magic)
    return false;
  state = token.isEmpty() ? State::Member : State::Validated;
  return true;
}

bool StoreClient::challenge(RequestReader &request) {
  auto nonce = request.consume(nonceBytes);
  if (!nonce)
    return false;
  clientNonce = *nonce;
  serverNonce = randomBytes(nonceBytes);
  reply(serverNonce + token.mac({"server", clientNonce, serverNonce}));
  state = State::Proving;
  return true;
}

bool StoreClient::checkProof(RequestReader &request) {
  auto proof = request.consume(JobToken::macBytes);
  if (!proof || !token.isMac(*proof, {"client", clientNonce, serverNonce}))
    return false;
  state = State::Member;
  reply(std::string(1, '\0'));
  return true;
}

bool StoreClient::answerMember(RequestReader &request) {
  auto word = request.number<uint8_t>();
  if (word == Set) {
    auto key = request.string(kMaxKeyBytes), value = key ? request.string(longestString) : std::nullopt;
    return value && table.set(*key, std::move(*value));
  }
  if (word == Get) {
    auto key = request.string(kMaxKeyBytes);
    const std::string *value = key ? table.find(*key) : nullptr;
    if (!value)
      return false;
    uint64_t length = value->size();
    reply(std::string(reinterpret_cast<const char *>(&length), sizeof length) + *value);
    return true;
  }
  auto count = word == Check ? request.number<uint64_t>() : std::nullopt;
  if (!count || *count > kMaxKeys)
    return false;
  bool all = true;
  for (uint64_t i = 0; i < *count; ++i) {
    auto key = request.string(kMaxKeyBytes);
    if (!key)
      return false;
    all &= table.find(*key) != nullptr;
  }
  reply(std::string(1, all ? '\0' : '\1'));
  return true;
}

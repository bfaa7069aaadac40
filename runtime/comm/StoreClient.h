//===- StoreClient.h - the server's side of a store client ----------------===//
//
// A client may use a request and an answer of at most 1 MiB each. While an answer is being sent, nothing
// more is read; nothing blocks.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_COMM_STORECLIENT_H
#define BRAID_COMM_STORECLIENT_H

#include "comm/JobToken.h"
#include "comm/Sockets.h"
#include <chrono>
#include <map>
#include <string>

namespace braid {

// Limits for the clients of a store. A rank stores a few keys, and an address of about 140 bytes for each
// other rank.
struct StoreLimits {
  size_t clients = 8192;           // connections in all
  size_t maxUnauthenticated = 128; // connections without a proof of the token; a new one replaces the oldest
  size_t keys = 1 << 17;           // in total
  size_t bytes = size_t{1} << 28;  // of keys and values, in total
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

class RequestReader;

class StoreClient {
public:
  using Clock = std::chrono::steady_clock;

  // Without a token, as in a launcher's store, a client proves nothing.
  StoreClient(Socket socket, const JobToken &token, StoreTable &table, const StoreLimits &limits);

  int socketNumber() const { return socket.get(); }
  bool isUnauthenticated() const { return state != State::Member; }
  // Events to poll for. If `isReady`, the client has work without an event.
  short events() const;
  bool isReady() const { return mayHaveRequest && answer.empty(); }
  // When the client's time to act runs out; the maximum if the server waits for nothing.
  Clock::time_point deadline() const;

  // Call after an event, or if ready. Returns false at the end of the connection: the client has
  // disconnected, sent an invalid request or exceeded a limit.
  bool serve(short happened);

private:
  enum class State { New, Validated, Proving, Member };

  bool read();
  bool sendAnswer();
  bool answerRequests();
  // Answers the first request if it is complete; returns false if it is invalid.
  bool answerOne(RequestReader &request);
  bool answerUnauthenticated(RequestReader &request);
  bool answerMember(RequestReader &request);
  bool challenge(RequestReader &request);
  bool checkProof(RequestReader &request);
  // Appends text to the answer.
  void reply(std::string text) { answer += text; }

  const Socket socket;
  const JobToken &token;
  StoreTable &table;
  const StoreLimits &limits;
  State state = State::New;
  std::string clientNonce, serverNonce;
  std::string received;         // not yet answered
  std::string answer;           // not yet sent completely
  size_t sent = 0;              // bytes of the answer
  bool mayHaveRequest = false;  // `received` may begin with a complete request
  Clock::time_point waitsSince; // since when the server waits for the client
};

} // namespace braid
#endif // BRAID_COMM_STORECLIENT_H

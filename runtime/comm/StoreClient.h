//===- StoreClient.h - a client, as the server of a store sees it ---------===//
//
// What one client may cost: a request and an answer of at most 1 MiB each.  While an answer
// is on its way nothing more is read; nothing blocks.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_COMM_STORECLIENT_H
#define BRAID_COMM_STORECLIENT_H

#include "comm/JobToken.h"
#include "comm/Sockets.h"
#include "comm/StoreTable.h"

namespace braid {

class RequestReader;

class StoreClient {
public:
  using Clock = std::chrono::steady_clock;

  // Without a token, as in a launcher's store, there is nothing to prove.
  StoreClient(Socket socket, const JobToken &token, StoreTable &table, const StoreLimits &limits);

  int socketNumber() const { return socket.get(); }
  bool isStranger() const { return state != State::Member; }
  // What to poll for; with `isReady` it has something to do without an event.
  short events() const;
  bool isReady() const { return mayHaveRequest && answer.empty(); }
  // When patience ends; the end of time while it owes nothing.
  Clock::time_point deadline() const;

  // After an event, or when it is ready.  False at the end of the connection: then the
  // client has gone, or has talked nonsense, or takes up too much.
  bool serve(short happened);

private:
  enum class State { New, Validated, Proving, Member };

  bool read();
  bool sendAnswer();
  bool answerRequests();
  // Answers the request in front, if it is there as a whole; false for nonsense.
  bool answerOne(RequestReader &request);
  bool answerStranger(RequestReader &request);
  bool answerMember(RequestReader &request);
  bool challenge(RequestReader &request);
  bool checkProof(RequestReader &request);
  // A string that is answered, of the given pieces.
  void reply(std::string text) { answer += text; }

  const Socket socket;
  const JobToken &token;
  StoreTable &table;
  const StoreLimits &limits;
  State state = State::New;
  std::string clientNonce, serverNonce;
  std::string received;        // and not yet answered
  std::string answer;          // what is still to be sent
  size_t sent = 0;             // of the answer
  bool mayHaveRequest = false; // `received` may begin with a whole one
  Clock::time_point owes;      // since when it owes something
};

} // namespace braid
#endif // BRAID_COMM_STORECLIENT_H

//===- Ranks.cpp - many ranks in one process ------------------------------===//

#include "lib/Reference/Ranks.h"

using namespace mlir;
using namespace braid;
using namespace braid::reference;

//===----------------------------------------------------------------------===//
// Queues
//===----------------------------------------------------------------------===//

std::shared_ptr<Request> braid::reference::copyRequest(Operation *op, SmallVector<Tensor> tensors) {
  auto request = std::make_shared<Request>();
  request->op = op;
  request->number = 0;
  request->received = std::move(tensors);
  request->done = true;
  return request;
}

Network::Network(const comm::Mesh &mesh, FlatSymbolRefAttr name, Arithmetic arithmetic)
    : mesh(mesh), name(name), arithmetic(arithmetic), queues(mesh.getNumRanks()) {}

FailureOr<std::shared_ptr<Request>> Network::start(int64_t rank, comm::CollectiveOpInterface op,
                                                   SmallVector<Tensor> sent) {
  if (op.getMeshAttr() != name)
    return op->emitError() << "runs over the mesh " << op.getMeshAttr() << " but the program over " << name;
  Queue &queue = queues[rank];
  auto request = std::make_shared<Request>();
  request->op = op;
  request->number = queue.started++;
  request->sent = std::move(sent);
  queue.requests.push_back(request);
  return request;
}

Request *Network::head(int64_t rank) const {
  const auto &requests = queues[rank].requests;
  return requests.empty() ? nullptr : requests.front().get();
}

/// Returns the peer of a send or recv.
static std::optional<int64_t> peerOf(Operation *op) { return cast<comm::CollectiveOpInterface>(op).getPeerRank(); }

/// Returns whether a transfer is the sending side.
static bool isSender(Operation *op) {
  return cast<comm::CollectiveOpInterface>(op).getRow().sent.participants != Participants::Nobody;
}

static comm::AxesAttr axesOf(Operation *op) { return cast<comm::CollectiveOpInterface>(op).getAxes(); }

/// Returns the ranks that take part in a collective of `rank`, in member order: the
/// group, or sender and receiver.
SmallVector<int64_t> Network::ranksOf(int64_t rank, Operation *op) const {
  SmallVector<int64_t> group = mesh.groupOf(rank, axesOf(op));
  std::optional<int64_t> peer = peerOf(op);
  if (!peer)
    return group;
  if (isSender(op))
    return {rank, group[*peer]};
  return {group[*peer], rank};
}

/// Returns whether the queue heads of two ranks are the same collective.
bool Network::match(int64_t rank, int64_t other) const {
  const Request *a = head(rank), *b = head(other);
  if (!a || !b || axesOf(a->op) != axesOf(b->op))
    return false;
  if (rank == other || !peerOf(a->op))
    return a->op->getName() == b->op->getName();
  // A send and a recv must each name the other rank.
  return peerOf(b->op) && isSender(a->op) != isSender(b->op) && ranksOf(rank, a->op) == ranksOf(other, b->op);
}

/// Returns the first rank for which the queue head of `rank` waits.
std::optional<int64_t> Network::missing(int64_t rank) const {
  for (int64_t other : ranksOf(rank, head(rank)->op))
    if (!match(rank, other))
      return other;
  return std::nullopt;
}

LogicalResult Network::executeCollective(int64_t rank) {
  SmallVector<Member> members;
  SmallVector<int64_t> ranks = ranksOf(rank, head(rank)->op);
  for (int64_t other : ranks)
    members.push_back({other, head(other)->op, head(other)->sent});
  if (failed(checkAgreement(members)))
    return failure();
  Received received = communicate(members, arithmetic);
  for (auto [other, tensors] : llvm::zip_equal(ranks, received)) {
    Request &request = *queues[other].requests.front();
    request.received = std::move(tensors);
    request.done = true;
    queues[other].requests.pop_front();
  }
  return success();
}

FailureOr<int64_t> Network::deliver() {
  int64_t delivered = 0;
  for (int64_t rank = 0; rank < static_cast<int64_t>(queues.size()); ++rank)
    for (; head(rank) && !missing(rank); ++delivered)
      if (failed(executeCollective(rank)))
        return failure();
  return delivered;
}

//===----------------------------------------------------------------------===//
// Deadlock
//===----------------------------------------------------------------------===//

/// Returns `all_reduce #7`; with its axes if both ranks are at ops of that name.
static std::string nameOf(const Request &request, bool withAxes) {
  std::string text = cast<exec::ActionOpInterface>(request.op).getActionName() + " #" + std::to_string(request.number);
  return withAxes ? text + " over " + axesOf(request.op).str() : text;
}

/// Returns `rank 2 waits for all_reduce #7 while rank 0 is at barrier #3`.
std::string Network::describe(int64_t rank, int64_t other) const {
  const Request *mine = head(rank), *theirs = head(other);
  bool sameName = theirs && mine->op->getName() == theirs->op->getName();
  std::string text =
      "rank " + std::to_string(rank) + " waits for " + nameOf(*mine, sameName) + " while rank " + std::to_string(other);
  return theirs ? text + " is at " + nameOf(*theirs, sameName) : text + " has finished";
}

/// Follows the waiting ranks from the first one, to a rank that has finished or around a cycle, and reports this.
LogicalResult Network::reportDeadlock() const {
  SmallVector<int64_t> chain;
  int64_t rank = 0;
  while (!head(rank))
    ++rank;
  while (head(rank) && !llvm::is_contained(chain, rank)) {
    chain.push_back(rank);
    rank = *missing(rank);
  }
  bool isCycle = head(rank);
  ArrayRef<int64_t> reported = chain;
  reported = isCycle ? reported.drop_front(llvm::find(chain, rank) - chain.begin()) : reported.take_back(1);
  InFlightDiagnostic error = head(reported.front())->op->emitError()
                             << describe(reported.front(), *missing(reported.front()));
  for (int64_t other : reported.drop_front())
    error.attachNote(head(other)->op->getLoc()) << describe(other, *missing(other));
  return error;
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

LogicalResult braid::reference::runRanks(ArrayRef<std::unique_ptr<Process>> ranks, Network &network) {
  std::vector<bool> ended;
  for (const std::unique_ptr<Process> &rank : ranks)
    ended.push_back(!rank); // true for ranks that run nothing
  while (true) {
    for (size_t rank = 0; rank < ranks.size(); ++rank) {
      if (ended[rank])
        continue;
      FailureOr<bool> end = ranks[rank]->advance();
      if (failed(end))
        return failure();
      ended[rank] = *end;
    }
    FailureOr<int64_t> delivered = network.deliver();
    if (failed(delivered))
      return failure();
    if (*delivered > 0)
      continue;
    return llvm::all_of(ended, [](bool end) { return end; }) ? success() : network.reportDeadlock();
  }
}

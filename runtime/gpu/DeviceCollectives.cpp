//===- DeviceCollectives.cpp - choice of the transport between GPUs -------===//
//
// Every rank shares its facts, and all ranks draw the same conclusion from the same blobs: the
// vendor's library starts on all of them or on none.
//
//===----------------------------------------------------------------------===//

#include "gpu/DeviceCollectives.h"

#include "base/Error.h"
#include "base/Hash.h"
#include "comm/Bootstrap.h"
#include "core/Mesh.h"
#include "gpu/CollectiveLibrary.h"
#include "gpu/Device.h"
#include "gpu/StagedCollectives.h"
#include "gpu/Vendor.h"

#include <map>

using namespace braid;

static std::optional<CollectiveLibrary> &library() {
  static std::optional<CollectiveLibrary> registered;
  return registered;
}

void braid::registerCollectives(const CollectiveLibrary &linked) { library() = linked; }

//===----------------------------------------------------------------------===//
// Failures
//===----------------------------------------------------------------------===//

void DeviceCollectives::noteFailure(const std::string &reason) {
  {
    std::lock_guard lock(mutex);
    if (failed)
      return;
    failure = reason;
    failed = true;
  }
  if (place.failed)
    place.failed(reason);
}

br_status DeviceCollectives::note(const GpuStatus &status) {
  if (!status.isGood())
    noteFailure(concat(status.call, " failed: ", status.describe()));
  return hasFailed() ? BR_ERROR : BR_OK;
}

const char *DeviceCollectives::error() const {
  std::lock_guard lock(mutex);
  return failure.c_str();
}

br_status DeviceCollectives::synchronize(const GpuEvent &end) { return note(end.synchronize()); }

//===----------------------------------------------------------------------===//
// Facts that ranks share
//===----------------------------------------------------------------------===//

namespace {
struct Facts {
  std::string device; // equal only for the same device
  std::string busId;  // for messages
  bool hasLibrary;
  std::string tables; // equal only for equal collectives
  bool graphs;        // whether collectives are captured in graphs

  std::string text() const {
    return concat(device, "\n", busId, "\n", hasLibrary ? vendor.transport : "", "\n", tables, "\n",
                  graphs ? "graphs" : "");
  }
  static Facts parse(const std::string &text);
};
} // namespace

Facts Facts::parse(const std::string &text) {
  std::vector<std::string> lines = {""};
  for (char c : text) {
    if (c == '\n')
      lines.emplace_back();
    else
      lines.back() += c;
  }
  lines.resize(5);
  return {lines[0], lines[1], !lines[2].empty(), lines[3], !lines[4].empty()};
}

// Hashes the collectives of a program that is the same for all ranks; for other programs, only the
// model's name and graph hash.
static std::string describeTables(const br_model &model) {
  std::string text = concat(model.name, " ", model.graph_hash);
  for (int32_t i = 0; isOfAllRanks(model) && i < model.n_collectives; ++i) {
    const br_collective_desc &d = model.collectives[i];
    text += concat(" ", static_cast<int>(d.kind), ".", static_cast<int>(d.reduction), ".", static_cast<int>(d.dtype),
                   ".", d.group, ".", d.root);
    for (int32_t s = 0; s < d.n_segments; ++s)
      text += concat(":", d.segments[s].count, "@", d.segments[s].send, ">", d.segments[s].recv);
  }
  return std::to_string(hashOf(text));
}

bool braid::wantsGraphs(const Rank &rank) {
  return rank.graphs.value_or(!rank.bootstrap || !rank.bootstrap->isOneProcess());
}

static Facts factsOf(const br_model &model, const Rank &rank, int device) {
  const DeviceIdentity identity = identifyDevice(device);
  return {identity.unique, identity.bus, library().has_value(), describeTables(model), wantsGraphs(rank)};
}

// Throws unless all ranks use graphs, or none does; called for ranks on which the library can start.
static void checkGraphs(const std::vector<Facts> &ranks) {
  for (size_t rank = 1; rank < ranks.size(); ++rank)
    if (ranks[rank].graphs != ranks[0].graphs)
      fail("rank ", ranks[0].graphs ? 0 : rank, " captures its programs in ", vendor.runtime, " graphs, but rank ",
           ranks[0].graphs ? rank : 0, " launches them; ", vendor.collectives,
           " needs the same on all ranks: start them with the same --cuda-graph, --profile and --trace");
}

// Returns why the library cannot start on these ranks, the same on all of them; "" if it can.
static std::string findObstacle(const std::vector<Facts> &ranks) {
  std::map<std::string, size_t> users;
  for (size_t rank = 0; rank < ranks.size(); ++rank) {
    if (ranks[rank].tables != ranks[0].tables)
      fail("rank ", rank, " runs a different program from rank 0; start all ranks with the same binary");
    if (!ranks[rank].hasLibrary)
      return concat("the program of rank ", rank,
                    " was linked without it; compile with --transports=", vendor.transport);
    auto [other, isNew] = users.emplace(ranks[rank].device, rank);
    if (!isNew)
      return concat("ranks ", other->second, " and ", rank, " use the same GPU (", ranks[rank].busId,
                    "), which it refuses; give each a GPU of its own, or run all ranks in one process with "
                    "--transport=device-threads");
  }
  return "";
}

//===----------------------------------------------------------------------===//
// Starting the library
//===----------------------------------------------------------------------===//

// Calls f on this rank; returns the first problem of any rank, in rank order.  A rank's own problem
// ("-") comes before one that another rank has caused ("=").
template <class F> static std::string problemOfAny(Bootstrap &bootstrap, std::vector<std::string> &blobs, const F &f) {
  std::string blob;
  try {
    blob = "+" + f();
  } catch (const RankError &error) {
    blob = concat("=", error.what());
  } catch (const Error &error) {
    blob = concat("-", error.what());
    bootstrap.publishNotice("start", error.what()); // the other ranks wait for this one inside the library
  }
  blobs = bootstrap.allGatherBlobs(blob);
  for (char mark : {'-', '='})
    for (size_t rank = 0; rank < blobs.size(); ++rank)
      if (blobs[rank][0] == mark)
        return concat("rank ", rank, ": ", blobs[rank].substr(1));
  return "";
}

// Returns null and sets `problem` if the library cannot start on every rank.
static std::unique_ptr<DeviceCollectives> startLibrary(const br_model &model, const Rank &rank,
                                                       const DevicePlace &place, std::string &problem) {
  Bootstrap &bootstrap = *rank.bootstrap;
  std::vector<Facts> facts;
  for (const std::string &blob : bootstrap.allGatherBlobs(factsOf(model, rank, place.device).text()))
    facts.push_back(Facts::parse(blob));
  problem = findObstacle(facts);
  if (!problem.empty())
    return nullptr;
  checkGraphs(facts);
  std::vector<std::string> blobs;
  problem = problemOfAny(bootstrap, blobs, [&] { return rank.isFirst() ? library()->makeId() : ""; });
  if (!problem.empty())
    return nullptr;
  std::string id = blobs[0].substr(1);
  std::unique_ptr<StreamCollectives> made;
  problem = problemOfAny(bootstrap, blobs, [&] {
    made = library()->make(model, rank, place, id);
    return std::string(made->hasRegistered() ? "registered" : "");
  });
  if (!problem.empty())
    return nullptr;
  for (const std::string &blob : blobs)
    if (blob != "+registered")
      made->unregister(); // all ranks register, or none
  made->begin();
  return made;
}

const DeviceAllocator &braid::arenaAllocator(const br_model &model, const Rank &rank) {
  const bool mayUseLibrary = model.n_collectives > 0 && rank.bootstrap && library() &&
                             (rank.bootstrap->wanted() == "auto" || rank.bootstrap->wanted() == vendor.transport);
  return mayUseLibrary ? library()->allocator : usualAllocator;
}

std::unique_ptr<DeviceCollectives> braid::makeDeviceCollectives(const br_model &model, const Rank &rank,
                                                                const DevicePlace &place) {
  if (!rank.bootstrap)
    return std::make_unique<StreamCollectives>(model, rank, place);
  Bootstrap &bootstrap = *rank.bootstrap;
  auto queue = std::make_shared<StagingQueue>(place.device);
  bootstrap.wrapWith([queue](const TransportFactory &inner) { return stagedTransport(inner, queue); });
  const std::string name = bootstrap.host() == "threads" ? "device-threads" : bootstrap.host();
  std::vector<std::string> warnings;
  const bool isAuto = bootstrap.wanted() == "auto";
  if (isAuto || bootstrap.wanted() == vendor.transport) {
    std::string problem;
    if (std::unique_ptr<DeviceCollectives> started = startLibrary(model, rank, place, problem)) {
      bootstrap.setTransport(started->name());
      return started;
    }
    if (!isAuto)
      fail("--transport=", vendor.transport, " cannot start: ", problem);
    if (bootstrap.host().empty())
      fail(vendor.transport, " cannot start: ", problem, "; this program has neither gloo nor mpi to use instead");
    warnings.push_back(concat(vendor.transport, " cannot start: ", problem,
                              "; collectives go through the host's memory (", name, "), which is much slower"));
  }
  bootstrap.setTransport(name);
  return std::make_unique<StagedCollectives>(model, rank, place, bootstrap.comm(), queue, name, warnings);
}

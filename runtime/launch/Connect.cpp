//===- Connect.cpp - connect a rank of this process to the others ---------===//

#include "launch/Connect.h"

#include "base/Error.h"
#include "comm/Communicator.h"
#include "core/Context.h"
#include "host/Threads.h"

using namespace braid;

Placement braid::placeHere(const RankPlan &plan, const RankOptions &options, int index) {
  HostShare share = plan.share;
  share.rank += index;
  Placement placement = placeRank(options.threads, options.pin, share);
  requireThreads(placement.threads);
  return placement;
}

Joining braid::joiningOf(const RankPlan &plan, const RankOptions &options, int index) {
  return {plan.first + index, plan.size, options.timeout, plan.rendezvous, plan.job, plan.token, plan.isOneHost};
}

BootstrapOptions braid::bootstrapOptionsOf(const br_model &model, const RankPlan &plan, const RankOptions &options,
                                           int index) {
  BootstrapOptions bootstrap;
  bootstrap.wanted = plan.transport;
  bootstrap.host = isForDevice(model) ? plan.host : plan.transport;
  bootstrap.wraps = isForDevice(model);
  bootstrap.joining = joiningOf(plan, options, index);
  return bootstrap;
}

static void setOptions(Rank &rank, const RankOptions &options) {
  rank.device = options.device;
  rank.graphs = options.isMeasured() ? false : options.graphs;
  rank.programmaticLaunch = options.programmaticLaunch;
  rank.matmulSearch = options.matmulSearch;
  rank.matmulPlan = options.matmulPlan;
  rank.profile = options.profile;
  rank.trace = options.trace;
  rank.traceSteps = options.traceSteps;
}

Rank braid::connect(const br_model &model, Bootstrap &bootstrap, const RankPlan &plan, const RankOptions &options,
                    int index, const Placement &placement) {
  // Binds to all cores first, for the communication thread, then binds each thread to one core.
  enterCores(placement);
  Rank rank;
  rank.number = plan.first + index;
  rank.size = plan.size;
  rank.transport = plan.transport.c_str();
  rank.local = plan.share.rank + index;
  setOptions(rank, options);
  if (isForDevice(model)) {
    rank.bootstrap = &bootstrap;
    rank.sharesDevice = plan.transport == "device-threads";
  } else {
    rank.comm = &bootstrap.comm();
    rank.number = rank.comm->rank(); // PMIx gives no number before
    rank.size = rank.comm->size();
  }
  pinPool(placement);
  return rank;
}

Rank braid::singleRank(const RankPlan &plan, const RankOptions &options) {
  Rank rank;
  rank.local = plan.local;
  setOptions(rank, options);
  return rank;
}

void braid::tellOthers(const br_model &model, Bootstrap &bootstrap, const Rank &rank,
                       const std::exception &error) noexcept {
  if (isForDevice(model)) {
    bootstrap.publishNotice("failure", error.what());
    bootstrap.abandon();
  } else if (!dynamic_cast<const RankError *>(&error)) { // the other ranks know already
    rank.comm->endWith(error.what());
  }
}

//===- Ranks.cpp - running a command on the ranks of this process ---------===//

#include "core/Ranks.h"

#include "comm/Communicator.h"
#include "comm/Store.h"
#include "comm/ThreadsTransport.h"
#include "comm/TransportRegistry.h"
#include "core/Error.h"
#include "core/Mesh.h"

#include <exception>
#include <mutex>
#include <thread>
#include <vector>

using namespace braid;

//===----------------------------------------------------------------------===//
// The plan
//===----------------------------------------------------------------------===//

// "4 ranks (dp=2,tp=2)".
static std::string meshText(const br_model &model) {
  std::string text = concat(worldSize(model), worldSize(model) == 1 ? " rank" : " ranks");
  for (int32_t i = 0; i < model.n_axes; ++i)
    text += concat(i ? "," : " (", model.mesh[i].name, "=", model.mesh[i].size);
  return model.n_axes ? text + ")" : text;
}

[[noreturn]] static void failForSize(const br_model &model, const std::string &started) {
  int wanted = worldSize(model);
  fail("model '", model.name, "' was compiled for ", meshText(model), ", but ", started, "; start ", wanted,
       ", or compile with another --mesh");
}

// Ranks that are threads: as many as the mesh has.
static RankPlan planThreads(const br_model &model, const RankOptions &options, const Launch &launch) {
  RankPlan plan;
  plan.size = plan.here = worldSize(model);
  plan.share.ranks = plan.size;
  plan.transport = plan.size > 1 ? "threads" : "";
  if (options.ranks && *options.ranks != plan.size)
    failForSize(model, concat("--ranks is ", *options.ranks));
  if (options.link && plan.size == 1)
    fail("--link makes ranks of one process as slow as a link, and model '", model.name, "' was compiled for ",
         meshText(model), ", which talks to nobody; leave it out, or compile with --mesh");
  // In a job script of Slurm the variables speak of tasks that are still to come.
  if (launch.size > 1 && launch.launcher != Launcher::Slurm)
    fail(nameOf(launch.launcher), " started ", launch.size, " processes, each of which would run all ",
         plan.size, " ranks as threads; start one, or leave out --ranks and --transport=threads");
  return plan;
}

static RankPlan planProcess(const br_model &model, const RankOptions &options, const Launch &launch,
                            const std::string &transport) {
  RankPlan plan;
  plan.size = worldSize(model);
  if (launch.launcher == Launcher::None)
    fail("--transport=", transport, " takes ranks that are processes, but nobody has started several: use mpirun, "
         "torchrun or srun, or set RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT");
  if (launch.size > 0 && launch.size != plan.size)
    failForSize(model, concat(nameOf(launch.launcher), " started ", launch.size));
  if (plan.size == 1)
    return plan;
  if (!findTransport(transport)) {
    std::string others = registeredTransports();
    fail("this binary cannot run over ", transport, ": it has threads", others.empty() ? "" : ", ", others,
         "; compile it with --transports=", transport, ", or choose by --transport");
  }
  plan.first = launch.rank;
  plan.share = {launch.localRank, launch.localSize, launch.isBound};
  plan.transport = transport;
  plan.rendezvous = options.rendezvous.empty() ? launch.rendezvous : options.rendezvous;
  plan.job = launch.job;
  if (transport == "gloo" && launch.size == 0)
    fail("PMIx does not say how many ranks there are, which gloo must know; use --transport=mpi");
  if (transport == "gloo" && plan.rendezvous.empty())
    fail("gloo needs a place where ranks find each other: set MASTER_ADDR and MASTER_PORT to a host and a free port of "
         "rank 0, or give --rendezvous=file:///FOLDER, a new folder that all ranks see");
  if (transport == "gloo")
    parseStoreAddress(plan.rendezvous); // refuses what is none, before anyone waits there
  return plan;
}

RankPlan braid::planRanks(const br_model &model, const RankOptions &options, const Launch &launch) {
  std::string transport = options.transport;
  if (options.ranks && !transport.empty() && transport != "threads")
    fail("--ranks starts ranks as threads of this process, which do not run over ", transport,
         "; leave out one of --ranks and --transport");
  if (transport.empty())
    transport = options.ranks ? "threads" : defaultTransport(launch.launcher);
  if (options.link && transport != "threads")
    fail("--link makes ranks of one process as slow as a link; over ", transport, " there is a real one");
  if (!options.rendezvous.empty() && transport != "gloo")
    fail("--rendezvous=", options.rendezvous, " is where gloo's ranks find each other; over ", transport,
         " they need no place: leave it out, or choose --transport=gloo");
  return transport == "threads" ? planThreads(model, options, launch)
                                : planProcess(model, options, launch, transport);
}

//===----------------------------------------------------------------------===//
// The run
//===----------------------------------------------------------------------===//

namespace {

int runRank(const TransportFactory &factory, const br_model &model, const RankPlan &plan, const RankOptions &options,
            int here, const RankCommand &command) {
  HostShare share = plan.share;
  share.rank += here;
  Placement placement = placeRank(options.threads, options.pin, share);
  // First all cores, which the communication thread gets, then one for each thread.
  enterCores(placement);
  br_comm comm(factory, options.timeout);
  if (comm.size() != worldSize(model))
    failForSize(model, concat("there are ", comm.size(), " processes"));
  pinPool(placement);
  return command({comm.rank(), comm.size(), &comm, plan.transport.c_str()}, placement.threads);
}

// The first error of any rank is the reason for all others.  One that is about
// another rank gives way to that rank's own.
class FirstError {
public:
  void note(std::exception_ptr next) {
    std::lock_guard lock(mutex);
    if (!error || (isAboutAnother(error) && !isAboutAnother(next)))
      error = next;
  }
  void rethrow() const {
    if (error)
      std::rethrow_exception(error);
  }

private:
  static bool isAboutAnother(const std::exception_ptr &error) {
    try {
      std::rethrow_exception(error);
    } catch (const RankError &) {
      return true;
    } catch (...) {
      return false;
    }
  }

  std::mutex mutex;
  std::exception_ptr error;
};

int runThreads(const br_model &model, const RankPlan &plan, const RankOptions &options, const RankCommand &command) {
  auto hub = std::make_shared<ThreadsHub>(plan.here);
  FirstError first;
  std::vector<int> statuses(plan.here, 1);
  std::vector<std::thread> threads;
  auto run = [&](int rank) {
    try {
      // Noted before the communicator goes, which is how others learn of it.
      auto noted = [&](const Rank &r, int count) {
        try {
          return command(r, count);
        } catch (...) {
          first.note(std::current_exception());
          throw;
        }
      };
      TransportFactory factory = threadsTransport(hub, rank, options.link.value_or(LinkModel()));
      statuses[rank] = runRank(factory, model, plan, options, rank, noted);
    } catch (const std::exception &error) {
      first.note(std::current_exception());
      hub->fail(error.what());
    }
  };
  for (int rank = 0; rank < plan.here; ++rank)
    threads.emplace_back(run, rank);
  for (std::thread &thread : threads)
    thread.join();
  first.rethrow();
  return statuses[0];
}

// Several processes print what they have to say on one terminal.
int runProcess(const br_model &model, const RankPlan &plan, const RankOptions &options, const RankCommand &command) {
  Joining joining{plan.first, plan.size, options.timeout, plan.rendezvous, plan.job};
  auto named = [&](const Rank &rank, int threads) {
    try {
      return command(rank, threads);
    } catch (const RankError &) {
      throw;
    } catch (const Error &error) {
      fail("rank ", rank.number, ": ", error.what());
    }
  };
  return runRank(findTransport(plan.transport)(joining), model, plan, options, 0, named);
}

} // namespace

int braid::runRanks(const br_model &model, const RankPlan &plan, const RankOptions &options,
                    const RankCommand &command) {
  if (plan.transport == "threads")
    return runThreads(model, plan, options, command);
  if (!plan.transport.empty())
    return runProcess(model, plan, options, command);
  Placement placement = placeRank(options.threads, options.pin, plan.share);
  pinPool(placement);
  return command({}, placement.threads);
}

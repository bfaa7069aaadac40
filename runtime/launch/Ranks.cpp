//===- Ranks.cpp - run a command on this process's ranks ------------------===//

#include "launch/Ranks.h"

#include "base/Error.h"
#include "base/File.h"
#include "comm/Bootstrap.h"
#include "comm/Store.h"
#include "comm/ThreadsTransport.h"
#include "comm/TransportRegistry.h"
#include "comm/shm/SharedTransport.h"
#include "core/Context.h"
#include "core/Mesh.h"
#include "core/ProgramHash.h"
#include "launch/Connect.h"

#include <algorithm>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

using namespace braid;

//===----------------------------------------------------------------------===//
// The plan
//===----------------------------------------------------------------------===//

// Returns a text such as "4 ranks (dp=2,tp=2)".
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

// Plans ranks as threads of this process: as many as the mesh has.
static RankPlan planThreads(const br_model &model, const RankOptions &options, const Launch &launch,
                            const std::string &transport) {
  RankPlan plan;
  plan.size = plan.ranksHere = worldSize(model);
  plan.share.ranks = plan.size;
  plan.transport = plan.size > 1 ? transport : "";
  plan.host = isForDevice(model) ? "threads" : "";
  if (options.ranks && *options.ranks != plan.size)
    failForSize(model, concat("--ranks is ", *options.ranks));
  if (options.link && plan.size == 1)
    fail("--link slows ranks of one process down to a link, but model '", model.name, "' was compiled for ",
         meshText(model), ", which does not communicate; leave it out, or compile with --mesh");
  // In a Slurm job script, the variables describe tasks that are not started yet.
  if (launch.size > 1 && launch.launcher != Launcher::Slurm)
    fail(nameOf(launch.launcher), " started ", launch.size, " processes, each of which would run all ", plan.size,
         " ranks as threads; start one, or leave out --ranks and --transport=", transport);
  return plan;
}

[[noreturn]] static void failForTransport(const std::string &transport) {
  std::string others = registeredTransports();
  fail("this binary cannot run over ", transport, ": it has threads", others.empty() ? "" : ", ", others,
       "; compile it with --transports=", transport, ", or choose by --transport");
}

// Returns the transport for host memory between processes whose devices use NCCL, or will use it if it can
// start; empty if there is none.
static std::string hostTransport(const Launch &launch, const RankPlan &plan) {
  std::string fitting = defaultTransport(launch);
  if (fitting == "mpi" && findTransport("mpi"))
    return "mpi";
  bool canGloo = launch.size > 0 && !plan.rendezvous.empty() && findTransport("gloo");
  return canGloo ? "gloo" : "";
}

// Processes whose devices use NCCL rendezvous through the store or through MPI.
static void planRendezvous(RankPlan &plan, const Launch &launch, const std::string &transport) {
  plan.host = hostTransport(launch, plan);
  if (plan.rendezvous.empty() && plan.host != "mpi")
    fail("--transport=", transport,
         " needs a rendezvous: set MASTER_ADDR and MASTER_PORT to a host and a free port of rank 0, or give "
         "--rendezvous=file:///FOLDER, a folder that all ranks see");
}

// Returns the first line of the file. Any user who can read the file can act as a rank, and any user who
// can write it can choose the token.
static std::string readToken(const std::string &path) {
  constexpr uint64_t maxBytes = 4096;
  constexpr const char *remedy = "; name a file with a secret in its first line";
  std::optional<File> file;
  try {
    file.emplace(File::openForReading(path));
  } catch (const Error &error) {
    fail("--token-file=", path, ": cannot read a job token: ", error.what(), remedy);
  }
  if (const std::string others = file->accessOfOthers(); !others.empty())
    fail("--token-file=", path, ": other users can ", others, " the token; restrict the file to its owner: chmod 600 '",
         path, "'");
  std::string token(std::min(file->size(), maxBytes), '\0');
  file->readAt(0, token.data(), token.size());
  token = token.substr(0, token.find('\n'));
  if (token.empty())
    fail("--token-file=", path, ": cannot read a job token: its first line is empty", remedy);
  return token;
}

static RankPlan planProcess(const br_model &model, const RankOptions &options, const Launch &launch,
                            const std::string &transport) {
  RankPlan plan;
  plan.size = worldSize(model);
  if (launch.launcher == Launcher::None)
    fail("--transport=", transport,
         " needs one process per rank, but no launcher was found: use mpirun, torchrun or srun, or set RANK, "
         "WORLD_SIZE, MASTER_ADDR and MASTER_PORT");
  if (launch.size > 0 && launch.size != plan.size)
    failForSize(model, concat(nameOf(launch.launcher), " started ", launch.size));
  if (plan.size == 1)
    return plan;
  const bool needsRendezvous = transport == "auto" || transport == "nccl";
  if (!needsRendezvous && !findTransport(transport))
    failForTransport(transport);
  plan.first = launch.rank;
  plan.share = {launch.localRank, launch.localSize, launch.isBound};
  plan.transport = transport;
  plan.rendezvous = options.rendezvous.empty() ? launch.rendezvous : options.rendezvous;
  plan.job = launch.job;
  plan.token = options.tokenFile.empty() ? launch.token : readToken(options.tokenFile);
  plan.isOneHost = launch.isOneHost();
  const bool usesStore = transport == "gloo" || transport == "shm";
  if (usesStore && launch.size == 0)
    fail("PMIx does not give the number of ranks, which ", transport, " needs; use --transport=mpi");
  if (usesStore && plan.rendezvous.empty())
    fail("--transport=", transport,
         " needs a rendezvous: set MASTER_ADDR and MASTER_PORT to a host and a free port of rank 0, or give "
         "--rendezvous=file:///FOLDER, a folder that all ranks see");
  if (transport != "mpi" && !plan.rendezvous.empty())
    checkRendezvous(joiningOf(plan, options)); // before any rank waits there
  if (needsRendezvous)
    planRendezvous(plan, launch, transport);
  else if (isForDevice(model))
    plan.host = transport;
  return plan;
}

// Returns the chosen transport, after checking that programs for this target have it.
static std::string transportFor(const br_model &model, const RankOptions &options, const Launch &launch) {
  const std::string &named = options.transport;
  const bool isOfProcesses = named == "shm" || named == "gloo" || named == "mpi";
  if (named.empty() || named == "auto") {
    if (isForDevice(model))
      return "auto";
    return options.ranks ? "threads" : defaultTransport(launch);
  }
  if (options.ranks && isOfProcesses)
    fail("--ranks starts ranks as threads of this process, which cannot use transport ", named,
         "; leave out one of --ranks and --transport");
  return named;
}

// Whether this process runs all ranks.
static bool runsAllRanks(const std::string &transport, const RankOptions &options, const Launch &launch) {
  if (transport == "threads" || transport == "device-threads" || options.ranks)
    return true;
  return (transport == "auto" || transport == "nccl") && launch.launcher == Launcher::None;
}

RankPlan braid::planRanks(const br_model &model, const RankOptions &options, const Launch &launch) {
  registerTransport("shm", sharedTransport); // needs no library, so every program has it
  std::string transport = transportFor(model, options, launch);
  const bool runsAll = runsAllRanks(transport, options, launch);
  if (options.link && !runsAll)
    fail("--link slows ranks of one process down to a link, but transport ", transport,
         " uses a real link; leave it out");
  if (options.isMeasured() && options.graphs.value_or(false))
    fail(options.profile ? "--profile" : "--trace",
         " measures single actions, but --cuda-graph=on runs a step as one unit; leave one of them out");
  if (options.device >= 0 && runsAll && worldSize(model) > 1 && transport != "device-threads")
    fail("--device=", options.device, " is one GPU, but all ", worldSize(model), " ranks of this process run over ",
         transport, ", each on a GPU of its own; leave it out, or choose --transport=device-threads");
  const std::string given = !options.rendezvous.empty()  ? "--rendezvous=" + options.rendezvous
                            : !options.tokenFile.empty() ? "--token-file=" + options.tokenFile
                                                         : "";
  if (!given.empty() && (runsAll || transport == "mpi"))
    fail(given, " is for ranks of shm, gloo and nccl; transport ", transport,
         " does not use it: leave it out, or choose --transport=gloo");
  RankPlan plan =
      runsAll ? planThreads(model, options, launch, transport) : planProcess(model, options, launch, transport);
  plan.local = launch.localRank;
  return plan;
}

//===----------------------------------------------------------------------===//
// The run
//===----------------------------------------------------------------------===//

namespace {

using RankCommand = std::function<int(const Rank &rank, int threads)>;

int runRank(const br_model &model, Bootstrap &bootstrap, const RankPlan &plan, const RankOptions &options, int index,
            const RankCommand &command) {
  const Placement placement = placeHere(plan, options, index);
  const Rank rank = connect(model, bootstrap, plan, options, index, placement);
  try {
    return command(rank, placement.threads);
  } catch (const std::exception &error) {
    tellOthers(model, bootstrap, rank, error);
    throw;
  }
}

// Keeps the first error of any rank, because it causes all others. An error about another rank is replaced
// by that rank's own error.
class FirstError {
public:
  void note(std::exception_ptr next) {
    std::lock_guard lock(mutex);
    if (!error || (concernsAnotherRank(error) && !concernsAnotherRank(next)))
      error = next;
  }
  void rethrow() const {
    if (error)
      std::rethrow_exception(error);
  }

private:
  static bool concernsAnotherRank(const std::exception_ptr &error) {
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

// All ranks have the same options. All commands are prepared before any rank starts, so errors are found
// first.
int runThreads(const br_model &model, const RankPlan &plan, const RankOptions &options, const Preparation &prepare) {
  std::vector<RankCommand> commands;
  for (int rank = 0; rank < plan.ranksHere; ++rank)
    commands.push_back(prepare(rank).run);
  auto hub = std::make_shared<ThreadsHub>(plan.ranksHere);
  auto notices = std::make_shared<NoticeStore>();
  FirstError first;
  std::vector<int> statuses(plan.ranksHere, 1);
  std::vector<std::thread> threads;
  auto run = [&](int rank) {
    try {
      // Recorded before the communicator is destroyed: other ranks learn of the error from its end.
      auto noted = [&](const Rank &r, int count) {
        try {
          return commands[rank](r, count);
        } catch (...) {
          first.note(std::current_exception());
          throw;
        }
      };
      BootstrapOptions own = bootstrapOptionsOf(model, plan, options, rank);
      own.notices = notices;
      own.threads = threadsTransport(hub, rank, options.link.value_or(LinkModel()));
      Bootstrap bootstrap(std::move(own));
      statuses[rank] = runRank(model, bootstrap, plan, options, rank, noted);
    } catch (const std::exception &error) {
      first.note(std::current_exception());
      hub->fail(error.what());
    }
  };
  for (int rank = 0; rank < plan.ranksHere; ++rank)
    threads.emplace_back(run, rank);
  for (std::thread &thread : threads)
    thread.join();
  first.rethrow();
  return statuses[0];
}

// Adds the rank to errors, because several processes print to one terminal.
template <class F> auto named(int rank, const F &f) {
  try {
    return f();
  } catch (const RankError &) {
    throw;
  } catch (const Error &error) {
    fail("rank ", rank, ": ", error.what());
  }
}

PreparedCommand prepareOrRefuse(Bootstrap &bootstrap, int rank, const Preparation &prepare) {
  try {
    return prepare(rank);
  } catch (const std::exception &error) {
    bootstrap.refuseToStart(error.what());
    throw;
  }
}

int runProcess(const br_model &model, const RankPlan &plan, const RankOptions &options, const Preparation &prepare) {
  const int number = plan.first;
  Bootstrap bootstrap(bootstrapOptionsOf(model, plan, options));
  PreparedCommand command = named(number, [&] { return prepareOrRefuse(bootstrap, number, prepare); });
  command.facts.push_back({"the program", programHash(model)});
  // With a trace, rank 0 waits for the records of the other ranks, so all must agree.
  command.facts.push_back({"--trace-steps", options.trace ? std::to_string(options.traceSteps) : "not asked for"});
  bootstrap.agreeToStart(command.facts);
  auto run = [&](const Rank &rank, int threads) { return named(number, [&] { return command.run(rank, threads); }); };
  return runRank(model, bootstrap, plan, options, 0, run);
}

} // namespace

int braid::runRanks(const br_model &model, const RankPlan &plan, const RankOptions &options,
                    const Preparation &prepare) {
  if (!plan.transport.empty())
    return plan.ranksHere > 1 ? runThreads(model, plan, options, prepare) : runProcess(model, plan, options, prepare);
  PreparedCommand command = prepare(0);
  const Placement placement = placeHere(plan, options);
  pinPool(placement);
  return command.run(singleRank(plan, options), placement.threads);
}

// The options themselves may be invalid; then only the launcher's rendezvous is used.
void braid::refuseToStart(const br_model &model, const RankOptions &options, const Launch &launch,
                          const std::string &reason) noexcept {
  try {
    std::string transport = transportFor(model, options, launch);
    RankPlan plan;
    plan.first = launch.rank, plan.size = launch.size, plan.transport = transport;
    plan.rendezvous = options.rendezvous.empty() ? launch.rendezvous : options.rendezvous;
    plan.job = launch.job, plan.isOneHost = launch.isOneHost();
    plan.token = options.tokenFile.empty() ? launch.token : readToken(options.tokenFile);
    const bool isInJobScript = launch.launcher == Launcher::Slurm && runsAllRanks(transport, options, launch);
    if (launch.size < 2 || transport == "mpi" || plan.rendezvous.empty() || isInJobScript)
      return;
    Bootstrap(bootstrapOptionsOf(model, plan, options)).refuseToStart(reason);
  } catch (const std::exception &) { // the other ranks cannot be told
  }
}

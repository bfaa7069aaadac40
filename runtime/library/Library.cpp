//===- Library.cpp - create a rank and describe it ------------------------===//

#include "base/Error.h"
#include "base/Message.h"
#include "core/Agree.h"
#include "core/Mesh.h"
#include "core/ProgramHash.h"
#include "host/Threads.h"
#include "launch/Connect.h"
#include "launch/Launch.h"
#include "library/Handle.h"
#include "train/Commands.h"
#include "train/InitialValues.h"

#include <cstdlib>

using namespace braid;

//===----------------------------------------------------------------------===//
// Errors and messages
//===----------------------------------------------------------------------===//

static thread_local std::string lastError;

void braid::keepError(const char *text) { lastError = printable(text); }

uint32_t braid_version(void) { return BRAID_STEP_VERSION; }
const char *braid_error(void) { return lastError.c_str(); }

void braid_on_message(void (*receive)(void *user, const char *text), void *user) {
  messageSink = [=](const std::string &text) {
    if (receive)
      receive(user, text.c_str());
  };
}

// A library is silent until its caller asks for messages.
static const bool isSilent = (braid_on_message(nullptr, nullptr), true);

//===----------------------------------------------------------------------===//
// The model
//===----------------------------------------------------------------------===//

static std::string meshText(const br_model &model) {
  std::string text;
  for (int32_t i = 0; i < model.n_axes; ++i)
    text += concat(i ? "," : "", model.mesh[i].name, "=", model.mesh[i].size);
  return text;
}

braid_status braid_describe(braid_model *out) {
  return guarded(__func__, {{"model", out}}, [&] {
    const br_model &table = libraryModel();
    static const std::string mesh = meshText(table);
    *out = {table.name,
            table.target ? table.target : "cpu",
            table.optimizer ? table.optimizer : "",
            mesh.c_str(),
            worldSize(table),
            std::max(1, table.accumulate),
            findProgram(table, "eval") != nullptr,
            findProgram(table, "predict") != nullptr,
            table.plan_json};
  });
}

//===----------------------------------------------------------------------===//
// A rank
//===----------------------------------------------------------------------===//

static std::string textOf(const char *text) { return text ? text : ""; }

static RankOptions rankOptionsOf(const braid_options &options) {
  RankOptions ranks;
  ranks.transport = textOf(options.transport);
  if (options.timeout > 0)
    ranks.timeout = options.timeout;
  ranks.threads = options.threads;
  ranks.device = options.device - 1;
  ranks.pin = Pin::Off; // the host's other threads and children would share the cores of this one
  return ranks;
}

static Launch launchOf(const braid_options &options) {
  Launch launch;
  if (options.ranks == 0) {
    launch = findLaunch([](const char *name) { return std::getenv(name); });
  } else if (options.ranks > 1) {
    const bool isOneHost = options.local_ranks == 0;
    launch = {Launcher::Torchrun,
              options.rank,
              options.ranks,
              isOneHost ? options.rank : options.local_rank,
              isOneHost ? options.ranks : options.local_ranks,
              false,
              "",
              "",
              ""};
  }
  for (auto [given, place] : {std::pair(options.rendezvous, &launch.rendezvous), std::pair(options.job, &launch.job),
                              std::pair(options.token, &launch.token)})
    if (given)
      *place = given;
  return launch;
}

OwnRank::OwnRank(const braid_options &options) {
  const br_model &model = libraryModel();
  const RankOptions ranks = rankOptionsOf(options);
  const Launch launch = launchOf(options);
  plan = planRanks(model, ranks, launch);
  if (plan.ranksHere > 1)
    braid::fail("model '", model.name, "' was compiled for ", plan.size, " ranks (", meshText(model),
                "), each a process of its own, but this is one process without a launcher; start ", plan.size,
                " by torchrun, mpirun or srun, or give braid_options.ranks, rank and rendezvous");
  if (plan.transport.empty()) {
    const Placement placement = placeHere(plan, ranks);
    pinPool(placement);
    rank = singleRank(plan, ranks);
    numThreads = placement.threads;
  } else {
    connectTo(ranks, options);
  }
  rank.ownsProcess = false;
}

static uint64_t seedOf(const braid_options &options) { return options.seed ? options.seed : 1; }

void OwnRank::connectTo(const RankOptions &options, const braid_options &given) {
  const br_model &model = libraryModel();
  bootstrap.emplace(bootstrapOptionsOf(model, plan, options));
  bootstrap->agreeToStart({{"the command", "a library"},
                           {"the program", programHash(model)},
                           {"braid_options.seed", std::to_string(seedOf(given))}});
  const Placement placement = placeHere(plan, options);
  rank = connect(model, *bootstrap, plan, options, 0, placement);
  numThreads = placement.threads;
}

void OwnRank::fail(const std::exception &error) noexcept {
  if (bootstrap)
    tellOthers(libraryModel(), *bootstrap, rank, error);
}

braid_step::braid_step(const braid_options &options)
    : own(options), table(checked(modelOf(libraryModel(), own.get().number))),
      model(own.orFail([&] { return Model(table, own.threads(), own.get()); })), runs(model),
      eval(findProgram(table, "eval")), predict(findProgram(table, "predict")),
      inputs(table, own.get().number, microbatches()) {
  state.seed = seedOf(options);
  own.orFail([&] {
    initialize(model, state.seed);
    checkCopiesAreEqual(model);
  });
}

void braid_step::enter() {
  if (!failure.empty())
    fail("this model cannot be used after an error: ", failure, "; destroy it, and load a checkpoint into a new one");
  if (const std::thread::id thread = std::this_thread::get_id(); thread != user) {
    model.enterThread();
    user = thread;
  }
}

braid_status braid_create(const braid_options *given, braid_step **step) {
  return guarded(__func__, {{"step", step}}, [&] {
    *step = nullptr;
    braid_options options = {};
    options.version = BRAID_STEP_VERSION;
    if (given)
      options = *given;
    if (options.version != BRAID_STEP_VERSION)
      fail("the caller was compiled for version ", options.version, " of braid/step.h, but the library has version ",
           BRAID_STEP_VERSION, "; compile both with one installation of Braid");
    checkOptions(options);
    endPoolBeforeForks();
    *step = new braid_step(options);
  });
}

void braid_destroy(braid_step *step) {
  if (step)
    guarded(__func__, {}, [&] {
      if (!step->failure.empty())
        return;
      step->enter();
      step->model.finish();
    });
  delete step;
}

braid_status braid_get_state(const braid_step *step, braid_state *out) {
  return guarded(__func__, {{"step", step}, {"state", out}}, [&] {
    const Rank &rank = step->model.rank();
    *out = {rank.number,
            rank.size,
            step->model.threads(),
            rank.size > 1 ? transportOf(rank) : "",
            step->table.arena_bytes,
            step->table.host_bytes,
            step->state.step};
  });
}

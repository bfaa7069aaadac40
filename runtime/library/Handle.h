//===- Handle.h - a rank of a model that another program hosts ------------===//
//
// Behind braid/step.h. Everything that belongs to a model is here: memory, programs, ranks, tensors and
// checkpoints. What belongs to a job (data, learning rates, logs, signals) is the caller's. The library is
// linked with one model, which libraryModel() returns.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LIBRARY_HANDLE_H
#define BRAID_LIBRARY_HANDLE_H

#include "braid/step.h"

#include "base/Error.h"
#include "checkpoint/Checkpoint.h"
#include "checkpoint/DirectoryLock.h"
#include "comm/Bootstrap.h"
#include "core/Arena.h"
#include "core/Model.h"
#include "launch/Ranks.h"
#include "library/Arguments.h"
#include "library/Inputs.h"
#include "train/StepRuns.h"

#include <algorithm>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace braid {

// The model that is linked with the library.
inline const br_model &libraryModel() { return *br_library_model(); }

// A rank that is connected to the others.
class OwnRank {
public:
  // Throws Error, on all ranks if one of them fails.
  explicit OwnRank(const braid_options &options);
  OwnRank(const OwnRank &) = delete;

  const Rank &get() const { return rank; }
  int threads() const { return numThreads; }
  // Tells the other ranks why this one ends.
  void fail(const std::exception &error) noexcept;
  // Returns f(); tells the other ranks if it throws.
  template <class F> auto orFail(const F &f) {
    try {
      return f();
    } catch (const std::exception &error) {
      fail(error);
      throw;
    }
  }

private:
  void connectTo(const RankOptions &options, const braid_options &given);

  RankPlan plan;
  std::optional<Bootstrap> bootstrap; // none for a single rank
  Rank rank;
  int numThreads = 1;
};

// Where the checkpoints of a job go.
struct SaveDirectory {
  std::string path;
  int keep;
  std::unique_ptr<DirectoryLock> lock; // on the first rank
  CheckpointWriter writer;
};

// Describes a part in the interface; the caller sets the other fields.
void describePart(const TensorPart &part, const int64_t *shape, braid_tensor &out);

// Keeps the text of an error for the calling thread.
void keepError(const char *text);

} // namespace braid

struct braid_step {
  explicit braid_step(const braid_options &options);

  braid::OwnRank own;
  const br_model &table;
  braid::Model model;
  braid::StepRuns runs;
  const br_program *const eval, *const predict; // null if the model has none
  braid::JobState state;
  braid::InputValues inputs;
  int nextMicrobatch = 0; // of the step that is not finished
  std::vector<std::pair<const br_io *, float>> scalars;
  std::vector<std::vector<std::byte>> outputs; // of a device, copied to the host
  std::unique_ptr<braid::SaveDirectory> directory;
  std::string savedPath;
  std::string failure; // why the model cannot be used any more; empty if it can
  std::thread::id user = std::this_thread::get_id();

  int microbatches() const { return std::max(1, table.accumulate); }
  // Called first by each function that uses the model. Throws Error after a failure.
  void enter();
};

namespace braid {

// Runs f, which may throw, for a function of the interface, after a check of its pointers.
template <class F>
braid_status guarded(const char *function, std::initializer_list<PointerArgument> pointers, const F &f) {
  try {
    checkPointers(function, pointers);
    f();
    return BRAID_OK;
  } catch (const std::bad_alloc &) {
    keepError(kMoreMemory);
  } catch (const std::exception &error) {
    keepError(error.what());
  }
  return BRAID_ERROR;
}

// Returns f() for a function that counts; 0, with a text for braid_error, if `step` is null.
template <class F> int32_t counted(const char *function, const braid_step *step, const F &f) {
  int32_t count = 0;
  guarded(function, {{"step", step}}, [&] { count = static_cast<int32_t>(f()); });
  return count;
}

// Runs f for a function that all ranks call together: an error of f ends the model on all of them. `check` throws
// Error for a call that is refused before anything runs.
template <class Check, class F>
braid_status guardedTogether(const char *function, braid_step *step, const Check &check, const F &f) {
  return guarded(function, {{"step", step}}, [&] {
    step->enter();
    check();
    try {
      step->own.orFail(f);
    } catch (const std::exception &error) {
      step->failure = error.what();
      throw;
    }
  });
}

} // namespace braid
#endif // BRAID_LIBRARY_HANDLE_H

//===- Batches.cpp - sources of a program's inputs ------------------------===//

#include "data/Batches.h"

#include "base/Error.h"
#include "core/Agree.h"
#include "core/Mesh.h"
#include "data/TensorBatches.h"
#include "data/TokenBatches.h"

#include <algorithm>
#include <array>
#include <bit>
#include <functional>
#include <numeric>
#include <string_view>

using namespace braid;

InputBlock braid::inputBlock(const Model &model, const br_io &io, int dim) {
  GroupPlace place = placeInGroup(model.table(), io.dims[dim], model.rank().number);
  if (io.flat != 0 || io.shape[dim] % place.size != 0)
    fail("the compiled model is broken: input '", io.name,
         "' is sharded in ranges that are not equal blocks of rows; compile it again");
  int64_t count = io.shape[dim] / place.size;
  return {place.index * count, count};
}

void BatchCount::add(const BatchCount &next, bool isFirst) {
  tokens += next.tokens, targets += next.targets;
  ofEach = isFirst || ofEach == next.ofEach ? next.ofEach : kUneven;
}

BatchCount braid::countOf(const BatchSize &size, int64_t tokens, const std::vector<int64_t> &targetsOfRows) {
  BatchCount count;
  count.tokens = tokens;
  for (int64_t reader = 0; reader < size.readers; ++reader) {
    const auto begin = targetsOfRows.begin() + reader * size.rows;
    const int64_t own = std::accumulate(begin, begin + size.rows, int64_t{0});
    count.add({0, own, own}, reader == 0);
  }
  return count;
}

std::string braid::rowsLeftOut(const RowOrder &order, const char *part, const char *unit) {
  constexpr const char *reason = "the model's loss counts every row of a batch";
  if (order.batches() == 0)
    fail("the ", part, " has ", order.rows, " ", unit, ", fewer than the ", order.batch, " of a batch, and ", reason,
         "; give more data, or change --holdout");
  int64_t leftOut = order.canBeShort ? 0 : order.rows % order.batch;
  if (leftOut == 0)
    return "";
  return concat("the last ", leftOut, " of ", order.rows, " ", unit, " of the ", part,
                " are left out, because a batch has ", order.batch, ": ", reason);
}

//===----------------------------------------------------------------------===//
// Batches that another rank reads
//
// If one rank serves the others, their programs take no data: the program itself sends them their parts.
// But they run the same training loop, which depends on the sizes of the data, so the rank that reads the
// data broadcasts these sizes.
//===----------------------------------------------------------------------===//

namespace {

// Values that the training loop reads from a source, as numbers; none is negative.
struct Sizes {
  int64_t isOfTokens; // else of rows
  int64_t trainingTokens, heldOutTokens;
  int64_t rows, readers, length; // BatchSize
  int64_t trainingRows, trainingBatch, trainingMayBeShort;
  int64_t heldOutRows, heldOutBatch, heldOutMayBeShort;
};
constexpr size_t numSizes = sizeof(Sizes) / sizeof(int64_t);

Sizes sizesOf(const BatchSource &source, const br_program *training, const br_program *evaluation) {
  Sizes sizes{};
  sizes.isOfTokens = std::string_view(source.unit()) == "tokens";
  sizes.trainingTokens = source.trainingTokens();
  sizes.heldOutTokens = source.heldOutTokens();
  BatchSize size = source.batchSize(training ? *training : *evaluation);
  sizes.rows = size.rows, sizes.readers = size.readers;
  sizes.length = size.length;
  if (training) {
    RowOrder order = source.trainingOrder(*training, /*perStep=*/1);
    sizes.trainingRows = order.rows, sizes.trainingBatch = order.batch;
    sizes.trainingMayBeShort = order.canBeShort;
  }
  if (evaluation) {
    RowOrder order = source.evaluationOrder(*evaluation);
    sizes.heldOutRows = order.rows, sizes.heldOutBatch = order.batch;
    sizes.heldOutMayBeShort = order.canBeShort;
  }
  return sizes;
}

// Returns the maximum over all ranks; ranks that read no data contribute 0. A 64-bit number takes two
// values of a round of `agree`.
Sizes share(Model &model, const Sizes &own) {
  constexpr size_t perRound = agreeValues / 2;
  constexpr int64_t low = INT32_MAX;
  auto numbers = std::bit_cast<std::array<int64_t, numSizes>>(own);
  for (size_t first = 0; first < numSizes; first += perRound) {
    size_t count = std::min(perRound, numSizes - first);
    std::array<int32_t, agreeValues> values{};
    for (size_t i = 0; i < count; ++i) {
      values[2 * i] = static_cast<int32_t>(numbers[first + i] >> 31);
      values[2 * i + 1] = static_cast<int32_t>(numbers[first + i] & low);
    }
    values = agree(model, values);
    for (size_t i = 0; i < count; ++i)
      numbers[first + i] = (int64_t{values[2 * i]} << 31) + values[2 * i + 1];
  }
  return std::bit_cast<Sizes>(numbers);
}

class BroadcastBatches : public BatchSource {
public:
  explicit BroadcastBatches(const Sizes &sizes) : sizes(sizes) {}

  BatchCount fillTraining(const br_program &, int64_t, int, int) override {
    const int64_t tokens = sizes.rows * sizes.readers * sizes.length;
    return {tokens, tokens, BatchCount::kUneven};
  }
  bool hasTrainingTargets() override { return true; }
  std::string nonFinite(const br_program &, int64_t, int) const override { return ""; }
  // Only the rank that reads the batch knows how many targets count.
  int64_t fillEvaluation(const br_program &, int64_t, int64_t) override {
    return sizes.rows * sizes.readers * sizes.length;
  }
  RowOrder trainingOrder(const br_program &, int perStep) const override {
    return {sizes.trainingRows, sizes.trainingBatch * perStep, sizes.trainingMayBeShort != 0};
  }
  RowOrder evaluationOrder(const br_program &) const override {
    return {sizes.heldOutRows, sizes.heldOutBatch, sizes.heldOutMayBeShort != 0};
  }
  BatchSize batchSize(const br_program &) const override { return {sizes.rows, sizes.readers, sizes.length}; }
  int64_t trainingTokens() const override { return sizes.trainingTokens; }
  int64_t heldOutTokens() const override { return sizes.heldOutTokens; }
  const char *unit() const override { return sizes.isOfTokens ? "tokens" : "rows"; }
  const char *rowUnit() const override { return sizes.isOfTokens ? "windows" : "rows"; }

private:
  Sizes sizes;
};

} // namespace

bool braid::readsData(const br_program &program) {
  auto inputs = inputsOf(program);
  return std::any_of(inputs.begin(), inputs.end(), [](const br_io &io) { return !isScalarRole(io.role); });
}

const br_program *braid::batchedProgram(const br_model &model) {
  for (int32_t i = 0; i < model.n_cells; ++i)
    if (model.cells[i].kind == BR_CELL_RUN)
      return &model.programs[model.cells[i].index];
  return findProgram(model, "train");
}

// Returns the result of `open` on ranks whose programs take data; on other ranks, a source of the same
// sizes that fills nothing. All ranks must call it; if one cannot open its data, all throw Error.
static std::unique_ptr<BatchSource> openOrReceiveSizes(Model &model, const br_program *training,
                                                       const br_program *evaluation,
                                                       const std::function<std::unique_ptr<BatchSource>()> &open) {
  std::unique_ptr<BatchSource> source;
  if (readsData(training ? *training : *evaluation))
    allOrNothing(model, [&] { source = open(); });
  else
    allOrNothing(model, [] {});
  Sizes own{};
  if (source)
    own = sizesOf(*source, training, evaluation);
  Sizes shared = share(model, own);
  return source ? std::move(source) : std::make_unique<BroadcastBatches>(shared);
}

//===----------------------------------------------------------------------===//
// Choice of a source
//===----------------------------------------------------------------------===//

std::unique_ptr<BatchSource> braid::openBatches(Model &model, const BatchOptions &options, const br_program *training,
                                                const br_program *evaluation) {
  const br_program *any = training ? training : evaluation;
  auto open = [&]() -> std::unique_ptr<BatchSource> {
    if (findByRole(inputsOf(*any), "tokens"))
      return std::make_unique<TokenBatches>(model, options, training, evaluation);
    return std::make_unique<TensorBatches>(model, options, training, evaluation);
  };
  return isOfAllRanks(model.table()) ? open() : openOrReceiveSizes(model, training, evaluation, open);
}

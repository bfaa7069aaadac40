//===- ReshardTest.cpp - the way from one sharding to another -------------===//
//
// Random shardings of small tensors: the steps are carried out on a model of the
// ranks (arrays of numbers), and every rank must end with its part.
//
//===----------------------------------------------------------------------===//

#include "lib/Sharding/Reshard.h"
#include "gtest/gtest.h"
#include <numeric>
#include <random>

using namespace mlir;
using namespace braid;
using namespace braid::comm;

namespace {
using Numbers = std::vector<int64_t>;

/// The part that one rank holds.
struct Part {
  SmallVector<int64_t> shape;
  Numbers numbers;
};

/// Elements before, along and behind a dim.
struct Extents {
  int64_t outer = 1, along = 1, inner = 1;

  Extents(ArrayRef<int64_t> shape, int64_t dim) : along(shape[dim]) {
    for (int64_t size : shape.take_front(dim))
      outer *= size;
    for (int64_t size : shape.drop_front(dim + 1))
      inner *= size;
  }
};

Part block(const Part &whole, int64_t dim, int64_t number, int64_t count) {
  if (dim == kFlat) {
    int64_t range = flatRange(whole.numbers.size(), count);
    Numbers padded = whole.numbers;
    padded.resize(range * count, 0);
    return {{range}, Numbers(padded.begin() + number * range, padded.begin() + (number + 1) * range)};
  }
  Extents e(whole.shape, dim);
  int64_t size = e.along / count;
  Part part{whole.shape, {}};
  part.shape[dim] = size;
  for (int64_t o = 0; o < e.outer; ++o)
    for (int64_t i = 0; i < size * e.inner; ++i)
      part.numbers.push_back(whole.numbers[(o * e.along + number * size) * e.inner + i]);
  return part;
}

Part join(ArrayRef<Part> blocks, int64_t dim, RankedTensorType type) {
  Part whole{SmallVector<int64_t>(type.getShape()), {}};
  if (dim == kFlat) {
    for (const Part &part : blocks)
      whole.numbers.insert(whole.numbers.end(), part.numbers.begin(), part.numbers.end());
    whole.numbers.resize(type.getNumElements());
    return whole;
  }
  Extents e(blocks[0].shape, dim);
  int64_t run = e.along * e.inner;
  for (int64_t o = 0; o < e.outer; ++o)
    for (const Part &part : blocks)
      whole.numbers.insert(whole.numbers.end(), part.numbers.begin() + o * run, part.numbers.begin() + (o + 1) * run);
  return whole;
}

class ReshardTest : public ::testing::Test {
protected:
  ReshardTest() { context.loadDialect<CommDialect>(); }

  Mesh mesh(ArrayRef<int64_t> sizes) {
    SmallVector<StringAttr> names;
    for (size_t i = 0; i < sizes.size(); ++i)
      names.push_back(axis(i));
    return Mesh(names, sizes);
  }
  StringAttr axis(size_t i) { return StringAttr::get(&context, std::string(1, "abcd"[i])); }
  AxesAttr axes(StringRef letters) {
    SmallVector<StringAttr> names;
    for (char letter : letters)
      names.push_back(StringAttr::get(&context, StringRef(&letter, 1)));
    return AxesAttr::get(&context, names);
  }
  /// `{"ab", ""}`: the axes of each dim.
  ShardingAttr sharding(ArrayRef<StringRef> dims, StringRef partial = "", StringRef flat = "") {
    SmallVector<AxesAttr> lists;
    for (StringRef dim : dims)
      lists.push_back(axes(dim));
    return ShardingAttr::replicated(FlatSymbolRefAttr::get(&context, "mesh"), dims.size())
        .withDims(lists)
        .withPartial(axes(partial))
        .withFlat(axes(flat));
  }
  RankedTensorType type(ArrayRef<int64_t> shape) { return RankedTensorType::get(shape, Float32Type::get(&context)); }
  InFlightDiagnostic error() { return mlir::emitError(UnknownLoc::get(&context)); }

  std::string steps(RankedTensorType type, ShardingAttr from, ShardingAttr to, const Mesh &mesh);
  ShardingAttr randomSharding(RankedTensorType type, const Mesh &mesh, ShardingAttr source);
  Part partOf(const Part &whole, ShardingAttr sharding, const Mesh &mesh, int64_t rank);
  std::vector<Part> hold(const Part &whole, ShardingAttr sharding, const Mesh &mesh);
  std::vector<Part> apply(const ReshardStep &step, const std::vector<Part> &ranks, const Mesh &mesh);
  std::vector<Part> reduced(const std::vector<Part> &ranks, AxesAttr axes, const Mesh &mesh);
  void checkCase(RankedTensorType type, ShardingAttr from, ShardingAttr to, const Mesh &mesh);

  MLIRContext context;
  std::mt19937 random{2024};
};
} // namespace

std::string ReshardTest::steps(RankedTensorType type, ShardingAttr from, ShardingAttr to, const Mesh &mesh) {
  auto found = reshardSteps([&] { return error(); }, type, from, to, mesh);
  EXPECT_TRUE(succeeded(found));
  std::string text;
  for (const ReshardStep &step : *found) {
    text += text.empty() ? "" : " ";
    text += step.kind == ReshardStep::Kind::AllReduce   ? "reduce"
            : step.kind == ReshardStep::Kind::AllGather ? "gather"
                                                        : "slice";
    if (step.kind != ReshardStep::Kind::AllReduce)
      text += step.dim == kFlat ? "F" : std::to_string(step.dim);
    text += ":";
    for (StringAttr name : step.axes.getNames())
      text += name.getValue();
  }
  return text;
}

/// Each axis goes to a dim that it divides, to the flat order, to the partial values
/// (those of `source` if there is one) or nowhere.
ShardingAttr ReshardTest::randomSharding(RankedTensorType type, const Mesh &mesh, ShardingAttr source) {
  auto chance = [&](unsigned n) { return random() % n; };
  SmallVector<StringAttr> order(mesh.getNames());
  std::shuffle(order.begin(), order.end(), random);
  SmallVector<SmallVector<StringAttr>> dims(type.getRank());
  SmallVector<StringAttr> partial, flat;
  SmallVector<int64_t> left(type.getShape());
  for (StringAttr name : order) {
    unsigned place = chance(type.getRank() + 3);
    if (place == type.getRank() && (!source || source.getPartial().contains(name)))
      partial.push_back(name);
    else if (place == type.getRank() + 1)
      flat.push_back(name);
    else if (place < type.getRank() && left[place] % mesh.sizeOf(name) == 0) {
      left[place] /= mesh.sizeOf(name);
      dims[place].push_back(name);
    }
  }
  SmallVector<AxesAttr> lists;
  for (ArrayRef<StringAttr> names : dims)
    lists.push_back(AxesAttr::get(&context, names));
  return ShardingAttr::replicated(FlatSymbolRefAttr::get(&context, "mesh"), type.getRank())
      .withDims(lists)
      .withPartial(AxesAttr::get(&context, partial))
      .withFlat(AxesAttr::get(&context, flat));
}

Part ReshardTest::partOf(const Part &whole, ShardingAttr sharding, const Mesh &mesh, int64_t rank) {
  Part part = whole;
  for (auto [dim, list] : llvm::enumerate(sharding.getDims()))
    part = block(part, dim, mesh.numberInGroup(rank, list), mesh.sizeOf(list));
  if (sharding.isFlat())
    part = block(part, kFlat, mesh.numberInGroup(rank, sharding.getFlat()), mesh.sizeOf(sharding.getFlat()));
  return part;
}

/// Returns the initial parts of the ranks. Partial values are random, except that the last rank of each group has the
/// remainder of the sum.
std::vector<Part> ReshardTest::hold(const Part &whole, ShardingAttr sharding, const Mesh &mesh) {
  int64_t count = mesh.sizeOf(sharding.getPartial());
  std::vector<Part> summands(count, whole);
  for (size_t i = 0; i < whole.numbers.size(); ++i) {
    int64_t rest = whole.numbers[i];
    for (int64_t k = 0; k + 1 < count; ++k)
      rest -= summands[k].numbers[i] = random() % 1000;
    summands[count - 1].numbers[i] = rest;
  }
  std::vector<Part> ranks;
  for (int64_t rank = 0; rank < mesh.getNumRanks(); ++rank)
    ranks.push_back(partOf(summands[mesh.numberInGroup(rank, sharding.getPartial())], sharding, mesh, rank));
  return ranks;
}

std::vector<Part> ReshardTest::reduced(const std::vector<Part> &ranks, AxesAttr axes, const Mesh &mesh) {
  std::vector<Part> sums = ranks;
  for (int64_t rank = 0; rank < mesh.getNumRanks(); ++rank)
    for (int64_t other : mesh.groupOf(rank, axes))
      if (other != rank)
        for (size_t i = 0; i < sums[rank].numbers.size(); ++i)
          sums[rank].numbers[i] += ranks[other].numbers[i];
  return sums;
}

std::vector<Part> ReshardTest::apply(const ReshardStep &step, const std::vector<Part> &ranks, const Mesh &mesh) {
  if (step.kind == ReshardStep::Kind::AllReduce)
    return reduced(ranks, step.axes, mesh);
  std::vector<Part> next;
  for (int64_t rank = 0; rank < mesh.getNumRanks(); ++rank) {
    if (step.kind == ReshardStep::Kind::Slice) {
      next.push_back(block(ranks[rank], step.dim, mesh.numberInGroup(rank, step.axes), mesh.sizeOf(step.axes)));
      continue;
    }
    SmallVector<Part> blocks;
    for (int64_t other : mesh.groupOf(rank, step.axes))
      blocks.push_back(ranks[other]);
    next.push_back(join(blocks, step.dim, step.result));
  }
  return next;
}

/// Returns the elements of a part that are not padding.
static Numbers elementsOf(const Part &part, ShardingAttr sharding, const Mesh &mesh, RankedTensorType type,
                          int64_t rank) {
  Numbers numbers = part.numbers;
  if (sharding.isFlat()) {
    int64_t all = localDimsType(type, sharding, mesh).getNumElements(), range = numbers.size();
    int64_t start = mesh.numberInGroup(rank, sharding.getFlat()) * range;
    numbers.resize(std::clamp<int64_t>(all - start, 0, range));
  }
  return numbers;
}

void ReshardTest::checkCase(RankedTensorType type, ShardingAttr from, ShardingAttr to, const Mesh &mesh) {
  Part whole{SmallVector<int64_t>(type.getShape()), Numbers(type.getNumElements())};
  std::iota(whole.numbers.begin(), whole.numbers.end(), 1);
  std::vector<Part> ranks = hold(whole, from, mesh);
  auto found = reshardSteps([&] { return error(); }, type, from, to, mesh);
  ASSERT_TRUE(succeeded(found));
  for (const ReshardStep &step : *found) {
    ranks = apply(step, ranks, mesh);
    for (const Part &part : ranks)
      ASSERT_EQ(ArrayRef<int64_t>(part.shape), step.result.getShape());
  }
  ranks = reduced(ranks, to.getPartial(), mesh);
  for (int64_t rank = 0; rank < mesh.getNumRanks(); ++rank)
    ASSERT_EQ(elementsOf(ranks[rank], to, mesh, type, rank),
              elementsOf(partOf(whole, to, mesh, rank), to, mesh, type, rank));
}

TEST_F(ReshardTest, RandomShardings) {
  SmallVector<SmallVector<int64_t>> meshes{{2}, {3}, {2, 2}, {2, 3}, {1, 4}, {2, 2, 2}, {3, 1, 2}};
  SmallVector<SmallVector<int64_t>> shapes{{24}, {12, 8}, {5, 4}, {6, 1, 4}, {7}, {4, 4, 3}, {1}, {1, 8}};
  for (int number = 0; number < 3000; ++number) {
    Mesh ranks = mesh(meshes[random() % meshes.size()]);
    RankedTensorType tensor = type(shapes[random() % shapes.size()]);
    ShardingAttr from = randomSharding(tensor, ranks, {});
    ShardingAttr to = randomSharding(tensor, ranks, from);
    std::string text;
    llvm::raw_string_ostream(text) << "case " << number << ": " << tensor << " on " << ranks.str() << " from " << from
                                   << " to " << to;
    SCOPED_TRACE(text);
    checkCase(tensor, from, to, ranks);
    if (HasFatalFailure())
      return;
  }
}

TEST_F(ReshardTest, NothingToDo) {
  Mesh ranks = mesh({2, 2});
  RankedTensorType tensor = type({8, 8});
  EXPECT_EQ(steps(tensor, sharding({"a", "b"}), sharding({"a", "b"}), ranks), "");
  EXPECT_EQ(steps(tensor, sharding({"", ""}, "a", "b"), sharding({"", ""}, "a", "b"), ranks), "");
}

TEST_F(ReshardTest, KeepsTheCommonPrefix) {
  Mesh ranks = mesh({2, 2, 2});
  RankedTensorType tensor = type({8, 8});
  EXPECT_EQ(steps(tensor, sharding({"abc", ""}), sharding({"a", ""}), ranks), "gather0:bc");
  EXPECT_EQ(steps(tensor, sharding({"a", ""}), sharding({"abc", ""}), ranks), "slice0:bc");
  EXPECT_EQ(steps(tensor, sharding({"ab", ""}), sharding({"ac", ""}), ranks), "gather0:b slice0:c");
  EXPECT_EQ(steps(tensor, sharding({"ab", ""}), sharding({"ba", ""}), ranks), "gather0:ab slice0:ba");
}

/// Gather and slice of one axis are adjacent, so they become an all_to_all.
TEST_F(ReshardTest, MovesAnAxisAtOnce) {
  Mesh ranks = mesh({2, 2});
  RankedTensorType tensor = type({8, 8});
  EXPECT_EQ(steps(tensor, sharding({"ab", ""}), sharding({"a", "b"}), ranks), "gather0:b slice1:b");
  EXPECT_EQ(steps(tensor, sharding({"ab", ""}), sharding({"", "b"}), ranks), "gather0:b slice1:b gather0:a");
}

/// Reduction and slice are adjacent, too, and become a reduce_scatter. A plain reduction comes when the tensor is
/// small.
TEST_F(ReshardTest, ReducesWhatIsSlicedFirst) {
  Mesh ranks = mesh({2, 2});
  RankedTensorType tensor = type({8, 8});
  EXPECT_EQ(steps(tensor, sharding({"", ""}, "ab"), sharding({"", "b"}), ranks), "reduce:b slice1:b reduce:a");
  EXPECT_EQ(steps(tensor, sharding({"", ""}, "ab"), sharding({"", ""}, "b"), ranks), "reduce:a");
  EXPECT_EQ(steps(tensor, sharding({"", ""}, "a"), sharding({"", ""}, "", "a"), ranks), "reduce:a sliceF:a");
}

TEST_F(ReshardTest, SlicesBeforeItGathers) {
  Mesh ranks = mesh({2, 2});
  EXPECT_EQ(steps(type({8, 8}), sharding({"a", ""}), sharding({"", "b"}), ranks), "slice1:b gather0:a");
}

/// Flat ranges nest only without padding between them.
TEST_F(ReshardTest, FlatRanges) {
  Mesh ranks = mesh({2, 2});
  ShardingAttr ab = sharding({""}, "", "ab"), a = sharding({""}, "", "a"), whole = sharding({""});
  EXPECT_EQ(steps(type({8}), ab, a, ranks), "gather0:b");
  EXPECT_EQ(steps(type({8}), a, ab, ranks), "slice0:b");
  EXPECT_EQ(steps(type({5}), ab, a, ranks), "gatherF:ab sliceF:a");
  EXPECT_EQ(steps(type({5}), ab, whole, ranks), "gatherF:ab");
  EXPECT_EQ(steps(type({8}), ab, sharding({"b"}, "", "a"), ranks), "gatherF:ab slice0:b sliceF:a");
}

TEST_F(ReshardTest, RefusesNewPartialValues) {
  Mesh ranks = mesh({2});
  std::string message;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) { message = diagnostic.str(); });
  auto refused = [&](ShardingAttr from, ShardingAttr to) {
    message.clear();
    EXPECT_TRUE(failed(reshardSteps([&] { return error(); }, type({8}), from, to, ranks)));
    return StringRef(message);
  };
  EXPECT_TRUE(refused(sharding({""}), sharding({""}, "a")).starts_with("values that are not partial along 'a'"));
  EXPECT_TRUE(refused(sharding({""}, "a"), sharding({""}).withPartial(axes("a"), Reduction::Max))
                  .starts_with("values that are partial by sum cannot become partial by max"));
}

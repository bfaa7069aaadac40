//===- LaunchShape.cpp - threads and blocks of a kernel -------------------===//

#include "compiler/Codegen/LaunchShape.h"
#include "compiler/Codegen/LaunchCheck.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>
#include <set>

using namespace mlir;
using namespace braid;
using namespace braid::codegen;

//===----------------------------------------------------------------------===//
// The parameters of the cost model
//===----------------------------------------------------------------------===//

/// Most bytes that a thread loads or stores at once.
static constexpr int64_t kAccessBytes = 16;
/// Alignment of the arena in bytes.
static constexpr uint64_t kArenaAlignment = 256;
static constexpr int64_t kWarp = 32;
/// Threads per block: the default, and the maximum.
static constexpr int64_t kBlockThreads = 256, kMaxThreads = kMaxBlockThreads;
/// Smallest number of resident blocks per multiprocessor for kernels over vectors of any length.
static constexpr int64_t kFlatBlocksAtOnce = 3;
/// From this number of rows on, one warp per row gives enough warps.
static constexpr int64_t kWarpRows = 1024;
/// Numbers per thread that can stay in registers across lane loops, for blocks of up to half the maximum of threads and
/// for larger blocks.
static constexpr int64_t kRegisterLanes = 48, kRegisterLanesOfLargeBlocks = 16;
/// Fewest bytes of a row that row groups sharing a column sum read at once.
static constexpr int64_t kSectorBytes = 32;
/// Registers of a thread for addresses and operands, about as many as nvcc uses. Registers for reductions and arrays
/// are added to them.
static constexpr int64_t kBaseRegisters = 40;
/// Bytes of one partial sum.
static constexpr int64_t kPartialBytes = 4;

static int64_t ceilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }
static int64_t powerCeil(int64_t n) { return llvm::PowerOf2Ceil(static_cast<uint64_t>(n)); }

//===----------------------------------------------------------------------===//
// Alignment
//===----------------------------------------------------------------------===//

Alignments codegen::findAlignments(ModuleOp module, const ArenaMap &arena) {
  Alignments alignments;
  module.walk([&](exec::LaunchOp launch) {
    exec::KernelDefOp kernel = arena.kernelOf(launch);
    if (!kernel)
      return; // reported where the launch is printed
    size_t numIns = launch.getIns().size() / launch.getBatch(), numOuts = launch.getOuts().size() / launch.getBatch();
    SmallVector<uint64_t> &bytes = alignments[kernel.getSymNameAttr()];
    bytes.resize(numIns + numOuts, kArenaAlignment);
    auto meet = [&](uint64_t &alignment, Value ref) { alignment = std::gcd(alignment, arena.offsetOf(ref)); };
    for (auto [i, ref] : llvm::enumerate(launch.getIns()))
      meet(bytes[i % numIns], ref);
    for (auto [i, ref] : llvm::enumerate(launch.getOuts()))
      meet(bytes[numIns + i % numOuts], ref);
  });
  return alignments;
}

llvm::DenseSet<StringAttr> codegen::findBatched(ModuleOp module) {
  llvm::DenseSet<StringAttr> batched;
  module.walk([&](exec::LaunchOp launch) {
    if (launch.getBatch() > 1)
      batched.insert(launch.getKernelAttr().getAttr());
  });
  return batched;
}

namespace {
/// How loads and stores over lanes access an operand.
struct LaneAccess {
  int64_t elementBytes = 0;
  /// All bytes accessed; 0 if no lane loop accesses the operand with unit stride.
  int64_t bytes = 0;
  /// A power of two that divides the address of every row's first lane.
  uint64_t alignment = kArenaAlignment;
};
} // namespace

static int64_t bytesOf(Type type) { return ceilDiv(type.isIndex() ? 32 : type.getIntOrFloatBitWidth(), 8); }

static SmallVector<LaneAccess> readAccesses(const KernelAnalysis &kernel, ArrayRef<uint64_t> alignment) {
  SmallVector<LaneAccess> accesses(kernel.kernel.getLayouts().size());
  auto add = [&](unsigned operand, const Dims &dims) {
    if (!kernel.hasLane(dims))
      return;
    exec::RefType layout = kernel.layout(operand);
    LaneAccess &access = accesses[operand];
    access.elementBytes = bytesOf(layout.getElementType());
    if (!alignment.empty())
      access.alignment = std::gcd(access.alignment, alignment[operand]);
    int64_t laneStride = kernel.flat ? 1 : 0;
    for (auto [dim, stride] : llvm::zip(dims, layout.getStrides())) {
      if (kernel.isLane(dim))
        laneStride = kernel.flat ? 1 : laneStride + stride;
      else if (dim != kNoDim && kernel.rowSizes[dim] != 1)
        access.alignment = std::gcd(access.alignment, static_cast<uint64_t>(stride * access.elementBytes));
    }
    if (laneStride == 1)
      access.bytes = layout.getTensorType().getNumElements() * access.elementBytes;
  };
  for (auto &[op, node] : kernel.nodes)
    for (unsigned i = 0, e = node.op.getNumDpsInputs(); i < e; ++i)
      if (auto argument = dyn_cast<BlockArgument>(node.op.getDpsInputs()[i]))
        add(argument.getArgNumber(), node.operandDims(i));
  for (const Output &output : kernel.outputs)
    add(kernel.numIns() + output.number, output.dims);
  exec::visitTableReads(*kernel.kernel.getBlock(), [&](linalg::GenericOp generic, const exec::TableRead &read) {
    unsigned operand = read.table.getArgNumber();
    LaneAccess &access = accesses[operand];
    add(operand, {kNoDim, kernel.laneDim()});
    int64_t rowBytes = kernel.layout(operand).getStrides()[0] * access.elementBytes;
    access.alignment = std::gcd(access.alignment, static_cast<uint64_t>(rowBytes));
    // Counts only the rows of the table that are read.
    if (access.bytes)
      access.bytes = cast<RankedTensorType>(generic.getResult(0).getType()).getNumElements() * access.elementBytes;
  });
  return accesses;
}

static bool isAligned(const LaneAccess &access, int64_t width) {
  return access.bytes && access.alignment % std::min(kAccessBytes, width * access.elementBytes) == 0;
}

/// Chooses the number of lanes that a thread processes at once: at most 16 bytes of the narrowest floats. Takes fewer
/// while half of the bytes cannot be accessed as vectors of that width, because then neighbouring threads should access
/// neighbouring elements.
static int64_t chooseWidth(const KernelAnalysis &kernel, ArrayRef<LaneAccess> accesses) {
  bool hasHalves = llvm::any_of(accesses, [](const LaneAccess &a) { return a.bytes && a.elementBytes == 2; });
  int64_t width = hasHalves ? 8 : 4;
  if (!kernel.flat)
    width = std::min(width, powerCeil(kernel.lanes));
  int64_t all = 0;
  for (const LaneAccess &access : accesses)
    all += access.bytes;
  auto alignedBytes = [&] {
    int64_t sum = 0;
    for (const LaneAccess &access : accesses)
      sum += isAligned(access, width) ? access.bytes : 0;
    return sum;
  };
  while (width > 1 && 2 * alignedBytes() < all)
    width /= 2;
  return width;
}

//===----------------------------------------------------------------------===//
// Threads
//===----------------------------------------------------------------------===//

/// Returns the number of arrays over lanes that a thread keeps for sums over rows.
static int64_t countSums(const KernelAnalysis &kernel) {
  return llvm::count_if(
      kernel.nodes, [&](auto &entry) { return entry.second.reducesRows && kernel.hasLane(entry.second.resultDims()); });
}
/// Returns the number of arrays in shared memory that combine sums over rows (LaneReduce.h): one for each combiner and
/// type, of single elements or of W lanes.
static int64_t countRowArrays(const KernelAnalysis &kernel, bool ofLanes) {
  std::set<std::pair<codegen::Combine, const void *>> arrays;
  for (const auto &[op, node] : kernel.nodes)
    if (node.reducesRows && kernel.hasLane(node.resultDims()) == ofLanes)
      arrays.insert({node.combine, getElementTypeOrSelf(node.result()).getAsOpaquePointer()});
  return arrays.size();
}
/// Returns the number of such arrays for sums over the lanes of a row that several warps share.
static int64_t countLaneArrays(const KernelAnalysis &kernel) {
  std::set<std::pair<codegen::Combine, const void *>> arrays;
  for (const auto &[op, node] : kernel.nodes)
    if (node.loopsOverLanes())
      arrays.insert({node.combine, getElementTypeOrSelf(node.result()).getAsOpaquePointer()});
  return arrays.size();
}
static int64_t countKept(const KernelAnalysis &kernel) {
  return llvm::count_if(kernel.nodes, [](auto &entry) { return entry.second.kept; });
}
static int64_t countArrays(const KernelAnalysis &kernel) { return countSums(kernel) + countKept(kernel); }
static int64_t countLaneReductions(const KernelAnalysis &kernel) {
  return llvm::count_if(kernel.nodes, [](auto &entry) { return entry.second.loopsOverLanes(); });
}

/// Returns the bytes that a thread writes to shared memory to combine groups of threads, for all arrays together.
static int64_t bytesOfThread(const KernelAnalysis &kernel, const LaunchShape &shape) {
  return kPartialBytes * (countRowArrays(kernel, /*ofLanes=*/true) * shape.width + countRowArrays(kernel, false));
}

/// Returns the static shared memory of a block in bytes.
static int64_t sharedBytes(const KernelAnalysis &kernel, const LaunchShape &shape) {
  int64_t bytes = shape.rowThreads > kWarp ? countLaneArrays(kernel) * kWarp * kPartialBytes : 0;
  if (shape.rowGroups == 1 || shape.threads <= kWarp)
    return bytes;
  // Groups in the same warp are combined by shuffles first.
  int64_t groupsInWarp = shape.rowThreads < kWarp ? kWarp / shape.rowThreads : 1;
  return bytes + shape.threads / groupsInWarp * bytesOfThread(kernel, shape);
}

/// Distributes rows over groups of T <= 32 threads. The number of threads of a block is a power of two.
static void distributeRows(LaunchShape &shape, int64_t rows) {
  int64_t most = kBlockThreads / shape.rowThreads, least = kWarp / shape.rowThreads;
  shape.rowGroups = rows == 1 ? 1 : std::clamp(powerCeil(rows), least, most);
}

/// Distributes rows over a block if the number of blocks is fixed, at two or three per multiprocessor. A block
/// processes as many rows at once as the registers can hold, so that more loads are in flight. A row has whole warps,
/// and all groups have the same number of rows.
static void distributeWideRows(LaunchShape &shape, const KernelAnalysis &kernel, const LaunchLimits &limits,
                               int64_t rows) {
  int64_t turns = ceilDiv(kernel.lanes, shape.width * shape.rowThreads);
  int64_t registers = kBaseRegisters + shape.width * (countLaneReductions(kernel) + turns * countArrays(kernel));
  int64_t atOnce = ceilDiv(kernel.blocks(), limits.multiprocessors);
  int64_t most = std::min({kMaxThreads, limits.registers / registers / atOnce,
                           limits.sharedBytes / std::max<int64_t>(bytesOfThread(kernel, shape), 1)});
  shape.rowGroups = std::max<int64_t>(most / shape.rowThreads, 1);
  while (rows % shape.rowGroups != 0)
    --shape.rowGroups;
}

/// Chooses the threads of a row with more vectors than a warp has threads; they share the lanes evenly. If several
/// phases read a row, a multiprocessor should have several such rows at once while the rows of all multiprocessors stay
/// in the L2 cache between phases.
static int64_t chooseWideRow(const LaunchShape &shape, const KernelAnalysis &kernel, const LaunchLimits &limits,
                             ArrayRef<LaneAccess> accesses) {
  int64_t vectors = ceilDiv(kernel.lanes, shape.width), arrays = countArrays(kernel), most = kBlockThreads;
  int64_t rowBytes = 0;
  for (const LaneAccess &access : accesses.take_front(kernel.numIns()))
    rowBytes += access.bytes ? kernel.lanes * access.elementBytes : 0;
  int64_t limit = arrays == 0 && rowBytes <= limits.cachedRowBytes ? kMaxThreads / 2 : kMaxThreads;
  while (most < limit && ceilDiv(vectors, most) * shape.width * (1 + arrays) > kRegisterLanesOfLargeBlocks)
    most *= 2;
  if (countLaneReductions(kernel) == 0 && arrays == 0)
    most = kBlockThreads;
  return llvm::alignTo(ceilDiv(vectors, ceilDiv(vectors, most)), kWarp);
}

static void chooseRowThreads(LaunchShape &shape, const KernelAnalysis &kernel, const LaunchLimits &limits,
                             ArrayRef<LaneAccess> accesses) {
  int64_t blockRows = kernel.rows / kernel.blocks();
  if (!kernel.hasLanes()) {
    shape.rowThreads = 1;
    return distributeRows(shape, blockRows);
  }
  // A single warp needs no barriers, so it processes a row alone if its registers can hold the row. Sums over rows stay
  // in registers from row to row and would leave room for few warps.
  int64_t vectors = ceilDiv(kernel.lanes, shape.width), warpLanes = ceilDiv(vectors, kWarp) * shape.width;
  bool warp = countLaneReductions(kernel) > 0 && countSums(kernel) == 0 && kernel.rows >= kWarpRows &&
              warpLanes * std::max<int64_t>(countKept(kernel), 1) <= kRegisterLanes;
  if (vectors <= kWarp || warp) {
    shape.rowThreads = std::min(powerCeil(vectors), kWarp);
    return distributeRows(shape, blockRows);
  }
  shape.rowThreads = chooseWideRow(shape, kernel, limits, accesses);
  if (kernel.partition == Partition::Blocks)
    distributeWideRows(shape, kernel, limits, blockRows);
}

/// Chooses threads that each have W lanes of all rows. If the groups divide the lanes evenly, several groups share a
/// sum over rows, and each processes a part of the rows.
static void chooseLaneThreads(LaunchShape &shape, const KernelAnalysis &kernel, ArrayRef<LaneAccess> accesses) {
  shape.rowThreads = kBlockThreads;
  if (kernel.flat)
    return;
  int64_t vectors = ceilDiv(kernel.lanes, shape.width), rows = kernel.rows / kernel.blocks();
  shape.rowThreads = std::min<int64_t>(llvm::alignTo(vectors, kWarp), kBlockThreads);
  bool onlySums = llvm::all_of(kernel.outputs, [](const Output &output) { return output.node->reducesRows; });
  int64_t narrowest = 4;
  for (const LaneAccess &access : accesses)
    narrowest = access.bytes ? std::min(narrowest, access.elementBytes) : narrowest;
  int64_t threads = ceilDiv(kSectorBytes, narrowest * shape.width);
  if (!onlySums || rows < 2 || kernel.lanes % (threads * shape.width) != 0)
    return;
  while (threads < kWarp && kernel.lanes % (2 * threads * shape.width) == 0 && vectors / threads > 2 * kWarpRows)
    threads *= 2;
  shape.rowThreads = threads;
  distributeRows(shape, rows);
}

LaunchShape codegen::launchShape(const KernelAnalysis &kernel, const LaunchLimits &limits, ArrayRef<uint64_t> alignment,
                                 bool isBatched) {
  LaunchShape shape;
  shape.hasTable = kernel.flat || kernel.anyRows || (isBatched && kernel.partition != Partition::Blocks);
  SmallVector<LaneAccess> accesses = readAccesses(kernel, alignment);
  shape.width = kernel.hasLanes() ? chooseWidth(kernel, accesses) : 1;
  shape.aligned.resize(accesses.size());
  for (auto [i, access] : llvm::enumerate(accesses))
    shape.aligned[i] = isAligned(access, shape.width);

  int64_t vectors = ceilDiv(kernel.lanes, shape.width);
  switch (kernel.partition) {
  case Partition::Rows:
    chooseRowThreads(shape, kernel, limits, accesses);
    shape.blocks = std::min(ceilDiv(kernel.rows, shape.rowGroups), kMaxGridBlocks);
    break;
  case Partition::Blocks:
    chooseRowThreads(shape, kernel, limits, accesses);
    shape.blocks = kernel.blocks();
    break;
  case Partition::Lanes:
    chooseLaneThreads(shape, kernel, accesses);
    shape.blocks = kernel.flat ? 0 : std::min(ceilDiv(vectors, shape.rowThreads), kMaxGridBlocks);
    break;
  }
  shape.threads = shape.rowThreads * shape.rowGroups;
  if (shape.hasTable)
    shape.part = kernel.partition == Partition::Rows ? shape.rowGroups : shape.rowThreads * shape.width;
  int64_t atOnce = ceilDiv(shape.blocks, limits.multiprocessors);
  if (kernel.flat) // ptxas would aim at more blocks, and spill with three operands
    shape.blocksAtOnce = kFlatBlocksAtOnce;
  else if (kernel.hasLanes() && !isBatched && atOnce * shape.threads < limits.threads / 2)
    shape.blocksAtOnce = atOnce;
  else if (shape.threads >= kMaxThreads / 2) // leaves registers for several loads per thread
    shape.blocksAtOnce = kMaxThreads / shape.threads;
  if (kernel.partition != Partition::Lanes) {
    shape.iterations = ceilDiv(vectors, shape.rowThreads);
    int64_t held = shape.iterations * shape.width * countArrays(kernel);
    shape.keeps = held <= (shape.threads > kMaxThreads / 2 ? kRegisterLanesOfLargeBlocks : kRegisterLanes);
  }
  shape.sharedBytes = sharedBytes(kernel, shape);
  return shape;
}

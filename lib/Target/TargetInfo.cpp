//===- TargetInfo.cpp - the table of targets ------------------------------===//

#include "lib/Target/TargetInfo.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace braid;

//===----------------------------------------------------------------------===//
// GPUs
//===----------------------------------------------------------------------===//

static constexpr int64_t KiB = 1 << 10, MiB = 1 << 20, GB = 1'000'000'000;

/// Sums of cuDNN's kernels for Ampere, which other architectures use, too.
static constexpr AttentionSums ampereSums = {/*fixedTakesScores=*/true, /*hasSerial=*/false, /*queryGradients=*/2};
static constexpr AttentionSums hopperSums = {/*fixedTakesScores=*/true, /*hasSerial=*/true, /*queryGradients=*/1};

// GPUs by architecture; the first of an architecture stands for it. Shared memory, registers and threads are those of
// the compute capability in the CUDA C++ Programming Guide; the rest is from NVIDIA's data sheets and architecture
// white papers.  A link is NVLink, or the card's PCIe without NVLink; the link to the host is PCIe, of generation 4 or
// 5 with 16 lanes.  The workspace of a matmul is that of cublasSetWorkspace in the cuBLAS documentation; sums of
// attention are those of cuDNN 9.19's plans (test/cuda/attention-plans.test).  CTAs: NCCL 2.28's own choice
// inside a node, 16 for NVLS of Hopper and 24 of Blackwell (nvls.cc), two for each of the 12 NVLinks of an
// A100. For PCIe one per about 8 GB/s; its developers say two for 12 to 24 (NVIDIA/nccl#689).
static constexpr GpuInfo gpus[] = {
    {/*arch=*/"sm_80", /*name=*/"a100", /*card=*/"A100 SXM 80 GB", /*multiprocessors=*/108,
     /*blockSharedBytes=*/163 * KiB,
     /*sharedBytes=*/164 * KiB, /*registers=*/65536, /*threads=*/2048, /*memoryBytes=*/80 * GB,
     /*bytesPerSecond=*/2.039e12, /*linkBytesPerSecond=*/600e9, /*hostBytesPerSecond=*/64e9, /*bf16Flops=*/312e12,
     /*tf32Flops=*/156e12, /*f32Flops=*/19.5e12, /*matmulWorkspace=*/4 * MiB, /*commCtas=*/24,
     /*attentionSums=*/ampereSums},
    {/*arch=*/"sm_80", /*name=*/"a100-40gb", /*card=*/"A100 SXM 40 GB", /*multiprocessors=*/108,
     /*blockSharedBytes=*/163 * KiB, /*sharedBytes=*/164 * KiB, /*registers=*/65536, /*threads=*/2048,
     /*memoryBytes=*/40 * GB, /*bytesPerSecond=*/1.555e12, /*linkBytesPerSecond=*/600e9, /*hostBytesPerSecond=*/64e9,
     /*bf16Flops=*/312e12, /*tf32Flops=*/156e12, /*f32Flops=*/19.5e12, /*matmulWorkspace=*/4 * MiB, /*commCtas=*/24,
     /*attentionSums=*/ampereSums},
    {/*arch=*/"sm_86", /*name=*/"a10", /*card=*/"A10", /*multiprocessors=*/72, /*blockSharedBytes=*/99 * KiB,
     /*sharedBytes=*/100 * KiB, /*registers=*/65536, /*threads=*/1536, /*memoryBytes=*/24 * GB,
     /*bytesPerSecond=*/600e9, /*linkBytesPerSecond=*/64e9, /*hostBytesPerSecond=*/64e9, /*bf16Flops=*/125e12,
     /*tf32Flops=*/62.5e12, /*f32Flops=*/31.2e12, /*matmulWorkspace=*/4 * MiB, /*commCtas=*/4,
     /*attentionSums=*/ampereSums},
    // bf16: half of the 733 that the sheet gives "with sparsity", and twice its TF32; its 362.05 for dense fits
    // neither.
    {/*arch=*/"sm_89", /*name=*/"l40s", /*card=*/"L40S", /*multiprocessors=*/142, /*blockSharedBytes=*/99 * KiB,
     /*sharedBytes=*/100 * KiB, /*registers=*/65536, /*threads=*/1536, /*memoryBytes=*/48 * GB,
     /*bytesPerSecond=*/864e9, /*linkBytesPerSecond=*/64e9, /*hostBytesPerSecond=*/64e9, /*bf16Flops=*/366.5e12,
     /*tf32Flops=*/183e12, /*f32Flops=*/91.6e12, /*matmulWorkspace=*/4 * MiB, /*commCtas=*/4,
     /*attentionSums=*/ampereSums},
    // Tensor cores: with sums in f32, which are half as fast as in f16.
    {/*arch=*/"sm_89", /*name=*/"rtx4090", /*card=*/"GeForce RTX 4090", /*multiprocessors=*/128,
     /*blockSharedBytes=*/99 * KiB, /*sharedBytes=*/100 * KiB, /*registers=*/65536, /*threads=*/1536,
     /*memoryBytes=*/24 * GB, /*bytesPerSecond=*/1.008e12, /*linkBytesPerSecond=*/64e9, /*hostBytesPerSecond=*/64e9,
     /*bf16Flops=*/165.2e12, /*tf32Flops=*/82.6e12, /*f32Flops=*/82.6e12, /*matmulWorkspace=*/4 * MiB, /*commCtas=*/4,
     /*attentionSums=*/ampereSums},
    {/*arch=*/"sm_90",
     /*name=*/"h100",
     /*card=*/"H100 SXM 80 GB",
     /*multiprocessors=*/132,
     /*blockSharedBytes=*/227 * KiB,
     /*sharedBytes=*/228 * KiB,
     /*registers=*/65536,
     /*threads=*/2048,
     /*memoryBytes=*/80 * GB,
     /*bytesPerSecond=*/3.35e12,
     /*linkBytesPerSecond=*/900e9,
     /*hostBytesPerSecond=*/128e9,
     /*bf16Flops=*/989e12,
     /*tf32Flops=*/494.7e12,
     /*f32Flops=*/67e12,
     /*matmulWorkspace=*/32 * MiB,
     /*commCtas=*/16,
     /*attentionSums=*/hopperSums,
     /*biasGradSlowdown=*/1.45,
     /*isDefault=*/true}, // measured: 1.42 to 1.49 for gradients of 768 x 768 to 3072 x 768
    // An H100 with other memory.
    {/*arch=*/"sm_90", /*name=*/"h200", /*card=*/"H200 SXM 141 GB", /*multiprocessors=*/132,
     /*blockSharedBytes=*/227 * KiB, /*sharedBytes=*/228 * KiB, /*registers=*/65536, /*threads=*/2048,
     /*memoryBytes=*/141 * GB, /*bytesPerSecond=*/4.8e12, /*linkBytesPerSecond=*/900e9, /*hostBytesPerSecond=*/128e9,
     /*bf16Flops=*/989e12, /*tf32Flops=*/494.7e12, /*f32Flops=*/67e12, /*matmulWorkspace=*/32 * MiB, /*commCtas=*/16,
     /*attentionSums=*/hopperSums, /*biasGradSlowdown=*/1.45},
    // The link is PCIe: bridges of NVLink join two cards.
    {/*arch=*/"sm_90", /*name=*/"h100-pcie", /*card=*/"H100 PCIe 80 GB", /*multiprocessors=*/114,
     /*blockSharedBytes=*/227 * KiB, /*sharedBytes=*/228 * KiB, /*registers=*/65536, /*threads=*/2048,
     /*memoryBytes=*/80 * GB, /*bytesPerSecond=*/2e12, /*linkBytesPerSecond=*/128e9, /*hostBytesPerSecond=*/128e9,
     /*bf16Flops=*/756e12, /*tf32Flops=*/378e12, /*f32Flops=*/51e12, /*matmulWorkspace=*/32 * MiB, /*commCtas=*/8,
     /*attentionSums=*/hopperSums, /*biasGradSlowdown=*/1.45},
    // Multiprocessors: as the device reports them.  Memory: 7.7 TB/s of the data sheet,
    // which is also the bus width times the clock that it reports; 8 TB/s was an earlier figure.
    // FLOPs: the data sheet of HGX B200 is for eight GPUs, so an eighth of it, and half of that for
    // numbers "with sparsity"; memory likewise.
    {/*arch=*/"sm_100", /*name=*/"b200", /*card=*/"B200", /*multiprocessors=*/148, /*blockSharedBytes=*/227 * KiB,
     /*sharedBytes=*/228 * KiB, /*registers=*/65536, /*threads=*/2048, /*memoryBytes=*/180 * GB,
     /*bytesPerSecond=*/7.7e12, /*linkBytesPerSecond=*/1800e9, /*hostBytesPerSecond=*/128e9, /*bf16Flops=*/2250e12,
     /*tf32Flops=*/1125e12, /*f32Flops=*/75e12, /*matmulWorkspace=*/32 * MiB, /*commCtas=*/24,
     /*attentionSums=*/{/*fixedTakesScores=*/false, /*hasSerial=*/false, /*queryGradients=*/2}},
    {/*arch=*/"sm_120", /*name=*/"rtx5090", /*card=*/"GeForce RTX 5090", /*multiprocessors=*/170,
     /*blockSharedBytes=*/99 * KiB,
     /*sharedBytes=*/100 * KiB, /*registers=*/65536, /*threads=*/1536, /*memoryBytes=*/32 * GB,
     /*bytesPerSecond=*/1.792e12, /*linkBytesPerSecond=*/128e9, /*hostBytesPerSecond=*/128e9, /*bf16Flops=*/209.5e12,
     /*tf32Flops=*/104.8e12, /*f32Flops=*/104.8e12, /*matmulWorkspace=*/12 * MiB, /*commCtas=*/8,
     /*attentionSums=*/ampereSums},
};

/// Usual shares of an H100's data sheet in published benchmarks.  Products that no table of lib/Cost prices: 0.75 in
/// f32 (without TF32) and 0.61 in dense bf16. f32 vector code 0.60, HBM3 0.84, NVLink between the GPUs of a machine
/// 0.78 (NCCL's bus bandwidth); an action of a captured graph takes 2 us.  In training steps, an H100 reached 574e12
/// to 724e12 FLOPs of bf16 GEMMs per second, and 2.81e12 bytes per second (docs/CUDA.md); the others are not
/// measured. Other GPUs are assumed to reach the same shares of theirs.  Copies to and from the host: four fifths of
/// PCIe's rate in one direction, and a launch for each.
static TargetRates ratesOf(const GpuInfo &gpu) {
  const GpuInfo &h100 = *llvm::find_if(gpus, [](const GpuInfo &gpu) { return gpu.name == "h100"; });
  return {/*matrixFlops=*/gpu.f32Flops / h100.f32Flops * 50e12,
          /*halfMatrixFlops=*/gpu.bf16Flops / h100.bf16Flops * 600e12,
          /*vectorFlops=*/gpu.f32Flops / h100.f32Flops * 40e12,
          /*bytesPerSecond=*/gpu.bytesPerSecond / h100.bytesPerSecond * 2.8e12,
          /*launchSeconds=*/2e-6,
          /*linkLatency=*/8e-6,
          /*linkBytesPerSecond=*/gpu.linkBytesPerSecond / h100.linkBytesPerSecond * 350e9,
          /*hostLatency=*/2e-6,
          /*hostBytesPerSecond=*/0.8 * gpu.hostBytesPerSecond / 2};
}

/// Launch limits of all rows: a large GPU with an L2 cache of 40 MB, between an A100 and a B200, by their data
/// sheets.  A row gets limits of its own when shapes have been measured there.  A block may have 48 KiB of shared
/// memory without asking for more.
static constexpr LaunchLimits largeGpu = {/*multiprocessors=*/128, /*registers=*/65536, /*threads=*/2048,
                                          /*cachedRowBytes=*/128 * KiB, /*sharedBytes=*/40 * KiB};

//===----------------------------------------------------------------------===//
// Targets
//===----------------------------------------------------------------------===//

static constexpr llvm::StringLiteral cpuTransports[] = {"threads", "gloo", "mpi"};
static constexpr llvm::StringLiteral cudaTransports[] = {"nccl", "gloo", "mpi", "device-threads"};

/// Rates of one core, because a rank that is a thread has about one.  Its link is shared memory.
/// Rows begin at cache lines: with unaligned rows of 50257 logits in bf16, oneDNN's GEMM for their
/// weight's gradient takes 1.19 times as long.  After 64 MiB of traffic, data is no longer in a core's
/// caches.  With 256 rows of a result, oneDNN copies panels as fast as our code. With 1024 rows, a
/// product with ready panels takes 0.92 of the time, and the copy 0.01.
static const TargetInfo cpu = {
    /*name=*/"cpu",
    /*alignment=*/64,
    /*rowAlignment=*/64,
    /*reductionBlocks=*/16,
    /*workspace=*/
    {/*matmul=*/8 * MiB, /*dependsOnShape=*/true, /*attention=*/{}, /*attentionCache=*/512 * KiB, /*perIndex=*/0,
     /*perRow=*/0, /*fixed=*/0},
    /*biasEpilogue=*/true,
    /*geluTanhEpilogue=*/true,
    /*geluErfEpilogue=*/true,
    /*siluEpilogue=*/true,
    /*geluAuxMultiple=*/0,
    /*biasGradEpilogue=*/false,
    /*addendEpilogue=*/false,
    /*attention=*/{},
    /*maxTileHeadSize=*/256,
    /*transports=*/cpuTransports,
    /*rates=*/
    {/*matrixFlops=*/100e9, /*halfMatrixFlops=*/200e9, /*vectorFlops=*/12e9, /*bytesPerSecond=*/10e9,
     /*launchSeconds=*/2e-6, /*linkLatency=*/10e-6, /*linkBytesPerSecond=*/4e9, /*hostLatency=*/2e-6,
     /*hostBytesPerSecond=*/10e9},
    /*gpu=*/nullptr,
    /*launch=*/nullptr,
    /*streamDistance=*/64 * MiB,
    /*matmulMultiple=*/0,
    /*panelRows=*/512,
    /*supportsF32Scatter=*/false,
};

/// Returns the row of a GPU. The attention limits are those of cuDNN 9 in both directions on
/// every GPU from sm_80 (forward, and backward on sm_90, support up to 256).
static TargetInfo cudaTarget(const GpuInfo &gpu) {
  return {
      /*name=*/"cuda",
      /*alignment=*/256,
      /*rowAlignment=*/128,
      /*reductionBlocks=*/256,
      /*workspace=*/
      {/*matmul=*/gpu.matmulWorkspace, /*dependsOnShape=*/false, /*attention=*/gpu.attentionSums, /*attentionCache=*/0,
       /*perIndex=*/16,
       /*perRow=*/4, /*fixed=*/4},
      /*biasEpilogue=*/true,
      /*geluTanhEpilogue=*/true,
      /*geluErfEpilogue=*/false,
      /*siluEpilogue=*/false,
      /*geluAuxMultiple=*/8,
      /*biasGradEpilogue=*/true,
      /*addendEpilogue=*/true,
      /*attention=*/
      {/*maxHeadSize=*/128, /*headSizeStep=*/8, /*minPositions=*/2},
      /*maxTileHeadSize=*/256,
      /*transports=*/cudaTransports,
      /*rates=*/ratesOf(gpu),
      /*gpu=*/&gpu,
      /*launch=*/&largeGpu,
      /*streamDistance=*/0,
      /*matmulMultiple=*/16,
      /*panelRows=*/0,
      /*supportsF32Scatter=*/true,
  };
}

/// Returns the rows of the table: the CPU, and each GPU.
static ArrayRef<TargetInfo> targets() {
  static const auto rows = [] {
    SmallVector<TargetInfo, 0> rows{cpu};
    llvm::append_range(rows, llvm::map_range(gpus, cudaTarget));
    return rows;
  }();
  return rows;
}

bool braid::isSameOrOlder(StringRef older, StringRef arch) {
  auto familyOf = [](StringRef name) { return name.take_until(llvm::isDigit); };
  StringRef own = older.drop_front(familyOf(older).size()), other = arch.drop_front(familyOf(arch).size());
  unsigned least, number;
  return familyOf(older) == familyOf(arch) && !own.consumeInteger(10, least) && !other.consumeInteger(10, number) &&
         (other.empty() || other == "a") && least <= number;
}

const TargetInfo *braid::lookupTarget(StringRef name, StringRef arch, StringRef card) {
  const TargetInfo *found = nullptr;
  for (const TargetInfo &target : targets()) {
    if (target.name != name)
      continue;
    const GpuInfo *gpu = target.gpu;
    bool isNext = gpu && found && found->gpu->arch == gpu->arch;
    // A GPU between two rows counts as the older one.
    if (!gpu            ? arch.empty() && card.empty()
        : !card.empty() ? gpu->name == card
        : arch.empty()  ? gpu->isDefault
                        : !isNext && isSameOrOlder(gpu->arch, arch))
      found = &target;
  }
  return found;
}

const GpuInfo &braid::firstOfArch(const GpuInfo &gpu) {
  return *llvm::find_if(gpus, [&](const GpuInfo &other) { return other.arch == gpu.arch; });
}

/// Returns the module's `exec.target`; null without one.
static exec::TargetAttr attributeOf(ModuleOp module) {
  return !module ? exec::TargetAttr() : module->getAttrOfType<exec::TargetAttr>(exec::ExecDialect::kTarget);
}

const TargetInfo *braid::targetOf(Operation *op) {
  ModuleOp module = isa<ModuleOp>(op) ? cast<ModuleOp>(op) : op->getParentOfType<ModuleOp>();
  exec::TargetAttr attr = attributeOf(module);
  if (!attr)
    return lookupTarget(cpu.name);
  const TargetInfo *target = lookupTarget(attr.getName(), attr.getArch(), attr.getCard());
  if (target)
    return target;
  InFlightDiagnostic error = module.emitError();
  if (!lookupTarget(attr.getName()))
    error << "unknown target '" << attr.getName() << "' in " << exec::ExecDialect::kTarget
          << " (targets: " << targetNames() << ")";
  else
    error << "unknown " << (attr.getCard().empty() ? "architecture '" : "card '")
          << (attr.getCard().empty() ? attr.getArch() : attr.getCard()) << "' in " << exec::ExecDialect::kTarget
          << " for target '" << attr.getName() << "'";
  return nullptr;
}

exec::TargetAttr braid::targetAttr(MLIRContext *context, StringRef name, StringRef arch, StringRef card) {
  const TargetInfo *target = lookupTarget(name, arch, card);
  bool takesRow = target && target->gpu && arch.empty();
  return exec::TargetAttr::get(context, name, takesRow ? StringRef(target->gpu->arch) : arch, card);
}

std::string braid::targetText(ModuleOp module) {
  exec::TargetAttr attr = attributeOf(module);
  if (!attr)
    return cpu.name.str();
  StringRef gpu = attr.getCard().empty() ? attr.getArch() : attr.getCard();
  return gpu.empty() ? attr.getName().str() : (attr.getName() + ":" + gpu).str();
}

std::string braid::targetNames() {
  SmallVector<StringRef> names;
  for (const TargetInfo &target : targets())
    if (!llvm::is_contained(names, target.name))
      names.push_back(target.name);
  return llvm::join(names, ", ");
}

std::string braid::cardNames() {
  return llvm::join(llvm::map_range(gpus, [](const GpuInfo &gpu) -> StringRef { return gpu.name; }), ", ");
}

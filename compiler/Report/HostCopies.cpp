//===- HostCopies.cpp - copies between a device and its host --------------===//

#include "compiler/Report/Report.h"
#include "dialects/Comm/Comm.h"
#include "dialects/Comm/Timing.h"
#include "lib/Memory/Size.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace braid;

static HostCopyReport readCopy(comm::CopyOp copy, Operation *action, const llvm::StringMap<exec::BufferOp> &buffers) {
  HostCopyReport report{};
  report.isToHost = copy.getTo() == comm::Memory::Host;
  for (Value ref : report.isToHost ? copy.getOuts() : copy.getIns()) {
    report.bytes += cast<exec::RefType>(ref.getType()).getSpanBytes();
    auto to = ref.getDefiningOp<exec::RefOp>();
    exec::BufferOp buffer = buffers.lookup(to.getBuffer());
    report.symbols.push_back(to.getBuffer().str());
    report.tensors.push_back(buffer ? buffer.getName().str() : to.getBuffer().str());
  }
  if (std::optional<comm::Timing> timing = comm::timingOf(action)) {
    report.predictedSeconds = timing->predicted;
    report.exposedSeconds = timing->exposed;
    report.waitsFor = timing->waitsFor;
  }
  return report;
}

std::vector<HostCopyReport> braid::readHostCopies(ModuleOp module) {
  std::vector<HostCopyReport> copies;
  for (auto program : module.getOps<exec::ProgramOp>()) {
    llvm::DenseMap<Operation *, size_t> started;
    llvm::StringMap<exec::BufferOp> buffers;
    for (auto buffer : program.getBody().getOps<exec::BufferOp>())
      buffers[buffer.getSymName()] = buffer;
    int64_t number = 0;
    for (auto action : program.getBody().front().getOps<exec::ActionOpInterface>()) {
      comm::CopyOp copy = comm::copyOf(action);
      if (copy && action.getActionBegin() == action) {
        started[action] = copies.size();
        copies.push_back(readCopy(copy, action, buffers));
        copies.back().program = program.getSymName().str();
        copies.back().first = copies.back().last = number;
      } else if (copy) {
        copies[started.lookup(action.getActionBegin())].last = number;
      }
      ++number;
    }
  }
  return copies;
}

/// Returns whether the tensor is away from the device: from the end of its copy to the host to the start of the copy
/// back.
static bool isOffloadedAt(const PlanTensor &tensor, int64_t action, ArrayRef<HostCopyReport> copies) {
  return llvm::all_of(copies, [&](const HostCopyReport &copy) {
    return !llvm::is_contained(copy.symbols, tensor.symbol) ||
           (copy.isToHost ? copy.last < action : action < copy.first);
  });
}

std::vector<WaitingActivations> braid::readWaitingActivations(const MemoryPlan &plan, ArrayRef<HostCopyReport> copies) {
  std::vector<WaitingActivations> found;
  for (const ProgramPlan &program : plan.programs) {
    std::vector<HostCopyReport> programCopies;
    llvm::copy_if(copies, std::back_inserter(programCopies),
                  [&](const auto &copy) { return copy.program == program.name; });
    WaitingActivations waiting{program.name};
    for (const PlanTensor &tensor : program.onHost) {
      ++waiting.count;
      waiting.bytes += tensor.bytes;
      waiting.offloadedBytesAtPeak += isOffloadedAt(tensor, program.peakAction, programCopies) ? tensor.bytes : 0;
    }
    if (waiting.count > 0)
      found.push_back(std::move(waiting));
  }
  return found;
}

void braid::printWaitingActivations(llvm::raw_ostream &stream, ArrayRef<WaitingActivations> waiting) {
  for (const WaitingActivations &activations : waiting)
    stream << llvm::formatv("\nactivations of program {0} that wait in pinned memory of the host: {1}, of {2} ({3} "
                            "bytes), of which {4} ({5} bytes) are free on the device at the peak\n",
                            activations.program, activations.count, formatSize(activations.bytes), activations.bytes,
                            formatSize(activations.offloadedBytesAtPeak), activations.offloadedBytesAtPeak);
}

void braid::printHostCopies(llvm::raw_ostream &stream, ArrayRef<HostCopyReport> copies) {
  struct Sum {
    int64_t bytes = 0, count = 0;
    double seconds = 0, exposed = 0;
  };
  llvm::MapVector<std::pair<StringRef, unsigned>, Sum> sums;
  for (const HostCopyReport &copy : copies) {
    Sum &sum = sums[{copy.program, copy.isToHost}];
    sum.bytes += copy.bytes;
    ++sum.count;
    sum.seconds += copy.predictedSeconds;
    sum.exposed += copy.exposedSeconds;
  }
  for (auto &[key, sum] : sums)
    stream << llvm::formatv(
        "\ncopies of program {0} {1} the host: {2}, of {3} ({4} bytes), predicted {5}, exposed {6}\n", key.first,
        key.second ? "to" : "from", sum.count, formatSize(sum.bytes), sum.bytes, formatSeconds(sum.seconds),
        formatSeconds(sum.exposed));
}

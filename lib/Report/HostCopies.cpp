//===- HostCopies.cpp - what goes between a device and its host -----------===//

#include "lib/Report/HostCopies.h"
#include "dialects/Comm/Comm.h"
#include "dialects/Comm/Timing.h"
#include "lib/Memory/Size.h"
#include "lib/Report/Report.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace braid;

static HostCopyReport readCopy(comm::CopyOp copy, Operation *action) {
  HostCopyReport report{};
  report.isToHost = copy.getTo() == comm::Memory::Host;
  for (Value ref : report.isToHost ? copy.getOuts() : copy.getIns()) {
    report.bytes += cast<exec::RefType>(ref.getType()).getSpanBytes();
    report.tensors.push_back(ref.getDefiningOp<exec::RefOp>().getBuffer().str());
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
    int64_t number = 0;
    for (auto action : program.getBody().front().getOps<exec::ActionOpInterface>()) {
      comm::CopyOp copy = comm::copyOf(action);
      if (copy && action.getActionBegin() == action) {
        started[action] = copies.size();
        copies.push_back(readCopy(copy, action));
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

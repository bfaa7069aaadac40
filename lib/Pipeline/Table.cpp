//===- Table.cpp - a pipeline's schedule as data --------------------------===//

#include "lib/Pipeline/Table.h"
#include "lib/Pipeline/Failure.h"

using namespace braid::pipeline;

char braid::pipeline::letterOf(Action action) { return "FBIW"[static_cast<int>(action)]; }

std::string Cell::str() const { return std::to_string(stage) + letterOf(action) + std::to_string(microbatch); }

std::string braid::pipeline::counted(uint64_t number, llvm::StringRef noun, llvm::StringRef plural) {
  std::string many = plural.empty() ? (noun + "s").str() : plural.str();
  return std::to_string(number) + " " + (number == 1 ? noun.str() : many);
}

llvm::Error braid::pipeline::checkSize(uint64_t stages, uint64_t microbatches) {
  if (stages <= kMaxStageMicrobatches && microbatches <= kMaxStageMicrobatches &&
      stages * microbatches <= kMaxStageMicrobatches)
    return llvm::Error::success();
  return failure("{0} for {1} are too many: a schedule has at most {2} pairs of a stage and a microbatch",
                 counted(microbatches, "microbatch", "microbatches"), counted(stages, "stage"), kMaxStageMicrobatches);
}

//===- Generators.cpp - schedules with a name -----------------------------===//

#include "lib/Pipeline/Generators.h"
#include "lib/Pipeline/Failure.h"
#include "llvm/ADT/STLExtras.h"

using namespace braid::pipeline;
using llvm::Error;

llvm::ArrayRef<const Generator *> braid::pipeline::generators() {
  static const Generator *const all[] = {&gpipe(), &oneForwardOneBackward(), &interleaved(), &zbH1(), &zbV()};
  return all;
}

const Generator *braid::pipeline::findGenerator(llvm::StringRef name) {
  auto found = llvm::find_if(generators(), [&](const Generator *generator) { return generator->name == name; });
  return found == generators().end() ? nullptr : *found;
}

/// Returns the multiples of the number of ranks that are nearest to the number of microbatches.
static std::string nearestRounds(Shape shape) {
  unsigned lower = shape.microbatches / shape.ranks * shape.ranks;
  std::string upper = std::to_string(uint64_t(lower) + shape.ranks);
  return lower ? std::to_string(lower) + " or " + upper : upper;
}

Error braid::pipeline::check(const Generator &generator, Shape shape) {
  if (!shape.ranks || !shape.microbatches || !shape.chunks)
    return failure("{0} needs at least 1 rank, 1 microbatch and 1 chunk a rank, not {1}, {2} and {3}", generator.name,
                   shape.ranks, shape.microbatches, shape.chunks);
  if (generator.chunks && shape.chunks != generator.chunks)
    return failure("{0} has {1} a rank, not {2}{3}", generator.name, counted(generator.chunks, "chunk"), shape.chunks,
                   shape.chunks > 1 ? "; interleaved takes any number" : "");
  if (Error error = checkSize(uint64_t(shape.ranks) * shape.chunks, shape.microbatches))
    return error;
  if (generator.needsFullRounds && shape.microbatches % shape.ranks)
    return failure("{0} on {1} needs a multiple of {2} as number of microbatches: {3} instead of {4}", generator.name,
                   counted(shape.ranks, "rank"), shape.ranks, nearestRounds(shape), shape.microbatches);
  return Error::success();
}

llvm::Expected<Schedule> braid::pipeline::generate(const Generator &generator, Shape shape) {
  if (Error error = check(generator, shape))
    return error;
  llvm::Expected<Schedule> schedule = verify(generator.make(shape));
  if (schedule)
    schedule->align();
  return schedule;
}

//===- Arguments.h - checks of what a caller passes ------------------------===//
//
// Every function of braid/step.h checks its pointers, enumerations and numbers before it uses them. Each check throws
// Error with the value and the valid ones.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LIBRARY_ARGUMENTS_H
#define BRAID_LIBRARY_ARGUMENTS_H

#include "braid/step.h"

#include "braid_rt.h"

#include <initializer_list>

namespace braid {

// A pointer that must not be null, and its name in messages.
struct PointerArgument {
  const char *name;
  const void *value;
};
void checkPointers(const char *function, std::initializer_list<PointerArgument> pointers);

// Returns the element type of the runtime.
br_dtype checkedType(braid_type type);
void checkExtent(braid_extent extent);

void checkOptions(const braid_options &options);
void checkLearningRate(float rate);
// `keep` is a number of checkpoints.
void checkKeep(int32_t keep);

} // namespace braid
#endif // BRAID_LIBRARY_ARGUMENTS_H

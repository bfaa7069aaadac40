//===- DeferredTarget.h - a target that does nothing before it must -------===//
//
// A target on the host that runs as late as a device might. A program runs when its results are read, or when the host
// needs memory that still holds its inputs. The host cannot access the arena directly.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_TEST_DEFERREDTARGET_H
#define BRAID_TEST_DEFERREDTARGET_H

#include "braid_rt.h"

namespace braid::test {

// Returns the same model for this target.
br_model deferred(const br_model &model);

// Number of results, over all contexts, that were read after a later run of their program had started.
extern int lateResults;

} // namespace braid::test
#endif // BRAID_TEST_DEFERREDTARGET_H

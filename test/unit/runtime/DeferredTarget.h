//===- DeferredTarget.h - a target that does nothing before it must -------===//
//
// It runs on the host, but as late as a device might: a program runs when its results
// are asked for, or when the host wants a place that its inputs still hold.  The arena
// is out of the host's reach.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_TEST_DEFERREDTARGET_H
#define BRAID_TEST_DEFERREDTARGET_H

#include "braid_rt.h"

namespace braid::test {

// The same model for that target.
br_model deferred(const br_model &model);

// Of all contexts since the start: results that were asked for when a later run of
// their program had been started.
extern int lateResults;

} // namespace braid::test
#endif // BRAID_TEST_DEFERREDTARGET_H

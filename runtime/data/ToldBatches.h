//===- ToldBatches.h - batches that another rank reads --------------------===//
//
// Where a rank serves the others, their programs take no data: their part is sent to
// them in the program.  But they run the same training loop, which goes by sizes of
// the data, and so learn these from the rank that reads.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_DATA_TOLDBATCHES_H
#define BRAID_DATA_TOLDBATCHES_H

#include "data/Batches.h"

#include <functional>

namespace braid {

// Whether a program has inputs that are filled from data.
bool takesData(const br_program &program);

// What `open` gives on ranks whose programs take data; elsewhere a source that fills
// nothing and has the same sizes.  All ranks call it together; if one cannot open its
// data, all throw Error.
std::unique_ptr<BatchSource> openOrBeTold(Model &model, const br_program *training, const br_program *evaluation,
                                          const std::function<std::unique_ptr<BatchSource>()> &open);

} // namespace braid
#endif // BRAID_DATA_TOLDBATCHES_H

//===- BroadcastBatches.h - batches that another rank reads ---------------===//
//
// Where one rank serves the others, their programs take no data: the program itself sends
// them their part.  But they run the same training loop, which depends on the sizes of the
// data, so the rank that reads the data broadcasts these sizes.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_DATA_BROADCASTBATCHES_H
#define BRAID_DATA_BROADCASTBATCHES_H

#include "data/Batches.h"

#include <functional>

namespace braid {

// Whether a program has inputs that are filled from data.
bool takesData(const br_program &program);

// Returns what `open` returns on ranks whose programs take data; on the others a source
// that fills nothing and has the same sizes.  All ranks must call it; if one cannot open
// its data, all throw Error.
std::unique_ptr<BatchSource> openOrReceiveSizes(Model &model, const br_program *training, const br_program *evaluation,
                                                const std::function<std::unique_ptr<BatchSource>()> &open);

} // namespace braid
#endif // BRAID_DATA_BROADCASTBATCHES_H

//===- Connect.h - connect a rank of this process to the others -----------===//
#ifndef BRAID_LAUNCH_CONNECT_H
#define BRAID_LAUNCH_CONNECT_H

#include "comm/Bootstrap.h"
#include "launch/Ranks.h"

#include <exception>

namespace braid {

// Returns the cores for rank `index` of this process. Throws Error if its threads cannot be started.
Placement placeHere(const RankPlan &plan, const RankOptions &options, int index = 0);

Joining joiningOf(const RankPlan &plan, const RankOptions &options, int index = 0);
BootstrapOptions bootstrapOptionsOf(const br_model &model, const RankPlan &plan, const RankOptions &options,
                                    int index = 0);

// Returns a rank that communicates; the calling thread gets the cores. A rank of a program on devices finds out by
// itself which transport the ranks use. Throws Error.
Rank connect(const br_model &model, Bootstrap &bootstrap, const RankPlan &plan, const RankOptions &options, int index,
             const Placement &placement);
// Returns the only rank of a job.
Rank singleRank(const RankPlan &plan, const RankOptions &options);

// Tells the other ranks why this rank ends.
void tellOthers(const br_model &model, Bootstrap &bootstrap, const Rank &rank, const std::exception &error) noexcept;

} // namespace braid
#endif // BRAID_LAUNCH_CONNECT_H

//===- braid_collective.h - the kinds of collectives ----------------------===//
//
// A part of braid_rt.h that the compiler reads too.  Changes of the rest of braid_rt.h need no new
// compiler.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_COLLECTIVE_H
#define BRAID_COLLECTIVE_H

typedef enum {
  BR_ALL_REDUCE,     // all ranks get the combination
  BR_REDUCE_SCATTER, // rank i gets block i of the combination
  BR_ALL_GATHER,     // all ranks get all blocks
  BR_ALL_TO_ALL,     // rank i sends block j to rank j
  BR_BROADCAST,      // all ranks get the root's tensor
  BR_REDUCE,         // the root gets the combination
  BR_GATHER,         // the root gets all blocks
  BR_SCATTER,        // rank i gets block i of the root's tensor
  BR_PERMUTE,        // each pair sends source's tensor to target; others get zeros
  BR_SEND,           // to rank `root`
  BR_RECV,           // from rank `root`
  BR_BARRIER
} br_collective;

typedef enum { BR_SUM, BR_MEAN, BR_MAX, BR_MIN } br_reduction;

#endif // BRAID_COLLECTIVE_H
